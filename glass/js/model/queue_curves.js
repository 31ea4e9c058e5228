// Curves of the resources that queues share: the memory, and the line.

import { fluidService } from "./fluid.js";
import { weightOf } from "./minds.js";
import { queueOf } from "./samples.js";

const SERIES_MAX = 8;

// The part of the shared buffer that each queue holds, stacked, and the limit of the chosen one.
export function bufferCurves({ model, focus }, samples) {
  const newest = samples.findLast((each) => each.shared_buffer?.size_bytes);
  if (!newest) return { note: "", series: [], why: "This router has no shared buffer." };
  const queues = newest.ports.flatMap(({ port, counters }) => counters.queues.map((each) => ({ port, class_: each.class })));
  const held = queues.map(({ port, class_ }) => samples.map((each) => queueOf(each, port, class_)?.held?.bytes ?? 0));
  const used = queues.map((each, index) => ({ ...each, told: held[index] })).filter(({ told }) => told.some(Boolean)).slice(0, SERIES_MAX);
  const hasSeveral = (port) => queues.filter((each) => each.port === port).length > 1;
  const stacked = used.map(({ port, class_, told }, index) => ({
    name: `port ${port}${hasSeveral(port) ? `, class ${class_}` : ""}`, index, told, style: "stacked",
    ys: told.map((_, at) => used.slice(0, index + 1).reduce((sum, each) => sum + each.told[at], 0)),
  }));
  const threshold = samples.map((each) => queueOf(each, focus.port, focus.class)?.threshold_bytes ?? null);
  const moving = threshold.some((each) => each !== null)
    ? [{ name: `threshold of port ${focus.port}`, ys: threshold, style: "dashed", hasGaps: true }] : [];
  // The highest is painted first: what is below it covers it.
  return { note: "bytes; dashed: the threshold", series: [...stacked.toReversed(), ...moving], level: newest.shared_buffer.size_bytes };
}

// The bytes that each class of a port has sent since the beginning of a span, and the service of an ideal fluid scheduler.
export function serviceCurves({ model, focus }, samples) {
  const config = model.samples.configAt(samples.at(-1)?.time_ps ?? 0, focus.port);
  const classes = config?.queues.map((each) => each.class) ?? [];
  if (classes.length < 2 || !config.rate_bps) return { note: "", series: [], why: "Click a queue of a port that has several." };
  const told = (sample, class_) => queueOf(sample, focus.port, class_);
  const sentBy = (sample, class_) => told(sample, class_)?.counters?.departed?.bytes ?? 0;
  const heldBy = (sample, class_) => told(sample, class_)?.held?.bytes ?? 0;
  const [first] = samples;
  const arrivals = samples.slice(1).map((each, index) => ({
    seconds: (each.time_ps - samples[index].time_ps) / 1e12,
    // Arrivals are departures plus the growth of the queue.
    bytes: classes.map((class_) => Math.max(0, sentBy(each, class_) + heldBy(each, class_) - sentBy(samples[index], class_) - heldBy(samples[index], class_))),
  }));
  const fluid = fluidService({
    weights: classes.map((class_) => weightOf(config.scheduler, class_)), bytesPerSecond: config.rate_bps / 8,
    held: classes.map((class_) => heldBy(first, class_)), arrivals,
  });
  const series = classes.slice(0, SERIES_MAX).flatMap((class_, index) => [
    { name: `class ${class_}`, index, ys: samples.map((each) => sentBy(each, class_) - sentBy(first, class_)) },
    { name: `class ${class_}, fluid`, index, style: "dashed", ys: [0, ...fluid.map((each) => each[index])] },
  ]);
  return { note: `sent by port ${focus.port}; dashed: an ideal fluid scheduler`, series };
}

// DCTCP's estimate of the marked share, beside the marked share of delivered packets, over a window.
export function markingOf(hosts, fromPs, toPs, windowPs) {
  const all = hosts.series(fromPs, toPs, ({ algorithm }) => {
    const found = algorithm.find(({ name }) => name === "alpha_1024ths");
    return found ? found.value / 1024 : null;
  });
  const alpha = new Map([...all].filter(([, { ys }]) => ys.some((each) => each !== null)));
  const [delivered, marked] = ["delivered", "delivered_ce"].map((name) => hosts.series(fromPs - windowPs, toPs, (each) => each[name]));
  const fraction = new Map([...delivered].filter(([number]) => alpha.has(number)).map(([number, { xs, ys }]) => {
    const ces = marked.get(number).ys, points = { xs: [], ys: [] };
    let before = 0;
    xs.forEach((x, index) => {
      while (xs[before + 1] <= x - windowPs / 1e12) before++;
      if (x < fromPs / 1e12 || index === before) return;
      points.xs.push(x);
      points.ys.push((ces[index] - ces[before]) / Math.max(1, ys[index] - ys[before]));
    });
    return [number, points];
  }));
  return [["alpha", alpha], ["marked", fraction, "dashed"]];
}
