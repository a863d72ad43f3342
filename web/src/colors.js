// Colours of bodies.

import { Color } from "three";
import { clamp } from "./math.js";

const PALETTE = ["#3f74c2", "#ea8c3a", "#45a89b", "#d95d5d", "#8a70c9", "#dcb33a", "#5fa35a", "#d280a8"].map((c) => new Color(c));
const STILL = new Color("#9aa0a8");
const DRIVEN = new Color("#c9a36a");
const ALONE = new Color("#c3c9d2");
const ASLEEP = new Color("#5b6f9c");
const AWAKE = new Color("#efa23c");
const HEAT = ["#2f4b8f", "#3c8fb5", "#7cc48a", "#f1d75b", "#ec7a3c", "#c42a3a"].map((c) => new Color(c));

/** What bodies may be coloured by. */
export const MODES = { body: "body", island: "island", sleep: "sleep", speed: "speed" };

// Shifted from row to row: neighbours differ, and so do bodies that repeat every few ids.
const ofId = (i) => PALETTE[(i + 3 * Math.floor(i / PALETTE.length)) % PALETTE.length];

// Islands are named by their first body; large ones should not look alike by chance.
const ofIsland = (i) => PALETTE[(Math.imul(i + 1, 0x9e3779b1) >>> 16) % PALETTE.length];

/** Writes the colour of body `i` at frame `f` into `out`. */
export function bodyColor(run, mode, f, i, out) {
  const body = run.bodies[i];
  if (body.kind === "static") return out.copy(STILL);
  if (mode === "speed") {
    const share = run.speed(f, run.slot.get(i)) / Math.max(run.speed_typical, 1e-9);
    const x = clamp(Math.sqrt(share), 0, 1) * (HEAT.length - 1);
    const k = Math.min(Math.floor(x), HEAT.length - 2);
    return out.copy(HEAT[k]).lerp(HEAT[k + 1], x - k);
  }
  if (body.kind === "kinematic") return out.copy(DRIVEN);
  if (mode === "island") {
    const { island } = run.state(f, i);
    return out.copy(island === 0x7fffffff ? ALONE : ofIsland(island));
  }
  if (mode === "sleep") return out.copy(run.state(f, i).asleep ? ASLEEP : AWAKE);
  return out.copy(ofId(i));
}

/** What the colours of a mode mean, as pairs of a CSS colour and a word. */
export function legend(mode, fastest) {
  const css = (color) => `#${color.getHexString()}`;
  if (mode === "sleep") return [[css(AWAKE), "awake"], [css(ASLEEP), "asleep"]];
  if (mode === "island") return [[css(PALETTE[0]), "a colour an island"], [css(ALONE), "touches nothing"]];
  if (mode === "speed") return [[css(HEAT[0]), "at rest"], [css(HEAT[3]), "faster"], [css(HEAT[5]), `up to ${fastest}`]];
  return [];
}
