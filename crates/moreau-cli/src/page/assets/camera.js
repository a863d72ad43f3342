// Orbit camera: drag turns, shift or right drag pans, wheel or pinch zooms.

class Camera {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.yaw = 0.7;
    this.pitch = 0.32;
    this.distance = 10;
    this.target = [0, 0, 0];
    this.up = [0, 1, 0];
    this.fieldOfView = 0.66;
    this.moved = 0;
    this.closer = 1;
    this.touched = false;
    this.listen();
  }

  /** Looks at the scene from the present side so that nearly all of its points are seen. */
  fit({ samples, bodySize, center, radius, up }) {
    Object.assign(this, { up, radius, side: perpendicular(up), target: [...center] });
    const axes = this.axes();
    const seen = samples.map((p) => axes.map((axis) => dot(sub(p, center), axis)));
    const middle = [0, 1, 2].map((c) => {
      const values = seen.map((p) => p[c]).sort((a, b) => a - b);
      const at = (share) => values[Math.round((values.length - 1) * share)] ?? 0;
      return (at(0.01) + at(0.99)) / 2;
    });
    axes.forEach((axis, c) => (this.target = add(this.target, scale(axis, middle[c]))));
    const { angle, aspect } = this.lens();
    const t = Math.tan(angle / 2);
    const distances = seen.map((p) => {
      const [x, y, z] = sub(p, middle);
      return Math.max((Math.abs(x) + bodySize) / (t * aspect), (Math.abs(y) + bodySize) / t) + z;
    });
    distances.sort((a, b) => a - b);
    const needed = distances[Math.round((distances.length - 1) * 0.99)] ?? radius * 3;
    this.distance = (1.1 * Math.max(needed, bodySize * 3)) / this.closer;
    this.touched = false;
  }

  /** Right, up and towards the eye. */
  axes() {
    const back = this.direction();
    const right = normalize(cross(this.up, back));
    return [right, cross(back, right), back];
  }

  /** Vertical angle of view and aspect. */
  lens() {
    const aspect = Math.max(this.canvas.clientWidth, 1) / Math.max(this.canvas.clientHeight, 1);
    return { angle: this.fieldOfView, aspect };
  }

  /** Unit vector from the target to the eye. */
  direction() {
    const forward = cross(this.side, this.up);
    const flat = add(scale(this.side, Math.cos(this.yaw)), scale(forward, Math.sin(this.yaw)));
    return add(scale(flat, Math.cos(this.pitch)), scale(this.up, Math.sin(this.pitch)));
  }

  view() {
    const eye = add(this.target, scale(this.direction(), this.distance));
    const { angle, aspect } = this.lens();
    const far = this.distance + this.radius * 40;
    const near = Math.max(this.distance / 200, far / 20000);
    const matrix = multiply(perspective(angle, aspect, near, far), lookAt(eye, this.target, this.up));
    return { eye, matrix, distance: this.distance, angle, aspect };
  }

  /** The ray through a point of the canvas (CSS pixels). */
  ray(x, y) {
    const { eye, angle, aspect } = this.view();
    const [right, above, back] = this.axes();
    const t = Math.tan(angle / 2);
    const u = ((2 * x) / this.canvas.clientWidth - 1) * t * aspect;
    const v = (1 - (2 * y) / this.canvas.clientHeight) * t;
    return { eye, direction: normalize(add(scale(back, -1), add(scale(right, u), scale(above, v)))) };
  }

  turn(dx, dy) {
    this.yaw += dx * 0.006;
    this.pitch = clamp(this.pitch + dy * 0.006, -1.5, 1.5);
  }

  pan(dx, dy) {
    const [right, above] = this.axes();
    const metres = (2 * this.distance * Math.tan(this.fieldOfView / 2)) / this.canvas.clientHeight;
    this.target = add(this.target, add(scale(right, -dx * metres), scale(above, dy * metres)));
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, this.radius * 0.02, this.radius * 30);
  }

  listen() {
    const pointers = new Map();
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, gap: Math.hypot(a.x - b.x, a.y - b.y) };
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
      this.moved = 0;
    });
    this.canvas.addEventListener("pointermove", (e) => {
      const last = pointers.get(e.pointerId);
      if (!last) return;
      const before = pointers.size === 2 ? spread() : null;
      const dx = e.clientX - last.x;
      const dy = e.clientY - last.y;
      this.moved += Math.abs(dx) + Math.abs(dy);
      pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
      if (before) {
        const after = spread();
        this.pan(after.x - before.x, after.y - before.y);
        this.zoom(before.gap / Math.max(after.gap, 1));
      } else if (e.shiftKey || e.buttons & 6) this.pan(dx, dy);
      else this.turn(dx, dy);
      this.touched = true;
      this.changed();
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, (e) => pointers.delete(e.pointerId));
    }
    this.canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.touched = true;
      this.zoom(Math.exp(clamp(e.deltaY, -240, 240) * 0.0015));
      this.changed();
    }, { passive: false });
  }
}
