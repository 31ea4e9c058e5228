// What the hosts of a virtual world told: their connections by time, and what their applications saw.

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
    if (message.sample) this.samples.push(message.sample);
    this.toldPs = Math.max(this.toldPs, message.complete_until_ps, message.sample?.time_ps ?? 0);
  }

  forget(beforePs) {
    let old = 0;
    while (old < this.samples.length && this.samples[old].time_ps < beforePs) old++;
    if (old > 256) this.samples.splice(0, old);
    this.events = this.events.filter((each) => each.time_ps >= beforePs);
  }

  // A number of each sending connection over a span: Map of flow number -> {xs, ys}; `of` takes it from
  // a Connection.
  series(fromPs, toPs, of) {
    const found = new Map();
    for (const sample of this.samples) {
      if (sample.time_ps < fromPs || sample.time_ps > toPs) continue;
      for (const host of sample.hosts) {
        for (const connection of host.connections) {
          if (connection.data_segs_in > connection.segs_out / 2) continue;
          const flow = this.flows.between(connection.local, connection.peer);
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
