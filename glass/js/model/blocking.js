// Who is blocked by whom, found in a state: what the page points at.

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

// A router's episodes of blocking, by input: stable words for what comes and goes with each packet.
//
//   const episodes = new Episodes()
//   episodes.see(blockedHeads(...), timePs, holdPs)   // -> [{...found, sincePs, isNow}]
//
// An episode lasts until nothing was blocked for `holdPs`; before its beginning, or after a leap, there is none.
export class Episodes {
  constructor() {
    this.byInput = new Map();
  }

  see(found, timePs, holdPs) {
    for (const [port, each] of this.byInput) {
      if (timePs < each.sincePs || timePs > each.lastPs + holdPs) this.byInput.delete(port);
    }
    for (const each of found) {
      const known = this.byInput.get(each.input);
      const lastPs = Math.max(timePs, known?.lastPs ?? 0);
      this.byInput.set(each.input, { ...each, sincePs: known?.sincePs ?? timePs, lastPs });
    }
    const now = new Set(found.map((each) => each.input));
    return [...this.byInput.values()].map((each) => ({ ...each, isNow: now.has(each.input) }));
  }

  end() {
    this.byInput.clear();
  }
}

function waits(state, about, port) {
  const classes = about.ports.find((each) => each.port === port)?.config.queues ?? [];
  return classes.some((each) => state.in(queue(port, each.class)).length > 0);
}
