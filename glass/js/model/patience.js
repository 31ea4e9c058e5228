// Whether the page requests single packets of a router, or depths alone because packets are too many to report: a rule
// of instants and reports, without a clock.
//
// tests/bench/patience.py is the same for a bench, which looks at routers as the page does;
// tests/glass/patience.json has stories with which both must agree.

// Events that are missing so soon after others were missing too are too many.
const LOST_TWICE_MS = 10_000;
// This long after packets were too many they are requested again; twice as long after each time that they still are.
const AGAIN_MS = 10_000, AGAIN_MS_MAX = 160_000;
// A live router whose packets are reported later than this is shown without them.
const BEHIND_MS = 2000;
// A live router that sends more than this needs its processors for itself: reporting single packets, which are
// invisible at that speed, took a fifth of the throughput of a port of 10 Gb/s on two processors.
const PACKETS_BPS_MAX = 2e9;

export class Patience {
  // `isLive`: the router's time passes as ours.
  constructor({ isLive = false } = {}) {
    this.isLive = isLive;
    this.withoutPackets = false;
    this.patienceMs = AGAIN_MS;
    this.lostAtMs = this.againAtMs = -Infinity;
    this.begins();
  }

  // A watch begins. How late is late is learnt anew, as its clock may be another.
  begins() {
    this.leastMs = Infinity;
  }

  // All of the following say whether the watch is to begin anew.

  // Single packets are known until an instant of the router's; `hasLost`: and some are missing. Then the places of
  // packets are unknown: a new watch begins with the packets inside.
  told(nowMs, untilMs, hasLost) {
    if (this.withoutPackets || !(hasLost || this.isBehind(nowMs, untilMs))) return false;
    if (nowMs - this.lostAtMs < LOST_TWICE_MS) this.giveUp(nowMs);
    this.lostAtMs = nowMs;
    return true;
  }

  // The router holds more packets than it tells one by one, and said so.
  refused(nowMs) {
    this.giveUp(nowMs);
    return true;
  }

  // So many bits a second have just left the router.
  sends(nowMs, bps) {
    const isFast = this.isLive && bps > PACKETS_BPS_MAX;
    if (!this.withoutPackets) {
      if (isFast) this.giveUp(nowMs);
      return isFast;
    }
    // A burst ends at some time: then single packets can be requested again.
    if (isFast || nowMs < this.againAtMs) return false;
    this.withoutPackets = false;
    // Lost once more, and they are still too many.
    this.lostAtMs = nowMs;
    return true;
  }

  // Whether a machine that is busy tells this router later and later: what waits on the way is then
  // left out, so that all routers of a network are seen at one time.
  isBehind(nowMs, untilMs) {
    const lateMs = nowMs - untilMs;
    this.leastMs = Math.min(this.leastMs, lateMs);
    return this.isLive && lateMs - this.leastMs > BEHIND_MS;
  }

  // Depths alone for a while.
  giveUp(nowMs) {
    if (nowMs - this.againAtMs > AGAIN_MS_MAX) this.patienceMs = AGAIN_MS;
    this.withoutPackets = true;
    this.againAtMs = nowMs + this.patienceMs;
    this.patienceMs = Math.min(2 * this.patienceMs, AGAIN_MS_MAX);
  }
}
