// A graph of a program from top to bottom: nodes in rows by the longest way that leads to them.
//
//   graphLayout(nodes, edges) -> {width, height, boxes: Map of id -> {x, y, w, h, node}, lines}
//
// nodes: [{id, label, kind}], the first one is the beginning; edges: [{from, to, label}]
// lines: [{points, label, at, from, to}], `at` is where the label stands

const W = 190, H = 34, GAP_X = 26, GAP_Y = 26, MARGIN = 10;

export function graphLayout(nodes, edges) {
  const rows = rowsOf(nodes, edges);
  const boxes = new Map();
  rows.forEach((row, y) => {
    // Each below those that lead to it, as far as there is room beside its neighbours.
    const wanted = row.map((node) => {
      const above = edges.filter((each) => each.to === node.id && boxes.has(each.from)).map((each) => boxes.get(each.from).x);
      return { node, x: above.length ? above.reduce((sum, each) => sum + each, 0) / above.length : 0 };
    }).sort((a, b) => a.x - b.x);
    const spread = ((row.length - 1) * (W + GAP_X)) / 2;
    const mean = wanted.reduce((sum, each) => sum + each.x, 0) / row.length;
    let least = -Infinity;
    for (const { node, x } of wanted) {
      const at = Math.max(x, least, least === -Infinity ? Math.min(x, mean - spread) : -Infinity);
      boxes.set(node.id, { x: at, y: MARGIN + y * (H + GAP_Y), w: W, h: H, node });
      least = at + W + GAP_X;
    }
  });
  const all = [...boxes.values()];
  const left = Math.min(...all.map((each) => each.x), 0);
  for (const each of all) each.x += MARGIN - left;
  const width = Math.max(...all.map((each) => each.x + W), W) + MARGIN;
  const lines = edges.filter(({ from, to }) => boxes.has(from) && boxes.has(to)).map((edge) => lineOf(edge, boxes, edges));
  return { width, height: rows.length * (H + GAP_Y) - GAP_Y + 2 * MARGIN, boxes, lines };
}

// A node stands below all that lead to it, where that is possible; a way back is not counted.
function rowsOf(nodes, edges) {
  const next = new Map(nodes.map((node) => [node.id, []]));
  for (const { from, to } of edges) if (next.has(to)) next.get(from)?.push(to);
  const row = new Map();
  const onWay = new Set();
  const order = [];
  const visit = (id) => {
    if (row.has(id) || onWay.has(id)) return;
    onWay.add(id);
    for (const each of next.get(id)) visit(each);
    onWay.delete(id);
    row.set(id, 0);
    order.push(id);
  };
  for (const node of nodes) visit(node.id);
  // Those that lead somewhere come before it in this order, but for ways back.
  const place = new Map(order.toReversed().map((id, index) => [id, index]));
  for (const id of order.toReversed()) {
    for (const to of next.get(id)) if (place.get(to) > place.get(id)) row.set(to, Math.max(row.get(to), row.get(id) + 1));
  }
  const rows = [];
  for (const node of nodes) (rows[row.get(node.id)] ??= []).push(node);
  return rows.filter(Boolean);
}

function lineOf({ from, to, label }, boxes, edges) {
  const [a, b] = [boxes.get(from), boxes.get(to)];
  // Several that leave one box leave it side by side.
  const beside = edges.filter((each) => each.from === from && boxes.has(each.to));
  const share = (beside.findIndex((each) => each.to === to && each.label === label) + 1) / (beside.length + 1);
  const x = a.x + a.w * share, y = a.y + a.h;
  const end = [b.x + b.w / 2, b.y];
  const points = [[x, y], [x, y + 8], [end[0], end[1] - 8], end];
  return { from, to, label, points, at: [x + 3, y + 10] };
}
