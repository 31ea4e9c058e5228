// One time for all routers of a network.
//
//   const clocks = new Clocks()
// clocks.align(name, message)        a message of router `name`, its instants now on the common clock
//
// A live router counts from its own start and reports that in nanoseconds since 1970. The common clock is that of the
// router that answered first. In virtual time all have one clock, and nothing is changed.

// Fields that say when, not how long.
const INSTANTS = new Set(["time_ps", "complete_until_ps", "until_ps", "since_ps", "sending_until_ps", "enqueued_ps", "next_drop_ps"]);
// The start that a router reports differs from answer to answer by as much as the machine's clock is corrected. By more
// than this, and it has started again.
const STARTED_AGAIN_NS = 5e8;

export class Clocks {
  constructor() {
    // Reports of hosts are in the time of one of the routers: {"@world": "s1"}.
    this.sameAs = {};
    // The starts of routers, by their names, and the start of the one whose clock is the common one.
    this.startedNs = new Map();
    this.baseNs = undefined;
  }

  align(name, message) {
    const told = message.epoch_offset_ns ?? message.start?.epoch_offset_ns;
    if (told !== undefined) this.learn(name, told);
    const byPs = this.aheadPs(name);
    if (byPs) move(message, byPs);
    return message;
  }

  learn(name, startedNs) {
    this.baseNs ??= startedNs;
    const known = this.startedNs.get(name);
    if (known === undefined || Math.abs(startedNs - known) > STARTED_AGAIN_NS) this.startedNs.set(name, startedNs);
  }

  // The offset from a router's clock to the common one.
  aheadPs(name) {
    const startedNs = this.startedNs.get(this.sameAs[name] ?? name);
    return startedNs === undefined ? 0 : (startedNs - this.baseNs) * 1000;
  }
}

function move(message, byPs) {
  for (const [name, value] of Object.entries(message)) {
    if (typeof value === "number") {
      // 0 is no instant, but says that there is none.
      if (value && INSTANTS.has(name)) message[name] = value + byPs;
    } else if (Array.isArray(value)) {
      for (const each of value) if (typeof each === "object") move(each, byPs);
    } else if (value && typeof value === "object" && !ArrayBuffer.isView(value)) {
      move(value, byPs);
    }
  }
}
