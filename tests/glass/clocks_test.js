// Routers that started at different times are shown at one time.

import { Clocks } from "../../glass/js/wire/clocks.js";
import { same } from "./check.js";

const S = 1e12;
const STARTED_NS = 1_700_000_000e9;

export function instants_are_moved_onto_one_clock_and_spans_are_not() {
  const clocks = new Clocks();
  clocks.align("s1", { epoch_offset_ns: STARTED_NS, time_ps: 5 * S });
  // s2 started ten seconds later: what it calls 0 s the other one calls 10 s.
  const start = clocks.align("s2", { start: { time_ps: 1 * S, epoch_offset_ns: STARTED_NS + 10e9 }, events: [] });
  same(start.start.time_ps, 11 * S);
  const told = clocks.align("s2", {
    complete_until_ps: 0,
    events: [{ time_ps: 2 * S, kind: "packet", packet: { step: "crossing", crossing: { until_ps: 3 * S } } }],
    sample: { time_ps: 2 * S, ports: [{ counters: { residence: { mean_ps: 7, buckets: [{ up_to_ps: 9 }] } } }] },
    head: Uint8Array.of(1, 2),
  });
  same(told, {
    complete_until_ps: 0,
    events: [{ time_ps: 12 * S, kind: "packet", packet: { step: "crossing", crossing: { until_ps: 13 * S } } }],
    sample: { time_ps: 12 * S, ports: [{ counters: { residence: { mean_ps: 7, buckets: [{ up_to_ps: 9 }] } } }] },
    head: Uint8Array.of(1, 2),
  });
  // The first router's clock is the reference of all.
  same(clocks.align("s1", { time_ps: 6 * S }), { time_ps: 6 * S });
}

export function the_same_start_said_again_a_little_differently_moves_nothing() {
  const clocks = new Clocks();
  clocks.align("s1", { epoch_offset_ns: STARTED_NS });
  clocks.align("s2", { epoch_offset_ns: STARTED_NS + 1e9 });
  same(clocks.align("s2", { epoch_offset_ns: STARTED_NS + 1e9 + 5e6, time_ps: S }).time_ps, 2 * S);
  // A router that starts again begins at 0, later.
  same(clocks.align("s2", { epoch_offset_ns: STARTED_NS + 60e9, time_ps: S }).time_ps, 61 * S);
}

export function hosts_are_told_in_the_time_of_their_router() {
  const clocks = new Clocks();
  clocks.sameAs = { "@world": "s1" };
  clocks.align("s2", { epoch_offset_ns: STARTED_NS });
  clocks.align("s1", { epoch_offset_ns: STARTED_NS + 2e9 });
  same(clocks.align("@world", { sample: { time_ps: S } }).sample.time_ps, 3 * S);
}

export function in_virtual_time_nothing_is_changed() {
  const clocks = new Clocks();
  for (const name of ["s1", "s2"]) same(clocks.align(name, { epoch_offset_ns: 0, time_ps: S }).time_ps, S);
}
