// The bodies of a run as instanced meshes.

import { Color, DynamicDrawUsage, Group, InstancedMesh } from "three";
import { bodyColor } from "./colors.js";
import { bodyMaterial } from "./materials.js";
import { poseMatrix } from "./math.js";
import { bodyGeometry, extents } from "./meshes.js";

const ACCENT = new Color("#ffc247");

/** Scales of the mesh of a shape: balls and boxes share one of size 1. */
export function meshScale(shape) {
  if (shape.kind === "box") {
    // A rod that is too thin to be seen is drawn thicker.
    const [, middle, longest] = [...shape.half_extents].sort((a, b) => a - b);
    const least = middle < 0.006 * longest ? 0.006 * longest : 0;
    return shape.half_extents.map((half) => Math.max(half, least));
  }
  if (shape.kind === "sphere") return [shape.radius, shape.radius, shape.radius];
  return [1, 1, 1];
}

export class Bodies {
  /**
   * `look.solid(group)` and `look.glass` give materials; `look.glass` is of fixed bodies that are in
   * the way. `look.plain` leaves out colours, shadows and what stands.
   */
  constructor(run, look) {
    Object.assign(this, { run, root: new Group(), poses: Float32Array.from(run.fixed) });
    this.extents = run.shapes.map(extents);
    const groups = new Map();
    run.bodies.forEach((body, i) => {
      const shape = run.shapes[body.shape];
      if (shape.kind === "half-space" || (look.plain && !body.moves)) return;
      const shared = shape.kind === "box" || shape.kind === "sphere";
      const large = look.large?.(body, shape) ?? false;
      const key = `${shape.kind} ${shared ? "" : body.shape} ${body.moves} ${large}`;
      if (!groups.has(key)) groups.set(key, { shape, moves: body.moves, large, members: [] });
      groups.get(key).members.push(i);
    });
    this.groups = [...groups.values()];
    for (const group of this.groups) {
      const count = group.members.length;
      const fine = count > 1500 ? [16, 5] : count > 400 ? [22, 7] : [40, 12];
      group.geometry = bodyGeometry(group.shape, fine);
      group.scales = group.members.map((i) => meshScale(run.shapes[run.bodies[i].shape]));
      group.mesh = this.instanced(group, look.solid(group), !look.plain);
      if (!group.moves && look.glass) {
        group.glass = this.instanced(group, look.glass, false);
        group.glass.renderOrder = 3;
      }
    }
    this.plain = look.plain;
  }

  instanced({ geometry, members }, material, shadows) {
    const mesh = new InstancedMesh(geometry, material, members.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    Object.assign(mesh, { castShadow: shadows, receiveShadow: shadows, frustumCulled: false });
    mesh.userData.members = [];
    this.root.add(mesh);
    return mesh;
  }

  /** Moves all bodies to the shown step `f`, or between it and the next. */
  pose(f, t) {
    this.run.readPoses(f, t, this.poses);
  }

  /** Fills the meshes with the bodies that are there in `step`; those in the set `inTheWay` become glass. */
  update(step, inTheWay) {
    const { run } = this;
    for (const { mesh, glass, members, scales } of this.groups) {
      let [solid, clear] = [0, 0];
      members.forEach((i, k) => {
        if (!run.isThere(run.bodies[i], step)) return;
        const hidden = glass && inTheWay?.has(i);
        const to = hidden ? glass : mesh;
        const at = hidden ? clear++ : solid++;
        poseMatrix(to.instanceMatrix.array, at * 16, this.poses, i * 7, ...scales[k]);
        to.userData.members[at] = i;
      });
      mesh.count = solid;
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
      if (glass) {
        glass.count = clear;
        glass.instanceMatrix.needsUpdate = true;
      }
    }
  }

  /** Colours all bodies as at frame `f`; those of the chosen island are brighter. */
  color(mode, f, selected, island) {
    const color = new Color();
    for (const { mesh, large } of this.groups) {
      if (large) continue;
      for (let at = 0; at < mesh.count; at++) {
        const i = mesh.userData.members[at];
        bodyColor(this.run, mode, f, i, color);
        if (i === selected || (island >= 0 && this.run.state(f, i).island === island)) color.lerp(ACCENT, 0.7);
        mesh.setColorAt(at, color);
      }
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  /** The pose of body `i`: seven numbers. */
  poseOf(i) {
    return this.poses.subarray(i * 7, i * 7 + 7);
  }

  /** The mesh's geometry and scales of body `i`. */
  meshOf(i) {
    for (const { geometry, members, scales } of this.groups) {
      const k = members.indexOf(i);
      if (k >= 0) return { geometry, scale: scales[k] };
    }
    return null;
  }
}

/** The materials of a run that is played. */
export function solidLook(large, groundBox, glass) {
  const [solid, round] = [bodyMaterial(false), bodyMaterial(true)];
  const isRound = (shape) => shape.kind === "sphere" || shape.kind === "capsule";
  return {
    large,
    glass,
    solid: (group) => (group.large ? groundBox : isRound(group.shape) ? round : solid),
  };
}
