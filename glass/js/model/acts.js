// The act of a handle: a ConfigureRequest, and the same as text to copy. Pure: `steering.js` sends it.
//
// An act: {title, request, yaml, python}

import { sayLimit, sayRate, sayShaper, saySize, saySpanNs } from "./amounts.js";
import { spoken } from "./spoken.js";

// `counts` as `spoken` wants them.
function act(title, request, counts) {
  return { title, request, ...spoken(request, counts) };
}

function portAct(port, title, config, count) {
  return act(`Port ${port}: ${title}`, { ports: [{ port, config }] }, { [port]: count });
}

// `count` is how many queues the port has.
function queueAct(port, class_, count, title, config) {
  return portAct(port, `class ${class_}: ${title}`, { queues: [{ class: class_, ...config }] }, count);
}

export function lineRate(port, bps) {
  return portAct(port, `line of ${sayRate(bps)}`, { rate_bps: bps });
}

export function queueCount(port, count) {
  return portAct(port, `${count} ${count === 1 ? "queue" : "queues"}`, { queue_count: count });
}

export function queueLimit(port, class_, count, limit) {
  return queueAct(port, class_, count, `limit ${sayLimit(limit)}`, { limit });
}

export function portLimit(port, limit) {
  return portAct(port, `limit over all queues ${sayLimit(limit)}`, { limit });
}

// `kind` of Aqm, or "" for none; parameters by the names of the proto file.
export function queueManagement(port, class_, count, kind, parameters = {}) {
  return queueAct(port, class_, count, kind ? `managed by ${kind.replace("_", " ")}` : "not managed",
                  { aqm: kind ? { [kind]: parameters } : {} });
}

// Its claim on the shared buffer: {alpha: Ratio or undefined, minimum_bytes}.
export function bufferShare(port, class_, count, share, title) {
  return queueAct(port, class_, count, title, { share });
}

const shaped = (shaper) => (shaper.bits || shaper.packets ? `shaped to ${sayShaper(shaper)}` : "not shaped");

// `shaper` is a Shaper of vitrine.v1; {}: none.
export function portShaper(port, shaper) {
  return portAct(port, shaped(shaper), { shaper });
}

export function queueShaper(port, class_, count, shaper) {
  return queueAct(port, class_, count, shaped(shaper), { shaper });
}

// The bytes that the line adds to each frame.
export function lineOverhead(port, bytes) {
  return portAct(port, `${saySize(bytes)} added to each frame`, { overhead_bytes: bytes });
}

export function utilisationWindow(port, ns) {
  return portAct(port, `utilisation over ${saySpanNs(ns)}`, { utilisation_window_ns: ns });
}

// Strict priority, the highest class first; or one group with a weight for each class.
export function scheduler(port, discipline, weights) {
  const members = weights.map((weight, class_) => ({ class: class_, weight }));
  const group = (each) => ({ discipline: discipline === "strict" ? "DRR" : discipline,
                             quantum_bytes: ["strict", "DRR"].includes(discipline) ? 1514 : 0, members: each });
  const groups = discipline === "strict" ? members.toReversed().map((each) => group([{ ...each, weight: 1 }])) : [group(members)];
  return portAct(port, discipline === "strict" ? "strict priority" : `${discipline} ${weights.join(":")}`,
                 { scheduler: { groups } }, weights.length);
}

// A tree of classes that borrow from one another, whole.
export function hierarchy(port, root, words = "a hierarchy of classes") {
  return portAct(port, words, { scheduler: { hierarchy: root } });
}

// A network device becomes a port; `config` as of the one that it was before, if it was one.
export function addPort(port, device, config) {
  const settings = config ? spoken({ ports: [{ port, config }] }) : { yaml: "", python: "" };
  const line = `Ports(session).add(${port}, ${JSON.stringify(device)})`;
  return { title: `Port ${port}: added, ${device}`, portCall: ["AddPort", { port, device, config }],
           yaml: settings.yaml, python: [line, settings.python].filter(Boolean).join("\n") };
}

export function removePort(port) {
  return { title: `Port ${port}: removed`, portCall: ["RemovePort", { port }], yaml: "", python: `Ports(session).remove(${port})` };
}

// An act that takes another one back.
export const undone = (done, act) => ({ ...act, title: `Undone: ${done.title}` });

// The shared memory of all output queues; 0: none.
export function sharedBuffer(bytes) {
  return act(bytes ? `Shared buffer of ${saySize(bytes)}` : "No shared buffer", { buffer: { size_bytes: bytes } });
}

// Copies of dropped packets go to this clone session; undefined: nowhere.
export function dropMirror(session) {
  return act(session === undefined ? "Drops are not mirrored" : `Drops are mirrored to session ${session}`,
             { drop_mirror: session === undefined ? {} : { clone_session: session } });
}

const STAGES = { NONE: "No input queues", FIFO: "One FIFO an input", VOQ: "Virtual output queues" };

// `stage` is a whole InputStage, as it is replaced.
export function inputStage(stage, title = STAGES[stage.queueing]) {
  return act(title, { input: stage });
}

// An input stage of another kind, with the limits and the speed of the one that is in force.
export function stageOf({ input, ports }, queueing) {
  if (queueing === "NONE") return { queueing };
  const fastest = Math.max(...ports.filter((each) => each.port < 510).map((each) => each.config.rate_bps ?? 0));
  const rate_bps = input.rate_bps || fastest;
  const held = sayLimit(input.limit) !== "none" ? input.limit : input.voq_limit;
  const limit = held && sayLimit(held) !== "none" ? held : { packets: 100, bytes: 0 };
  const stage = { ...input, queueing, rate_bps, arbiter: input.arbiter === "ARBITER_UNSPECIFIED" ? "ISLIP" : input.arbiter };
  // As long as the FIFO was, for each output.
  return queueing === "VOQ" ? { ...stage, limit: undefined, voq_limit: limit } : { ...stage, limit, voq_limit: undefined };
}

// One direction of the cable at a port: `line` is a whole Line, as it is replaced.
export function cable(port, direction, line, words) {
  return portAct(port, `cable ${direction === "transmit" ? "out" : "in"}: ${words}`, { link: { [direction]: line } });
}

// The neighbour's network card, whole.
export function sender(port, card, words) {
  return portAct(port, `the neighbour's card: ${words}`, { link: { sender: card } });
}

// Anything of a port, in the words of vitrine.v1.
export function wholePort(port, config, count) {
  return portAct(port, "as written", config, count);
}

// ---- taking back ---------------------------------------------------------------------------------

// The act that undoes another: its settings return to Describe's earlier answer, `before`; all others stay as they are
// now, including later changes.
export function inverse(done, before, now = before) {
  const { input, buffer, drop_mirror: mirror, ports = [] } = done.request;
  const request = {};
  if (input) request.input = inputBefore(input, before.input, now.input);
  if (buffer) request.buffer = before.buffer;
  if (mirror) request.drop_mirror = before.drop_mirror ?? {};
  const counts = {};
  if (ports.length) {
    request.ports = ports.map(({ port, config }) => {
      const of = (about) => about.ports.find((each) => each.port === port).config;
      counts[port] = config.queue_count === undefined ? of(now).queue_count : of(before).queue_count;
      return { port, config: portBefore(config, of(before), of(now)) };
    });
  }
  return act(`Undone: ${done.title}`, request, counts);
}

// Stages are replaced as a whole. One of another kind has limits of its own.
function inputBefore(set, before, now) {
  return now.queueing === before.queueing ? partsBefore(set, before, now) : before;
}

function portBefore(set, before, now) {
  const found = {};
  for (const name of Object.keys(set)) {
    if (name === "link") found.link = linkBefore(set.link, before.link ?? {}, now.link ?? {});
    else if (name !== "queues") found[name] = before[name];
  }
  const queues = (set.queues ?? []).map((each) => queueBefore(each, before));
  if (set.queue_count !== undefined) {
    // With the number of queues their order of service has changed, and queues may have gone.
    found.scheduler = before.scheduler;
    const gone = before.queues.filter((each) => each.class >= set.queue_count);
    for (const each of gone) if (!queues.some((one) => one.class === each.class)) queues.push(each);
  }
  const kept = queues.filter((each) => each && each.class < (found.queue_count ?? now.queue_count));
  if (kept.length) found.queues = kept;
  return found;
}

// undefined: there was no such queue.
function queueBefore(set, before) {
  const was = before.queues.find((each) => each.class === (set.class ?? 0));
  return was && { class: was.class, ...Object.fromEntries(Object.keys(set).filter((name) => name !== "class").map((name) => [name, was[name] ?? {}])) };
}

function linkBefore(set, before, now) {
  return Object.fromEntries(Object.keys(set).filter((name) => set[name])
    .map((name) => [name, partsBefore(set[name], before[name] ?? {}, now[name] ?? {})]));
}

// Of what is replaced as a whole: only the parts that the act had changed.
function partsBefore(set, before, now) {
  const found = { ...now };
  for (const name of new Set([...Object.keys(set), ...Object.keys(before)])) {
    if (JSON.stringify(set[name] ?? null) !== JSON.stringify(before[name] ?? null)) found[name] = before[name];
  }
  return found;
}
