// Keeps a router's model up to date: one Watch that comes back by itself, and Describe whenever the
// configuration may have changed.

import { Patience } from "../model/patience.js";
import { ROUTER } from "../wire/calls.js";

const HEAD_BYTES = 48;
const RETRY_MS = 700;
// A machine that has too much to do for single packets gets as few requests for samples as a curve can bear: each
// sample is a message, and costs routers and hosts time to carry and to read.
const FAST_SAMPLE_MS = 100;
// A router's refusal when it holds more packets than it reports one by one: RESOURCE_EXHAUSTED.
const TOO_MUCH = 8;
// A router of more ports has larger samples: it gets proportionally fewer requests.
const PORTS_A_SAMPLE = 16;
// Others may change the configuration too: it is read anew this often.
const DESCRIBE_MS = 2000;
// Where a second of the viewer is more seconds of the network than this, no picture shows single packets.
const PACKETS_PACE_MAX = 20;
// As the switch takes it.
const INTERVAL_MS_MAX = 1000;

// The detail to request of a network whose time the page drives, at a pace: whether single packets, and the distance of
// samples, so that there are at most a thousand of them in a second of the viewer.
export function detailAt(pace) {
  return pace > PACKETS_PACE_MAX ? { isHurried: true, intervalMs: Math.ceil(pace) } : { isHurried: false, intervalMs: 1 };
}

// Whether time must not wait for this page: where others let it pass.
export const mayLose = (scene) => !scene.isDriven || Boolean(scene.readOnly);

export class Watching {
  // onState(model, {isThere, why}) reports when the router comes and goes; `isLive`: its time passes as ours;
  // `mayLose`: other clients let its time pass, which must not wait for this page.
  constructor(calls, model, { intervalMs, isLive = false, mayLose = false, onState }) {
    Object.assign(this, { calls, model, intervalMs, isLive, mayLose, onState });
    this.detail = detailAt(1);
    this.isEnded = false;
    this.patience = new Patience({ isLive });
    this.open();
    this.timer = setInterval(() => {
      this.lookAgain(performance.now());
      this.describe().catch(() => {});
    }, DESCRIBE_MS);
  }

  get target() {
    return { device_id: this.model.deviceId };
  }

  async open() {
    if (this.isEnded) return;
    const turn = this.turn = {};
    try {
      await this.describe();
    } catch (error) {
      if (turn !== this.turn || this.isEnded) return;
      this.onState(this.model, { isThere: false, why: error.message });
      setTimeout(() => this.open(), RETRY_MS);
      return;
    }
    // It was begun again meanwhile, or has ended.
    if (turn !== this.turn || this.isEnded) return;
    this.watch = this.calls.open(this.model.name, ROUTER, "Watch", this.request(), {
      next: (message) => this.take(message),
      ended: (error) => {
        if (this.isEnded) return;
        if (this.model.knowsPackets && error?.code === TOO_MUCH) this.patience.refused(performance.now());
        else this.onState(this.model, { isThere: false, why: error?.message ?? "the router has ended the watch" });
        setTimeout(() => this.open(), RETRY_MS);
      },
    });
  }

  request() {
    const known = this.calls.schema.message("vitrine.v1.WatchRequest").byName;
    const spared = this.isLive && this.patience.withoutPackets ? FAST_SAMPLE_MS : 0;
    const everyMs = Math.max(this.intervalMs, this.detail.intervalMs, spared) * Math.ceil(this.model.ports / PORTS_A_SAMPLE);
    const request = { ...this.target, interval_ms: Math.min(everyMs, INTERVAL_MS_MAX), links: true, overruns: !spared };
    const { isHurried } = this.detail;
    if (!isHurried) {
      Object.assign(request, { drops: {}, marks: true, head_bytes: HEAD_BYTES });
      // The reports of single packets that routers of this version support.
      for (const name of ["packets", "arbitrations"]) if (known.has(name)) request[name] = true;
      if (this.patience.withoutPackets) request.packets = undefined;
    }
    // Without single packets: whose they are, picture by picture.
    if (!request.packets && known.has("flows")) Object.assign(request, { flows: true, head_bytes: HEAD_BYTES });
    if (this.mayLose && known.has("may_lose")) request.may_lose = true;
    this.model.isHurried = isHurried;
    this.model.isTooFast = this.patience.withoutPackets;
    this.model.knowsPackets = Boolean(request.packets);
    return request;
  }

  take(message) {
    if (message.start) {
      this.onState(this.model, { isThere: true });
      this.patience.begins();
    }
    const before = this.model.lostEvents;
    this.model.take(message);
    if (!this.model.knowsPackets) return;
    const hasLost = this.model.lostEvents > before;
    if (this.patience.told(performance.now(), this.model.toldPs / 1e9, hasLost)) this.begin();
  }

  // Whether packets are too many by now, or few enough again.
  lookAgain(nowMs) {
    const { knowsPackets, samples } = this.model, { newestPs } = samples;
    if (!this.watch || !(knowsPackets || this.patience.withoutPackets)) return;
    const ports = samples.at(newestPs)?.ports ?? [];
    if (this.patience.sends(nowMs, ports.reduce((sum, { port }) => sum + (samples.rateAt(newestPs, port) ?? 0), 0))) this.begin();
  }

  // The page lets time pass at another pace: what does not fit into it is left out, and comes back.
  setPace(pace) {
    const next = detailAt(pace);
    if (next.isHurried === this.detail.isHurried && next.intervalMs === this.detail.intervalMs) return;
    this.detail = next;
    // A watch that is not open yet requests the new detail when it opens.
    if (this.watch) this.begin();
  }

  begin() {
    this.watch.cancel();
    this.open();
  }

  async describe() {
    this.model.samples.describe(await this.calls.call(this.model.name, ROUTER, "Describe", this.target));
  }

  end() {
    this.isEnded = true;
    clearInterval(this.timer);
    this.watch?.cancel();
  }
}
