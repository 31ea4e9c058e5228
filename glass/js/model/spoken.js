// A ConfigureRequest as text to copy: in the words of topology and qos files (YAML), and of the Python
// package. Pure; whatever a request sets has its words here, once.

import { burstsOf, sayLimit, sayRate, sayRatio, sayShare, saySize, stallsYaml } from "./amounts.js";

const PPB = 1e9;
// The defaults of both.
const QUANTUM_BYTES = 1514, BACKLOG_PACKETS = 1000;

// `counts` are the queues that each port has: a file that speaks of one class alone would mean that
// there are no higher ones. Without words for something of it, `yaml` is "".
export function spoken(request, counts = {}) {
  return { yaml: yamlOf(request, counts), python: pythonOf(request) };
}

// ---- YAML ----------------------------------------------------------------------------------------

function yamlOf({ ports = [], buffer, input, drop_mirror: mirror }, counts) {
  const lines = [];
  if (buffer) lines.push(`buffer: ${saySize(buffer.size_bytes)}`);
  if (input) lines.push(`input: ${inputYaml(input)}`);
  const said = ports.map(({ port, config }) => [port, portYaml(config, counts[port])]);
  // Files have no word for it, and half of a change would be no help.
  if (mirror || said.some(([, words]) => words === undefined)) return "";
  if (ports.length) lines.push(`ports: {${said.map(([port, words]) => `${port}: {${words}}`).join(", ")}}`);
  return lines.join("\n");
}

function inputYaml({ queueing, rate_bps: bps, limit, voq_limit, arbiter, iterations, speedup, lossy }) {
  if ((queueing ?? "NONE") === "NONE") return "none";
  const words = [`queueing: ${queueing.toLowerCase()}`];
  if (bps) words.push(`rate: ${rateYaml(bps)}`);
  if (isSet(limit)) words.push(`limit: ${limitYaml(limit)}`);
  if (isSet(voq_limit)) words.push(`voq_limit: ${limitYaml(voq_limit)}`);
  if (isArbiter(arbiter)) words.push(`arbiter: ${arbiter.toLowerCase().replace("_", " ")}`);
  if (iterations > 1) words.push(`iterations: ${iterations}`);
  if (isFaster(speedup)) words.push(`speedup: ${sayRatio(speedup)}`);
  if (lossy) words.push("lossy: yes");
  return `{${words.join(", ")}}`;
}

// undefined: files cannot say it.
function portYaml(config, count) {
  const words = [];
  const classes = config.queue_count ?? (config.queues?.length || config.scheduler ? count : undefined);
  if (config.rate_bps !== undefined) words.push(`rate: ${rateYaml(config.rate_bps)}`);
  if (config.overhead_bytes !== undefined) words.push(`overhead: ${sizeYaml(config.overhead_bytes)}`);
  if (config.limit) words.push(`limit: ${limitYaml(config.limit)}`);
  if (config.shaper) words.push(`shaper: ${shaperYaml(config.shaper)}`);
  if (classes !== undefined) words.push(`classes: ${classes}`);
  if (config.scheduler) words.push(`scheduler: ${schedulerYaml(config.scheduler)}`);
  if (config.queues?.length) words.push(`queues: {${config.queues.map((each) => `${each.class ?? 0}: {${queueYaml(each)}}`).join(", ")}}`);
  if (config.utilisation_window_ns !== undefined) words.push(`utilisation_window: ${spanYaml(config.utilisation_window_ns)}`);
  const { transmit, receive, sender } = config.link ?? {};
  const out = transmit ? lineYaml(transmit) : [];
  const back = [...(receive ? lineYaml(receive) ?? [undefined] : []), ...(sender ? senderYaml(sender) : [])];
  if (!out || back.includes(undefined)) return undefined;
  words.push(...out);
  if (receive || sender) words.push(`receive: {${back.join(", ")}}`);
  return words.join(", ");
}

// The orders of a queue that a change can set, and their words in files.
const ORDERS = { ARRIVAL: "arrival", BY_RANK: "rank" };

function queueYaml({ limit, shaper, aqm, share, order }) {
  const words = [];
  if (limit) words.push(`limit: ${limitYaml(limit)}`);
  if (shaper) words.push(`shaper: ${shaperYaml(shaper)}`);
  if (aqm) words.push(`aqm: ${aqmYaml(aqm)}`);
  if (share) {
    const claims = [share.alpha && `alpha: ${sayRatio(share.alpha)}`, share.minimum_bytes && `minimum: ${sizeYaml(share.minimum_bytes)}`];
    words.push(`share: {${claims.filter(Boolean).join(", ")}}`);
  }
  if (order in ORDERS) words.push(`order: ${ORDERS[order]}`);
  return words.join(", ");
}

const rateYaml = (bps) => (bps ? sayRate(bps) : "0 b/s");
const sizeYaml = (bytes) => (bytes ? saySize(bytes) : "0 B");
const spanYaml = (ns) => `${ns / 1e6} ms`;

function limitYaml(limit) {
  if (limit.packets && limit.bytes) return `{packets: ${limit.packets}, bytes: ${saySize(limit.bytes)}}`;
  return sayLimit(limit);
}

function shaperYaml({ bits, packets }) {
  if (packets) {
    const words = [`rate: ${packets.rate_pps} packets/s`];
    if (packets.burst_packets > 1) words.push(`burst: ${packets.burst_packets} packets`);
    if (packets.catches_up) words.push("catches_up: yes");
    return words.length > 1 ? `{${words.join(", ")}}` : `${packets.rate_pps} packets/s`;
  }
  if (!bits?.rate_bps) return "off";
  return bits.burst_bytes ? `{rate: ${sayRate(bits.rate_bps)}, burst: ${saySize(bits.burst_bytes)}}` : sayRate(bits.rate_bps);
}

function schedulerYaml({ groups = [], hierarchy }) {
  if (hierarchy) return `{hierarchy: ${nodeYaml(hierarchy)}}`;
  if (isStrict(groups)) return "strict";
  const said = groups.map(({ discipline, quantum_bytes: quantum, members }) => {
    const shares = members.map((each) => `${each.class ?? 0}: ${each.weight}`).join(", ");
    return `{${discipline.toLowerCase()}: {${shares}}${hasOwnQuantum(discipline, quantum) ? `, quantum: ${saySize(quantum)}` : ""}}`;
  });
  return said.length === 1 ? said[0] : `[${said.join(", ")}]`;
}

function nodeYaml({ rate_bps, ceil_bps, burst_bytes, ceil_burst_bytes, children = [], leaf }) {
  const words = [`rate: ${rateYaml(rate_bps ?? 0)}`, `ceil: ${rateYaml(ceil_bps ?? 0)}`,
                 `burst: ${sizeYaml(burst_bytes ?? 0)}`, `ceil_burst: ${sizeYaml(ceil_burst_bytes ?? 0)}`];
  if (leaf) words.push(`class: ${leaf.class ?? 0}`, `priority: ${leaf.priority ?? 0}`, `quantum: ${sizeYaml(leaf.quantum_bytes ?? 0)}`);
  if (children.length) words.push(`children: {${children.map((each) => `${each.name}: ${nodeYaml(each)}`).join(", ")}}`);
  return `{${words.join(", ")}}`;
}

function aqmYaml(aqm) {
  const [kind, parameters] = kindOf(aqm);
  if (!kind) return "off";
  // In files the only parameter of a method stands without its name.
  if (kind === "ecn_step") return `{ecn_step: ${limitYaml(parameters.threshold)}}`;
  const words = parametersYaml(parameters);
  return words ? `{${kind}: {${words}}}` : kind;
}

const UNITS = [["_ns", spanYaml], ["_bps", rateYaml], ["_bytes", sizeYaml], ["_ppm", (value) => `${value / 1e4} %`],
               ["_packets", (value) => `${value} packets`]];

function parametersYaml(parameters) {
  return Object.entries(parameters).filter(([key]) => key !== "in_bytes").map(([key, value]) => {
    if (key === "profiles" && value.length === 1) return profileYaml(value[0], parameters.in_bytes);
    if (key === "profiles") return `profiles: [${value.map((each) => `{${profileYaml(each, parameters.in_bytes)}}`).join(", ")}]`;
    const unit = UNITS.find(([end]) => key.endsWith(end));
    if (unit) return `${key.slice(0, -unit[0].length)}: ${unit[1](value)}`;
    if (typeof value === "object") return `${key}: ${"over" in value ? sayRatio(value) : limitYaml(value)}`;
    return `${key}: ${typeof value === "boolean" ? (value ? "yes" : "no") : value}`;
  }).join(", ");
}

// RED's profile stands in place: its thresholds count packets, or bytes with `in_bytes`.
function profileYaml({ min, max, max_ppm: ppm }, inBytes) {
  const say = (value) => (inBytes ? sizeYaml(value) : `${value} packets`);
  return `min: ${say(min)}, max: ${say(max)}, probability: ${ppm / 1e4} %`;
}

// A line, whole: what is not named of it is clear. undefined: files have no words for such losses.
function lineYaml({ delay_ns, jitter, stalls, loss, corruption_ppb, duplication_ppb }) {
  const words = [];
  const share = (ppb) => sayShare(ppb, PPB);
  if (delay_ns) words.push(`delay: ${spanYaml(delay_ns)}`);
  if (jitter?.max_ns) words.push(`jitter: ${spanYaml(jitter.max_ns)}`);
  if (jitter?.reorder) words.push("reorder: yes");
  if (stalls?.share_ppb) words.push(`stalls: ${stallsYaml(stalls)}`);
  if (loss?.independent_ppb) words.push(`loss: ${share(loss.independent_ppb)}`);
  if (loss?.bursty) {
    const bursts = burstsOf(loss.bursty);
    if (!bursts) return undefined;
    words.push(`loss: {share: ${share(bursts.share_ppb)}, burst: ${bursts.packets} packets}`);
  }
  if (corruption_ppb) words.push(`corruption: ${share(corruption_ppb)}`);
  if (duplication_ppb) words.push(`duplication: ${share(duplication_ppb)}`);
  return words.length ? words : ["delay: 0 ms"];
}

function senderYaml({ rate_bps, backlog }) {
  const words = [];
  if (rate_bps !== undefined) words.push(`rate: ${rate_bps ? sayRate(rate_bps) : "unlimited"}`);
  words.push(`backlog: ${!backlog ? `${BACKLOG_PACKETS} packets` : isSet(backlog) ? limitYaml(backlog) : "unlimited"}`);
  return words;
}

// ---- Python --------------------------------------------------------------------------------------

function pythonOf({ ports = [], buffer, input, drop_mirror: mirror }) {
  const queues = ports.map(({ port, config }) => [port, portPython(config)]).filter(([, said]) => said);
  const cables = ports.filter(({ config }) => config.link).map(({ port, config }) => `${port}: Cable(${cablePython(config.link)})`);
  const router = [];
  if (buffer) router.push(`buffer_bytes=${number(buffer.size_bytes ?? 0)}`);
  if (input) router.push(`input=InputStage(${inputPython(input)})`);
  if (mirror) router.push(`drop_mirror=${mirror.clone_session ?? "OFF"}`);
  const settings = `{${queues.map(([port, said]) => `${port}: PortSettings(${said})`).join(", ")}}`;
  const lines = [];
  if (router.length) lines.push(`Queues(session).configure(RouterSettings(${[...(queues.length ? [settings] : []), ...router].join(", ")}))`);
  else if (queues.length) lines.push(`Queues(session).configure(${settings})`);
  if (cables.length) lines.push(`Lines(session).configure({${cables.join(", ")}})`);
  return lines.join("\n");
}

function inputPython({ queueing = "NONE", rate_bps: bps, limit, voq_limit, arbiter, iterations, speedup, lossy }) {
  const parts = [`InputQueueing.${queueing}`];
  if (queueing === "NONE") return parts[0];
  if (bps) parts.push(`rate_bps=${number(bps)}`);
  if (isSet(limit)) parts.push(`limit=${limitPython(limit)}`);
  if (isSet(voq_limit)) parts.push(`voq_limit=${limitPython(voq_limit)}`);
  if (isArbiter(arbiter)) parts.push(`arbiter=Arbiter.${arbiter}`);
  if (iterations > 1) parts.push(`iterations=${iterations}`);
  if (isFaster(speedup)) parts.push(`speedup=${ratioPython(speedup)}`);
  if (lossy) parts.push("lossy=True");
  return parts.join(", ");
}

// "" where it says nothing but of the cable.
function portPython(config) {
  const parts = [];
  if (config.rate_bps !== undefined) parts.push(`rate_bps=${number(config.rate_bps)}`);
  if (config.overhead_bytes !== undefined) parts.push(`overhead_bytes=${number(config.overhead_bytes)}`);
  if (config.limit) parts.push(`limit=${limitPython(config.limit)}`);
  if (config.shaper) parts.push(`shaper=${shaperPython(config.shaper)}`);
  if (config.queue_count !== undefined) parts.push(`queue_count=${config.queue_count}`);
  if (config.scheduler) parts.push(`scheduler=${schedulerPython(config.scheduler)}`);
  if (config.queues?.length) parts.push(`queues={${config.queues.map((each) => `${each.class ?? 0}: QueueSettings(${queuePython(each)})`).join(", ")}}`);
  if (config.utilisation_window_ns !== undefined) parts.push(`utilisation_window_ns=${number(config.utilisation_window_ns)}`);
  return parts.join(", ");
}

function queuePython({ limit, shaper, aqm, share, order }) {
  const parts = [];
  if (limit) parts.push(`limit=${limitPython(limit)}`);
  if (shaper) parts.push(`shaper=${shaperPython(shaper)}`);
  if (aqm) parts.push(`aqm=${aqmPython(aqm)}`);
  if (share) {
    const claims = [share.alpha && `alpha=${ratioPython(share.alpha)}`, share.minimum_bytes && `minimum_bytes=${number(share.minimum_bytes)}`];
    parts.push(`share=BufferShare(${claims.filter(Boolean).join(", ")})`);
  }
  if (order in ORDERS) parts.push(`order=QueueOrder.${order}`);
  return parts.join(", ");
}

// A Python number reads better with underscores.
export const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "_");
const ratioPython = ({ over, under }) => `Fraction(${over}, ${under})`;

function limitPython({ packets, bytes }) {
  return `Limit(${[packets && `packets=${number(packets)}`, bytes && `bytes=${number(bytes)}`].filter(Boolean).join(", ")})`;
}

function shaperPython({ bits, packets }) {
  if (packets) {
    const rest = packets.catches_up ? ", catches_up=True" : "";
    return `PacketShaper(rate_pps=${number(packets.rate_pps)}, burst_packets=${packets.burst_packets || 1}${rest})`;
  }
  if (!bits?.rate_bps) return "OFF";
  return `BitShaper(rate_bps=${number(bits.rate_bps)}${bits.burst_bytes ? `, burst_bytes=${number(bits.burst_bytes)}` : ""})`;
}

function schedulerPython({ groups = [], hierarchy }) {
  if (hierarchy) return `Hierarchy(${nodePython(hierarchy)})`;
  if (isStrict(groups)) return `Groups.strict(${groups.length})`;
  const said = groups.map(({ discipline, quantum_bytes: quantum, members }) => {
    const weights = members.map((each) => `${each.class ?? 0}: ${each.weight}`).join(", ");
    return `Group({${weights}}, Discipline.${discipline}${hasOwnQuantum(discipline, quantum) ? `, quantum_bytes=${number(quantum)}` : ""})`;
  });
  return `Groups((${said.join(", ")},))`;
}

function nodePython({ name, rate_bps, ceil_bps, burst_bytes, ceil_burst_bytes, children = [], leaf }) {
  const parts = [`"${name ?? ""}"`, `rate_bps=${number(rate_bps ?? 0)}`, `ceil_bps=${number(ceil_bps ?? 0)}`,
                 `burst_bytes=${number(burst_bytes ?? 0)}`, `ceil_burst_bytes=${number(ceil_burst_bytes ?? 0)}`];
  if (children.length) parts.push(`children=(${children.map(nodePython).join(", ")},)`);
  if (leaf) parts.push(`leaf=Leaf(${leaf.class ?? 0}, priority=${leaf.priority ?? 0}, quantum_bytes=${number(leaf.quantum_bytes ?? 0)})`);
  return `Node(${parts.join(", ")})`;
}

function aqmPython(aqm) {
  const [kind, parameters] = kindOf(aqm);
  if (!kind) return "OFF";
  return `Aqm(${[`"${kind}"`, ...Object.entries(parameters).map(([key, value]) => `${key}=${valuePython(value)}`)].join(", ")})`;
}

function valuePython(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `(${value.map((each) => `{${Object.entries(each).map(([key, one]) => `"${key}": ${one}`).join(", ")}}`).join(", ")},)`;
  if (typeof value === "object") return "over" in value ? ratioPython(value) : limitPython(value);
  return number(value);
}

function cablePython({ sender, receive, transmit }) {
  const parts = [];
  if (sender) parts.push(`sender=${senderPython(sender)}`);
  if (receive) parts.push(`receive=${linePython(receive)}`);
  if (transmit) parts.push(`transmit=${linePython(transmit)}`);
  return parts.join(", ");
}

function senderPython({ rate_bps, backlog }) {
  const parts = [];
  if (rate_bps !== undefined) parts.push(`rate_bps=${number(rate_bps)}`);
  if (backlog) parts.push(`backlog_packets_max=${backlog.packets ? number(backlog.packets) : "None"}`);
  if (backlog?.bytes) parts.push(`backlog_bytes_max=${number(backlog.bytes)}`);
  return `Sender(${parts.join(", ")})`;
}

function linePython({ delay_ns, jitter, stalls, loss, corruption_ppb, duplication_ppb }) {
  const share = (ppb) => String((ppb ?? 0) / PPB);
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

// ---- both ----------------------------------------------------------------------------------------

const isSet = (limit) => Boolean(limit?.packets || limit?.bytes);
const isArbiter = (arbiter) => Boolean(arbiter) && arbiter !== "ARBITER_UNSPECIFIED";
const isFaster = (speedup) => Boolean(speedup) && speedup.over !== speedup.under;
const hasOwnQuantum = (discipline, bytes) => discipline === "DRR" && Boolean(bytes) && bytes !== QUANTUM_BYTES;

// Each class a group of its own, the highest first.
function isStrict(groups) {
  return groups.length > 0 && groups.every(({ discipline, quantum_bytes: quantum, members }, place) => discipline === "DRR"
    && !hasOwnQuantum(discipline, quantum) && members.length === 1 && members[0].weight === 1
    && (members[0].class ?? 0) === groups.length - 1 - place);
}

// [kind, parameters that are set] of an Aqm; [] without a kind.
function kindOf(aqm) {
  const kind = aqm.kind ?? Object.keys(aqm).find((each) => aqm[each]);
  if (!kind) return [];
  const given = Object.entries(aqm[kind]).filter(([, value]) => value !== undefined && value !== null && value.length !== 0);
  return [kind, Object.fromEntries(given)];
}
