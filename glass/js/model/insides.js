// The inside of a router at an instant: the queue, crossing or line of each packet.
//
//   const insides = new Insides(flows);
//   insides.start(message)                  // WatchStart, again after a gap
//   insides.take(event)                     // every Event that follows, in the order of time
// insides.at(timePs)                      // the state at any remembered instant
//
// `at` depends on the events and the instant alone. Copies of the state, and going on from the last requested instant,
// only make it fast: a picture is drawn 60 times a second, and between two of them little happens.

import { sizeOf } from "./memory.js";
import { Track } from "./track.js";

// The steps between two copies of the state; more where many packets are inside.
const STEPS_A_KEYFRAME = 2000;
// The bytes of a point of a curve on the heap.
const POINT_BYTES = 24;
// The bytes of a step, of a packet's beginning and of a copy of the state.
const STEP_BYTES = 320, PACKET_BYTES = 380, KEYFRAME_BYTES = 12_000, COPIED_PACKET_BYTES = 40;
// The share that is kept when the memory is used up.
const KEPT_SHARE = 0.75;
// Drops that are remembered in a state, for those that still fall in the picture.
const DROPS_SHOWN = 200;

export class Insides {
  // `bytesMax`: beyond that the oldest steps are forgotten; `curvesBytesMax`: the same of curves.
  constructor(flows, bytesMax = Infinity, curvesBytesMax = Infinity) {
    Object.assign(this, { flows, bytesMax, curvesBytesMax });
    // Bytes of everything that was ever remembered, by estimate; those before `keyframes[0].bytes` are gone.
    this.bytesTaken = 0;
    this.steps = [];
    // {index, state, bytes}: the state before step `index`, and `bytesTaken` then. The first one is what
    // `start` told.
    this.keyframes = [{ index: 0, state: new State(), bytes: 0 }];
    // Where each reader was last, by its name.
    this.cursors = new Map();
    this.newest = { index: 0, state: this.keyframes[0].state.copy() };
    // From when on steps are remembered, and from when on curves are.
    this.startPs = this.curvesStartPs = 0;
    // For curves: depths by queue in packets and in bytes, bytes sent by flow and direction, and the waiting
    // times of the packets that left a queue.
    this.depths = new Map();
    this.depthsBytes = new Map();
    this.sent = new Map();
    this.waits = new Map();
  }

  // A watch begins, for the first time or anew after a gap: events report the packets inside.
  start(message) {
    if (this.steps.length === 0) this.startPs = this.curvesStartPs = message.time_ps;
    this.push({ timePs: message.time_ps, kind: "begin" });
  }

  take(event) {
    const told = event[event.kind];
    if (event.kind === "packet") this.push(this.stepOf(event.time_ps, told));
    else if (event.kind === "arbitration") this.push({ timePs: event.time_ps, kind: "arbitration", arbitration: told });
  }

  push(step) {
    this.steps.push(step);
    // A step has its packet, for readers without the state.
    step.of = step.packet ?? this.newest.state.packets.get(step.id);
    apply(this.newest.state, step);
    this.keep(step);
    this.bytesTaken += STEP_BYTES + (step.packet ? PACKET_BYTES : 0) + (step.arbitration ? sizeOf(step.arbitration) : 0);
    this.newest.index = this.steps.length;
    // A copy costs as much as there are packets.
    const { index } = this.keyframes.at(-1);
    if (this.steps.length - index >= Math.max(STEPS_A_KEYFRAME, this.newest.state.packets.size)) {
      this.keyframes.push({ index: this.steps.length, state: this.newest.state.copy(), bytes: this.bytesTaken });
      this.bytesTaken += KEYFRAME_BYTES + COPIED_PACKET_BYTES * this.newest.state.packets.size;
      if (this.bytes > this.bytesMax) this.shrink(KEPT_SHARE * this.bytesMax);
      this.boundCurves();
    }
  }

  // The bytes of the remembered data on the heap, by estimate.
  get bytes() {
    return this.bytesTaken - this.keyframes[0].bytes;
  }

  // Forgets the oldest data until at most `bytes` are left, but keeps all steps after the last
  // copy.
  shrink(bytes) {
    const found = this.keyframes.findIndex((each) => this.bytesTaken - each.bytes <= bytes);
    this.drop(found < 0 ? this.keyframes.length - 1 : found);
  }

  // Adds the changes of the newest step to the curves.
  keep(step) {
    const { state } = this.newest;
    if (step.kind === "begin") {
      for (const track of [...this.depths.values(), ...this.depthsBytes.values()]) track.push(step.timePs, 0);
      return;
    }
    if (step.kind === "arbitration") return;
    const { of } = step;
    const left = of && keyOf(of), now = state.packets.get(step.id);
    for (const key of new Set([left, now && keyOf(now)])) {
      if (key === undefined) continue;
      if (!this.depths.has(key)) {
        this.depths.set(key, new Track());
        this.depthsBytes.set(key, new Track());
      }
      this.depths.get(key).push(step.timePs, state.in(key).length);
      this.depthsBytes.get(key).push(step.timePs, state.bytesIn(key));
    }
    if (left !== undefined && step.kind !== "dropped" && (!now || left !== keyOf(now))) {
      if (!this.waits.has(left)) this.waits.set(left, new Track());
      this.waits.get(left).push(step.timePs, step.timePs - of.since);
    }
    if (step.kind !== "transmitted" || !of) return;
    const { flow } = of;
    if (!this.sent.has(flow)) this.sent.set(flow, Object.assign(new Track(), { total: 0, first: 0 }));
    const sent = this.sent.get(flow);
    // Bit by bit while the line sends it: no window has more of it than the line carries.
    const beganPs = Math.max(step.timePs, sent.times.at(-1) ?? 0);
    sent.push(beganPs, sent.total);
    sent.push(Math.max(beganPs, step.untilPs ?? beganPs), sent.total += step.length);
  }

  // The state after everything that happened until `timePs`, that instant included. It is the
  // reader's until it asks again.
  at(timePs, reader = "picture") {
    let cursor = this.cursors.get(reader);
    if (!cursor || timePs < cursor.state.timePs) cursor = this.begin(timePs, reader);
    const { state } = cursor;
    while (cursor.index < this.steps.length && this.steps[cursor.index].timePs <= timePs) {
      apply(state, this.steps[cursor.index++]);
    }
    state.timePs = timePs;
    return state;
  }

  // From the last copy before an instant.
  begin(timePs, reader) {
    let from = this.keyframes[0];
    for (const each of this.keyframes) if (each.state.timePs <= timePs) from = each;
    const cursor = { index: from.index, state: from.state.copy() };
    this.cursors.set(reader, cursor);
    return cursor;
  }

  // The steps in (from, to], for packets about to arrive: those still on a line.
  between(fromPs, toPs) {
    const found = [];
    for (let index = this.after(fromPs); index < this.steps.length; index++) {
      if (this.steps[index].timePs > toPs) break;
      found.push(this.steps[index]);
    }
    return found;
  }

  // When something last happened.
  get lastPs() {
    return this.steps.at(-1)?.timePs ?? 0;
  }

  // How many there are.
  count(fromPs, toPs) {
    return this.after(toPs) - this.after(fromPs);
  }

  // The instants around one at which something happens that is wanted: for stepping.
  next(timePs, isWanted = () => true) {
    let index = this.after(timePs);
    while (index < this.steps.length && !isWanted(this.steps[index])) index++;
    return this.steps[index]?.timePs;
  }

  previous(timePs, isWanted = () => true) {
    let index = this.after(timePs) - 1;
    while (index >= 0 && (this.steps[index].timePs >= timePs || !isWanted(this.steps[index]))) index--;
    return this.steps[index]?.timePs;
  }

  // The place of the first step after that instant.
  after(timePs) {
    let low = 0, high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle].timePs <= timePs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Forgets what is older, a whole keyframe at a time.
  forget(beforePs) {
    let drop = 0;
    while (drop + 1 < this.keyframes.length && this.keyframes[drop + 1].state.timePs < beforePs) {
      drop++;
    }
    this.drop(drop);
    this.forgetCurves(this.startPs);
  }

  get tracks() {
    return [...this.depths.values(), ...this.depthsBytes.values(), ...this.sent.values(), ...this.waits.values()];
  }

  // Curves take a tenth of the steps' memory, and reach farther back. When their share is used up
  // their oldest quarter goes, by points and not by time.
  boundCurves() {
    const points = () => this.tracks.reduce((sum, each) => sum + each.times.length, 0);
    for (let before = Infinity, now = points(); now * POINT_BYTES > this.curvesBytesMax && now < before;) {
      const { times } = this.tracks.reduce((most, each) => (each.times.length > most.times.length ? each : most));
      this.forgetCurves(times[times.length >> 2]);
      [before, now] = [now, points()];
    }
  }

  forgetCurves(beforePs) {
    this.curvesStartPs = Math.max(this.curvesStartPs, beforePs);
    for (const track of [...this.depths.values(), ...this.depthsBytes.values(), ...this.waits.values()]) track.forget(beforePs);
    for (const [flow, track] of this.sent) {
      track.forget(beforePs);
      track.first = track.values[0] ?? track.total;
      // A flow that has sent nothing since.
      if (track.times.at(-1) < beforePs) this.sent.delete(flow);
    }
  }

  // Forgets the first keyframes and the steps behind each of them.
  drop(drop) {
    if (drop === 0) return;
    const gone = this.keyframes[drop].index;
    this.steps.splice(0, gone);
    this.keyframes.splice(0, drop);
    for (const each of this.keyframes) each.index -= gone;
    this.newest.index -= gone;
    this.startPs = this.keyframes[0].state.timePs;
    for (const [reader, cursor] of this.cursors) {
      cursor.index -= gone;
      if (cursor.index < 0) this.cursors.delete(reader);
    }
  }

  // ---- messages to steps ------------------------------------------------------------------------

  // {timePs, id, kind, ...}: an event in short, with the packet itself where it is new. Bytes of a message are copied:
  // a slice of them would keep the whole message alive.
  stepOf(timePs, { packet: id, step: kind, ...event }) {
    const told = event[kind];
    const step = { timePs, id, kind };
    switch (kind) {
      case "inside": {
        const packet = this.packet(id, told, told.input, told.since_ps);
        return { ...step, packet, place: told.place, at: told[told.place], since: told.since_ps };
      }
      case "received": return { ...step, packet: this.packet(id, told, told.port, timePs) };
      case "copied": return { ...step, packet: this.packet(id, told, 0, timePs), from: told.from };
      case "recirculated": return { ...step, length: told.length_bytes };
      case "filed": case "queued": return { ...step, at: told };
      case "crossing": return { ...step, at: told.from, untilPs: told.until_ps };
      case "departed": return { ...step, at: told.queue, marked: told.marked };
      case "transmitted":
        return { ...step, port: told.port, length: told.length_bytes, untilPs: told.until_ps };
      case "dropped": return { ...step, reason: told.reason, queue: told.queue };
      default: return step;
    }
  }

  packet(id, told, port, since) {
    return { id, port, length: told.length_bytes, flow: this.flows.of(told.head, this.newest.state.timePs, told.length_bytes),
             head: told.head.slice(), kind: "received", since, marked: false };
  }
}

// ---- the state ---------------------------------------------------------------------------------

// Every packet that is inside is in `packets` and, where it waits, in one list of `waiting`, the one
// that leaves first in front; those on their way out are in `lines`. Packets, `crossings` and the
// lists of lines are never changed, only replaced.
class State {
  constructor() {
    this.timePs = 0;
    this.packets = new Map();
    this.waiting = new Map();
    this.bytes = new Map();
    // The current packet of each line, and its last one.
    this.lines = new Map();
    // The matches of the crossbar that hold, each by the packet that crosses.
    this.crossings = [];
    this.drops = [];
    // When something last left the head of a queue, by the queue's key.
    this.moved = new Map();
    // Packets that left with a mark, for those that are still seen.
    this.marks = [];
    // The last step of the arbiter, and its pointers before it.
    this.arbitration = undefined;
    this.pointersBefore = undefined;
    // The number of packets that ended here since the first remembered instant, by reason.
    this.dropped = new Map();
  }

  copy() {
    const copy = new State();
    copy.timePs = this.timePs;
    copy.packets = new Map(this.packets);
    for (const [key, list] of this.waiting) if (list.length) copy.waiting.set(key, [...list]);
    copy.bytes = new Map(this.bytes);
    copy.lines = new Map(this.lines);
    copy.crossings = this.crossings;
    copy.drops = [...this.drops];
    copy.moved = new Map(this.moved);
    copy.marks = [...this.marks];
    copy.arbitration = this.arbitration;
    copy.pointersBefore = this.pointersBefore;
    copy.dropped = new Map(this.dropped);
    return copy;
  }

  // The packets in a queue: `input(1)` or `queue(2, 0)` as keys.
  in(key) {
    return this.waiting.get(key) ?? NOBODY;
  }

  // How long all of them are together.
  bytesIn(key) {
    return this.bytes.get(key) ?? 0;
  }

  clear() {
    this.packets.clear();
    this.waiting.clear();
    this.bytes.clear();
    this.lines.clear();
    this.crossings = [];
  }

  // An input and an output are matched until both are free again, wherever the packet is by then.
  cross(packet) {
    this.crossings = [...this.crossings.filter((each) => each.untilPs > this.timePs), packet];
  }

  drop(drop) {
    this.drops.push(drop);
    if (this.drops.length > DROPS_SHOWN) this.drops.splice(0, DROPS_SHOWN / 2);
    this.dropped.set(drop.reason, (this.dropped.get(drop.reason) ?? 0) + 1);
  }

  mark(mark) {
    this.marks.push(mark);
    if (this.marks.length > DROPS_SHOWN) this.marks.splice(0, DROPS_SHOWN / 2);
  }

  // A packet that is sent takes no further step; it is known until the line has sent another.
  send(packet) {
    const earlier = this.onLine(packet.outPort).filter((each) => each.untilPs > this.timePs);
    this.lines.set(packet.outPort, [...earlier, packet]);
  }

  onLine(port) {
    return this.lines.get(port) ?? NOBODY;
  }

  put(packet) {
    this.packets.set(packet.id, packet);
    const key = keyOf(packet);
    if (key !== undefined && !this.waiting.has(key)) this.waiting.set(key, []);
    if (key === undefined) return;
    this.waiting.get(key).push(packet);
    this.bytes.set(key, this.bytesIn(key) + packet.length);
  }

  take(id) {
    const packet = this.packets.get(id);
    if (!packet) return undefined;
    this.packets.delete(id);
    const key = keyOf(packet);
    const list = key === undefined ? undefined : this.waiting.get(key);
    if (list) {
      const index = list[0] === packet ? 0 : list.indexOf(packet);
      if (index >= 0) {
        list.splice(index, 1);
        this.bytes.set(key, this.bytesIn(key) - packet.length);
      }
      if (index === 0) this.moved.set(key, { timePs: this.timePs, length: packet.length });
    }
    return packet;
  }
}

const NOBODY = Object.freeze([]);

export const input = (port) => `input ${port}`;
export const queue = (port, class_) => `queue ${port}/${class_}`;

function keyOf(packet) {
  if (packet.kind === "filed") return input(packet.input);
  if (packet.kind === "queued") return queue(packet.outPort, packet.class);
  return undefined;
}

function apply(state, step) {
  state.timePs = Math.max(state.timePs, step.timePs);
  if (step.kind === "begin") return state.clear();
  if (step.kind === "arbitration") {
    state.pointersBefore = state.arbitration?.pointers;
    state.arbitration = { ...step.arbitration, timePs: step.timePs };
    return undefined;
  }
  const before = step.packet ?? state.take(step.id);
  // A packet from before the watch that is in no queue: nothing is known of it.
  if (!before) return undefined;
  const moved = { ...before, kind: step.kind, since: step.since ?? step.timePs };
  switch (step.kind) {
    case "inside": return state.put(placed(moved, step.place, step.at));
    case "filed": case "queued": return state.put(placed(moved, step.kind, step.at));
    case "crossing": {
      const crossing = { ...placed(moved, "crossing", step.at), untilPs: step.untilPs };
      state.cross(crossing);
      return state.put(crossing);
    }
    case "departed": {
      if (step.marked) state.mark({ timePs: step.timePs, packet: before, queue: step.at });
      return state.put({ ...moved, marked: step.marked });
    }
    case "recirculated": return state.put({ ...moved, length: step.length });
    case "transmitted":
      return state.send({ ...moved, outPort: step.port, length: step.length, untilPs: step.untilPs });
    case "dropped": return state.drop({ timePs: step.timePs, reason: step.reason, packet: before, queue: step.queue });
    case "replicated_by": return undefined;
    default: return state.put(moved);
  }
}

// A packet in its queue at an input or an output, or on its way between them.
function placed(packet, kind, at) {
  if (kind === "queued") return { ...packet, kind, outPort: at.port, class: at.class };
  return { ...packet, kind, input: at.input, output: at.output, class: at.class };
}
