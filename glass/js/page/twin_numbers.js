// The same numbers of two networks, beside each other, with the difference.

import { lineShare, lossAt, waitIn } from "../model/measures.js";
import { WINDOW_WORDS } from "../model/samples.js";
import { PORT_MAX } from "../draw/layout.js";
import { element, setText, table } from "./dom.js";

export class TwinNumbers {
  constructor(glass, twin) {
    Object.assign(this, { glass, twin });
    this.node = element("section", { class: "numbers", "aria-label": "The numbers of both" });
    this.shape = "";
  }

  show(timePs) {
    const { glass, twin } = this, about = glass.model.samples.aboutAt(timePs), other = twin.model.samples.aboutAt(timePs);
    if (!about || !other) return;
    this.build(about, other);
    const sources = [glass, twin].map(({ model, hosts }) => ({ model, hosts }));
    for (const { measure, cells, row } of this.rows) {
      const [one, two] = sources.map((each) => measure.read(each, timePs));
      [one, two].forEach((value, index) => setText(cells[index], value === undefined ? "…" : measure.words(value)));
      // A measure that is zero in both networks compares nothing.
      const nothing = measure.words(0);
      row.hidden = [one, two].every((each) => each === undefined || measure.words(each) === nothing);
      setText(cells[2], one === undefined || two === undefined ? "…" : measure.difference(one, two));
    }
  }

  // Rows follow from the router's ports and queues, and from the lesson.
  build(about, other) {
    const { glass, twin } = this, neighbours = glass.network.neighbours(glass.model.name);
    const classesOf = ({ ports }, port) => ports.find((each) => each.port === port)?.config.queues.length ?? 0;
    const ports = about.ports.map(({ port }) => port).filter((port) => port <= PORT_MAX);
    const shape = `${glass.model.name} ${ports.map((port) => [port, classesOf(about, port), classesOf(other, port)])}`;
    if (shape === this.shape) return;
    this.shape = shape;
    const { claim } = glass.side.lesson ?? {};
    const place = (port) => `port ${port}${neighbours.get(port) ? ` to ${neighbours.get(port)}` : ""}`;
    const wanted = [
      ...(claim ? [[claim.claim.title, claim.claim.measure]] : []),
      ...ports.map((port) => [`Line of ${place(port)}, how busy`, lineShare(port)]),
      ...ports.map((port) => [`Lost at ${place(port)}`, lossAt(port)]),
      ...ports.flatMap((port) => Array.from({ length: Math.min(classesOf(about, port), classesOf(other, port)) },
        (_, class_) => [`Wait at ${place(port)}, class ${class_}`, waitIn(port, class_)])),
    ];
    // The measures of the lesson have words of their own.
    const once = wanted.filter(([, { name }], index) => wanted.findIndex(([, other]) => other.name === name) === index);
    const rows = once.map(([name, measure]) => ({ name, measure, cells: [0, 1, 2].map(() => element("output", {}, "…")) }));
    const all = table(`At ${glass.model.name}, ${WINDOW_WORDS} of both networks`,
      ["", twin.own, twin.title, "difference"], rows.map(({ name, cells }) => [name, ...cells]));
    this.rows = rows.map((each, index) => ({ ...each, row: all.tBodies[0].rows[index] }));
    this.node.replaceChildren(all);
  }
}
