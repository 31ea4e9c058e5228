// A packet's life as Trace tells it, in words: [{head, text, place, was, is}] a step, and the headers of its
// frames. `place` is {file, line} of the program.

import { bitsOf, sayField } from "./frame.js";
import { reasonWords, span } from "../words.js";

// The steps after which nothing more comes of a packet.
export const LAST = new Set(["transmitted", "dropped", "replicated_by"]);

// Whether there are steps, and of no packet in them anything more comes.
export function areOver(steps) {
  const open = new Set();
  for (const step of steps) {
    if (LAST.has(step.kind)) open.delete(step.packet);
    else open.add(step.packet);
  }
  return steps.length > 0 && open.size === 0;
}

export function lifeLines(steps, program) {
  const [first] = steps;
  return steps.flatMap((step, index) => lineOf(step, first, program, () => timesUntil(steps, index)));
}

// How often a step of its kind was taken, this one included.
const timesUntil = (steps, index) => steps.slice(0, index + 1).filter((each) => each.kind === steps[index].kind).length;

const at = (program, name) => program?.places.get(name);

function lineOf(step, first, program, times) {
  const told = step[step.kind];
  const after = span((step.time_ps - first.time_ps) / 1e12);
  switch (step.kind) {
    case "received": return [{ head: "came in", text: `by port ${told.port}, ${told.frame.length} bytes` }];
    case "copied": return [{ head: "copy", text: `of packet ${told.from}` }];
    case "program": return programLine(told, program);
    case "queued": return [{ head: "queue", text: `port ${told.port}, class ${told.class}` }];
    case "departed": return [{
      head: "waited", text: `${span((step.time_ps - told.enqueued_ps) / 1e12)} behind ${told.enqueue_depth_packets} packets`,
    }];
    case "dropped": return [{ head: "dropped", text: `${reasonWords(told)}, ${after} after it came` }];
    case "transmitted": return [{ head: "left", text: `by port ${told.port}, ${after} after it came` }];
    case "replicated_by": return [{ head: "copied", text: `its copies go on instead: group ${told}` }];
    case "digest_list": return [{ head: "digest", text: `to the controller, list ${told}` }];
    // Resubmitted or recirculated.
    default: return [{ head: step.kind, text: `it goes through ingress again, ${step.kind} ${times()} ×` }];
  }
}

function programLine(step, program) {
  const told = step[step.kind];
  switch (step.kind) {
    case "parser_state": return [{ head: "parser", text: told }];
    case "extracted": return [{ head: "", text: `${told.header}, ${told.length_bytes} bytes` }];
    case "parser_done": return told.error === "NoError" ? [] : [{ head: "parser", text: `stopped with ${told.error}` }];
    case "control": return [{ head: "", text: told, isControl: true }];
    case "table": {
      // Statements outside of actions are compiled to tables without a key.
      if (!told.key.values.length && told.key.name.startsWith("tbl_")) return [];
      const hit = told.entry === undefined ? "no entry matches" : `entry ${entryWords(told)}`;
      const keys = told.key.values.map((each) => `${each.name} = ${valueWords(each.name, each.value)}`).join(", ");
      return [{ head: "table", text: `${told.key.name}: ${hit}${keys ? `, for ${keys}` : ""}`, place: at(program, told.key.name) }];
    }
    case "action": {
      const given = told.values.map((each) => `${each.name} = ${valueWords(each.name, each.value)}`).join(", ");
      const isNamed = told.name.includes(".") || told.name === "NoAction";
      const text = isNamed ? `${told.name}(${given})` : program?.places.get(told.name)?.text ?? told.name;
      return [{ head: isNamed ? "action" : "do", text, place: at(program, told.name) }];
    }
    case "condition": {
      const text = program?.places.get(told.name)?.text ?? told.name;
      return [{ head: "if", text: `${told.holds ? "yes" : "no"}: ${text}`, place: at(program, told.name) }];
    }
    case "field": return [{ head: "", text: `${told.field}: `, was: valueWords(told.field, told.before), is: valueWords(told.field, told.after) }];
    case "queue_read": {
      const list = (named) => named.map((each) => `${each.name} = ${each.value}`).join(", ");
      return [{ head: "queues", text: `${told.inputs.name}(${list(told.inputs.values)}): ${list(told.outputs)}` }];
    }
    case "checksum": return told.verified && told.computed !== told.found ? [{ head: "checksum", text: `${told.name} is wrong` }] : [];
    case "emitted": return [];
    case "log": return [{ head: "log", text: told }];
    default: return [{ head: "assertion", text: told }];
  }
}

// An entry by its match on each key: "10.0.1.0/24"; by its number where the switch does not report the match.
function entryWords({ key, entry, matches, priority }) {
  if (!matches?.length) return String(entry);
  const words = matches.map((each, index) => each.replace(/(?<!\/)\b\d+/g, (number) => valueWords(key.values[index].name, number)));
  return `${words.join(", ")}${priority ? `, priority ${priority}` : ""}`;
}

// A packet with those that were copied from it: [{packet, steps, copies}], those first that came in.
export function familiesOf(steps) {
  const all = new Map();
  const roots = [];
  for (const step of steps) {
    let own = all.get(step.packet);
    if (!own) {
      own = { packet: step.packet, steps: [], copies: [] };
      all.set(step.packet, own);
      (step.kind === "copied" && all.get(step.copied.from)?.copies || roots).push(own);
    }
    own.steps.push(step);
  }
  return roots;
}

// The frames of a packet with their headers: on arrival as the parser extracted them, on departure as the deparser
// emitted them: [{title, frame, headers: [{name, isNew, fields: [{name, text}]}]}].
export function framesOf(steps, program) {
  const told = (kind) => steps.filter((each) => each.kind === "program" && each.program.kind === kind).map((each) => each.program[kind]);
  const came = steps.find((each) => each.kind === "received")?.received.frame;
  const left = steps.findLast((each) => each.kind === "transmitted")?.transmitted.frame;
  const extracted = told("extracted").map(({ header, length_bytes: length }) => ({ name: header, length }));
  const known = new Map(extracted.map((each) => [each.name, each.length]));
  const emitted = told("emitted").map((name) => ({ name, length: known.get(name), isNew: !known.has(name) }));
  return [
    ...(came ? [{ title: "As it came in", frame: came, headers: decoded(came, extracted, program) }] : []),
    ...(left ? [{ title: "As it left", frame: left, headers: decoded(left, emitted, program) }] : []),
  ];
}

// As far as it is known where headers begin.
function decoded(frame, headers, program) {
  const found = [];
  let at = 0;
  for (const { name, length, isNew } of headers) {
    const fields = program?.fieldsOf(name);
    const bits = fields?.reduce((sum, each) => sum + (each.width ?? NaN), 0);
    const size = length ?? bits / 8;
    if (!fields || !Number.isInteger(size) || at + size > frame.length) break;
    found.push({ name, isNew: Boolean(isNew), fields: said(frame, 8 * at, fields, 8 * size) });
    at += size;
  }
  return found;
}

// One field may be of any width: what is left of the header.
function said(frame, from, fields, bits) {
  const fixed = fields.reduce((sum, each) => sum + (each.width ?? 0), 0);
  let at = from;
  return fields.map(({ name, width = bits - fixed }) => {
    const text = width ? sayField({ name, width }, bitsOf(frame, at, width)) : "none";
    at += width;
    return { name, text };
  });
}

// The title of an INT header: "int_hop_latency" -> "INT: hop latency".
export function headerWords(name) {
  return name.startsWith("int_") ? `INT: ${name.slice(4).replaceAll("_", " ")}` : name;
}

// A value for people: of an address's field an address.
export function valueWords(name, value) {
  if (!/^\d+$/.test(value) || !/(src_addr|dst_addr|sender|src_mac|dst_mac|addr)$/.test(name)) return value;
  const number = BigInt(value);
  if (name.includes("ipv4")) return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join(".");
  if (number >> 48n === 0n && !name.includes("ipv6")) return number.toString(16).padStart(12, "0").match(/../g).join(":");
  return value;
}
