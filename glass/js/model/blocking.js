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

function waits(state, about, port) {
  const classes = about.ports.find((each) => each.port === port)?.config.queues ?? [];
  return classes.some((each) => state.in(queue(port, each.class)).length > 0);
}
