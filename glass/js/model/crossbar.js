// A crossbar in slots under uniform random traffic, as Karol, Hluchyj and Morgan computed it (1987): what a load does
// to the mean wait, with one FIFO at each input and with queues at the outputs alone.
//
// In each slot a cell comes to each input with the probability `load`, for any output. Then each output takes one of
// the heads that want it, the one that became a head first. A cell may leave in the slot in which it came: it has
// waited 0 slots.

// The maximum throughput of FIFOs with many ports: 2 − √2, or 58.6 %.
export const FIFO_MOST = 2 - Math.SQRT2;

// The mean wait with output queues, in slots.
export const outputWait = (ports, load) => (((ports - 1) / ports) * load) / (2 * (1 - load));

// With FIFOs and infinitely many ports; Infinity beyond what they carry. The heads for an output are a queue with
// Poisson arrivals that is served in order, one a slot; its delay is the service time of each FIFO (Geom/G/1).
export function fifoWait(load) {
  if (load >= FIFO_MOST) return Infinity;
  // Moments of the number of heads before a new one: heads that were left over, and heads of its own slot that go first.
  const left = load ** 2 / (2 * (1 - load)), leftSquare = (3 * left * (1 - load + load ** 2) + load ** 3) / (3 * (1 - load));
  const own = load / 2, ownSquare = load ** 2 / 3 + load / 2;
  const wait = left + own, waitSquare = leftSquare + 2 * left * own + ownSquare;
  return wait + (load * (wait + waitSquare)) / (2 * (1 - load * (1 + wait)));
}

// Numbers below `bound`, the same of each seed (mulberry32).
function dice(seed) {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const PARTS = 1e6;
// Cells beyond this wait for nothing that is measured: their queue grows without end.
const QUEUED_MAX = 20_000;

export class Crossbar {
  constructor({ ports, load, seed = 1 }) {
    Object.assign(this, { ports, load });
    this.dice = dice(seed);
    this.slot = 0;
    // Of each input the cells, [output, slot], from `first` on, and the slot in which the first one became the head.
    this.fifos = Array.from({ length: ports }, () => ({ cells: [], first: 0, headSince: 0 }));
    // The same cells as they would wait at their outputs: how many.
    this.outputs = new Array(ports).fill(0);
    this.begin();
  }

  // The measurement begins here.
  begin() {
    this.from = this.slot;
    this.fifo = { cells: 0, slots: 0 };
    this.output = { cells: 0, slots: 0 };
  }

  run(slots) {
    for (let each = 0; each < slots; each++) this.step();
  }

  step() {
    for (const fifo of this.fifos) {
      if (this.dice(PARTS) >= this.load * PARTS) continue;
      const output = this.dice(this.ports);
      if (fifo.cells.length === fifo.first) fifo.headSince = this.slot;
      if (fifo.cells.length - fifo.first < QUEUED_MAX) fifo.cells.push([output, this.slot]);
      // It waits for those before it, a slot each.
      this.output.slots += this.outputs[output]++;
      this.output.cells++;
    }
    this.serveHeads();
    this.outputs.forEach((held, output) => (this.outputs[output] = Math.max(0, held - 1)));
    this.slot++;
  }

  serveHeads() {
    const chosen = new Map();
    // Of those that are equally old any: the first one, counted from any input.
    const from = this.dice(this.ports);
    for (let each = 0; each < this.ports; each++) {
      const fifo = this.fifos[(from + each) % this.ports], head = fifo.cells[fifo.first];
      if (head && !(chosen.get(head[0])?.headSince <= fifo.headSince)) chosen.set(head[0], fifo);
    }
    for (const fifo of chosen.values()) {
      const [, since] = fifo.cells[fifo.first++];
      fifo.headSince = this.slot + 1;
      this.fifo.cells++;
      this.fifo.slots += this.slot - since;
      // Removes the cells that have left only now and then: moving the rest costs as much as its length.
      if (fifo.first > 64 && 2 * fifo.first > fifo.cells.length) {
        fifo.cells.splice(0, fifo.first);
        fifo.first = 0;
      }
    }
  }

  // {carried, wait, outputWait}: the share of the lines that FIFOs carry, and mean waits in slots.
  get found() {
    const slots = this.slot - this.from;
    return {
      carried: this.fifo.cells / (slots * this.ports),
      wait: this.fifo.slots / this.fifo.cells,
      outputWait: this.output.slots / this.output.cells,
    };
  }
}
