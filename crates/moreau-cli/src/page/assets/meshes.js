// Meshes as unindexed triangles, 10 numbers a corner: position, normal, edge distances, cap.
//
// `edge` is the barycentric coordinate of the corner; the fragment shader draws a line where one of
// the three is small. A side that is no edge of the solid has 1 added to its coordinate.
// `cap` moves a corner along the body's y axis by cap * instance length: it makes one mesh serve
// capsules of all proportions.

const CORNER = 10;

function pushTriangle(out, points, normals, hidden, caps = [0, 0, 0]) {
  for (let i = 0; i < 3; i++) {
    const edge = [0, 1, 2].map((k) => (k === i ? 1 : 0) + (hidden[k] ? 1 : 0));
    out.push(...points[i], ...normals[i], ...edge, caps[i]);
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

/** The unit ball, cut at the equator: the caps of a capsule; with length 0 a ball. */
function roundMesh(slices, stacks) {
  const out = [];
  const ring = (i, half) => {
    // Each half has its own equator, the band between the two is the capsule's side.
    const angle = (i / stacks) * (Math.PI / 2);
    return { y: Math.sin(angle) * half, r: Math.cos(angle), cap: half };
  };
  const rings = [];
  for (let i = stacks; i >= 0; i--) rings.push(ring(i, -1));
  for (let i = 0; i <= stacks; i++) rings.push(ring(i, 1));
  const hidden = [true, true, true];
  for (let k = 0; k + 1 < rings.length; k++) {
    for (let s = 0; s < slices; s++) {
      const at = (r, j) => {
        const a = (j / slices) * 2 * Math.PI;
        return [r.r * Math.sin(a), r.y, r.r * Math.cos(a)];
      };
      const [low, high] = [rings[k], rings[k + 1]];
      const [a, b, c, d] = [at(low, s), at(low, s + 1), at(high, s + 1), at(high, s)];
      const caps = [low.cap, low.cap, high.cap, high.cap];
      if (low.r > 1e-9) pushTriangle(out, [a, b, c], [a, b, c], hidden, [caps[0], caps[1], caps[2]]);
      if (high.r > 1e-9) pushTriangle(out, [a, c, d], [a, c, d], hidden, [caps[0], caps[2], caps[3]]);
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

/** The mesh of a body of `shape`; round ones with `fine` slices and stacks. */
function bodyMesh(shape, fine) {
  switch (shape.kind) {
    case "sphere":
    case "capsule":
      return roundMesh(...fine);
    case "box":
      return boxMesh();
    case "cylinder":
      return turnedMesh(shape, 1, fine[0]);
    case "cone":
      return turnedMesh(shape, 0, fine[0]);
    default:
      return hullMesh(shape);
  }
}

/** Along y from 0 to 1: a shaft of radius 0.03 and a head of radius 0.09. */
function arrowMesh() {
  const out = [];
  const slices = 12;
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
  return out;
}
