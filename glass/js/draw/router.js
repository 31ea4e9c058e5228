// The changing part of a router's picture at an instant, as a list of shapes: a pure function of the recorded events,
// the instant and the speed of time. `house.js` draws the static part around it; `paint.js` puts shapes on a canvas;
// tests compare the shapes.
//
//   routerPicture(layout, moment, palette) -> {shapes, spots}
//
// It is made 60 times a second, of thousands of packets. So those of a queue that look the same are one
// shape, `marks`, with a list of numbers instead of an object each, and rows out of sight are left out.
//
// moment: {state, upcoming, about, sample, timePs, pace, isBars, blocked, moves}
// state     of Insides, or undefined where single packets are not known
// upcoming  steps that will soon happen, for packets on a receive line
//   pace      seconds of the router in a second of the viewer
//   phase     which phase of an arbitration is seen; undefined: as time goes
//   isBars    packets pass too fast for eyes: lines and crossbar are drawn by how busy they are
//   tagsOf    (port, class, waiting packets): when they would finish, under weighted fair queueing
//   moves     whether things may glide; else everything stands where it is (reduced motion)
//   chosen    the number of the packet that was chosen; `focus` the queue: {key, port, class}
//   sight     [from, to]: what of the picture's height is in sight
//
// spots: [{x, y, w, h, packet}] of the clickable packets, in the order of drawing.

import { input, queue } from "../model/insides.js";
import { portOf } from "../model/samples.js";
import { tagWords } from "../model/tags.js";
import { reasonWords } from "../words.js";
import { arbiterShapes } from "./arbiter.js";
import { along, crossing, fullness, HEADS, isOf, pack, rowsInSight } from "./layout.js";
import { mindShapes } from "./minds.js";
import { flowColour } from "./palette.js";

// How long a packet glides to its place in a queue, and how long a drop falls, in viewer's seconds.
const GLIDE_S = 0.16;
const FALL_S = 1.4, MARK_S = 1.2, FALL_PX = 56;
const PACKET_H = 15;
const PACKET_W = 15;
// How much of its colour a packet on the way back of its flow has.
const HOLLOW = 0.45;
// The smallest width that can be clicked.
const SPOT_W_LEAST = 2;
// The least width for a number, the number's size, and the width of one of its letters, and of a tag's.
const NAME_W_LEAST = 8, NAME_SIZE = 10, REST_LETTER_W = 6.5, TAG_LETTER_W = 6;
// Fewer packets are drawn large if each carries a tag.
const TAGGED = { heads: 5, headW: 28 };
// And in a narrow picture, whose queues are short.
const NARROW = { heads: 5, headW: 11 };
// The smallest width at which rounded corners are visible.
const ROUND_W_LEAST = 10;

export function routerPicture(layout, moment, palette) {
  const drawing = new Drawing(layout, moment, palette);
  if (moment.state) drawing.packets();
  else drawing.depths();
  drawing.lines();
  drawing.shapes.push(...mindShapes(layout, moment, palette), ...arbiterShapes(layout, moment, palette));
  if (moment.state) {
    drawing.marks();
    drawing.drops();
  }
  drawing.chosen();
  return { shapes: drawing.shapes, spots: drawing.spots };
}

class Drawing {
  constructor(layout, moment, palette) {
    Object.assign(this, { layout, moment, palette, shapes: [], spots: [] });
    this.rows = rowsInSight(layout, moment.sight);
    this.blocked = new Map(moment.blocked.map((each) => [each.input, each]));
    this.perViewerSecond = moment.pace * 1e12;
  }

  // Seconds of the viewer since an instant of the router.
  since(timePs) {
    return (this.moment.timePs - timePs) / this.perViewerSecond;
  }

  rect(x, y, w, h, fill, more) {
    this.shapes.push({ kind: "rect", x, y, w, h, fill, ...more });
  }

  path(points, stroke, width, more) {
    this.shapes.push({ kind: "path", points, stroke, width, ...more });
  }

  // A frame around the packet and the queue that were chosen.
  chosen() {
    const { moment: { chosen, focus }, palette } = this;
    const frame = ({ x, y, w, h }) => this.path([[x - 2, y - 2], [x + w + 2, y - 2], [x + w + 2, y + h + 2], [x - 2, y + h + 2], [x - 2, y - 3]],
                                                palette.accent, 2);
    const spot = chosen !== undefined && this.spots.findLast((each) => each.packet.id === chosen);
    if (spot) frame(spot);
    if (!focus) return;
    const row = this.layout.rows.get(focus.port);
    const strips = focus.key.startsWith("input") ? row?.inputs : row?.queues.filter((each) => each.class === focus.class);
    for (const strip of strips ?? []) frame(strip);
  }

  // ---- packets one by one ---------------------------------------------------------------------

  packets() {
    const { moment } = this;
    // A packet that is still drawn on its way is in no queue yet.
    this.underWay = new Set(moment.isBars ? [] : moment.state.crossings
      .filter((each) => each.untilPs > moment.timePs).map((each) => each.id));
    for (const row of this.rows) {
      for (const strip of row.inputs) {
        const key = input(row.port);
        const here = moment.state.in(key);
        const mine = strip.key === undefined ? here : here.filter((each) => isOf(strip, each));
        this.queue(strip, mine, this.shift(key), this.blocked.get(row.port));
      }
      for (const strip of row.queues) {
        const key = queue(row.port, strip.class);
        const waiting = moment.state.in(key), tags = moment.isBars ? undefined : moment.tagsOf?.(row.port, strip.class, waiting);
        this.queue(strip, waiting, this.shift(key), undefined, tags);
      }
    }
    if (moment.isBars) this.busyCrossbar();
    else this.crossings();
  }

  // How far the queue still has to move up after its head has left, as a part of a packet.
  shift(key) {
    const moved = this.moment.state.moved.get(key);
    if (!moved || !this.moment.moves || this.moment.isBars) return 0;
    const share = this.since(moved.timePs) / GLIDE_S;
    return share < 1 ? (1 - ease(share)) * (moved.length / 1514) : 0;
  }

  queue(strip, packets, shift, blocked, tags) {
    if (!packets.length) return;
    const { layout, moment, palette } = this;
    const y = strip.y + 2, h = strip.h - 4, from = strip.x - 6;
    const { xs, ws, rest } = pack(strip, packets, shift, tags ? TAGGED : layout.isNarrow ? NARROW : undefined);
    // A packet that came later than this still glides to its place.
    const glidesSince = moment.moves && !moment.isBars ? moment.timePs - GLIDE_S * this.perViewerSecond : Infinity;
    const looks = new Map();
    // The first ones at an input say which output they wait for.
    const isFifo = strip.key === undefined && strip.class === undefined, names = [];
    // By how wide they are.
    const stuck = new Map(), marked = new Map();
    for (let index = 0; index < packets.length; index++) {
      const packet = packets[index];
      if (this.underWay.has(packet.id)) continue;
      const place = xs[index], w = ws[index];
      const x = packet.since > glidesSince ? from + (place - from) * ease(this.since(packet.since) / GLIDE_S) : place;
      const shown = Math.max(1, w - (w > 5 ? 1.5 : 0));
      const isStuck = blocked?.packets.has(packet.id);
      // An edge would hide the colour of a narrow one: it gets a line below.
      const hasEdge = isStuck && w > 6;
      const look = lookOf(packet, w, hasEdge, palette);
      let marks = looks.get(look);
      if (!marks) {
        marks = this.marksOf(packet.flow, { xs: [], y, w: shown, h }, hasEdge);
        looks.set(look, marks);
      }
      marks.xs.push(x);
      if (packet.marked) under(marked, w, x);
      if (isStuck && !hasEdge) under(stuck, w, x);
      if (isFifo && index < HEADS && shown >= NAME_W_LEAST) names.push([x + shown / 2, packet.output]);
      const tag = tags?.get(packet.id), words = tag === undefined ? "" : tagWords(tag);
      // Under weighted fair queueing the smallest goes first.
      if (words && h >= NAME_SIZE && shown >= words.length * TAG_LETTER_W) names.push([x + shown / 2, words]);
      if (shown >= SPOT_W_LEAST) this.spots.push({ x, y, w: shown, h, packet });
    }
    this.shapes.push(...looks.values());
    for (const [x, name] of names) {
      this.shapes.push({ kind: "text", x, y: strip.y + strip.h / 2, text: String(name), fill: palette.mark, align: "center", size: NAME_SIZE });
    }
    if (rest) this.chip(strip.x + 3, y + h / 2, `+${rest}`, h);
    const tag = tags?.get(packets[0].id);
    // A head that is too narrow for its number shows it nevertheless.
    if (tag !== undefined && ws[0] < tagWords(tag).length * TAG_LETTER_W) {
      const text = tagWords(tag);
      this.chip(strip.x + strip.w - text.length * REST_LETTER_W - 9, y + h / 2, text, h);
    }
    for (const [w, places] of marked) this.shapes.push({ kind: "marks", xs: places, y, w, h: Math.max(2, h / 4), fill: palette.lit });
    for (const [w, places] of stuck) this.shapes.push({ kind: "marks", xs: places, y: y + h - 3, w, h: 5, fill: palette.lit });
  }

  // A few letters on a queue, where it is high enough for them.
  chip(x, y, text, h) {
    if (h < NAME_SIZE) return;
    const w = text.length * REST_LETTER_W + 6;
    this.rect(x, y - NAME_SIZE / 2 - 2, w, NAME_SIZE + 4, this.palette.panel, { r: 3, alpha: 0.9 });
    this.shapes.push({ kind: "text", x: x + w / 2, y, text, fill: this.palette.ink, align: "center", size: NAME_SIZE });
  }

  marksOf(flow, places, hasEdge) {
    const { palette } = this;
    return { kind: "marks", ...places, r: places.w >= ROUND_W_LEAST ? 3 : 0, fill: flowColour(palette, flow),
             alpha: flow.reverse ? HOLLOW : 1, stroke: hasEdge ? palette.lit : undefined };
  }

  packet(packet, x, y, w, h) {
    const colour = flowColour(this.palette, packet.flow);
    this.rect(x, y, w, h, colour, { r: Math.min(3, w / 3), alpha: packet.flow.reverse ? HOLLOW : 1 });
    if (packet.marked) this.rect(x, y, w, Math.max(2, h / 4), this.palette.lit);
    this.spots.push({ x, y, w, h, packet });
  }

  crossings() {
    const { layout, moment, palette } = this;
    for (const packet of moment.state.crossings) {
      if (packet.untilPs <= moment.timePs) continue;
      const points = crossing(layout, packet.input, packet.output);
      if (!points) continue;
      const colour = flowColour(palette, packet.flow);
      this.path(points, colour, 3, { alpha: 0.55 });
      this.shapes.push({ kind: "dot", x: points[1][0], y: points[1][1], r: 6, fill: colour });
      const share = (moment.timePs - packet.since) / (packet.untilPs - packet.since);
      const [x, y] = along(points, moment.moves ? share : 0.5);
      this.packet(packet, x - PACKET_W / 2, y - PACKET_H / 2, PACKET_W, PACKET_H);
    }
  }

  // Which way is how busy, over the last moments: as thick as that.
  busyCrossbar() {
    const { layout, moment, palette } = this;
    const shares = new Map();
    for (const step of moment.recent ?? []) {
      if (step.kind !== "crossing") continue;
      const key = `${step.at.input} ${step.at.output}`;
      shares.set(key, (shares.get(key) ?? 0) + (step.untilPs - step.timePs));
    }
    for (const [key, busyPs] of shares) {
      const [from, to] = key.split(" ").map(Number);
      const points = crossing(layout, from, to);
      const share = Math.min(1, busyPs / moment.recentPs);
      if (points) this.path(points, palette.lit, 1 + 7 * share, { alpha: 0.25 + 0.4 * share });
    }
  }

  // ---- depths alone ---------------------------------------------------------------------------

  depths() {
    const { layout, moment, palette } = this;
    const inputs = new Map(moment.sample?.inputs.map((each) => [each.port, each]) ?? []);
    for (const row of this.rows) {
      const waits = inputs.get(row.port);
      for (const strip of row.inputs) {
        const voqs = waits?.voqs.filter((each) => isOf(strip, each));
        const held = strip.key === undefined ? waits?.held : sum(voqs);
        this.depth(strip, held, this.shares(input(row.port)).filter((each) => isOf(strip, each)));
      }
      const queues = portOf(moment.sample, row.port)?.queues ?? [];
      for (const strip of row.queues) {
        this.depth(strip, queues.find((each) => each.class === strip.class)?.held, this.shares(queue(row.port, strip.class)));
      }
    }
    for (const each of moment.sample?.transfers ?? []) {
      const points = crossing(layout, each.input, each.output);
      if (points) this.path(points, palette.flows[0], 4, { alpha: 0.7 });
    }
  }

  // The flows whose packets wait in a queue, of the sample that is shown.
  shares(key) {
    return this.moment.sample?.flows?.filter((each) => each.key === key) ?? [];
  }

  // As long as the queue is full; each flow has its part of it, whose first packet leaves first to the
  // right.
  depth(strip, held, shares) {
    if (!held) return;
    const { palette } = this;
    const w = strip.w * Math.min(1, fullness(strip.limit, held));
    const [y, h] = [strip.y + 2, strip.h - 4];
    const unit = strip.limit.bytes ? "bytes" : "packets";
    const all = shares.reduce((total, each) => total + each[unit], 0);
    if (!all) return this.rect(strip.x + strip.w - w, y, w, h, palette.flows[0], { r: 3 });
    let x = strip.x + strip.w;
    for (const each of shares) {
      const part = (w * each[unit]) / all;
      x -= part;
      this.rect(x, y, part, h, flowColour(palette, each.flow), { r: Math.min(3, part / 3), alpha: each.flow.reverse ? HOLLOW : 1 });
    }
  }

  // ---- lines ----------------------------------------------------------------------------------

  lines() {
    const { moment, palette } = this;
    for (const row of this.rows) {
      const counters = portOf(moment.sample, row.port);
      const isDown = counters && !counters.up;
      if (isDown) {
        for (const line of [row.receive, row.transmit]) {
          this.path([[line.x0, row.y], [line.x1, row.y]], palette.alarm, 2, { dash: [5, 5] });
        }
      }
      if (!moment.state || moment.isBars) {
        const share = (counters?.utilisation_permille ?? 0) / 1000;
        const { x0, x1 } = row.transmit;
        if (share > 0) this.rect(x0, row.y - 4, (x1 - x0) * share, 8, palette.line, { r: 4 });
      } else {
        for (const packet of moment.state.onLine(row.port)) this.leaving(row, packet);
      }
    }
    if (!moment.isBars) this.arriving();
  }

  leaving(row, packet) {
    const { moment } = this;
    // On a line without a rate a frame takes no time; eyes need some.
    const shown = Math.max(packet.untilPs - packet.since, GLIDE_S * this.perViewerSecond);
    const share = (moment.timePs - packet.since) / shown;
    if (share >= 1) return;
    const { x0, x1 } = row.transmit;
    const from = row.serve.x;
    const x = from + (Math.max(x1, x0) - from - PACKET_W) * (moment.moves ? share : 0.5);
    this.packet(packet, x, row.y - PACKET_H / 2, PACKET_W, PACKET_H);
  }

  // Frames whose last bit is not here yet: they come out of the receive line in a moment.
  arriving() {
    const { moment, layout } = this;
    if (!moment.moves) return;
    for (const step of moment.upcoming) {
      if (step.kind !== "received") continue;
      const row = layout.rows.get(step.packet.port);
      if (!row) continue;
      const rate = portRate(moment.about, step.packet.port);
      const onLinePs = rate ? (step.packet.length * 8e12) / rate : 0;
      const shown = Math.max(onLinePs, GLIDE_S * this.perViewerSecond);
      const share = 1 - (step.timePs - moment.timePs) / shown;
      if (share <= 0) continue;
      const { x0, x1 } = row.receive;
      const x = x0 + (x1 - x0 - PACKET_W) * share;
      this.packet(step.packet, x, row.y - PACKET_H / 2, PACKET_W, PACKET_H);
    }
  }

  // ---- what is marked, and what is lost ---------------------------------------------------------

  // A mark rises where its packet has left the queue.
  marks() {
    const { moment, layout, palette } = this;
    const seen = new Set();
    for (const mark of moment.state.marks) {
      const seconds = this.since(mark.timePs);
      const strip = layout.rows.get(mark.queue.port)?.queues.find((each) => each.class === mark.queue.class);
      if (seconds < 0 || seconds > MARK_S || !strip) continue;
      // Of those that would cover each other the first one rises.
      const key = `${mark.queue.port} ${mark.queue.class} ${Math.floor((2 * mark.timePs) / (MARK_S * this.perViewerSecond))}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const share = seconds / MARK_S;
      const y = strip.y - 8 - (moment.moves ? 22 * share : 8);
      this.shapes.push({ kind: "text", x: strip.x + strip.w - 2, y, text: "CE", fill: palette.accent, align: "right",
                         alpha: 1 - share * share });
    }
  }

  drops() {
    const { moment, palette } = this;
    const said = new Set();
    for (const drop of moment.state.drops.slice(-40).reverse()) {
      const seconds = this.since(drop.timePs);
      if (seconds < 0 || seconds > FALL_S) continue;
      const place = this.placeOfDrop(drop);
      if (!place) continue;
      const share = seconds / FALL_S;
      // As far as its own row goes: below it is the heading of the next one.
      const room = Math.max(0, Math.min(FALL_PX, (place.bottom ?? this.layout.bottom) - place.y - PACKET_H));
      const y = place.y + (moment.moves ? room * (FALL_PX > room ? share : 0.18 * share + 0.82 * share * share) : Math.min(12, room));
      const alpha = 1 - share * share;
      const colour = flowColour(palette, drop.packet.flow);
      // Those that come after one another fall beside one another.
      const x = place.x - PACKET_W - (drop.packet.id % 3) * (PACKET_W - 4);
      this.rect(x, y, PACKET_W, PACKET_H, colour, { r: 3, alpha, stroke: palette.alarm });
      this.shapes.push({ kind: "cross", x: x + PACKET_W / 2, y: y + PACKET_H / 2, r: 4,
                         stroke: palette.lit, alpha });
      this.spots.push({ x, y, w: PACKET_W, h: PACKET_H, packet: drop.packet });
      // Why, once for those that fall at the same place for the same reason; a queue's label says it, too.
      const key = `${place.x} ${place.y} ${drop.reason}`;
      if (place.isQueue || said.has(key)) continue;
      said.add(key);
      this.shapes.push({ kind: "text", x: place.x + 6, y: place.y + 30, text: reasonWords(drop.reason), fill: palette.alarm,
                         alpha });
    }
  }

  // Tail drops fall at the wall, others where their packet stood.
  placeOfDrop({ packet, reason, queue: target }) {
    const { layout } = this;
    if (INPUT_REASONS.has(reason)) {
      const row = layout.rows.get(packet.input ?? packet.port);
      const strip = row?.inputs.find((each) => isOf(each, { output: target?.port, class: target?.class }))
        ?? row?.inputs[0];
      // Before what is written before a VOQ.
      return strip && { x: (strip.dropX ?? strip.x) - 2, y: strip.y + strip.h, isQueue: true, bottom: layout.isNarrow ? row.bottom : undefined };
    }
    const row = layout.rows.get(target?.port ?? packet.outPort);
    const strip = row?.queues.find((each) => each.class === (target?.class ?? packet.class));
    if (strip) {
      const isHead = packet.kind === "queued";
      return { x: isHead ? strip.x + strip.w : strip.x - 2, y: strip.y + strip.h, isQueue: true, bottom: layout.isNarrow ? row.bottom : undefined };
    }
    const came = layout.rows.get(packet.port);
    return came && { x: came.ingressX, y: came.y + 14 };
  }
}

// The look of a mark in a queue: colour, direction, edge and width.
function lookOf({ flow }, w, hasEdge, palette) {
  const colour = flow.number < 0 ? palette.flows.length : flow.colour;
  return (w * 16 + colour) * 4 + (flow.reverse ? 2 : 0) + (hasEdge ? 1 : 0);
}

function under(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

const INPUT_REASONS = new Set(["INPUT_LIMIT", "VOQ_LIMIT"]);

function portRate(about, port) {
  return about.ports.find((each) => each.port === port)?.config.rate_bps ?? 0;
}

function sum(voqs) {
  return (voqs ?? []).reduce(
    (all, { held }) => ({ packets: all.packets + held.packets, bytes: all.bytes + held.bytes }),
    { packets: 0, bytes: 0 },
  );
}

const ease = (share) => 1 - (1 - Math.max(0, share)) ** 3;
