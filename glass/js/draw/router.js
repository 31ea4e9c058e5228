// The picture of a router at an instant, as a list of shapes: a pure function of what was told, the
// instant and the speed of time. `paint.js` puts shapes on a canvas; tests look at them as they are.
//
//   routerPicture(layout, moment, palette) -> {shapes, spots}
//
// moment: {state, upcoming, about, sample, timePs, pace, isBars, blocked, moves}
//   state     of Insides, or undefined where packets are not told one by one
//   upcoming  steps that are just about to happen, for what is still on a receive line
//   pace      seconds of the router in a second of the viewer
//   phase     which phase of an arbitration is seen; undefined: as time goes
//   isBars    packets pass too fast for eyes: lines and crossbar are drawn by how busy they are
//   moves     whether things may glide; else everything stands where it is (reduced motion)
//
// spots: [{x, y, w, h, packet}] of what can be clicked, in the order of drawing.

import { input, queue } from "../model/insides.js";
import { portOf } from "../model/samples.js";
import { reasonWords } from "../words.js";
import { arbiterShapes } from "./arbiter.js";
import { along, crossing, packed } from "./layout.js";
import { mindShapes } from "./minds.js";
import { flowColour } from "./palette.js";

// How long a packet glides to its place in a queue, and how long a drop falls, in viewer's seconds.
const GLIDE_S = 0.16;
const FALL_S = 1.4, MARK_S = 1.2;
const PACKET_H = 15;
const PACKET_W = 15;

export function routerPicture(layout, moment, palette) {
  const drawing = new Drawing(layout, moment, palette);
  drawing.house();
  if (moment.state) drawing.packets();
  else drawing.depths();
  drawing.lines();
  drawing.shapes.push(...mindShapes(layout, moment, palette), ...arbiterShapes(layout, moment, palette));
  if (moment.state) {
    drawing.marks();
    drawing.drops();
  }
  return { shapes: drawing.shapes, spots: drawing.spots };
}

class Drawing {
  constructor(layout, moment, palette) {
    Object.assign(this, { layout, moment, palette, shapes: [], spots: [] });
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

  // ---- what stands still ----------------------------------------------------------------------

  house() {
    const { layout, palette } = this;
    const { columns } = layout;
    const top = layout.top - 6, height = layout.bottom - layout.top + 12;
    this.rect(columns.ingress[0], top, columns.serve[1] - columns.ingress[0], height, palette.panel,
              { r: 14, stroke: palette.wall });
    for (const row of layout.rows.values()) this.row(row);
  }

  row(row) {
    const { layout, palette } = this;
    const { columns } = layout;
    this.path([[row.receive.x0, row.y], [row.ingressX, row.y]], palette.line, 2);
    this.path([[row.serve.x, row.y], [row.transmit.x1, row.y]], palette.line, 2);
    if (layout.hasInput) {
      this.path([[row.ingressX, row.y], [columns.input[0] + 8, row.y]], palette.wire, 2);
      const last = columns.wires.at(-1);
      this.path([[columns.input[1] - 18, row.inY], [last, row.inY]], palette.wire, 2);
      const rows = [...layout.rows.values()];
      const ys = [rows[0].inY, rows.at(-1).inY, row.outY];
      this.path([[row.wireX, Math.min(...ys)], [row.wireX, Math.max(...ys)]], palette.wire, 2);
      this.path([[row.wireX, row.outY], [columns.output[0] + 12, row.outY]], palette.wire, 2);
      for (const each of rows) {
        this.shapes.push({ kind: "dot", x: each.wireX, y: row.inY, r: 3, fill: palette.wall });
      }
    } else {
      for (const to of layout.rows.values()) {
        this.path(crossing(layout, row.port, to.port), palette.wire, 1);
      }
    }
    for (const strip of row.inputs) this.strip(strip);
    for (const strip of row.queues) {
      this.strip(strip);
      this.path([[strip.x + strip.w, strip.y + strip.h / 2], [row.serve.x, row.y]], palette.wire, 2);
    }
    // The program's two halves, and who decides which class sends next.
    this.rect(row.ingressX - 4, row.y - 13, 8, 26, palette.wall, { r: 4 });
    this.shapes.push({ kind: "dot", x: row.serve.x, y: row.y, r: row.queues.length > 1 ? 8 : 4,
                       fill: palette.node, stroke: palette.line });
  }

  strip({ x, y, w, h, limit }) {
    const { palette } = this;
    this.rect(x, y, w, h, palette.queue, { r: 3 });
    // The limit is a wall: what comes when packets reach it is dropped.
    if (limit.isSet) this.path([[x, y - 3], [x, y + h + 3]], palette.line, 3);
    this.path([[x, y], [x + w, y]], palette.wall, 1);
    this.path([[x, y + h], [x + w, y + h]], palette.wall, 1);
  }

  // ---- packets one by one ---------------------------------------------------------------------

  packets() {
    const { layout, moment } = this;
    for (const row of layout.rows.values()) {
      for (const strip of row.inputs) {
        const key = input(row.port);
        const here = moment.state.in(key);
        const mine = strip.key === undefined ? here : here.filter((each) => each.output === strip.key);
        this.queue(strip, mine, this.shift(key), this.blocked.get(row.port));
      }
      for (const strip of row.queues) {
        const key = queue(row.port, strip.class);
        this.queue(strip, moment.state.in(key), this.shift(key));
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

  queue(strip, packets, shift, blocked) {
    const y = strip.y + 2, h = strip.h - 4;
    const crossing = new Set(this.moment.isBars ? [] : this.moment.state.crossings
      .filter((each) => each.untilPs > this.moment.timePs).map((each) => each.id));
    for (const { packet, x, w } of packed(strip, packets, shift)) {
      const share = this.moment.moves ? this.since(packet.since) / GLIDE_S : 1;
      const from = strip.x - 6;
      const at = share < 1 && !this.moment.isBars ? from + (x - from) * ease(share) : x;
      // What is still seen on its way is not here yet.
      if (crossing.has(packet.id)) continue;
      const isStuck = blocked?.packets.has(packet.id);
      const shown = Math.max(1, w - (w > 5 ? 1.5 : 0));
      // An edge would hide the colour of a narrow one: it gets a line below.
      const isWide = w > 6;
      this.packet(packet, at, y, shown, h, { stroke: isStuck && isWide ? this.palette.lit : undefined });
      if (isStuck && !isWide) this.rect(at, y + h - 3, shown, 5, this.palette.lit);
    }
  }

  packet(packet, x, y, w, h, more) {
    const colour = flowColour(this.palette, packet.flow);
    const isHollow = packet.flow.reverse;
    this.rect(x, y, w, h, colour, { r: Math.min(3, w / 3), alpha: isHollow ? 0.45 : 1, ...more });
    if (packet.marked) this.rect(x, y, w, Math.max(2, h / 4), this.palette.lit);
    if (w >= 2) this.spots.push({ x, y, w, h, packet });
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
      this.packet(packet, x - PACKET_W / 2, y - PACKET_H / 2, PACKET_W, PACKET_H, {});
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
    for (const row of layout.rows.values()) {
      const waits = inputs.get(row.port);
      for (const strip of row.inputs) {
        const voqs = waits?.voqs.filter((each) => strip.key === undefined || each.output === strip.key);
        const held = strip.key === undefined ? waits?.held : sum(voqs);
        this.depth(strip, held, palette.flows[0]);
      }
      const queues = portOf(moment.sample, row.port)?.queues ?? [];
      for (const strip of row.queues) {
        this.depth(strip, queues.find((each) => each.class === strip.class)?.held, palette.flows[0]);
      }
    }
    for (const each of moment.sample?.transfers ?? []) {
      const points = crossing(layout, each.input, each.output);
      if (points) this.path(points, palette.flows[0], 4, { alpha: 0.7 });
    }
  }

  depth(strip, held, colour) {
    if (!held) return;
    const { limit } = strip;
    const share = limit.bytes ? held.bytes / limit.bytes : held.packets / limit.packets;
    const w = strip.w * Math.min(1, share);
    this.rect(strip.x + strip.w - w, strip.y + 2, w, strip.h - 4, colour, { r: 3 });
  }

  // ---- lines ----------------------------------------------------------------------------------

  lines() {
    const { layout, moment, palette } = this;
    for (const row of layout.rows.values()) {
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
    this.packet(packet, x, row.y - PACKET_H / 2, PACKET_W, PACKET_H, {});
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
      this.packet(step.packet, x, row.y - PACKET_H / 2, PACKET_W, PACKET_H, {});
    }
  }

  // ---- what is marked, and what is lost ---------------------------------------------------------

  // A mark rises where its packet has left the queue.
  marks() {
    const { moment, layout, palette } = this;
    for (const mark of moment.state.marks.slice(-20)) {
      const seconds = this.since(mark.timePs);
      const strip = layout.rows.get(mark.queue.port)?.queues.find((each) => each.class === mark.queue.class);
      if (seconds < 0 || seconds > MARK_S || !strip) continue;
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
      const y = place.y + (moment.moves ? 46 * share * share + 10 * share : 12);
      const alpha = 1 - share * share;
      const colour = flowColour(palette, drop.packet.flow);
      // Those that come after one another fall beside one another.
      const x = place.x - PACKET_W - (drop.packet.id % 3) * (PACKET_W - 4);
      this.rect(x, y, PACKET_W, PACKET_H, colour, { r: 3, alpha, stroke: palette.alarm });
      this.shapes.push({ kind: "cross", x: x + PACKET_W / 2, y: y + PACKET_H / 2, r: 4,
                         stroke: palette.lit, alpha });
      this.spots.push({ x, y, w: PACKET_W, h: PACKET_H, packet: drop.packet });
      // Why, once for those that fall at the same place for the same reason.
      const key = `${place.x} ${place.y} ${drop.reason}`;
      if (said.has(key)) continue;
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
      const strip = row?.inputs.find((each) => each.key === undefined || each.key === target?.port)
        ?? row?.inputs[0];
      return strip && { x: strip.x - 2, y: strip.y + strip.h };
    }
    const row = layout.rows.get(target?.port ?? packet.outPort);
    const strip = row?.queues.find((each) => each.class === (target?.class ?? packet.class));
    if (strip) {
      const isHead = packet.kind === "queued";
      return { x: isHead ? strip.x + strip.w : strip.x - 2, y: strip.y + strip.h };
    }
    const came = layout.rows.get(packet.port);
    return came && { x: came.ingressX, y: came.y + 14 };
  }
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
