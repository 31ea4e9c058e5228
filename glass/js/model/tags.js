// When packets under weighted fair queueing would finish: the tags by which it chooses, in bytes ahead of its virtual
// time. A router reports the tag of each queue's first packet; those of the others follow from lengths and weight.

import { queue } from "./insides.js";
import { weightOf } from "./minds.js";
import { queueOf } from "./samples.js";

// By sample: the tags of the packets that waited then, by queue.
const told = new WeakMap();

// Map of packet number -> bytes ahead of the virtual time of the last sample; undefined where the class is not served
// so, or nothing is known.
export function finishTags({ insides, sample, config, port, class_, waiting }) {
  const turn = queueOf(sample, port, class_)?.turn;
  if (turn?.kind !== "lead_bytes" || sample.time_ps < insides.startPs) return undefined;
  const key = queue(port, class_), weight = weightOf(config.scheduler, class_);
  if (!told.has(sample)) told.set(sample, new Map());
  const known = told.get(sample);
  if (!known.has(key)) known.set(key, tagsOf(insides.at(sample.time_ps, "tags").in(key), turn.lead_bytes, weight));
  const found = new Map();
  let last;
  for (const { id, length } of waiting) {
    // A later packet stands behind the packets that were there.
    const tag = known.get(key).get(id) ?? (last === undefined ? undefined : last + length / weight);
    if (tag !== undefined) found.set(id, tag);
    last = tag ?? last;
  }
  return found;
}

function tagsOf(packets, lead, weight) {
  const found = new Map();
  let last;
  for (const { id, length } of packets) {
    last = last === undefined ? lead : last + length / weight;
    found.set(id, last);
  }
  return found;
}

// Short enough to stand in a packet: "66", "1.5k".
export function tagWords(tag) {
  return Math.abs(tag) < 1000 ? String(Math.round(tag)) : `${(tag / 1000).toFixed(Math.abs(tag) < 9950 ? 1 : 0)}k`;
}
