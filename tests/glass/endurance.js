// A router in the page itself that never stops telling, for tests that last long by a clock that is wound
// forward. Its messages are encoded and decoded as those of a real one are.

import { Glass } from "../../glass/js/page/glass.js";
import { Clocks } from "../../glass/js/wire/clocks.js";
import { decode, encode } from "../../glass/js/wire/message.js";
import { readSchema } from "../../glass/js/wire/schema.js";

const PORTS = 4, LIMIT = 50, LENGTH = 1500;
const TELL_MS = 20, GAP_MS = 3, FLOW_MS = 500;
const DROPPED_ONE_IN = 40, MARKED_ONE_IN = 25;

export class Router {
  constructor() {
    this.number = 0;
    this.lastMs = 0;
    this.queues = Array.from({ length: PORTS }, () => []);
    this.sent = new Array(PORTS).fill(0);
    this.lost = 0;
  }

  // Everything that happens until an instant: at every port one packet leaves and another comes.
  until(nowMs) {
    const events = [];
    for (; this.lastMs + GAP_MS <= nowMs; this.lastMs += GAP_MS) {
      const time_ps = Math.round(this.lastMs * 1e9);
      for (let port = 1; port <= PORTS; port++) this.slot(events, port, time_ps);
    }
    return events;
  }

  slot(events, port, time_ps) {
    const packet = ++this.number, queue = this.queues[port - 1];
    const tell = (id, step, told) => events.push({ time_ps, packet: { packet: id, [step]: told } });
    tell(packet, "received", { port: (port % PORTS) + 1, length_bytes: LENGTH, head: headOf(port, this.lastMs) });
    if (queue.length < LIMIT && packet % DROPPED_ONE_IN) {
      queue.push(packet);
      tell(packet, "queued", { port, class: 0 });
    } else {
      this.lost++;
      tell(packet, "dropped", { reason: "QUEUE_LIMIT", queue: { port, class: 0 } });
      events.push({ time_ps, drop: { reason: "QUEUE_LIMIT", queue: { port, class: 0 } } });
    }
    if (queue.length < LIMIT / 2) return;
    const gone = queue.shift();
    this.sent[port - 1] += LENGTH;
    tell(gone, "departed", { queue: { port, class: 0 }, marked: gone % MARKED_ONE_IN === 0 });
    tell(gone, "transmitted", { port, length_bytes: LENGTH, until_ps: time_ps + 2e9 });
  }

  sample(time_ps) {
    return { time_ps, ports: this.queues.map((queue, index) => ({ port: index + 1, counters: this.counters(queue, index) })) };
  }

  counters(queue, index) {
    const held = { packets: queue.length, bytes: queue.length * LENGTH };
    const dropped = [{ reason: "QUEUE_LIMIT", tally: { packets: this.lost, bytes: this.lost * LENGTH } }];
    const counters = { departed: { packets: this.sent[index] / LENGTH, bytes: this.sent[index] }, dropped };
    return { up: true, held, counters, utilisation_permille: 900, queues: [{ class: 0, held, counters }] };
  }

  about(time_ps) {
    const config = { rate_bps: 1e7, queue_count: 1, queues: [{ class: 0, limit: { packets: LIMIT } }] };
    return {
      time_ps, input: { queueing: "NONE" }, buffer: {},
      ports: this.queues.map((queue, index) => ({ port: index + 1, config, counters: this.counters(queue, index) })),
    };
  }
}

// Ethernet, IPv4 and TCP's ports: long flows, and every half second a new short one at each port.
function headOf(port, nowMs) {
  const isShort = Math.floor(nowMs / GAP_MS) % 4 === 0;
  const source = isShort ? 1024 + (Math.floor(nowMs / FLOW_MS) % 60_000) : 1000;
  return Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, port, 1,
                          10, 0, 9, 1, source >> 8, source & 255, 20, 81]);
}

class Calls {
  constructor(schema) {
    this.schema = schema;
    this.clocks = new Clocks();
    this.router = new Router();
    this.began = performance.now();
  }

  get nowMs() {
    return performance.now() - this.began;
  }

  through(name, message) {
    const type = this.schema.message(`vitrine.v1.${name}`);
    return decode(type, encode(type, message));
  }

  async call() {
    return this.through("DescribeResponse", this.router.about(Math.round(this.nowMs * 1e9)));
  }

  open(router, service, name, request, { next }) {
    next(this.through("WatchResponse", { start: { time_ps: Math.round(this.nowMs * 1e9) } }));
    const timer = setInterval(() => {
      const { nowMs } = this;
      const time_ps = Math.round(nowMs * 1e9);
      next(this.through("WatchResponse", {
        events: this.router.until(nowMs), sample: this.router.sample(time_ps), complete_until_ps: time_ps,
      }));
    }, TELL_MS);
    return { cancel: () => clearInterval(timer), send: () => {}, done: () => {} };
  }
}

// Puts the glass onto the page, before such a router.
export function begin(schema) {
  const bytes = Uint8Array.from(atob(schema), (each) => each.charCodeAt(0));
  const scene = { world: "live", pace: 1, routers: [{ name: "s1", deviceId: 0, address: "" }],
                  network: {}, about: {}, lesson: "", readOnly: true };
  window.vitrine = new Glass(document.getElementById("page"), new Calls(readSchema(bytes)), scene);
}
