// A frame as bytes: bits of it, digits for it, and the lengths and checksums that follow from the rest.

import { NAMES_OF_ADDRESSES, sayValue } from "./entries.js";

export function bitsOf(bytes, at, width) {
  let value = 0n;
  for (let bit = at; bit < at + width; bit++) value = (value << 1n) | BigInt((bytes[bit >> 3] >> (7 - (bit & 7))) & 1);
  return value;
}

// A copy of the bytes with other bits, those of the mask; all that are not there are left out.
export function withBits(bytes, at, width, value, mask = (1n << BigInt(width)) - 1n) {
  const made = bytes.slice();
  for (let index = 0; index < width; index++) {
    const shift = BigInt(width - 1 - index), bit = at + index;
    if (!((mask >> shift) & 1n) || bit >> 3 >= made.length) continue;
    const place = 1 << (7 - (bit & 7));
    if ((value >> shift) & 1n) made[bit >> 3] |= place;
    else made[bit >> 3] &= ~place;
  }
  return made;
}

export function hexOf(bytes) {
  return Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");
}

// Sixteen bytes a line, as people read them.
export function hexLines(bytes) {
  return hexOf(bytes).replace(/.{32}(?=.)/g, "$&\n").replace(/([^\n]{2})(?=[^\n])/g, "$1 ");
}

// Bytes of pasted text: digits with blanks, colons or 0x, or lines that begin with an offset, as tcpdump -x and others
// write them; throws a sentence.
export function bytesOfText(text) {
  const digits = text.split("\n")
    .map((line) => line.replace(/^\s*(0x)?[\da-f]{4,8}(:|\s\s)\s*/i, "").replace(/\s\s+\S.*$/, ""))
    .join("").replace(/0x|[\s:,-]/gi, "");
  const wrong = /[^\da-f]/i.exec(digits)?.[0];
  if (wrong) throw new Error(`“${wrong}” is no hexadecimal digit: paste a packet as pairs of digits, such as 02 00 0a`);
  if (digits.length % 2) throw new Error(`a packet has an even number of digits, and these are ${digits.length}`);
  return Uint8Array.from(digits.match(/../g) ?? [], (each) => parseInt(each, 16));
}

// A field's value for people: types and checksums as digits, addresses as addresses, else a number.
export function sayField({ name, width }, value) {
  if (/(type|checksum)$/.test(name) && width <= 32) return `0x${value.toString(16).padStart(Math.ceil(width / 4), "0")}`;
  if (width > 64 && !(width === 128 && NAMES_OF_ADDRESSES.test(name))) return `0x${value.toString(16)}`;
  const digits = value.toString(16);
  const bytes = (digits.length % 2 ? `0${digits}` : digits).match(/../g).map((each) => parseInt(each, 16));
  return sayValue({ name, bitwidth: width }, bytes);
}

// ---- what follows from the rest ------------------------------------------------------------------

const TCP = 6, UDP = 17, ICMP = 1, ICMPV6 = 58;
// The offset of the checksum in each protocol above IP, and the minimum length of its header.
const CHECKSUMS = { [ICMP]: [2, 4], [TCP]: [16, 20], [UDP]: [6, 8], [ICMPV6]: [2, 4] };

// The frame with correct lengths and checksums of IP and of its payload. `layers` are headers as the parser has found
// them: [{at, fields}].
export function completed(frame, layers) {
  const made = frame.slice();
  // From the inside out: the checksum of an outer header covers the inner ones.
  for (const { at, fields } of [...layers].reverse()) {
    if (fields[0]?.width !== 4) continue;
    if (made[at] >> 4 === 4 && made.length >= at + 20) completeIpv4(made, at);
    if (made[at] >> 4 === 6 && made.length >= at + 40) completeIpv6(made, at);
  }
  return made;
}

function completeIpv4(frame, at) {
  const header = 4 * (frame[at] & 15);
  if (header < 20 || frame.length < at + header) return;
  put(frame, at + 2, frame.length - at);
  const isWhole = ((frame[at + 6] & 0x3f) | frame[at + 7]) === 0;
  if (isWhole) completeTransport(frame, at + header, frame[at + 9], frame.subarray(at + 12, at + 20));
  put(frame, at + 10, 0);
  put(frame, at + 10, checksum([frame.subarray(at, at + header)]));
}

function completeIpv6(frame, at) {
  put(frame, at + 4, frame.length - at - 40);
  completeTransport(frame, at + 40, frame[at + 6], frame.subarray(at + 8, at + 40));
}

function completeTransport(frame, at, protocol, addresses) {
  const [place, least] = CHECKSUMS[protocol] ?? [];
  const length = frame.length - at;
  if (place === undefined || length < least) return;
  if (protocol === UDP) put(frame, at + 4, length);
  put(frame, at + place, 0);
  const pseudo = protocol === ICMP ? [] : [addresses, Uint8Array.of(0, protocol, length >> 8, length & 255)];
  const sum = checksum([...pseudo, frame.subarray(at)]);
  // Zero would mean that there is none.
  put(frame, at + place, protocol === UDP && sum === 0 ? 0xffff : sum);
}

function put(frame, at, value) {
  frame[at] = (value >> 8) & 255;
  frame[at + 1] = value & 255;
}

// The Internet's (RFC 1071); all parts but the last have an even length.
function checksum(parts) {
  let sum = 0;
  for (const part of parts) for (let at = 0; at < part.length; at += 2) sum += (part[at] << 8) | (part[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

// ---- headers to begin with -----------------------------------------------------------------------

// A header of these fields, [{name, width}], with values that make sense where its layout is known;
// `ends` are the addresses at both ends: {source, target} of {mac, ipv4, ipv6}, each a number.
export function newHeader(fields, { source = {}, target = {} } = {}) {
  const width = fields.reduce((sum, each) => sum + each.width, 0);
  const widths = fields.map((each) => each.width).join(" ");
  let made = new Uint8Array(Math.ceil(width / 8));
  const set = (at, size, value) => {
    if (value !== undefined) made = withBits(made, at, size, value);
  };
  if (widths === "48 48 16") {
    set(0, 48, target.mac);
    set(48, 48, source.mac);
  } else if (widths.startsWith("4 4 ") && width >= 160) {
    set(0, 8, 0x45n);
    set(64, 8, 64n);
    set(96, 32, source.ipv4);
    set(128, 32, target.ipv4);
  } else if (fields[0]?.width === 4 && width === 320) {
    set(0, 4, 6n);
    set(56, 8, 64n);
    set(64, 128, source.ipv6);
    set(192, 128, target.ipv6);
  } else if (/port/.test(fields[0]?.name) && widths.startsWith("16 16 ")) {
    set(0, 16, 1000n);
    set(16, 16, 2000n);
    // A header of five words, and the flag that begins a connection.
    if (width === 160) set(96, 16, 0x5002n);
  }
  return made;
}

// The frame with headers more, at a byte, and with the bits that lead the parser to them.
export function withLayers(frame, { at, layers, sets }, ends) {
  const headers = layers.flatMap(({ fields }) => [...newHeader(fields, ends)]);
  const made = Uint8Array.from([...frame.subarray(0, at), ...headers, ...frame.subarray(at)]);
  return sets.reduce((bytes, each) => withBits(bytes, each.at, each.width, BigInt(`0x${each.value}`), BigInt(`0x${each.mask}`)), made);
}

// How long a header of the frame is, in bytes.
export function lengthOf({ at, fields }) {
  const end = fields.reduce((most, each) => Math.max(most, each.at + each.width), 8 * at);
  return end / 8 - at;
}
