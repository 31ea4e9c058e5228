// Flows of a virtual world: start one, stop one, cut a cable.

import { readRate } from "../model/amounts.js";
import { element } from "./dom.js";

const CONTROLS = ["cubic", "reno", "bbr", "bbr3", "dctcp", "prague"];
const FIRST_PORT = 6001;

export class FlowsPanel {
  constructor(glass) {
    this.glass = glass;
    this.started = [];
    this.port = FIRST_PORT;
    const hosts = glass.network.hosts.map((each) => each.name);
    const choice = (values, chosen) => element("select", {}, ...values.map((each) =>
      element("option", { value: each, selected: each === chosen }, each)));
    this.from = choice(hosts, hosts[0]);
    this.to = choice(hosts, hosts.at(-1));
    this.kind = choice(["TCP", "UDP"], "TCP");
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
    const port = this.port++;
    this.said.hidden = true;
    try {
      const isTcp = this.kind.value === "TCP";
      const peer = { host: to, port };
      const sink = isTcp ? { listener: { port } } : { datagram_sink: { port } };
      const app = isTcp ? { bulk: { to: peer, congestion_control: this.control.value } }
        : { datagram_source: { to: peer, steady: { rate_bps: readRate(this.rate.value) } } };
      await glass.world.call("Start", { host: to, app: sink });
      const { app: number } = await glass.world.call("Start", { host: from, app });
      this.note(number, `${from} → ${to}, ${isTcp ? this.control.value : this.rate.value}`);
      glass.side.handles?.note({
        title: `Flow from ${from} to ${to}`, request: {}, yaml: "",
        python: `world.start("${to}", world_pb2.App(${isTcp ? `listener=world_pb2.Listener(port=${port})` : `datagram_sink=world_pb2.DatagramSink(port=${port})`}))\n`
          + `world.start("${from}", ${isTcp ? `world_pb2.App(bulk=world_pb2.Bulk(to=world_pb2.Peer(host="${to}", port=${port}), congestion_control="${this.control.value}"))` : `...`})`,
      }, "world");
    } catch (error) {
      this.said.textContent = error.message;
      this.said.hidden = false;
    }
  }

  note(number, words) {
    const stop = element("button", { type: "button", onclick: async () => {
      await this.glass.world.call("Stop", { app: number });
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
