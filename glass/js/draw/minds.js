// The state of queue management, schedulers, token buckets and the shared buffer, drawn at the queues: thresholds as
// dashed walls, credit as small bars between a queue and its line.

import { portOf, queueOf } from "../model/samples.js";
import { rowsInSight } from "./layout.js";
import { bucketOf, grantOf, redThresholds, weightOf } from "../model/minds.js";

const FRAME_BYTES = 1514;
const BAR_W = 15, BAR_H = 5;

export function mindShapes(layout, moment, palette) {
  const shapes = [];
  for (const row of rowsInSight(layout, moment.sight)) {
    const { config } = moment.about.ports.find((each) => each.port === row.port);
    const counters = portOf(moment.sample, row.port);
    for (const strip of row.queues) {
      const queue = config.queues.find((each) => each.class === strip.class);
      const told = queueOf(moment.sample, row.port, strip.class);
      if (queue) shapes.push(...thresholds(strip, queue, told, palette), ...credit(strip, row, config, queue, told, palette));
    }
    const bucket = bucketOf(config.shaper, counters?.shaper);
    if (bucket) shapes.push(...vessel(row.serve.x - 5, row.y + 12, 10, 16, bucket.share, palette));
  }
  return [...shapes, ...sharedBuffer(layout, moment, palette)];
}

// Where in its strip a depth is: the head is at the right end, the limit at the left.
function depthX(strip, { packets, bytes }) {
  const { limit } = strip;
  const share = limit.bytes ? (bytes ?? packets * FRAME_BYTES) / limit.bytes : (packets ?? bytes / FRAME_BYTES) / limit.packets;
  return share <= 1.001 ? strip.x + strip.w * (1 - share) : undefined;
}

function wall(strip, depth, stroke, dash) {
  const x = depthX(strip, depth);
  if (x === undefined) return [];
  return [{ kind: "path", points: [[x, strip.y - 4], [x, strip.y + strip.h + 4]], stroke, width: 2, dash }];
}

function thresholds(strip, queue, told, palette) {
  const shapes = [];
  const { aqm } = queue;
  const step = aqm?.ecn_step?.threshold;
  if (step) shapes.push(...wall(strip, step.packets ? { packets: step.packets } : { bytes: step.bytes }, palette.accent, [3, 3]));
  if (aqm?.kind === "red") {
    const unit = aqm.red.in_bytes ? "bytes" : "packets";
    const { min, max } = redThresholds(aqm.red);
    for (const at of [min, max]) shapes.push(...wall(strip, { [unit]: at }, palette.accent, [3, 3]));
    const average = told?.aqm?.red?.average_thousandths;
    const x = average === undefined ? undefined : depthX(strip, { [unit]: average / 1000 });
    if (x !== undefined) {
      const y = strip.y + strip.h + 2;
      shapes.push({ kind: "area", fill: palette.accent, points: [[x, y], [x - 5, y + 8], [x + 5, y + 8]] });
    }
  }
  if (told?.threshold_bytes !== undefined) shapes.push(...wall(strip, { bytes: told.threshold_bytes }, palette.alarm, [6, 3]));
  return shapes;
}

// The queue being served, and its remaining credit.
function credit(strip, row, port, queue, told, palette) {
  const shapes = [];
  const [x, y] = [strip.x + strip.w + 4, strip.y + strip.h / 2];
  const turn = told?.turn;
  if (turn && strip.h >= 7) {
    if (turn.current) {
      shapes.push({ kind: "path", points: [[x - 4, y], [row.serve.x, row.y]], stroke: palette.accent, width: 3 });
    }
    const share = turn.kind === "deficit_bytes" ? turn.deficit_bytes / grantOf(port.scheduler, queue.class)
      : turn.kind === "packets_left" ? turn.packets_left / weightOf(port.scheduler, queue.class)
        // The nearest tag goes first: a full bar is next.
        : turn.kind === "lead_bytes" ? 1 - turn.lead_bytes / (8 * FRAME_BYTES) : 0;
    shapes.push(...bar(x, y - BAR_H / 2, BAR_W, BAR_H, share, palette));
  }
  const bucket = bucketOf(queue.shaper, told?.shaper);
  if (bucket && strip.h >= 7) shapes.push(...vessel(x + BAR_W + 2, strip.y, 5, strip.h, bucket.share, palette));
  return shapes;
}

function bar(x, y, w, h, share, palette) {
  const full = w * Math.min(1, Math.max(0, share));
  return [
    { kind: "rect", x, y, w, h, fill: palette.panel, stroke: palette.line },
    { kind: "rect", x, y, w: full, h, fill: palette.accent },
  ];
}

// A bucket, filled from below.
function vessel(x, y, w, h, share, palette) {
  const full = h * Math.min(1, Math.max(0, share));
  return [
    { kind: "rect", x, y, w, h, fill: palette.panel, stroke: palette.line },
    { kind: "rect", x, y: y + h - full, w, h: full, fill: palette.accent },
  ];
}

// The shared buffer and its used part, below the output queues.
function sharedBuffer(layout, moment, palette) {
  const buffer = moment.sample?.shared_buffer;
  if (!buffer?.size_bytes) return [];
  const { x, y, w, h } = bufferPlace(layout);
  const full = w * (1 - buffer.free_bytes / buffer.size_bytes);
  return [
    { kind: "rect", x, y, w, h, r: 3, fill: palette.queue, stroke: palette.wall },
    { kind: "rect", x: x + w - full, y, w: full, h, r: 3, fill: palette.faint },
  ];
}

export function bufferPlace(layout) {
  const [from, to] = layout.columns.output;
  // The words for it are next to the bar.
  const share = layout.isNarrow ? 0.35 : 1;
  return { x: from + 14, y: layout.bottom + 10, w: (to - from - 22) * share, h: 10 };
}
