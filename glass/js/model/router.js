// One router as the page knows it: everything that it has told, by time.

import { Insides, input, queue } from "./insides.js";
import { placeAfter, thin } from "./order.js";
import { Samples } from "./samples.js";

// The bytes of a note on the heap.
const NOTE_BYTES = 120;

export class RouterModel {
  // `shares`: the limit of each store, as `sharesOf` divides the memory. Stores without a share are
  // not bounded.
  constructor(name, deviceId, flows, shares = {}) {
    this.name = name;
    this.deviceId = deviceId;
    this.flows = flows;
    this.samples = new Samples(shares.samples, shares.abouts);
    this.insides = new Insides(flows, shares.packets, shares.curves);
    // Drops, marks and lines that went down, for the bar of time: {timePs, kind}.
    this.notes = [];
    this.notesMax = (shares.notes ?? Infinity) / NOTE_BYTES;
    // All reports until this instant have arrived.
    this.toldPs = 0;
    this.lostEvents = 0;
    this.missedSamples = 0;
    // Whether single packets are reported, or depths only.
    this.knowsPackets = false;
    // It has more packets than it can report one by one.
    this.isTooFast = false;
    // Time passes too fast for single packets: they are not requested.
    this.isHurried = false;
    // Until when; a recording has single packets for a part of its time only.
    this.packetsUntilPs = Infinity;
    // Spans in which a live router told depths only: [from, to].
    this.gaps = [];
    this.epochOffsetNs = 0;
  }

  // A watch begins: with packets again, or without.
  noteGap(timePs) {
    if (!this.knowsPackets) this.gapFromPs ??= this.insides.lastPs;
    else if (this.gapFromPs !== undefined) {
      this.gaps.push([this.gapFromPs, timePs]);
      this.gapFromPs = undefined;
    }
  }

  // A message of Watch.
  take(message) {
    if (message.start) {
      this.epochOffsetNs = message.start.epoch_offset_ns;
      this.noteGap(message.start.time_ps);
      this.insides.start(message.start);
      this.toldPs = Math.max(this.toldPs, message.start.time_ps);
    }
    this.lostEvents += message.lost_events;
    for (const event of message.events) {
      if (event.kind === "drop" || event.kind === "mark" || event.kind === "link") {
        // Not the event itself: its first bytes are a slice of the message, and would keep all of it.
        this.notes.push({ timePs: event.time_ps, kind: event.kind });
      } else if (event.kind === "overrun") {
        this.notes.push({ timePs: event.time_ps, kind: "overrun" });
      } else {
        this.insides.take(event);
      }
      this.toldPs = Math.max(this.toldPs, event.time_ps);
    }
    if (message.sample) {
      this.missedSamples += message.sample.missed ?? 0;
      this.samples.take({ ...message.sample, flows: this.shares(message.sample) });
      this.toldPs = Math.max(this.toldPs, message.sample.time_ps);
    }
    thin(this.notes, this.notesMax);
    if (message.complete_until_ps) this.toldPs = Math.max(this.toldPs, message.complete_until_ps);
  }

  // The flows whose packets waited in a sample: [{key, output, class, flow, packets, bytes}], `key` being the queue's
  // as in Insides.
  shares({ time_ps: timePs, flows = [] }) {
    return flows.map(({ place, head, held, ...told }) => {
      const { input: from, output, port, class: class_ } = told[place];
      const at = place === "filed" ? { key: input(from), output } : { key: queue(port, class_), output: port };
      return { ...at, class: class_, flow: this.flows.of(head, timePs), packets: held.packets, bytes: held.bytes };
    });
  }

  // A message of a Watch of packets alone, from a recording.
  takePackets(message) {
    if (!this.knowsPackets) this.packetsUntilPs = 0;
    this.knowsPackets = true;
    this.take(message);
    this.packetsUntilPs = Math.max(this.packetsUntilPs, message.events.at(-1)?.time_ps ?? 0);
  }

  // Whether it is known at an instant where each packet was.
  knowsPacketsAt(timePs) {
    // Known packets stay known when later ones are no longer sent.
    const untilPs = this.knowsPackets ? Infinity : this.gapFromPs ?? this.insides.lastPs;
    return timePs >= this.insides.startPs && timePs <= Math.min(untilPs, this.packetsUntilPs)
      && !this.gaps.some(([from, to]) => timePs > from && timePs < to);
  }

  get ports() {
    return this.samples.abouts.at(-1)?.ports.length ?? 1;
  }

  get startPs() {
    return this.samples.list[0]?.time_ps ?? this.insides.startPs;
  }

  forget(beforePs) {
    this.samples.forget(beforePs);
    this.insides.forget(beforePs);
    this.gaps = this.gaps.filter(([, to]) => to > beforePs);
    this.notes.splice(0, placeAfter(this.notes, beforePs, "timePs"));
  }
}
