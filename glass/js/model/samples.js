// The samples of a router over time: depths, counters and what follows from two of them.

import { span } from "../words.js";
import { MeanSize, sizeOf } from "./memory.js";
import { placeAfter, thin } from "./order.js";

// Every rate of the page is taken over this long: at lines, in charts, tables and lessons.
export const RATE_WINDOW_PS = 500e9;
export const WINDOW_WORDS = `over the last ${span(RATE_WINDOW_PS / 1e12)}`;
// The port of the controller.
export const CPU_PORT = 510;
// A sample may be taken a little later than it is due.
const SLACK_PS = 50e9;
const ABOUTS_MAX = 120;
// The least that is remembered, however large each is: rates need two samples.
const LEAST = 16;

export class Samples {
  // The limits for samples and for descriptions, in bytes of the heap.
  constructor(bytesMax = Infinity, aboutsBytesMax = Infinity) {
    Object.assign(this, { bytesMax, aboutsBytesMax });
    this.list = [];
    this.size = new MeanSize();
    // All answers of Describe, by their instants.
    this.abouts = [];
  }

  take(sample) {
    this.list.push(sample);
    thin(this.list, Math.max(LEAST, this.bytesMax / this.size.take(sample)));
  }

  // An answer of Describe: the configuration holds from this instant on.
  describe(about) {
    // Time may stand between two readings.
    if (this.abouts.at(-1)?.time_ps === about.time_ps) this.abouts.pop();
    this.abouts.push(about);
    // When something was set is forgotten last.
    const most = Math.max(LEAST, Math.min(ABOUTS_MAX, this.aboutsBytesMax / sizeOf(about)));
    thin(this.abouts, most, (each, before) => before && settingsOf(each) !== settingsOf(before));
    thin(this.abouts, 2 * most);
  }

  at(timePs) {
    return this.list[place(this.list, timePs)];
  }

  // The configuration in force at an instant; before the first one told, the first.
  aboutAt(timePs) {
    return this.abouts[place(this.abouts, timePs)] ?? this.abouts[0];
  }

  get newestPs() {
    return this.list.at(-1)?.time_ps ?? 0;
  }

  forget(beforePs) {
    const keep = place(this.list, beforePs);
    // Not one by one: moving what stays costs as much as what goes.
    if (keep > 256) this.list.splice(0, keep);
    const config = place(this.abouts, beforePs);
    if (config > 0) this.abouts.splice(0, config);
  }

  // Bits a second that left by a port, or by one of its queues, over the window before an instant; undefined as
  // long as the window is not full. A frame is counted when it begins, so the first and the last of a window may
  // be one too many: no line is said to carry more than it can.
  rateAt(timePs, port, class_) {
    return this.bitsAt(timePs, (sample) => departed(sample, port, class_), this.configAt(timePs, port)?.rate_bps);
  }

  // Bits a second that came out of the line to a port.
  receivedAt(timePs, port) {
    const config = this.configAt(timePs, port);
    return this.bitsAt(timePs, (sample) => portOf(sample, port)?.receive_line?.delivered?.bytes ?? 0,
                       config?.link?.sender?.rate_bps ?? config?.rate_bps);
  }

  configAt(timePs, port) {
    return this.aboutAt(timePs)?.ports.find((each) => each.port === port)?.config;
  }

  // How busy the line out of a port was, from 0 to 1; 0 where it has no rate.
  sendingAt(timePs, port) {
    const rate = this.configAt(timePs, port)?.rate_bps;
    return rate ? (this.rateAt(timePs, port) ?? 0) / rate : 0;
  }

  // How busy the line to it was; 0 where it has no rate.
  receivingAt(timePs, port) {
    const config = this.configAt(timePs, port);
    const rate = config?.link?.sender?.rate_bps ?? config?.rate_bps;
    return rate ? (this.receivedAt(timePs, port) ?? 0) / rate : 0;
  }

  bitsAt(timePs, bytesOf, mostBps) {
    const grown = this.grownAt(timePs, bytesOf);
    if (!grown) return undefined;
    const bits = (grown.by * 8) / grown.seconds;
    return mostBps ? Math.min(bits, mostBps) : bits;
  }

  // The growth of a counter in the window before an instant: between the last sample and the one a
  // window before it, or the next earlier one where samples are farther apart.
  grownAt(timePs, countOf) {
    const now = this.at(timePs);
    const before = now && this.at(now.time_ps - RATE_WINDOW_PS + SLACK_PS);
    if (!before || now === before) return undefined;
    return { by: Math.max(0, countOf(now) - countOf(before)), seconds: (now.time_ps - before.time_ps) / 1e12 };
  }
}

export function portOf(sample, port) {
  return sample && found(sample.ports, "port", port, port - 1)?.counters;
}

export function queueOf(sample, port, class_) {
  return found(portOf(sample, port)?.queues ?? [], "class", class_, class_);
}

// The settings of a router, as text: the same until one of them changes.
export function settingsOf(about) {
  if (!settings.has(about)) settings.set(about, JSON.stringify([about.input, about.buffer, about.ports.map(({ port, config }) => [port, config])]));
  return settings.get(about);
}

const settings = new WeakMap();

// Ports and classes mostly stand in order, without gaps.
function found(list, name, value, place) {
  return list[place]?.[name] === value ? list[place] : list.find((each) => each[name] === value);
}

// All reasons together.
export function droppedOf(counters) {
  return (counters?.dropped ?? []).reduce((sum, each) => sum + each.tally.packets, 0);
}

function departed(sample, port, class_) {
  const found = class_ === undefined ? portOf(sample, port) : queueOf(sample, port, class_);
  return found?.counters?.departed?.bytes ?? 0;
}

// The place of the last element that is not later than `timePs`; -1: there is none.
const place = (list, timePs) => placeAfter(list, timePs) - 1;
