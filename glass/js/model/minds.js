// The state of queue management, schedulers, token buckets and the shared buffer, in words.
// Configurations and states are those of vitrine.v1, at one instant.

import { bytes, count, percent, span } from "../words.js";

const FRAME_BYTES = 1514;
// RED's thresholds in packets, where it has no profile.
const RED_PROFILE = { min: 5, max: 15 };

export function aqmWords(config, state, timePs) {
  const kind = config?.aqm?.kind;
  if (!kind) return "";
  const told = state?.kind ? state[state.kind] : undefined;
  switch (kind) {
    case "codel": {
      const next = told?.next_drop_ps;
      if (next === undefined) return "CoDel: nobody waits too long";
      return next > timePs ? `CoDel: next drop in ${span((next - timePs) / 1e12)}, number ${told.count + 1}`
        : "CoDel: drops the next that waits too long";
    }
    case "pie": {
      if (!told) return "PIE";
      const left = told.burst_left_ns ? `, lets bursts through for ${span(told.burst_left_ns / 1e9)}` : "";
      return `PIE: ${share(told.probability_ppb)}, delay ${span(told.delay_ns / 1e9)}${left}`;
    }
    case "red": {
      const { min, max } = redThresholds(config.aqm.red);
      const unit = config.aqm.red.in_bytes ? bytes : count;
      return `RED: average ${unit(Math.round((told?.average_thousandths ?? 0) / 100) / 10)}, thresholds ${unit(min)} and ${unit(max)}`;
    }
    case "dualpi2":
      return told ? `DualPI2: p′ ${share(told.base_ppb)}, delay ${span(told.delay_ns / 1e9)}` : "DualPI2";
    case "ecn_step": {
      const { packets, bytes: size } = config.aqm.ecn_step.threshold ?? {};
      return `marks from ${packets ? `${packets} packets` : bytes(size ?? 0)}`;
    }
    default: return [spoken(kind), ...stateWords(told)].join(", ");
  }
}

// A state that has no words above: its message's fields, by the units that end their names.
const UNITS = {
  _bytes: bytes,
  _ns: (value) => span(value / 1e9),
  _packets: (value) => `${count(value)} packets`,
  _ppb: (value) => share(value),
  _ppm: (value) => percent(value / 1e6),
  _ps: (value) => span(value / 1e12),
};

function stateWords(told) {
  return Object.entries(told ?? {}).filter(([, value]) => typeof value === "number").map(([field, value]) => {
    const unit = Object.keys(UNITS).find((each) => field.endsWith(each));
    return unit ? `${spoken(field.slice(0, -unit.length))} ${UNITS[unit](value)}` : `${spoken(field)} ${count(value)}`;
  });
}

const spoken = (name) => name.replaceAll("_", " ");

const share = (ppb) => (ppb && ppb < 1e7 ? `${Number((ppb / 1e7).toPrecision(2))} %` : percent(ppb / 1e9));

// Of the first profile, as it is drawn: {min, max} in packets, or in bytes.
export function redThresholds(red) {
  return red?.profiles?.[0] ?? RED_PROFILE;
}

export function turnWords(turn) {
  if (!turn) return "";
  const whose = turn.current ? ", its turn" : "";
  switch (turn.kind) {
    case "deficit_bytes": return `deficit ${count(turn.deficit_bytes)} bytes${whose}`;
    case "packets_left": return turn.current ? `its turn, ${turn.packets_left} packets left` : "waits for its turn";
    case "lead_bytes": return `tag ${count(turn.lead_bytes)} bytes ahead`;
    default: return "";
  }
}

// {share, words} of a token bucket; undefined where there is none.
export function bucketOf(config, state) {
  if (!state?.kind || !config?.kind) return undefined;
  if (state.kind === "bytes") {
    const size = config.bits?.burst_bytes ?? 0;
    return { share: level(state.bytes, size || FRAME_BYTES), words: `${count(state.bytes)} of ${count(size)} bytes in its bucket` };
  }
  const size = config.packets?.burst_packets ?? 1;
  const there = state.packets_thousandths / 1000;
  return { share: level(there, size), words: `${Number(there.toFixed(1))} of ${size} packets in its bucket` };
}

const level = (there, size) => Math.min(1, Math.max(0, there / size));

// The nodes of a hierarchy with their buckets: [{name, depth, rate, ceil}] in the order of the
// configuration, parents before children.
export function nodesOf(scheduler, states) {
  const found = [];
  const add = (node, depth) => {
    const state = states[found.length];
    found.push({ node, depth, rate: state?.rate_bytes ?? 0, ceil: state?.ceil_bytes ?? 0 });
    for (const child of node.children) add(child, depth + 1);
  };
  if (scheduler?.hierarchy && states.length) add(scheduler.hierarchy, 0);
  return found;
}

// Bytes a turn under DRR: what a deficit is measured by.
export function grantOf(scheduler, class_) {
  const group = scheduler?.groups?.find((each) => each.members.some((member) => member.class === class_));
  const member = group?.members.find((each) => each.class === class_);
  return (group?.quantum_bytes || FRAME_BYTES) * (member?.weight || 1);
}

export function weightOf(scheduler, class_) {
  return scheduler?.groups?.flatMap((each) => each.members).find((each) => each.class === class_)?.weight || 1;
}

// Everything of a queue in short sentences: for a tip beside the pointer, and for tables.
export function queueWords(config, port, counters, portCounters, timePs) {
  const bucket = bucketOf(config.shaper, counters?.shaper);
  const ports = bucketOf(port.shaper, portCounters?.shaper);
  return [
    aqmWords(config, counters?.aqm, timePs),
    turnWords(counters?.turn),
    bucket?.words ?? "",
    ports ? `port: ${ports.words}` : "",
    counters?.threshold_bytes === undefined ? "" : `the shared buffer lets it hold ${bytes(counters.threshold_bytes)}`,
  ].filter(Boolean);
}
