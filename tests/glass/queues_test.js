// Memory and line that queues share: curves, tags and the ideal for comparison.

import { curves } from "../../glass/js/model/curves.js";
import { fluidService } from "../../glass/js/model/fluid.js";
import { Flows } from "../../glass/js/model/flows.js";
import { Hosts } from "../../glass/js/model/hosts.js";
import { Samples } from "../../glass/js/model/samples.js";
import { finishTags, tagWords } from "../../glass/js/model/tags.js";
import { holds, same } from "./check.js";

const MS = 1e9;
const span = (toMs) => ({ fromPs: 0, longPs: 0, toPs: toMs * MS });
const tally = (bytes) => ({ packets: bytes / 100, bytes });

export function a_fluid_scheduler_shares_by_weight_and_gives_what_one_leaves_to_the_others() {
  const sent = fluidService({
    weights: [3, 1], bytesPerSecond: 1000, held: [300, 1000],
    arrivals: [{ seconds: 0.2, bytes: [0, 0] }, { seconds: 0.4, bytes: [0, 0] }, { seconds: 10, bytes: [0, 100] }],
  });
  // 200 bytes at 3:1, then the first class has 150 left and goes with 50 of the other; the rest is the other's.
  same(sent, [[150, 50], [300, 300], [300, 1100]]);
}

function shared() {
  const samples = new Samples(), port = (number, held, threshold_bytes) => ({
    port: number, counters: { queues: [{ class: 0, held: tally(held), threshold_bytes, counters: { departed: tally(0) } }] } });
  for (const [ms, one, two] of [[0, 0, 0], [1, 100, 0], [2, 300, 200]]) {
    samples.take({ time_ps: ms * MS, inputs: [], shared_buffer: { size_bytes: 1000, free_bytes: 1000 - one - two },
                   ports: [port(1, one, 1000 - one - two), port(2, two, 1000 - one - two), port(3, 0, 0)] });
  }
  return samples;
}

const sourcesOf = (samples, focus) => ({ model: { samples, insides: { waits: new Map() } }, hosts: new Hosts(new Flows()), flows: new Flows(), focus });

export function queues_of_a_shared_buffer_stand_on_each_other_below_a_moving_threshold() {
  const { xs, series, level } = curves("buffer", sourcesOf(shared(), { port: 2, class: 0 }), span(2));
  same(xs, [0, 0.001, 0.002]);
  same(level, 1000);
  // The highest first, so that the lower one covers it; each says what it holds itself.
  same(series.map(({ name, ys, told }) => [name, ys, told]), [
    ["port 2", [0, 100, 500], [0, 0, 200]], ["port 1", [0, 100, 300], [0, 100, 300]], ["threshold of port 2", [1000, 900, 500], undefined]]);
  const none = new Samples();
  none.take({ time_ps: 0, ports: [], inputs: [] });
  const { series: nothing, why } = curves("buffer", sourcesOf(none, { port: 2, class: 0 }), span(2));
  same(nothing, []);
  holds(why.includes("no shared buffer"), why);
}

export function service_of_each_class_stands_beside_the_fluid_one() {
  const samples = new Samples();
  const config = { rate_bps: 8000, queues: [{ class: 0 }, { class: 1 }],
                   scheduler: { groups: [{ members: [{ class: 0, weight: 1 }, { class: 1, weight: 3 }] }] } };
  samples.describe({ time_ps: 0, ports: [{ port: 4, config }] });
  const queue = (class_, held, departed) => ({ class: class_, held: tally(held), counters: { departed: tally(departed) } });
  // 1000 bytes a second: all of them were the first class's, where a fluid scheduler would have served 1:3.
  for (const [ms, one, two] of [[0, [500, 0], [500, 0]], [400, [100, 400], [500, 0]]]) {
    samples.take({ time_ps: ms * MS, inputs: [], ports: [{ port: 4, counters: { queues: [queue(0, ...one), queue(1, ...two)] } }] });
  }
  const { series } = curves("service", sourcesOf(samples, { port: 4, class: 0 }), span(400));
  same(series.map(({ name, ys }) => [name, ys]), [
    ["class 0", [0, 400]], ["class 0, fluid", [0, 100]], ["class 1", [0, 0]], ["class 1, fluid", [0, 300]]]);
}

export function what_dctcp_believes_stands_beside_what_was_marked() {
  const flows = new Flows(), hosts = new Hosts(flows);
  const connection = (ms) => ({ local: "10.0.1.1:40001", peer: "10.0.4.1:5201", data_segs_in: 0, segs_out: 9, bytes_sent: 1e6, bytes_received: 0,
                                delivered: ms, delivered_ce: ms / 4, algorithm: [{ name: "alpha_1024ths", value: 512 }] });
  const reno = { ...connection(0), local: "10.0.2.1:40002", algorithm: [] };
  for (let ms = 0; ms <= 1000; ms += 100) {
    hosts.take({ events: [], complete_until_ps: 0, sample: { time_ps: ms * MS, hosts: [{ connections: [connection(ms), { ...reno, delivered: ms, delivered_ce: 0 }] }] } });
  }
  const { series } = curves("marking", { hosts, flows, model: {}, focus: {} }, { fromPs: 600 * MS, longPs: 600 * MS, toPs: 1000 * MS });
  same(series.map(({ name, ys, style }) => [name, ys.every((each) => each === ys[0]) && ys[0], style]),
       [["10.0.1.1 → 10.0.4.1, alpha", 0.5, undefined], ["10.0.1.1 → 10.0.4.1, marked", 0.25, "dashed"]]);
}

export function tags_of_weighted_fair_queueing_follow_from_the_first_ones() {
  const packets = [[1, 1500], [2, 500], [3, 1000]].map(([id, length]) => ({ id, length }));
  const sample = { time_ps: 5 * MS, ports: [{ port: 4, counters: { queues: [{ class: 1, turn: { kind: "lead_bytes", lead_bytes: 750 } }] } }] };
  const config = { scheduler: { groups: [{ members: [{ class: 1, weight: 2 }] }] } };
  const insides = { startPs: 0, at: () => ({ in: () => packets.slice(0, 2) }) };
  const tags = (waiting, told = sample) => finishTags({ insides, sample: told, config, port: 4, class_: 1, waiting });
  same([...tags(packets)], [[1, 750], [2, 1000], [3, 1500]]);
  // The first one has left since, and another one has come.
  same([...tags(packets.slice(1))], [[2, 1000], [3, 1500]]);
  same(tags(packets, { ...sample, ports: [{ port: 4, counters: { queues: [{ class: 1, turn: { kind: "deficit_bytes" } }] } }] }), undefined);
  same([66, 999, 1514, 15140, -20].map(tagWords), ["66", "999", "1.5k", "15k", "-20"]);
}
