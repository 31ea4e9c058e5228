// An arbitration at the crossbar's crossing points: a ring asks, a half disc is granted, a disc is
// matched; triangles are pointers, upright for the output of a wire, lying for the input of a row.

import { phaseAt, shownIn } from "../model/arbiter.js";

// Between closer rows, points cannot be distinguished.
export const PITCH_LEAST = 22;
const RADIUS_MAX = 6, RADIUS_LEAST = 4;
// Between two wires there is room for a point and, beside the next one, its pointer; in radii.
const GAP_RADII = 4.2;

// The visible part of an arbitration at a moment; undefined: none, or it is too fast.
export function arbitrationShown(moment) {
  const { state, isBars, phase } = moment;
  const arbitration = state?.arbitration;
  if (!arbitration || isBars) return undefined;
  const second = moment.pace * 1e12;
  const next = moment.upcoming.find((step) => step.kind === "arbitration");
  const until = ((next?.timePs ?? Infinity) - arbitration.timePs) / second;
  const index = phase ?? (moment.moves ? phaseAt(arbitration, (moment.timePs - arbitration.timePs) / second, until) : Infinity);
  return shownIn(arbitration, state.pointersBefore, index);
}

export function arbiterShapes(layout, moment, palette) {
  if (!layout.hasInput || layout.pitch < PITCH_LEAST) return [];
  const shown = arbitrationShown(moment);
  if (!shown) return [];
  const shapes = [];
  const [first, second = Infinity] = layout.columns.wires;
  const radius = Math.max(RADIUS_LEAST, Math.min(RADIUS_MAX, (second - first) / GAP_RADII));
  const away = (radius * 7) / 3;
  const point = (input, output) => {
    const from = layout.rows.get(input), to = layout.rows.get(output);
    return from && to && { x: to.wireX, y: from.inY };
  };
  for (const { port, grant, accept } of shown.pointers) {
    const above = point(grant, port), beside = point(port, accept);
    const colour = (name) => (shown.moved.has(`${name} ${port}`) ? palette.accent : palette.pointer);
    if (above) shapes.push(triangle(above.x, above.y - away, 0, radius, colour("grant")));
    if (beside) shapes.push(triangle(beside.x - away, beside.y, -Math.PI / 2, radius, colour("accept")));
  }
  for (const { input, output, level } of shown.places) {
    const at = point(input, output);
    if (!at) continue;
    shapes.push({ kind: "dot", ...at, r: radius, fill: palette.panel, stroke: palette.ink });
    if (level === "granted") shapes.push({ kind: "half", ...at, r: radius - 1, fill: palette.ink });
    if (level === "matched") shapes.push({ kind: "dot", ...at, r: radius - 1, fill: palette.ink });
  }
  return shapes;
}

// Points down, turned by an angle.
function triangle(x, y, angle, radius, fill) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const corners = [[-0.75, -0.6], [0.75, -0.6], [0, 0.75]].map((each) => each.map((part) => part * radius));
  return { kind: "area", fill, points: corners.map(([a, b]) => [x + a * cos - b * sin, y + a * sin + b * cos]) };
}
