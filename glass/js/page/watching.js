// Keeps a router's model up to date: one Watch that comes back by itself, and Describe whenever the
// configuration may have changed.

import { ROUTER } from "../wire/calls.js";

const HEAD_BYTES = 48;
const RETRY_MS = 700;
const LOST_TWICE_MS = 10_000;
// So long after packets were too many they are asked for again; twice as long after each time that they
// still are.
const AGAIN_MS = 10_000, AGAIN_MS_MAX = 160_000;
// A live router that sends more than this needs its processors for itself: telling single packets, which
// nobody sees at that speed, took a fifth of the throughput of a port of 10 Gb/s on two processors.
const PACKETS_BPS_MAX = 2e9;
// A machine that has too much to do for single packets is asked for samples as seldom as a curve can bear: each is a
// message, and takes from routers and hosts what it costs to carry and to read.
const FAST_SAMPLE_MS = 100;
// A live router whose packets are told so much later than they happened is not seen as it is.
const BEHIND_MS = 2000;
// What a router says that holds more packets than it tells one by one: RESOURCE_EXHAUSTED.
const TOO_MUCH = 8;
// A router of more ports has larger samples: it is asked for them as much less often.
const PORTS_A_SAMPLE = 16;
// Others may change the configuration too: it is read anew this often.
const DESCRIBE_MS = 2000;
// Where a second of the viewer is more seconds of the network than this, no picture shows single packets.
const PACKETS_PACE_MAX = 20;
// As the switch takes it.
const INTERVAL_MS_MAX = 1000;

// What is asked of a network whose time the page drives, at a pace: whether single packets, and samples
// how far from each other, so that there are at most a thousand of them in a second of the viewer.
export function detailAt(pace) {
  return pace > PACKETS_PACE_MAX ? { isHurried: true, intervalMs: Math.ceil(pace) } : { isHurried: false, intervalMs: 1 };
}

// Whether time must not wait for this page: where others let it pass.
export const mayLose = (scene) => !scene.isDriven || Boolean(scene.readOnly);

export class Watching {
  // onState({isThere, why}) tells when the router comes and goes; `isLive`: its time passes as ours;
  // `mayLose`: others let its time pass, which must not wait for this page.
  constructor(calls, model, { intervalMs, isLive = false, mayLose = false, onState }) {
    Object.assign(this, { calls, model, intervalMs, isLive, mayLose, onState });
    this.detail = detailAt(1);
    this.isEnded = false;
    this.patienceMs = AGAIN_MS;
    this.open();
    this.timer = setInterval(() => {
      this.spare(performance.now());
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
      if (turn !== this.turn) return;
      this.onState({ isThere: false, why: error.message });
      setTimeout(() => this.open(), RETRY_MS);
      return;
    }
    // It was begun again meanwhile, or has ended.
    if (turn !== this.turn || this.isEnded) return;
    this.watch = this.calls.open(this.model.name, ROUTER, "Watch", this.request(), {
      next: (message) => this.take(message),
      ended: (error) => {
        if (this.isEnded) return;
        if (this.model.knowsPackets && error?.code === TOO_MUCH) this.giveUp(performance.now());
        else this.onState({ isThere: false, why: error?.message ?? "the router has ended the watch" });
        setTimeout(() => this.open(), RETRY_MS);
      },
    });
  }

  request() {
    const known = this.calls.schema.message("vitrine.v1.WatchRequest").byName;
    const spared = this.isLive && this.withoutPackets ? FAST_SAMPLE_MS : 0;
    const everyMs = Math.max(this.intervalMs, this.detail.intervalMs, spared) * Math.ceil(this.model.ports / PORTS_A_SAMPLE);
    const request = { ...this.target, interval_ms: Math.min(everyMs, INTERVAL_MS_MAX), links: true, overruns: !spared };
    const { isHurried } = this.detail;
    if (!isHurried) {
      Object.assign(request, { drops: {}, marks: true, head_bytes: HEAD_BYTES });
      // What routers of this version tell of single packets.
      for (const name of ["packets", "arbitrations"]) if (known.has(name)) request[name] = true;
      if (this.withoutPackets) request.packets = undefined;
    }
    // Without single packets: whose they are, picture by picture.
    if (!request.packets && known.has("flows")) Object.assign(request, { flows: true, head_bytes: HEAD_BYTES });
    if (this.mayLose && known.has("may_lose")) request.may_lose = true;
    this.model.isHurried = isHurried;
    this.model.knowsPackets = Boolean(request.packets);
    return request;
  }

  take(message) {
    if (message.start) {
      this.onState({ isThere: true });
      this.leastMs = Infinity;
    }
    const before = this.model.lostEvents;
    this.model.take(message);
    if (this.model.knowsPackets && (this.model.lostEvents > before || this.isBehind(performance.now()))) this.lose();
  }

  // Whether a machine that is busy tells this router later and later: what waits on the way is then
  // left out, so that all routers of a network are seen at one time.
  isBehind(nowMs) {
    const lateMs = nowMs - this.model.toldPs / 1e9;
    this.leastMs = Math.min(this.leastMs ?? Infinity, lateMs);
    return this.isLive && lateMs - this.leastMs > BEHIND_MS;
  }

  // Who waits where is not known any more: a new watch begins with what is inside. A router whose
  // packets are too many to be told is asked for depths alone, which cost it nothing.
  lose() {
    const now = performance.now();
    if (now - (this.lostAt ?? -Infinity) < LOST_TWICE_MS) this.giveUp(now);
    this.lostAt = now;
    this.begin();
  }

  // Depths alone for a while.
  giveUp(nowMs) {
    if (nowMs - (this.againAt ?? -Infinity) > AGAIN_MS_MAX) this.patienceMs = AGAIN_MS;
    this.withoutPackets = this.model.isTooFast = true;
    this.againAt = nowMs + this.patienceMs;
    this.patienceMs = Math.min(2 * this.patienceMs, AGAIN_MS_MAX);
  }

  // Whether a live router has just sent more than can be told packet by packet.
  isFast() {
    const { samples } = this.model, { newestPs } = samples;
    const ports = samples.at(newestPs)?.ports ?? [];
    return this.isLive && ports.reduce((sum, { port }) => sum + samples.rateAt(newestPs, port), 0) > PACKETS_BPS_MAX;
  }

  spare(nowMs) {
    if (!this.model.knowsPackets || !this.watch || !this.isFast()) return;
    this.giveUp(nowMs);
    this.begin();
  }

  // A burst is over some day: then single packets can be told again.
  lookAgain(nowMs) {
    if (!this.withoutPackets || nowMs < this.againAt || !this.watch || this.isFast()) return;
    this.withoutPackets = this.model.isTooFast = false;
    // Lost once more, and they are still too many.
    this.lostAt = nowMs;
    this.begin();
  }

  // The page lets time pass at another pace: what does not fit into it is left out, and comes back.
  setPace(pace) {
    const next = detailAt(pace);
    if (next.isHurried === this.detail.isHurried && next.intervalMs === this.detail.intervalMs) return;
    this.detail = next;
    // One that is about to be opened asks for it.
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
