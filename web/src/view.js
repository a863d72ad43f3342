// The picture: lights, ground, bodies and marks, and the camera that looks at them.

import {
  CanvasTexture, Color, DirectionalLight, Group, HemisphereLight, Mesh, MeshBasicMaterial, BackSide,
  PCFShadowMap, PerspectiveCamera, PlaneGeometry, Raycaster, Scene, SRGBColorSpace, Sprite,
  SpriteMaterial, Vector2, Vector3, WebGLRenderer, Matrix4, Quaternion,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Bodies, solidLook } from "./bodies.js";
import { floorMaterial, glassMaterial, groundBoxMaterial, groundUniforms } from "./materials.js";
import { Marks } from "./marks.js";
import { extents } from "./meshes.js";
import { add, clamp, cross, dot, length, normalize, perpendicular, rotate, scale, sub } from "./math.js";

const THEMES = {
  light: {
    top: "#c9dbef", bottom: "#f4f6f9", floor: "#d5dae1", line: "#a3adba", sky: "#e6eefa", ground: "#b3aaa3",
    sun: "#fff2dc", sunPower: 2.0, above: 0.6, ambient: 1.55, glass: "#56637a",
  },
  dark: {
    top: "#0e1116", bottom: "#232932", floor: "#2b313b", line: "#4a5463", sky: "#c3cfe4", ground: "#77726f",
    sun: "#fff0da", sunPower: 1.9, above: 0.55, ambient: 1.45, glass: "#9fb0c8",
  },
};

export class View {
  /** From whole pictures to the roughest: share of the pixels of an edge, and how many contacts are drawn. */
  static LEVELS = [
    { pixels: 1, contacts: Infinity },
    { pixels: 0.5, contacts: Infinity },
    { pixels: 0.5, contacts: 3000 },
    { pixels: 0.34, contacts: 1000 },
    { pixels: 0.25, contacts: 300 },
  ];

  constructor(canvas, runs) {
    Object.assign(this, { canvas, runs, run: runs[0], up: runs[0].up, colorBy: "body", selected: -1, island: -1, frame: 0, draft: false, roughness: 0 });
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.scene = new Scene();
    this.uniforms = groundUniforms();
    this.glass = glassMaterial("#56637a", 0.045, 0.4, "walls");
    this.measure();
    this.addBodies();
    this.addLights();
    this.floors = this.addFloors();
    this.marks = new Marks(this.run, this.bodySize, this.radius);
    this.scene.add(this.marks.root);
    this.addSelection();
    this.camera = new PerspectiveCamera(38, 1, 0.1, 1000);
    this.camera.up.set(...this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.zoomToCursor = true;
    this.raycaster = new Raycaster();
    this.pose(0, 0);
    this.fit();
  }

  /**
   * A ball around all moving bodies at the start, and nearly all at four times after it: what flies off
   * does not count.
   */
  measure() {
    const { run } = this;
    const boxes = run.shapes.map(extents);
    const bodies = run.moving.length ? run.moving : run.bodies.map((_, i) => i);
    const sizeOf = (i) => length(boxes[run.bodies[i].shape]?.half ?? [0, 0, 0]);
    const lengths = bodies.map(sizeOf).filter((size) => size > 0).sort((a, b) => a - b);
    this.bodySize = lengths[lengths.length >> 1] ?? 1;
    const size = lengths[Math.floor(lengths.length * 0.98)] ?? 1;
    const all = [[], [], []];
    const points = [];
    let least = { radius: Infinity };
    this.placesAt = (f) => {
      const poses = Float32Array.from(run.fixed);
      run.readPoses(f, 0, poses);
      const there = bodies.filter((i) => run.isThere(run.bodies[i], run.steps[f]));
      return there.map((i) => ({ f, place: Array.from(poses.subarray(i * 7, i * 7 + 3)), size: sizeOf(i) }));
    };
    for (const share of [0.25, 0.5, 0.75, 1]) points.push(...this.placesAt(Math.round((run.steps.length - 1) * share)));
    const start = this.placesAt(0);
    for (const f of new Set([0, ...points.map((p) => p.f)])) {
      const places = f === 0 ? start : points.filter((p) => p.f === f);
      const now = [0, 1, 2].map((c) => places.map((p) => p.place[c]));
      const ball = ballAround(now, size);
      if (ball.radius <= least.radius) least = ball;
      now.forEach((values, c) => values.forEach((v) => all[c].push(v)));
    }
    const whole = ballAround(all, size);
    const many = bodies.length > 50;
    // Many that fall from high up and lie in a heap later.
    this.falls = many && whole.radius > 1.7 * least.radius;
    const heap = this.falls ? { ...least, radius: 1.6 * least.radius } : whole;
    // Of very many a few may begin as far away as nobody wants to look from.
    this.near = (p) => !many || length(sub(p.place, heap.center)) < 6 * heap.radius;
    this.start = start.filter(this.near);
    const ends = [0, 1, 2].map((c) => this.start.map((p) => p.place[c]));
    const first = ballAround(ends, Math.max(0, ...this.start.map((p) => p.size)), 0);
    const shown = first.radius > heap.radius ? first : heap;
    this.center = shown.center;
    this.radius = Math.max(shown.radius, 1e-3);
    this.later = points.filter((p) => length(sub(p.place, this.center)) <= this.radius);
    this.grid = 10 ** Math.floor(Math.log10(Math.max(this.radius, 1e-6) * 0.45));
  }

  addBodies() {
    const large = (body, shape) =>
      body.kind === "static" && shape.kind === "box" && Math.max(...shape.half_extents) > 3 * this.grid;
    this.bodies = new Bodies(this.run, solidLook(large, groundBoxMaterial(this.uniforms), this.glass));
    this.scene.add(this.bodies.root);
    this.others = this.runs.slice(1).map((run) => {
      const ghost = glassMaterial("#ff7a1a", 0.16, 0.95, "other");
      const bodies = new Bodies(run, { solid: () => ghost, plain: true });
      bodies.root.renderOrder = 2;
      this.scene.add(bodies.root);
      return bodies;
    });
    this.showOther = true;
    this.inTheWay = new Set();
  }

  addLights() {
    this.sky = new HemisphereLight("#ffffff", "#888888", 1);
    this.sky.position.set(...this.up);
    const side = perpendicular(this.up);
    const sun = normalize(add(this.up, add(scale(side, 0.78), scale(cross(this.up, side), 0.12))));
    const reach = this.radius * 1.6;
    const light = (direction, size, blur) => {
      const light = new DirectionalLight("#ffffff", 1);
      light.position.set(...add(this.center, scale(direction, 2 * reach)));
      light.target.position.set(...this.center);
      light.castShadow = true;
      light.shadow.mapSize.set(size, size);
      light.shadow.radius = blur;
      Object.assign(light.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0, far: 4 * reach });
      light.shadow.normalBias = (2 * reach * 2) / size;
      light.shadow.bias = -0.0006;
      this.scene.add(light, light.target);
      return light;
    };
    const most = Math.min(4096, this.renderer.capabilities.maxTextureSize);
    this.sun = light(sun, most, 2);
    this.above = light(normalize(add(this.up, scale(side, 0.01))), 1024, 7);
    this.scene.add(this.sky);
  }

  addFloors() {
    const floors = [];
    this.run.bodies.forEach((body, i) => {
      const shape = this.run.shapes[body.shape];
      if (shape.kind !== "half-space") return;
      const pose = Array.from(this.run.fixed.subarray(i * 7, i * 7 + 7));
      const normal = rotate(pose.slice(3), shape.normal);
      const level = dot(normal, this.up) > 0.999;
      const axis1 = level ? perpendicular(this.up) : normalize(cross(this.up, normal));
      const axis2 = cross(normal, axis1);
      const origin = level ? scale(normal, dot(normal, pose)) : pose.slice(0, 3);
      const solid = dot(normal, this.up) > 0.5;
      const size = solid ? this.radius * 14 : this.radius * 2.2;
      const mesh = new Mesh(new PlaneGeometry(2 * size, 2 * size), floorMaterial(this.uniforms, origin, axis1, axis2, solid ? 1 : 0.35));
      const above = dot(sub(this.center, origin), normal);
      mesh.position.set(...sub(this.center, scale(normal, above)));
      mesh.quaternion.setFromRotationMatrix(new Matrix4().makeBasis(...[axis1, axis2, normal].map((v) => new Vector3(...v))));
      Object.assign(mesh, { receiveShadow: true, renderOrder: -1, userData: { steps: body.steps } });
      mesh.material.depthWrite = solid;
      this.scene.add(mesh);
      floors.push(mesh);
    });
    this.uniforms.gridSpacing.value = this.grid;
    this.uniforms.fadeCenter.value = this.center;
    this.uniforms.fadeFrom.value = this.radius * 2.5;
    this.uniforms.fadeTo.value = this.radius * 11;
    return floors;
  }

  addSelection() {
    this.halo = new Group();
    const shell = new MeshBasicMaterial({ color: "#ff9d00", side: BackSide, toneMapped: false });
    const through = new MeshBasicMaterial({ color: "#ff9d00", transparent: true, opacity: 0.22, depthTest: false, depthWrite: false });
    this.halo.add(new Mesh(undefined, shell), new Mesh(undefined, through));
    this.halo.children.forEach((mesh, k) => Object.assign(mesh, { frustumCulled: false, renderOrder: 4 + k }));
    this.halo.visible = false;
    const ring = document.createElement("canvas");
    ring.width = ring.height = 64;
    const c = ring.getContext("2d");
    for (const [color, width] of [["#ffffff", 11], ["#e0007a", 6]]) {
      c.strokeStyle = color;
      c.lineWidth = width;
      c.beginPath();
      c.arc(32, 32, 24, 0, 7);
      c.stroke();
    }
    const texture = new CanvasTexture(ring);
    texture.colorSpace = SRGBColorSpace;
    this.ring = new Sprite(new SpriteMaterial({ map: texture, depthTest: false, sizeAttenuation: false, transparent: true, toneMapped: false }));
    this.ring.scale.setScalar(0.035);
    Object.assign(this.ring, { renderOrder: 9, visible: false });
    this.scene.add(this.halo, this.ring);
  }

  setTheme(theme) {
    const t = THEMES[theme];
    const sky = document.createElement("canvas");
    sky.width = 4;
    sky.height = 256;
    const c = sky.getContext("2d");
    const fill = c.createLinearGradient(0, 0, 0, 256);
    fill.addColorStop(0, t.top);
    fill.addColorStop(0.62, t.bottom);
    c.fillStyle = fill;
    c.fillRect(0, 0, 4, 256);
    this.scene.background?.dispose?.();
    this.scene.background = new CanvasTexture(sky);
    this.scene.background.colorSpace = SRGBColorSpace;
    this.uniforms.floorColor.value.set(t.floor);
    this.uniforms.lineColor.value.set(t.line);
    this.glass.color.set(t.glass);
    this.sky.color.set(t.sky);
    this.sky.groundColor.set(t.ground);
    this.sky.intensity = t.ambient;
    this.sun.color.set(t.sun);
    this.sun.intensity = t.sunPower;
    this.above.intensity = t.above;
    this.marks.setTheme(theme);
  }

  /** Moves everything to the shown step `f`, or between it and the next. */
  pose(f, t) {
    this.frame = f;
    this.bodies.pose(f, t);
    const step = this.run.steps[f] + t * ((this.run.steps[f + 1] ?? this.run.steps[f]) - this.run.steps[f]);
    for (const other of this.others) {
      const g = other.run.frame(step);
      const next = other.run.steps[g + 1] ?? other.run.steps[g] + 1;
      other.pose(g, clamp((step - other.run.steps[g]) / (next - other.run.steps[g]), 0, 1));
      other.root.visible = this.showOther;
      other.update(other.run.steps[g]);
    }
    this.renderer.shadowMap.needsUpdate = true;
  }

  /** Draws. `points`: contact points to show; `contact`: the chosen one, with point, direction, impulse. */
  render(points, contact) {
    this.findWhatIsInTheWay();
    const step = this.run.steps[this.frame];
    this.bodies.update(step, this.inTheWay);
    this.bodies.color(this.colorBy, this.frame, this.selected, this.island);
    this.marks.contacts(points);
    this.marks.choose(contact);
    this.marks.bodies(this.bodies, step);
    this.placeHalo();
    this.ring.visible = Boolean(contact);
    if (contact) this.ring.position.set(...contact.point);
    const eye = this.camera.position.toArray();
    for (const floor of this.floors) {
      const normal = new Vector3(0, 0, 1).applyQuaternion(floor.quaternion).toArray();
      // A plane seen from inside its solid would hide the scene.
      floor.visible = this.run.isThere(floor.userData, step) && dot(sub(eye, floor.position.toArray()), normal) > 0;
    }
    this.renderer.render(this.scene, this.camera);
  }

  placeHalo() {
    const body = this.run.bodies[this.selected];
    const found = body && this.run.isThere(body, this.run.steps[this.frame]) ? this.bodies.meshOf(this.selected) : null;
    this.halo.visible = Boolean(found);
    if (!found) return;
    const pose = this.bodies.poseOf(this.selected);
    const wider = 1 + clamp(0.004 * this.camera.position.distanceTo(new Vector3(...pose.subarray(0, 3))) / this.bodySize, 0.02, 0.2);
    this.halo.children.forEach((mesh, k) => {
      mesh.geometry = found.geometry;
      mesh.position.set(pose[0], pose[1], pose[2]);
      mesh.quaternion.copy(new Quaternion(pose[3], pose[4], pose[5], pose[6]));
      mesh.scale.set(...found.scale).multiplyScalar(k === 0 ? wider : 1);
    });
  }

  /** Fixed bodies that hide a fifth or more of what moves: walls of a container, mostly. */
  findWhatIsInTheWay() {
    const { run, bodies } = this;
    const eye = this.camera.position.toArray();
    this.inTheWay.clear();
    const looks = Math.min(run.moving.length, 40);
    run.bodies.forEach((body, i) => {
      // The box around ground of triangles says little of what it hides.
      const { kind } = run.shapes[body.shape];
      if (body.kind !== "static" || kind === "half-space" || kind === "hull" || !run.isThere(body, run.steps[this.frame])) return;
      let hidden = 0;
      for (let k = 0; k < looks; k++) {
        const m = run.moving[Math.floor((k * run.moving.length) / looks)];
        if (this.meets(i, eye, sub(bodies.poseOf(m), eye)) < 1) hidden++;
      }
      if (hidden * 5 >= looks && hidden > 0) this.inTheWay.add(i);
    });
  }

  /** How many times `along` it is from `from` to the box around body `i`; infinite if it is missed. */
  meets(i, from, along) {
    const box = this.bodies.extents[this.run.bodies[i].shape];
    const pose = this.bodies.poseOf(i);
    const back = [-pose[3], -pose[4], -pose[5], pose[6]];
    const start = sub(rotate(back, sub(from, pose)), box.middle);
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

  /** The body under a point of the canvas (CSS pixels); -1 for none. */
  pickBody(x, y) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    this.raycaster.setFromCamera(new Vector2((2 * x) / w - 1, 1 - (2 * y) / h), this.camera);
    const hits = this.raycaster.intersectObjects(this.bodies.groups.map((g) => g.mesh), false);
    return hits.length ? hits[0].object.userData.members[hits[0].instanceId] : -1;
  }

  /** Where a place (m) is on the canvas (CSS pixels); null behind the eye. */
  project(place) {
    const p = new Vector3(...place).project(this.camera);
    if (p.z > 1) return null;
    return [((p.x + 1) / 2) * this.canvas.clientWidth, ((1 - p.y) / 2) * this.canvas.clientHeight];
  }

  /** The index of the contact point within ten pixels of a point of the canvas; -1 for none. */
  pickContact(points, x, y) {
    let [best, least] = [-1, 10];
    for (let i = 0; i < points.count; i++) {
      const at = this.project(points.position.subarray(i * 3, i * 3 + 3));
      const gap = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
      if (gap < least) [best, least] = [i, gap];
    }
    return best;
  }

  /** What of the picture's height words and buttons hide above and below. */
  hidden() {
    const { top, bottom, height } = this.canvas.getBoundingClientRect();
    const box = (id) => document.getElementById(id).getBoundingClientRect();
    const [title, tools] = [box("title"), box("below")];
    const share = (gap) => clamp(gap / Math.max(height, 1), 0, 0.2);
    return [title.height ? share(title.bottom - top) : 0, tools.height ? share(bottom - tools.top) : 0];
  }

  /**
   * Looks at the scene from a side so that all is seen that moves at the start, and nearly all later. Of what
   * falls from high up that counts which is shown, and what comes.
   */
  fit({ yaw = 0.7, pitch = 0.32, closer = 1 } = {}) {
    this.resize();
    const side = perpendicular(this.up);
    const flat = add(scale(side, Math.cos(yaw)), scale(cross(side, this.up), Math.sin(yaw)));
    const back = add(scale(flat, Math.cos(pitch)), scale(this.up, Math.sin(pitch)));
    const right = normalize(cross(this.up, back));
    const axes = [right, cross(back, right), back];
    const seen = (points) => points.map((p) => ({ at: axes.map((axis) => dot(sub(p.place, this.center), axis)), size: p.size }));
    const now = this.falls ? this.placesAt(this.frame).filter(this.near) : this.start;
    const [start, later] = [seen(now), seen(this.falls ? this.later.filter((p) => p.f >= this.frame) : this.later)];
    const middle = [0, 1, 2].map((c) => {
      const values = later.map((p) => p.at[c]).sort((a, b) => a - b);
      const at = (share) => values[Math.round((values.length - 1) * share)];
      const ends = [at(0.01), at(0.99)].filter((x) => x !== undefined);
      for (const { at, size } of start) ends.push(at[c] - size, at[c] + size);
      return ends.length ? (Math.min(...ends) + Math.max(...ends)) / 2 : 0;
    });
    const t = Math.tan((this.camera.fov * Math.PI) / 360);
    const [above, below] = this.hidden();
    const tall = t * (1 - above - below);
    const needed = ({ at, size }) => {
      const [x, y, z] = sub(at, middle);
      return Math.max((Math.abs(x) + size) / (t * this.camera.aspect), (Math.abs(y) + size) / tall) + z;
    };
    const distances = later.map(needed).sort((a, b) => a - b);
    const most = Math.max(distances[Math.round((distances.length - 1) * 0.99)] ?? 0, ...start.map(needed));
    const distance = (1.06 * Math.max(most || this.radius * 3, this.bodySize * 3)) / closer;
    // The middle goes to that of what is not hidden.
    middle[1] += (above - below) * t * distance;
    const target = axes.reduce((sum, axis, c) => add(sum, scale(axis, middle[c])), this.center);
    this.controls.target.set(...target);
    this.camera.position.set(...add(target, scale(back, distance)));
    Object.assign(this.camera, { near: distance / 300, far: distance + this.radius * 40 });
    Object.assign(this.controls, { minDistance: this.bodySize * 0.5, maxDistance: this.radius * 25 });
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.touched = false;
  }

  /** Brings the eye close to a place without turning it. */
  lookAt(place) {
    const way = this.camera.position.clone().sub(this.controls.target);
    const distance = Math.min(way.length(), this.bodySize * 14);
    this.controls.target.set(...place);
    this.camera.position.copy(this.controls.target).add(way.setLength(distance));
    this.controls.update();
    this.touched = true;
  }

  /** How rough pictures are, an index of `LEVELS`: fewer pixels, no shadows, fewer contacts. */
  setRoughness(level) {
    const draft = level > 0;
    this.roughness = level;
    this.marks.most = View.LEVELS[level].contacts;
    if (draft !== this.draft) {
      this.draft = draft;
      for (const light of [this.sun, this.above]) light.castShadow = !draft;
      this.renderer.shadowMap.needsUpdate = true;
      this.marks.setDraft(draft);
    }
    this.resize();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio || 1, 2) * View.LEVELS[this.roughness].pixels);
    this.renderer.setSize(Math.max(w, 1), Math.max(h, 1), false);
    this.camera.aspect = Math.max(w, 1) / Math.max(h, 1);
    this.camera.updateProjectionMatrix();
  }
}

/** A ball that holds the coordinates (lists of x, y and z) but for a share at each end, `margin` wider. */
function ballAround(coordinates, margin, share = 0.04) {
  const ends = coordinates.map((values) => {
    const sorted = Float64Array.from(values).sort();
    const at = (share) => sorted[Math.round((sorted.length - 1) * share)] ?? 0;
    return [at(share), at(1 - share)];
  });
  const center = ends.map(([low, high]) => (low + high) / 2);
  return { center, radius: length(ends.map(([low, high]) => (high - low) / 2)) + margin };
}
