// How large the page of 2000 bodies is, how soon it opens, and how soon a picture follows a move of the
// scrubber: node measure.mjs [PAGE]. Without a page it makes that of 600 steps of pile_boxes_2000.
//
// Chromium draws on the processor here, so that times are those of a machine without graphics.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const MOST_BYTES = 25e6;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const file = resolve(process.argv[2] ?? join(root, "out/measure/pile_boxes_2000.html"));
if (!existsSync(file)) {
  mkdirSync(dirname(file), { recursive: true });
  const view = ["run", "--release", "-q", "-p", "moreau-cli", "--", "view", "pile_boxes_2000", "--steps", "600", "--no-open", "--out", file];
  execFileSync("cargo", view, { cwd: root, stdio: "inherit" });
}
const { size } = statSync(file);
console.log(`${(size / 1e6).toFixed(1)} MB`);
if (size > MOST_BYTES) {
  console.error(`more than ${MOST_BYTES / 1e6} MB`);
  process.exitCode = 1;
}

const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const start = performance.now();
await page.goto(`file://${file}#frame=0&theme=light`);
await page.waitForSelector("body.ready", { timeout: 300_000 });
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
console.log(`opened after ${((performance.now() - start) / 1000).toFixed(1)} s`);

/** Times in ms from moves of the scrubber to pictures; `work`: only what the program does for one. */
const scrub = (marks) => page.evaluate(async (marks) => {
  const { moreau } = window;
  for (const mark of ["points", "impulses"]) moreau.toggle(mark, marks);
  const input = document.getElementById("scrub");
  const gl = moreau.view.renderer.getContext();
  const pixel = new Uint8Array(4);
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const time = async (count, move) => {
    const times = [];
    for (let k = 0; k < count; k++) {
      const before = performance.now();
      await move(Math.round((k * moreau.lastStep) / count));
      times.push(performance.now() - before);
    }
    times.sort((a, b) => a - b);
    return { median: times[times.length >> 1], worst: times.at(-1) };
  };
  const drawn = await time(60, async (step) => {
    input.value = step;
    input.dispatchEvent(new Event("input"));
    while (moreau.dirty) await next();
    // Waits until the picture is there.
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  });
  const rough = moreau.view.draft;
  while (moreau.dirty || moreau.view.draft) await next();
  const { render } = moreau.view.renderer;
  moreau.view.renderer.render = () => {};
  const work = await time(60, async (step) => {
    moreau.seek(step);
    moreau.draw();
  });
  moreau.view.renderer.render = render;
  return { drawn, work, rough };
}, marks);

for (const marks of [false, true]) {
  const { drawn, work, rough } = await scrub(marks);
  const ms = ({ median, worst }) => `${median.toFixed(1)} ms (worst ${worst.toFixed(1)})`;
  console.log(`${marks ? "with contacts and impulses" : "bodies only"}: ${ms(drawn)} from a scrub to its picture${rough ? ", drawn roughly" : ""}, of which ${ms(work)} are the program's`);
}
await browser.close();
