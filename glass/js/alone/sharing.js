// A scenario as an address, and as a file: which one it began with, what was changed in its programs, and
// what was done in it, when.
//
//   {vitrine: 1, base: "hol-blocking", files: {name: text}, acts: [[ps, method, base64], ...]}
//
// A network that the kit does not have is `own`: {title, summary, pace, about, programs, settled_ps,
// build, said}, as labs/scenarios/script.py has them.
//
// Shares come from outside: each is validated here, whole, before its first use.

import { NoZip, through } from "./zip.js";

const FORMAT = 1;
// Longer addresses are cut by programs for mail and chat.
export const ADDRESS_LENGTH_MAX = 8000;
// The largest size that a file may unpack to.
const UNPACKED_BYTES_MAX = 4 << 20;
// The calls that change something; all others are none of a script's.
export const CHANGING = new Set([
  "/vitrine.v1.World/Start", "/vitrine.v1.World/Stop", "/vitrine.v1.World/Fault", "/vitrine.v1.World/Inject",
  "/vitrine.v1.Router/Configure", "/p4.v1.P4Runtime/Write", "/p4.v1.P4Runtime/StreamChannel",
]);

// And those that set a network up.
const SETTING = new Set([...CHANGING, "/p4.v1.P4Runtime/SetForwardingPipelineConfig"]);

export class Unreadable extends Error {}

// The part of a scenario that a share needs; `kit` are the texts that each page has.
export function shared(scenario, files, kit, acts) {
  const changed = Object.entries(files).filter(([name, text]) => text !== kit[name]);
  return { vitrine: FORMAT, base: scenario.name, files: Object.fromEntries(changed), acts, ...(scenario.own ? { own: scenario.own } : {}) };
}

export async function toAddress(value) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)));
  return base64Of(packed).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function fromAddress(text) {
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const bytes = await through(new DecompressionStream("deflate-raw"), packed, UNPACKED_BYTES_MAX);
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    if (error instanceof NoZip) throw new Unreadable("This scenario is too large.");
    throw new Unreadable("This address is not complete: copy all of it.");
  }
}

export function fromFile(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Unreadable("This file is no scenario of Vitrine's.");
  }
  return checked(value);
}

// The value, if it has the form above.
export function checked(value) {
  if (value?.vitrine !== FORMAT) {
    throw new Unreadable(value?.vitrine > FORMAT ? "This scenario was made with a later Vitrine: get that one."
      : "This is no scenario of Vitrine's.");
  }
  const { base, files = {}, acts = [], own } = value;
  const isTexts = typeof files === "object" && files !== null && Object.values(files).every(isText);
  const isAct = (each) => Array.isArray(each) && each.length === 3 && isInstant(each[0]) && CHANGING.has(each[1]) && isBase64(each[2]);
  if (!isText(base) || !isTexts || !Array.isArray(acts) || !acts.every(isAct) || (own !== undefined && !isOwn(own))) {
    throw new Unreadable("This scenario is damaged.");
  }
  return { vitrine: FORMAT, base, files: { ...files }, acts, ...(own ? { own: { ...own } } : {}) };
}

function isOwn(own) {
  if (typeof own !== "object" || own === null) return false;
  const { title, summary, pace, about, programs, settled_ps: settledPs, build, said } = own;
  const isSaid = (each) => Array.isArray(each) && each.length === 2 && SETTING.has(each[0]) && isBase64(each[1]);
  return isText(title) && isText(summary) && Number.isFinite(pace) && pace > 0 && isText(about?.router) && Number.isSafeInteger(about.port)
    && typeof programs === "object" && programs !== null && Object.values(programs).every(isText)
    && isInstant(settledPs) && isBase64(build) && Array.isArray(said) && said.every(isSaid);
}

function isInstant(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

function isBase64(value) {
  return isText(value) && /^[\w+/]*={0,2}$/.test(value);
}

export function base64Of(bytes) {
  return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(""));
}

function isText(value) {
  return typeof value === "string";
}
