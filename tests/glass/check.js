// Assertions for tests of modules.

export function same(found, wanted, what = "") {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what} found ${a}, wanted ${b}`);
}

export function holds(condition, what) {
  if (!condition) throw new Error(what);
}

// Dice that fall the same every time (mulberry32).
export function dice(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

// Runs every function that a module exports; the names of those that fail, and why.
export async function run(address) {
  const tests = await import(address);
  const failed = [];
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
  }
  return { count: Object.keys(tests).length, failed };
}
