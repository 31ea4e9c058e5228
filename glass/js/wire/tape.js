// A recording: the messages of routers one after the other, as labs/glass/tape.py writes them.

const KINDS = ["", "scene", "schema", "describe", "samples", "packets", "index", "hosts", "program", "sources", "entries", "trace"];
const HEAD_BYTES = 6;

// From base64 of gzip to bytes.
export async function unpack(text) {
  const octets = atob(text.trim());
  const packed = new Uint8Array(octets.length);
  // Millions of them: a call for each takes longer than all the rest of opening a page.
  for (let i = 0; i < octets.length; i++) packed[i] = octets.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// {kind, router, message} of each.
export function* entries(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const length = view.getUint32(at + 2);
    const begin = at + HEAD_BYTES;
    if (begin + length > bytes.length) throw new Error("the recording is cut off");
    yield { kind: KINDS[bytes[at]], router: bytes[at + 1], message: bytes.subarray(begin, begin + length) };
    at = begin + length;
  }
}
