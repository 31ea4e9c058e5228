// Curves beside the picture, of the same instants: the depth of one queue, and what each flow gets.

import uPlot from "../../vendor/uPlot.esm.js";
import { depthSeries, throughputSeries } from "../model/series.js";
import { queueOf } from "../model/samples.js";
import { flowColour } from "../draw/palette.js";
import { rate } from "../words.js";
import { element, setText } from "./dom.js";

const HEIGHT = 132;
// How much is to be seen at once, in seconds of the viewer at the pace of the moment.
const WINDOW_S = 12;
// A rate needs some packets to be one: what flows get is drawn over this long at least.
const RATE_WINDOW_S = 1;
const PARTS = 60;
const FLOWS_MAX = 8;

export class Charts {
  // `onSeek(seconds)` when an instant of a curve is clicked.
  constructor(onSeek) {
    this.onSeek = onSeek;
    this.depth = new Chart("Depth of a queue", HEIGHT, onSeek);
    this.through = new Chart("Throughput of each flow", HEIGHT, onSeek);
    this.window = new Chart("Congestion windows", HEIGHT, onSeek);
    this.node = element("section", { class: "charts", "aria-label": "Charts" },
      this.depth.node, this.through.node);
  }

  // What hosts have in mind, where they tell it.
  showHosts({ hosts, model, timePs, pace, palette }) {
    if (!this.window.node.isConnected) this.node.append(this.window.node);
    const span = Math.max(RATE_WINDOW_S, WINDOW_S * pace) * 1e12;
    const fromPs = Math.max(model.startPs, timePs - span);
    const found = hosts.series(fromPs, timePs, (connection) => connection.cwnd);
    const xs = [...new Set([...found.values()].flatMap((each) => each.xs))].sort((a, b) => a - b);
    const series = [...found].slice(0, FLOWS_MAX).map(([number, each]) => {
      const at = new Map(each.xs.map((x, index) => [x, each.ys[index]]));
      return { name: hosts.flows.list[number].name, width: 2, stroke: flowColour(palette, { number }),
               ys: xs.map((x) => at.get(x) ?? null) };
    });
    this.window.draw({ title: "packets", xs, series, unit: packets },
                     [fromPs / 1e12, Math.max(timePs, fromPs + span) / 1e12], palette);
  }

  // `focus` is the queue to show: {key, name, port, class, limit}.
  show({ model, timePs, pace, palette, focus, isKnown }) {
    // At the beginning the curves start at the left and grow.
    const span = WINDOW_S * pace * 1e12;
    const fromPs = Math.max(model.startPs, timePs - span);
    const toPs = timePs;
    const view = [fromPs / 1e12, Math.max(toPs, fromPs + span) / 1e12];
    if (!isKnown) {
      this.depth.draw(this.sampled(model, focus, fromPs, toPs, palette), view, palette);
      this.through.draw(this.linesSampled(model, fromPs, toPs, palette), view, palette);
      return;
    }
    const begin = Math.max(fromPs, model.insides.startPs);
    const [xs, ys] = depthSeries(model.insides, focus.key, begin, toPs);
    const series = [{ name: "packets", stroke: palette.ink, fill: `${palette.faint}33`, ys }];
    this.depth.draw({ title: focus.name, xs, series, level: focus.limit, unit: packets }, view, palette);
    const longPs = Math.max(span, RATE_WINDOW_S * 1e12);
    const firstPs = Math.max(model.insides.startPs, timePs - longPs);
    const found = throughputSeries(model.insides, firstPs, toPs, PARTS);
    const wide = [firstPs / 1e12, Math.max(toPs, firstPs + longPs) / 1e12];
    const flows = [...found.byFlow].slice(0, FLOWS_MAX).map(([number, each]) => ({
      name: model.flows.list[number]?.name ?? "other", ys: each,
      stroke: flowColour(palette, { number }), width: 2,
    }));
    this.through.draw({ title: "", xs: found.xs, series: flows, unit: rate }, wide, palette);
  }

  sampled(model, focus, fromPs, toPs, palette) {
    const samples = within(model.samples.list, fromPs, toPs);
    const ys = samples.map((each) => queueOf(each, focus.port, focus.class)?.held?.packets ?? 0);
    return { title: focus.name, xs: samples.map((each) => each.time_ps / 1e12), level: focus.limit,
             unit: packets, series: [{ name: "packets", stroke: palette.ink, fill: `${palette.faint}33`, ys }] };
  }

  // Without single packets: what left by each port.
  linesSampled(model, fromPs, toPs, palette) {
    const samples = within(model.samples.list, fromPs, toPs);
    const ports = (model.samples.list.at(-1)?.ports ?? []).filter((each) => each.port < 510);
    const series = ports.slice(0, FLOWS_MAX).map((each, index) => ({
      name: `port ${each.port}`, stroke: palette.flows[index % palette.flows.length], width: 2,
      ys: samples.map((sample) => model.samples.rateAt(sample.time_ps, each.port)),
    }));
    return { title: "by port", xs: samples.map((each) => each.time_ps / 1e12), series, unit: rate };
  }
}

const packets = (value) => String(Math.round(value));

function within(list, fromPs, toPs) {
  return list.filter((each) => each.time_ps >= fromPs && each.time_ps <= toPs);
}

// A titled plot. uPlot takes its series when it is made, so it is made anew when these change.
class Chart {
  constructor(title, height, onSeek) {
    this.heading = element("span", {});
    this.value = element("span", {});
    this.place = element("div", { role: "img", "aria-label": title });
    this.node = element("div", { class: "chart" },
      element("h2", {}, title, this.heading, this.value), this.place);
    this.height = height;
    this.onSeek = onSeek;
    this.shape = "";
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  resize() {
    if (this.place.clientWidth) this.plot?.setSize({ width: this.place.clientWidth, height: this.height });
  }

  draw({ title, xs, series, level, unit }, view, palette) {
    setText(this.heading, title);
    const names = series.map((each) => `${each.name} ${each.stroke}`);
    const shape = JSON.stringify([names, Boolean(level), palette.ink]);
    const all = level ? [...series, levelSeries(level, xs.length, palette)] : series;
    const data = [xs, ...all.map((each) => each.ys)];
    const last = series.length === 1 ? unit(series[0].ys.at(-1) ?? 0) : "";
    setText(this.value, level && last ? `${last} of ${level}` : last);
    if (shape !== this.shape) {
      this.plot?.destroy();
      this.shape = shape;
      this.plot = new uPlot(this.options(all, unit, palette), data, this.place);
      this.plot.over.addEventListener("click", () => {
        const at = this.plot.posToVal(this.plot.cursor.left, "x");
        if (Number.isFinite(at)) this.onSeek(at);
      });
    }
    this.view = view;
    this.top = Math.max(level ?? 0, ...series.flatMap((each) => each.ys), 1) * 1.08;
    this.plot.setData(data, false);
    this.plot.batch(() => {
      this.plot.setScale("x", { min: view[0], max: view[1] });
      this.plot.setScale("y", { min: 0, max: this.top });
    });
  }

  options(series, unit, palette) {
    const axis = { stroke: palette.faint, grid: { stroke: palette.wire, width: 1 }, ticks: { show: false },
                   font: "11px system-ui, sans-serif" };
    return {
      width: Math.max(80, this.place.clientWidth), height: this.height,
      legend: { show: false }, cursor: { y: false, sync: { key: "glass" } },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      axes: [
        { ...axis, size: 24, gap: 3, values: (_, all) => all.map((each) => short(each, all)) },
        { ...axis, size: 64, values: (_, all) => all.map((each) => unit(each)) },
      ],
      series: [{}, ...series.map((each) => ({
        label: each.name, stroke: each.stroke, fill: each.fill, width: each.width ?? 1.5, dash: each.dash,
        points: { show: false },
      }))],
    };
  }
}

function levelSeries(level, length, palette) {
  return { name: "limit", stroke: palette.alarm, dash: [6, 4], width: 1.5, ys: new Array(length).fill(level) };
}

// Seconds with as many digits as tell neighbours apart.
function short(value, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : 1;
  return value.toFixed(Math.min(7, Math.max(0, Math.ceil(-Math.log10(step)))));
}
