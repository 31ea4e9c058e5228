// Rates, sizes, spans and limits as people write them, read; `words.js` writes them.
//
// Each reader returns a number, or throws a sentence that says what would be accepted.

const RATE_UNITS = { "b/s": 1, "bit/s": 1, "kb/s": 1e3, "kbit/s": 1e3, "mb/s": 1e6, "mbit/s": 1e6, "gb/s": 1e9, "gbit/s": 1e9 };
const SIZE_UNITS = { b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1048576 };
const PPB = 1e9;
const SPAN_UNITS_NS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };

function amount(text, units, example) {
  const match = /^\s*([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([a-zµ/%]+)\s*$/i.exec(text);
  const unit = match && units[match[2].toLowerCase()];
  if (!unit) throw new Error(`“${text}” is not understood: write ${example}`);
  const value = Number(match[1].replaceAll(/[_,]/g, "")) * unit;
  if (!Number.isFinite(value)) throw new Error(`“${text}” is not a number: write ${example}`);
  return Math.round(value);
}

export const readRate = (text) =>
  (/^\s*(none|no limit|0)\s*$/i.test(text) ? 0 : amount(text, RATE_UNITS, "10 Mb/s, or none"));
export const readSize = (text) =>
  (/^\s*(none|0)\s*$/i.test(text) ? 0 : amount(text, SIZE_UNITS, "64 kB, or none"));
export const readSpanNs = (text) =>
  (/^\s*(none|0)\s*$/i.test(text) ? 0 : amount(text, SPAN_UNITS_NS, "20 ms, or none"));

// A share, in parts of `whole`: "2 %" of a million is 20,000.
export const readShare = (text, whole) =>
  (/^\s*(none|0)\s*$/i.test(text) ? 0 : amount(text, { "%": whole / 100 }, "0.1 %, or none"));

// A share of frames that come late, and by how much at most: "5 % up to 1.2 ms".
export function readStalls(text) {
  if (/^\s*(none|0)\s*$/i.test(text)) return { share_ppb: 0, max_ns: 0 };
  const [share, max] = text.split(/\s+up to\s+|\s*,\s*/);
  if (!max) throw new Error(`“${text}” is not understood: write 5 % up to 1.2 ms, or none`);
  return { share_ppb: readShare(share, PPB), max_ns: readSpanNs(max) };
}

// A share of lost frames: each on its own, or in bursts ("1 % in bursts of 8").
export function readLoss(text) {
  const [share, packets] = text.split(/\s+in bursts of\s+/i);
  const share_ppb = readShare(share, PPB);
  if (packets === undefined) return { independent_ppb: share_ppb };
  const length = Number(/^\s*([1-9][0-9]*)\s*(packets?)?\s*$/i.exec(packets)?.[1]);
  if (!length || !share_ppb || share_ppb >= PPB) throw new Error(`“${text}” is not understood: write 1 %, 1 % in bursts of 8, or none`);
  // A bad spell loses all its frames and lasts 1 / turns_good of them; bad spells take this share of the
  // time where turns_bad : turns_good = share : 1 - share.
  const turns_good_ppb = Math.round(PPB / length);
  const turns_bad_ppb = Math.round((turns_good_ppb * share_ppb) / (PPB - share_ppb));
  return { bursty: { turns_bad_ppb, turns_good_ppb, while_good_ppb: 0, while_bad_ppb: PPB } };
}

// {share_ppb, packets} of losses that come in bursts; undefined where it takes four numbers to tell.
export function burstsOf({ turns_bad_ppb: bad, turns_good_ppb: good, while_good_ppb: whileGood, while_bad_ppb: whileBad }) {
  const packets = Math.round(PPB / good);
  if (whileGood || whileBad !== PPB || !bad || Math.round(PPB / packets) !== good) return undefined;
  // As coarsely as files have it: in millionths.
  return { share_ppb: Math.round((bad / (bad + good)) * 1e6) * 1e3, packets };
}

// RED's thresholds and the share that is dropped at the upper one, one profile for each drop precedence:
// "20 to 60 at 2 %; 10 to 40 at 5 %".
export function readProfiles(text) {
  if (/^\s*(none)?\s*$/i.test(text)) return [];
  return text.split(";").map((each) => {
    const match = /^\s*([0-9]+)\s+to\s+([0-9]+)\s+at\s+(.+)$/i.exec(each);
    if (!match) throw new Error(`“${each.trim()}” is not understood: write 20 to 60 at 2 %, with ; before the next profile`);
    return { min: Number(match[1]), max: Number(match[2]), max_ppm: readShare(match[3], 1e6) };
  });
}

export function sayProfiles(profiles = []) {
  return profiles.map(({ min, max, max_ppm: ppm }) => `${min} to ${max} at ${sayShare(ppm, 1e6)}`).join("; ") || "none";
}

export function readLimit(text) {
  if (/^\s*(none|no limit)\s*$/i.test(text)) return { packets: 0, bytes: 0 };
  const both = text.split(/\s+and\s+/);
  const limit = { packets: 0, bytes: 0 };
  for (const part of both) {
    const packets = /^\s*([0-9]+)\s*(packets?)?\s*$/i.exec(part);
    if (packets) limit.packets = Number(packets[1]);
    else limit.bytes = amount(part, SIZE_UNITS, "20 packets, 64 kB or none");
  }
  if (!limit.packets && !limit.bytes) {
    throw new Error("nothing would ever get through: write 20 packets, 64 kB or none");
  }
  return limit;
}

// A queue's claim on free memory; undefined: as much as there is.
export const readClaim = (text) => (/^\s*none\s*$/i.test(text) ? undefined : readRatio(text));

// The number of a clone session; undefined: none.
export function readSession(text) {
  if (/^\s*none\s*$/i.test(text)) return undefined;
  if (!/^\s*[1-9][0-9]*\s*$/.test(text)) throw new Error(`“${text}” is no session: write its number, or none`);
  return Number(text);
}

// A token bucket: "8 Mb/s" or "900 packets/s", followed by its burst: "in bursts of 3 kB".
export function readShaper(text) {
  if (/^\s*(none|off|0)\s*$/i.test(text)) return {};
  const [shape, ...rest] = text.split(/\s*,\s*catching up\s*$/i), catchesUp = rest.length > 0;
  const [rate, burst] = shape.split(/\s+in bursts of\s+/i);
  const packets = /^\s*([1-9][0-9_,]*)\s*packets\/s\s*$/i.exec(rate);
  if (!packets && catchesUp) throw new Error(`“${text}” is not understood: write 900 packets/s, catching up`);
  if (!packets) return { bits: { rate_bps: amount(rate, RATE_UNITS, "8 Mb/s, 900 packets/s, 8 Mb/s in bursts of 3 kB, or none"), burst_bytes: burst ? readSize(burst) : 0 } };
  const at_once = burst === undefined ? 1 : readLimit(burst).packets;
  if (!at_once) throw new Error(`“${burst}” is not understood: write 3 packets`);
  return { packets: { rate_pps: Number(packets[1].replaceAll(/[_,]/g, "")), burst_packets: at_once, ...(catchesUp && { catches_up: true }) } };
}

export function readRatio(text) {
  const match = /^\s*([0-9]+)\s*(?:\/\s*([0-9]+))?\s*$/.exec(text);
  if (match) return { over: Number(match[1]), under: Number(match[2] ?? 1) };
  const decimal = /^\s*([0-9]*)\.([0-9]{1,6})\s*$/.exec(text);
  if (!decimal) throw new Error(`“${text}” is not understood: write 2, 3/2 or 1.5`);
  const under = 10 ** decimal[2].length;
  return { over: Number(decimal[1] || 0) * under + Number(decimal[2]), under };
}

// ---- and back ----------------------------------------------------------------------------------

export function sayRate(bps) {
  if (!bps) return "none";
  for (const [unit, name] of [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"]]) {
    if (bps >= unit) return `${Number((bps / unit).toFixed(6))} ${name}`;
  }
  return `${bps} b/s`;
}

export function saySize(bytes) {
  if (!bytes) return "none";
  if (bytes % 1e6 === 0) return `${bytes / 1e6} MB`;
  if (bytes % 1e3 === 0) return `${bytes / 1e3} kB`;
  return `${bytes} B`;
}

export function saySpanNs(ns) {
  if (!ns) return "none";
  for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    if (ns >= unit) return `${Number((ns / unit).toFixed(6))} ${name}`;
  }
  return `${ns} ns`;
}

export function sayShare(parts, whole) {
  return parts ? `${Number(((parts / whole) * 100).toFixed(7))} %` : "none";
}

export function sayStalls(stalls) {
  return stalls?.share_ppb ? `${sayShare(stalls.share_ppb, PPB)} up to ${saySpanNs(stalls.max_ns)}` : "none";
}

export function sayShaper(shaper) {
  const { bits, packets } = shaper ?? {};
  if (packets) {
    const bursts = packets.burst_packets > 1 ? ` in bursts of ${packets.burst_packets} packets` : "";
    return `${packets.rate_pps} packets/s${bursts}${packets.catches_up ? ", catching up" : ""}`;
  }
  return `${sayRate(bits?.rate_bps)}${bits?.burst_bytes ? ` in bursts of ${saySize(bits.burst_bytes)}` : ""}`;
}

export function sayLoss(loss) {
  if (!loss?.bursty) return sayShare(loss?.independent_ppb, PPB);
  const bursts = burstsOf(loss.bursty);
  if (bursts) return `${sayShare(bursts.share_ppb, PPB)} in bursts of ${bursts.packets}`;
  return "bursts of another kind (see below)";
}

// As topology files have it.
export function stallsYaml({ share_ppb: share, max_ns: max }) {
  return `{share: ${share ? sayShare(share, PPB) : "0 %"}, max: ${max ? saySpanNs(max) : "0 ms"}}`;
}

export function sayLimit(limit) {
  const parts = [];
  if (limit?.packets) parts.push(`${limit.packets} packets`);
  if (limit?.bytes) parts.push(saySize(limit.bytes));
  return parts.join(" and ") || "none";
}

export function sayRatio(ratio) {
  if (!ratio) return "none";
  return ratio.under === 1 ? String(ratio.over) : `${ratio.over}/${ratio.under}`;
}
