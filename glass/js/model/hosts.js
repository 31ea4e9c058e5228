// What the hosts of a virtual world told: their connections by time, and what their applications saw.

import { placeAfter, thin, within } from "./order.js";

// What is remembered: so many connections' samples, of less than a kilobyte each, and so many events.
const CONNECTION_SAMPLES_MAX = 60_000;
const EVENTS_MAX = 20_000;
const POINTS_MAX = 600;
// A connection that has sent less, such as iperf3's for its control, has no window to speak of.
const FIRST_WINDOW_BYTES = 15_000;

export class Hosts {
  constructor(flows) {
    this.flows = flows;
    this.samples = [];
    this.events = [];
    this.toldPs = 0;
  }

  // A message of WatchHosts.
  take(message) {
    for (const event of message.events) this.events.push(event);
    if (this.events.length > EVENTS_MAX) this.events.splice(0, EVENTS_MAX / 2);
    if (message.sample) this.remember(message.sample);
    this.toldPs = Math.max(this.toldPs, message.complete_until_ps, message.sample?.time_ps ?? 0);
  }

  remember(sample) {
    this.samples.push(sample);
    const connections = sample.hosts.reduce((sum, each) => sum + each.connections.length, 0);
    thin(this.samples, CONNECTION_SAMPLES_MAX / Math.max(1, connections));
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
