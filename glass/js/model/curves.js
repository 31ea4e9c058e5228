// Each curve that the page can draw, from recorded samples and events: pure, of a span of time.
//
//   curves(kind, sources, span) -> {note, xs, series: [{name, ys, flow, index, style}], level, unit}
//
// sources: {model, hosts, flows, focus, isKnown}; `focus` is the queue that was clicked
// span:    {fromPs, toPs, longPs}: the window, and how far back rates look at least
// kind:    a name of KINDS, or {counter: path} as `counters.js` lists them
//
// xs are seconds; a series is of a flow (its colour) or has an index of its own. `style`: "dashed", or "stacked" for an
// area that stands on others, whose own values are `told`;
// `hasGaps`: where it has no value, its line ends.

import { bytes, percent, rate, reasonWords, span as spanWords } from "../words.js";
import { counterSeries, unitOf } from "./counters.js";
import { namesAmong } from "./flows.js";
import { depthSeries, throughputSeries } from "./series.js";
import { bufferCurves, markingOf, serviceCurves } from "./queue_curves.js";
import { queueOf, RATE_WINDOW_PS, WINDOW_WORDS } from "./samples.js";
import { within as between } from "./order.js";

export const KINDS = {
  depth: "Depth of a queue",
  bytes: "Bytes in a queue",
  voqs: "Depth of each VOQ",
  flows: "Throughput of each flow",
  lines: "Throughput of each line",
  windows: "Congestion windows",
  rtt: "Round-trip times",
  pacing: "Pacing and delivery rates",
  pings: "Pings",
  drops: "Drops by reason",
  delays: "Waiting times",
  buffer: "The shared buffer",
  service: "Service of each class",
  marking: "DCTCP's alpha",
};

// Curves of hosts: shown only where hosts report them.
export const OF_HOSTS = new Set(["windows", "rtt", "pacing", "pings", "marking"]);

const PARTS = 60;
const SERIES_MAX = 8;
const WAITS_MAX = 5000;
// More points than this are closer than a curve is wide.
const POINTS_MAX = 600;
// A gap between samples is longer than `GAP_LEAST_S`, and than `GAP_TIMES` the usual one.
const GAP_LEAST_S = 1.5, GAP_TIMES = 10;
const PERCENTILES = [50, 90, 99];
export const packets = (value) => (Math.abs(value) >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1));

export function curves(kind, sources, span) {
  if (typeof kind === "object") return { ...counterSeries(sources.model.samples, kind.counter, span), unit: unitOf(kind.counter) };
  return DRAWN[kind](sources, span);
}

// The depth of a queue over time, in packets or bytes.
function depthOf({ model, focus, isKnown }, { fromPs, toPs }, name, shape) {
  const drawn = (xs, ys, hasGaps) => ({ ...shape, note: focus.name, xs, series: [{ name, ys, style: "filled", hasGaps }] });
  if (isKnown) {
    const { insides } = model;
    const track = (name === "bytes" ? insides.depthsBytes : insides.depths).get(focus.key);
    return drawn(...depthSeries(track, Math.max(fromPs, insides.curvesStartPs), toPs));
  }
  const samples = within(model.samples.list, fromPs, toPs);
  const held = focus.key.startsWith("input") ? (each) => each.inputs.find((one) => one.port === focus.port)?.held
    : (each) => queueOf(each, focus.port, focus.class)?.held;
  const [xs, ys] = parted(secondsOf(samples), samples.map((each) => held(each)?.[name] ?? 0));
  return drawn(xs, ys, true);
}

// The same points, with one without a value in each gap, so that no line crosses it.
function parted(xs, ys) {
  const gaps = xs.slice(1).map((x, index) => x - xs[index]);
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1];
  const isGap = (gap) => gap > Math.max(GAP_LEAST_S, GAP_TIMES * usual);
  const points = xs.flatMap((x, index) => [...(isGap(gaps[index - 1]) ? [[x - gaps[index - 1] / 2, null]] : []), [x, ys[index]]]);
  return [points.map(([x]) => x), points.map(([, y]) => y)];
}

function fullestInput(sample) {
  const held = (each) => each.held?.packets ?? 0;
  return sample?.inputs.toSorted((a, b) => held(b) - held(a))[0]?.port;
}

const DRAWN = {
  // In bytes where only those are limited.
  depth(sources, span) {
    const { focus } = sources;
    if (!focus.limit && focus.limitBytes) return DRAWN.bytes(sources, span);
    return depthOf(sources, span, "packets", { level: focus.limit, unit: packets });
  },

  bytes(sources, span) {
    return depthOf(sources, span, "bytes", { level: sources.focus.limitBytes, unit: bytes });
  },

  // Of the input that was clicked, or of the one that holds the most: a line for each output that packets waited for.
  voqs({ model, focus }, { fromPs, toPs }) {
    const samples = within(model.samples.list, fromPs, toPs);
    const port = focus.key.startsWith("input") ? focus.port : fullestInput(samples.at(-1));
    const voqsOf = (each) => each.inputs.find((one) => one.port === port)?.voqs ?? [];
    const held = (each, to) => voqsOf(each).reduce((sum, { output, held: tally }) => sum + (output === to ? tally?.packets ?? 0 : 0), 0);
    const outputs = [...new Set(samples.flatMap((each) => voqsOf(each).map(({ output }) => output)))].sort((a, b) => a - b);
    const series = outputs.slice(0, SERIES_MAX).map((output, index) =>
      ({ name: `to ${output}`, index, hasGaps: true, ys: samples.map((each) => held(each, output)) }));
    return { note: port === undefined ? "" : `input ${port}`, xs: secondsOf(samples), series, unit: packets,
             why: "Nothing waited in a virtual output queue." };
  },

  flows({ model, hosts, flows, isKnown }, { fromPs, longPs, toPs }) {
    if (!isKnown) return acknowledged(hosts, flows, passingIn(model, longPs, toPs), longPs, toPs);
    const { xs, byFlow } = throughputSeries(model.insides, fromPs, toPs, PARTS);
    const names = namesAmong([...byFlow.keys()].map((number) => flows.list[number]).filter(Boolean));
    const series = [...byFlow].slice(0, SERIES_MAX).map(([number, ys]) =>
      ({ name: names.get(number) ?? "other", flow: flows.list[number] ?? flows.unknown, ys, hasGaps: true }));
    return { note: WINDOW_WORDS, xs, series, unit: rate };
  },

  lines({ model }, { longPs, toPs }) {
    const samples = within(model.samples.list, longPs, toPs);
    const ports = (model.samples.list.at(-1)?.ports ?? []).filter((each) => each.port < 510).slice(0, SERIES_MAX);
    const series = ports.map(({ port }, index) => ({
      name: `port ${port}`, index, hasGaps: true,
      ys: samples.map((each) => model.samples.rateAt(each.time_ps, port) ?? null),
    }));
    return { note: `out of each port, ${WINDOW_WORDS}`, xs: secondsOf(samples), series, unit: rate, isLong: true };
  },

  windows({ hosts, flows }, { longPs, toPs }) {
    return ofHosts(hosts, flows, longPs, toPs, packets, "packets; dashed: ssthresh",
                   [["", (each) => each.cwnd], ["ssthresh", (each) => each.ssthresh, "dashed"]]);
  },

  rtt({ hosts, flows }, { longPs, toPs }) {
    return ofHosts(hosts, flows, longPs, toPs, spanWords, "smoothed; dashed: the shortest",
                   [["", (each) => seconds(each.rtt_ps)], ["shortest", (each) => seconds(each.minrtt_ps), "dashed"]]);
  },

  pacing({ hosts, flows }, { longPs, toPs }) {
    return ofHosts(hosts, flows, longPs, toPs, rate, "delivered; dashed: paced to",
                   [["", (each) => each.delivery_rate_bps], ["paced", (each) => each.pacing_rate_bps, "dashed"]]);
  },

  marking({ hosts, flows }, { longPs, toPs }) {
    const told = markingOf(hosts, longPs, toPs, RATE_WINDOW_PS);
    return { ...drawnOfHosts(flows, told, percent, `dashed: marked, ${WINDOW_WORDS}`), why: "No flow runs DCTCP." };
  },

  buffer(sources, { longPs, toPs }) {
    const samples = within(sources.model.samples.list, longPs, toPs);
    return { ...bufferCurves(sources, samples), xs: secondsOf(samples), unit: bytes, isLong: true };
  },

  service(sources, { fromPs, toPs }) {
    const samples = within(sources.model.samples.list, fromPs, toPs);
    return { ...serviceCurves(sources, samples), xs: secondsOf(samples), unit: bytes };
  },

  // The round trip of each ping, at the instant of its answer.
  pings({ hosts }, { longPs, toPs }) {
    const echoes = within(hosts.events, longPs, toPs).filter((each) => each.kind === "echo");
    const apps = [...new Set(echoes.map((each) => each.app))];
    const series = apps.slice(0, SERIES_MAX).map((app, index) => ({
      name: apps.length > 1 ? `ping ${index + 1}` : "round trip", index,
      ys: echoes.map((each) => (each.app === app ? each.echo.rtt_ps / 1e12 : null)),
    }));
    return { note: "round trips", xs: secondsOf(echoes), series, unit: spanWords, isLong: true };
  },

  // All that ended in the queues and inputs of the router, since the beginning of the span.
  drops({ model }, { longPs, toPs }) {
    const samples = within(model.samples.list, longPs, toPs);
    const counts = samples.map(lostByReason);
    const reasons = [...new Set(counts.flatMap((each) => [...each.keys()]))];
    const series = reasons.slice(0, SERIES_MAX).map((reason, index) => {
      const first = counts[0]?.get(reason) ?? 0;
      return { name: reasonWords(reason), index, ys: counts.map((each) => (each.get(reason) ?? 0) - first) };
    });
    return { note: "packets, in this span", xs: secondsOf(samples), series, unit: packets, isLong: true };
  },

  // The waiting times of packets that left the queue: of single packets in parts of the span; without them from the
  // histograms of two answers of Describe.
  delays({ model, isKnown, focus }, { longPs, toPs }) {
    const found = isKnown ? waitsOfPackets(model.insides.waits.get(focus.key), Math.max(longPs, model.insides.curvesStartPs), toPs)
      : waitsOfHistograms(model.samples.abouts, focus, longPs, toPs);
    const series = PERCENTILES.map((percent, index) => ({
      name: `${percent} %`, index, ys: found.rows.map((row) => row?.[index] ?? null),
    }));
    return { note: `${focus.name}, percentiles`, xs: found.xs, series, unit: spanWords, isLong: true };
  },
};

const seconds = (ps) => (ps === undefined ? undefined : ps / 1e12);
const secondsOf = (list) => list.map((each) => each.time_ps / 1e12);

const within = (list, fromPs, toPs) => between(list, fromPs, toPs, POINTS_MAX);

// Numbers of connections as curves over instants that all of them share.
function ofHosts(hosts, flows, fromPs, toPs, unit, note, numbers) {
  return drawnOfHosts(flows, numbers.map(([name, of, style]) => [name, hosts.series(fromPs, toPs, of), style]), unit, note);
}

function drawnOfHosts(flows, told, unit, note) {
  const xs = [...new Set(told.flatMap(([, found]) => [...found.values()].flatMap((each) => each.xs)))].sort((a, b) => a - b);
  const names = namesAmong([...new Set(told.flatMap(([, found]) => [...found.keys()]))].map((number) => flows.list[number]).filter(Boolean));
  const series = told.flatMap(([name, found, style]) => [...found].slice(0, SERIES_MAX).map(([number, each]) => {
    const at = new Map(each.xs.map((x, index) => [x, each.ys[index]]));
    const flow = flows.list[number];
    return { name: `${names.get(number)}${name ? `, ${name}` : ""}`, flow, style,
             ys: xs.map((x) => at.get(x) ?? null) };
  })).filter((each) => each.ys.some((y) => y !== null));
  return { note, xs, series, unit, isLong: true };
}

// Without single packets, the hosts' reports about their own flows: acknowledged bits a second, of flows that pass this
// router as far as that is known.
function acknowledged(hosts, flows, passes, fromPs, toPs) {
  const all = [...hosts.series(fromPs, toPs, (each) => each.bytes_acked)];
  const here = all.filter(([number]) => passes.has(number));
  const rates = (here.length ? here : all).map(([number, each]) => [number, ratesOf(each, (toPs - fromPs) / PARTS / 1e12)]);
  const drawn = drawnOfHosts(flows, [["", new Map(rates)]], rate, "acknowledged, as hosts tell it");
  return { ...drawn, why: "Single packets are not told here, and no host tells of its TCP." };
}

// Of a growing count of bytes, {xs, ys}: bits a second, in parts of at least `width` seconds that are the same for all flows.
function ratesOf({ xs, ys }, width) {
  const kept = [...xs.keys()].filter((index) => index === 0 || Math.floor(xs[index] / width) !== Math.floor(xs[index - 1] / width));
  return {
    xs: kept.slice(1).map((index) => xs[index]),
    ys: kept.slice(1).map((index, place) => (8 * (ys[index] - ys[kept[place]])) / (xs[index] - xs[kept[place]])),
  };
}

// The numbers of flows that waited in a router.
function passingIn({ samples }, fromPs, toPs) {
  return new Set(within(samples.list, fromPs, toPs).flatMap((each) => (each.flows ?? []).map(({ flow }) => flow.number)));
}

export function lostByReason(sample) {
  const found = new Map();
  const counters = [...sample.ports.map((each) => each.counters.counters), ...sample.inputs.map((each) => each.counters)];
  for (const each of counters) {
    for (const { reason, tally } of each?.dropped ?? []) found.set(reason, (found.get(reason) ?? 0) + tally.packets);
  }
  return found;
}

function waitsOfPackets(waits, fromPs, toPs) {
  const width = (toPs - fromPs) / PARTS;
  const parts = Array.from({ length: PARTS }, () => []);
  const from = waits?.after(fromPs) ?? 0, to = waits?.after(toPs) ?? 0;
  // Of very many some: percentiles of a sample.
  const stride = Math.max(1, Math.ceil((to - from) / WAITS_MAX));
  for (let index = from; index < to; index += stride) {
    const part = Math.min(PARTS - 1, Math.floor((waits.times[index] - fromPs) / width));
    parts[part].push(waits.values[index] / 1e12);
  }
  const xs = parts.map((_, index) => (fromPs + width * (index + 0.5)) / 1e12);
  return { xs, rows: parts.map(percentilesOf) };
}

// Nearest rank: of 100 the 90th is the 90th smallest.
export function percentilesOf(waits) {
  if (!waits.length) return undefined;
  const sorted = waits.toSorted((a, b) => a - b);
  return PERCENTILES.map((percent) => sorted[Math.ceil((percent / 100) * sorted.length) - 1]);
}

function waitsOfHistograms(abouts, focus, fromPs, toPs) {
  const xs = [], rows = [];
  for (let index = 1; index < abouts.length; index++) {
    const [before, after] = [abouts[index - 1], abouts[index]];
    if (after.time_ps < fromPs || after.time_ps > toPs) continue;
    xs.push(after.time_ps / 1e12);
    rows.push(percentilesBetween(bucketsOf(before, focus), bucketsOf(after, focus)));
  }
  return { xs, rows };
}

function bucketsOf(about, { key, port, class: class_ }) {
  const place = key.startsWith("input") ? about.inputs.find((each) => each.port === port) : queueOf(about, port, class_);
  return new Map((place?.residence?.buckets ?? []).map(({ up_to_ps: to, count }) => [to, count]));
}

function percentilesBetween(before, after) {
  const rows = [...after].map(([to, count]) => [to, count - (before.get(to) ?? 0)]).filter(([, count]) => count > 0);
  rows.sort(([a], [b]) => a - b);
  const all = rows.reduce((sum, [, count]) => sum + count, 0);
  if (!all) return undefined;
  return PERCENTILES.map((percent) => {
    let left = Math.ceil((percent / 100) * all);
    return rows.find(([, count]) => (left -= count) <= 0)[0] / 1e12;
  });
}
