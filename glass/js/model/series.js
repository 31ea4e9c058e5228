// Curves out of steps: how deep a queue was, and what each flow got through, in a span of time.

import { input, queue } from "./insides.js";

// [[times in seconds], [packets]] of a queue, a point at each change; `key` as in Insides.
export function depthSeries(insides, key, fromPs, toPs) {
  const inside = new Set(insides.at(fromPs, "series").in(key).map((packet) => packet.id));
  let depth = inside.size;
  const xs = [fromPs / 1e12], ys = [depth];
  for (const step of insides.between(fromPs, toPs)) {
    if (step.kind === "begin") {
      inside.clear();
    } else if (keyOf(step) === key) {
      inside.add(step.id);
    } else if (inside.has(step.id)) {
      inside.delete(step.id);
    } else continue;
    if (inside.size === depth) continue;
    xs.push(step.timePs / 1e12);
    ys.push(depth);
    depth = inside.size;
    xs.push(step.timePs / 1e12);
    ys.push(depth);
  }
  xs.push(toPs / 1e12);
  ys.push(depth);
  return [xs, ys];
}

function keyOf(step) {
  const place = step.kind === "inside" ? step.place : step.kind;
  if (place === "filed") return input(step.at.input);
  if (place === "queued") return queue(step.at.port, step.at.class);
  return undefined;
}

// What left the router in equal parts of a span: {xs, byFlow: Map of number -> bits a second}.
// Packets on a flow's way back are left out: they carry acknowledgments.
export function throughputSeries(insides, fromPs, toPs, parts) {
  const width = (toPs - fromPs) / parts;
  const xs = Array.from({ length: parts }, (_, i) => (fromPs + width * (i + 0.5)) / 1e12);
  const byFlow = new Map();
  for (const step of insides.between(fromPs, toPs)) {
    if (step.kind !== "transmitted") continue;
    const packet = step.of;
    if (!packet || packet.flow.reverse) continue;
    const { number } = packet.flow;
    if (!byFlow.has(number)) byFlow.set(number, new Array(parts).fill(0));
    const part = Math.min(parts - 1, Math.floor((step.timePs - fromPs) / width));
    byFlow.get(number)[part] += (step.length * 8e12) / width;
  }
  return { xs, byFlow };
}
