// Every act that handles can do, for test_acts.py: what is sent, and the text that says the same.

import * as acts from "../../glass/js/model/acts.js";
import { readShaper, readStalls, stallsYaml } from "../../glass/js/model/amounts.js";
import { changedAt, movedBelow, startingTree } from "../../glass/js/model/hierarchy.js";
import * as world from "../../glass/js/model/world_acts.js";
import { arbiterName } from "../../glass/js/words.js";
import { decode, encode } from "../../glass/js/wire/message.js";
import { readSchema } from "../../glass/js/wire/schema.js";

const typesOf = (schema) => readSchema(Uint8Array.from(atob(schema), (each) => each.charCodeAt(0)));

// Each handle once at least, as the page calls it.
export function configured(schema) {
  const types = typesOf(schema);
  const type = types.message("vitrine.v1.ConfigureRequest");
  const loss = { bursty: { turns_bad_ppb: 1263000, turns_good_ppb: 125000000, while_bad_ppb: 1e9 } };
  const packets = (count) => ({ packets: count, bytes: 0 });
  const stage = { queueing: "VOQ", rate_bps: 1e8, arbiter: "ROUND_ROBIN", iterations: 2,
                  voq_limit: packets(30), speedup: { over: 3, under: 2 }, lossy: true };
  // A router as in the response of Describe.
  const node = (name, rate, more) => ({ name, rate_bps: rate, ceil_bps: 2 * rate, burst_bytes: 3000,
                                        ceil_burst_bytes: 1514, ...more });
  const leaf = (class_) => ({ leaf: { class: class_, priority: class_, quantum_bytes: 2000 } });
  const hierarchy = node("port", 4e6, { children: [node("low", 1e6, leaf(0)), node("high", 3e6, leaf(1))] });
  const group = (discipline, members) => ({ discipline, quantum_bytes: discipline === "DRR" ? 3000 : 0, members });
  const queue = (class_, aqm, more) => ({ class: class_, limit: packets(40), shaper: {}, aqm, share: {}, ...more });
  const red = { in_bytes: true, profiles: [{ min: 20000, max: 60000, max_ppm: 50_000 }], ecn: true };
  const port = (number, scheduler, queues, more) => ({ port: number, config: {
    rate_bps: 1e7, overhead_bytes: 24, limit: packets(0), shaper: {}, scheduler, queue_count: queues.length,
    queues, utilisation_window_ns: 5e6, link: {
      sender: { backlog: packets(70) }, receive: { delay_ns: 1e6 }, transmit: { loss } }, ...more } });
  const about = decode(types.message("vitrine.v1.DescribeResponse"), encode(types.message("vitrine.v1.DescribeResponse"), {
    input: { queueing: "FIFO", limit: packets(30), rate_bps: 1e8, arbiter: "LQF", speedup: { over: 2, under: 1 } },
    buffer: { size_bytes: 9000 }, drop_mirror: { clone_session: 7 },
    ports: [port(2, { hierarchy }, [queue(0, { red }), queue(1, {}, { share: { alpha: { over: 1, under: 2 }, minimum_bytes: 3000 },
                                                                    shaper: { packets: { rate_pps: 900, burst_packets: 3 } } })]),
            port(3, { groups: [group("DRR", [{ class: 1, weight: 2 }]), group("WRR", [{ class: 0, weight: 1 }])] },
                 [queue(0, { codel: { target_ns: 5e6 } }), queue(1, {})],
                 { shaper: { bits: { rate_bps: 8e6, burst_bytes: 3000 } } })],
  }));
  const done = [
    acts.lineRate(2, 12_500_000), acts.queueCount(2, 3),
    acts.queueLimit(2, 1, 2, packets(50)), acts.queueLimit(2, 0, 2, { packets: 50, bytes: 64_000 }),
    acts.portLimit(3, { packets: 0, bytes: 64_000 }),
    acts.queueManagement(2, 0, 2, "codel"), acts.queueManagement(2, 0, 2, ""),
    acts.queueManagement(2, 0, 2, "codel", { target_ns: 5e6, interval_ns: 1e8, ecn: false }),
    acts.queueManagement(2, 0, 2, "ecn_step", { threshold: { packets: 20 } }),
    acts.queueManagement(2, 0, 1, "red", { profiles: [{ min: 20, max: 60, max_ppm: 100_000 }] }),
    acts.queueManagement(2, 0, 2, "pie", { target_ns: 15e6, alpha: { over: 1, under: 8 } }),
    acts.portShaper(2, readShaper("8 Mb/s")), acts.portShaper(2, readShaper("none")),
    acts.queueShaper(2, 1, 2, readShaper("2 Mb/s in bursts of 6 kB")),
    acts.queueShaper(2, 1, 2, readShaper("900 packets/s in bursts of 3 packets")),
    acts.lineOverhead(2, 0), acts.utilisationWindow(2, 2e6),
    acts.scheduler(2, "strict", [1, 1, 1]), acts.scheduler(2, "DRR", [3, 7]),
    acts.scheduler(2, "WFQ", [1, 2]),
    acts.hierarchy(2, startingTree([0, 1], 1e7)), acts.hierarchy(2, changedAt(hierarchy, [1], { ceil_bps: 5e6 })),
    acts.hierarchy(2, movedBelow(hierarchy, [1], undefined)),
    acts.sharedBuffer(1_000_000), acts.sharedBuffer(0),
    acts.inputStage(stage), acts.inputStage({ queueing: "NONE" }),
    acts.inputStage({ queueing: "FIFO", rate_bps: 1e8, limit: packets(100), arbiter: "ISLIP" }),
    acts.queueCount(3, 1), acts.queueCount(3, 4), acts.scheduler(3, "WRR", [2, 1]),
    acts.queueManagement(3, 0, 2, "pie"), acts.portShaper(3, readShaper("500 packets/s")),
    acts.portShaper(3, readShaper("500 packets/s, catching up")),
    acts.bufferShare(2, 1, 2, { alpha: { over: 2, under: 1 }, minimum_bytes: 0 }, "share"),
    acts.bufferShare(2, 0, 2, { minimum_bytes: 4500 }, "share"),
    acts.dropMirror(5), acts.dropMirror(undefined),
    acts.cable(3, "transmit", { delay_ns: 2e6, loss }, "delay"),
    acts.cable(3, "receive", { loss: { independent_ppb: 1e7 } }, "loss"),
    acts.sender(3, { rate_bps: 5e6, backlog: { packets: 0, bytes: 3000 } }, "rate"),
    acts.sender(3, { rate_bps: 0, backlog: {} }, "rate"),
    acts.wholePort(2, about.ports[0].config, 2), acts.wholePort(3, about.ports[1].config, 2),
  ];
  return [...done, ...done.map((each) => acts.inverse(each, about))].map(({ title, request, yaml, python }) => ({
    title, yaml, python, bytes: btoa(String.fromCharCode(...encode(type, request))),
  }));
}

// Ports that come and go, and what takes that back.
export function plugged() {
  const config = { rate_bps: 1e7, queue_count: 1, queues: [{ class: 0, limit: { packets: 30, bytes: 0 } }], link: { transmit: { delay_ns: 1e6 } } };
  return [acts.addPort(4, "s1-eth4"), acts.removePort(4), acts.addPort(4, "s1-eth4", config)]
    .map(({ portCall, python }) => ({ call: portCall, python }));
}

// The same port is changed by two: what one takes back stays as the other has set it.
export function takenBack() {
  const about = (limit, rate, delay_ns, lossy) => ({
    input: { queueing: "VOQ", rate_bps: 1e8, lossy, iterations: lossy ? 4 : 1 },
    ports: [{ port: 1, config: { rate_bps: rate, queue_count: 1, link: { transmit: { delay_ns, corruption_ppb: rate } },
                                 queues: [{ class: 0, limit: { packets: limit }, aqm: {} }] } }],
  });
  const before = about(20, 1e6, 5, false), now = about(50, 2e6, 7, true);
  return [acts.queueLimit(1, 0, 1, { packets: 50 }), acts.cable(1, "transmit", { delay_ns: 7, corruption_ppb: 1e6 }, "delay"),
          acts.inputStage({ ...before.input, iterations: 4 }), acts.wholePort(1, { rate_bps: 2e6 }, 1)]
    .map((each) => acts.inverse(each, before, now).request);
}

// The acts of each handle of a cable, with its text.
export function cables() {
  const stalls = readStalls("5 % up to 1.2 ms");
  const bursty = { turns_bad_ppb: 1e7, turns_good_ppb: 5e8, while_bad_ppb: 1e9, while_good_ppb: 0 };
  const whole = { delay_ns: 2e6, jitter: { max_ns: 1e5, reorder: true }, stalls, loss: { bursty },
                  duplication_ppb: 1e6 };
  return [acts.cable(3, "transmit", { stalls }, `stalls: ${stallsYaml(stalls)}`),
          acts.cable(3, "receive", whole, "delay: 2 ms")].map(({ yaml, python }) => [yaml, python]);
}

// Each kind of application once, what ends it, and what cables suffer.
export function worldly(schema) {
  const types = typesOf(schema);
  const fields = { to: "h4", port: 6001, control: "reno", connections: 2, rate: 5e6, datagrams: 10, on: 1e8, off: 2e8,
                   interval: 2e8, size: 1e5, pause: 5e8, mean: 5e7 };
  const apps = Object.values(world.APPS).flatMap((each) => each(fields)).filter(Boolean);
  const calls = [...apps.map((each) => world.start("h1", each)), world.stop(3),
                 world.cut({ node: "s1", port: 2 }), world.mend({ node: "h2" })];
  return {
    controls: world.CONTROLS,
    calls: calls.map((call) => ({
      python: world.worldAct(types, "", [call]).python,
      method: call[0],
      bytes: btoa(String.fromCharCode(...encode(types.message(`vitrine.v1.${call[0]}Request`), call[1]))),
    })),
  };
}

export function chosen(schema) {
  const types = typesOf(schema);
  const names = types.enum("vitrine.v1.Arbiter").chosen;
  return { names, said: names.map(arbiterName), disciplines: types.enum("vitrine.v1.Discipline").chosen };
}
