// The reported state of arbiters, queue management and schedulers is shown unchanged.

import { arbiterShapes } from "../../glass/js/draw/arbiter.js";
import { routerLayout } from "../../glass/js/draw/layout.js";
import { mindShapes } from "../../glass/js/draw/minds.js";
import { PALETTES } from "../../glass/js/draw/palette.js";
import { arbitrationWords, phaseAt, phasesOf, shownIn } from "../../glass/js/model/arbiter.js";
import { aqmWords, bucketOf, nodesOf, queueWords, turnWords } from "../../glass/js/model/minds.js";
import { same } from "./check.js";

const match = (input, output) => ({ input, output, weight: 0 });

// Figure 5 of McKeown (1999), the first two rounds of iSLIP: in the first, outputs 1 and 2 both grant
// input 1, which accepts output 1; in the second, input 3 gets output 2.
const ISLIP = {
  timePs: 1000,
  asks: [match(1, 1), match(1, 2), match(3, 2), match(3, 4), match(4, 4)],
  rounds: [
    { grants: [match(1, 1), match(1, 2), match(4, 4)], accepts: [match(1, 1), match(4, 4)] },
    { grants: [match(3, 2)], accepts: [match(3, 2)] },
  ],
  pointers: [1, 2, 3, 4].map((port) => ({ port, grant: port === 1 ? 2 : 1, accept: 1 })),
};
const BEFORE = [1, 2, 3, 4].map((port) => ({ port, grant: 1, accept: 1 }));
const levels = (index) => shownIn(ISLIP, BEFORE, index).places.map((each) => each.level).join(" ");

export function an_arbitration_is_shown_phase_by_phase() {
  same(phasesOf(ISLIP).map((each) => each.words), ["requests", "grants, round 1", "accepts, round 1", "grants, round 2",
    "accepts, round 2", "pointers move"]);
  same(levels(0), "asks asks asks asks asks");
  same(levels(1), "granted granted asks asks granted");
  same(levels(2), "matched granted asks asks matched");
  same(levels(3), "matched asks granted asks matched");
  same(levels(4), "matched asks matched asks matched");
  same(levels(5), levels(4));
  // Pointers stand until the end, and then it is said which has moved.
  same(shownIn(ISLIP, BEFORE, 4).pointers[0].grant, 1);
  same([...shownIn(ISLIP, BEFORE, 5).moved], ["grant 1"]);
  same(shownIn(ISLIP, BEFORE, 5).pointers[0].grant, 2);
}

export function arbiters_that_match_at_once_have_no_grants() {
  const wave = { asks: [match(1, 1)], rounds: [{ grants: [], accepts: [match(1, 1)] }], pointers: [] };
  same(phasesOf(wave).map((each) => each.words), ["requests", "matches"]);
  same(arbitrationWords(wave), [["requests", "1→1"], ["matches of round 1", "1→1"]]);
}

export function phases_are_seen_as_long_as_eyes_need_or_not_at_all() {
  // Six phases in 3 seconds of the viewer: 0.45 s each.
  same([0, 0.44, 0.46, 2.9].map((since) => phaseAt(ISLIP, since, 3)), [0, 0, 1, 5]);
  // In 1.2 seconds: 0.2 s each.
  same(phaseAt(ISLIP, 0.5, 1.2), 2);
  // In 0.1 seconds there is no seeing them: the end at once.
  same(phaseAt(ISLIP, 0, 0.1), 5);
}

function about(port) {
  return { ports: [1, 2, 3, 4].map((number) => ({ port: number, config: { rate_bps: 1e7, queues: [], ...port } })),
           input: { queueing: "VOQ", voq_limit: { packets: 9, bytes: 0 } } };
}

export function crossing_points_carry_what_happens_there() {
  const layout = routerLayout(about({}), { width: 930, height: 600 });
  const moment = { state: { arbitration: ISLIP, pointersBefore: BEFORE }, upcoming: [], timePs: 1000, pace: 1e-9, moves: true };
  const shapes = (phase) => arbiterShapes(layout, { ...moment, phase }, PALETTES.light);
  const points = (list, kind) => list.filter((each) => each.kind === kind).map(({ x, y }) => `${x} ${y}`);
  const place = (input, output) => `${layout.rows.get(output).wireX} ${layout.rows.get(input).inY}`;
  same(points(shapes(0), "dot"), ISLIP.asks.map(({ input, output }) => place(input, output)));
  same(points(shapes(1), "half"), [place(1, 1), place(1, 2), place(4, 4)]);
  // Two pointers a port.
  same(shapes(0).filter((each) => each.kind === "area").length, 8);
  same(arbiterShapes(layout, { ...moment, isBars: true }, PALETTES.light), []);
}

export function methods_say_what_they_have_in_mind() {
  const of = (kind, parameters, state) => aqmWords({ aqm: { kind, [kind]: parameters } }, state && { kind, [kind]: state }, 1e9);
  same(of("codel", {}, undefined), "CoDel: nobody waits too long");
  same(of("codel", {}, { count: 3, next_drop_ps: 6e9 }), "CoDel: next drop in 5 ms, number 4");
  same(of("pie", {}, { probability_ppb: 25_000_000, delay_ns: 12_000_000, burst_left_ns: 0 }), "PIE: 3 %, delay 12 ms");
  same(of("pie", {}, { probability_ppb: 1_500_000, delay_ns: 0, burst_left_ns: 1_000_000 }),
       "PIE: 0.15 %, delay 0 s, lets bursts through for 1 ms");
  // A method without a text of its own is shown by its message's fields.
  same(of("blue_sky", {}, { mark_ppb: 25_000_000, delay_ns: 12_000_000, queue_packets: 3, rounds: 2 }),
       "blue sky, mark 3 %, delay 12 ms, queue 3 packets, rounds 2");
  same(of("red", {}, { average_thousandths: 7_250 }), "RED: average 7.3, thresholds 5 and 15");
  same(of("ecn_step", { threshold: { packets: 20, bytes: 0 } }), "marks from 20 packets");
  same(aqmWords({}, undefined, 0), "");
}

export function schedulers_and_buckets_say_what_is_left() {
  same(turnWords({ current: true, kind: "deficit_bytes", deficit_bytes: 1028 }), "deficit 1,028 bytes, its turn");
  same(turnWords({ current: false, kind: "packets_left", packets_left: 0 }), "waits for its turn");
  same(turnWords({ kind: "lead_bytes", lead_bytes: 500 }), "tag 500 bytes ahead");
  const bits = { kind: "bits", bits: { burst_bytes: 1000 } };
  same(bucketOf(bits, { kind: "bytes", bytes: 250 }), { share: 0.25, words: "250 of 1,000 bytes in its bucket" });
  same(bucketOf(bits, { kind: "bytes", bytes: -9 }).share, 0);
  same(bucketOf({ kind: "packets", packets: { burst_packets: 2 } }, { kind: "packets_thousandths", packets_thousandths: 500 }),
       { share: 0.25, words: "0.5 of 2 packets in its bucket" });
  same(bucketOf(undefined, undefined), undefined);
  const tree = { hierarchy: { name: "root", children: [{ name: "a", children: [] }, { name: "b", children: [] }] } };
  same(nodesOf(tree, [3, 2, 1].map((each) => ({ rate_bytes: each, ceil_bytes: 0 }))).map(({ node, depth, rate }) => [node.name, depth, rate]),
       [["root", 0, 3], ["a", 1, 2], ["b", 1, 1]]);
  same(queueWords({ shaper: bits }, {}, { shaper: { kind: "bytes", bytes: 10 }, threshold_bytes: 3000 }, {}, 0),
       ["10 of 1,000 bytes in its bucket", "the shared buffer lets it hold 3 kB"]);
}

export function thresholds_stand_where_their_depth_is() {
  const queue = { class: 0, limit: { packets: 20, bytes: 0 }, aqm: { kind: "ecn_step", ecn_step: { threshold: { packets: 5, bytes: 0 } } } };
  const config = about({ queues: [queue] });
  const layout = routerLayout(config, { width: 930, height: 600 });
  const moment = (told) => ({ about: config, sample: { ports: [{ port: 1, counters: { queues: [{ class: 0, ...told }] } }] } });
  const [strip] = layout.rows.get(1).queues;
  const walls = (told) => mindShapes(layout, moment(told), PALETTES.light).filter((each) => each.dash).map(({ points }) => points[0][0]);
  // 5 of 20 packets are a quarter of the strip, from the head at its right end.
  same(walls({})[0], strip.x + strip.w * 0.75);
  // 15,140 bytes are 10 full packets; a threshold beyond the limit is not in the picture.
  same(walls({ threshold_bytes: 15_140 })[1], strip.x + strip.w * 0.5);
  same(walls({ threshold_bytes: 1e6 }).length, 4);
}
