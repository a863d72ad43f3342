// The recording: a JSON header and one deflated block of numbers, both inside the page.
//
// "Planes" means that of n numbers all first (lowest) bytes come first, then all second ones…
//
//   series          f64, one row of `series_columns` a step (the state before the first included)
//   paths           f32, per moving body: smallest x, y, z, then the metres of one unit in x, y, z
//   poses           per shown step, planes of u16: x, y, z of all moving bodies in units of their
//                   paths, then qx, qy, qz, qw in units of 1/32767, as differences to the step before
//   states          per shown step, planes of u32: island, highest bit for asleep, of all moving
//                   bodies, as bits that differ from the step before
//   added_pairs, contacts  contact points of the picture, see contacts.js
//   body_values     per key step and column, planes of f64 of all moving bodies, as bits that differ
//                   from the key step before
//   heaviest, rows  per step, planes: `contact_words` (u32), then `contact_columns` (f64)
//   islands         the same with `island_words` and `island_columns`; how many rows: `…_counts` (u32)

import { ContactLog, place } from "./contacts.js";
import { lastNotBeyond, mix, nearest } from "./math.js";

export const NO_ISLAND = 0x7fffffff;
const NO_POINTS = { step: null, count: 0, a: [], b: [], position: new Float32Array(0), normal: new Float32Array(0), direction: new Float32Array(0), impulse: new Float32Array(0) };

export async function loadRecording() {
  const text = (id) => document.getElementById(id).textContent.trim();
  const meta = JSON.parse(text("meta"));
  const packed = fromBase64(text("data"));
  document.getElementById("data").textContent = "";
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = await new Response(stream).arrayBuffer();
  return { meta, runs: meta.runs.map((run) => new Run(meta, run, bytes)) };
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** One run: what is drawn, and the numbers with all their bits. */
class Run {
  constructor(meta, run, bytes) {
    const section = (name) => bytes.slice(...run.sections[name]);
    const bytesOf = (name) => new Uint8Array(section(name));
    Object.assign(this, run, { meta, steps: run.frame_steps, unknown: new Set(run.unknown_contacts) });
    this.moving = run.bodies.map((body, i) => (body.moves ? i : -1)).filter((i) => i >= 0);
    this.slot = new Map(this.moving.map((i, k) => [i, k]));
    this.series = unpackSeries(meta.series_columns, new Float64Array(section("series")));
    this.paths = new Float32Array(section("paths"));
    this.words = unpackDifferences(bytesOf("poses"), this.steps.length, this.moving.length * 7);
    this.signed = new Int16Array(this.words.buffer);
    this.states = unpackStates(bytesOf("states"), this.steps.length, this.moving.length);
    this.points = new ContactLog(new Uint32Array(section("added_pairs")), bytesOf("contacts"));
    this.reachOf = Float64Array.from(run.bodies, (body) => run.reach[body.shape] ?? Infinity);
    this.values = unpackValues(bytesOf("body_values"), run.body_steps.length, this.moving.length, meta.body_columns.length);
    const rows = (counts, name, words, columns) =>
      Object.assign(new Blocks(new Uint32Array(section(counts)), 4 * words.length + 8 * columns.length, bytesOf(name)), { words, columns });
    this.heaviest = rows("heaviest_counts", "heaviest", meta.contact_words, meta.contact_columns);
    this.rows = rows("row_counts", "rows", meta.contact_words, meta.contact_columns);
    this.islands = rows("island_counts", "islands", meta.island_words, meta.island_columns);
    this.anyAsleep = this.states.some((state) => state >>> 31);
    this.fixed = new Float32Array(run.bodies.length * 7);
    run.bodies.forEach((body, i) => this.fixed.set(body.pose, i * 7));
  }

  get lastStep() {
    return this.steps[this.steps.length - 1];
  }

  /** Whether a body or joint is there in a step. */
  isThere({ steps }, step) {
    return !steps || (steps[0] <= step && step <= steps[1]);
  }

  /** The index of the last shown step not beyond `step`. */
  frame(step) {
    return lastNotBeyond(this.steps, step);
  }

  /** Fills `out` (7 numbers a body) with the poses between the shown steps `f` and `f + 1`. */
  readPoses(f, t, out) {
    const { words, signed, paths, moving } = this;
    const n = moving.length;
    const [a, b] = [f * n * 7, Math.min(f + 1, this.steps.length - 1) * n * 7];
    for (let k = 0; k < n; k++) {
      const o = moving[k] * 7;
      for (let c = 0; c < 3; c++) {
        const at = mix(words[a + c * n + k], words[b + c * n + k], t);
        out[o + c] = paths[k * 6 + c] + at * paths[k * 6 + 3 + c];
      }
      let norm = 0;
      for (let c = 3; c < 7; c++) {
        const q = mix(signed[a + c * n + k], signed[b + c * n + k], t);
        out[o + c] = q;
        norm += q * q;
      }
      norm = 1 / (Math.sqrt(norm) || 1);
      for (let c = 3; c < 7; c++) out[o + c] *= norm;
    }
  }

  /** The island of body `i` at frame `f` (`NO_ISLAND` for none), and whether it sleeps. */
  state(f, i) {
    const k = this.slot.get(i);
    if (k === undefined) return { island: NO_ISLAND, asleep: false };
    const state = this.states[f * this.moving.length + k];
    return { island: state & NO_ISLAND, asleep: state >>> 31 === 1 };
  }

  /** How fast body `i` moves between the shown steps around `f`, from the picture; m/s. */
  speed(f, k) {
    const n = this.moving.length;
    const g = Math.max(f, 1);
    if (g >= this.steps.length) return 0;
    const [a, b] = [(g - 1) * n * 7, g * n * 7];
    let sum = 0;
    for (let c = 0; c < 3; c++) {
      const moved = (this.words[b + c * n + k] - this.words[a + c * n + k]) * this.paths[k * 6 + 3 + c];
      sum += moved * moved;
    }
    const time = (g) => this.series.time_s[this.steps[g] - this.first_step];
    return Math.sqrt(sum) / (time(g) - time(g - 1));
  }

  /** The picture's contact points of the last contact step not beyond `step`. */
  pointsAt(step) {
    const k = lastNotBeyond(this.contact_steps, step);
    if (k < 0 || !this.contact_steps.length) return NO_POINTS;
    if (this.lastPoints?.k !== k) this.lastPoints = { k, step: this.contact_steps[k], ...this.unpackPoints(k) };
    return this.lastPoints;
  }

  unpackPoints(k) {
    const poses = Float32Array.from(this.fixed);
    this.readPoses(this.frame(this.contact_steps[k]), 0, poses);
    return place(this.points.at(k), this, poses, this.reachOf);
  }

  /** The exact numbers of body `i` at the key step nearest to `step`; null for a body that stands, or of which none are kept. */
  bodyAt(step, i) {
    const k = this.slot.get(i);
    const steps = this.body_steps.filter((step) => this.isThere(this.bodies[i], step));
    if (k === undefined || !steps.length) return null;
    const key = this.body_steps.indexOf(steps[nearest(steps, step)]);
    const width = this.meta.body_columns.length;
    const at = (key * this.moving.length + k) * width;
    const names = this.meta.body_columns;
    const values = Object.fromEntries(names.map((name, c) => [name, this.values[at + c]]));
    return { step: this.body_steps[key], values };
  }

  /** The heaviest contacts of frame `f`, the heaviest first, exact. */
  heaviestAt(f) {
    return this.readRows(this.heaviest, f);
  }

  /** The exact contacts of the key step nearest to `step`. */
  rowsAt(step) {
    const k = nearest(this.row_steps, step);
    if (this.lastRows?.k !== k) this.lastRows = { k, step: this.row_steps[k], rows: this.readRows(this.rows, k) };
    return this.lastRows;
  }

  /** The islands of the key step nearest to `step`, in the order of their first bodies, exact. */
  islandsAt(step) {
    const k = nearest(this.island_steps, step);
    if (this.lastIslands?.k === k) return this.lastIslands;
    const rows = this.readRows(this.islands, k);
    for (const row of rows) for (const word of ["solver", "stop"]) row[word] = this.island_names[row[word]];
    this.lastIslands = { k, step: this.island_steps[k], rows };
    return this.lastIslands;
  }

  readRows(blocks, k) {
    const { count, read } = blocks.block(k);
    const { words, columns } = blocks;
    const view = new DataView(new ArrayBuffer(8));
    return Array.from({ length: count }, (_, i) => {
      const row = {};
      words.forEach((name, c) => (row[name] = read(4 * c, 4, i)));
      columns.forEach((name, c) => {
        const at = 4 * words.length + 8 * c;
        view.setUint32(0, read(at, 4, i), true);
        view.setUint32(4, read(at + 4, 4, i), true);
        row[name] = view.getFloat64(0, true);
      });
      return row;
    });
  }
}

/** Blocks of planes, `width` bytes a number. */
class Blocks {
  constructor(counts, width, bytes) {
    Object.assign(this, { counts, width, bytes });
    this.starts = [0];
    for (const count of counts) this.starts.push(this.starts[this.starts.length - 1] + count);
  }

  /** Block `k`: how many numbers, and a function that reads `size` bytes from byte `at` of number `i`. */
  block(k) {
    const count = this.counts[k] ?? 0;
    const base = (this.starts[k] ?? 0) * this.width;
    const { bytes } = this;
    const read = (at, size, i) => {
      let value = 0;
      for (let byte = 0; byte < size; byte++) value |= bytes[base + (at + byte) * count + i] << (8 * byte);
      return value >>> 0;
    };
    return { count, read };
  }
}

function unpackSeries(names, numbers) {
  const width = names.length;
  const rows = numbers.length / width;
  return Object.fromEntries(names.map((name, c) => [name, Float64Array.from({ length: rows }, (_, r) => numbers[r * width + c])]));
}

function unpackDifferences(bytes, frames, width) {
  const words = new Uint16Array(frames * width);
  for (let f = 0; f < frames; f++) {
    const low = f * width * 2;
    const at = f * width;
    for (let i = 0; i < width; i++) {
      const difference = bytes[low + i] | (bytes[low + width + i] << 8);
      words[at + i] = f === 0 ? difference : words[at - width + i] + difference;
    }
  }
  return words;
}

function unpackStates(bytes, frames, width) {
  const states = new Uint32Array(frames * width);
  for (let f = 0; f < frames; f++) {
    const from = f * width * 4;
    const at = f * width;
    for (let i = 0; i < width; i++) {
      const read = (plane) => bytes[from + plane * width + i] << (8 * plane);
      states[at + i] = (read(0) | read(1) | read(2) | read(3)) ^ (f > 0 ? states[at - width + i] : 0);
    }
  }
  return states;
}

function unpackValues(bytes, steps, width, columns) {
  const values = new Float64Array(steps * width * columns);
  const out = new Uint8Array(values.buffer);
  const row = width * columns * 8;
  for (let s = 0; s < steps; s++) {
    for (let c = 0; c < columns; c++) {
      for (let plane = 0; plane < 8; plane++) {
        const from = s * row + (c * 8 + plane) * width;
        for (let k = 0; k < width; k++) {
          const at = s * row + (k * columns + c) * 8 + plane;
          out[at] = bytes[from + k] ^ (s > 0 ? out[at - row] : 0);
        }
      }
    }
  }
  return values;
}
