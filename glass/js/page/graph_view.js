// A graph of the program as a drawing of elements, and the same as a list for screen readers.

import { graphLayout } from "../draw/graph.js";
import { count } from "../words.js";
import { element } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const LABEL_MAX = 30;

// `counts` says how often each node ran: Map of id -> times.
export function graphView(title, { nodes, edges }, counts) {
  if (!nodes.length) return element("p", { class: "faint" }, `The program has no ${title.toLowerCase()}.`);
  const { width, height, boxes, lines } = graphLayout(nodes, edges);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  for (const { points, label, at, from, to } of lines) {
    const ran = counts.get(from) && (counts.get(to) || !counts.has(to) && boxes.get(to).node.kind === "end");
    svg.append(draw("polyline", { points: points.map((each) => each.join(",")).join(" "), class: ran ? "edge ran" : "edge" }));
    if (label) svg.append(draw("text", { x: at[0], y: at[1] + 4, class: "edge" }, shortened(label, 26)));
  }
  for (const [id, { x, y, w, h, node }] of boxes) {
    const times = counts.get(id);
    const group = draw("g", { class: `node ${node.kind}${times ? " ran" : ""}` },
      draw("title", {}, `${node.label}${times ? `: ${count(times)} times` : ""}`),
      draw("rect", { x, y, width: w, height: h, rx: node.kind === "condition" ? 17 : 6 }),
      draw("text", { x: x + w / 2, y: y + h / 2 + (times ? -2 : 4) }, shortened(node.label, LABEL_MAX)));
    if (times) group.append(draw("text", { x: x + w / 2, y: y + h - 5, class: "times" }, `${count(times)} ×`));
    svg.append(group);
  }
  const words = edges.map(({ from, to, label }) => element("li", {}, `${nameOf(nodes, from)}${label ? `, ${label}` : ""}: ${nameOf(nodes, to)}`));
  const first = boxes.get(nodes[0].id);
  const made = element("div", { class: "graph", tabindex: 0, role: "region", "aria-label": title }, svg);
  // The beginning is in sight.
  requestAnimationFrame(() => (made.scrollLeft = first.x + first.w / 2 - made.clientWidth / 2));
  return element("div", {}, made,
    element("details", {}, element("summary", {}, "The graph as a list"), element("ul", { class: "steps" }, ...words)));
}

const nameOf = (nodes, id) => nodes.find((each) => each.id === id)?.label ?? id;
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function draw(name, attributes, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
