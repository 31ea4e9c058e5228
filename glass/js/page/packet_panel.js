// One packet: what it is, and its way through the router as far as it was told.

import { span, instant, reasonWords } from "../words.js";
import { element } from "./dom.js";

export class PacketPanel {
  constructor(glass) {
    this.glass = glass;
    this.node = element("div", {}, element("p", { class: "faint" }, "Click a packet in the picture."));
  }

  entered() {
    this.packet = undefined;
  }

  show(packet) {
    this.packet = packet;
    const { insides } = this.glass.model;
    const steps = insides.steps.filter((step) => step.id === packet.id);
    const rows = steps.map((step, index) => element("li", {},
      element("b", {}, words(step)), ` at ${instant(step.timePs, 1e-6)}`,
      index ? element("span", { class: "faint" }, `, ${span((step.timePs - steps[index - 1].timePs) / 1e12)} later`) : ""));
    this.node.replaceChildren(
      element("h2", {}, packet.flow.name),
      element("p", { class: "faint" }, `${packet.flow.detail ?? "no IP packet"}${packet.flow.reverse ? ", on the way back" : ""}`),
      element("p", {}, `${packet.length} bytes, number ${packet.id}`),
      element("h3", {}, "Its way"),
      element("ul", { class: "steps" }, ...rows),
      element("h3", {}, "Its first bytes"),
      element("pre", { class: "mono" }, hex(packet.head ?? [])),
    );
  }

  refresh() {
    const { packet, glass } = this;
    if (!packet) return;
    const last = glass.model.insides.steps.findLast((step) => step.id === packet.id);
    if (last && last !== this.last) {
      this.last = last;
      this.show(packet);
    }
  }
}

function words(step) {
  switch (step.kind) {
    case "inside": return "was inside when the page began to look";
    case "received": return `came in by port ${step.packet.port}`;
    case "copied": return `came into being, a copy of packet ${step.from}`;
    case "filed": return `waits at input ${step.at.input} for output ${step.at.output}`;
    case "crossing": return `crosses to output ${step.at.output}`;
    case "queued": return `waits at port ${step.at.port}, class ${step.at.class}`;
    case "departed": return `is taken from its queue${step.marked ? ", marked" : ""}`;
    case "transmitted": return `leaves by port ${step.port}`;
    case "recirculated": return "goes through ingress again";
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
