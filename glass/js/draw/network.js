// The picture of the network: who is where, from the cables alone, and what moves along them.

import { rate, span } from "../words.js";
import { flowColour } from "./palette.js";

const NODE_W = 74, NODE_H = 40;
// In a long network nodes are narrower, and their names smaller below this width.
const NODE_SHARE = 0.8, SMALL_W = 60;
// Where many nodes stand below each other they are lower, down to `STACKED_H`; beyond that, every other one stands beside
// the others.
const STACKED_H = 22, NODE_GAP = 4;
// How long a packet is seen on a cable that takes no time, in viewer's seconds.
const TRAVEL_S = 0.35;
const MARGIN = 70;
// Words at cables and below hosts: the width of a letter, their height, and how far they are above the middle of a cable.
const LETTER_W = 6.4, LABEL_H = 14, CABLE_GAP = 16;
// More dots than `DOTS_MAX` run into one another; they are made from at most `STEPS_MAX` steps.
const DOTS_MAX = 700, STEPS_MAX = 20_000;

// Nodes from left to right by how far they are from the two that are farthest apart.
export function networkLayout(network, { width, height }) {
  const names = [...network.hosts.map((each) => each.name), ...network.routers.map((each) => each.name)];
  const near = new Map(names.map((name) => [name, []]));
  for (const [a, b] of network.cables) {
    near.get(a.node)?.push(b.node);
    near.get(b.node)?.push(a.node);
  }
  const [left, right] = farthest(names, near);
  const fromLeft = distances(left, near), fromRight = distances(right, near);
  const columns = new Map();
  const columnOf = (name) => (fromLeft.get(name) ?? 0) - (fromRight.get(name) ?? 0);
  for (const name of names) {
    // A host on the same router as one of the ends stands below that end, and no cable crosses it.
    const ways = near.get(name);
    const end = ways.length === 1 && [left, right].find((each) => near.get(each).length === 1 && near.get(each)[0] === ways[0]);
    const column = columnOf(end || name);
    if (!columns.has(column)) columns.set(column, []);
    columns.get(column).push(name);
  }
  const order = [...columns.keys()].sort((a, b) => a - b);
  const nodeW = Math.min(NODE_W, (NODE_SHARE * (width - 2 * MARGIN)) / Math.max(1, order.length - 1));
  const room = (count) => height / (count + 1) - NODE_GAP, isStaggered = (count) => room(count) < STACKED_H;
  const roomLeast = Math.min(...[...columns.values()].map(({ length }) => (isStaggered(length) ? 2 * room(length) + NODE_GAP : room(length))));
  const places = new Map();
  order.forEach((column, index) => {
    const x = MARGIN + ((width - 2 * MARGIN) * (order.length > 1 ? index / (order.length - 1) : 0.5));
    const here = columns.get(column), aside = isStaggered(here.length) ? (index && index === order.length - 1 ? -1 : 1) * (nodeW + NODE_GAP) : 0;
    here.forEach((name, place) => {
      places.set(name, { x: x + (place % 2) * aside, y: (height * (place + 1)) / (here.length + 1) });
    });
  });
  const routers = new Set(network.routers.map((each) => each.name));
  const addresses = new Map(network.hosts.filter((each) => each.addresses.length).map((each) => [each.name, each.addresses[0]]));
  return { width, height, places, routers, addresses, cables: network.cables, node: { w: nodeW, h: Math.min(roomLeast, nodeW < SMALL_W ? 26 : NODE_H), isSmall: nodeW < SMALL_W } };
}

function farthest(names, near) {
  const end = (from) => {
    const found = distances(from, near);
    // Of several as far away the first by name, so that a network always looks the same.
    return names.reduce((best, each) => ((found.get(each) ?? -1) > (found.get(best) ?? -1) ? each : best));
  };
  const right = end(names[0]);
  const left = end(right);
  return names.indexOf(left) < names.indexOf(right) ? [left, right] : [right, left];
}

function distances(from, near) {
  const found = new Map([[from, 0]]);
  const queue = [from];
  for (const name of queue) {
    for (const next of near.get(name) ?? []) {
      if (found.has(next)) continue;
      found.set(next, found.get(name) + 1);
      queue.push(next);
    }
  }
  return found;
}

// The static part: cables.
export function networkCables(layout, palette) {
  return layout.cables.map(([a, b]) => {
    const [from, to] = [layout.places.get(a.node), layout.places.get(b.node)];
    return { kind: "path", points: [[from.x, from.y], [to.x, to.y]], stroke: palette.wire, width: 11 };
  });
}

// The moving dots, and the nodes at their ends. `isTooFast`: single packets cannot be followed.
export function networkPicture(layout, moment, palette) {
  const shapes = [];
  const steps = moment.moves ? nearSteps(layout, moment) : new Map();
  for (const [a, b] of layout.cables) {
    shapes.push(...load(layout, moment, palette, a, b), ...load(layout, moment, palette, b, a));
    if (steps) shapes.push(...travellers(layout, moment, palette, steps, a, b), ...travellers(layout, moment, palette, steps, b, a));
  }
  for (const [name, { x, y }] of layout.places) {
    const isRouter = layout.routers.has(name);
    const { w, h } = layout.node;
    shapes.push({ kind: "rect", x: x - w / 2, y: y - h / 2, w, h, r: isRouter ? h / 4 : h / 2, fill: palette.node, stroke: isRouter ? palette.lit : palette.line });
  }
  return { shapes, spots: [], isTooFast: !steps };
}

// The steps of packets that each router has just sent and will soon receive, sorted by port once for all of its cables:
// Map of "out s1 2" -> steps; undefined: more than eyes can follow.
function nearSteps(layout, { models, timePs, pace }) {
  const span = TRAVEL_S * pace * 1e12;
  const telling = [...layout.routers].map((name) => [name, models.get(name)]).filter(([, model]) => model?.knowsPackets);
  const count = telling.reduce((sum, [, { insides }]) => sum + insides.count(timePs - span, timePs + span), 0);
  if (count > STEPS_MAX) return undefined;
  const found = new Map();
  let dots = 0;
  for (const [name, { insides }] of telling) {
    for (const step of insides.between(timePs - span, timePs + span)) {
      const isOut = step.kind === "transmitted" && step.timePs <= timePs;
      if (!isOut && !(step.kind === "received" && step.timePs > timePs)) continue;
      const key = isOut ? `out ${name} ${step.port}` : `in ${name} ${step.packet.port}`;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(step);
      dots++;
    }
  }
  return dots > DOTS_MAX ? undefined : found;
}

// The load of the line from one end to the other: a lane of its own, on the right of its direction, as thick as it is
// busy. Routers report the load that they send, and that they receive from hosts.
const LANE_W = 5, FULL = 0.97;

function load(layout, moment, palette, near, far) {
  const share = shareOf(moment, near, far);
  if (!share) return [];
  const from = layout.places.get(near.node), to = layout.places.get(far.node);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const long = Math.hypot(dx, dy) || 1;
  const [sideX, sideY] = [(-dy / long) * 3, (dx / long) * 3];
  return [{ kind: "path", points: [[from.x + sideX, from.y + sideY], [to.x + sideX, to.y + sideY]],
            stroke: share >= FULL ? palette.alarm : palette.line, width: Math.max(1, LANE_W * share), alpha: 0.8 }];
}

export function shareOf({ models, timePs }, near, far) {
  const sender = models.get(near.node);
  if (sender) return sender.samples.sendingAt(timePs, near.port);
  return models.get(far.node)?.samples.receivingAt(timePs, far.port) ?? 0;
}

// Packets that the router at one end has sent, and those that will soon come out of the cable there.
function travellers(layout, moment, palette, steps, near, far) {
  const span = TRAVEL_S * moment.pace * 1e12;
  const from = layout.places.get(near.node), to = layout.places.get(far.node);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const long = Math.hypot(dx, dy) || 1;
  const dot = (at, side, { flow }) => ({
    kind: "dot", r: 3.4, x: from.x + dx * at - (dy / long) * side, y: from.y + dy * at + (dx / long) * side,
    fill: flowColour(palette, flow), alpha: flow.reverse ? 0.5 : 1,
  });
  const shapes = [];
  for (const step of steps.get(`out ${near.node} ${near.port}`) ?? []) {
    if (step.of) shapes.push(dot((moment.timePs - step.timePs) / span, 3, step.of));
  }
  // Packets from a router are drawn when that router sends them.
  if (layout.routers.has(far.node)) return shapes;
  for (const step of steps.get(`in ${near.node} ${near.port}`) ?? []) {
    shapes.push(dot((step.timePs - moment.timePs) / span, -3, step.packet));
  }
  return shapes;
}

export function networkLabels(layout, moment, enter) {
  const nodes = [...layout.places].map(([name, { x, y }]) => ({
    id: `node ${name}`, kind: layout.node.isSmall ? "node small" : "node", x, y, text: name,
    action: layout.routers.has(name) ? () => enter(name) : undefined,
  }));
  if (layout.node.isSmall) return nodes;
  const { w, h } = layout.node;
  // Words that would cover a node, or others, are left out: the first ones have theirs.
  const taken = nodes.map(({ x, y }) => ({ x, y, w, h }));
  const isFree = ({ x, y, text }) => {
    const box = { x, y, w: text.length * LETTER_W, h: LABEL_H };
    const isCovered = taken.some((each) => Math.abs(x - each.x) < (box.w + each.w) / 2 && Math.abs(y - each.y) < (box.h + each.h) / 2);
    if (!isCovered) taken.push(box);
    return !isCovered;
  };
  const addresses = [...layout.addresses].map(([name, text]) => {
    const { x, y } = layout.places.get(name);
    return { id: `address ${name}`, kind: "cable", x, y: y + (h + LABEL_H) / 2 + 2, text };
  });
  const cables = layout.cables.map(([a, b]) => cableLabel(layout, moment, a, b)).filter(({ text }) => text);
  return [...nodes, ...[...addresses, ...cables].filter(isFree)];
}

// The speed of a cable and how long it takes, above its middle; where these differ by the way, both.
function cableLabel({ places }, { models }, a, b) {
  const end = ({ node: name, port }) => models.get(name)?.samples.abouts.at(-1)?.ports.find((each) => each.port === port)?.config;
  const [near, far] = [end(a), end(b)];
  const ways = [[near, far], [far, near]].filter(([sender]) => sender).map(([sender, receiver]) => [
    sender.rate_bps ? rate(sender.rate_bps) : "",
    delayWords((sender.link?.transmit?.delay_ns ?? 0) + (receiver?.link?.receive?.delay_ns ?? 0)),
  ].filter(Boolean).join(", "));
  const [from, to] = [places.get(a.node), places.get(b.node)];
  return { id: `cable ${a.node} ${a.port} ${b.node} ${b.port}`, kind: "cable", x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - CABLE_GAP,
           text: [...new Set(ways)].filter(Boolean).join(" / ") };
}

const delayWords = (delayNs) => (delayNs ? span(delayNs / 1e9) : "");
