// Plots of the figures over the steps, linked to the player and to each other.

import uPlot from "uplot";
import { short } from "./numbers.js";

const SYNC = "moreau";

/** One chart of a list `[{ name, values, unit, color }]` over the steps `time`; `other`: values of an older run. */
export class Plot {
  constructor(parent, chart, time, seek) {
    Object.assign(this, { chart, time, seek, at: 0 });
    this.box = document.createElement("section");
    this.box.className = "plot";
    this.box.innerHTML = "<header><b></b><span></span></header><div class=\"chart\"></div>";
    this.box.querySelector("b").textContent = chart.title;
    this.box.title = chart.note ?? "";
    this.box.dataset.plot = chart.id;
    this.legend = this.box.querySelector("span");
    this.holder = this.box.querySelector(".chart");
    parent.append(this.box);
    this.marker = document.createElement("i");
    this.marker.className = "now";
  }

  /** Builds the chart in the colours of the page. */
  build() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    this.plot?.destroy();
    const { curves, log } = this.chart;
    const width = this.holder.clientWidth;
    if (!width) return;
    const positive = (values) => (log ? Array.from(values, (v) => (v > 0 ? v : null)) : known(values));
    const data = [this.time];
    const series = [{}];
    for (const curve of curves) {
      data.push(positive(curve.drawn ?? curve.values));
      series.push({ label: curve.name, stroke: color(curve.color), width: 1.5, points: { show: false } });
      if (!curve.other) continue;
      data.push(positive(Float64Array.from(this.time, (_, i) => curve.other[i] ?? NaN)));
      series.push({ label: `${curve.name} before`, stroke: color(curve.color), width: 1, dash: [4, 3], points: { show: false } });
    }
    const axis = { stroke: color("--faint"), font: "10px system-ui, sans-serif", grid: { stroke: color("--rule"), width: 1 }, ticks: { show: false } };
    const tick = (_, ticks) => ticks.map((v) => (v === null ? "" : short(v, 3)));
    this.plot = new uPlot({
      width,
      height: 86,
      padding: [6, 10, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: SYNC }, points: { size: 5 } },
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
      axes: [
        { ...axis, size: 18, gap: 4, values: (_, ticks) => ticks.map((v) => `${v}`) },
        { ...axis, size: 46, gap: 7, space: 22, values: tick, ...(log ? { splits: decades } : {}) },
      ],
      series,
      hooks: { ready: [(u) => this.listen(u)] },
    }, data, this.holder);
  }

  /** Called once the chart has scales: before, nothing has a place. */
  listen(u) {
    u.over.append(this.marker);
    this.mark(this.at);
    const at = (e) => {
      const { left } = u.over.getBoundingClientRect();
      this.seek(this.time[u.posToIdx(e.clientX - left)]);
    };
    u.over.addEventListener("pointerdown", (e) => {
      u.over.setPointerCapture(e.pointerId);
      at(e);
    });
    u.over.addEventListener("pointermove", (e) => e.buttons && at(e));
  }

  /** Shows the step at index `at`: the line, and the numbers of all curves. */
  mark(at) {
    this.at = at;
    if (this.plot) this.marker.style.transform = `translateX(${this.plot.valToPos(this.time[at], "x")}px)`;
    if (this.legend.childElementCount !== this.chart.curves.length) {
      this.legend.replaceChildren(...this.chart.curves.map((curve) => {
        const item = document.createElement("i");
        item.style.setProperty("--c", `var(${curve.color})`);
        item.dataset.curve = curve.id;
        return item;
      }));
    }
    this.chart.curves.forEach((curve, k) => {
      const item = this.legend.children[k];
      const value = curve.values[at] * (curve.factor ?? 1);
      item.textContent = `${curve.name} ${short(value)} ${Number.isFinite(value) ? curve.unit : ""}`.trim();
      item.dataset.value = String(curve.values[at]);
      item.title = `${curve.values[at]} ${curve.stored ?? curve.unit}`;
    });
  }
}

const known = (values) => Array.from(values, (v) => (Number.isFinite(v) ? v : null));

/** At most four powers of ten between two values. */
function decades(u, axis, low, high) {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const every = Math.max(1, Math.ceil((last - first) / 3));
  const out = [];
  for (let e = first; e <= last; e += every) out.push(10 ** e);
  return out;
}

/** What is plotted of a run; `other` is an older run of the same scene, or undefined. */
export function charts(run, other) {
  const s = run.series;
  const lowest = s.potential_j.reduce((a, b) => (b < a ? b : a), Infinity);
  const raised = (values) => Float64Array.from(values, (v) => v - lowest);
  const curve = (id, name, unit, color, more = {}) => ({ id, name, unit, color, values: s[id], other: other?.series[id], ...more });
  const stage = (id, name, color) => {
    const ms = (values) => values && Float64Array.from(values, (v) => v * 1e3);
    return curve(id, name, "ms", color, { drawn: ms(s[id]), other: undefined, factor: 1e3, stored: "s" });
  };
  return [
    { id: "energy", title: "Energy", note: "The curve of the potential energy starts at its lowest value; the number counts from the world's origin", curves: [
      curve("kinetic_j", "kinetic", "J", "--one"),
      curve("potential_j", "potential", "J", "--two", { drawn: raised(s.potential_j), other: other && raised(other.series.potential_j) }),
    ] },
    { id: "penetration", title: "Deepest overlap", curves: [curve("max_penetration_m", "", "m", "--three")] },
    { id: "residual", title: "Residual", log: true, note: "Natural map of the worst contact: how far the answer is from exact Coulomb friction", curves: [curve("residual_m_s", "", "m/s", "--two")] },
    { id: "times", title: "Time of a step", curves: [stage("total_s", "all", "--one"), stage("solve_s", "solve", "--two"), stage("narrow_s", "narrow", "--three"), stage("broad_s", "broad", "--four")].filter(({ id }) => run.series[id].some(Number.isFinite)) },
    { id: "contacts", title: "Contact points", curves: [curve("contact_points", "", "", "--one")] },
  ];
}
