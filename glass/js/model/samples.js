// The samples of a router over time: depths, counters and what follows from two of them.

import { placeAfter, thin } from "./order.js";

// Rates are taken over this long, so that they can be read.
const RATE_WINDOW_PS = 500e9;
// What is remembered of a router of any size: so many ports' samples. Each is one or two kilobytes.
const PORT_SAMPLES_MAX = 60_000;
const ABOUTS_MAX = 120;

export class Samples {
  constructor() {
    this.list = [];
    // Everything told by Describe, by when it was true.
    this.abouts = [];
  }

  take(sample) {
    this.list.push(sample);
    thin(this.list, PORT_SAMPLES_MAX / Math.max(1, sample.ports.length));
  }

  // What Describe said: the configuration holds from this instant on.
  describe(about) {
    // Time may stand between two readings.
    if (this.abouts.at(-1)?.time_ps === about.time_ps) this.abouts.pop();
    this.abouts.push(about);
    // When something was set is not forgotten.
    thin(this.abouts, ABOUTS_MAX, (each, before) => before && settingsOf(each) !== settingsOf(before));
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

  // Bits a second that left by a port, or by one of its queues, over the last half second.
  rateAt(timePs, port, class_) {
    return this.bitsAt(timePs, (sample) => departed(sample, port, class_));
  }

  // Bits a second that came out of the line to a port.
  receivedAt(timePs, port) {
    return this.bitsAt(timePs, (sample) => portOf(sample, port)?.receive_line?.delivered?.bytes ?? 0);
  }

  // How busy that line was, from 0 to 1; 0 where it has no rate.
  receivingAt(timePs, port) {
    const config = this.aboutAt(timePs)?.ports.find((each) => each.port === port)?.config;
    const rate = config?.link?.sender?.rate_bps ?? config?.rate_bps;
    return rate ? Math.min(1, this.receivedAt(timePs, port) / rate) : 0;
  }

  bitsAt(timePs, bytesOf) {
    const now = this.at(timePs);
    const before = this.list[Math.max(0, place(this.list, timePs - RATE_WINDOW_PS))];
    if (!now || !before || now === before) return 0;
    return (Math.max(0, bytesOf(now) - bytesOf(before)) * 8) / ((now.time_ps - before.time_ps) / 1e12);
  }
}

export function portOf(sample, port) {
  return sample && found(sample.ports, "port", port, port - 1)?.counters;
}

export function queueOf(sample, port, class_) {
  return found(portOf(sample, port)?.queues ?? [], "class", class_, class_);
}

// What is set of a router, as text: the same as long as nobody changes it.
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
