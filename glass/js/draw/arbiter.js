// An arbitration at the crossbar's crossing points: a ring asks, a half disc is granted, a disc is
// matched; triangles are pointers, upright for the output of a wire, lying for the input of a row.

import { phaseAt, shownIn } from "../model/arbiter.js";

// Where there is less room between rows, points cannot be told apart.
export const PITCH_LEAST = 22;
const RADIUS = 6;

// What of an arbitration is to be seen at a moment; undefined: nothing, or it is too fast.
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
  const point = (input, output) => {
    const from = layout.rows.get(input), to = layout.rows.get(output);
    return from && to && { x: to.wireX, y: from.inY };
  };
  for (const { port, grant, accept } of shown.pointers) {
    const above = point(grant, port), beside = point(port, accept);
    const colour = (name) => (shown.moved.has(`${name} ${port}`) ? palette.accent : palette.pointer);
    if (above) shapes.push(triangle(above.x, above.y - RADIUS - 8, 0, colour("grant")));
    if (beside) shapes.push(triangle(beside.x - RADIUS - 8, beside.y, -Math.PI / 2, colour("accept")));
  }
  for (const { input, output, level } of shown.places) {
    const at = point(input, output);
    if (!at) continue;
    shapes.push({ kind: "dot", ...at, r: RADIUS, fill: palette.panel, stroke: palette.ink });
    if (level === "granted") shapes.push({ kind: "half", ...at, r: RADIUS - 1, fill: palette.ink });
    if (level === "matched") shapes.push({ kind: "dot", ...at, r: RADIUS - 1, fill: palette.ink });
  }
  return shapes;
}

// Points down, turned by an angle.
function triangle(x, y, angle, fill) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const corners = [[-4.5, -3.5], [4.5, -3.5], [0, 4.5]];
  return { kind: "area", fill, points: corners.map(([a, b]) => [x + a * cos - b * sin, y + a * sin + b * cos]) };
}
