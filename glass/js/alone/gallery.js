// The gallery: every scenario there is, by group, with its network as a small picture.

import { element } from "../page/dom.js";

const SIZE = { width: 220, height: 84 };

// Resolves to the scenario that was chosen, or to nothing.
export function choose(scenarios, present) {
  return new Promise((resolve) => {
    const dialog = element("dialog", { class: "gallery", "aria-label": "Scenarios" });
    const done = (chosen) => {
      dialog.close();
      resolve(chosen);
    };
    const card = (scenario) => element("button", {
      type: "button", class: "card", "aria-current": scenario.name === present && "true", onclick: () => done(scenario),
    }, picture(scenario.network), element("b", {}, scenario.title), element("span", {}, scenario.summary));
    const groups = [...new Set(scenarios.map((each) => each.group))];
    dialog.append(
      element("div", { class: "row" }, element("h1", {}, "Scenarios"), element("span", { class: "fill" }),
        element("button", { type: "button", onclick: () => done() }, "Close")),
      ...groups.flatMap((group) => [element("h2", {}, group), element("div", { class: "cards" },
        ...scenarios.filter((each) => each.group === group).map(card))]));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

// Routers in columns, by how many cables they are away from the first; hosts at the sides, those of
// routers between them above and below.
function picture(network) {
  const svg = drawn("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, "aria-hidden": "true" });
  const columns = columnsOf(network);
  const places = new Map();
  columns.forEach((names, column) => names.forEach((name, row) => places.set(name, {
    x: (SIZE.width * (column + 1)) / (columns.length + 1), y: (SIZE.height * (row + 1)) / (names.length + 1) })));
  const routers = new Set(places.keys());
  columns.forEach((names, column) => names.forEach((router) => {
    const hosts = hostsOf(network, router, routers), at = places.get(router);
    hosts.forEach((name, index) => places.set(name, hostPlace(at, index, hosts.length, {
      isFirst: column === 0, isLast: column === columns.length - 1, isAlone: names.length === 1 })));
  }));
  for (const [a, b] of network.cables) {
    const [from, to] = [places.get(a.node), places.get(b.node)];
    if (from && to) svg.append(drawn("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
  }
  for (const [name, { x, y }] of places) {
    svg.append(routers.has(name) ? drawn("rect", { x: x - 9, y: y - 9, width: 18, height: 18, rx: 4 })
      : drawn("circle", { cx: x, cy: y, r: 4 }));
  }
  return svg;
}

function columnsOf({ routers, cables }) {
  const depths = new Map([[routers[0].name, 0]]);
  for (const [name, depth] of depths) {
    for (const ends of cables) {
      const [other] = ends.map((end) => end.node).filter((each) => each !== name);
      if (ends.some((end) => end.node === name) && routers.some((each) => each.name === other) && !depths.has(other)) depths.set(other, depth + 1);
    }
  }
  const columns = [];
  for (const { name } of routers) (columns[depths.get(name) ?? 0] ??= []).push(name);
  return columns;
}

function hostsOf({ cables }, router, routers) {
  return cables.filter((ends) => ends.some((end) => end.node === router)).map((ends) => ends.find((end) => end.node !== router)?.node)
    .filter((name) => name && !routers.has(name));
}

// Of the only router half of the hosts stand at each side.
function hostPlace(router, index, count, { isFirst, isLast, isAlone }) {
  const { width, height } = SIZE, margin = 12;
  if (isFirst && isLast) {
    const rows = Math.ceil(count / 2);
    return { x: index < rows ? margin : width - margin, y: (height * ((index % rows) + 1)) / (rows + 1) };
  }
  const y = isAlone ? (height * (index + 1)) / (count + 1) : router.y + (index - (count - 1) / 2) * 14;
  if (isFirst) return { x: margin, y };
  if (isLast) return { x: width - margin, y };
  return { x: router.x + (index - (count - 1) / 2) * 14, y: router.y < height / 2 ? 7 : height - 7 };
}

function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
