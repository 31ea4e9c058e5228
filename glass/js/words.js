// Numbers as people write them.

const RATES = [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]];
const SPANS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]];

export function rate(bps) {
  if (!bps) return "0 b/s";
  const [unit, name] = RATES.find(([each]) => bps >= each) ?? RATES.at(-1);
  return `${short(bps / unit)} ${name}`;
}

// A measured rate; undefined: its window is not full yet.
export const rateWords = (bps) => (bps === undefined ? "…" : rate(bps));

// Of a length of time in seconds.
export function span(seconds) {
  if (!seconds) return "0 s";
  const [unit, name] = SPANS.find(([each]) => Math.abs(seconds) >= each * 0.9999) ?? SPANS.at(-1);
  return `${short(seconds / unit)} ${name}`;
}

export function bytes(count) {
  if (count >= 1e6) return `${short(count / 1e6)} MB`;
  if (count >= 1e3) return `${short(count / 1e3)} kB`;
  return `${count} B`;
}

// An instant, with as many digits as can be read at a pace.
export function instant(timePs, pace = 1) {
  const digits = Math.min(9, Math.max(1, Math.ceil(-Math.log10(pace)) + 2));
  return `${(timePs / 1e12).toFixed(digits)} s`;
}

export function count(number) {
  return number.toLocaleString("en-US");
}

// How fast time goes: "real time", "1 s shows 200 µs".
export function paceWords(pace) {
  if (pace === 1) return "real time";
  if (pace > 1) return `${short(pace)} × real time`;
  return `1 s shows ${span(pace)}`;
}

export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function short(number) {
  const digits = number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return String(Number(number.toFixed(digits)));
}

// "QUEUE_LIMIT" as a person says it.
export function reasonWords(name) {
  return name.toLowerCase().replaceAll("_", " ").replace(/\b(aqm|voq)\b/g, (short) => short.toUpperCase());
}

// Arbiters by their names in the schema, as people write them. An arbiter that is not here has its name in small letters.
const ARBITERS = { ISLIP: "iSLIP", LQF: "longest queue first", OCF: "oldest cell first", PIM: "PIM" };

export function arbiterName(name) {
  return ARBITERS[name] ?? name.toLowerCase().replaceAll("_", " ");
}

const DIGITS_MAX = 9;

// Seconds with as many digits as each of them needs: 1.025 between 1 and 1.05; the last one says the unit.
export function tickWords(all) {
  const isExact = (digits) => all.every((each) => Math.abs(each * 10 ** digits - Math.round(each * 10 ** digits)) < 1e-4);
  let digits = 0;
  while (digits < DIGITS_MAX && !isExact(digits)) digits++;
  return all.map((each, index) => `${each.toFixed(digits)}${index === all.length - 1 ? " s" : ""}`);
}

// Both paces in the same unit.
export function shortWords({ pace, reached }) {
  const [wanted, found] = [pace, reached].map((each) => `${Number(each.toPrecision(2))} ×`);
  return `${found} real time: this machine is too slow for ${wanted}`;
}
