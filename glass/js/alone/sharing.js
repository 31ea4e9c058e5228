// A scenario as an address, and as a file: which one it began with, what was changed in its programs, and
// what was done in it, when.
//
//   {vitrine: 1, base: "hol-blocking", files: {name: text}, acts: [[ps, method, base64], ...]}
//
// What comes from elsewhere is looked at here, whole, before anything is made of it.

const FORMAT = 1;
// Longer addresses are cut by programs for mail and chat.
export const ADDRESS_LENGTH_MAX = 8000;
// What a file may unpack to.
const UNPACKED_BYTES_MAX = 4 << 20;
// The calls that change something; all others are none of a script's.
export const CHANGING = new Set([
  "/vitrine.v1.World/Start", "/vitrine.v1.World/Stop", "/vitrine.v1.World/Fault",
  "/vitrine.v1.Router/Configure", "/p4.v1.P4Runtime/Write", "/p4.v1.P4Runtime/StreamChannel",
]);

export class Unreadable extends Error {}

// What of a scenario is worth sharing; `kit` are the texts that everybody has.
export function shared(scenario, files, kit, acts) {
  const changed = Object.entries(files).filter(([name, text]) => text !== kit[name]);
  return { vitrine: FORMAT, base: scenario.name, files: Object.fromEntries(changed), acts };
}

export async function toAddress(value) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)));
  return btoa(Array.from(packed, (each) => String.fromCharCode(each)).join(""))
    .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function fromAddress(text) {
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const bytes = await through(new DecompressionStream("deflate-raw"), packed);
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
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
function checked(value) {
  if (value?.vitrine !== FORMAT) {
    throw new Unreadable(value?.vitrine > FORMAT ? "This scenario was made with a later Vitrine: get that one."
      : "This is no scenario of Vitrine's.");
  }
  const { base, files = {}, acts = [] } = value;
  const isTexts = typeof files === "object" && files !== null && Object.values(files).every(isText);
  const isAct = (each) => Array.isArray(each) && each.length === 3 && Number.isSafeInteger(each[0]) && each[0] >= 0
    && CHANGING.has(each[1]) && isText(each[2]) && /^[\w+/]*={0,2}$/.test(each[2]);
  if (!isText(base) || !isTexts || !Array.isArray(acts) || !acts.every(isAct)) {
    throw new Unreadable("This scenario is damaged.");
  }
  return { vitrine: FORMAT, base, files: { ...files }, acts };
}

function isText(value) {
  return typeof value === "string";
}

async function through(stream, bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    parts.push(value);
    length += value.length;
    if (length > UNPACKED_BYTES_MAX) {
      await reader.cancel();
      throw new Unreadable("This scenario is too large.");
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
