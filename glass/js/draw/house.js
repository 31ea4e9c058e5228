// The static part of a router's picture: its case, lines, wires and the walls of its queues. It depends on the layout
// and the palette alone, and is painted when one of them has changed, not in each picture.

// Where wires are closer, their crossing points would run into one another.
const WIRES_APART_LEAST = 8;

export function houseShapes(layout, palette) {
  const house = new House(layout, palette);
  house.build();
  return house.shapes;
}

class House {
  constructor(layout, palette) {
    Object.assign(this, { layout, palette, shapes: [] });
  }

  rect(x, y, w, h, fill, more) {
    this.shapes.push({ kind: "rect", x, y, w, h, fill, ...more });
  }

  path(points, stroke, width) {
    this.shapes.push({ kind: "path", points, stroke, width });
  }

  build() {
    const { layout, palette } = this;
    const { columns } = layout;
    const top = layout.top - 6, height = layout.bottom - layout.top + 12;
    this.rect(columns.ingress[0], top, columns.serve[1] - columns.ingress[0], height, palette.panel,
              { r: 14, stroke: palette.wall });
    for (const row of layout.rows.values()) this.wires(row);
    for (const row of layout.rows.values()) this.row(row);
  }

  // The way from every input to every output: along the row of the one, then down or up the wire of
  // the other.
  wires(row) {
    const { layout, palette } = this;
    const { columns, hasInput } = layout;
    const rows = [...layout.rows.values()];
    const width = hasInput ? 2 : 1;
    const from = hasInput ? columns.input[1] - 18 : row.ingressX;
    if (hasInput) this.path([[row.ingressX, row.y], [columns.input[0] + 8, row.y]], palette.wire, 2);
    this.path([[from, row.inY], [columns.wires.at(-1), row.inY]], palette.wire, width);
    const ys = [rows[0].inY, rows.at(-1).inY, row.outY];
    this.path([[row.wireX, Math.min(...ys)], [row.wireX, Math.max(...ys)]], palette.wire, width);
    this.path([[row.wireX, row.outY], [columns.output[0] + 12, row.outY]], palette.wire, width);
    if (!hasInput || columns.wires[1] - columns.wires[0] < WIRES_APART_LEAST) return;
    for (const each of rows) this.shapes.push({ kind: "dot", x: each.wireX, y: row.inY, r: 3, fill: palette.wall });
  }

  row(row) {
    const { palette } = this;
    this.path([[row.receive.x0, row.y], [row.ingressX, row.y]], palette.line, 2);
    this.path([[row.serve.x, row.y], [row.transmit.x1, row.y]], palette.line, 2);
    for (const strip of row.inputs) this.strip(strip);
    for (const strip of row.queues) {
      this.strip(strip);
      this.path([[strip.x + strip.w, strip.y + strip.h / 2], [row.serve.x, row.y]], palette.wire, 2);
    }
    // The program's two halves, and the scheduler that chooses the next class.
    this.rect(row.ingressX - 4, row.y - 13, 8, 26, palette.wall, { r: 4 });
    this.shapes.push({ kind: "dot", x: row.serve.x, y: row.y, r: row.queues.length > 1 ? 8 : 4,
                       fill: palette.node, stroke: palette.line });
  }

  strip({ x, y, w, h, limit }) {
    const { palette } = this;
    this.rect(x, y, w, h, palette.queue, { r: 3 });
    // The limit is a wall: what comes when packets reach it is dropped.
    if (limit.isSet) this.path([[x, y - 3], [x, y + h + 3]], palette.line, 3);
    this.path([[x, y], [x + w, y]], palette.wall, 1);
    this.path([[x, y + h], [x + w, y + h]], palette.wall, 1);
  }
}

