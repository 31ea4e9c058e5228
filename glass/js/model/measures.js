// The measures behind the lessons' claims, each over the one window of all rates.
//
// A measure: {words(value), difference(one, other), read({model, hosts}, timePs)}. It reads undefined if
// the window is not full or unknown, and Infinity if an answer never came. `difference` says in words how
// much more the other one is. Measures of the same name read the same.

import { span, percent } from "../words.js";
import { within } from "./order.js";
import { percentilesOf } from "./curves.js";
import { droppedOf, portOf, RATE_WINDOW_PS } from "./samples.js";
import { queue } from "./insides.js";

const signed = (number, words) => (number ? `${number > 0 ? "+" : "−"}${words(Math.abs(number))}` : "none");
const points = (number) => `${number} ${number === 1 ? "point" : "points"}`;
const share = { words: percent, difference: (one, other) => signed(Math.round(other * 100) - Math.round(one * 100), points) };
const wait = {
  words: (seconds) => (seconds === Infinity ? "no answer" : span(seconds)),
  difference: (one, other) => (Number.isFinite(other - one) ? signed(other - one, span) : "…"),
};
const median = (list) => percentilesOf(list)?.[0];

// Which part of the rate of a port's line is used, by all or by one class.
export const lineShare = (port, class_) => ({
  name: `line ${port} ${class_ ?? ""}`,
  ...share,
  read({ model: { samples } }, timePs) {
    const now = samples.rateAt(timePs, port, class_), most = samples.configAt(timePs, port)?.rate_bps;
    return now === undefined || !most ? undefined : now / most;
  },
});

// The first host's share of the traffic of two hosts that left the router.
export const flowShare = (one, other) => ({
  name: `flows ${one} ${other}`,
  ...share,
  read({ model: { insides } }, timePs) {
    const fromPs = timePs - RATE_WINDOW_PS;
    if (fromPs < insides.curvesStartPs) return undefined;
    const sent = (host) => [...insides.sent].filter(([flow]) => !flow.reverse && flow.name.startsWith(`${host} `))
      .reduce((sum, [, track]) => sum + track.sloped(timePs, track.first) - track.sloped(fromPs, track.first), 0);
    const [first, second] = [sent(one), sent(other)];
    return first + second > 0 ? first / (first + second) : undefined;
  },
});

// How long packets had waited when they left a queue: the median, in seconds.
export const waitIn = (port, class_) => ({
  name: `wait ${port} ${class_}`,
  ...wait,
  read({ model: { insides } }, timePs) {
    const fromPs = timePs - RATE_WINDOW_PS, waits = insides.waits.get(queue(port, class_));
    if (!waits || fromPs < insides.curvesStartPs) return undefined;
    const found = median(waits.values.slice(waits.after(fromPs), waits.after(timePs)));
    return found === undefined ? undefined : found / 1e12;
  },
});

// Which part of the packets for a port was lost there.
export const lossAt = (port) => ({
  name: `loss ${port}`,
  ...share,
  read({ model: { samples } }, timePs) {
    const [lost, left] = [droppedOf, (each) => each?.departed?.packets ?? 0]
      .map((countOf) => samples.grownAt(timePs, (sample) => countOf(portOf(sample, port)?.counters))?.by);
    return lost === undefined || lost + left === 0 ? undefined : lost / (lost + left);
  },
});

// How long pings took that were answered in the window: the median, in seconds.
export const pingTime = {
  name: "ping",
  ...wait,
  read({ hosts }, timePs) {
    const isEcho = (each) => each.kind === "echo";
    const found = within(hosts.events, timePs - RATE_WINDOW_PS, timePs).filter(isEcho).map((each) => each.echo.rtt_ps / 1e12);
    if (found.length) return median(found);
    return hosts.events.some((each) => isEcho(each) && each.time_ps <= timePs) ? Infinity : undefined;
  },
};
