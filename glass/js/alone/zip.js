// Packets of files (PKZIP's APPNOTE 6.3): written deflated, read stored or deflated. No encryption, no
// 64-bit sizes, no folders: a name may have slashes.

const LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50;
const LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 22;
const STORED = 0, DEFLATED = 8, UTF8 = 0x800;
// The first day that the format knows, so that the same files make the same packet.
const DATE = 0x21;
const COMMENT_BYTES_MAX = 65535;
const text = new TextEncoder();

export class NoZip extends Error {}

// files: [[name, bytes]]
export async function zipOf(files) {
  const parts = [], directory = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const packed = await through(new CompressionStream("deflate-raw"), bytes);
    const encoded = text.encode(name);
    // The fields of both headers: version, flags, method, time, date, sum, sizes, length of the name, no extra.
    const common = [[20, 2], [UTF8, 2], [DEFLATED, 2], [0, 2], [DATE, 2], [crc32(bytes), 4], [packed.length, 4],
      [bytes.length, 4], [encoded.length, 2], [0, 2]];
    const local = numbers([[LOCAL, 4], ...common]);
    directory.push(numbers([[CENTRAL, 4], [20, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]]), encoded);
    parts.push(local, encoded, packed);
    at += local.length + encoded.length + packed.length;
  }
  const size = directory.reduce((sum, each) => sum + each.length, 0);
  const end = numbers([[END, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [at, 4], [0, 2]]);
  return new Uint8Array(await new Blob([...parts, ...directory, end]).arrayBuffer());
}

// A map of bytes by names; throws a NoZip if it is not a zip file, or unpacks to more than `bytesMax`.
export async function unzip(zip, bytesMax) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const files = new Map();
  let left = bytesMax;
  try {
    for (const { name, method, from, size } of entriesOf(zip, view)) {
      if (name.endsWith("/")) continue;
      const packed = zip.subarray(from, from + size);
      if (packed.length < size || ![STORED, DEFLATED].includes(method)) throw new RangeError(name);
      const bytes = method === STORED ? packed : await through(new DecompressionStream("deflate-raw"), packed, left);
      left -= bytes.length;
      if (left < 0) throw new NoZip("This packet of files is too large.");
      files.set(name, bytes);
    }
  } catch (error) {
    if (error instanceof NoZip) throw error;
    throw new NoZip("This packet of files is damaged, or packed in a way that is not known here.");
  }
  return files;
}

function* entriesOf(zip, view) {
  let end = zip.length - END_BYTES;
  const first = Math.max(0, end - COMMENT_BYTES_MAX);
  while (end >= first && view.getUint32(end, true) !== END) end--;
  if (end < first) throw new NoZip("This is no packet of files.");
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  for (let index = 0; index < count; index++) {
    if (view.getUint32(at, true) !== CENTRAL) throw new RangeError("directory");
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((each) => view.getUint16(at + each, true));
    const name = new TextDecoder().decode(zip.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameLength));
    const local = view.getUint32(at + 42, true);
    const from = local + LOCAL_BYTES + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    yield { name, method: view.getUint16(at + 10, true), size: view.getUint32(at + 20, true), from };
    at += CENTRAL_BYTES + nameLength + extraLength + commentLength;
  }
}

// The bytes behind a stream that packs or unpacks; throws a NoZip for more than `bytesMax`.
export async function through(stream, bytes, bytesMax = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    parts.push(value);
    length += value.length;
    if (length > bytesMax) {
      await reader.cancel();
      throw new NoZip("This packet of files is too large.");
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// [number, bytes of it] one after the other, the lowest byte first.
function numbers(list) {
  return Uint8Array.from(list.flatMap(([value, size]) => Array.from({ length: size }, (_, index) => (value >>> (8 * index)) & 255)));
}

function crc32(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}
