// Renders the pictures of docs/gallery.md from pages of our own scenes: node gallery.mjs [NAME…]
//
// Pages are taken from out/gallery, and made by `moreau view` where they are missing. Each is opened in
// Chromium with the settings below, and what it shows is kept as WebP.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const pages = join(root, "out/gallery");
const out = join(root, "docs/gallery");

/** Name of the picture, scene, settings of the page, size. */
const PICTURES = [
  ["showcase", "showcase", "frame=100&theme=dark&bare=1&yaw=0.7&pitch=0.3&zoom=1", [1120, 600]],
  ["pile", "pile_boxes_2000", "frame=175&theme=light&color=speed&yaw=0.75&pitch=0.45&zoom=0.97", [1280, 800]],
  ["hills", "hills", "frame=75&theme=light&color=island&bare=1&points=1&pitch=0.5&zoom=1.02", [1120, 600]],
  ["pyramid", "pyramid_20", "frame=120&theme=dark&impulses=1&bare=1&yaw=0.35&pitch=0.12", [1120, 600]],
  ["contact", "showcase", "frame=76&theme=light&heaviest=0&impulses=1&near=1&pitch=0.3&yaw=0.9", [1280, 800]],
];

const wanted = process.argv.slice(2);
const chosen = PICTURES.filter(([name]) => wanted.length === 0 || wanted.includes(name));
mkdirSync(pages, { recursive: true });
mkdirSync(out, { recursive: true });
for (const scene of new Set(chosen.map(([, scene]) => scene))) {
  const page = join(pages, `${scene}.html`);
  if (existsSync(page)) continue;
  const view = ["run", "--release", "-q", "-p", "moreau-cli", "--", "view", scene, "--no-open", "--out", page];
  execFileSync("cargo", view, { cwd: root, stdio: "inherit" });
}
const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
for (const [name, scene, settings, [width, height]] of chosen) {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.goto(`file://${join(pages, `${scene}.html`)}#${settings}`);
  await page.waitForSelector("body.ready", { timeout: 120_000 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForTimeout(300);
  await page.waitForFunction(() => !window.moreau.dirty && !window.moreau.view.draft);
  const png = await page.screenshot();
  const blank = await browser.newPage();
  const webp = await blank.evaluate(async (source) => {
    const image = Object.assign(new Image(), { src: source });
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.86);
  }, `data:image/png;base64,${png.toString("base64")}`);
  const bytes = Buffer.from(webp.split(",")[1], "base64");
  writeFileSync(join(out, `${name}.webp`), bytes);
  console.log(`docs/gallery/${name}.webp: ${(bytes.length / 1000).toFixed(0)} kB`);
  await blank.close();
  await page.close();
}
await browser.close();
