// Flows of a virtual world: start one, stop one, cut a cable.

import { readRate } from "../model/amounts.js";
import { element } from "./dom.js";

const CONTROLS = ["cubic", "reno", "bbr", "bbr3", "dctcp", "prague"];

export class FlowsPanel {
  constructor(glass) {
    this.glass = glass;
    this.started = [];
    const hosts = glass.network.hosts.map((each) => each.name);
    const choice = (values, chosen) => element("select", {}, ...values.map((each) =>
      element("option", { value: each, selected: each === chosen }, each)));
    this.from = choice(hosts, hosts[0]);
    this.to = choice(hosts, hosts.at(-1));
    this.kind = choice(["TCP", "UDP", "ping"], "TCP");
    this.control = choice(CONTROLS, "cubic");
    this.rate = element("input", { type: "text", value: "5 Mb/s" });
    this.list = element("ul", { class: "steps" });
    this.said = element("p", { class: "refused", role: "alert", hidden: true });
    const field = (label, input) => element("label", { class: "field" }, label, input);
    this.node = element("div", {},
      element("fieldset", {}, element("legend", {}, "A flow"),
        field("From", this.from), field("To", this.to), field("Kind", this.kind),
        field("Congestion control (TCP)", this.control), field("Rate (UDP)", this.rate),
        element("button", { type: "button", class: "main", onclick: () => this.start() }, "Start"), this.said),
      element("fieldset", {}, element("legend", {}, "Started here"), this.list),
      element("fieldset", {}, element("legend", {}, "Cables"), ...this.cables()));
  }

  async start() {
    const { glass } = this;
    const [from, to] = [this.from.value, this.to.value];
    this.said.hidden = true;
    try {
      const kind = this.kind.value;
      const number = kind === "TCP" ? await glass.world.startTcp(from, to, this.control.value)
        : kind === "UDP" ? await glass.world.startUdp(from, to, readRate(this.rate.value)) : await glass.world.startPing(from, to);
      this.note(number, `${from} → ${to}, ${{ TCP: this.control.value, UDP: this.rate.value, ping: "ping" }[kind]}`);
    } catch (error) {
      this.said.textContent = error.message;
      this.said.hidden = false;
    }
  }

  note(number, words) {
    const stop = element("button", { type: "button", onclick: async () => {
      await this.glass.world.stop(number);
      item.remove();
    } }, "Stop");
    const item = element("li", {}, `${words} `, stop);
    this.list.append(item);
  }

  cables() {
    return this.glass.network.cables.map(([a, b]) => {
      const end = { node: a.node, port: a.port ?? undefined };
      const button = element("button", {
        type: "button", "aria-pressed": "false", onclick: async () => {
          const isCut = button.getAttribute("aria-pressed") === "true";
          await this.glass.world.call("Fault", isCut ? { mend: end } : { cut: end });
          button.setAttribute("aria-pressed", String(!isCut));
          button.textContent = isCut ? "Cut" : "Mend";
        },
      }, "Cut");
      return element("div", { class: "field" }, `${a.node} – ${b.node}`, button);
    });
  }
}
