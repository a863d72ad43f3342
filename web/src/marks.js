// What is drawn over the bodies: contact points, normals, impulses, boxes, joints.

import {
  BufferAttribute, BufferGeometry, Color, CylinderGeometry, DynamicDrawUsage, Group, InstancedMesh,
  LineBasicMaterial, LineSegments, MeshBasicMaterial,
} from "three";
import { add, length, normalize, poseMatrix, rotate, rotationFromY, scale, sub } from "./math.js";
import { arrowGeometry, ballGeometry, spikeGeometry } from "./meshes.js";

const MOST = 60000;

/** Instances that show through bodies faintly, and in full where nothing is in front. */
class Overlay {
  constructor(geometry, color, capacity, faint, rough = geometry) {
    Object.assign(this, { root: new Group(), geometry, rough, faint });
    const material = (options) => new MeshBasicMaterial({ color, toneMapped: false, ...options });
    const behind = material({ transparent: true, opacity: faint, depthTest: false, depthWrite: false });
    this.meshes = [behind, material({})].map((m) => new InstancedMesh(geometry, m, capacity));
    const [hidden, shown] = this.meshes;
    shown.instanceMatrix = hidden.instanceMatrix;
    hidden.instanceMatrix.setUsage(DynamicDrawUsage);
    hidden.renderOrder = 5;
    shown.renderOrder = 6;
    for (const mesh of this.meshes) Object.assign(mesh, { frustumCulled: false, count: 0 });
    this.root.add(hidden, shown);
    this.array = hidden.instanceMatrix.array;
    this.pose = new Float32Array(7);
  }

  set count(n) {
    for (const mesh of this.meshes) mesh.count = n;
    this.meshes[0].instanceMatrix.needsUpdate = true;
  }

  put(i, position, rotation, sx, sy, sz) {
    this.pose.set(position);
    this.pose.set(rotation, 3);
    poseMatrix(this.array, i * 16, this.pose, 0, sx, sy, sz);
  }

  color(color) {
    for (const mesh of this.meshes) mesh.material.color.set(color);
  }
}

export class Marks {
  /** `size`: typical half diagonal of a body; `radius` of the scene, m. */
  constructor(run, size, radius) {
    Object.assign(this, { run, size, radius, root: new Group() });
    this.shown = { points: false, normals: false, impulses: false, boxes: false, joints: true };
    /** Of more contacts only the heaviest are drawn. */
    this.most = Infinity;
    const most = Math.min(MOST, Math.max(1, run.most_contacts));
    // Of many none is large.
    const many = most > 3000;
    const arrow = arrowGeometry(many ? 5 : 12);
    const roughArrow = spikeGeometry();
    this.points = new Overlay(many ? ballGeometry(6, 2) : ballGeometry(10, 4), "#e8333c", most, 0.22, ballGeometry(3, 1));
    this.normals = new Overlay(arrow, "#3d7be0", most, 0.16, roughArrow);
    this.impulses = new Overlay(arrow, "#0fae62", most, 0.16, roughArrow);
    this.chosen = new Overlay(arrow, "#ffab1a", 1, 0.9);
    this.balls = new Overlay(ballGeometry(14, 5), "#2c3038", Math.max(1, 2 * run.joints.length), 0.45);
    this.rods = new Overlay(new CylinderGeometry(1, 1, 2, 12), "#2c3038", Math.max(1, run.joints.length), 0.45);
    const lines = new BufferGeometry();
    lines.setAttribute("position", new BufferAttribute(new Float32Array(run.bodies.length * 72), 3).setUsage(DynamicDrawUsage));
    this.boxes = new LineSegments(lines, new LineBasicMaterial({ color: "#a04fd0", transparent: true, opacity: 0.75 }));
    Object.assign(this.boxes, { frustumCulled: false, visible: false, renderOrder: 4 });
    this.root.add(this.boxes, ...[this.points, this.normals, this.impulses, this.chosen, this.balls, this.rods].map((o) => o.root));
    const typical = Math.min(0.25 * radius, 2.5 * size);
    this.perImpulse = typical / Math.max(run.impulse_typical, 1e-12);
    this.pointRadius = Math.min(radius * 0.0075, size * 0.07);
  }

  /** Draws fewer triangles, and each only once, whatever is in front. */
  setDraft(draft) {
    for (const { meshes: [hidden, shown], geometry, rough, faint } of [this.points, this.normals, this.impulses]) {
      shown.visible = !draft;
      hidden.geometry = draft ? rough : geometry;
      hidden.material.opacity = draft ? 2.5 * faint : faint;
    }
  }

  setTheme(theme) {
    const joint = new Color(theme === "dark" ? "#d9dee6" : "#2c3038");
    this.balls.color(joint);
    this.rods.color(joint);
    this.impulses.color(theme === "dark" ? "#37e08d" : "#00a35a");
    this.normals.color(theme === "dark" ? "#6aa5ff" : "#2f6fe0");
    this.boxes.material.color.set(theme === "dark" ? "#c98bf0" : "#8f3fc4");
  }

  /** Shows the contact points of a step. */
  contacts({ count, position, normal, direction, impulse }) {
    const { points, normals, impulses } = this.shown;
    const most = Math.min(this.most, MOST);
    const least = count > most ? Float32Array.from(impulse.subarray(0, count)).sort()[count - most] : 0;
    const r = this.pointRadius;
    const straight = [0, 0, 0, 1];
    let shown = 0;
    for (let i = 0; i < count && shown < most; i++) {
      if (impulse[i] < least) continue;
      const at = position.subarray(i * 3, i * 3 + 3);
      if (points) this.points.put(shown, at, straight, r, r, r);
      if (normals) {
        const long = Math.min(this.size * 0.7, this.radius * 0.2);
        this.normals.put(shown, at, rotationFromY(normal.subarray(i * 3, i * 3 + 3)), long * 0.7, long, long * 0.7);
      }
      if (impulses) this.arrow(this.impulses, shown, at, direction.subarray(i * 3, i * 3 + 3), impulse[i]);
      shown++;
    }
    this.points.count = points ? shown : 0;
    this.normals.count = normals ? shown : 0;
    this.impulses.count = impulses ? shown : 0;
  }

  arrow(overlay, i, at, direction, impulse) {
    const long = Math.min(impulse * this.perImpulse, this.radius * 0.5, this.size * 5);
    const wide = Math.min(long, this.radius * 0.16, this.size * 1.2);
    overlay.put(i, at, rotationFromY(direction), wide, Math.max(long, 1e-6), wide);
  }

  /** Shows the impulse of the chosen contact; nothing for null. */
  choose(contact) {
    this.chosen.count = contact ? 1 : 0;
    if (contact) this.arrow(this.chosen, 0, contact.point, contact.direction, contact.impulse);
  }

  /** Shows what moves with the bodies. */
  bodies(bodies, step) {
    this.boxes.visible = this.shown.boxes;
    if (this.shown.boxes) this.fillBoxes(bodies, step);
    this.fillJoints(bodies, step);
  }

  fillBoxes(bodies, step) {
    const out = this.boxes.geometry.attributes.position;
    let at = 0;
    this.run.bodies.forEach((body, i) => {
      const shape = this.run.shapes[body.shape];
      const box = this.run.isThere(body, step) ? worldBox(shape, bodies.poseOf(i)) : null;
      if (!box) return;
      const corner = (k) => [0, 1, 2].map((c) => box[(k >> c) & 1][c]);
      for (let k = 0; k < 8; k++) {
        for (let c = 0; c < 3; c++) {
          if ((k >> c) & 1) continue;
          out.array.set(corner(k), at);
          out.array.set(corner(k | (1 << c)), at + 3);
          at += 6;
        }
      }
    });
    out.needsUpdate = true;
    this.boxes.geometry.setDrawRange(0, at / 3);
  }

  fillJoints(bodies, step) {
    const shown = this.shown.joints ? this.run.joints.filter((joint) => this.run.isThere(joint, step)) : [];
    const thickness = (i) => Math.min(...(bodies.extents[this.run.bodies[i].shape]?.half ?? [Infinity]));
    let rods = 0;
    shown.forEach((joint, k) => {
      const anchor = (i, p) => add(rotate(bodies.poseOf(i).subarray(3), p), bodies.poseOf(i));
      const [a, b] = [anchor(joint.a, joint.anchor_a), anchor(joint.b, joint.anchor_b)];
      const r = Math.min(this.radius * 0.01, 0.35 * thickness(joint.a), 0.35 * thickness(joint.b));
      this.balls.put(2 * k, a, [0, 0, 0, 1], r, r, r);
      this.balls.put(2 * k + 1, b, [0, 0, 0, 1], r, r, r);
      if (joint.kind !== "distance") return;
      const gap = sub(b, a);
      this.rods.put(rods++, scale(add(a, b), 0.5), rotationFromY(normalize(gap)), r / 2, length(gap) / 2, r / 2);
    });
    this.balls.count = 2 * shown.length;
    this.rods.count = rods;
  }
}

/** The smallest box along the world's axes around a shape: its low and its high corner; m. */
export function worldBox(shape, pose) {
  const [x, y, z] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => rotate(pose.subarray(3), axis));
  const middle = Array.from(pose.subarray(0, 3));
  const around = (half) => [sub(middle, half), add(middle, half)];
  const each = (size) => [0, 1, 2].map(size);
  switch (shape.kind) {
    case "half-space":
      return null;
    case "sphere":
      return around([shape.radius, shape.radius, shape.radius]);
    case "box": {
      const [hx, hy, hz] = shape.half_extents;
      return around(each((c) => Math.abs(x[c]) * hx + Math.abs(y[c]) * hy + Math.abs(z[c]) * hz));
    }
    case "capsule":
      return around(each((c) => Math.abs(y[c]) * shape.half_height + shape.radius));
    case "cylinder":
    case "cone": {
      const disc = each((c) => shape.radius * Math.sqrt(Math.max(0, 1 - y[c] * y[c])));
      const [low, high] = [-1, 1].map((end) => add(middle, scale(y, end * shape.half_height)));
      const top = shape.kind === "cone" ? [0, 0, 0] : disc;
      return [each((c) => Math.min(low[c] - disc[c], high[c] - top[c])), each((c) => Math.max(low[c] + disc[c], high[c] + top[c]))];
    }
  }
  const box = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  for (const [vx, vy, vz] of shape.vertices) {
    for (let c = 0; c < 3; c++) {
      const at = middle[c] + x[c] * vx + y[c] * vy + z[c] * vz;
      box[0][c] = Math.min(box[0][c], at);
      box[1][c] = Math.max(box[1][c], at);
    }
  }
  return box;
}
