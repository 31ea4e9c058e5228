// One packet: its headers, and its known steps through the router.

import { patternsOf } from "../model/flows.js";
import { areOver, familiesOf, framesOf, headerWords, lifeLines } from "../model/life.js";
import { ROUTER } from "../wire/calls.js";
import { span, instant, reasonWords } from "../words.js";
import { element, table } from "./dom.js";

export class PacketPanel {
  constructor(glass) {
    this.glass = glass;
    this.node = element("div", {}, element("p", { class: "faint" }, "Click a packet in the picture."));
    this.known = new Map();
    // The life of a packet that was followed.
    this.life = element("div", { "aria-live": "polite" });
  }

  entered() {
    this.packet = undefined;
  }

  // Packets that were followed while a recording was made, by their numbers: those that came into being
  // as copies belong to the one that came in.
  know(model, steps) {
    for (const step of steps) {
      const key = `${model.name} ${step.packet}`;
      const from = step.kind === "copied" && this.known.get(`${model.name} ${step.copied.from}`);
      if (!this.known.has(key)) this.known.set(key, from || []);
      this.known.get(key).push(step);
    }
  }

  // Traces the next packet of the same flow: what the program does with it, step by step.
  follow(packet) {
    const { glass } = this;
    const { model } = glass;
    this.call?.cancel();
    this.life.replaceChildren(element("p", { class: "faint" }, "Waiting for the next packet of this flow …"));
    const steps = [];
    const end = (sentence) => {
      this.call?.cancel();
      this.call = undefined;
      if (sentence) this.life.replaceChildren(element("p", { class: "refused", role: "alert" }, sentence));
    };
    this.call = glass.calls.open(model.name, ROUTER, "Trace", {
      ...glass.target(model), filters: [{ patterns: patternsOf(packet.head), frames_max: 1 }],
    }, {
      next: (message) => {
        steps.push(...message.steps);
        if (steps.length) this.tell(steps);
        if (areOver(steps)) {
          end();
          glass.side.program.cover(model, steps);
        }
      },
      ended: (error) => end(error?.message),
    });
  }

  async tell(steps) {
    const { program } = await this.glass.side.program.of(this.glass.model).catch(() => ({}));
    this.life.replaceChildren(...lifeOf(steps, program, (place) => this.glass.side.showLine(place)));
  }

  show(packet) {
    if (packet.id !== this.packet?.id) {
      this.life.replaceChildren();
      const followed = this.known.get(`${this.glass.model.name} ${packet.id}`);
      if (followed) this.tell(followed);
      else if (this.known.size) {
        this.life.replaceChildren(element("p", { class: "faint" },
          "This one was not followed through the program; of the run's packets some were."));
      }
    }
    this.packet = packet;
    this.way = element("ul", { class: "steps" });
    this.tellWay();
    this.node.replaceChildren(
      element("h2", {}, packet.flow.name),
      element("p", { class: "faint" }, `${packet.flow.detail ?? "no IP packet"}${packet.flow.reverse ? ", on the way back" : ""}`),
      element("p", {}, `${packet.length} bytes, number ${packet.id}`),
      ...(this.glass.scene.world === "recorded" || this.glass.scene.readOnly ? [] : [element("button", {
        type: "button", class: "main", onclick: () => this.follow(packet),
      }, "Follow the next one through the program")]),
      this.life,
      element("h3", {}, "Its way"),
      this.way,
      element("h3", {}, "Its first bytes"),
      element("pre", { class: "mono" }, hex(packet.head ?? [])),
    );
  }

  // Its steps until the instant of the picture: the network may be ahead of it.
  get steps() {
    const { model, shownPs } = this.glass;
    return model.insides.steps.filter((step) => step.id === this.packet.id && step.timePs <= shownPs);
  }

  // Shows its steps until now.
  tellWay(steps = this.steps) {
    this.toldSteps = steps.length;
    this.way.replaceChildren(...steps.map((step, index) => element("li", {},
      element("b", {}, words(step, steps.slice(0, index + 1))), ` at ${instant(step.timePs, 1e-6)}`,
      index ? element("span", { class: "faint" }, `, ${span((step.timePs - steps[index - 1].timePs) / 1e12)} later`) : "")));
  }

  refresh() {
    if (!this.packet) return;
    const { steps } = this;
    // Forgotten steps stay where they were read. The rest stays, too, so that its buttons can still be pressed.
    if (steps.length && steps.length !== this.toldSteps) this.tellWay(steps);
  }
}

// `until`: its steps up to this one.
function words(step, until) {
  switch (step.kind) {
    case "inside": return "was inside when the page began to look";
    case "received": return `came in by port ${step.packet.port}`;
    case "copied": return `came into being, a copy of packet ${step.from}`;
    case "filed": return `waits at input ${step.at.input} for output ${step.at.output}`;
    case "crossing": return `crosses to output ${step.at.output}`;
    case "queued": return `waits at port ${step.at.port}, class ${step.at.class}`;
    case "departed": return `is taken from its queue${step.marked ? ", marked" : ""}`;
    case "transmitted": return `leaves by port ${step.port}`;
    case "recirculated": return `goes through ingress again, recirculated ${until.filter((each) => each.kind === "recirculated").length} ×`;
    case "replicated_by": return "ends: its copies go on";
    default: return `is dropped: ${reasonWords(step.reason)}`;
  }
}

function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)].map((each) => each.toString(16).padStart(2, "0"));
    lines.push(`${at.toString(16).padStart(4, "0")}  ${row.join(" ")}`);
  }
  return lines.join("\n");
}

// Traces of packets as a tree: copies stand below their originals. `lead(place)` goes to a line of the program.
export function lifeOf(steps, program, lead) {
  return [element("h3", {}, "Through the program"), ...familiesOf(steps).map((each) => branch(each, program, lead))];
}

function branch({ packet, steps, copies }, program, lead) {
  return element("div", { class: "branch" },
    element("ul", { class: "steps", "aria-label": `Packet ${packet}` }, ...lifeLines(steps, program).map((line) => lineItem(line, lead))),
    ...framesOf(steps, program).map(frameDetails),
    ...copies.map((each) => branch(each, program, lead)));
}

// A frame: its headers with all their fields, and all of its bytes.
function frameDetails({ title, frame, headers }) {
  const written = headers.filter((each) => each.isNew).map((each) => headerWords(each.name));
  const rows = headers.flatMap(({ name, fields, isNew }) => fields.map((each) => [`${headerWords(name)}${isNew ? ", new" : ""}`, each.name, each.text]));
  return element("details", {},
    element("summary", {}, `${title}: ${frame.length} bytes${written.length ? `, with ${written.join(", ")}` : ""}`),
    element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Headers: ${title}` }, table("Headers", ["header", "field", "value"], rows)),
    element("pre", { class: "mono wide", tabindex: 0, role: "region", "aria-label": `All bytes: ${title}` }, hex(frame)));
}

function lineItem({ head, text, place, was, is, isControl }, lead) {
  if (isControl) return element("li", {}, element("b", {}, text));
  const words = place && `${place.file}:${place.line}`;
  return element("li", {},
    head ? element("span", { class: "faint" }, `${head} `) : "", text,
    was === undefined ? "" : element("span", { class: "was" }, was),
    was === undefined ? "" : " → ",
    is === undefined ? "" : element("span", { class: "is" }, is),
    !place ? "" : lead ? element("button", { type: "button", class: "bare mono place", title: "Show it in the program", onclick: () => lead(place) }, words)
      : element("span", { class: "faint mono" }, `  ${words}`));
}
