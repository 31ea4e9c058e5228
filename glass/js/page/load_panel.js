// The delay-load curve of a crossbar under random traffic, drawn while the load is moved: points are simulated here,
// lines are theory.

import uPlot from "../../vendor/uPlot.esm.js";
import { Crossbar, FIFO_MOST, fifoWait, outputWait } from "../model/crossbar.js";
import { PALETTES } from "../draw/palette.js";
import { percent } from "../words.js";
import { element, setText } from "./dom.js";
import { theme } from "./theme.js";

// Loads are whole percent.
const LOADS = Array.from({ length: 99 }, (_, index) => (index + 1) / 100);
const STEP = 5, PORTS = [4, 16, 64], PORTS_AT_FIRST = 64;
// Slots before waits are measured, cells of all inputs meanwhile, and how long a part of that may take.
const SETTLING_SLOTS = 500, CELLS = 64_000, PART_MS = 6, PART_SLOTS = 20;
// Longer waits are above the picture.
const WAIT_MOST = 10;
const HEIGHT_PX = 190;

const slots = (wait) => `${wait < 10 ? wait.toFixed(2) : Math.round(wait)} slots`;

export class LoadPanel {
  constructor(glass) {
    this.glass = glass;
    this.load = element("input", { type: "range", min: STEP, max: 100 - STEP, step: STEP, value: 40, oninput: () => this.moved() });
    this.ports = element("select", { onchange: () => this.clear() },
      ...PORTS.map((each) => element("option", { value: each, selected: each === PORTS_AT_FIRST }, `${each} ports`)));
    this.all = element("button", { type: "button", onclick: () => this.sweep() }, "Draw the curve");
    this.said = element("p", { role: "status" });
    this.place = element("div", { class: "loadcurve", role: "img", "aria-label": "Mean wait by load" });
    this.node = element("div", { class: "load" },
      element("label", { class: "field" }, "Load", this.load), element("label", { class: "field" }, "Crossbar", this.ports),
      this.place, this.said, element("div", { class: "row" }, this.all));
    this.clear();
  }

  clear() {
    this.left = [];
    this.found = new Map();
    this.running = undefined;
    setText(this.said, "Move the load: each point is a simulation of this crossbar with random traffic.");
    this.draw();
  }

  end() {
    this.left = [];
    this.plot?.destroy();
    // As with charts, the engine may keep the plot.
    this.plot = this.glass = this.running = undefined;
  }

  get count() { return Number(this.ports.value); }

  // Somebody moves the load: that one is measured next.
  moved() {
    this.left = [Number(this.load.value)];
    this.measure();
  }

  sweep() {
    this.left = Array.from({ length: 100 / STEP - 1 }, (_, index) => (index + 1) * STEP);
    this.measure();
  }

  measure() {
    const at = this.left.shift();
    if (at === undefined) {
      this.running = undefined;
      return;
    }
    this.load.value = at;
    const crossbar = new Crossbar({ ports: this.count, load: at / 100 });
    this.running = { at, crossbar };
    if (!this.isDue) this.part();
  }

  // A part of the slots between two pictures.
  part() {
    this.isDue = false;
    // Another network has the page.
    if (!this.running || this.glass.ending.signal.aborted) return;
    const { at, crossbar } = this.running, end = performance.now() + PART_MS;
    const most = SETTLING_SLOTS + Math.ceil(CELLS / this.count);
    while (crossbar.slot < most && performance.now() < end) {
      if (crossbar.slot < SETTLING_SLOTS) {
        crossbar.run(PART_SLOTS);
        if (crossbar.slot >= SETTLING_SLOTS) crossbar.begin();
      } else crossbar.run(PART_SLOTS);
    }
    if (crossbar.slot > SETTLING_SLOTS) {
      this.found.set(at, crossbar.found);
      this.say(at);
      this.draw();
    }
    this.isDue = true;
    requestAnimationFrame(() => this.part());
    if (crossbar.slot >= most) this.measure();
  }

  say(at) {
    const { carried, wait, outputWait: ideal } = this.found.get(at);
    const grows = at / 100 > carried * 1.02;
    setText(this.said, `At ${at} % load: ${slots(ideal)} with output queues, and with FIFOs ${grows
      ? `no end: they carry ${(carried * 100).toFixed(1)} % of the lines, and the rest piles up` : slots(wait)}.`);
    this.place.setAttribute("aria-label", `Mean wait by load. ${this.said.textContent}`);
  }

  // The colours of the page, which may have changed.
  show() {
    if (this.drawn !== theme() || (this.plot?.width !== this.place.clientWidth && this.place.clientWidth)) this.draw();
  }

  draw() {
    const width = this.place.clientWidth;
    if (!width) return;
    const points = (name) => LOADS.map((load) => {
      const value = this.found.get(Math.round(load * 100))?.[name];
      return value === undefined ? null : Math.min(value, WAIT_MOST);
    });
    const line = (wait) => LOADS.map((load) => (wait(load) <= WAIT_MOST ? wait(load) : null));
    const data = [LOADS, line(fifoWait), line((load) => outputWait(this.count, load)), points("wait"), points("outputWait")];
    if (this.drawn === theme() && this.plot?.width === width) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.drawn = theme();
    this.plot = new uPlot(this.options(width, PALETTES[theme()]), data, this.place);
  }

  options(width, palette) {
    const axis = { stroke: palette.faint, grid: { stroke: palette.wire, width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif",
                   labelFont: "11px system-ui, sans-serif", labelSize: 16, gap: 3 };
    const [fifo, , output] = palette.flows;
    const dots = (stroke) => ({ stroke, paths: () => null, points: { show: true, size: 8, fill: stroke } });
    return {
      width, height: HEIGHT_PX, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false, range: [0, 1] }, y: { range: [0, WAIT_MOST] } },
      axes: [
        { ...axis, size: 22, label: "load", values: (_, all) => all.map(percent) },
        { ...axis, size: 26, label: "mean wait (slots)" },
      ],
      series: [{}, { stroke: fifo, width: 1.5, dash: [6, 4] }, { stroke: output, width: 1.5, dash: [6, 4] }, dots(fifo), dots(output)],
      hooks: { draw: [(plot) => names(plot, palette, fifo, output)] },
    };
  }
}

// The limit of FIFOs, and which line is which.
function names({ ctx, bbox, valToPos }, palette, fifo, output) {
  const x = Math.round(valToPos(FIFO_MOST, "x", true)), size = 11 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = palette.alarm;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `${size}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.fillText("58.6 %", x + 4 * devicePixelRatio, bbox.top + 1.6 * size);
  ctx.textAlign = "right";
  ctx.fillStyle = fifo;
  ctx.fillText("FIFOs (many ports)", x - 6 * devicePixelRatio, bbox.top + 2.6 * size);
  ctx.textAlign = "left";
  ctx.fillStyle = output;
  // Left of its curve, which is that high at 94 %.
  ctx.fillText("output queues", x + 4 * devicePixelRatio, valToPos(7.6, "y", true));
  ctx.restore();
}
