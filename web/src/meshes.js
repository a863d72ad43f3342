// Meshes as unindexed triangles, 9 numbers a corner: position, normal, edge distances.
//
// `edge` is the barycentric coordinate of the corner; the fragment shader draws a line where one of
// the three is small. A side that is no edge of the solid has 1 added to its coordinate.

import { BufferGeometry, InterleavedBuffer, InterleavedBufferAttribute } from "three";
import { add, cross, normalize, scale, sub } from "./math.js";

const CORNER = 9;

function pushTriangle(out, points, normals, hidden) {
  for (let i = 0; i < 3; i++) {
    const edge = [0, 1, 2].map((k) => (k === i ? 1 : 0) + (hidden[k] ? 1 : 0));
    out.push(...points[i], ...normals[i], ...edge);
  }
}

/** A convex face as a fan; only its outline is an edge. */
function pushFace(out, corners) {
  const normal = faceNormal(corners);
  for (let i = 1; i + 1 < corners.length; i++) {
    // Side k lies opposite to corner k.
    const hidden = [false, i + 2 < corners.length, i > 1];
    pushTriangle(out, [corners[0], corners[i], corners[i + 1]], [normal, normal, normal], hidden);
  }
}

function faceNormal(corners) {
  let n = [0, 0, 0];
  for (let i = 1; i + 1 < corners.length; i++) {
    n = add(n, cross(sub(corners[i], corners[0]), sub(corners[i + 1], corners[0])));
  }
  return normalize(n);
}

function boxMesh() {
  const out = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const u = (axis + 1) % 3;
      const v = (axis + 2) % 3;
      const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => {
        const p = [0, 0, 0];
        p[axis] = side;
        p[u] = a * side;
        p[v] = b;
        return p;
      });
      pushFace(out, corners);
    }
  }
  return out;
}

/** A ball of `radius`, its halves moved apart by `half_height` along y: a capsule. */
function roundMesh(radius, half_height, [slices, stacks]) {
  const out = [];
  const ring = (i, half) => {
    const angle = (i / stacks) * (Math.PI / 2);
    return { y: Math.sin(angle) * half, r: Math.cos(angle), shift: half_height * half };
  };
  const rings = [];
  for (let i = stacks; i >= 0; i--) rings.push(ring(i, -1));
  for (let i = half_height > 0 ? 0 : 1; i <= stacks; i++) rings.push(ring(i, 1));
  const hidden = [true, true, true];
  for (let k = 0; k + 1 < rings.length; k++) {
    for (let s = 0; s < slices; s++) {
      const at = ({ y, r, shift }, j) => {
        const a = (j / slices) * 2 * Math.PI;
        const normal = [r * Math.sin(a), y, r * Math.cos(a)];
        return { normal, point: add(scale(normal, radius), [0, shift, 0]) };
      };
      const [low, high] = [rings[k], rings[k + 1]];
      const [a, b, c, d] = [at(low, s), at(low, s + 1), at(high, s + 1), at(high, s)];
      const push = (...corners) =>
        pushTriangle(out, corners.map((v) => v.point), corners.map((v) => v.normal), hidden);
      if (low.r > 1e-9) push(a, b, c);
      if (high.r > 1e-9) push(a, c, d);
    }
  }
  return out;
}

function hullMesh(shape) {
  const out = [];
  for (const face of shape.faces) pushFace(out, face.map((i) => shape.vertices[i]));
  return out;
}

/** A cylinder, or with `top` 0 a cone: discs at y = -half_height and half_height, `top` the ratio of radii. */
function turnedMesh({ radius, half_height }, top, slices) {
  const out = [];
  const at = (r, y, s) => {
    const a = (s / slices) * 2 * Math.PI;
    return [r * Math.sin(a), y, r * Math.cos(a)];
  };
  // The side's normal: across by its height, up by how much it narrows.
  const outward = (s) => normalize(add(at(2 * half_height, 0, s), [0, radius * (1 - top), 0]));
  const ring = (r, y) => Array.from({ length: slices }, (_, s) => at(r, y, s));
  pushFace(out, ring(radius, -half_height).reverse());
  if (top > 0) pushFace(out, ring(radius * top, half_height));
  for (let s = 0; s < slices; s++) {
    const [a, b] = [at(radius, -half_height, s), at(radius, -half_height, s + 1)];
    const [c, d] = [at(radius * top, half_height, s + 1), at(radius * top, half_height, s)];
    const [from, to] = [outward(s), outward(s + 1)];
    // The rims are edges, the lines down the side are not.
    if (top > 0) {
      pushTriangle(out, [a, b, c], [from, to, to], [true, true, false]);
      pushTriangle(out, [a, c, d], [from, to, from], [false, true, true]);
    } else {
      pushTriangle(out, [a, b, c], [from, to, outward(s + 0.5)], [true, true, false]);
    }
  }
  return out;
}

/** The mesh of `shape`; round ones with `fine` slices and stacks. A ball and a box have size 1. */
export function bodyGeometry(shape, fine) {
  switch (shape.kind) {
    case "sphere":
      return geometry(roundMesh(1, 0, fine));
    case "capsule":
      // A rod that is too thin to be seen is drawn thicker.
      return geometry(roundMesh(Math.max(shape.radius, 0.004 * shape.half_height), shape.half_height, fine));
    case "box":
      return geometry(boxMesh());
    case "cylinder":
      return geometry(turnedMesh(shape, 1, fine[0]));
    case "cone":
      return geometry(turnedMesh(shape, 0, fine[0]));
    default:
      return geometry(hullMesh(shape));
  }
}

function geometry(corners) {
  const buffer = new InterleavedBuffer(new Float32Array(corners), CORNER);
  const out = new BufferGeometry();
  out.setAttribute("position", new InterleavedBufferAttribute(buffer, 3, 0));
  out.setAttribute("normal", new InterleavedBufferAttribute(buffer, 3, 3));
  out.setAttribute("edge", new InterleavedBufferAttribute(buffer, 3, 6));
  return out;
}

/** A ball of radius 1. */
export const ballGeometry = (slices, stacks) => geometry(roundMesh(1, 0, [slices, stacks]));

/** Along y from 0 to 1: a shaft of radius 0.03 and a head of radius 0.09. */
export function arrowGeometry(slices) {
  const out = [];
  const hidden = [true, true, true];
  const head = 0.72;
  const at = (r, y, s) => {
    const a = (s / slices) * 2 * Math.PI;
    return [r * Math.sin(a), y, r * Math.cos(a)];
  };
  for (let s = 0; s < slices; s++) {
    const side = [at(1, 0, s), at(1, 0, s + 1)];
    const shaft = [at(0.03, 0, s), at(0.03, 0, s + 1), at(0.03, head, s + 1), at(0.03, head, s)];
    pushTriangle(out, [shaft[0], shaft[1], shaft[2]], [side[0], side[1], side[1]], hidden);
    pushTriangle(out, [shaft[0], shaft[2], shaft[3]], [side[0], side[1], side[0]], hidden);
    const rim = [at(0.09, head, s), at(0.09, head, s + 1)];
    const slope = side.map((n) => normalize([n[0], 0.3, n[2]]));
    pushTriangle(out, [rim[0], rim[1], [0, 1, 0]], [slope[0], slope[1], slope[0]], hidden);
    const down = [0, -1, 0];
    pushTriangle(out, [rim[1], rim[0], [0, head, 0]], [down, down, down], hidden);
  }
  return geometry(out);
}

/** The least that looks like an arrow along y from 0 to 1: two thin triangles across each other. */
export function spikeGeometry() {
  const out = [];
  const hidden = [true, true, true];
  const [wide, up, tip] = [0.07, [0, 1, 0], [0, 1, 0]];
  for (const [x, z] of [[wide, 0], [0, wide]]) {
    const ends = [[x, 0, z], [-x, 0, -z]];
    pushTriangle(out, [ends[0], tip, ends[1]], [up, up, up], hidden);
    pushTriangle(out, [ends[1], tip, ends[0]], [up, up, up], hidden);
  }
  return geometry(out);
}

/** Half the edges of the box around a shape in its own frame, and that box's middle, m; null for a half-space. */
export function extents(shape) {
  switch (shape.kind) {
    case "half-space":
      return null;
    case "sphere":
      return { half: [shape.radius, shape.radius, shape.radius], middle: [0, 0, 0] };
    case "box":
      return { half: shape.half_extents, middle: [0, 0, 0] };
    case "capsule":
      return { half: [shape.radius, shape.half_height + shape.radius, shape.radius], middle: [0, 0, 0] };
    case "cylinder":
    case "cone":
      return { half: [shape.radius, shape.half_height, shape.radius], middle: [0, 0, 0] };
  }
  const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  for (const v of shape.vertices) {
    for (let c = 0; c < 3; c++) {
      low[c] = Math.min(low[c], v[c]);
      high[c] = Math.max(high[c], v[c]);
    }
  }
  return { half: scale(sub(high, low), 0.5), middle: scale(add(high, low), 0.5) };
}
