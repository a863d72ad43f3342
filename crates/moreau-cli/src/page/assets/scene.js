// From the recording to what the renderer draws.

const PALETTE = ["#3f74c2", "#ea8c3a", "#45a89b", "#d95d5d", "#8a70c9", "#dcb33a", "#5fa35a", "#d280a8"];
const STATIC_COLOR = "#9aa0a8";
const KINEMATIC_COLOR = "#c9a36a";
const JOINT_COLOR = "#30343b";
const POINT_COLOR = "#e8333c";
const ARROW_COLOR = "#1f9d55";
const MOST_MARKS = 60000;

/** sRGB "#rrggbb" to linear. */
function linear(hex) {
  return [1, 3, 5].map((i) => Math.pow(parseInt(hex.slice(i, i + 2), 16) / 255, 2.2));
}

/** From blue over yellow to red as `t` goes from 0 to 1. */
function heat(t) {
  const stops = ["#2f4b8f", "#3c8fb5", "#7cc48a", "#f1d75b", "#ec7a3c", "#c42a3a"].map(linear);
  const x = clamp(t, 0, 1) * (stops.length - 1);
  const i = Math.min(Math.floor(x), stops.length - 2);
  return [0, 1, 2].map((c) => mix(stops[i][c], stops[i + 1][c], x - i));
}

/** Half the edges of the box around a shape in its own frame, and that box's middle; m. */
function extents(shape) {
  if (shape.kind === "sphere") return { half: [shape.radius, shape.radius, shape.radius], middle: [0, 0, 0] };
  if (shape.kind === "box") return { half: shape.half_extents, middle: [0, 0, 0] };
  if (shape.kind === "capsule") {
    return { half: [shape.radius, shape.half_height + shape.radius, shape.radius], middle: [0, 0, 0] };
  }
  if (shape.kind === "cylinder" || shape.kind === "cone") {
    return { half: [shape.radius, shape.half_height, shape.radius], middle: [0, 0, 0] };
  }
  if (shape.kind === "half-space") return null;
  const axis = (c) => shape.vertices.map((v) => v[c]);
  const low = [0, 1, 2].map((c) => Math.min(...axis(c)));
  const high = [0, 1, 2].map((c) => Math.max(...axis(c)));
  return { half: scale(sub(high, low), 0.5), middle: scale(add(high, low), 0.5) };
}

/** A ball that holds nearly all of the coordinates (lists of x, y and z), `margin` wider. */
function ballAround(coordinates, margin) {
  const ends = coordinates.map((values) => {
    values.sort((a, b) => a - b);
    const at = (share) => values[Math.round((values.length - 1) * share)] ?? 0;
    return [at(0.04), at(0.96)];
  });
  const center = ends.map(([low, high]) => (low + high) / 2);
  return { center, radius: length(ends.map(([low, high]) => (high - low) / 2)) + margin };
}

class Scene {
  constructor(recording, renderer) {
    const { meta, poses } = recording;
    Object.assign(this, { recording, meta, renderer });
    this.up = meta.up;
    this.poses = Float32Array.from(poses.fixed);
    this.last = new Float32Array(this.poses.length);
    this.extents = meta.shapes.map(extents);
    this.colorBy = "body";
    this.selected = -1;
    this.showPoints = false;
    this.showArrows = false;
    this.bounds();
    this.grid = 10 ** Math.floor(Math.log10(Math.max(this.radius, 1e-6) * 0.45));
    this.floors = this.findFloors();
    this.buildBatches();
    this.batches = [...this.groups.map((g) => g.batch), this.joints];
    this.ghosts = this.groups.filter((g) => g.ghost).map((g) => g.ghost);
    this.inTheWay = new Set();
    this.points = renderer.batch(roundMesh(10, 4), MOST_MARKS);
    this.arrows = renderer.batch(arrowMesh(), MOST_MARKS);
    this.marks = [this.points, this.arrows];
    const typical = Math.min(0.25 * this.radius, 2.5 * this.bodySize);
    this.arrowScale = typical / Math.max(meta.impulse_typical, 1e-12);
  }

  /**
   * A ball around nearly all moving bodies at five times; what flies off does not count. A heap that
   * has fallen from high up is shown as a heap: the ball is not much larger than that at any time.
   */
  bounds() {
    const { poses } = this.recording;
    const bodies = poses.moving.length ? poses.moving : this.meta.bodies.map((_, i) => i);
    const sizes = bodies.map((i) => this.extents[this.meta.bodies[i].shape]).filter(Boolean);
    const lengths = sizes.map((box) => length(box.half)).sort((a, b) => a - b);
    this.bodySize = lengths[lengths.length >> 1] ?? 1;
    const size = lengths[Math.floor(lengths.length * 0.98)] ?? 1;
    const all = [[], [], []];
    const points = [];
    let least = { radius: Infinity };
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      poses.read(Math.round((poses.frames - 1) * share), 0, this.poses);
      const now = [0, 1, 2].map((c) => bodies.map((i) => this.poses[i * 7 + c]));
      points.push(...bodies.map((i) => Array.from(this.poses.subarray(i * 7, i * 7 + 3))));
      const ball = ballAround(now, size);
      if (ball.radius <= least.radius) least = ball;
      now.forEach((values, c) => all[c].push(...values));
    }
    const whole = ballAround(all, size);
    const many = bodies.length > 50;
    const shown = many && whole.radius > 2.5 * least.radius ? { ...least, radius: 1.9 * least.radius } : whole;
    this.center = shown.center;
    this.radius = Math.max(shown.radius, 1e-3);
    this.samples = points.filter((p) => length(sub(p, this.center)) <= this.radius);
  }

  findFloors() {
    const floors = [];
    this.meta.bodies.forEach((body, i) => {
      const shape = this.meta.shapes[body.shape];
      if (shape.kind !== "half-space") return;
      const pose = this.poses.subarray(i * 7, i * 7 + 7);
      const normal = rotate(pose.subarray(3, 7), shape.normal);
      const level = dot(normal, this.up) > 0.999;
      const axis1 = level ? perpendicular(this.up) : normalize(cross(this.up, normal));
      const axis2 = cross(normal, axis1);
      const origin = level
        ? scale(normal, dot(normal, Array.from(pose.subarray(0, 3))))
        : Array.from(pose.subarray(0, 3));
      floors.push({ origin, normal, axis1, axis2, solid: dot(normal, this.up) > 0.5 });
    });
    return floors;
  }

  buildBatches() {
    const groups = new Map();
    this.meta.bodies.forEach((body, i) => {
      const shape = this.meta.shapes[body.shape];
      if (shape.kind === "half-space") return;
      const round = shape.kind === "sphere" || shape.kind === "capsule";
      // What stretches to all proportions shares a mesh.
      const mesh = round ? "round" : shape.kind === "box" ? "box" : `${shape.kind} ${body.shape}`;
      const key = `${mesh} ${body.moves}`;
      if (!groups.has(key)) groups.set(key, { mesh, shape, moves: body.moves, bodies: [] });
      groups.get(key).bodies.push(i);
    });
    this.groups = [...groups.values()];
    for (const group of this.groups) {
      const fine = group.bodies.length > 1500 ? [16, 4] : group.bodies.length > 400 ? [22, 6] : [40, 12];
      const mesh = bodyMesh(group.shape, fine);
      group.batch = this.renderer.batch(mesh, group.bodies.length);
      if (!group.moves) group.ghost = this.renderer.batch(mesh, group.bodies.length);
    }
    this.joints = this.renderer.batch(roundMesh(14, 4), Math.max(1, this.meta.joints.length));
    this.colors = this.meta.bodies.map((body, i) => {
      if (body.kind === "static") return linear(STATIC_COLOR);
      if (body.kind === "kinematic") return linear(KINEMATIC_COLOR);
      // Shifted from row to row: neighbours differ, and so do bodies that repeat every few ids.
      return linear(PALETTE[(i + 3 * Math.floor(i / PALETTE.length)) % PALETTE.length]);
    });
  }

  /** Moves everything to the shown step `f`, or between it and the next, as seen from `eye`. */
  pose(f, t, eye) {
    const { poses } = this.recording;
    if (this.colorBy === "speed") this.speeds(f);
    poses.read(f, t, this.poses);
    this.findWhatIsInTheWay(eye);
    for (const { batch, ghost, bodies } of this.groups) {
      batch.count = 0;
      if (ghost) ghost.count = 0;
      for (const i of bodies) {
        const to = this.inTheWay.has(i) ? ghost : batch;
        this.instance(to.data, to.count++ * INSTANCE_FLOATS, i);
      }
      this.renderer.upload(batch);
      if (ghost) this.renderer.upload(ghost);
    }
    this.placeJoints();
  }

  /** Fixed bodies that hide a fifth or more of what moves: walls of a container, mostly. */
  findWhatIsInTheWay(eye) {
    const { moving } = this.recording.poses;
    this.inTheWay.clear();
    const looks = Math.min(moving.length, 40);
    for (let i = 0; i < this.meta.bodies.length; i++) {
      if (this.meta.bodies[i].kind !== "static" || !this.extents[this.meta.bodies[i].shape]) continue;
      let hidden = 0;
      for (let k = 0; k < looks; k++) {
        const m = moving[Math.floor((k * moving.length) / looks)] * 7;
        if (this.meets(i, eye, sub(this.poses.subarray(m, m + 3), eye)) < 1) hidden++;
      }
      if (hidden * 5 >= looks && hidden > 0) this.inTheWay.add(i);
    }
  }

  instance(data, o, i) {
    const body = this.meta.bodies[i];
    const shape = this.meta.shapes[body.shape];
    const color = this.colorBy === "speed" && body.moves ? this.heats[i] : this.colors[i];
    data.set(this.poses.subarray(i * 7, i * 7 + 3), o);
    data.set(this.poses.subarray(i * 7 + 3, i * 7 + 7), o + 4);
    data[o + 3] = shape.kind === "capsule" ? shape.half_height : 0;
    const round = shape.kind === "sphere" || shape.kind === "capsule";
    const size = shape.kind === "box" ? shape.half_extents : round ? shape.radius : 1;
    for (let c = 0; c < 3; c++) data[o + 8 + c] = shape.kind === "box" ? size[c] : size;
    const large = body.kind === "static" && shape.kind === "box" && Math.max(...shape.half_extents) > 3 * this.grid;
    data[o + 11] = round ? 1 : large ? 2 : 0;
    data.set(color, o + 12);
    data[o + 15] = i === this.selected ? 1 : 0;
  }

  /** Colours by the distance that bodies move from the shown step `f` to the next. */
  speeds(f) {
    const { poses } = this.recording;
    const steps = this.meta.frame_steps;
    const g = f + 1 < poses.frames ? f + 1 : f;
    const time = Math.max(1, steps[g] - steps[g - 1] || 1) * this.meta.dt;
    poses.read(Math.max(g - 1, 0), 0, this.last);
    poses.read(g, 0, this.poses);
    this.heats ??= [];
    for (const i of poses.moving) {
      const moved = [0, 1, 2].map((c) => this.poses[i * 7 + c] - this.last[i * 7 + c]);
      const speed = length(moved) / time;
      this.heats[i] = heat(Math.sqrt(speed / Math.max(this.meta.speed_typical, 1e-9)));
    }
  }

  placeJoints() {
    const color = linear(JOINT_COLOR);
    const thickness = (i) => Math.min(...(this.extents[this.meta.bodies[i].shape]?.half ?? [Infinity]));
    this.meta.joints.forEach((joint, k) => {
      const anchor = (i, p) => {
        const o = i * 7;
        return add(rotate(this.poses.subarray(o + 3, o + 7), p), this.poses.subarray(o, o + 3));
      };
      const a = anchor(joint.a, joint.anchor_a);
      const b = anchor(joint.b, joint.anchor_b);
      const gap = sub(b, a);
      const rod = joint.kind === "distance";
      const radius = Math.min(this.radius * 0.008, 0.3 * thickness(joint.a), 0.3 * thickness(joint.b));
      this.joints.data.set([
        ...scale(add(a, b), 0.5), rod ? length(gap) / 2 : 0,
        ...rotationFromY(rod ? normalize(gap) : [0, 1, 0]),
        ...(rod ? [radius, radius, radius] : [radius * 1.8, radius * 1.8, radius * 1.8]), 0,
        ...color, 0,
      ], k * INSTANCE_FLOATS);
    });
    this.joints.count = this.meta.joints.length;
    this.renderer.upload(this.joints);
  }

  /** Shows the contact points of contact step `k`. */
  contacts(k) {
    const wanted = this.showPoints || this.showArrows;
    const points = wanted ? this.recording.contacts.read(k).slice(0, MOST_MARKS) : [];
    const radius = Math.min(this.radius * 0.0075, this.bodySize * 0.07);
    const [point, arrow] = [linear(POINT_COLOR), linear(ARROW_COLOR)];
    this.points.count = this.showPoints ? points.length : 0;
    this.arrows.count = this.showArrows ? points.length : 0;
    points.forEach(({ position, normal, impulse }, i) => {
      const o = i * INSTANCE_FLOATS;
      if (this.showPoints) {
        this.points.data.set([...position, 0, 0, 0, 0, 1, radius, radius, radius, 0, ...point, 0], o);
      }
      if (this.showArrows) {
        const long = Math.min(impulse * this.arrowScale, this.radius * 0.5, this.bodySize * 5);
        const wide = Math.min(long, this.radius * 0.16, this.bodySize * 1.2);
        const turn = rotationFromY(normal);
        this.arrows.data.set([...position, 0, ...turn, wide, Math.max(long, 1e-6), wide, 0, ...arrow, 0], o);
      }
    });
    this.renderer.upload(this.points);
    this.renderer.upload(this.arrows);
  }

  /** How many times `along` it is from `from` to the box around body `i`; infinite if it is missed. */
  meets(i, from, along) {
    const box = this.extents[this.meta.bodies[i].shape];
    const o = i * 7;
    const back = [-this.poses[o + 3], -this.poses[o + 4], -this.poses[o + 5], this.poses[o + 6]];
    const start = sub(rotate(back, sub(from, this.poses.subarray(o, o + 3))), box.middle);
    const way = rotate(back, along);
    let [enter, leave] = [0, Infinity];
    for (let c = 0; c < 3; c++) {
      const one = (-box.half[c] - start[c]) / way[c];
      const two = (box.half[c] - start[c]) / way[c];
      enter = Math.max(enter, Math.min(one, two));
      leave = Math.min(leave, Math.max(one, two));
    }
    return enter < leave ? enter : Infinity;
  }

  /** The body that the ray meets first, by the boxes around the shapes; -1 for none. */
  pick({ eye, direction }) {
    let [best, nearest] = [-1, Infinity];
    this.meta.bodies.forEach((body, i) => {
      if (!this.extents[body.shape] || this.inTheWay.has(i)) return;
      const enter = this.meets(i, eye, direction);
      if (enter < nearest) [best, nearest] = [i, enter];
    });
    return best;
  }
}
