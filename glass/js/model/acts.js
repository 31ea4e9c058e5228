// What a handle does: a ConfigureRequest, and the same as text to copy, in the words of topology
// files (YAML) and of the Python package. Pure: `steering.js` sends it.
//
// An act: {title, request, yaml, python}

import { sayLimit, sayRate, sayRatio, saySize } from "./amounts.js";

const PPB = 1e9;

// A Python number reads better with underscores.
const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "_");

function limitPython(limit) {
  const parts = [];
  if (limit.packets) parts.push(`packets=${number(limit.packets)}`);
  if (limit.bytes) parts.push(`bytes=${number(limit.bytes)}`);
  return `Limit(${parts.join(", ")})`;
}

function limitYaml(limit) {
  if (limit.packets && limit.bytes) return `{packets: ${limit.packets}, bytes: ${saySize(limit.bytes)}}`;
  return sayLimit(limit);
}

function portAct(port, title, config, yaml, python) {
  return { title: `Port ${port}: ${title}`, request: { ports: [{ port, config }] },
           yaml: `ports: {${port}: {${yaml}}}`,
           python: `Queues(session).configure({${port}: PortSettings(${python})})` };
}

export function lineRate(port, bps) {
  return portAct(port, `line of ${sayRate(bps)}`, { rate_bps: bps }, `rate: ${bps ? sayRate(bps) : "0 b/s"}`,
                 `rate_bps=${number(bps)}`);
}

export function queueCount(port, count) {
  return portAct(port, `${count} ${count === 1 ? "queue" : "queues"}`, { queue_count: count },
                 `classes: ${count}`, `queue_count=${count}`);
}

// `count` is how many queues the port has: a file that speaks of one class alone would mean that there
// are no higher ones.
function queueAct(port, class_, count, title, config, yaml, python) {
  return portAct(port, `class ${class_}: ${title}`, { queues: [{ class: class_, ...config }] },
                 `classes: ${count}, queues: {${class_}: {${yaml}}}`, `queues={${class_}: QueueSettings(${python})}`);
}

export function queueLimit(port, class_, count, limit) {
  return queueAct(port, class_, count, `limit ${sayLimit(limit)}`, { limit }, `limit: ${limitYaml(limit)}`,
                  `limit=${limitPython(limit)}`);
}

export function portLimit(port, limit) {
  return portAct(port, `limit over all queues ${sayLimit(limit)}`, { limit }, `limit: ${limitYaml(limit)}`,
                 `limit=${limitPython(limit)}`);
}

// `kind` of Aqm, or "" for none; parameters by the names of the proto file.
export function queueManagement(port, class_, count, kind, parameters = {}) {
  const given = Object.keys(parameters).length > 0;
  // In files the only parameter of a method stands without its name.
  const yaml = !kind ? "aqm: off" : kind === "ecn_step" ? `aqm: {ecn_step: ${limitYaml(parameters.threshold)}}` : given ? `aqm: {${kind}: {${yamlOf(parameters)}}}` : `aqm: ${kind}`;
  const python = !kind ? "aqm=OFF"
    : `aqm=Aqm(${[`"${kind}"`, ...Object.entries(parameters).map(([key, value]) => `${key}=${pythonOf(value)}`)].join(", ")})`;
  return queueAct(port, class_, count, kind ? `managed by ${kind.replace("_", " ")}` : "not managed",
                  { aqm: kind ? { [kind]: parameters } : {} }, yaml, python);
}

const UNITS = [["_ns", (value) => `${value / 1e6} ms`], ["_bps", sayRate], ["_bytes", saySize],
               ["_ppm", (value) => `${value / 1e4} %`], ["_packets", (value) => `${value} packets`]];

// RED's profile stands in place: its thresholds count packets, or bytes with `in_bytes`.
function profileYaml({ min, max, max_ppm: ppm }, inBytes) {
  const say = (value) => (inBytes ? saySize(value) : `${value} packets`);
  return `min: ${say(min)}, max: ${say(max)}, probability: ${ppm / 1e4} %`;
}

function yamlOf(parameters) {
  return Object.entries(parameters).filter(([key]) => key !== "in_bytes").map(([key, value]) => {
    if (key === "profiles" && value.length === 1) return profileYaml(value[0], parameters.in_bytes);
    if (key === "profiles") return `profiles: [${value.map((each) => `{${profileYaml(each, parameters.in_bytes)}}`).join(", ")}]`;
    const unit = UNITS.find(([end]) => key.endsWith(end));
    if (unit) return `${key.slice(0, -unit[0].length)}: ${unit[1](value)}`;
    if (typeof value === "object" && "over" in value) return `${key}: ${sayRatio(value)}`;
    if (typeof value === "object") return `${key}: ${limitYaml(value)}`;
    return `${key}: ${typeof value === "boolean" ? (value ? "yes" : "no") : value}`;
  }).join(", ");
}

function pythonOf(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `(${value.map((each) => `{${Object.entries(each).map(([key, one]) => `"${key}": ${one}`).join(", ")}}`).join(", ")},)`;
  if (typeof value === "object" && "over" in value) return `Fraction(${value.over}, ${value.under})`;
  if (typeof value === "object") return limitPython(value);
  return number(value);
}

// Either a token bucket of `bps`, or none (0).
export function portShaper(port, bps) {
  return portAct(port, bps ? `shaped to ${sayRate(bps)}` : "not shaped",
                 { shaper: bps ? { bits: { rate_bps: bps } } : {} }, `shaper: ${bps ? sayRate(bps) : "off"}`,
                 `shaper=${bps ? `BitShaper(rate_bps=${number(bps)})` : "OFF"}`);
}

export function queueShaper(port, class_, count, bps) {
  return queueAct(port, class_, count, bps ? `shaped to ${sayRate(bps)}` : "not shaped",
                  { shaper: bps ? { bits: { rate_bps: bps } } : {} }, `shaper: ${bps ? sayRate(bps) : "off"}`,
                  `shaper=${bps ? `BitShaper(rate_bps=${number(bps)})` : "OFF"}`);
}

// Strict priority, the highest class first; or one group with a weight for each class.
export function scheduler(port, discipline, weights) {
  const classes = weights.map((_, class_) => class_);
  if (discipline === "strict") {
    const groups = classes.toReversed().map((class_) => ({
      discipline: "DRR", quantum_bytes: 1514, members: [{ class: class_, weight: 1 }],
    }));
    return portAct(port, "strict priority", { scheduler: { groups } },
                   `classes: ${weights.length}, scheduler: strict`,
                   `scheduler=Groups.strict(${weights.length})`);
  }
  const members = weights.map((weight, class_) => ({ class: class_, weight }));
  const quantum = discipline === "DRR" ? 1514 : 0;
  const shares = weights.map((weight, class_) => `${class_}: ${weight}`).join(", ");
  return portAct(port, `${discipline} ${weights.join(":")}`,
                 { scheduler: { groups: [{ discipline, quantum_bytes: quantum, members }] } },
                 `scheduler: {${discipline.toLowerCase()}: {${shares}}}`,
                 `scheduler=Groups((Group({${shares}}, Discipline.${discipline}),))`);
}

// The shared memory of all output queues; 0: none.
export function sharedBuffer(bytes) {
  return { title: bytes ? `Shared buffer of ${saySize(bytes)}` : "No shared buffer",
           request: { buffer: { size_bytes: bytes } }, yaml: `buffer: ${saySize(bytes)}`,
           python: `Queues(session).configure(RouterSettings(buffer_bytes=${number(bytes)}))` };
}

const STAGES = { NONE: "No input queues", FIFO: "One FIFO an input", VOQ: "Virtual output queues" };

// `stage` is a whole InputStage, as it is replaced.
export function inputStage(stage, title = STAGES[stage.queueing]) {
  const words = [`queueing: ${stage.queueing.toLowerCase()}`];
  const python = [`InputQueueing.${stage.queueing}`];
  if (stage.rate_bps) {
    words.push(`rate: ${sayRate(stage.rate_bps)}`);
    python.push(`rate_bps=${number(stage.rate_bps)}`);
  }
  for (const name of ["limit", "voq_limit"]) {
    if (!stage[name]?.packets && !stage[name]?.bytes) continue;
    words.push(`${name}: ${limitYaml(stage[name])}`);
    python.push(`${name}=${limitPython(stage[name])}`);
  }
  if (stage.arbiter && stage.arbiter !== "ARBITER_UNSPECIFIED") {
    words.push(`arbiter: ${stage.arbiter.toLowerCase().replace("_", " ")}`);
    python.push(`arbiter=Arbiter.${stage.arbiter}`);
  }
  if (stage.iterations > 1) {
    words.push(`iterations: ${stage.iterations}`);
    python.push(`iterations=${stage.iterations}`);
  }
  if (stage.speedup && stage.speedup.over !== stage.speedup.under) {
    words.push(`speedup: ${sayRatio(stage.speedup)}`);
    python.push(`speedup=Fraction(${stage.speedup.over}, ${stage.speedup.under})`);
  }
  if (stage.lossy) {
    words.push("lossy: yes");
    python.push("lossy=True");
  }
  return {
    title, request: { input: stage },
    yaml: stage.queueing === "NONE" ? "input: none" : `input: {${words.join(", ")}}`,
    python: `Queues(session).configure(RouterSettings(input=InputStage(${python.join(", ")})))`,
  };
}

// One direction of the cable at a port: `line` is a whole Line, as it is replaced.
export function cable(port, direction, line, words) {
  return { title: `Port ${port}: cable ${direction === "transmit" ? "out" : "in"}: ${words}`,
           request: { ports: [{ port, config: { link: { [direction]: line } } }] },
           yaml: direction === "transmit" ? `ports: {${port}: {${words}}}`
             : `ports: {${port}: {receive: {${words}}}}`,
           python: `Lines(session).configure({${port}: Cable(${direction}=${linePython(line)})})` };
}

// A line, whole: what is not named of it is clear.
function linePython({ delay_ns, jitter, stalls, loss, corruption_ppb, duplication_ppb }) {
  const share = (ppb) => String(ppb / PPB);
  const parts = [];
  if (delay_ns) parts.push(`delay_us=${delay_ns / 1e3}`);
  if (jitter?.max_ns) parts.push(`jitter_us=${jitter.max_ns / 1e3}`);
  if (jitter?.reorder) parts.push("reorder=True");
  if (stalls?.share_ppb) parts.push(`stalls=Stalls(share=${share(stalls.share_ppb)}, max_us=${stalls.max_ns / 1e3})`);
  if (loss?.independent_ppb) parts.push(`loss=${share(loss.independent_ppb)}`);
  if (loss?.bursty) {
    const { turns_bad_ppb, turns_good_ppb, while_bad_ppb, while_good_ppb } = loss.bursty;
    parts.push(`loss=BurstyLoss(turns_bad=${share(turns_bad_ppb)}, turns_good=${share(turns_good_ppb)}, `
      + `while_bad=${share(while_bad_ppb)}, while_good=${share(while_good_ppb)})`);
  }
  if (corruption_ppb) parts.push(`corruption=${share(corruption_ppb)}`);
  if (duplication_ppb) parts.push(`duplication=${share(duplication_ppb)}`);
  return `Line(${parts.join(", ")})`;
}

// Anything of a port, in the words of vitrine.v1.
export function wholePort(port, config) {
  return { title: `Port ${port}: as written`, request: { ports: [{ port, config }] }, yaml: "",
           python: `# PortConfig of router.proto\n${JSON.stringify(config)}` };
}

// The request that takes an act back, from what Describe said before it.
export function inverse(act, about) {
  const { input, buffer, ports = [] } = act.request;
  const request = {};
  if (input) request.input = about.input;
  if (buffer) request.buffer = about.buffer;
  if (ports.length) {
    request.ports = ports.map(({ port }) => ({ port, config: about.ports.find((each) => each.port === port).config }));
  }
  return { title: `Undone: ${act.title}`, request, yaml: "", python: "" };
}
