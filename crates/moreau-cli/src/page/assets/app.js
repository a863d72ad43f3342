// Player and panel.

const byId = (id) => document.getElementById(id);
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

/** Settings in the address: `#frame=120&yaw=0.5&contacts=1&theme=dark`. `frame` counts steps. */
function settingsFromAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

class App {
  constructor(recording) {
    const { meta } = recording;
    Object.assign(this, { recording, meta, steps: meta.frame_steps, step: 0, playing: false, speed: 1, dirty: true });
    this.lastStep = this.steps[this.steps.length - 1];
    const settings = settingsFromAddress();
    this.setTheme(settings.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    this.canvas = byId("view");
    this.renderer = new Renderer(this.canvas);
    this.scene = new Scene(recording, this.renderer);
    this.camera = new Camera(this.canvas, () => (this.dirty = true));
    this.camera.fit(this.scene);
    this.words();
    this.plots();
    this.controls();
    this.keys();
    this.apply(settings);
    addEventListener("hashchange", () => this.apply(settingsFromAddress()));
    // At once: the next frame would show the old picture stretched.
    new ResizeObserver(() => {
      if (!this.camera.touched) this.camera.fit(this.scene);
      this.draw();
    }).observe(this.canvas);
    requestAnimationFrame((now) => this.tick(now, now));
  }

  apply(settings) {
    const number = (name) => (name in settings ? Number(settings[name]) : NaN);
    if (settings.theme) this.setTheme(settings.theme);
    if (["yaw", "pitch", "zoom"].some((name) => name in settings)) {
      for (const name of ["yaw", "pitch"]) if (Number.isFinite(number(name))) this.camera[name] = number(name);
      if (number("zoom") > 0) this.camera.closer = number("zoom");
      this.camera.fit(this.scene);
    }
    if ("contacts" in settings) this.toggle("points", settings.contacts !== "0");
    if ("arrows" in settings) this.toggle("arrows", settings.arrows !== "0");
    if ("panel" in settings) this.toggle("panel", settings.panel !== "0");
    if (settings.color) this.setColor(settings.color);
    if (Number.isFinite(number("select"))) this.select(number("select"));
    if (Number.isFinite(number("frame"))) {
      this.play(false);
      this.seek(number("frame"));
    } else if (settings.play !== "0" && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play(true);
  }

  words() {
    const { meta } = this;
    document.title = `${meta.scene} - moreau`;
    byId("name").textContent = meta.scene;
    byId("description").textContent = meta.description;
    byId("badge").textContent = meta.verdict.text;
    byId("badge").className = meta.verdict.good ? "good" : "bad";
    byId("gates").replaceChildren(...meta.gates.map(({ verdict, text, full }) => {
      const gate = document.createElement("li");
      gate.className = verdict;
      gate.textContent = text;
      gate.title = full;
      return gate;
    }));
    byId("notes").replaceChildren(...meta.notes.map((note) => {
      const line = document.createElement("p");
      line.textContent = note;
      return line;
    }));
  }

  plots() {
    const s = this.recording.series;
    const lowest = s.potential_j.reduce((a, b) => Math.min(a, b), Infinity);
    const potential = s.potential_j.map((p) => p - lowest);
    const total = s.kinetic_j.map((k, i) => k + potential[i]);
    const c = { one: "var-one", two: "var-two", three: "var-three" };
    const parent = byId("plots");
    const seek = (step) => {
      this.play(false);
      this.seek(step);
    };
    const charts = [
      { title: "Energy", unit: "J", curves: [["kinetic", s.kinetic_j, c.one], ["potential", potential, c.two], ["total", total, c.three]],
        note: "Potential energy counts from its lowest value in the run" },
      { title: "Contact points", curves: [["", s.contact_points, c.one]] },
      { title: "Residual", unit: "m/s", log: true, curves: [["", s.residual_m_s, c.two]],
        note: "Natural map of the worst contact: how far the answer is from exact Coulomb friction" },
      { title: "Deepest overlap", unit: "m", curves: [["", s.max_penetration_m, c.three]] },
      { title: "Time of a step", unit: "ms", curves: [["", s.ms, c.one]] },
    ];
    this.charts = charts.map((chart) => {
      chart.curves = chart.curves.map(([name, values, color]) => ({ name, values, slot: color }));
      return new Plot(parent, chart, seek);
    });
  }

  setTheme(theme) {
    this.theme = theme === "dark" ? "dark" : "light";
    document.documentElement.dataset.theme = this.theme;
    this.dirty = true;
  }

  setColor(mode) {
    this.scene.colorBy = mode === "speed" ? "speed" : "body";
    byId("color").setAttribute("aria-pressed", mode === "speed");
    this.dirty = true;
  }

  toggle(what, on) {
    const button = byId(what);
    const value = on ?? button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", value);
    if (what === "points") this.scene.showPoints = value;
    if (what === "arrows") this.scene.showArrows = value;
    if (what === "panel") document.body.classList.toggle("wide", !value);
    this.dirty = true;
  }

  play(on) {
    if (on && this.step >= this.lastStep) this.step = 0;
    this.playing = on && this.lastStep > 0;
    byId("play").classList.toggle("playing", this.playing);
    byId("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.dirty = true;
  }

  seek(step) {
    this.step = clamp(step, 0, this.lastStep);
    this.dirty = true;
  }

  /** To the next or last shown step. */
  nudge(by) {
    this.play(false);
    const f = lastNotBeyond(this.steps, this.step);
    const between = this.step > this.steps[f];
    this.seek(this.steps[clamp(f + by + (between && by < 0 ? 1 : 0), 0, this.steps.length - 1)]);
  }

  select(i) {
    this.scene.selected = i;
    const body = this.meta.bodies[i];
    byId("body").hidden = !body;
    if (body) {
      const facts = [`${body.kind} ${this.meta.shapes[body.shape].kind}`];
      if (body.mass_kg > 0) facts.push(`${short(body.mass_kg)} kg`);
      facts.push(`friction ${short(body.friction)}`, `restitution ${short(body.restitution)}`);
      byId("body").innerHTML = "<b></b> <span></span>";
      byId("body").querySelector("b").textContent = body.name || `body ${i}`;
      byId("body").querySelector("span").textContent = facts.join(" · ");
    }
    this.dirty = true;
  }

  controls() {
    byId("play").onclick = () => this.play(!this.playing);
    byId("back").onclick = () => this.nudge(-1);
    byId("forth").onclick = () => this.nudge(1);
    const scrub = byId("scrub");
    scrub.max = this.lastStep;
    scrub.oninput = () => {
      this.play(false);
      this.seek(Number(scrub.value));
    };
    const speed = byId("speed");
    speed.replaceChildren(...SPEEDS.map((s) => new Option(`${s}×`, s, s === 1, s === 1)));
    speed.onchange = () => (this.speed = Number(speed.value));
    for (const id of ["points", "arrows", "panel"]) byId(id).onclick = () => this.toggle(id);
    byId("color").onclick = () => this.setColor(this.scene.colorBy === "body" ? "speed" : "body");
    byId("theme").onclick = () => this.setTheme(this.theme === "dark" ? "light" : "dark");
    byId("fit").onclick = () => this.fit();
    byId("help").onclick = () => byId("keys").showModal();
    byId("keys").onclick = () => byId("keys").close();
    this.canvas.addEventListener("dblclick", () => this.fit());
    this.canvas.addEventListener("pointerup", (e) => {
      if (this.camera.moved < 4 && e.button === 0) this.select(this.scene.pick(this.camera.ray(e.offsetX, e.offsetY)));
    });
    if (innerWidth < 820) this.toggle("panel", false);
  }

  fit() {
    this.camera.closer = 1;
    this.camera.fit(this.scene);
    this.dirty = true;
  }

  keys() {
    const faster = (by) => {
      const at = clamp(SPEEDS.indexOf(this.speed) + by, 0, SPEEDS.length - 1);
      this.speed = SPEEDS[at];
      byId("speed").value = this.speed;
    };
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowLeft: () => this.nudge(-1),
      ArrowRight: () => this.nudge(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.lastStep),
      ArrowUp: () => faster(1),
      ArrowDown: () => faster(-1),
      c: () => this.toggle("points"),
      i: () => this.toggle("arrows"),
      v: () => byId("color").click(),
      p: () => this.toggle("panel"),
      t: () => byId("theme").click(),
      f: () => this.fit(),
      Escape: () => this.select(-1),
      "?": () => byId("help").click(),
    };
    addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT" || byId("keys").open) return;
      // A focused button keeps its own space bar.
      if (e.key === " " && e.target.tagName === "BUTTON") e.target.blur();
      const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
      if (!action) return;
      e.preventDefault();
      action();
    });
  }

  tick(now, before) {
    if (this.playing) {
      this.step += (Math.min(now - before, 100) / 1000 / this.meta.dt) * this.speed;
      if (this.step >= this.lastStep) {
        this.step = this.lastStep;
        this.play(false);
      }
      this.dirty = true;
    }
    if (this.dirty) {
      this.dirty = false;
      this.draw();
    }
    requestAnimationFrame((next) => this.tick(next, now));
  }

  draw() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    const h = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    const f = lastNotBeyond(this.steps, this.step);
    const next = this.steps[f + 1] ?? this.steps[f] + 1;
    const view = this.camera.view();
    this.scene.pose(f, clamp((this.step - this.steps[f]) / (next - this.steps[f]), 0, 1), view.eye);
    const k = lastNotBeyond(this.meta.contact_steps, this.step);
    this.scene.contacts(k);
    this.renderer.draw(this.scene, view, this.theme);
    this.figures(Math.floor(this.step), this.meta.contact_steps[k]);
  }

  figures(step, contactStep) {
    const s = this.recording.series;
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    byId("scrub").value = step;
    byId("scrub").style.setProperty("--done", `${(100 * this.step) / Math.max(1, this.lastStep)}%`);
    byId("clock").textContent = `${s.time_s[step].toFixed(2)} / ${s.time_s[this.lastStep].toFixed(2)} s`;
    const rows = [
      ["step", `${step} of ${this.lastStep}`],
      ["bodies", String(this.meta.bodies.length)],
      ["contact points", step ? String(s.contact_points[step]) : "–"],
      ["kinetic energy", `${short(s.kinetic_j[step])} J`],
      ["deepest overlap", step ? `${short(s.max_penetration_m[step])} m` : "–"],
      ["residual", step ? `${short(s.residual_m_s[step])} m/s` : "–"],
      ["certified", step ? (s.certified[step] ? "yes" : "no") : "–"],
    ];
    byId("figures").replaceChildren(...rows.flatMap(([name, value]) => {
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      if (value === "no") text.className = "bad";
      return [term, text];
    }));
    const shown = this.scene.showPoints || this.scene.showArrows;
    byId("marks").hidden = !shown;
    byId("marks").textContent = step === 0 ? "contacts are found by the first step" : `contacts of step ${contactStep}`;
    const slots = { "var-one": color("--one"), "var-two": color("--two"), "var-three": color("--three") };
    const look = { text: color("--text"), faint: color("--faint"), rule: color("--rule") };
    for (const chart of this.charts) {
      for (const curve of chart.curves) curve.color = slots[curve.slot];
      chart.draw(step, look);
    }
  }
}

loadRecording()
  .then((recording) => {
    window.moreau = new App(recording);
    document.body.classList.add("ready");
  })
  .catch((error) => {
    byId("trouble").hidden = false;
    byId("trouble").querySelector("p").textContent = String(error.message ?? error);
    console.error(error);
  });
