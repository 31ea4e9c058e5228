// The text in the picture of a router, and its places: for the page's labels.

import { queueOf, portOf, droppedOf } from "../model/samples.js";
import { input, queue } from "../model/insides.js";
import { isOf, LABELLED_PITCH, wayWords, WORDS_H } from "./layout.js";
import { aqmWords } from "../model/minds.js";
import { arbiterName, bytes, count, percent, rate, reasonWords } from "../words.js";
import { arbitrationShown } from "./arbiter.js";
import { bufferPlace } from "./minds.js";

const QUEUEING = { FIFO: "input queues, one each", VOQ: "virtual output queues" };
// Where there is no room for all of it.
const QUEUEING_SHORT = { FIFO: "input queues", VOQ: "VOQs" };
// How wide a letter of a heading is, about, and the gap between two headings.
const LETTER_W = 6.4;
const HEADING_GAP = 12;
// And one of a depth.
const DEPTH_LETTER_W = 7.1;

export function routerLabels(layout, moment) {
  return [...headings(layout, moment), ...[...layout.rows.values()].flatMap((row) => [
    ...ends(layout, moment, row), ...inputs(layout, moment, row), ...outputs(layout, moment, row),
  ])];
}

function headings(layout, moment) {
  const { about } = moment;
  const { columns } = layout;
  const middle = ([from, to]) => (from + to) / 2;
  const y = Math.max(0, layout.top - 40 * layout.scale);
  const head = (id, x, text) => ({ id: `head ${id}`, kind: "head", x, y, text });
  const widthOf = (words) => words.length * LETTER_W * layout.scale;
  // The first of these words that fits above a column.
  const fitting = ([from, to], ...words) => words.find((each) => widthOf(each) < to - from + 8) ?? words.at(-1);
  const found = [
    head("in", middle(columns.receive), fitting(columns.receive, "lines in", "in")),
    head("out", middle(columns.transmit), fitting(columns.transmit, "lines out", "out")),
    head("queues", middle(columns.output), fitting(columns.output, "output queues", "queues")),
  ];
  if (layout.hasInput) {
    const cross = fitting(columns.cross, crossbarWords(about.input), ...arbiterWords(about.input.arbiter));
    const long = QUEUEING[about.input.queueing], short = QUEUEING_SHORT[about.input.queueing];
    // Two long headings side by side can touch, though each fits above its own column.
    const room = middle(columns.cross) - middle(columns.input) - widthOf(cross) / 2 - HEADING_GAP;
    found.push(head("input", middle(columns.input), widthOf(long) / 2 > room ? short : fitting(columns.input, long, short)));
    const shown = arbitrationShown(moment);
    found.push({ ...head("cross", middle(columns.cross), cross), small: shown ? shown.phase.words : "" });
  } else {
    found.push(head("cross", middle(columns.cross), fitting(columns.cross, "fabric without limit", "fabric")));
  }
  const buffer = moment.sample?.shared_buffer;
  if (buffer?.size_bytes) {
    const { x, y, w, h } = bufferPlace(layout);
    found.push({ id: "buffer", kind: "depth", align: "middle", x: x + w + 8, y: y + h / 2,
                 text: `shared: ${bytes(buffer.size_bytes - buffer.free_bytes)} of ${bytes(buffer.size_bytes)}` });
  }
  return found;
}

// The default arbiter is iSLIP.
const known = (arbiter) => (arbiter && arbiter !== "ARBITER_UNSPECIFIED" ? arbiter : "ISLIP");

// Its name, and where there is no room for it, what the schema calls it.
function arbiterWords(arbiter) {
  const name = arbiterName(known(arbiter));
  return known(arbiter).length < name.length ? [name, known(arbiter)] : [name];
}

function crossbarWords({ arbiter, speedup }) {
  const faster = speedup && speedup.over !== speedup.under ? ` × ${speedup.over / speedup.under}` : "";
  return `crossbar${faster}, ${arbiterName(known(arbiter))}`;
}

function ends(layout, moment, row) {
  const { columns } = layout;
  const config = moment.about.ports.find((each) => each.port === row.port).config;
  const neighbour = moment.neighbours?.get(row.port);
  const now = moment.rateOf?.(row.port);
  const line = config.rate_bps ? rate(config.rate_bps) : "no limit";
  const waiting = portOf(moment.sample, row.port)?.receive_line?.backlog?.packets;
  if (layout.isNarrow) return heading(layout, row, { neighbour, load: `${loadWords(now, config.rate_bps)}${line}`, waiting });
  return [
    ...(waiting ? [{ id: `waiting ${row.port}`, kind: "depth", align: "above", x: row.receive.x0, y: row.y - 9,
                     text: `${count(waiting)} wait` }] : []),
    { id: `in ${row.port}`, kind: "port left", align: "beside", x: columns.leftLabel[1], y: row.y,
      text: `${row.port}`, small: neighbour ? `from ${neighbour}` : "" },
    { id: `out ${row.port}`, kind: "port right", align: "middle", x: columns.rightLabel[0], y: row.y,
      text: neighbour ? `→ ${neighbour}` : `→ port ${row.port}`, small: `${loadWords(now, config.rate_bps)}${line}` },
  ];
}

// The same above the row, where there is no room beside it.
function heading(layout, row, { neighbour, load, waiting }) {
  const y = row.top + 2;
  const came = [neighbour ? `from ${neighbour}` : "", waiting ? `${count(waiting)} wait` : ""].filter(Boolean).join(", ");
  return [
    { id: `in ${row.port}`, kind: "port heading", x: layout.columns.ingress[0] + 8, y, text: `${row.port}`, small: came },
    { id: `out ${row.port}`, kind: "port heading", align: "right", x: layout.columns.serve[1] - 8, y,
      text: neighbour ? `→ ${neighbour}` : `→ port ${row.port}`, small: load },
  ];
}

function inputs(layout, moment, row) {
  if (!layout.hasInput) return [];
  const here = moment.state?.in(input(row.port)) ?? [];
  const counters = moment.sample?.inputs.find((each) => each.port === row.port);
  const lost = droppedOf(counters?.counters);
  const [strip] = row.inputs;
  const found = [];
  if (layout.isVoq) {
    for (const each of row.inputs) {
      const held = moment.state ? here.filter((packet) => isOf(each, packet)).length
        : counters?.voqs.filter((voq) => isOf(each, voq))
          .reduce((sum, voq) => sum + voq.held.packets, 0) ?? 0;
      if (each.h < 8) continue;
      const way = wayWords({ output: each.key, class_: each.class });
      found.push({ id: `voq ${row.port} ${way}`, kind: "depth", align: "beside", x: each.x - 5,
                   y: each.y + each.h / 2, text: held ? `${held}${way}` : way });
    }
  } else if (layout.pitch > LABELLED_PITCH) {
    const held = heldIn(moment, input(row.port), counters?.held);
    const room = roomFor(layout, strip, layout.columns.wires[0]), words = depthWords(held, strip.limit, room), next = nextWords(moment, here);
    found.push({ id: `fifo ${row.port}`, kind: "depth", align: "above", x: strip.x, y: strip.y - 3,
                 text: words.length + next.length <= room ? `${words}${next}` : words });
  }
  if (lost) {
    const last = row.inputs.at(-1);
    found.push({ id: `lost in ${row.port}`, kind: "lost", x: strip.x, y: last.y + last.h + (layout.isVoq ? 1 : 4),
                 text: lostWords(lost, counters.counters, roomFor(layout, strip, layout.columns.wires[0])) });
  }
  return found;
}

function outputs(layout, moment, row) {
  const found = [];
  for (const strip of row.queues) {
    const counters = queueOf(moment.sample, row.port, strip.class);
    const held = heldIn(moment, queue(row.port, strip.class), counters?.held);
    const isSingle = row.queues.length === 1;
    if (isSingle && layout.pitch > LABELLED_PITCH) {
      found.push({ id: `queue ${row.port} 0`, kind: "depth", align: "above", x: strip.x, y: strip.y - 3,
                   text: depthWords(held, strip.limit, roomFor(layout, strip, layout.columns.rightLabel[0])),
                   small: mindWords(layout, row, strip, aqmWords(strip.queue, counters?.aqm, moment.timePs)) });
    } else if (!isSingle && strip.h >= 8) {
      found.push({ id: `queue ${row.port} ${strip.class}`, kind: "depth", align: "beside",
                   x: strip.x - 5, y: strip.y + strip.h / 2, text: `${strip.class}` });
    }
  }
  const port = portOf(moment.sample, row.port)?.counters;
  const lost = droppedOf(port), marked = port?.marked?.packets ?? 0;
  const last = row.queues.at(-1);
  if (lost || marked) {
    // Several queues leave less room below them than one.
    found.push({ id: `lost out ${row.port}`, kind: lost ? "lost" : "depth", x: last.x, y: last.y + last.h + (row.queues.length > 1 ? 1 : 4),
                 text: [lost ? lostWords(lost, port, roomFor(layout, last, layout.columns.rightLabel[0])) : "", marked ? `CE ${count(marked)} marked` : ""].filter(Boolean).join(", ") });
  }
  return found;
}

// The state of queue management; in a narrow picture as much of it as fits between the row's heading and its queue.
function mindWords(layout, row, strip, words) {
  if (!layout.isNarrow) return words;
  if (strip.y - row.top < 3 * WORDS_H * layout.scale) return "";
  const room = roomFor(layout, strip, layout.width);
  return [words, words.split(",")[0], words.split(":")[0]].find((each) => each.length <= room) ?? "";
}

// The depth of a queue, from single packets where they are known, in both units.
function heldIn({ state }, key, tally) {
  if (state) return { packets: state.in(key).length, bytes: state.bytesIn(key) };
  return { packets: tally?.packets ?? 0, bytes: tally?.bytes ?? 0 };
}

// How many, and where there is room why: by the reason that most of them were lost by.
function lostWords(lost, { dropped }, room) {
  const words = `✕ ${count(lost)} lost`;
  const [most] = dropped.toSorted((a, b) => b.tally.packets - a.tally.packets);
  const all = `${words}: ${reasonWords(most.reason)}${dropped.length > 1 ? " and others" : ""}`;
  return all.length <= room ? all : words;
}

// The number of letters that fit between a strip and `toX`.
const roomFor = (layout, strip, toX) => (toX - strip.x) / (DEPTH_LETTER_W * layout.scale);

// The longest text that fits: by its limit, by its other one, or in the other unit.
function depthWords(held, limit, room) {
  const other = limit.other?.bytes ? `, ${bytes(held.bytes)} of ${bytes(limit.other.bytes)}`
    : limit.other ? `, ${held.packets} of ${packetWords(limit.other.packets)}` : undefined;
  const also = other ?? (held.packets ? `, ${limit.bytes ? packetWords(held.packets) : bytes(held.bytes)}` : "");
  const words = limit.bytes ? `${bytes(held.bytes)} of ${bytes(limit.bytes)}`
    : limit.isSet ? `${held.packets} of ${packetWords(limit.packets)}` : packetWords(held.packets);
  const all = [`${words}${also}${limit.isSet ? "" : ", no limit"}`, `${words}${also}`, words];
  return all.find((each) => each.length <= room) ?? words.replace(/ packets?$/, "");
}

const packetWords = (packets) => (packets === 1 ? "1 packet" : `${packets} packets`);

// "98 % of ", "idle, "; nothing while it is not known.
function loadWords(now, rateBps) {
  if (now === undefined) return "";
  if (now < 1) return "idle, ";
  return rateBps ? `${percent(Math.min(1, now / rateBps))} of ` : `${rate(now)}, `;
}

// The output of a FIFO's head, for which all packets behind it wait.
function nextWords(moment, waiting) {
  if (waiting.length < 2) return "";
  const { output } = waiting[0];
  return `, next: → ${moment.neighbours?.get(output) ?? output}`;
}
