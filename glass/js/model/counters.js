// Any number in Describe's answer, by a path people can read: "port 2 / counters / queue 0 / held / packets". The
// elements of a list are named: by port, class or reason.

import { bytes, count, percent, rate, span } from "../words.js";
import { CPU_PORT } from "./samples.js";
import { within } from "./order.js";

const KEYS = ["port", "class", "reason", "output", "input", "up_to_ps"];
// Words for lists, one element of which is meant.
const ONE = { ports: "port", queues: "queue", inputs: "input", dropped: "dropped", voqs: "VOQ to", transfers: "transfer",
              buckets: "up to", nodes: "node" };
const SEPARATOR = " / ";
const POINTS_MAX = 600;

// Every number that there is, as [path]; configurations are no counters.
export function counterPaths(about) {
  const found = [];
  walk(about, [], (path) => found.push(path.join(SEPARATOR)));
  return found;
}

function walk(value, path, take) {
  if (typeof value === "number") return take(path);
  if (Array.isArray(value)) return undefined;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "config" || KEYS.includes(name) || name === "time_ps" || name === "buckets") continue;
    if (Array.isArray(inner)) {
      for (const [index, each] of inner.entries()) walk(each, [...path, labelOf(name, each, index)], take);
    } else walk(inner, [...path, name], take);
  }
  return undefined;
}

function labelOf(name, element, index) {
  const key = KEYS.find((each) => element !== null && typeof element === "object" && each in element);
  const which = key ? element[key] : index;
  return key === "port" && which === CPU_PORT ? "CPU port" : `${ONE[name] ?? name} ${which}`;
}

// The number at a path; undefined: it is not there.
export function numberAt(message, path) {
  let value = message;
  for (const part of path.split(SEPARATOR)) {
    if (value === undefined || value === null || typeof value !== "object") return undefined;
    if (part in value) value = value[part];
    else {
      value = Object.entries(value).filter(([, inner]) => Array.isArray(inner))
        .flatMap(([name, inner]) => inner.map((each, index) => [labelOf(name, each, index), each]))
        .find(([label]) => label === part)?.[1];
    }
  }
  return typeof value === "number" ? value : undefined;
}

// The unit of a counter, by the end of its name.
const UNITS = [[/bytes$/, bytes], [/bps$/, rate], [/_ps$/, (value) => span(value / 1e12)], [/_ns$/, (value) => span(value / 1e9)],
               [/permille$/, (value) => percent(value / 1000)], [/packets$/, (value) => `${count(Math.round(value))} packets`]];

export function unitOf(path) {
  return UNITS.find(([ends]) => ends.test(path))?.[1] ?? ((value) => count(Math.round(value)));
}

// Samples have the counters that change quickly; all others are as frequent as answers of Describe.
export function counterSeries(samples, path, { longPs, toPs }) {
  const inSpan = (list) => within(list, longPs, toPs, POINTS_MAX);
  const sampled = inSpan(samples.list);
  const isSampled = sampled.some((each) => numberAt(each, path) !== undefined);
  const list = isSampled ? sampled : inSpan(samples.abouts);
  return {
    note: path, isLong: true, xs: list.map((each) => each.time_ps / 1e12),
    series: [{ name: path, index: 0, ys: list.map((each) => numberAt(each, path) ?? null) }],
  };
}
