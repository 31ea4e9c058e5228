// A page's history stays bounded, however long the page is open.

import { placeAfter, thin, within } from "../../glass/js/model/order.js";
import { Flows, namesAmong } from "../../glass/js/model/flows.js";
import { Hosts } from "../../glass/js/model/hosts.js";
import { sharesOf, sizeOf } from "../../glass/js/model/memory.js";
import { RouterModel } from "../../glass/js/model/router.js";
import { holds, same } from "./check.js";

const at = (...times) => times.map((time_ps) => ({ time_ps }));

export function an_instant_is_found_in_a_list() {
  const list = at(10, 20, 20, 30);
  same([5, 10, 20, 25, 99].map((timePs) => placeAfter(list, timePs)), [0, 1, 3, 3, 4]);
  same(within(list, 20, 30), at(20, 20, 30));
  same(within(list, 11, 19), []);
  // Of many some, and always the last one.
  same(within(at(1, 2, 3, 4, 5, 6, 7), 1, 7, 3), at(1, 4, 7));
}

export function the_older_half_gets_coarser_and_what_matters_stays() {
  const list = at(0, 1, 2, 3, 4, 5, 6, 7);
  thin(list, 8);
  same(list.length, 8);
  thin(list, 6, ({ time_ps }) => time_ps === 3);
  same(list, at(0, 2, 3, 4, 5, 6, 7));
}

export function ten_minutes_of_samples_are_no_more_than_two() {
  const shares = sharesOf(1);
  const model = new RouterModel("s1", 0, new Flows(), shares);
  const ports = Array.from({ length: 64 }, (_, index) => ({ port: index + 1, counters: {} }));
  const hosts = new Hosts(new Flows(), shares.hosts);
  const connections = Array.from({ length: 20 }, () => ({ local: "10.0.1.1:1", peer: "10.0.2.1:2", bytes_sent: 2 ** 40, cwnd: 10 }));
  const lengths = [];
  for (let ms = 0; ms < 600_000; ms += 20) {
    model.take({ lost_events: 0, events: [], sample: { time_ps: ms * 1e9, ports, inputs: [] } });
    hosts.take({ events: [{ time_ps: ms * 1e9 }], complete_until_ps: 0,
                 sample: { time_ps: ms * 1e9, hosts: [{ connections }] } });
    if (ms === 120_000 || ms === 599_980) lengths.push([model.samples.list.length, hosts.samples.length, hosts.events.length]);
  }
  const [samples, told, events] = lengths[1], { list } = model.samples;
  lengths[0].slice(0, 2).forEach((before, index) => holds(lengths[1][index] <= before * 2, `${before} became ${lengths[1][index]}`));
  holds(samples * sizeOf(list.at(-1)) <= shares.samples, `${samples} samples are more than their share`);
  holds(told * sizeOf(hosts.samples.at(-1)) + events * sizeOf(hosts.events.at(-1)) <= shares.hosts, "so is what hosts told");
  // The beginning is still there, and the end in full.
  same(model.samples.list[0].time_ps, 0);
  same(model.samples.list.at(-1).time_ps - model.samples.list.at(-2).time_ps, 2e10);
}

export function a_flow_that_is_long_gone_is_forgotten_and_the_others_keep_their_colours() {
  const flows = new Flows();
  const head = (port) => Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 1, 1,
                                          10, 0, 9, 1, port >> 8, port & 255, 20, 81]);
  const stays = flows.of(head(1), 0);
  for (let port = 2; port < 1000; port++) {
    flows.of(head(port), port);
    flows.of(head(1), port);
  }
  flows.forget(990);
  same(flows.of(head(1), 1000).number, stays.number);
  same(flows.byKey.size, 2 * 11);
  // One that comes back is a new one.
  same(flows.of(head(2), 1001).number, 999);
}

export function more_flows_than_can_be_kept_leave_the_newest() {
  const flows = new Flows();
  const head = (number) => Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 1, 1,
                                            10, 0, 9, 1, number >> 8, number & 255, 20, 81]);
  for (let number = 1; number <= 10_000; number++) {
    flows.of(head(number), number);
    flows.shrink();
  }
  holds(flows.byKey.size <= 2 * 4000, `${flows.byKey.size / 2} flows are remembered`);
  same([flows.of(head(10_000), 1e4).number, flows.of(head(1), 1e4).number], [9999, 10_000]);
}

export function flows_between_the_same_ends_are_told_apart_beside_each_other_and_only_there() {
  const flow = (number, name, protocol, sourcePort, targetPort) => ({ number, name, protocol, sourcePort, targetPort });
  const names = (...flows) => [...namesAmong(flows).values()];
  same(names(flow(0, "h1 → h2", 6, 40000, 5201), flow(1, "h1 → h3", 6, 40000, 5201)), ["h1 → h2", "h1 → h3"]);
  same(names(flow(0, "h1 → h2", 6, 40000, 5201), flow(1, "h1 → h2", 1, 0, 0)), ["h1 → h2, TCP", "h1 → h2, ICMP"]);
  same(names(flow(0, "h1 → h2", 6, 40000, 5201), flow(1, "h1 → h2", 6, 40001, 5202)), ["h1 → h2, TCP 5201", "h1 → h2, TCP 5202"]);
  // Two to one port differ by where they come from.
  same(names(flow(0, "h1 → h2", 6, 40000, 5201), flow(1, "h1 → h2", 6, 40001, 5201)), ["h1 → h2, TCP 40000", "h1 → h2, TCP 40001"]);
}
