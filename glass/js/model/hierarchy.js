// A scheduler's tree of classes, as handles change it: every function gives a new tree and leaves the old
// one alone. Pure. Which trees a router takes is the router's to say.
//
// A path names a node by the places of its ancestors among their siblings: [] is the root.

const BURST_BYTES = 15_140, QUANTUM_BYTES = 1514;

// Each class a leaf of its own below the port: equal parts that may borrow the whole line.
export function startingTree(classes, lineBps) {
  const node = (name, rate_bps, more) => ({ name, rate_bps, ceil_bps: lineBps, burst_bytes: BURST_BYTES, ceil_burst_bytes: BURST_BYTES, ...more });
  const part = Math.floor(lineBps / Math.max(1, classes.length));
  return node("port", lineBps, { children: classes.map((class_) => node(`class${class_}`, part, {
    leaf: { class: class_, priority: 0, quantum_bytes: QUANTUM_BYTES },
  })) });
}

// [{path, node}] of the whole tree, parents before children.
export function nodesWithPaths(node, path = []) {
  return [{ path, node }, ...(node.children ?? []).flatMap((each, place) => nodesWithPaths(each, [...path, place]))];
}

// Those that have children.
export const innerNodes = (root) => nodesWithPaths(root).filter(({ node }) => !node.leaf);

export function nodeAt(root, path) {
  return path.reduce((node, place) => node.children[place], root);
}

// With another `change` of one node.
export function changedAt(root, path, change) {
  if (!path.length) return { ...root, ...change };
  const [place, ...rest] = path;
  return { ...root, children: root.children.map((each, index) => (index === place ? changedAt(each, rest, change) : each)) };
}

// A node goes below another one, the last of its children there; `toPath` undefined: below a new node,
// which stands where it stood. Its guarantee goes with it: nodes that it leaves have less, nodes that it
// comes to have more. Nodes that have lost their last child go.
export function movedBelow(root, path, toPath) {
  const moved = nodeAt(root, path);
  if (!toPath) return changedAt(root, path, groupAround(root, moved));
  const target = nodeAt(root, toPath);
  if (target.children?.includes(moved)) return root;
  const grown = changedAt(root, toPath, { children: [...(target.children ?? []), moved] });
  const paid = guaranteed(guaranteed(grown, toPath, moved.rate_bps), path.slice(0, -1), -moved.rate_bps);
  return pruned(withoutAt(paid, path));
}

// With more, or less, guaranteed to each node on the way to one, but for the root, which has the line.
function guaranteed(root, path, moreBps) {
  return path.reduce((tree, _, index) => {
    const at = path.slice(0, index + 1);
    const { rate_bps, ceil_bps } = nodeAt(tree, at);
    const rate = Math.max(0, rate_bps + moreBps);
    return changedAt(tree, at, { rate_bps: rate, ceil_bps: Math.max(ceil_bps, rate) });
  }, root);
}

// A new parent with the numbers of the node that it now encloses.
function groupAround(root, { name, rate_bps, ceil_bps, burst_bytes, ceil_burst_bytes, leaf, children }) {
  const names = new Set(nodesWithPaths(root).map(({ node }) => node.name));
  let number = 1;
  while (names.has(`group${number}`)) number++;
  const inside = { name, rate_bps, ceil_bps, burst_bytes, ceil_burst_bytes, leaf, children };
  return { name: `group${number}`, leaf: undefined, children: [inside] };
}

function withoutAt(root, [place, ...rest]) {
  const children = rest.length
    ? root.children.map((each, index) => (index === place ? withoutAt(each, rest) : each))
    : root.children.filter((_, index) => index !== place);
  return { ...root, children };
}

function pruned(node) {
  if (node.leaf) return node;
  return { ...node, children: (node.children ?? []).map(pruned).filter((each) => each.leaf || each.children.length) };
}
