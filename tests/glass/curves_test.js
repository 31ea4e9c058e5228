// Curves show the received data, and nothing else.

import { counterPaths, numberAt } from "../../glass/js/model/counters.js";
import { KINDS, curves, percentilesOf } from "../../glass/js/model/curves.js";
import { Flows } from "../../glass/js/model/flows.js";
import { Hosts } from "../../glass/js/model/hosts.js";
import { Insides, queue } from "../../glass/js/model/insides.js";
import { Samples } from "../../glass/js/model/samples.js";
import { holds, same } from "./check.js";

const MS = 1e9;
// Ethernet, IPv4 10.0.1.1 to 10.0.4.1, TCP 40001 to 5201.
const HEAD = Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 1, 1,
                              10, 0, 4, 1, 0x9c, 0x41, 0x14, 0x51]);
const tally = (packets) => ({ packets, bytes: packets * 1000 });
const span = (fromMs, toMs) => ({ fromPs: fromMs * MS, longPs: fromMs * MS, toPs: toMs * MS });

function sources() {
  const flows = new Flows();
  const insides = new Insides(flows);
  insides.start({ time_ps: 0 });
  const step = (ms, packet, kind, told) => insides.take({ time_ps: ms * MS, kind: "packet", packet: { packet, step: kind, [kind]: told } });
  // Packet n comes at n ms and waits n ms: ten of them.
  for (let n = 1; n <= 10; n++) {
    step(n, n, "received", { port: 1, length_bytes: 1000, head: HEAD });
    step(n, n, "queued", { port: 2, class: 0 });
  }
  for (let n = 6; n <= 10; n++) {
    step(2 * n, n, "departed", { queue: { port: 2, class: 0 }, marked: false });
    step(2 * n, n, "transmitted", { port: 2, length_bytes: 1000, until_ps: 2 * n * MS + 1 });
  }
  const samples = new Samples();
  for (let ms = 0; ms <= 20; ms += 10) {
    const dropped = [{ reason: "QUEUE_LIMIT", tally: tally(ms) }, { reason: "AQM", tally: tally(5) }];
    const counters = { counters: { dropped, departed: tally(ms) }, held: tally(3), queues: [] };
    samples.take({ time_ps: ms * MS, ports: [{ port: 2, counters }], inputs: [] });
  }
  return { model: { insides, samples, startPs: 0 }, hosts: new Hosts(flows), flows, isKnown: true,
           focus: { key: queue(2, 0), name: "port 2, class 0", port: 2, class: 0, limit: 20 } };
}

export function every_kind_is_drawn_of_whatever_is_known() {
  for (const kind of Object.keys(KINDS)) {
    for (const isKnown of [true, false]) {
      const found = curves(kind, { ...sources(), isKnown }, span(0, 20));
      for (const { ys } of found.series) same(ys.length, found.xs.length, `${kind}:`);
    }
  }
}

export function each_virtual_output_queue_of_an_input_has_a_line() {
  const given = sources(), { samples } = given.model;
  const voq = (output, class_, packets) => ({ output, class: class_, held: tally(packets) });
  const at = (ms, one, two) => samples.take({ time_ps: ms * MS, ports: [], inputs: [
    { port: 1, held: tally(9), voqs: one }, { port: 3, held: tally(1), voqs: two }] });
  at(30, [voq(4, 0, 2), voq(2, 0, 1), voq(2, 1, 5)], [voq(7, 0, 1)]);
  // In samples are those that hold something.
  at(40, [voq(4, 0, 3)], []);
  const told = (focus) => {
    const { note, series } = curves("voqs", { ...given, focus }, span(25, 45));
    return [note, series.map(({ name, ys }) => [name, ys])];
  };
  // Classes of one output are added up.
  same(told(given.focus), ["input 1", [["to 2", [6, 0]], ["to 4", [2, 3]]]]);
  same(told({ key: "input 3", port: 3 }), ["input 3", [["to 7", [1, 0]]]]);
}

export function no_line_goes_across_a_while_of_which_nothing_was_told() {
  const found = sources();
  found.isKnown = false;
  found.model.samples = new Samples();
  for (const ms of [0, 100, 200, 300, 4300, 4400]) {
    const counters = { queues: [{ class: 0, held: tally(ms) }] };
    found.model.samples.take({ time_ps: ms * MS, ports: [{ port: 2, counters }], inputs: [] });
  }
  const { xs, series } = curves("depth", found, span(0, 4400));
  // From .3 to 4.3 s there is nothing to draw; 2.3 is in the middle.
  same(xs, [0, 0.1, 0.2, 0.3, 2.3, 4.3, 4.4]);
  same(series.map(({ ys, hasGaps }) => [ys, hasGaps]), [[[0, 100, 200, 300, null, 4300, 4400], true]]);
}

export function drops_are_counted_by_reason_since_the_beginning_of_the_span() {
  const { xs, series } = curves("drops", sources(), span(10, 20));
  same(xs, [0.01, 0.02]);
  // 20 by then, 10 of them before; of those by AQM none is new.
  same(series.map(({ name, ys }) => [name, ys]), [["queue limit", [0, 10]], ["AQM", [0, 0]]]);
}

export function waiting_times_are_those_of_the_packets_that_left() {
  // From 11 to 21 ms packets 6 to 10 leave, each of which has waited as many ms as its number says.
  const { xs, series } = curves("delays", sources(), span(11, 21));
  const half = series[0].ys.map((y, index) => [xs[index], y]).filter(([, y]) => y !== null);
  same(half.map(([, y]) => Math.round(y * 1e3)), [6, 7, 8, 9, 10]);
  holds(half.every(([x, y]) => Math.abs(x - 2 * y) < 1e-3), "each where it left");
  same(percentilesOf([...Array(100).keys()].map((each) => each + 1)), [50, 90, 99]);
  same(percentilesOf([]), undefined);
}

export function without_packets_waiting_times_are_the_difference_of_two_histograms() {
  const { model, ...rest } = sources();
  const about = (ms, buckets) => ({ time_ps: ms * MS, ports: [{ port: 2, counters: { queues: [{ class: 0, residence: { buckets } }] } }] });
  const bucket = (ms, count) => ({ up_to_ps: ms * MS, count });
  model.samples.describe(about(1, [bucket(1, 100)]));
  // In between 90 packets waited 2 ms and 10 of them 8 ms.
  model.samples.describe(about(9, [bucket(1, 100), bucket(2, 90), bucket(8, 10)]));
  const { xs, series } = curves("delays", { ...rest, model, isKnown: false }, span(0, 20));
  same(xs, [0.009]);
  same(series.map(({ ys }) => ys[0]), [0.002, 0.002, 0.008]);
}

export function windows_are_those_of_ss_and_thresholds_beside_them() {
  const { hosts, flows, ...rest } = sources();
  const connection = (cwnd, ssthresh) => ({ local: "10.0.1.1:40001", peer: "10.0.4.1:5201", cwnd, ssthresh, data_segs_in: 0, segs_out: 9, bytes_sent: 20_000 });
  for (const [ms, cwnd, ssthresh] of [[1, 10, undefined], [2, 20, 12]]) {
    hosts.take({ events: [], complete_until_ps: 0, sample: { time_ps: ms * MS, hosts: [{ connections: [connection(cwnd, ssthresh)] }] } });
  }
  const { series } = curves("windows", { ...rest, hosts, flows }, span(0, 20));
  same(series.map(({ name, ys, style }) => [name, ys, style]),
       [["10.0.1.1 → 10.0.4.1", [10, 20], undefined], ["10.0.1.1 → 10.0.4.1, ssthresh", [null, 12], "dashed"]]);
}

export function without_packets_each_flow_has_what_its_host_says_was_acknowledged() {
  const { hosts, flows, model, ...rest } = sources();
  const own = { segs_out: 9, data_segs_in: 0, bytes_sent: 1e6, bytes_received: 0 };
  const passing = { ...own, local: "10.0.1.1:40001", peer: "10.0.4.1:5201" };
  const elsewhere = { ...own, local: "10.0.2.1:40002", peer: "10.0.5.1:5202" };
  const at = (ms) => ({ time_ps: ms * MS, hosts: [{ connections: [{ ...passing, bytes_acked: ms * 1000 }, { ...elsewhere, bytes_acked: 9 * ms }] }] });
  for (let ms = 0; ms <= 600; ms += 10) hosts.take({ events: [], complete_until_ps: 0, sample: at(ms) });
  const drawn = () => curves("flows", { ...rest, hosts, flows, model, isKnown: false }, span(0, 600));
  // No packet waited here, so it is unknown which of the flows pass.
  same(drawn().series.map(({ name }) => name), ["10.0.1.1 → 10.0.4.1", "10.0.2.1 → 10.0.5.1"]);
  const flow = flows.of(HEAD);
  model.samples.take({ time_ps: 300 * MS, ports: [], inputs: [], flows: [{ key: queue(2, 0), flow, packets: 3, bytes: 4500 }] });
  const { series, note, why } = drawn();
  same(series.map(({ name }) => name), ["10.0.1.1 → 10.0.4.1"]);
  // 1000 bytes in a millisecond.
  holds(series[0].ys.length > 20 && series[0].ys.every((each) => Math.abs(each - 8e6) < 1), JSON.stringify(series[0].ys));
  same(note, "acknowledged, as hosts tell it");
  holds(why.includes("not told"), why);
}

export function every_number_of_describe_has_a_path_and_is_found_by_it() {
  const about = {
    time_ps: 7, lost_reports: 3, books: { held_packets: 4 },
    ports: [{ port: 2, config: { rate_bps: 9 }, counters: {
      up: true, counters: { dropped: [{ reason: "AQM", tally: tally(6) }] }, queues: [{ class: 0, held: tally(5) }] } }],
  };
  const paths = counterPaths(about);
  same(paths, ["lost_reports", "books / held_packets", "port 2 / counters / counters / dropped AQM / tally / packets",
    "port 2 / counters / counters / dropped AQM / tally / bytes", "port 2 / counters / queue 0 / held / packets",
    "port 2 / counters / queue 0 / held / bytes"]);
  same(paths.map((each) => numberAt(about, each)), [3, 4, 6, 6000, 5, 5000]);
  same(numberAt(about, "port 9 / counters / held / packets"), undefined);
}

export function a_counter_is_taken_from_samples_where_they_have_it() {
  const { model, ...rest } = sources();
  model.samples.describe({ time_ps: 5 * MS, lost_reports: 2, ports: [] });
  const of = (counter) => curves({ counter }, { ...rest, model }, span(0, 20));
  same(of("port 2 / counters / held / packets").series[0].ys, [3, 3, 3]);
  same(of("lost_reports").series[0].ys, [2]);
}
