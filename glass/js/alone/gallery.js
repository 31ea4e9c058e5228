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

// Hosts at the sides, routers between them, in the order in which they are cabled.
function picture(network) {
  const svg = drawn("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, "aria-hidden": "true" });
  const routers = network.routers.map((each) => each.name);
  const x = (index) => (SIZE.width * (index + 1)) / (routers.length + 1);
  const places = new Map(routers.map((name, index) => [name, { x: x(index), y: SIZE.height / 2 }]));
  const beside = new Map(routers.map((name) => [name, []]));
  for (const [a, b] of network.cables) {
    for (const [end, other] of [[a, b], [b, a]]) if (!places.has(end.node)) beside.get(other.node)?.push(end.node);
  }
  for (const [router, hosts] of beside) {
    const at = places.get(router), isFirst = router === routers[0], isLast = router === routers.at(-1);
    hosts.forEach((name, index) => {
      const isLeft = isFirst && (!isLast || index < hosts.length / 2);
      const row = routers.length === 1 ? Math.floor(index % Math.ceil(hosts.length / 2)) : index;
      const rows = routers.length === 1 ? Math.ceil(hosts.length / 2) : hosts.length;
      const y = (SIZE.height * (row + 1)) / (rows + 1);
      const side = isLeft ? 12 : isLast ? SIZE.width - 12 : at.x + (index - (hosts.length - 1) / 2) * 14;
      places.set(name, isFirst || isLast ? { x: side, y } : { x: side, y: SIZE.height - 8 });
    });
  }
  for (const [a, b] of network.cables) {
    const [from, to] = [places.get(a.node), places.get(b.node)];
    if (from && to) svg.append(drawn("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y }));
  }
  for (const [name, { x: left, y }] of places) {
    svg.append(routers.includes(name) ? drawn("rect", { x: left - 9, y: y - 9, width: 18, height: 18, rx: 4 })
      : drawn("circle", { cx: left, cy: y, r: 4 }));
  }
  return svg;
}

function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
