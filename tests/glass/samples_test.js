// Rates at lines: over one window, and never what a line cannot carry.

import { curves } from "../../glass/js/model/curves.js";
import { RATE_WINDOW_PS, Samples } from "../../glass/js/model/samples.js";
import { holds, same } from "./check.js";

const BPS = 10e6, LENGTH = 1250, FRAME_PS = 1e9;

// A line that is full from `fromPs` on: a frame each millisecond, counted when it begins.
function told(everyPs, untilPs, fromPs = 0) {
  const samples = new Samples();
  samples.describe({ time_ps: 0, input: {}, ports: [{ port: 1, config: { rate_bps: BPS, queues: [] } }] });
  for (let time_ps = 0; time_ps <= untilPs; time_ps += everyPs) {
    const frames = time_ps < fromPs ? 0 : Math.floor((time_ps - fromPs) / FRAME_PS) + 1;
    samples.take({ time_ps, inputs: [], ports: [{ port: 1, counters: { counters: { departed: { packets: frames, bytes: frames * LENGTH } } } }] });
  }
  return samples;
}

export function nothing_is_said_before_the_window_is_full() {
  const samples = told(1e9, 2e12);
  same([0, 1e9, RATE_WINDOW_PS / 2].map((each) => samples.rateAt(each, 1)), [undefined, undefined, undefined]);
  same(samples.rateAt(RATE_WINDOW_PS, 1), BPS);
}

export function a_rate_forgets_what_was_before_its_window() {
  const samples = told(1e9, 4e12, 3e12);
  same(samples.rateAt(2.9e12, 1), 0);
  same(samples.rateAt(3.9e12, 1), BPS);
}

export function no_line_carries_more_than_it_can() {
  for (const everyPs of [0.3e9, 0.7e9, 1e9, 7e9, 300e9, 900e9]) {
    const samples = told(everyPs, 5e12);
    for (const { time_ps: at } of samples.list) holds((samples.rateAt(at, 1) ?? 0) <= BPS, `${samples.rateAt(at, 1)} b/s at ${at}`);
    const { series, note } = curves("lines", { model: { samples } }, { fromPs: 0, longPs: 0, toPs: 5e12 });
    holds(series[0].ys.every((each) => each === null || each <= BPS), "nor does its curve");
    same(note, "out of each port, over the last 500 ms");
  }
}
