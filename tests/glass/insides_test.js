// The state of a router follows from its events and the instant, not from earlier requests.

import { Flows, parseHead } from "../../glass/js/model/flows.js";
import { Insides, input, queue } from "../../glass/js/model/insides.js";
import { blockedHeads, Episodes } from "../../glass/js/model/blocking.js";
import { depthSeries, throughputSeries } from "../../glass/js/model/series.js";
import { STEPS } from "../../glass/js/page/timebar.js";
import { dice, holds, same } from "./check.js";

const START = { time_ps: 0 };

export function a_queue_knows_how_many_bytes_are_in_it_whatever_came_and_went() {
  const insides = told(anyDay(5, 3000));
  for (const timePs of [50_000, 260_000, 120_000, 299_900]) {
    const state = insides.at(timePs);
    for (const key of [input(0), input(1), queue(0, 0), queue(1, 0)]) {
      same(state.bytesIn(key), state.in(key).reduce((sum, each) => sum + each.length, 0), `${key} at ${timePs}:`);
    }
    const track = insides.depthsBytes.get(queue(1, 0));
    same(track.at(timePs), state.bytesIn(queue(1, 0)), "as the curve has it:");
  }
}

export function steps_lead_to_what_is_wanted_and_leave_out_the_rest() {
  const insides = told([
    event(100, 1, "received", { port: 0, length_bytes: 100, head: Uint8Array.from(IPV4) }),
    event(200, 1, "filed", { input: 0, output: 1, class: 0 }),
    { time_ps: 300, kind: "arbitration", arbitration: { pointers: [] } },
    event(400, 1, "crossing", { from: { input: 0, output: 1, class: 0 }, until_ps: 500 }),
    event(500, 1, "queued", { port: 1, class: 0 }),
    event(600, 1, "transmitted", { port: 1, length_bytes: 100, until_ps: 700 }),
  ]);
  const { packet, slot, event: any } = STEPS;
  same([insides.next(100), insides.next(100, any), insides.next(100, slot), insides.next(100, packet)], [200, 200, 300, 600]);
  same([insides.previous(600), insides.previous(600, slot), insides.previous(600, packet)], [500, 300, 100]);
  same([insides.next(300, slot), insides.previous(300, slot)], [undefined, undefined]);
}
const IPV4 = [
  ...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 1, 1, 10, 0, 4, 1, 0x9c,
  0x41, 0x14, 0x51,
];
const BACK = [...IPV4.slice(0, 26), 10, 0, 4, 1, 10, 0, 1, 1, 0x14, 0x51, 0x9c, 0x41];

function event(timePs, packet, step, told) {
  return { time_ps: timePs, kind: "packet", packet: { packet, step, [step]: told } };
}

// Any packets on any legal ways, two hundred thousand picoseconds long.
function anyDay(seed, length) {
  const roll = dice(seed);
  const events = [];
  const waiting = [[], []], queued = [[], []];
  for (let i = 1; i <= length; i++) {
    const at = i * 100;
    const input = roll(2);
    switch (roll(4)) {
      case 0:
        events.push(event(at, i, "received", { port: input, length_bytes: 64 + roll(1400), head: Uint8Array.from(IPV4) }));
        if (roll(5)) {
          events.push(event(at, i, "filed", { input, output: roll(2), class: 0 }));
          waiting[input].push(i);
        } else events.push(event(at, i, "dropped", { reason: "INPUT_LIMIT" }));
        break;
      case 1:
        if (waiting[input].length) {
          const id = waiting[input].shift();
          const output = roll(2);
          events.push(event(at, id, "crossing", { from: { input, output, class: 0 }, until_ps: at + 50 }));
          events.push(event(at + 50, id, "queued", { port: output, class: 0 }));
          queued[output].push(id);
        }
        break;
      default:
        if (queued[input].length) {
          const id = queued[input].shift();
            events.push(event(at, id, "departed", { queue: { port: input, class: 0 }, marked: false }));
            events.push(event(at, id, "transmitted", { port: input, length_bytes: 500, until_ps: at + 80 }));
        }
    }
  }
  return events.sort((a, b) => a.time_ps - b.time_ps);
}

function told(events) {
  const insides = new Insides(new Flows());
  insides.start(START);
  for (const each of events) insides.take(each);
  return insides;
}

function shown(state) {
  return {
    packets: [...state.packets.values()].map(({ id, kind }) => [id, kind]).sort(),
    queues: [0, 1].map((port) => state.in(queue(port, 0)).map(({ id }) => id)),
    inputs: [0, 1].map((port) => state.in(input(port)).map(({ id }) => id)),
    dropped: [...state.dropped],
    lines: [0, 1].map((port) => state.onLine(port).filter((each) => each.untilPs > state.timePs).length),
  };
}

export function a_state_depends_on_the_instant_alone() {
  for (let seed = 1; seed < 6; seed++) {
    const events = anyDay(seed, 9000);
    const jumping = told(events), roll = dice(seed + 100);
    for (let i = 0; i < 30; i++) {
      const at = roll(900_000);
      same(shown(jumping.at(at)), shown(told(events).at(at)), `seed ${seed}, instant ${at}:`);
    }
  }
}

export function no_packet_vanishes() {
  const events = anyDay(7, 9000);
  const insides = told(events);
  for (const at of [0, 1000, 250_000, 899_999]) {
    const until = events.filter((each) => each.time_ps <= at).map((each) => each.packet.step);
    const number = (step) => until.filter((each) => each === step).length;
    const state = insides.at(at);
    same(state.packets.size, number("received") - number("transmitted") - number("dropped"), `at ${at}:`);
  }
}

export function what_is_forgotten_changes_nothing_later() {
  const events = anyDay(8, 9000);
  const whole = told(events), short = told(events);
  short.forget(600_000);
  holds(short.steps.length < whole.steps.length, "something is forgotten");
  for (const at of [600_000, 700_000, 899_000]) {
    const { dropped: _, ...rest } = shown(short.at(at));
    const { dropped: __, ...all } = shown(whole.at(at));
    same(rest, all, `at ${at}:`);
  }
}

export function an_hour_of_steps_takes_no_more_memory_than_its_share() {
  const most = 4e6, insides = new Insides(new Flows(), most);
  insides.start(START);
  const events = anyDay(11, 30_000);
  for (const each of events) insides.take(each);
  holds(insides.bytes <= most, `${insides.bytes} bytes`);
  holds(insides.bytes > most / 2, `no more is forgotten than needed: ${insides.bytes} bytes`);
  same(insides.steps.length < events.length, true);
  // The remaining steps are unchanged, to the very end.
  const whole = told(events), { timePs } = insides.steps.at(-1);
  for (const before of [0, 1000, 20_000]) {
    const { dropped: _, ...rest } = shown(insides.at(timePs - before));
    const { dropped: __, ...all } = shown(whole.at(timePs - before));
    same(rest, all, `${before} ps before the end:`);
  }
}

export function curves_reach_farther_back_than_steps_and_are_bounded_too() {
  const events = anyDay(12, 30_000), whole = told(events);
  const insides = new Insides(new Flows(), 2e6, 1e6);
  insides.start(START);
  for (const each of events) insides.take(each);
  const points = insides.tracks.reduce((sum, each) => sum + each.times.length, 0);
  holds(24 * points <= 1.1e6, `${points} points`);
  holds(insides.curvesStartPs < insides.startPs, "curves reach farther back");
  const toPs = insides.steps.at(-1).timePs, fromPs = insides.curvesStartPs;
  const drawn = (of) => depthSeries(of.depths.get(queue(1, 0)), fromPs, toPs);
  same(drawn(insides), drawn(whole));
}

export function a_watch_that_begins_anew_says_what_is_inside() {
  const insides = told([event(100, 1, "received", { port: 0, length_bytes: 100, head: new Uint8Array(0) }),
                        event(100, 1, "filed", { input: 0, output: 1, class: 0 })]);
  insides.start({ time_ps: 500 });
  insides.take(event(500, 9, "inside", { length_bytes: 64, input: 1, head: new Uint8Array(0), since_ps: 400,
                                         place: "queued", queued: { port: 1, class: 0 } }));
  same(insides.at(200).in(input(0)).length, 1);
  same(shown(insides.at(600)).inputs, [[], []]);
  same(shown(insides.at(600)).queues, [[], [9]]);
}

export function both_directions_are_one_flow() {
  const flows = new Flows(new Map([["10.0.1.1", "h1"], ["10.0.4.1", "h4"]]));
  const there = flows.of(Uint8Array.from(IPV4)), back = flows.of(Uint8Array.from(BACK));
  same([there.name, there.detail], ["h1 → h4", "TCP 10.0.1.1:40001 → 10.0.4.1:5201"]);
  same([there.number, there.reverse, back.number, back.reverse], [0, false, 0, true]);
}

export function who_looks_late_sees_an_acknowledgment_first_and_the_ends_turn_round() {
  const insides = new Insides(new Flows(new Map([["10.0.1.1", "h1"], ["10.0.4.1", "h4"]])));
  insides.start(START);
  const sends = (id, head, length) => {
    insides.take(event(id * 100, id, "received", { port: 0, length_bytes: length, head: Uint8Array.from(head) }));
    insides.take(event(id * 100 + 50, id, "transmitted", { port: 1, length_bytes: length, until_ps: id * 100 + 60 }));
  };
  sends(1, BACK, 66);
  const [{ packet }] = insides.steps.filter((each) => each.kind === "received");
  same([packet.flow.name, packet.flow.reverse], ["h4 → h1", false]);
  for (let id = 2; id < 40; id++) sends(id, id % 3 ? IPV4 : BACK, id % 3 ? 1500 : 66);
  // Earlier packets are turned, too, and so are the curves.
  same([packet.flow.name, packet.flow.reverse], ["h1 → h4", true]);
  same(insides.flows.list.map(({ name, detail }) => [name, detail]), [["h1 → h4", "TCP 10.0.1.1:40001 → 10.0.4.1:5201"]]);
  const { byFlow } = throughputSeries(insides, 0, 4000, 1, 4000);
  same([...byFlow], [[0, [(25 * 1500 * 8 * 1e12) / 4000]]]);
}

export function tags_and_addresses_of_all_kinds_are_read() {
  const tagged = Uint8Array.from([...IPV4.slice(0, 12), 0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, ...IPV4.slice(12)]);
  same(parseHead(tagged).source, "10.0.1.1");
  const address = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
  const six = Uint8Array.from([...new Array(12).fill(0), 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64,
                               ...address, ...new Array(15).fill(0), 1, 0, 53, 0, 99]);
  // RFC 5952: of two runs as long as each other the first is shortened.
  same(parseHead(six).source, "2001:db8::1:0:0:1");
  same(parseHead(six).target, "::1");
  same(parseHead(six).sourcePort, 53);
  same(parseHead(Uint8Array.from([1, 2, 3])), undefined);
}

export function a_head_blocks_those_whose_output_is_idle() {
  const insides = told([]);
  const about = { input: { queueing: "FIFO" }, ports: [0, 1, 2].map((port) => ({ port, config: { queues: [{ class: 0 }] } })) };
  const comes = (at, id, output) => {
    insides.take(event(at, id, "received", { port: 0, length_bytes: 100, head: new Uint8Array(0) }));
    insides.take(event(at, id, "filed", { input: 0, output, class: 0 }));
  };
  comes(10, 1, 1);
  comes(20, 2, 2);
  // Nothing is busy: the head goes in a moment.
  same(blockedHeads(insides.at(30), about), []);
  insides.take(event(40, 3, "received", { port: 2, length_bytes: 100, head: new Uint8Array(0) }));
  insides.take(event(40, 3, "queued", { port: 1, class: 0 }));
  const [found] = blockedHeads(insides.at(50), about);
  same([found.input, found.head.id, found.outputs, [...found.packets]], [0, 1, [2], [2]]);
  // With VOQs no packet is blocked.
  same(blockedHeads(insides.at(50), { ...about, input: { queueing: "VOQ" } }), []);
}

export function an_episode_of_blocking_lasts_while_its_packets_come_and_go() {
  const found = [{ input: 1, head: { output: 2 }, outputs: [3], packets: new Set([7]) }];
  // Blocked from 100 to 110 and from 150 to 160, and much later again.
  const spans = [[100, 110], [150, 160], [300, 310]];
  const blockedAt = (timePs) => (spans.some(([from, to]) => from <= timePs && timePs < to) ? found : []);
  const hold = 50;
  const said = (episodes, timePs, startPs = 0) => episodes.at(timePs, hold, startPs).map(({ sincePs, isNow }) => [sincePs, isNow]);
  const told = [[99, []], [100, [[100, true]]], [140, [[100, false]]], [150, [[100, true]]], [209, [[100, false]]], [210, []],
                [305, [[300, true]]], [299, []]];
  const episodes = new Episodes(blockedAt);
  for (const [timePs, wanted] of told) {
    same(said(episodes, timePs), wanted, `at ${timePs}:`);
    // Seen first from elsewhere it reads the same: no instant drawn before counts.
    same(said(new Episodes(blockedAt), timePs), wanted, `at ${timePs}, seen first:`);
  }
  // Forgotten instants are not looked at.
  same(said(new Episodes(blockedAt), 140, 105), [[105, false]]);
  same(said(new Episodes(blockedAt), 140, 120), []);
}

export function curves_say_what_the_states_say() {
  const events = anyDay(3, 3000);
  const insides = told(events);
  const [xs, ys] = depthSeries(insides.depths.get(queue(1, 0)), 50_000, 250_000);
  xs.forEach((x, index) => {
    // A step is drawn as two points at one instant, the depth before and the depth after it.
    const isAfter = index === xs.length - 1 || xs[index + 1] !== x;
    if (isAfter) same(ys[index], insides.at(Math.round(x * 1e12)).in(queue(1, 0)).length, `at ${x}:`);
  });
  const sent = insides.between(50_000, 250_000).filter((each) => each.kind === "transmitted");
  const { byFlow } = throughputSeries(insides, 50_000, 250_000, 10, 20_000);
  // bits a second times the length of a part, summed up, are all the bits.
  const bits = (byFlow.get(0) ?? []).reduce((sum, each) => sum + each * 20_000e-12, 0);
  // At either end a packet is on its way at each of the two ports.
  const all = sent.reduce((sum, each) => sum + each.length * 8, 0);
  holds(Math.abs(bits - all) <= 2 * 2 * 500 * 8, `${bits} bits of ${all}`);
}

export function a_full_line_carries_its_rate_over_any_window_and_no_more() {
  const bps = 10e6, length = 1500, framePs = (length * 8 * 1e12) / bps;
  const insides = new Insides(new Flows());
  insides.start(START);
  for (let id = 1; id <= 100; id++) {
    const at = id * framePs;
    insides.take(event(at, id, "received", { port: 0, length_bytes: length, head: Uint8Array.from(IPV4) }));
    insides.take(event(at, id, "transmitted", { port: 1, length_bytes: length, until_ps: at + framePs }));
  }
  for (const windowPs of [framePs / 3, framePs * 1.5, framePs * 2.5, framePs * 20]) {
    const { byFlow } = throughputSeries(insides, 50 * framePs, 100 * framePs, 37, windowPs);
    for (const each of byFlow.get(0)) holds(Math.abs(each - bps) < 1, `${each} b/s over ${windowPs} ps`);
  }
  // Of a window that began before anything was remembered nothing is said.
  same(throughputSeries(insides, 0, 10 * framePs, 2, 8 * framePs).byFlow.get(0)[0], null);
}
