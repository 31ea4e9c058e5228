// Which of the palette's colours a flow has.
//
// It follows from the flow's ends, so that it is the same in every router and each time that the page is
// loaded. Where another flow has that one already it is the next that is free; who comes first is then a
// matter of when one looks, so what was given is kept for the next time in the same browser.

export const COLOURS = 8;
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

  // Neighbours in a lab differ by one in host, in port or in both, and so have colours of their own.
  wanted({ protocol, source, target, sourcePort, targetPort }) {
    const ends = [[targetPort, target], [sourcePort, source]].sort(([a, one], [b, other]) => a - b || (one < other ? -1 : 1));
    const [[serverPort], [clientPort, client]] = ends;
    return (protocol + serverPort + 2 * clientPort + 2 * this.place(client)) % COLOURS;
  }

  place(address) {
    return this.places.get(address) ?? [...address].reduce((sum, each) => sum + each.charCodeAt(0), 0);
  }
}

// What to keep of flows' colours, the newest flows of many.
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
