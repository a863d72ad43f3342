// The numbers of the chosen body or contact, and the list of the heaviest contacts.

import { NO_ISLAND } from "./data.js";
import { numberElement, short, showsAllDigits } from "./numbers.js";

const make = (tag, text = "", className = "") => {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
};

export function bodyName(run, i) {
  const { name } = run.bodies[i];
  return name ? `${name} (${i})` : `body ${i}`;
}

/** The size of a contact's impulse from its exact parts, N s. */
export const impulseSize = (row) =>
  Math.sqrt(row.impulse_normal ** 2 + row.impulse_tangent1 ** 2 + row.impulse_tangent2 ** 2);

/** Where a contact is drawn, and the direction and size of its impulse. */
export function drawnContact(row) {
  const xyz = (name) => ["x", "y", "z"].map((c) => row[`${name}_${c}`]);
  const [n, t1, t2] = [xyz("normal"), xyz("tangent1"), xyz("tangent2")];
  const world = [0, 1, 2].map((c) => n[c] * row.impulse_normal + t1[c] * row.impulse_tangent1 + t2[c] * row.impulse_tangent2);
  const size = impulseSize(row);
  return { point: xyz("point"), direction: size > 0 ? world.map((x) => x / size) : n, impulse: size };
}

/** Which contact point of its pair the point `index` is, among `points` with lists `a` and `b`. */
export function ordinal({ a, b }, index) {
  let k = 0;
  while (index - k > 0 && a[index - k - 1] === a[index] && b[index - k - 1] === b[index]) k++;
  return k;
}

/** The index of point `k` of a pair; -1 where the pair has no such point. */
export function findPoint({ count, a, b }, pair, k) {
  for (let i = 0; i < count; i++) {
    if (a[i] === pair.a && b[i] === pair.b) return a[i + k] === pair.a && b[i + k] === pair.b && i + k < count ? i + k : -1;
  }
  return -1;
}

/** A table of numbers: rows of a name, one or several values, a unit. */
function table(rows) {
  const out = make("table", "", "numbers");
  for (const { name, field, values, unit, text, go } of rows) {
    const row = out.insertRow();
    row.append(make("th", name));
    if (text !== undefined) {
      const cell = make("td", go ? "" : text);
      if (go) cell.append(link(text, go));
      cell.colSpan = 3;
      if (field) cell.dataset.field = field;
      row.append(cell);
    } else {
      values.forEach(({ field, value }, k) => {
        const cell = numberElement("td", value, "", values.length > 1 ? 4 : 6);
        cell.dataset.field = field;
        if (k === 0) cell.colSpan = 4 - values.length;
        row.append(cell);
      });
    }
    row.append(make("td", unit ?? "", "unit"));
  }
  if (showsAllDigits()) out.classList.add("all");
  return out;
}

const scalar = (name, field, value, unit = "") => ({ name, unit, values: [{ field, value }] });
const vector = (name, fields, source, unit = "") => ({ name, unit, values: fields.map((field) => ({ field, value: source[field] })) });
const axes = (name) => ["x", "y", "z"].map((c) => `${name}_${c}`);

/** Says of which step numbers are; a link goes there where it is not the shown one. */
function stepLine(step, shown, seek) {
  const line = make("p", "", "at");
  if (step === shown) {
    line.textContent = `at step ${step}`;
  } else {
    line.append(make("span", `at step ${step}, the nearest that is kept; `));
    line.append(link("go there", () => seek(step)));
  }
  line.dataset.step = step;
  return line;
}

/** A row of a table that leads to something else. */
function link(text, go) {
  const button = make("button", text, "link");
  button.onclick = go;
  return button;
}

export function showBody(parent, run, i, step, { seek, choose }) {
  const body = run.bodies[i];
  const shape = run.shapes[body.shape];
  const out = [make("h2", bodyName(run, i))];
  const facts = [{ name: "kind", text: `${body.kind} ${shape.name ?? shape.kind}`, field: "kind" }];
  if (body.mass_kg > 0) facts.push(scalar("mass", "mass_kg", body.mass_kg, "kg"));
  facts.push(scalar("friction", "friction", body.friction), scalar("restitution", "restitution", body.restitution));
  if (!run.isThere(body, step)) {
    const [first, last] = body.steps;
    out.push(make("p", `not there at step ${step}, but from ${first} to ${last}`, "at"));
  }
  const kept = run.bodyAt(step, i);
  if (kept) {
    const v = kept.values;
    const f = run.frame(kept.step);
    const { island, asleep } = run.state(f, i);
    if (run.steps[f] === kept.step) {
      const own = island !== NO_ISLAND && run.islandsAt(kept.step).rows.some((row) => row.first === island);
      const words = island === NO_ISLAND ? "touches nothing" : island === i ? "its own, the first in it" : `that of ${bodyName(run, island)}`;
      facts.push({ name: "island", field: "island", text: words, go: own && (() => choose({ island })) });
      if (run.anyAsleep) facts.push({ name: "sleep", field: "asleep", text: asleep ? "asleep" : "awake" });
    }
    facts.push(
      vector("position", ["x", "y", "z"], v, "m"),
      vector("rotation", ["qx", "qy", "qz"], v, "xyz"),
      scalar("", "qw", v.qw, "w"),
      vector("velocity", ["vx", "vy", "vz"], v, "m/s"),
      vector("angular", ["wx", "wy", "wz"], v, "rad/s"),
    );
    out.push(stepLine(kept.step, step, seek));
  } else if (!body.moves) {
    const [x, y, z, qx, qy, qz, qw] = body.pose;
    facts.push(vector("position", ["x", "y", "z"], { x, y, z }, "m"), vector("rotation", ["qx", "qy", "qz"], { qx, qy, qz }, "xyz"), scalar("", "qw", qw, "w"));
  }
  parent.replaceChildren(...out, table(facts));
}

/** `row`: exact numbers of step `at`, or null where there are none. */
export function showContact(parent, run, { title, pair, row, at, note, impulse, drawnAt }, step, seek) {
  const out = [make("h2", title)];
  const names = make("p", "", "pair");
  names.append(make("b", bodyName(run, pair.a)), make("span", " on "), make("b", bodyName(run, pair.b)));
  out.push(names);
  if (note) out.push(make("p", note, "at"));
  if (drawnAt !== undefined && at !== drawnAt) out.push(make("p", `as drawn, of step ${drawnAt}: an impulse of about ${short(impulse, 3)} N s; exact:`, "at"));
  if (row) {
    out.push(stepLine(at, step, seek), table([
      scalar("normal impulse", "impulse_normal", row.impulse_normal, "N s"),
      vector("tangential", ["impulse_tangent1", "impulse_tangent2"], row, "N s"),
      scalar("separation", "separation", row.separation, "m"),
      scalar("approach", "approach_velocity", row.approach_velocity, "m/s"),
      scalar("friction", "friction", row.friction),
      scalar("restitution", "restitution", row.restitution),
      vector("normal", axes("normal"), row),
      vector("tangent 1", axes("tangent1"), row),
      vector("tangent 2", axes("tangent2"), row),
      vector("lever on A", axes("lever_a"), row, "m"),
      vector("lever on B", axes("lever_b"), row, "m"),
      { name: "feature", field: "feature", text: [row.part_a, row.part_b, `0x${row.feature.toString(16)}`].join(" / ") },
    ]));
  }
  parent.replaceChildren(...out);
}

/** How the island of a first body was solved, in the key step nearest to `step`. */
export function showIsland(parent, run, first, step, { seek, choose }) {
  const out = [make("h2", `Island of ${bodyName(run, first)}`)];
  const { step: kept, rows } = run.islandsAt(step);
  const row = rows.find((row) => row.first === first);
  if (!row) {
    parent.replaceChildren(...out, make("p", `there is none at step ${kept}: it has come apart, sleeps, or another body is its first`, "at"));
    return;
  }
  const facts = [
    { name: "solver", field: "solver", text: row.solver },
    { name: "answer", field: "stop", text: row.stop === "converged" ? "certified" : `not certified: ${row.stop}` },
    scalar("residual", "residual", row.residual, "m/s"),
    scalar("sweeps", "sweeps", row.sweeps),
    scalar("factorisations", "factorizations", row.factorizations),
    scalar("contact points", "contact_points", row.contact_points),
    scalar("bodies", "bodies", row.bodies),
    scalar("joints", "joints", row.joints),
  ];
  if (row.guarded) facts.push({ name: "bounce", text: "reduced, to gain no energy" });
  const points = run.pointsAt(kept);
  const worst = row.worst - 1;
  if (points.step === kept && worst >= 0 && worst < points.count) {
    const pair = { a: points.a[worst], b: points.b[worst] };
    const text = `${bodyName(run, pair.a)} on ${bodyName(run, pair.b)}`;
    facts.push({ name: "worst contact", field: "worst", text, go: () => choose({ pair, ordinal: ordinal(points, worst) }) });
  }
  parent.replaceChildren(...out, stepLine(kept, step, seek), table(facts));
}

/** The largest islands at a step, and how many there are; `choose` is called on a click. */
export function listIslands(parent, run, step, chosen, choose) {
  const { step: kept, rows } = run.islandsAt(step);
  const largest = [...rows].sort((a, b) => b.contact_points - a.contact_points || a.first - b.first).slice(0, 4);
  const out = largest.map((row) => {
    const item = make("button", "", row.first === chosen ? "row on" : "row");
    item.dataset.island = row.first;
    const points = numberElement("b", row.contact_points, "", 5);
    const mark = make("i", row.stop === "converged" ? "✓" : "✗", row.stop === "converged" ? "good" : "bad");
    item.append(mark, make("span", bodyName(run, row.first)), make("em", row.solver), points);
    item.title = `residual ${short(row.residual)} m/s, ${row.stop}`;
    item.onclick = () => choose({ island: row.first });
    return item;
  });
  const rest = rows.length - largest.length;
  if (rest > 0) out.push(make("p", `and ${rest} smaller`, "at"));
  if (!rows.length) out.push(make("p", "none: nothing touches", "at"));
  if (kept !== step) out.push(make("p", `at step ${kept}, the nearest that is kept`, "at"));
  parent.replaceChildren(...out);
}

/** The list of the heaviest contacts; `choose(rank)` is called on a click. `known`: whether they were recorded. */
export function listHeaviest(parent, run, { rows, known }, chosen, choose) {
  parent.replaceChildren(...rows.map((row, rank) => {
    const item = make("button", "", rank === chosen ? "row on" : "row");
    item.dataset.rank = rank;
    const size = numberElement("b", row.impulse_normal, "N s", 4);
    item.append(make("i", `${rank + 1}`), make("span", `${bodyName(run, row.a)} – ${bodyName(run, row.b)}`), size);
    item.onclick = () => choose(rank);
    return item;
  }));
  if (!rows.length) parent.append(make("p", known ? "nothing touches at this step" : "contacts of this step were not recorded", "at"));
}
