// Makes crates/moreau-page/assets/page.html of src/: one file, with three.js and uPlot inside.
//
//   node build.mjs          writes it
//   node build.mjs --check  fails where the kept file is not what the sources give
//   node build.mjs --into F puts the program into a page that was written by an older one

import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const kept = join(here, "../crates/moreau-page/assets/page.html");

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    target: ["chrome103", "firefox113", "safari16.4"],
    legalComments: "none",
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

/** The notices of what the bundle holds. */
function notices() {
  const notice = (name) => {
    const { version } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json")));
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8");
    return `${name} ${version}\n\n${text.trim()}`;
  };
  return ["three", "uplot"].map(notice).join("\n\n");
}

/** Text that no script or style element can end early in, and that holds no tabs or spaces at ends of lines. */
const clean = (text) => text.replaceAll("</script", "<\\/script").replaceAll("\t", " ").replace(/ +$/gm, "");

async function page() {
  const script = await bundle("src/main.js", { format: "iife" });
  const style = await bundle("src/style.css", {});
  const template = readFileSync(join(here, "src/page.html"), "utf8");
  const parts = { STYLE: style, SCRIPT: clean(`/*\n${notices()}\n*/\n${script}`) };
  return template.replace(/\/\*(STYLE|SCRIPT)\*\//g, (_, name) => parts[name]);
}

const made = await page();
const [flag, file] = process.argv.slice(2);
if (flag === "--check") {
  if (readFileSync(kept, "utf8") !== made) {
    console.error("crates/moreau-page/assets/page.html is not what web/ gives; run: npm --prefix web run build");
    process.exit(1);
  }
  console.log(`the kept page is what web/ gives (${made.length} characters)`);
} else if (flag === "--into") {
  const old = readFileSync(file, "utf8");
  const element = (id) => old.match(new RegExp(`<script id="${id}"[^>]*>([^<]*)</script>`))[1];
  writeFileSync(file, made.replace("/*META*/", () => element("meta")).replace("/*DATA*/", () => element("data")));
} else {
  writeFileSync(kept, made);
  console.log(`wrote ${made.length} characters`);
}
