// Curves from the tracks of insides: the depth of a queue, and the throughput of each flow.

import { RATE_WINDOW_PS } from "./samples.js";

// More changes than this cannot be distinguished in a curve.
const CHANGES_MAX = 2000;

// [[times in seconds], [packets or bytes]] of a queue, a point at each change of its track.
export function depthSeries(track, fromPs, toPs) {
  let depth = track?.at(fromPs) ?? 0;
  const xs = [fromPs / 1e12], ys = [depth];
  const from = track?.after(fromPs) ?? 0, to = track?.after(toPs) ?? 0;
  // Of many changes some: the curve still goes through what was true.
  const stride = Math.max(1, Math.ceil((to - from) / CHANGES_MAX));
  for (let index = from; index < to; index += stride) {
    // Of several changes at one instant the last one counts.
    let last = index;
    while (last + 1 < to && track.times[last + 1] === track.times[index]) last++;
    index = last;
    if (track.values[index] === depth) continue;
    xs.push(track.times[index] / 1e12);
    ys.push(depth);
    depth = track.values[index];
    xs.push(track.times[index] / 1e12);
    ys.push(depth);
  }
  const end = track?.at(toPs, depth) ?? depth;
  xs.push(toPs / 1e12);
  ys.push(end);
  return [xs, ys];
}

// Rates of each flow at instants of a span, the last one included: {xs, byFlow: Map of number -> bits a second}, over the
// window before each of them; null where not all of the window is remembered.
// Packets on a flow's way back are left out: they carry acknowledgments.
export function throughputSeries(insides, fromPs, toPs, parts, windowPs = RATE_WINDOW_PS) {
  const tracks = [...insides.sent].filter(([{ reverse }, track]) => !reverse && track.after(toPs) > track.after(fromPs - windowPs));
  const instants = Array.from({ length: parts }, (_, i) => fromPs + ((toPs - fromPs) * (i + 1)) / parts);
  const byFlow = new Map();
  for (const [{ number }, track] of tracks) {
    byFlow.set(number, instants.map((each) => {
      if (each - windowPs < insides.curvesStartPs) return null;
      return ((track.sloped(each, track.first) - track.sloped(each - windowPs, track.first)) * 8 * 1e12) / windowPs;
    }));
  }
  return { xs: instants.map((each) => each / 1e12), byFlow };
}
