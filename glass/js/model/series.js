// Curves out of what insides keep by time: how deep a queue was, and what each flow got through.

// More changes than this cannot be told apart in a curve.
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

// Of fewer packets of a flow in a part of a span there is no rate to speak of.
const PACKETS_A_PART = 5, PARTS_LEAST = 2;

// What left the router in equal parts of a span, `most` of them where there are packets enough: {xs, byFlow: Map of number -> bits a second}.
// Packets on a flow's way back are left out: they carry acknowledgments.
export function throughputSeries(insides, fromPs, toPs, most) {
  const tracks = [...insides.sent].filter(([{ reverse }, track]) => !reverse && track.after(toPs) > track.after(fromPs));
  const packets = tracks.reduce((sum, [, track]) => sum + track.after(toPs) - track.after(fromPs), 0);
  const enough = Math.floor(packets / (PACKETS_A_PART * Math.max(1, tracks.length)));
  const parts = Math.min(most, Math.max(PARTS_LEAST, enough));
  const width = (toPs - fromPs) / parts;
  const xs = Array.from({ length: parts }, (_, i) => (fromPs + width * (i + 0.5)) / 1e12);
  const byFlow = new Map();
  for (const [{ number }, track] of tracks) {
    let before = track.at(fromPs, track.first);
    byFlow.set(number, xs.map((_, index) => {
      const until = track.at(index === parts - 1 ? toPs : fromPs + width * (index + 1), track.first);
      const bits = (until - before) * 8;
      before = until;
      return (bits * 1e12) / width;
    }));
  }
  return { xs, byFlow };
}
