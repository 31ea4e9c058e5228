// A page asks a router for as much as it can tell and the page can show. When packets are too many is in
// patience.json.

import { detailAt, Watching } from "../../glass/js/page/watching.js";
import { Patience } from "../../glass/js/model/patience.js";
import { RouterModel } from "../../glass/js/model/router.js";
import { Flows } from "../../glass/js/model/flows.js";
import { holds, same } from "./check.js";

// A watch of a router that reports everything, and the requests that the router received.
function asking({ isLive = false } = {}) {
  const model = new RouterModel("s1", 0, new Flows());
  const asked = [], requests = [];
  const calls = {
    schema: { message: () => ({ byName: new Map([["packets", {}], ["arbitrations", {}]]) }) },
    open: (router, service, name, request) => {
      asked.push(Boolean(request.packets));
      requests.push(request);
      return { cancel() {} };
    },
    call: async () => ({ time_ps: 0, ports: [{ port: 1, config: {} }] }),
  };
  const watching = Object.assign(Object.create(Watching.prototype), { calls, model, intervalMs: 20, detail: detailAt(1), patience: new Patience({ isLive }), onState() {} });
  return { watching, model, asked, requests };
}

export async function single_packets_are_told_again_when_a_burst_is_over() {
  const { watching, model, asked } = asking();
  await watching.open();
  watching.patience.refused(0);
  watching.begin();
  await new Promise(setTimeout);
  same([asked, model.isTooFast, model.knowsPackets], [[true, false], true, false]);
  watching.lookAgain(9_999);
  await new Promise(setTimeout);
  same(asked.length, 2, "not before it is time:");
  watching.lookAgain(10_000);
  await new Promise(setTimeout);
  same([asked, model.isTooFast, model.knowsPackets], [[true, false, true], false, true]);
}

export async function a_watch_that_misses_events_is_begun_anew() {
  const { watching, asked } = asking();
  await watching.open();
  const told = (lost) => watching.take({ lost_events: lost, events: [] });
  told(0);
  await new Promise(setTimeout);
  same(asked, [true]);
  told(3);
  await new Promise(setTimeout);
  same(asked, [true, true], "with what is inside:");
  told(3);
  await new Promise(setTimeout);
  same(asked, [true, true, false], "and the second time without single packets:");
}

export async function a_live_router_of_gigabits_is_asked_for_depths_until_it_is_slower() {
  const { watching, model, asked } = asking({ isLive: true });
  await watching.open();
  // So many bytes have left by the port by then: 0.5 s later, 125 MB more are 2 Gb/s.
  const sent = (ms, bytes) => model.samples.take({ time_ps: ms * 1e9, ports: [{ port: 1, counters: { counters: { departed: { bytes } } } }] });
  const looked = async (nowMs) => {
    watching.lookAgain(nowMs);
    await new Promise(setTimeout);
    return asked.at(-1);
  };
  sent(0, 0);
  sent(500, 125_000_000);
  same(await looked(500), true, "2 Gb/s are told:");
  sent(1000, 250_000_001);
  same(await looked(1000), false, "more are not:");
  sent(11_500, 4e9);
  sent(12_000, 4.2e9);
  same(await looked(12_000), false, "nor later, at 3.2 Gb/s:");
  sent(12_500, 4.25e9);
  same([await looked(12_500), model.isTooFast], [true, false], "0.8 Gb/s are:");
}

export async function what_no_picture_can_show_is_not_asked_for_while_time_passes_fast() {
  const { watching, model, requests } = asking();
  await watching.open();
  for (const pace of [20, 500, 499.5, 5]) watching.setPace(pace);
  await new Promise(setTimeout);
  same(requests.length, 2, "who changes his mind quickly has one watch, the last one:");
  watching.setPace(500);
  await new Promise(setTimeout);
  const { packets, arbitrations, drops, marks, interval_ms: every, links } = requests.at(-1);
  same([packets, arbitrations, drops, marks, every, links], [undefined, undefined, undefined, undefined, 500, true]);
  same([model.isHurried, model.knowsPackets], [true, false]);
  watching.setPace(20);
  await new Promise(setTimeout);
  same([requests.at(-1).packets, requests.at(-1).interval_ms, model.isHurried, model.knowsPackets], [true, 20, false, true]);
}

// As `asking`, before a router that tells flows and lets its reader lose.
function askingOfANewer(mayLose) {
  const found = asking();
  const known = ["packets", "arbitrations", "flows", "may_lose"].map((each) => [each, {}]);
  found.watching.calls.schema.message = () => ({ byName: new Map(known) });
  found.watching.mayLose = mayLose;
  return found;
}

export async function where_others_let_time_pass_it_does_not_wait_for_the_page() {
  for (const mayLose of [true, false]) {
    const { watching, requests } = askingOfANewer(mayLose);
    await watching.open();
    same(requests[0].may_lose, mayLose || undefined);
  }
}

export async function without_single_packets_flows_are_asked_for() {
  const { watching, requests } = askingOfANewer(true);
  await watching.open();
  same(requests[0].flows, undefined);
  watching.patience.refused(0);
  watching.begin();
  await new Promise(setTimeout);
  same([requests[1].flows, requests[1].head_bytes], [true, requests[0].head_bytes]);
  holds(requests[1].drops && requests[1].marks, "and drops and marks as before");
}

export function what_was_missed_is_counted_and_samples_tell_whose_packets_wait() {
  const model = new RouterModel("s1", 0, new Flows());
  const head = Uint8Array.from([...Array(12).fill(0), 8, 0, 0x45, 0, 5, 220, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 1, 1, 10, 0, 4, 1, 156, 65, 20, 81]);
  const held = { packets: 3, bytes: 4542 };
  model.take({ lost_events: 5, events: [], sample: { time_ps: 9, missed: 2, ports: [], inputs: [], flows: [
    { place: "queued", queued: { port: 2, class: 1 }, head, held },
    { place: "filed", filed: { input: 1, output: 2, class: 0 }, head, held },
  ] } });
  model.take({ lost_events: 1, events: [], sample: { time_ps: 10, missed: 1, ports: [], inputs: [], flows: [] } });
  same([model.lostEvents, model.missedSamples], [6, 3]);
  const [queued, filed] = model.samples.list[0].flows;
  same([queued.key, queued.class, queued.packets, queued.bytes, queued.flow.name],
       ["queue 2/1", 1, 3, 4542, "10.0.1.1 → 10.0.4.1"]);
  same([filed.key, filed.output, filed.flow.number], ["input 1", 2, queued.flow.number]);
}

export function nothing_is_claimed_of_packets_for_the_time_in_which_they_were_not_told() {
  const model = new RouterModel("s1", 0, new Flows());
  const begin = (timePs, knows) => {
    model.knowsPackets = knows;
    model.take({ start: { time_ps: timePs, epoch_offset_ns: 0 }, lost_events: 0, events: [] });
  };
  begin(100, true);
  model.take({ lost_events: 0, events: [{ time_ps: 200, kind: "packet", packet: { packet: 1, step: "received", received: { port: 1, length_bytes: 60, head: new Uint8Array(0) } } }] });
  // Told once, it stays known: from the request for depths alone on, and when that is answered.
  const knownAt = (...instants) => instants.map((each) => model.knowsPacketsAt(each));
  model.knowsPackets = false;
  same(knownAt(50, 150, 200, 250), [false, true, true, false]);
  begin(300, false);
  same(knownAt(50, 150, 200, 300, 500), [false, true, true, false, false]);
  begin(900, true);
  same([150, 200, 500, 900, 950].map((each) => model.knowsPacketsAt(each)), [true, true, false, true, true]);
}
