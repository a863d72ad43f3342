// Small line plots over the steps, linked to the player.

class Plot {
  /** `curves`: [{ name, values, color }]; `log`: logarithmic axis; `unit`: shown after numbers. */
  constructor(parent, { title, curves, unit, log, note }, seek) {
    Object.assign(this, { curves, unit, log, steps: curves[0].values.length });
    const box = document.createElement("div");
    box.className = "plot";
    box.innerHTML = "<header><b></b><span></span></header><canvas></canvas>";
    box.querySelector("b").textContent = title;
    if (note) box.title = note;
    this.legend = box.querySelector("span");
    this.canvas = box.querySelector("canvas");
    parent.append(box);
    this.range();
    const at = (e) => {
      const { left, width } = this.canvas.getBoundingClientRect();
      seek(Math.round(clamp((e.clientX - left) / width, 0, 1) * (this.steps - 1)));
    };
    this.canvas.addEventListener("pointerdown", (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      at(e);
    });
    this.canvas.addEventListener("pointermove", (e) => e.buttons && at(e));
  }

  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const { values } of this.curves) {
      for (const v of values) {
        if (!Number.isFinite(v) || (this.log && v <= 0)) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    }
    if (low > high) [low, high] = this.log ? [1e-12, 1] : [0, 1];
    if (this.log) {
      low = Math.max(low, high * 1e-12);
      [low, high] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
      if (low === high) high += 1;
    } else {
      low = Math.min(low, 0);
      if (high <= low) high = low + 1;
    }
    Object.assign(this, { low, high });
  }

  height(v) {
    const x = this.log ? (v > 0 ? Math.log10(v) : this.low) : v;
    return 1 - clamp((x - this.low) / (this.high - this.low), 0, 1);
  }

  draw(step, style) {
    const ratio = devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth) return;
    const w = Math.round(clientWidth * ratio);
    const h = Math.round(clientHeight * ratio);
    const look = [w, h, style.rule, this.curves[0].color].join();
    if (this.look !== look) {
      this.look = look;
      Object.assign(this.canvas, { width: w, height: h });
      this.still = this.drawCurves(w, h, ratio, style);
    }
    const c = this.canvas.getContext("2d");
    c.clearRect(0, 0, w, h);
    c.drawImage(this.still, 0, 0);
    this.drawCursor(c, step, style, ratio);
    this.legend.replaceChildren(...this.curves.map(({ name, values, color }) => {
      const item = document.createElement("i");
      item.style.setProperty("--c", color);
      item.textContent = `${name ? name + " " : ""}${short(values[step])}${this.unit ? " " + this.unit : ""}`;
      return item;
    }));
  }

  x(i, width) {
    return (i / Math.max(1, this.steps - 1)) * width;
  }

  y(v, height, ratio) {
    const pad = 3 * ratio;
    return pad + this.height(v) * (height - 2 * pad);
  }

  /** All that does not depend on the step, on a canvas of its own. */
  drawCurves(w, h, ratio, style) {
    const still = Object.assign(document.createElement("canvas"), { width: w, height: h });
    const c = still.getContext("2d");
    const y = (v) => this.y(v, h, ratio);
    c.strokeStyle = style.rule;
    c.lineWidth = ratio;
    c.beginPath();
    const rules = [];
    if (this.log) {
      const every = Math.ceil((this.high - this.low) / 4);
      for (let e = this.low; e <= this.high; e += every) rules.push(10 ** e);
    } else rules.push(0, this.high);
    for (const v of rules) {
      c.moveTo(0, y(v));
      c.lineTo(w, y(v));
    }
    c.stroke();
    c.lineJoin = "round";
    for (const { values, color } of this.curves) {
      c.strokeStyle = color;
      c.lineWidth = 1.5 * ratio;
      c.beginPath();
      let down = false;
      for (let i = 0; i < values.length; i++) {
        const known = Number.isFinite(values[i]);
        if (known && down) c.lineTo(this.x(i, w), y(values[i]));
        else if (known) c.moveTo(this.x(i, w), y(values[i]));
        down = known;
      }
      c.stroke();
    }
    c.font = `${9.5 * ratio}px system-ui, sans-serif`;
    c.fillStyle = style.faint;
    const top = this.log ? `1e${this.high}` : short(this.high);
    c.fillText(top, 3 * ratio, 12 * ratio);
    if (this.log) c.fillText(`1e${this.low}`, 3 * ratio, h - 5 * ratio);
    return still;
  }

  drawCursor(c, step, style, ratio) {
    const { width, height } = this.canvas;
    const x = this.x(step, width);
    c.strokeStyle = style.text;
    c.globalAlpha = 0.55;
    c.lineWidth = ratio;
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, height);
    c.stroke();
    c.globalAlpha = 1;
    for (const { values, color } of this.curves) {
      if (!Number.isFinite(values[step])) continue;
      c.fillStyle = color;
      c.beginPath();
      c.arc(x, this.y(values[step], height, ratio), 2.6 * ratio, 0, 7);
      c.fill();
    }
  }
}

/** A number with four significant digits. */
function short(x) {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace(/\.?0*e\+?/, "e");
  return Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(4)));
}
