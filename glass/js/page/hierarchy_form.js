// The fields of a hierarchical scheduler: a tree of classes with rates, ceilings and what they borrow.

import * as acts from "../model/acts.js";
import { readRate, readSize, sayRate, saySize } from "../model/amounts.js";
import { changedAt, innerNodes, movedBelow, nodesWithPaths } from "../model/hierarchy.js";
import { element } from "./dom.js";

const wholeNumber = (text) => {
  if (!/^\s*[0-9]+\s*$/.test(text)) throw new Error(`“${text}” is not a whole number`);
  return Number(text);
};

// The fields of a node: name, label, and the functions that show and read it.
const OF_NODES = [
  ["rate_bps", "guaranteed", sayRate, readRate],
  ["ceil_bps", "at most, with what it borrows", sayRate, readRate],
  ["burst_bytes", "at once against its rate", saySize, readSize],
  ["ceil_burst_bytes", "at once against its ceiling", saySize, readSize],
];
const OF_LEAVES = [
  ["priority", "priority, higher first", String, wholeNumber],
  ["quantum_bytes", "bytes a round of what is borrowed", saySize, readSize],
];
const NEW = "a new node";

// One fold a node, a leaf's with where it stands.
export function hierarchyFields(handles, port, root) {
  return nodesWithPaths(root).map(({ path, node }) => {
    const id = (name) => `node ${port} ${path.join("/")} ${name}`;
    const act = (change, words) => acts.hierarchy(port, changedAt(root, path, change), `${node.name}: ${words}`);
    const rows = OF_NODES.map(([name, label, say, read]) =>
      handles.text(id(name), label, say(node[name] ?? 0), read, (value) => act({ [name]: value }, `${label} ${say(value)}`)));
    if (node.leaf) {
      rows.push(...OF_LEAVES.map(([name, label, say, read]) =>
        handles.text(id(name), label, say(node.leaf[name] ?? 0), read,
                     (value) => act({ leaf: { ...node.leaf, [name]: value } }, `${label} ${say(value)}`))));
    }
    if (path.length) rows.push(parentOf(handles, port, root, path, node, id("below")));
    const title = `${node.name || "port"}${node.leaf ? `, class ${node.leaf.class}` : ""}: ${sayRate(node.rate_bps ?? 0)}`;
    return element("details", { "data-id": id("fold"), style: `margin-left:${path.length}em` }, element("summary", {}, title), ...rows);
  });
}

function parentOf(handles, port, root, path, node, id) {
  const key = (at) => at.join("/");
  const inner = innerNodes(root).filter(({ path: each }) => !isBelow(each, path));
  const options = [...inner.map(({ path: each, node: parent }) => [key(each), parent.name || "port"]), [NEW, NEW]];
  return handles.choice(id, "stands below", key(path.slice(0, -1)), options, (chosen) => {
    const target = chosen === NEW ? undefined : inner.find(({ path: each }) => key(each) === chosen).path;
    const below = chosen === NEW ? NEW : options.find(([each]) => each === chosen)[1];
    return acts.hierarchy(port, movedBelow(root, path, target), `${node.name} below ${below}`);
  });
}

const isBelow = (path, ancestor) => ancestor.every((place, index) => path[index] === place);
