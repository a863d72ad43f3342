// Player, panel and keyboard.

import { Blind, drawsHere } from "./blind.js";
import { legend, MODES } from "./colors.js";
import { drawnContact, findPoint, listHeaviest, listIslands, ordinal, showBody, showContact, showIsland } from "./inspector.js";
import { clamp } from "./math.js";
import { exact, numberElement, short, showAllDigits } from "./numbers.js";
import { Pace } from "./pace.js";
import { charts, Plot } from "./plots.js";
import { View } from "./view.js";

const byId = (id) => document.getElementById(id);
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const MARKS = ["points", "normals", "impulses", "boxes", "joints"];

/** Settings in the address: `#frame=120&yaw=0.5&points=1&theme=dark`. `frame` counts steps. */
const settingsFromAddress = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

export class App {
  constructor({ meta, runs }) {
    Object.assign(this, { meta, runs, run: runs[0], step: 0, playing: false, speed: 1, dirty: true, chosen: null });
    const { first_step: firstStep, lastStep } = this.run;
    Object.assign(this, { firstStep, lastStep, step: firstStep });
    this.canvas = byId("view");
    this.view = drawsHere() ? new View(this.canvas, runs) : new Blind(this.canvas, runs);
    this.pace = new Pace(this.view);
    const settings = settingsFromAddress();
    this.setTheme(settings.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.words();
    this.plots();
    this.controls();
    this.keys();
    this.apply(settings);
    addEventListener("hashchange", () => this.apply(settingsFromAddress()));
    new ResizeObserver(() => {
      if (this.view.touched) this.view.resize();
      else this.view.fit(this.look);
      this.plotted.forEach((plot) => plot.build());
      this.draw();
    }).observe(this.canvas.parentElement);
    this.view.controls.addEventListener("change", () => (this.dirty = true));
    this.view.controls.addEventListener("start", () => (this.view.touched = true));
    requestAnimationFrame((now) => this.tick(now, now));
  }

  apply(settings) {
    const number = (name) => (name in settings ? Number(settings[name]) : NaN);
    if (settings.theme) this.setTheme(settings.theme);
    const or = (x, other) => (Number.isFinite(x) ? x : other);
    this.look = { yaw: or(number("yaw"), 0.7), pitch: or(number("pitch"), 0.32), closer: or(number("zoom"), 1) };
    if (Number.isFinite(number("frame"))) {
      this.seek(number("frame"));
      this.view.frame = this.run.frame(this.step);
    }
    this.view.fit(this.look);
    for (const mark of MARKS) if (mark in settings) this.toggle(mark, settings[mark] !== "0");
    if ("panel" in settings) this.toggle("panel", settings.panel !== "0");
    document.body.classList.toggle("bare", settings.bare === "1");
    if (settings.color in MODES) this.setColor(settings.color);
    if (Number.isFinite(number("frame"))) {
      this.play(false);
      this.seek(number("frame"));
    } else if (settings.play !== "0" && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play(true);
    if (Number.isFinite(number("select"))) this.choose({ body: number("select") });
    if (Number.isFinite(number("heaviest"))) this.choose({ rank: number("heaviest") });
    if (settings.near === "1") this.approach();
  }

  /** Whether figures and picture are not side by side. */
  get narrow() {
    return innerWidth <= 820;
  }

  words() {
    const { meta } = this;
    document.title = `${meta.scene} - moreau`;
    byId("name").textContent = meta.scene;
    byId("description").textContent = meta.description;
    byId("badge").textContent = meta.verdict.text;
    byId("badge").hidden = !meta.verdict.text;
    byId("badge").className = meta.verdict.good ? "good" : "bad";
    const list = (items, tag, fill) => items.map((item) => fill(document.createElement(tag), item));
    byId("gates").replaceChildren(...list(meta.gates, "li", (gate, { verdict, text, full }) =>
      Object.assign(gate, { className: verdict, textContent: text, title: full })));
    byId("gates").parentElement.hidden = !meta.gates.length;
    byId("notes").replaceChildren(...list(meta.notes, "p", (line, textContent) => Object.assign(line, { textContent })));
    byId("other").hidden = this.runs.length < 2;
    if (this.runs.length > 1) {
      byId("other").querySelector("span").textContent = `${this.runs[1].label} in orange outlines`;
      byId("other").querySelector("b").textContent = this.run.label;
    }
    this.history();
  }

  /** The table of figures over versions. */
  history() {
    const { history } = this.meta;
    byId("history").hidden = !history.length;
    const table = byId("history").querySelector("table");
    for (const { name, unit, moved, tolerance, values } of history) {
      const row = table.insertRow();
      row.className = moved ? "moved" : "";
      row.title = `allowed: ${tolerance}\n${values.map(([version, value]) => `${version}: ${exact(value)}`).join("\n")}`;
      row.insertCell().textContent = name;
      row.insertCell().append(sparkline(values.map(([, value]) => value)));
      for (const value of [values.at(-2)?.[1], values.at(-1)?.[1]]) row.append(numberElement("td", value ?? NaN, "", 4));
      row.insertCell().textContent = unit;
    }
  }

  plots() {
    const seek = (step) => {
      this.play(false);
      this.seek(step);
    };
    const steps = Float64Array.from(this.run.series.time_s, (_, i) => this.firstStep + i);
    this.plotted = charts(this.run, this.runs[1]).map((chart) => new Plot(byId("plots"), chart, steps, seek));
  }

  setTheme(theme) {
    this.theme = theme === "dark" ? "dark" : "light";
    document.documentElement.dataset.theme = this.theme;
    this.view.setTheme(this.theme);
    this.plotted?.forEach((plot) => plot.build());
    this.dirty = true;
  }

  setColor(mode) {
    this.view.colorBy = mode;
    byId("color").value = mode;
    const fastest = `${short(this.run.speed_typical, 3)} m/s`;
    byId("legend").replaceChildren(...legend(mode, fastest).map(([color, word]) => {
      const item = Object.assign(document.createElement("i"), { textContent: word });
      item.style.setProperty("--c", color);
      return item;
    }));
    this.dirty = true;
  }

  toggle(what, on) {
    const button = byId(what);
    const value = on ?? button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", value);
    if (MARKS.includes(what)) this.view.marks.shown[what] = value;
    if (what === "panel") document.body.classList.toggle("wide", !value);
    if (what === "digits") showAllDigits(value);
    this.shownStep = null;
    this.dirty = true;
  }

  play(on) {
    if (on && this.step >= this.lastStep) this.step = this.firstStep;
    this.playing = on && this.lastStep > this.firstStep;
    byId("play").classList.toggle("playing", this.playing);
    byId("play").title = this.playing ? "Pause (space)" : "Play (space)";
    if (!this.playing) this.seek(this.step);
  }

  /** Goes to the shown step that is nearest. */
  seek(step) {
    const { steps } = this.run;
    const f = this.run.frame(clamp(step, this.firstStep, this.lastStep));
    const next = steps[f + 1];
    this.step = next !== undefined && next - step < step - steps[f] ? next : steps[f];
    this.dirty = true;
  }

  /** To the next or last shown step. */
  nudge(by) {
    const f = this.run.frame(this.step);
    const between = this.step > this.run.steps[f];
    this.play(false);
    this.seek(this.run.steps[clamp(f + by + (between && by < 0 ? 1 : 0), 0, this.run.steps.length - 1)]);
  }

  /**
   * Chooses `{ body }`, `{ rank }` (the heaviest contact of whatever step is shown, the second…),
   * `{ pair, ordinal }` (a contact point of two bodies) or `{ island }` (by its first body); null for nothing.
   */
  choose(chosen) {
    this.chosen = chosen;
    this.view.selected = chosen?.body ?? -1;
    this.view.island = chosen?.island ?? -1;
    if (this.isContact() && !this.view.marks.shown.points) this.toggle("points", true);
    this.shownStep = null;
    this.dirty = true;
    if (chosen && this.narrow) this.toggle("panel", true);
  }

  isContact() {
    return Boolean(this.chosen) && ("rank" in this.chosen || "pair" in this.chosen);
  }

  /** The chosen contact at the shown step: where it is, and its numbers where they are kept. */
  contact() {
    const { chosen, run } = this;
    if (!this.isContact()) return null;
    const f = run.frame(this.step);
    const step = run.steps[f];
    const heaviest = run.heaviestAt(f);
    if ("rank" in chosen) {
      const row = heaviest[chosen.rank];
      const place = ["Heaviest", "Second heaviest", "Third heaviest"][chosen.rank] ?? `${chosen.rank + 1}th heaviest`;
      return row ? { title: `${place} contact`, pair: row, row, at: step, ...drawnContact(row) } : null;
    }
    const points = run.pointsAt(this.step);
    const index = findPoint(points, chosen.pair, chosen.ordinal);
    const found = { title: "Contact", pair: chosen.pair };
    if (index < 0) found.note = `does not touch at step ${points.step}`;
    const among = (list, at) => {
      const own = list.filter((row) => row.a === chosen.pair.a && row.b === chosen.pair.b);
      const row = own[chosen.ordinal];
      if (row) Object.assign(found, { row, at });
      return Boolean(row);
    };
    const { step: key, rows } = run.rowsAt(this.step);
    if (index >= 0 && points.step === step) {
      const row = heaviest.find((one) => one.index === index);
      if (row) Object.assign(found, { row, at: step });
    }
    if (!found.row && !among(rows, key) && index >= 0) {
      const every = run.row_steps[1] - run.row_steps[0];
      found.note = every ? `its numbers are kept of one step in ${every}, where it does not touch nearby` : "its numbers are not kept: so many would take too much room";
    }
    if (index >= 0) {
      const xyz = (list) => Array.from(list.subarray(index * 3, index * 3 + 3));
      Object.assign(found, { point: xyz(points.position), direction: xyz(points.direction), impulse: points.impulse[index], drawnAt: points.step });
    }
    return found;
  }

  /** Goes near to what is chosen. */
  approach() {
    const contact = this.contact();
    const body = Math.max(this.view.selected, this.view.island);
    const place = contact?.point ?? (body >= 0 ? this.view.bodies.poseOf(body).subarray(0, 3) : null);
    if (place) this.view.lookAt(Array.from(place));
    this.dirty = true;
  }

  heaviest() {
    if (this.run.heaviestAt(this.run.frame(this.step)).length === 0) this.seekToContact();
    this.play(false);
    this.choose({ rank: 0 });
  }

  /** Goes to the nearest shown step with a contact, rather on than back. */
  seekToContact() {
    const touching = Array.from(this.run.steps).filter((_, f) => this.run.heaviest.counts[f] > 0);
    const gap = (step) => Math.abs(step - this.step) + (step < this.step ? 0.5 : 0);
    if (touching.length) this.seek(touching.reduce((best, step) => (gap(step) < gap(best) ? step : best)));
  }

  click(e) {
    const { marks } = this.view;
    const points = this.run.pointsAt(this.step);
    const visible = marks.shown.points || marks.shown.normals || marks.shown.impulses;
    const index = visible ? this.view.pickContact(points, e.offsetX, e.offsetY) : -1;
    if (index >= 0) {
      const pair = { a: points.a[index], b: points.b[index] };
      this.choose({ pair, ordinal: ordinal(points, index) });
      return;
    }
    const body = this.view.pickBody(e.offsetX, e.offsetY);
    this.choose(body >= 0 ? { body } : null);
  }

  controls() {
    byId("play").onclick = () => this.play(!this.playing);
    byId("back").onclick = () => this.nudge(-1);
    byId("forth").onclick = () => this.nudge(1);
    const scrub = byId("scrub");
    Object.assign(scrub, { min: this.firstStep, max: this.lastStep });
    scrub.oninput = () => {
      this.play(false);
      this.seek(Number(scrub.value));
    };
    const speed = byId("speed");
    speed.replaceChildren(...SPEEDS.map((s) => new Option(`${s}×`, s, s === 1, s === 1)));
    speed.onchange = () => (this.speed = Number(speed.value));
    const names = { body: "id", island: "island", sleep: "sleep", speed: "speed" };
    byId("color").replaceChildren(...Object.keys(MODES).map((mode) => new Option(names[mode], mode)));
    byId("color").onchange = () => this.setColor(byId("color").value);
    for (const id of [...MARKS, "panel", "digits"]) byId(id).onclick = () => this.toggle(id);
    byId("joints").hidden = !this.run.joints.length;
    byId("heaviest").onclick = () => this.heaviest();
    byId("theme").onclick = () => this.setTheme(this.theme === "dark" ? "light" : "dark");
    byId("fit").onclick = () => this.fit();
    byId("near").onclick = () => this.approach();
    byId("clear").onclick = () => this.choose(null);
    byId("help").onclick = () => byId("keys").showModal();
    byId("keys").onclick = () => byId("keys").close();
    byId("other").onclick = () => {
      this.view.showOther = !this.view.showOther;
      byId("other").setAttribute("aria-pressed", this.view.showOther);
      this.dirty = true;
    };
    let down = [0, 0];
    this.canvas.addEventListener("dblclick", () => this.approach());
    this.canvas.addEventListener("pointerdown", (e) => (down = [e.offsetX, e.offsetY]));
    this.canvas.addEventListener("pointerup", (e) => {
      if (e.button === 0 && Math.hypot(e.offsetX - down[0], e.offsetY - down[1]) < 4) this.click(e);
    });
    if (this.narrow) this.toggle("panel", false);
  }

  fit() {
    this.look = {};
    this.view.fit();
    this.dirty = true;
  }

  keys() {
    const faster = (by) => {
      const at = clamp(SPEEDS.indexOf(this.speed) + by, 0, SPEEDS.length - 1);
      this.speed = SPEEDS[at];
      byId("speed").value = this.speed;
    };
    const modes = Object.keys(MODES);
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowLeft: () => this.nudge(-1),
      ArrowRight: () => this.nudge(1),
      PageUp: () => this.seek(this.step - 30),
      PageDown: () => this.seek(this.step + 30),
      Home: () => this.seek(this.firstStep),
      End: () => this.seek(this.lastStep),
      ArrowUp: () => faster(1),
      ArrowDown: () => faster(-1),
      c: () => this.toggle("points"),
      n: () => this.toggle("normals"),
      i: () => this.toggle("impulses"),
      b: () => this.toggle("boxes"),
      j: () => this.toggle("joints"),
      h: () => this.heaviest(),
      v: () => this.setColor(modes[(modes.indexOf(this.view.colorBy) + 1) % modes.length]),
      d: () => this.toggle("digits"),
      o: () => byId("other").click(),
      p: () => this.toggle("panel"),
      t: () => byId("theme").click(),
      f: () => this.fit(),
      z: () => this.approach(),
      Escape: () => this.choose(null),
      "?": () => byId("help").click(),
    };
    addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT" || byId("keys").open) return;
      // A focused button keeps its own space bar.
      if (e.key === " " && e.target.tagName === "BUTTON") e.target.blur();
      const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
      if (!action) return;
      e.preventDefault();
      action();
    });
  }

  tick(now, before) {
    if (this.playing) {
      this.step += (Math.min(now - before, 100) / 1000 / this.meta.dt) * this.speed;
      if (this.step >= this.lastStep) {
        this.step = this.lastStep;
        this.play(false);
      }
      this.dirty = true;
    }
    const { pace } = this;
    if (pace.ready(now)) {
      if (this.dirty) pace.begin();
      if (this.dirty || pace.rests(now)) {
        const begun = performance.now();
        this.draw();
        pace.drawn(begun);
      }
    }
    requestAnimationFrame((next) => this.tick(next, now));
  }

  draw() {
    this.dirty = false;
    const { run } = this;
    const f = run.frame(this.step);
    const next = run.steps[f + 1] ?? run.steps[f] + 1;
    const t = clamp((this.step - run.steps[f]) / (next - run.steps[f]), 0, 1);
    const posed = `${f} ${t} ${this.view.showOther}`;
    if (this.posed !== posed) {
      this.posed = posed;
      this.view.pose(f, t);
    }
    byId("title").classList.toggle("brief", this.view.touched);
    const contact = this.contact();
    this.view.render(run.pointsAt(this.step), contact?.point ? contact : null);
    this.panel(run.steps[f], f, contact);
  }

  /** Everything beside the picture, for the shown step. */
  panel(step, f, contact) {
    const s = this.run.series;
    byId("scrub").value = step;
    byId("scrub").style.setProperty("--done", `${(100 * (step - this.firstStep)) / Math.max(1, this.lastStep - this.firstStep)}%`);
    if (this.shownStep === step) return;
    this.shownStep = step;
    const at = step - this.firstStep;
    byId("scrub").setAttribute("aria-valuetext", `step ${step}, ${s.time_s[at].toFixed(2)} s`);
    byId("clock").textContent = `${s.time_s[at].toFixed(2)} / ${s.time_s[s.time_s.length - 1].toFixed(2)} s`;
    const rows = [
      ["step", "step", step],
      ["bodies", "bodies", this.run.bodies.filter((body) => this.run.isThere(body, step)).length],
      ["islands", "islands", s.islands[at]],
      ...(this.run.anyAsleep ? [["asleep", "sleeping_bodies", s.sleeping_bodies[at]]] : []),
      ["fastest body", "max_speed_m_s", s.max_speed_m_s[at], "m/s"],
      ["kinetic energy", "kinetic_j", s.kinetic_j[at], "J"],
      ["deepest overlap", "max_penetration_m", s.max_penetration_m[at], "m"],
      ["residual", "residual_m_s", s.residual_m_s[at], "m/s"],
      ["sweeps", "sweeps", s.sweeps[at]],
    ];
    byId("figures").replaceChildren(...rows.flatMap(([name, field, number, unit]) => {
      const value = numberElement("dd", number, unit);
      value.dataset.field = field;
      return [Object.assign(document.createElement("dt"), { textContent: name }), value];
    }));
    for (const plot of this.plotted) plot.mark(at);
    const go = { seek: (to) => this.seek(to), choose: (chosen) => this.choose(chosen) };
    const card = byId("chosen");
    card.hidden = !this.chosen;
    const body = card.querySelector("div");
    if (this.chosen && "body" in this.chosen) showBody(body, this.run, this.chosen.body, step, go);
    else if (this.chosen && "island" in this.chosen) showIsland(body, this.run, this.chosen.island, step, go);
    else if (contact) showContact(body, this.run, contact, step, go.seek);
    else if (this.chosen) body.replaceChildren(Object.assign(document.createElement("p"), { textContent: this.run.unknown.has(step) ? "Contacts of this step were not recorded." : "Nothing touches at this step.", className: "at" }));
    const heaviest = { rows: this.run.heaviestAt(f).slice(0, 5), known: !this.run.unknown.has(step) };
    listHeaviest(byId("list"), this.run, heaviest, this.chosen?.rank, (rank) => this.choose({ rank }));
    byId("islands").hidden = !this.run.islands.starts.at(-1);
    listIslands(byId("islands").querySelector("div"), this.run, step, this.chosen?.island, go.choose);
    const shownAt = this.run.pointsAt(step).step;
    const { points, normals, impulses } = this.view.marks.shown;
    const known = shownAt !== null && !this.run.unknown.has(step);
    byId("marks").hidden = !(points || normals || impulses) || shownAt === step;
    byId("marks").textContent = shownAt === null ? "no contacts are kept"
      : `${known ? "" : "contacts of this step were not recorded: "}contacts drawn are those of step ${shownAt}`;
  }
}

/** A small line of values. */
function sparkline(values) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const known = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (i) => 2 + (56 * i) / Math.max(1, values.length - 1);
  const y = (v) => (high > low ? 13 - (11 * (v - low)) / (high - low) : 8);
  svg.setAttribute("viewBox", "0 0 60 16");
  const line = document.createElementNS(svg.namespaceURI, "polyline");
  line.setAttribute("points", values.map((v, i) => `${x(i)},${y(v)}`).join(" "));
  const dot = document.createElementNS(svg.namespaceURI, "circle");
  for (const [name, value] of [["cx", x(values.length - 1)], ["cy", y(values.at(-1))], ["r", 2]]) dot.setAttribute(name, value);
  svg.append(line, dot);
  return svg;
}
