// A titled plot of uPlot. uPlot takes its series when it is made, so it is made anew when these change.

import uPlot from "../../vendor/uPlot.esm.js";
import { flowColour } from "../draw/palette.js";
import { instant, tickWords } from "../words.js";
import { element, setText, table } from "./dom.js";
import { listen } from "./pointer.js";

const AWAY = -10;
// Of more instants than this some are left out of the table.
const ROWS_MAX = 24;

export class Plot {
  // `handlers`: those of `listen`, and onRemove.
  constructor(title, handlers) {
    this.title = title;
    this.heading = element("span", {});
    this.value = element("span", { class: "value" });
    this.place = element("div", { class: "curve", role: "img", "aria-label": title });
    this.rows = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${title} as a table` });
    this.details = element("details", { class: "notpresented" }, element("summary", {}, "As a table"), this.rows);
    this.details.addEventListener("toggle", () => this.tabulate());
    this.node = element("div", { class: "chart" },
      element("h2", {}, element("b", {}, title), this.heading,
        element("button", { type: "button", class: "bare", "aria-label": `Remove the chart ${title}`, title: "Remove", onclick: handlers.onRemove }, "✕")),
      this.place, this.value, this.details);
    this.handlers = handlers;
    this.shape = "";
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.place);
  }

  end() {
    this.observer.disconnect();
    this.plot?.destroy();
    this.node.remove();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (width) this.plot?.setSize({ width, height });
  }

  // `view`: {from, to, marks, isFirst} in seconds; the first of all tracks has the axis.
  draw(found, view, palette) {
    Object.assign(this, { found, view, palette });
    const { note, xs, level, unit } = found;
    const series = found.series.map((each) => ({ ...each, stroke: colourOf(each, palette) }));
    setText(this.heading, note);
    const shape = JSON.stringify([series.map((each) => [each.name, each.stroke, each.style, each.hasGaps]), Boolean(level), palette.ink, view.isFirst]);
    const all = level ? [...series, { name: "limit", stroke: palette.alarm, style: "dashed", ys: new Array(xs.length).fill(level) }] : series;
    const data = [xs, ...all.map((each) => each.ys)];
    if (shape !== this.shape) {
      this.plot?.destroy();
      this.shape = shape;
      this.plot = new uPlot(this.options(all, palette), data, this.place);
      this.listen();
    }
    this.unit = unit;
    const top = Math.max(level ?? 0, ...series.flatMap((each) => each.ys.filter(Number.isFinite)), Number.MIN_VALUE);
    this.plot.setData(data, false);
    this.plot.batch(() => {
      this.plot.setScale("x", { min: view.from, max: view.to });
      this.plot.setScale("y", { min: 0, max: (top > Number.MIN_VALUE ? top : 1) * 1.08 });
    });
    this.frame();
    this.point(this.pointed);
    if (this.details.open) this.tabulate();
  }

  // The same as rows, each with a button that leads to its instant. It stands still while it is used.
  tabulate() {
    if (!this.found || this.rows.contains(document.activeElement)) return;
    const { xs, series, unit } = this.found;
    const { min, max } = this.plot.scales.x;
    const inside = xs.map((_, index) => index).filter((index) => xs[index] >= min && xs[index] <= max);
    const every = Math.max(1, Math.ceil(inside.length / ROWS_MAX));
    const chosen = inside.filter((_, place) => place % every === 0 || place === inside.length - 1);
    const shape = chosen.map((index) => xs[index]).join();
    if (shape === this.tabulated) return;
    this.tabulated = shape;
    const words = (each, index) => (Number.isFinite(valuesOf(each)[index]) ? unit(valuesOf(each)[index]) : "");
    const at = (seconds) => element("button", { type: "button", class: "bare", onclick: () => this.handlers.onSeek(seconds) },
                                    instant(seconds * 1e12, (max - min) / 12));
    this.rows.replaceChildren(table(this.title, ["instant", ...series.map((each) => each.name)],
                                    chosen.map((index) => [at(xs[index]), ...series.map((each) => words(each, index))])));
  }

  listen() {
    const { over } = this.plot;
    listen(over, (event) => this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"), this.handlers);
  }

  // A measured span, in seconds, or none.
  measure(span) {
    this.span = span;
    this.frame();
    this.point(this.pointed);
  }

  frame() {
    if (!this.plot) return;
    const [left, right] = this.span?.map((each) => this.plot.valToPos(each, "x")) ?? [0, 0];
    this.plot.setSelect({ left, width: right - left, top: 0, height: this.plot.over.clientHeight }, false);
  }

  // The mean of each series over the measured span, as far as it is drawn.
  means() {
    const { xs, series, unit } = this.found, [from, to] = this.span;
    return series.map((each) => [each, valuesOf(each).filter((y, index) => Number.isFinite(y) && xs[index] >= from && xs[index] <= to)])
      .filter(([, ys]) => ys.length)
      .map(([each, ys]) => `${series.length > 1 ? `${each.name} ` : ""}${unit(ys.reduce((sum, y) => sum + y, 0) / ys.length)}`);
  }

  // Marks an instant and says the values there; without one, the newest.
  point(seconds) {
    this.pointed = seconds;
    if (!this.plot) return;
    const { xs, series, unit, level } = this.found;
    const { min, max } = this.plot.scales.x;
    const isIn = seconds !== undefined && seconds >= min && seconds <= max;
    this.plot.setCursor({ left: isIn ? this.plot.valToPos(seconds, "x") : AWAY, top: isIn ? 1 : AWAY }, false);
    const index = isIn ? placeOf(xs, seconds) : xs.length - 1;
    const words = series.map((each) => [each, valuesOf(each)[index]]).filter(([, y]) => Number.isFinite(y))
      .map(([each, y]) => `${series.length > 1 ? `${each.name} ` : ""}${unit(y)}${level && series.length === 1 ? ` of ${unit(level)}` : ""}`);
    const means = this.span ? this.means() : [];
    const said = this.span ? (means.length ? `mean: ${means.join(", ")}` : "no values in this span")
      : `${isIn ? `${instant(seconds * 1e12, (max - min) / 12)}: ` : ""}${words.join(", ") || (this.found.why ?? "")}`;
    setText(this.value, said);
    // Of many series two lines are in sight.
    this.value.title = said;
    this.place.setAttribute("aria-label", `${this.title}: ${words.join(", ") || this.found.why || "nothing yet"}`);
  }

  // The instant of the picture, and when settings were changed.
  mark({ ctx, bbox, valToPos }) {
    const { marks, from, to } = this.view;
    const line = (seconds, stroke, dash) => {
      if (seconds < from || seconds > to) return;
      const x = Math.round(valToPos(seconds, "x", true));
      ctx.save();
      ctx.beginPath();
      ctx.strokeStyle = stroke;
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash(dash);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.restore();
    };
    for (const each of marks.changesS) line(each, this.palette.alarm, dotted);
    line(marks.nowS, this.palette.accent, []);
  }

  options(series, palette) {
    const axis = { stroke: palette.faint, grid: { stroke: palette.wire, width: 1 }, ticks: { show: false },
                   font: "11px system-ui, sans-serif" };
    return {
      width: Math.max(80, this.place.clientWidth), height: Math.max(40, this.place.clientHeight), legend: { show: false },
      // uPlot takes each click on a cursor that the page has moved for the end of a drag; pointer.js knows better.
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false, click: () => {} }, bind: { mousemove: () => null, mouseleave: () => null, mousedown: () => null } },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      axes: [
        // All tracks have the grid, the first one its numbers.
        { ...axis, side: 0, size: this.view.isFirst ? 22 : 0, gap: 3, values: (_, all) => (this.view.isFirst ? tickWords(all) : all.map(() => "")) },
        { ...axis, size: 64, space: 22, values: (_, all) => all.map((each) => this.unit(each)) },
      ],
      // To the right, half of the last number of the axis.
      padding: [this.view.isFirst ? 0 : 6, 28, 4, 0],
      select: { show: true, over: false, left: 0, top: 0, width: 0, height: 0 },
      hooks: { draw: [(plot) => this.mark(plot)] },
      series: [{}, ...series.map((each) => ({
        label: each.name, stroke: each.stroke, width: each.style === "filled" ? 1.5 : 2, spanGaps: !each.hasGaps,
        // One instant alone makes no line.
        points: { show: ({ data }) => data[0].length === 1, size: 6 },
        fill: each.style === "stacked" ? each.stroke : each.style === "filled" ? `${palette.faint}33` : undefined, dash: each.style === "dashed" ? [6, 4] : undefined,
      }))],
    };
  }
}

// The values in the words of a series: of an area that stands on others its own height.
const valuesOf = ({ told, ys }) => told ?? ys;

function colourOf({ flow, index }, palette) {
  if (flow) return flowColour(palette, flow);
  return index === undefined ? palette.ink : palette.flows[index % palette.flows.length];
}

const dotted = [2, 4];

// The last point that is not later.
function placeOf(xs, seconds) {
  let low = 0, high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
