// How much of the past a page remembers: a number of bytes of its heap, whatever the pace and the view.
//
// Each store has a share and forgets, or thins, its oldest part when the share is used up. Sizes are
// estimates for V8 as it lays objects out in Chromium; tests/glass/test_memory.py compares them with the heap.

// Everything remembered, over all routers and hosts. A page takes about 30 MB without it.
const REMEMBERED_BYTES = 100e6;
// The shares of its parts. Single packets are most of the data.
const SHARES = { packets: 0.45, curves: 0.2, samples: 0.15, abouts: 0.05, notes: 0.05, hosts: 0.1 };

const OBJECT_BYTES = 12, FIELD_BYTES = 4, ARRAY_BYTES = 32, NUMBER_BYTES = 12, VIEW_BYTES = 160;
// Larger integers, and all fractions, are objects of their own.
const SMALL_MAX = 2 ** 30;

// {packets, curves, samples, abouts, notes} of each of `routers` routers, in bytes, and {hosts}.
export function sharesOf(routers) {
  const share = (name) => (SHARES[name] * REMEMBERED_BYTES) / (name === "hosts" ? 1 : Math.max(1, routers));
  return Object.fromEntries(Object.keys(SHARES).map((name) => [name, share(name)]));
}

// How many bytes a decoded message occupies. Texts are the names of enums, which exist once.
export function sizeOf(value) {
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < SMALL_MAX ? 0 : NUMBER_BYTES;
  if (typeof value !== "object" || value === null) return 0;
  if (ArrayBuffer.isView(value)) return VIEW_BYTES + value.byteLength;
  if (Array.isArray(value)) {
    // Empty lists are one and the same.
    return value.length ? value.reduce((sum, each) => sum + FIELD_BYTES + sizeOf(each), ARRAY_BYTES) : 0;
  }
  let sum = OBJECT_BYTES;
  for (const name in value) sum += FIELD_BYTES + sizeOf(value[name]);
  return sum;
}

// The mean size of a list's elements, estimated by measuring some of them.
export class MeanSize {
  constructor() {
    this.count = 0;
    this.bytes = 0;
  }

  // The first elements are measured, and then one of 32.
  take(value) {
    if (this.count++ >= 8 && this.count % 32) return this.bytes;
    const size = sizeOf(value);
    this.bytes = this.bytes ? Math.round((7 * this.bytes + size) / 8) : size;
    return this.bytes;
  }
}
