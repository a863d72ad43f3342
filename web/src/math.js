// Vectors are arrays of three numbers, quaternions (x, y, z, w).

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const length = (a) => Math.sqrt(dot(a, a));
export const normalize = (a) => scale(a, 1 / (length(a) || 1));
export const mix = (a, b, t) => a + (b - a) * t;
export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

/** A unit vector at right angles to the unit vector `n`. */
export function perpendicular(n) {
  const axis = Math.abs(n[0]) < 0.6 ? [1, 0, 0] : [0, 0, 1];
  return normalize(cross(n, axis));
}

/** The quaternion that turns the y axis to the unit vector `n`. */
export function rotationFromY(n) {
  if (n[1] < -0.999999) return [1, 0, 0, 0];
  const q = [n[2], 0, -n[0], 1 + n[1]];
  const inverse = 1 / Math.hypot(q[0], q[2], q[3]);
  return [q[0] * inverse, 0, q[2] * inverse, q[3] * inverse];
}

export function rotate(q, v) {
  const t = scale(cross(q, v), 2);
  return add(add(v, scale(t, q[3])), cross(q, t));
}

/** Writes the matrix of a pose (7 numbers at `o` of `poses`) with three scales into `out` at `at`. */
export function poseMatrix(out, at, poses, o, sx, sy, sz) {
  const x = poses[o + 3], y = poses[o + 4], z = poses[o + 5], w = poses[o + 6];
  const xx = x * x, yy = y * y, zz = z * z;
  const xy = x * y, xz = x * z, yz = y * z, wx = w * x, wy = w * y, wz = w * z;
  out[at] = (1 - 2 * (yy + zz)) * sx;
  out[at + 1] = 2 * (xy + wz) * sx;
  out[at + 2] = 2 * (xz - wy) * sx;
  out[at + 3] = 0;
  out[at + 4] = 2 * (xy - wz) * sy;
  out[at + 5] = (1 - 2 * (xx + zz)) * sy;
  out[at + 6] = 2 * (yz + wx) * sy;
  out[at + 7] = 0;
  out[at + 8] = 2 * (xz + wy) * sz;
  out[at + 9] = 2 * (yz - wx) * sz;
  out[at + 10] = (1 - 2 * (xx + yy)) * sz;
  out[at + 11] = 0;
  out[at + 12] = poses[o];
  out[at + 13] = poses[o + 1];
  out[at + 14] = poses[o + 2];
  out[at + 15] = 1;
}

/** The index of the last entry of the ascending list `steps` that is not beyond `step`; at least 0. */
export function lastNotBeyond(steps, step) {
  let low = 0;
  let high = steps.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (steps[middle] <= step) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The index of the entry of the ascending list `steps` that is nearest to `step`. */
export function nearest(steps, step) {
  const i = lastNotBeyond(steps, step);
  return i + 1 < steps.length && steps[i + 1] - step < Math.abs(step - steps[i]) ? i + 1 : i;
}
