// The measures behind lessons' claims, over one window and under one configuration.

import { lossAt, pingTime } from "../../glass/js/model/measures.js";
import { RATE_WINDOW_PS, Samples } from "../../glass/js/model/samples.js";
import { measured } from "../../glass/js/page/claim.js";
import { same } from "./check.js";

const PORT = 1, END = 3 * RATE_WINDOW_PS;

// Of ten packets for the port three are lost.
function sources(...settings) {
  const samples = new Samples();
  for (const [time_ps, alpha] of settings) samples.describe({ time_ps, input: {}, buffer: { alpha }, ports: [{ port: PORT, config: {} }] });
  for (let time_ps = 0, step = 0; time_ps <= END; time_ps += RATE_WINDOW_PS / 10, step++) {
    const dropped = [{ reason: "TAIL", tally: { packets: 3 * step } }];
    samples.take({ time_ps, ports: [{ port: PORT, counters: { counters: { departed: { packets: 7 * step }, dropped } } }], inputs: [] });
  }
  return { model: { samples }, hosts: { events: [] } };
}

const claim = { measure: lossAt(PORT), caseOf: ({ buffer }) => String(buffer.alpha) };

export function a_number_counts_for_what_was_in_force_throughout_its_window() {
  same(measured(claim, sources([0, 1]), END), { name: "1", value: 0.3 });
  const changed = sources([0, 1], [END - RATE_WINDOW_PS / 2, 8]);
  same(measured(claim, changed, END - RATE_WINDOW_PS), { name: "1", value: 0.3 });
  same(measured(claim, changed, END), { name: "8" });
  // The first window is not full yet.
  same(measured(claim, sources([0, 1]), RATE_WINDOW_PS / 2), { name: "1", value: undefined });
}

export function a_ping_that_nobody_answers_any_more_is_no_short_one() {
  const echo = (time_ps, rtt_ps) => ({ time_ps, kind: "echo", echo: { rtt_ps } });
  const hosts = { events: [echo(1e9, 5e9), echo(2e9, 9e9), echo(3e9, 7e9)] };
  same(pingTime.read({ hosts }, 1e8), undefined);
  same(pingTime.read({ hosts }, 4e9), 7e9 / 1e12);
  same([pingTime.read({ hosts }, 2 * RATE_WINDOW_PS), pingTime.words(Infinity)], [Infinity, "no answer"]);
}
