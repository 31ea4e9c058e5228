// The reports of a virtual world's hosts: their connections by time, and the events of their applications.

import { MeanSize } from "./memory.js";
import { placeAfter, thin, within } from "./order.js";

// The events' share of the memory.
const EVENTS_SHARE = 0.25;
// The least that is remembered, however large each is.
const LEAST = 16;
const POINTS_MAX = 600;
// A connection that has sent less, such as iperf3's for its control, has no window to speak of.
const FIRST_WINDOW_BYTES = 15_000;

export class Hosts {
  // `bytesMax`: the limit for remembered data, in bytes of the heap.
  constructor(flows, bytesMax = Infinity) {
    this.flows = flows;
    this.bytesMax = bytesMax;
    this.samples = [];
    this.events = [];
    this.size = new MeanSize();
    this.eventSize = new MeanSize();
    this.toldPs = 0;
  }

  // A message of WatchHosts.
  take(message) {
    let most = Infinity;
    for (const event of message.events) {
      this.events.push(event);
      most = (EVENTS_SHARE * this.bytesMax) / this.eventSize.take(event);
    }
    if (this.events.length > most) this.events.splice(0, this.events.length - most / 2);
    if (message.sample) this.remember(message.sample);
    this.toldPs = Math.max(this.toldPs, message.complete_until_ps, message.sample?.time_ps ?? 0);
  }

  remember(sample) {
    this.samples.push(sample);
    thin(this.samples, Math.max(LEAST, ((1 - EVENTS_SHARE) * this.bytesMax) / this.size.take(sample)));
  }

  forget(beforePs) {
    const old = placeAfter(this.samples, beforePs) - 1;
    if (old > 256) this.samples.splice(0, old);
    const past = placeAfter(this.events, beforePs);
    if (past > 256) this.events.splice(0, past);
  }

  // A number of each sending connection over a span: Map of flow number -> {xs, ys}; `of` takes it from
  // a Connection.
  series(fromPs, toPs, of) {
    const found = new Map();
    for (const sample of within(this.samples, fromPs, toPs, POINTS_MAX)) {
      for (const host of sample.hosts) {
        for (const connection of host.connections) {
          if (connection.data_segs_in > connection.segs_out / 2 || connection.bytes_sent < FIRST_WINDOW_BYTES) continue;
          const flow = this.flows.between(connection.local, connection.peer)
            ?? (connection.bytes_sent > connection.bytes_received ? this.flows.begun(connection.local, connection.peer) : undefined);
          if (!flow || flow.reverse) continue;
          if (!found.has(flow.number)) found.set(flow.number, { xs: [], ys: [] });
          const series = found.get(flow.number);
          series.xs.push(sample.time_ps / 1e12);
          series.ys.push(of(connection));
        }
      }
    }
    return found;
  }
}
