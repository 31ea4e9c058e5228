// The picture of the network: who is where, from the cables alone, and what moves along them.

import { portOf } from "../model/samples.js";
import { flowColour } from "./palette.js";

const NODE_W = 74, NODE_H = 40;
// How long a packet is seen on a cable that takes no time, in viewer's seconds.
const TRAVEL_S = 0.35;
const MARGIN = 70;

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
    // Who hangs on the same router as one of the ends stands below that end, and no cable crosses it.
    const ways = near.get(name);
    const end = ways.length === 1 && [left, right].find((each) => near.get(each).length === 1 && near.get(each)[0] === ways[0]);
    const column = columnOf(end || name);
    if (!columns.has(column)) columns.set(column, []);
    columns.get(column).push(name);
  }
  const order = [...columns.keys()].sort((a, b) => a - b);
  const places = new Map();
  order.forEach((column, index) => {
    const x = MARGIN + ((width - 2 * MARGIN) * (order.length > 1 ? index / (order.length - 1) : 0.5));
    const here = columns.get(column);
    here.forEach((name, place) => {
      places.set(name, { x, y: (height * (place + 1)) / (here.length + 1) });
    });
  });
  const routers = new Set(network.routers.map((each) => each.name));
  return { width, height, places, routers, cables: network.cables };
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

export function networkPicture(layout, moment, palette) {
  const shapes = [];
  for (const [a, b] of layout.cables) {
    const [from, to] = [layout.places.get(a.node), layout.places.get(b.node)];
    shapes.push({ kind: "path", points: [[from.x, from.y], [to.x, to.y]], stroke: palette.wire, width: 11 });
    shapes.push(...load(layout, moment, palette, a, b), ...load(layout, moment, palette, b, a));
    if (moment.moves) shapes.push(...travellers(layout, moment, palette, a, b), ...travellers(layout, moment, palette, b, a));
  }
  for (const [name, { x, y }] of layout.places) {
    const isRouter = layout.routers.has(name);
    shapes.push({ kind: "rect", x: x - NODE_W / 2, y: y - NODE_H / 2, w: NODE_W, h: NODE_H,
                  r: isRouter ? 10 : 20, fill: palette.node, stroke: isRouter ? palette.lit : palette.line });
  }
  return { shapes, spots: [] };
}

// How busy the line from one end to the other is: a lane of its own, on the right of the way there, as
// thick as it is busy. Known is what routers send.
const LANE_W = 5, FULL = 0.97;

function load(layout, moment, palette, near, far) {
  const model = moment.models.get(near.node);
  const counters = portOf(model?.samples.at(moment.timePs), near.port);
  const share = (counters?.utilisation_permille ?? 0) / 1000;
  if (!share) return [];
  const from = layout.places.get(near.node), to = layout.places.get(far.node);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const long = Math.hypot(dx, dy) || 1;
  const [sideX, sideY] = [(-dy / long) * 3, (dx / long) * 3];
  return [{ kind: "path", points: [[from.x + sideX, from.y + sideY], [to.x + sideX, to.y + sideY]],
            stroke: share >= FULL ? palette.alarm : palette.line, width: Math.max(1, LANE_W * share), alpha: 0.8 }];
}

// Packets that the router at one end has sent, and those that will soon come out of the cable there.
function travellers(layout, moment, palette, near, far) {
  const model = moment.models.get(near.node);
  if (!model?.knowsPackets) return [];
  const span = TRAVEL_S * moment.pace * 1e12;
  const from = layout.places.get(near.node), to = layout.places.get(far.node);
  const shapes = [];
  const dot = (share, packet, isOut) => {
    const at = isOut ? share : 1 - share;
    const side = isOut ? 3 : -3;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const long = Math.hypot(dx, dy) || 1;
    shapes.push({ kind: "dot", r: 3.4, x: from.x + dx * at - (dy / long) * side,
                  y: from.y + dy * at + (dx / long) * side,
                  fill: flowColour(palette, packet.flow), alpha: packet.flow.reverse ? 0.5 : 1 });
  };
  const isHost = !layout.routers.has(far.node);
  for (const step of model.insides.between(moment.timePs - span, moment.timePs + span).slice(-400)) {
    if (step.kind === "transmitted" && step.port === near.port && step.timePs <= moment.timePs) {
      dot((moment.timePs - step.timePs) / span, step.of, true);
    }
    // What comes from a router is drawn as what that one has sent.
    if (isHost && step.kind === "received" && step.packet.port === near.port && step.timePs > moment.timePs) {
      dot(1 - (step.timePs - moment.timePs) / span, step.packet, false);
    }
  }
  return shapes;
}

export function networkLabels(layout, moment, enter) {
  return [...layout.places].map(([name, { x, y }]) => ({
    id: `node ${name}`, kind: "node", x, y: y - (layout.routers.has(name) ? 17 : 10), text: name,
    action: layout.routers.has(name) ? () => enter(name) : undefined,
  }));
}
