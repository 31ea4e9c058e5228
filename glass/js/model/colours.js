// Which of the palette's colours a flow has.
//
// A flow of host h1 has the first one, a flow of h2 the second: as in reports (labs/palette.py), in every
// router and after each reload. If another flow has it already, the next free one is taken. Which flow comes
// first may then depend on when the page was opened, so the browser stores what was given.

export const COLOURS = 8;
const ICMP = new Set([1, 58]), PING_STEP = 4;
const KEPT = "vitrine.colours", KEPT_MAX = 64;

export class Colours {
  // `places` are numbers of hosts by their addresses; `kept` is what `given` has made.
  constructor(places = new Map(), kept = {}) {
    this.places = places;
    this.kept = kept;
    this.counts = new Array(COLOURS).fill(0);
  }

  // The colour of a new flow between two ends; see Flows.
  take(key, flow) {
    const wanted = this.kept[key] ?? this.wanted(flow);
    let colour = wanted;
    if (!(key in this.kept)) {
      const next = [...Array(COLOURS).keys()].map((step) => (wanted + step) % COLOURS);
      colour = next.find((each) => this.counts[each] === 0) ?? wanted;
    }
    this.counts[colour]++;
    return colour;
  }

  release(colour) {
    this.counts[colour]--;
  }

  // The client has the higher port. A ping between the same hosts as a flow has a colour of its own.
  wanted({ protocol, source, target, sourcePort, targetPort }) {
    const ends = [[targetPort, target], [sourcePort, source]].sort(([a, one], [b, other]) => a - b || (one < other ? -1 : 1));
    const [, [, client]] = ends;
    return (COLOURS + this.place(client) + (ICMP.has(protocol) ? PING_STEP : 0)) % COLOURS;
  }

  place(address) {
    return this.places.get(address) ?? [...address].reduce((sum, each) => sum + each.charCodeAt(0), 0);
  }
}

// The colours of the newest `KEPT_MAX` flows, to remember.
export function given(list) {
  return Object.fromEntries(list.filter(Boolean).slice(-KEPT_MAX).map(({ keys, colour }) => [keys.toSorted()[0], colour]));
}

export function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

export function remember(list) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(given(list)));
  } catch {
    // Somebody keeps nothing in this browser: colours follow from the ends alone.
  }
}
