// Opens pages of three scenes in Chromium, plays, scrubs and clicks, and compares every number that is
// shown with the one that the engine gave.
//
// The pages and the numbers come from: cargo run -p moreau-page --example page_and_numbers, and from
// recordings: `moreau view` and cargo run -p moreau-record --example numbers.
// $CHROMIUM names another browser; without any, the tests say so and are skipped. With $MOREAU_PAGES they
// are taken from that folder as they are.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const out = process.env.MOREAU_PAGES ?? join(root, "out/page-tests");
const SCENES = ["pyramid_20", "pendulum", "seams"];
/** Pages of recordings, and how each is made. */
const RECORDINGS = {
  "recorded": (file) => moreau("record", "seams", "-q", "-o", file),
  "changing": (file) => cargo("moreau-record", ["--example", "coming_and_going", "--", file]),
  "killed": (file) => recordUntilKilled("pyramid_20", file),
};
const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = BROWSERS.find((path) => path && existsSync(path));
const skip = executablePath ? false : "NO BROWSER: install chromium or set $CHROMIUM";
if (skip) console.error(`\n*** The page is NOT tested in a browser. ${skip} ***\n`);

test("the kept bundle is what the sources give", () => {
  execFileSync(process.execPath, [join(here, "../build.mjs"), "--check"], { stdio: "inherit" });
});

/** Runs a program of the workspace; gives what it prints. */
function cargo(crate, args) {
  const run = ["run", "-q", "--locked", "-p", crate, ...args];
  return execFileSync("cargo", run, { cwd: root, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "inherit"] });
}
const moreau = (...args) => cargo("moreau-cli", ["--", ...args]);

/** Records a long run, and kills its process when there are some frames. */
async function recordUntilKilled(scene, file) {
  const args = ["run", "-q", "--locked", "-p", "moreau-cli", "--", "record", scene, "--steps", "1000000", "-q", "-o", file];
  const child = spawn("cargo", args, { cwd: root, detached: true, stdio: "ignore" });
  const gone = new Promise((done) => child.on("exit", done));
  const journal = () => (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0);
  while (journal() < 4_000_000 && child.exitCode === null) await new Promise((done) => setTimeout(done, 5));
  process.kill(-child.pid, "SIGKILL");
  await gone;
  assert.ok(journal() > 0, "the process was killed while it recorded");
}

/** Makes a recording, its page, and its numbers as the reader gives them. */
async function record(name) {
  const file = join(out, `${name}.sqlite`);
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
  await RECORDINGS[name](file);
  moreau("view", file, "--no-open", "--out", join(out, `${name}.html`));
  writeFileSync(join(out, `${name}.json`), cargo("moreau-record", ["--example", "numbers", "--", file]));
}

/** A page in a browser of its own, which ends with the test, and what went wrong in it. */
async function open(t, scene, hash, args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath, args });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("request", (request) => request.url().startsWith("file:") || wrong.push(`asks for ${request.url().slice(0, 80)}`));
  await page.goto(`file://${join(out, `${scene}.html`)}#${hash}`);
  await page.waitForSelector("body.ready", { timeout: 240_000 });
  return { page, wrong };
}

/** Waits for the picture as it is at rest. */
const drawn = (page) => page.evaluate(async () => {
  const next = () => new Promise((done) => requestAnimationFrame(done));
  do for (let k = 0; k < 2; k++) await next();
  while (window.moreau.dirty || window.moreau.view.draft);
});

/** All elements with a field and an exact value below a selector: field -> value. */
const values = (page, selector, field) =>
  page.$$eval(`${selector} [data-${field}][data-value]`, (elements, name) =>
    Object.fromEntries(elements.map((e) => [e.dataset[name], { value: Number(e.dataset.value), text: e.textContent }])), field);

async function scrub(page, step) {
  await page.$eval("#scrub", (input, value) => {
    input.value = value;
    input.dispatchEvent(new Event("input"));
  }, step);
  await drawn(page);
}

/** Compares all shown numbers that `expected` has; at least `least` of them. */
function same(shown, expected, least, what) {
  let compared = 0;
  for (const [name, { value }] of Object.entries(shown)) {
    if (!(name in expected)) continue;
    assert.equal(value, expected[name], `${what}: ${name}`);
    compared++;
  }
  assert.ok(compared >= least, `${what}: only ${compared} numbers are shown`);
}

const keptStep = (page) => page.$eval("#chosen .at[data-step]", (line) => Number(line.dataset.step));

/** Makes all pages, once. */
let pages = null;
const makePages = () => (pages ??= make());
async function make() {
  if (process.env.MOREAU_PAGES) return;
  mkdirSync(out, { recursive: true });
  for (const scene of SCENES) {
    const run = ["run", "-q", "-p", "moreau-page", "--example", "page_and_numbers", "--locked", "--"];
    execFileSync("cargo", [...run, `fixtures/scenes/${scene}.json`, out], { cwd: root, stdio: "inherit" });
  }
  for (const name of Object.keys(RECORDINGS)) await record(name);
}

describe("pages in a browser", { skip, concurrency: false }, () => {
  before(makePages);

  for (const scene of [...SCENES, ...Object.keys(RECORDINGS)]) {
    test(scene, async (t) => {
      const { first = 0, wanted, steps } = JSON.parse(readFileSync(join(out, `${scene}.json`), "utf8"));
      const { page, wrong } = await open(t, scene, "frame=0&theme=light");
      await wholeStart(page);
      if (scene in RECORDINGS) await wholeRecording(page, scene, first, steps);

      // It plays, and stops.
      await page.keyboard.press("Space");
      await page.waitForFunction((first) => window.moreau.step > first + 3, first);
      await page.keyboard.press("Space");
      const stopped = await page.evaluate(() => window.moreau.step);
      await page.waitForTimeout(120);
      assert.equal(await page.evaluate(() => window.moreau.step), stopped);

      for (const step of wanted) {
        const { figures, contacts, contacts_kept: known = true } = steps[step];
        await scrub(page, step);
        same(await values(page, "#figures", "field"), { ...figures, step }, 6, `step ${step}`);
        await drawnPoints(page, contacts);
        same(await values(page, "#plots", "curve"), figures, "solve_s" in figures ? 8 : 6, `plots at step ${step}`);

        const list = await page.textContent("#list");
        if (!contacts.length) assert.equal(list, known ? "nothing touches at this step" : "contacts of this step were not recorded");

        // The heaviest contact: one key, no reading of docs.
        await page.keyboard.press("h");
        await drawn(page);
        if (contacts.length) {
          const heaviest = contacts.reduce((a, b) => (b.impulse_normal > a.impulse_normal ? b : a));
          same(await values(page, "#chosen", "field"), heaviest, 20, `heaviest contact of step ${step}`);
          assert.equal(await page.evaluate(() => window.moreau.step), step);
        }
      }

      // A click on a body shows its numbers.
      const step = wanted[2];
      await scrub(page, step);
      const target = await page.evaluate(() => {
        const { view, run } = window.moreau;
        for (const i of run.moving) {
          const at = view.project(view.bodies.poseOf(i).subarray(0, 3));
          if (at && view.pickBody(...at) === i && at[1] < 600 && at[1] > 120) return { i, at };
        }
        return null;
      });
      assert.ok(target, "no body can be clicked");
      const box = await page.locator("#view").boundingBox();
      await page.evaluate(() => ["points", "normals", "impulses"].forEach((mark) => window.moreau.toggle(mark, false)));
      await page.mouse.click(box.x + target.at[0], box.y + target.at[1]);
      await drawn(page);
      const kept = await keptStep(page);
      assert.ok(Math.abs(kept - step) <= 16, `numbers of step ${kept} at step ${step}`);
      const shown = await values(page, "#chosen", "field");
      same(shown, steps[kept].bodies[target.i], 16, `body ${target.i} at step ${kept}`);

      // All digits: the text itself is the number.
      await page.keyboard.press("d");
      await drawn(page);
      for (const [name, { value, text }] of Object.entries(await values(page, "#chosen", "field"))) {
        assert.equal(Number(text), value, name);
      }
      await page.keyboard.press("d");

      await clickContact(page, box, steps);
      await clickIsland(page, steps);

      // Every mark and colour draws something else, but for contacts where there are none.
      await page.keyboard.press("Escape");
      const pictures = new Set();
      for (const key of ["", "c", "n", "i", "b", "v", "v", "v", "t"]) {
        if (key) await page.keyboard.press(key);
        await drawn(page);
        pictures.add(await page.evaluate(() => document.getElementById("view").toDataURL()));
      }
      const least = steps[step].contacts.length ? 7 : 5;
      assert.ok(pictures.size >= least, `only ${pictures.size} different pictures`);
      await page.screenshot({ path: join(out, `${scene}.png`) });
      assert.deepEqual(wrong, []);
    });
  }

  test("plots mark the step of the address, and of the scrubber", async (t) => {
    const { page, wrong } = await open(t, "pyramid_20", "frame=100");
    await drawn(page);
    const last = await page.evaluate(() => window.moreau.run.steps.at(-1));
    const marks = async (step) => {
      const places = await page.$$eval("#plots .now", (lines) => lines.map((line) => {
        const [at, plot] = [line, line.parentElement].map((e) => e.getBoundingClientRect());
        return { x: at.left - plot.left, width: plot.width };
      }));
      assert.equal(places.length, 5);
      for (const { x, width } of places) assert.ok(Math.abs(x - (width * step) / last) < 2, JSON.stringify({ x, width, step, last }));
    };
    await marks(100);
    await scrub(page, 200);
    await marks(200);
    // Plots that are made anew keep it.
    await page.keyboard.press("t");
    await drawn(page);
    await marks(200);
    assert.deepEqual(wrong, []);
  });

  test("pages are legible in light and dark, and scrub", async (t) => {
    const { page, wrong } = await open(t, "pyramid_20", "frame=100&theme=dark&impulses=1");
    for (const theme of ["dark", "light"]) {
      const contrast = await page.evaluate(() => {
        const light = (color) => {
          const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map((x) => (x / 255) ** 2.2);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const words = [...document.querySelectorAll("#figures dt, #figures dd, #name, #list .row span, .plot b")];
        const back = light(getComputedStyle(document.querySelector("aside")).backgroundColor);
        return Math.min(...words.map((word) => {
          const fore = light(getComputedStyle(word).color);
          return (Math.max(fore, back) + 0.05) / (Math.min(fore, back) + 0.05);
        }));
      });
      assert.ok(contrast >= 4.5, `a contrast of ${contrast.toFixed(1)} in the ${theme} theme`);
      await page.keyboard.press("t");
      await drawn(page);
    }
    // On a telephone everything can be reached, and what was chosen is seen.
    await page.setViewportSize({ width: 400, height: 780 });
    await page.keyboard.press("Escape");
    await page.keyboard.press("p");
    await drawn(page);
    const outside = () => page.$$eval("#player button, #player input, #player select", (all) =>
      all.filter((e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth || r.bottom > innerHeight; }).map((e) => e.id));
    assert.deepEqual(await outside(), []);
    await page.evaluate(() => window.moreau.toggle("panel", false));
    await page.keyboard.press("h");
    await drawn(page);
    const box = await page.locator("#chosen [data-field=impulse_normal]").boundingBox();
    const picture = await page.locator("#view").boundingBox();
    const player = await page.locator("#player").boundingBox();
    assert.ok(picture.height > 200 && box.y > picture.y + picture.height && box.y + box.height < player.y, JSON.stringify({ picture, box, player }));
    await page.setViewportSize({ width: 1200, height: 760 });
    await drawn(page);

    // Where pictures take long they are rough while things move, and whole at rest.
    const rough = await page.evaluate(async () => {
      const { moreau } = window;
      const { render } = moreau.view.renderer;
      moreau.view.renderer.render = function (...scene) {
        const start = performance.now();
        while (performance.now() - start < 90);
        return render.apply(this, scene);
      };
      const next = () => new Promise((done) => requestAnimationFrame(done));
      for (let k = 0; k < 100 && !moreau.view.draft; k++) {
        moreau.seek(k % 60);
        await next();
      }
      const { width, clientWidth } = moreau.canvas;
      const moving = { draft: moreau.view.draft, share: width / clientWidth };
      moreau.view.renderer.render = render;
      return moving;
    });
    assert.deepEqual(rough, { draft: true, share: 0.5 });
    await drawn(page);

    // The roughest has the heaviest contacts only, and no picture is begun before the last one is done.
    const scrubbed = await page.evaluate(async () => {
      const { moreau } = window;
      const { view, pace } = moreau;
      for (const mark of ["points", "impulses"]) moreau.toggle(mark, true);
      moreau.seek(40);
      const levels = view.constructor.LEVELS.map(({ contacts }, level) => {
        view.marks.most = Math.min(contacts, 10 - level);
        moreau.draw();
        const points = moreau.run.pointsAt(moreau.step);
        const [{ count, instanceMatrix }] = view.marks.impulses.meshes;
        const { perImpulse, radius, size } = view.marks;
        const long = (impulse) => Math.min(impulse * perImpulse, radius * 0.5, size * 5);
        const heaviest = Array.from(points.impulse, long).sort((a, b) => b - a).slice(0, count);
        const drawn = Array.from({ length: count }, (_, i) => Math.hypot(...instanceMatrix.array.slice(i * 16 + 4, i * 16 + 7))).sort((a, b) => b - a);
        return { count, heaviest, drawn };
      });
      view.marks.most = Infinity;
      let drawn = 0;
      const { render } = view.renderer;
      view.renderer.render = function (...scene) {
        drawn++;
        return render.apply(this, scene);
      };
      const { ready } = pace;
      pace.ready = () => false;
      const next = () => new Promise((done) => requestAnimationFrame(done));
      for (let k = 0; k < 10; k++) {
        moreau.seek(10 + k);
        await next();
      }
      const stale = drawn;
      pace.ready = ready;
      while (moreau.dirty) await next();
      view.renderer.render = render;
      return { levels, stale, drawn, step: moreau.step };
    });
    scrubbed.levels.forEach(({ count, heaviest, drawn }, level) => {
      assert.equal(count, 10 - level);
      heaviest.forEach((long, i) => assert.ok(Math.abs(drawn[i] - long) < 1e-3 * long, JSON.stringify({ heaviest, drawn })));
    });
    assert.deepEqual([scrubbed.stale, scrubbed.drawn, scrubbed.step], [0, 1, 19]);
    await drawn(page);
    const whole = await page.evaluate(() => window.moreau.canvas.width / window.moreau.canvas.clientWidth);
    assert.equal(whole, 1);

    // Without the graphics card's part, which a server has to do in software.
    const ms = await page.evaluate(() => {
      const { moreau } = window;
      moreau.view.renderer.render = () => {};
      const start = performance.now();
      for (let k = 0; k < 60; k++) {
        moreau.seek(k * 5);
        moreau.draw();
      }
      return (performance.now() - start) / 60;
    });
    console.log(`scrubbing pyramid_20: ${ms.toFixed(1)} ms a step without drawing`);
    assert.ok(ms < 100, `${ms} ms a step`);
    assert.deepEqual(wrong, []);
  });
});

describe("pages for who does not see the picture", { skip, concurrency: false }, () => {
  before(makePages);

  /** Roles, names and descriptions as readers of screens are told them. */
  const told = async (page) => {
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const all = nodes.filter(({ ignored }) => !ignored).map(({ role, name, description, properties = [] }) => ({
      role: role.value, name: name?.value ?? "", description: description?.value ?? "",
      live: properties.find((one) => one.name === "live")?.value.value,
    }));
    const controls = all.filter(({ role }) => ["button", "slider", "combobox"].includes(role));
    assert.ok(controls.length > 8);
    for (const { role, name, description } of controls) {
      assert.ok(name, `a ${role} without a name`);
      assert.ok(!description.toLowerCase().startsWith(name.toLowerCase()), `${name} is announced twice: ${description}`);
    }
    return all;
  };

  test("nothing is announced twice, or while it plays", async (t) => {
    const { page, wrong } = await open(t, "pyramid_20", "frame=0");
    await drawn(page);
    assert.deepEqual((await told(page)).filter(({ live }) => live && live !== "off"), []);
    await scrub(page, 30);
    assert.equal(await page.getAttribute("#scrub", "aria-valuetext"), "step 30, 0.50 s");
    assert.deepEqual(wrong, []);
  });

  test("without WebGL the numbers are there", async (t) => {
    const { figures, contacts } = JSON.parse(readFileSync(join(out, "pyramid_20.json"), "utf8")).steps[64];
    const { page, wrong } = await open(t, "pyramid_20", "frame=64", ["--no-sandbox", "--disable-3d-apis"]);
    await drawn(page);
    const alerts = (await told(page)).filter(({ role }) => role === "alert");
    assert.equal(alerts.length, 1);
    assert.ok((await page.textContent("#trouble")).includes("WebGL 2 is missing"));
    same(await values(page, "#figures", "field"), { ...figures, step: 64 }, 6, "figures");
    same(await values(page, "#plots", "curve"), figures, 8, "plots");
    await page.keyboard.press("h");
    await drawn(page);
    const heaviest = contacts.reduce((a, b) => (b.impulse_normal > a.impulse_normal ? b : a));
    same(await values(page, "#chosen", "field"), heaviest, 20, "heaviest contact");
    // It plays, and takes all keys.
    await page.keyboard.press("Home");
    await page.keyboard.press("Space");
    await page.waitForFunction(() => window.moreau.step > 3);
    for (const key of [" ", "c", "n", "i", "b", "j", "v", "f", "z", "t", "p", "ArrowRight"]) await page.keyboard.press(key);
    await drawn(page);
    assert.deepEqual(wrong, []);
  });
});

/** All bodies that move are seen at the start, and not behind the words above or the buttons below. */
async function wholeStart(page) {
  const seen = await page.evaluate(() => {
    const { view, run, canvas } = window.moreau;
    const [above, below] = view.hidden().map((share) => share * canvas.clientHeight);
    const there = run.moving.filter((i) => run.isThere(run.bodies[i], run.steps[view.frame]));
    const places = there.map((i) => view.project(view.bodies.poseOf(i).subarray(0, 3)));
    return { places, left: 0, right: canvas.clientWidth, top: above, bottom: canvas.clientHeight - below };
  });
  for (const at of seen.places) {
    const inside = at && at[0] > seen.left && at[0] < seen.right && at[1] > seen.top - 1 && at[1] < seen.bottom + 1;
    assert.ok(inside, JSON.stringify({ at, ...seen, places: undefined }));
  }
}

/** Contact points are drawn where they are, as far as the picture is right. */
async function drawnPoints(page, contacts) {
  const drawn = await page.evaluate(() => {
    const { run, step } = window.moreau;
    const points = run.pointsAt(step);
    if (points.step !== step) return null;
    const { rows, step: key } = run.rowsAt(step);
    return {
      ...Object.fromEntries(["a", "b", "position", "impulse"].map((name) => [name, Array.from(points[name])])),
      reach: Array.from(run.reachOf), units: run.reach_units, most: run.impulse_max, roots: run.root_units,
      exact: key === step ? rows.map((row) => [row.point_x, row.point_y, row.point_z]) : null,
    };
  });
  if (!drawn) return;
  assert.deepEqual(drawn.a.map((a, i) => [a, drawn.b[i]]), contacts.map(({ a, b }) => [a, b]));
  contacts.forEach((contact, i) => {
    const size = Math.hypot(contact.impulse_normal, contact.impulse_tangent1, contact.impulse_tangent2);
    const root = (impulse) => Math.sqrt(impulse / (drawn.most || 1)) * drawn.roots;
    assert.ok(Math.abs(root(drawn.impulse[i]) - root(size)) < 0.51, `impulse ${size} is drawn as ${drawn.impulse[i]}`);
    if (!drawn.exact) return;
    const unit = Math.min(drawn.reach[contact.a], drawn.reach[contact.b]) / drawn.units;
    const gap = Math.hypot(...[0, 1, 2].map((c) => drawn.position[3 * i + c] - drawn.exact[i][c]));
    assert.ok(gap < 1.5 * unit, `a point is drawn ${gap} m beside itself`);
  });
}

/** Clicks on an island of the list, and compares its numbers; follows the link of its worst contact. */
async function clickIsland(page, steps) {
  const busy = Object.keys(steps).map(Number).findLast((step) => steps[step].islands.length);
  if (busy === undefined) return;
  await scrub(page, busy);
  const listed = await page.$$eval("#islands .row", (rows) => rows.map((row) => [Number(row.dataset.island), Number(row.querySelector("b").dataset.value)]));
  await page.click("#islands .row");
  await drawn(page);
  const kept = await keptStep(page);
  const islands = steps[kept].islands;
  const most = islands.toSorted((a, b) => b.contact_points - a.contact_points || a.first - b.first).slice(0, 4);
  assert.deepEqual(listed, most.map((row) => [row.first, row.contact_points]));
  same(await values(page, "#chosen", "field"), most[0], 6, `island of ${most[0].first} at step ${kept}`);
  const text = (field) => page.textContent(`#chosen [data-field=${field}]`);
  assert.equal(await text("solver"), most[0].solver);
  assert.ok((await text("stop")).includes(most[0].stop === "converged" ? "certified" : most[0].stop));
  const link = await page.$("#chosen [data-field=worst] button");
  if (!link) return;
  await link.click();
  await drawn(page);
  const worst = steps[busy].contacts[most[0].worst];
  const { a, b } = await page.evaluate(() => window.moreau.chosen.pair);
  assert.deepEqual({ a, b }, { a: worst.a, b: worst.b });
}

/** All of a recording is on its page, and its heaviest contacts are those that `moreau query` finds. */
async function wholeRecording(page, name, first, steps) {
  const numbers = Object.keys(steps).map(Number);
  const shown = await page.evaluate(() => {
    const { run } = window.moreau;
    const series = Object.fromEntries(Object.entries(run.series).map(([name, values]) => [name, Array.from(values)]));
    return { steps: Array.from(run.steps), heaviest: run.steps.map((_, f) => run.heaviestAt(f)), islands: run.steps.map((step) => run.islandsAt(step).rows.map((row) => [row.first, row.residual])), series };
  });
  assert.deepEqual(shown.steps, numbers);
  for (const step of numbers) {
    const { figures, contacts } = steps[step];
    for (const [field, value] of Object.entries(figures)) {
      if (field in shown.series) assert.equal(shown.series[field][step - first], value, `${field} of step ${step}`);
    }
    const islands = steps[step].islands.map(({ first, residual }) => [first, residual]);
    assert.deepEqual(shown.islands[step - first], islands, `islands of step ${step}`);
    const rows = shown.heaviest[step - first];
    const sorted = contacts.map((c) => c.impulse_normal).sort((a, b) => b - a);
    assert.deepEqual(rows.map((row) => row.impulse_normal), sorted.slice(0, rows.length), `heaviest of step ${step}`);
    assert.equal(rows.length, Math.min(8, contacts.length), `heaviest of step ${step}`);
    for (const row of rows) for (const [field, value] of Object.entries(contacts[row.index])) assert.equal(row[field], value, field);
  }
  const gates = await page.$$eval("#gates li", (all) => all.map((gate) => [gate.className, gate.textContent]));
  if (name === "recorded") assert.ok(gates.length > 5 && gates.every(([verdict]) => verdict === "passed"), JSON.stringify(gates));
  if (name === "killed") assert.ok(gates.length > 0 && gates.every(([, text]) => text.includes("not recorded")), JSON.stringify(gates));
  const busy = numbers.findLast((step) => steps[step].contacts.length);
  const query = ["query", join(out, `${name}.sqlite`), "--frame", `${busy}`, "--heaviest", "1", "--format", "json"];
  const [found] = JSON.parse(moreau(...query));
  await scrub(page, busy);
  await page.keyboard.press("h");
  await drawn(page);
  const card = await values(page, "#chosen", "field");
  const axes = (field) => ["x", "y", "z"].map((axis) => card[`${field}_${axis}`].value);
  const impulse = ["impulse_normal", "impulse_tangent1", "impulse_tangent2"].map((field) => card[field].value);
  assert.deepEqual(impulse, found.impulse);
  for (const field of ["normal", "tangent1", "tangent2", "lever_a", "lever_b"]) assert.deepEqual(axes(field), found[field], field);
  for (const field of ["separation", "friction", "restitution", "approach_velocity"]) assert.equal(card[field].value, found[field], field);
  await page.keyboard.press("Escape");
  await scrub(page, first);
}

/** Clicks on a contact point that can be seen, and compares its numbers. */
async function clickContact(page, box, steps) {
  await page.keyboard.press("Escape");
  await page.evaluate(() => window.moreau.toggle("points", true));
  await drawn(page);
  const point = await page.evaluate(() => {
    const { view, run } = window.moreau;
    const points = run.pointsAt(window.moreau.step);
    for (let i = 0; i < points.count; i++) {
      const at = view.project(points.position.subarray(i * 3, i * 3 + 3));
      if (at && at[1] > 120 && at[1] < 600 && at[0] > 20 && at[0] < 800) {
        const found = view.pickContact(points, Math.round(at[0]), Math.round(at[1]));
        return { at: at.map(Math.round), a: points.a[found], b: points.b[found] };
      }
    }
    return null;
  });
  if (!point) return;
  await page.mouse.click(box.x + point.at[0], box.y + point.at[1]);
  await drawn(page);
  const shown = await values(page, "#chosen", "field");
  const kept = await keptStep(page);
  const own = steps[kept].contacts.filter((c) => c.a === point.a && c.b === point.b);
  const one = own.find((c) => c.lever_a_x === shown.lever_a_x.value && c.lever_a_z === shown.lever_a_z.value);
  assert.ok(one, `the contact of ${point.a} and ${point.b} is not among those of step ${kept}`);
  same(shown, one, 20, `contact of ${point.a} and ${point.b} at step ${kept}`);
}
