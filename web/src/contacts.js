// The contact points of the picture: each step as its difference to the step before.
//
// A step is, one after the other (planes as in data.js):
//
//   u16 planes  for each pair of the step before: how many points more it has; none at all: it is gone
//   u32 planes  for each new pair: how many pairs of the step before stand before it, body a, body b; the
//               first two as differences to the new pair before it. u16 planes: its points
//   bits        for each point: whether it differs from the point with its number in its pair in the step
//               before, or from zeros where there is none; the lowest bit of a byte first
//   planes      for those that do, differences: x, y, z (u16), octahedral normal (two u8), octahedral
//               direction of the impulse (two u8), root of the impulse (u16)
//
// x, y, z are in the frame of the carrier, the body of the two that reaches less far (b where they are
// alike), in `reach_units` of its reach; the root is in `root_units` of that of `impulse_max`.

import { normalize, rotate } from "./math.js";

/** A step of so many is kept unpacked, so that going to any takes few. */
const KEEP_EVERY = 32;

const FIELDS = ["x", "y", "z", "n1", "n2", "d1", "d2", "root"];
const WIDE = [true, true, true, false, false, false, false, true];

export class ContactLog {
  /** `added`: how many new pairs each step has. */
  constructor(added, bytes) {
    Object.assign(this, { added, bytes });
    const empty = { k: -1, offset: 0, count: 0, a: new Uint32Array(0), b: new Uint32Array(0), counts: new Uint16Array(0) };
    for (const field of FIELDS) empty[field] = new Uint16Array(0);
    this.kept = new Map([[-1, empty]]);
    this.last = empty;
  }

  /** Step `k` of those that are there. */
  at(k) {
    let state = this.last.k <= k ? this.last : this.kept.get(-1);
    for (let near = k - ((k + 1) % KEEP_EVERY); near > state.k; near -= KEEP_EVERY) {
      if (!this.kept.has(near)) continue;
      state = this.kept.get(near);
      break;
    }
    while (state.k < k) {
      state = this.next(state);
      if ((state.k + 1) % KEEP_EVERY === 0) this.kept.set(state.k, state);
    }
    return (this.last = state);
  }

  next(old) {
    const { bytes } = this;
    const k = old.k + 1;
    const [n, m] = [old.a.length, this.added[k]];
    let at = old.offset;
    /** Reads `size` planes of `count` numbers. */
    const planes = (count, size) => {
      const out = new Uint32Array(count);
      for (let plane = 0; plane < size; plane++) {
        for (let i = 0; i < count; i++) out[i] |= bytes[at + i] << (8 * plane);
        at += count;
      }
      return out;
    };
    const more = planes(n, 2);
    const [passed, firsts, seconds, news] = [planes(m, 4), planes(m, 4), planes(m, 4), planes(m, 2)];
    for (let i = 1; i < m; i++) {
      passed[i] += passed[i - 1];
      firsts[i] += firsts[i - 1];
    }
    let [pairs, count] = [m, 0];
    for (let i = 0; i < n; i++) {
      more[i] = (more[i] + old.counts[i]) & 0xffff;
      count += more[i];
      if (more[i]) pairs++;
    }
    for (let i = 0; i < m; i++) count += news[i];
    const now = { k, count, a: new Uint32Array(pairs), b: new Uint32Array(pairs), counts: new Uint16Array(pairs) };
    for (const field of FIELDS) now[field] = new Uint16Array(count);
    let [pair, point, from, next] = [0, 0, 0, 0];
    const add = (a, b, points) => {
      now.a[pair] = a;
      now.b[pair] = b;
      now.counts[pair++] = points;
      point += points;
    };
    for (let i = 0; i <= n; i++) {
      for (; next < m && passed[next] === i; next++) add(firsts[next], seconds[next], news[next]);
      if (i === n) break;
      const both = Math.min(old.counts[i], more[i]);
      for (const field of FIELDS) for (let j = 0; j < both; j++) now[field][point + j] = old[field][from + j];
      if (more[i]) add(old.a[i], old.b[i], more[i]);
      from += old.counts[i];
    }
    const changed = [];
    for (let i = 0; i < count; i++) if ((bytes[at + (i >> 3)] >> (i & 7)) & 1) changed.push(i);
    at += (count + 7) >> 3;
    FIELDS.forEach((field, c) => {
      const differences = planes(changed.length, WIDE[c] ? 2 : 1);
      const out = now[field];
      const mask = WIDE[c] ? 0xffff : 0xff;
      for (let i = 0; i < changed.length; i++) out[changed[i]] = (out[changed[i]] + differences[i]) & mask;
    });
    now.offset = at;
    return now;
  }
}

/** The points of a step in the world. `poses`: seven numbers a body; `reach` of each body, m. */
export function place(step, run, poses, reach) {
  const { count } = step;
  const [a, b] = [new Uint32Array(count), new Uint32Array(count)];
  const [position, normal, direction] = [0, 0, 0].map(() => new Float32Array(count * 3));
  const impulse = new Float32Array(count);
  const signed = (byte, units) => ((byte << 24) >> 24) / units;
  const { normal_units: fine, direction_units: rough } = run;
  let i = 0;
  step.counts.forEach((points, pair) => {
    const [first, second] = [step.a[pair], step.b[pair]];
    const carrier = reach[second] <= reach[first] ? second : first;
    const unit = reach[carrier] / run.reach_units;
    const pose = poses.subarray(carrier * 7, carrier * 7 + 7);
    const rotation = pose.subarray(3);
    for (const end = i + points; i < end; i++) {
      a[i] = first;
      b[i] = second;
      const local = [step.x[i], step.y[i], step.z[i]].map((x) => ((x << 16) >> 16) * unit);
      const turned = rotate(rotation, local);
      for (let c = 0; c < 3; c++) position[i * 3 + c] = pose[c] + turned[c];
      normal.set(octahedral(signed(step.n1[i], fine), signed(step.n2[i], fine)), i * 3);
      direction.set(octahedral(signed(step.d1[i], rough), signed(step.d2[i], rough)), i * 3);
      impulse[i] = (step.root[i] / run.root_units) ** 2 * run.impulse_max;
    }
  });
  return { count, a, b, position, normal, direction, impulse };
}

/** The unit vector of a point (u, v) of the unfolded octahedron. */
function octahedral(u, v) {
  const y = 1 - Math.abs(u) - Math.abs(v);
  if (y >= 0) return normalize([u, y, v]);
  const fold = (a, b) => (1 - Math.abs(b)) * (a < 0 ? -1 : 1);
  return normalize([fold(u, v), y, fold(v, u)]);
}
