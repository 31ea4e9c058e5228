// Captures: the classic format of pcap and pcapng, of Ethernet.

const PCAP = { 0xa1b2c3d4: 1e-6, 0xa1b23c4d: 1e-9 };
const SECTION = 0x0a0d0d0a, INTERFACE = 1, SIMPLE = 3, PACKET = 6, ORDER = 0x1a2b3c4d;
// The shortest block of each kind, in bytes; the bytes of a packet come on top.
const SHORTEST = { [SECTION]: 28, [INTERFACE]: 20, [SIMPLE]: 16, [PACKET]: 32 };
const ETHERNET = 1;
// The packets of a capture that can be chosen from; the rest is left out.
const PACKETS_MAX = 2000;
const NOT_A_CAPTURE = "This file is no capture: open a .pcap or .pcapng, as tcpdump and Wireshark write them.";

// [{bytes, isCut}], the first of them.
export function packetsOf(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 24) throw new Error(NOT_A_CAPTURE);
  const found = [];
  for (const each of view.getUint32(0) === SECTION ? ofBlocks(file, view) : ofRecords(file, view)) {
    if (found.push(each) === PACKETS_MAX) break;
  }
  if (!found.length) throw new Error("There is no packet in this capture.");
  return found;
}

function* ofRecords(file, view) {
  const isLittle = view.getUint32(0, true) in PCAP;
  if (!isLittle && !(view.getUint32(0) in PCAP)) throw new Error(NOT_A_CAPTURE);
  checkKind(view.getUint32(20, isLittle) & 0xffff);
  for (let at = 24; at + 16 <= file.length;) {
    const length = view.getUint32(at + 8, isLittle), whole = view.getUint32(at + 12, isLittle);
    at += 16;
    if (at + length > file.length) return;
    yield { bytes: file.slice(at, at + length), isCut: length < whole };
    at += length;
  }
}

function* ofBlocks(file, view) {
  let isLittle = true;
  for (let at = 0; at + 12 <= file.length;) {
    const kind = view.getUint32(at, isLittle);
    if (kind === SECTION) isLittle = view.getUint32(at + 8, true) === ORDER;
    const size = view.getUint32(at + 4, isLittle);
    if (size < (SHORTEST[kind] ?? 12) || at + size > file.length) return;
    if (kind === INTERFACE) checkKind(view.getUint16(at + 8, isLittle));
    const [head, length, whole] = kind === PACKET ? [28, view.getUint32(at + 20, isLittle), view.getUint32(at + 24, isLittle)]
      : kind === SIMPLE ? [12, Math.min(view.getUint32(at + 8, isLittle), size - 16), view.getUint32(at + 8, isLittle)] : [];
    if (head && head + length <= size) {
      yield { bytes: file.slice(at + head, at + head + length), isCut: length < whole };
    }
    at += size;
  }
}

function checkKind(kind) {
  if (kind !== ETHERNET) throw new Error("This capture is not of Ethernet, and routers here have no other ports.");
}
