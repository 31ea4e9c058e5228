// The claims of telemetry systems about a queue, as labs/score/replay.py writes them into a recording.
//
// A system knows of a build-up from the instant at which its controller knew. The picture does not show the future: until
// then a build-up is `unseen`, whether a claim comes later or never.

import { placeAfter } from "./order.js";

// Bars of a system at an instant: {kind, fromPs, toPs, knownPs, claim}.
export function barsAt({ claims, buildups }, timePs) {
  const bars = buildups.filter(({ crossedPs, knownPs }) => crossedPs <= timePs && (knownPs === null || knownPs > timePs))
    .map(({ beginPs, endPs }) => ({ kind: endPs <= timePs ? "missed" : "unseen", fromPs: beginPs, toPs: Math.min(endPs, timePs) }));
  for (const claim of claims) {
    if (claim.knownPs > timePs) continue;
    // At most up to now: what follows it does not know yet.
    bars.push({ kind: claim.isRight ? "right" : "false", fromPs: claim.beginPs, toPs: Math.min(claim.endPs, timePs),
                knownPs: claim.knownPs, claim });
  }
  return bars;
}

// How a system stands to the queue at an instant: "knows", "unaware", "false", or undefined where nothing is deep and it
// says nothing.
export function standing(system, timePs) {
  const now = system.buildups.find(({ crossedPs, endPs }) => crossedPs <= timePs && timePs <= endPs);
  if (now) return now.knownPs !== null && now.knownPs <= timePs ? "knows" : "unaware";
  const isFalse = system.claims.some((each) => !each.isRight && each.knownPs <= timePs && timePs <= each.endPs);
  return isFalse ? "false" : undefined;
}

// The depth after the last change that is not later.
export function depthAt(depth, timePs) {
  // Each change is [timePs, bytes].
  return depth[placeAfter(depth, timePs, 0) - 1]?.[1] ?? 0;
}

const list = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]);
const verb = (names, one, many) => `${list(names)} ${names.length > 1 ? many : one}`;

// A sentence about an instant; `size` says a number of bytes.
export function sentence({ systems, depth, buildups, thresholdBytes }, timePs, size) {
  const held = depthAt(depth, timePs), waits = held ? `${size(held)} wait` : "nothing waits";
  const isDeep = systems.some((each) => ["knows", "unaware"].includes(standing(each, timePs)));
  const of = (what) => systems.filter((each) => standing(each, timePs) === what).map(({ name }) => name);
  const parts = [];
  if (isDeep) {
    const [aware, unaware] = [of("knows"), of("unaware")];
    if (aware.length) parts.push(verb(aware, "knows", "know"));
    if (unaware.length) parts.push(verb(unaware, "does not know", "do not know"));
    return `${waits}, a build-up: ${parts.join("; ")}.`;
  }
  const wrong = of("false");
  if (wrong.length) parts.push(`${verb(wrong, "reports", "report")} a build-up that is not there`);
  const over = buildups.filter(({ endPs }) => endPs < timePs).length;
  return [`${waits}${held ? `, no build-up (${size(thresholdBytes)})` : ""}; build-ups so far: ${over}.`, ...parts.map((each) => `${each}.`)].join(" ");
}
