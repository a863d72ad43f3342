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
    this.listen();
  }

  fit(center, radius, up) {
    this.up = up;
    this.side = perpendicular(up);
    this.target = [...center];
    this.distance = (radius / Math.sin(this.fieldOfView / 2)) * 1.12;
    this.radius = radius;
  }

  /** Unit vector from the target to the eye. */
  direction() {
    const forward = cross(this.side, this.up);
    const flat = add(scale(this.side, Math.cos(this.yaw)), scale(forward, Math.sin(this.yaw)));
    return add(scale(flat, Math.cos(this.pitch)), scale(this.up, Math.sin(this.pitch)));
  }

  view() {
    const { width, height } = this.canvas;
    const eye = add(this.target, scale(this.direction(), this.distance));
    // A tall window is narrow: widen the angle so that the scene still fits across.
    const aspect = width / height;
    const angle = aspect < 1 ? 2 * Math.atan(Math.tan(this.fieldOfView / 2) / aspect) : this.fieldOfView;
    const far = this.distance + this.radius * 40;
    const near = Math.max(this.distance / 200, far / 20000);
    const matrix = multiply(perspective(angle, aspect, near, far), lookAt(eye, this.target, this.up));
    return { eye, matrix, distance: this.distance, angle, aspect };
  }

  /** The ray through a point of the canvas (CSS pixels). */
  ray(x, y) {
    const { eye, angle, aspect } = this.view();
    const back = this.direction();
    const right = normalize(cross(this.up, back));
    const above = cross(back, right);
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
    const back = this.direction();
    const right = normalize(cross(this.up, back));
    const above = cross(back, right);
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
      this.changed();
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, (e) => pointers.delete(e.pointerId));
    }
    this.canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    this.canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(clamp(e.deltaY, -240, 240) * 0.0015));
      this.changed();
    }, { passive: false });
  }
}
