// Blocked inputs and the packets that block them, found in a state, for the notice of the page.

import { input, queue } from "./insides.js";

// Packets in FIFO input queues that stand behind the head though their own output is idle: nothing
// crosses to it, nothing waits in its queues and its line sends nothing.
//
// [{input, head, outputs: [port], packets: Set of ids}]
export function blockedHeads(state, about) {
  if (about.input.queueing !== "FIFO") return [];
  const busy = new Set();
  for (const { output, untilPs } of state.crossings) if (untilPs > state.timePs) busy.add(output);
  for (const { port } of about.ports) {
    const sends = state.onLine(port).some((packet) => packet.untilPs > state.timePs);
    if (sends || waits(state, about, port)) busy.add(port);
  }
  const found = [];
  for (const { port } of about.ports) {
    const [head, ...behind] = state.in(input(port));
    if (!head || !busy.has(head.output)) continue;
    const stuck = behind.filter((packet) => !busy.has(packet.output));
    if (stuck.length === 0) continue;
    const outputs = [...new Set(stuck.map((packet) => packet.output))].sort((a, b) => a - b);
    found.push({ input: port, head, outputs, packets: new Set(stuck.map((packet) => packet.id)) });
  }
  return found;
}

// Instants at which an episode is looked for in the time that it may pause, in how many such times an episode is
// looked for when the viewer comes from elsewhere, and how many instants are remembered.
const LOOKS = 50, HOLDS_BACK = 40, INSTANTS_MAX = 20_000;

// A router's episodes of blocking, by input: stable words for a state that changes with each
// packet.
//
//   const episodes = new Episodes((timePs) => blockedHeads(...))
//   episodes.at(timePs, holdPs, startPs)   // -> [{...found, sincePs, isNow}]
//
// An episode lasts until nothing was blocked for `holdPs`. It is looked for at fixed instants since `startPs`, so
// what is said hangs on the network's time alone, and not on which pictures were drawn.
export class Episodes {
  constructor(blockedAt) {
    this.blockedAt = blockedAt;
    // The blocking at the instant `index * stepPs`, by index.
    this.found = new Map();
    this.stepPs = 0;
  }

  at(timePs, holdPs, startPs) {
    if (this.stepPs !== holdPs / LOOKS) this.found.clear();
    this.stepPs = holdPs / LOOKS;
    const last = Math.floor(timePs / this.stepPs), first = Math.ceil(startPs / this.stepPs);
    this.look(Math.max(first, last - HOLDS_BACK * LOOKS), last);
    const now = new Map(this.blockedAt(timePs).map((each) => [each.input, each]));
    const inputs = new Map(now);
    for (let index = last; index >= Math.max(first, last - LOOKS); index--) {
      for (const each of this.found.get(index)) if (!inputs.has(each.input)) inputs.set(each.input, each);
    }
    return [...inputs.values()].map((each) => ({
      ...each, sincePs: Math.min(this.since(each.input, last) ?? timePs, timePs), isNow: now.has(each.input),
    }));
  }

  look(first, last) {
    for (let index = first; index <= last; index++) {
      if (!this.found.has(index)) this.found.set(index, this.blockedAt(index * this.stepPs).map(shortly));
    }
    for (const index of this.found.keys()) {
      if (this.found.size <= INSTANTS_MAX) break;
      this.found.delete(index);
    }
  }

  // The first instant of the episode that lasts at `last`, as far as it was looked at.
  since(input, last) {
    let first;
    for (let index = last, gap = 0; gap <= LOOKS && this.found.has(index); index--, gap++) {
      if (!this.found.get(index).some((each) => each.input === input)) continue;
      first = index * this.stepPs;
      gap = 0;
    }
    return first;
  }
}

// Without the packets, which would stay in memory for as long.
const shortly = ({ input: port, head, outputs }) => ({ input: port, head: { output: head.output }, outputs });

function waits(state, about, port) {
  const classes = about.ports.find((each) => each.port === port)?.config.queues ?? [];
  return classes.some((each) => state.in(queue(port, each.class)).length > 0);
}
