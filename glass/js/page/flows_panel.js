// Flows of a network: start one, see all that run, stop one; in virtual time also cut a cable.

import { readRate, readSize, readSpanNs } from "../model/amounts.js";
import { APPS, CONTROLS, LIVE_APPS } from "../model/world_acts.js";
import { flowColour } from "../draw/palette.js";
import { element } from "./dom.js";

// The time between two requests for the running applications, while the panel is visible.
const LOOK_MS = 1000;

const whole = (text) => {
  if (!/^\s*[1-9][0-9]*\s*$/.test(text)) throw new Error(`“${text}” is not a whole number from 1`);
  return Number(text);
};

// The fields of each kind of application: {label, initial value, reader}.
const RATE = { rate: ["Rate", "5 Mb/s", readRate] };
const CONTROL = { control: ["Congestion control", "cubic"] };
const FIELDS = {
  TCP: { ...CONTROL, connections: ["Connections", "1", whole] },
  UDP: RATE,
  "UDP in bursts": { ...RATE, datagrams: ["Datagrams a burst", "10", whole] },
  "UDP at random": RATE,
  "UDP on and off": { ...RATE, on: ["On for", "100 ms", readSpanNs], off: ["Off for", "100 ms", readSpanNs] },
  ping: { interval: ["Every", "200 ms", readSpanNs] },
  pages: { ...CONTROL, size: ["Size of a page", "100 kB", readSize], pause: ["Pause between pages", "500 ms", readSpanNs] },
  "many short transfers": { ...CONTROL, mean: ["One begins every", "50 ms", readSpanNs], size: ["Size, a tenth to ten times", "20 kB", readSize] },
};

export class FlowsPanel {
  constructor(glass) {
    this.glass = glass;
    const hosts = glass.network.hosts.map((each) => each.name);
    this.from = choice(hosts, hosts[0]);
    this.to = choice(hosts, hosts.at(-1));
    const { controls, world } = glass.scene;
    // Those that the hosts' kernel has, where it is a real one.
    this.controls = controls?.length ? controls : CONTROLS;
    this.kind = choice(world === "live" ? LIVE_APPS : Object.keys(APPS), "TCP");
    this.kind.addEventListener("change", () => this.ask());
    this.fields = element("div", {});
    this.list = element("ul", { class: "steps", "aria-label": "What runs" });
    this.cables = element("div", {});
    this.node = element("div", {},
      this.starting = element("fieldset", {}, element("legend", {}, "A flow"),
        field("From", this.from), field("To", this.to), field("Kind", this.kind), this.fields,
        element("button", { type: "button", class: "main", onclick: () => this.do(this.starting, () => this.start()) }, "Start")),
      this.running = element("fieldset", {}, element("legend", {}, "What runs"), this.list),
      this.wiring = element("fieldset", {}, element("legend", {}, "Cables"), this.cables));
    this.ask();
  }

  // Shows each change of flows and cables, by any user, while this panel is visible.
  show() {
    const isDue = performance.now() - (this.readMs ?? -Infinity) > LOOK_MS;
    if (isDue && this.node.checkVisibility()) this.read();
  }

  ask() {
    this.inputs = Object.entries(FIELDS[this.kind.value]).map(([name, [label, value, read]]) => {
      const input = name === "control" ? choice(this.controls, value) : element("input", { type: "text", value });
      return { name, read: read ?? String, input, node: field(label, input) };
    });
    this.fields.replaceChildren(...this.inputs.map((each) => each.node));
  }

  async start() {
    const [from, to, kind] = [this.from.value, this.to.value, this.kind.value];
    const told = Object.fromEntries(this.inputs.map(({ name, read, input }) => [name, read(input.value)]));
    const said = this.inputs.map(({ input }) => input.value.trim()).join(", ");
    await this.glass.world.startApp(kind, from, { ...told, to }, `${from} → ${to}, ${kind}, ${said}`);
  }

  // A refusal is shown at its own field.
  async do(place, action) {
    place.querySelector(".refused")?.remove();
    try {
      await action();
      await this.read();
    } catch (error) {
      place.append(element("p", { class: "refused", role: "alert" }, error.message));
    }
  }

  async read() {
    this.readMs = performance.now();
    const { world } = this.glass;
    try {
      const [apps, cables] = [await world.running(), await world.cables()];
      const rows = [...apps.map((each) => [`${each.number} ${each.words}`, () => this.app(each)]),
                    ...world.passing(apps).map((each) => [`seen ${flowColour(this.glass.palette, each)} ${each.detail}`, () => this.seen(each)])];
      if (!rows.length) rows.push(["nothing", () => element("li", { class: "faint" }, "Nothing sends.")]);
      fill(this.list, rows, ([key]) => key, ([, make]) => make());
      this.wiring.hidden = !cables.length;
      fill(this.cables, cables, ({ ends, isCut }) => `${nameOf(ends[0])} ${nameOf(ends[1])} ${isCut}`, (each) => this.cable(each));
    } catch {
      // The network has gone; the next one is read anew.
    }
  }

  app({ number, words }) {
    return element("li", {}, `${words} `, element("button", {
      type: "button", "aria-label": `Stop ${words}`, onclick: () => this.do(this.running, () => this.glass.world.stop(number)),
    }, "Stop"));
  }

  // The program that started it is unknown, so it cannot be stopped here.
  seen(flow) {
    return element("li", {}, element("span", { class: "flow", style: `--flow:${flowColour(this.glass.palette, flow)}` }, flow.name),
      element("span", { class: "faint" }, ` ${flow.detail}; seen, not started by a page`));
  }

  cable({ ends: [a, b], isCut }) {
    const { world } = this.glass;
    const end = { node: a.node, port: a.port ?? undefined };
    const names = `${nameOf(a)} – ${nameOf(b)}`;
    const word = isCut ? "Mend" : "Cut";
    return element("div", { class: "field" }, `${names}${isCut ? ", cut" : ""}`, element("button", {
      type: "button", "aria-label": `${word} ${names}`,
      onclick: () => this.do(this.wiring, () => (isCut ? world.mend(end) : world.cut(end))),
    }, word));
  }
}

const nameOf = ({ node, port }) => (port === undefined ? node : `${node}:${port}`);

function field(label, input) {
  return element("label", { class: "field" }, label, input);
}

function choice(values, chosen) {
  return element("select", {}, ...values.map((each) => element("option", { value: each, selected: each === chosen }, each)));
}

// One child for each element of a list. An unchanged child stays, so that its button can still be pressed.
function fill(node, list, keyOf, make) {
  const old = new Map([...node.children].map((each) => [each.dataset.key, each]));
  const wanted = list.map((each) => {
    const made = old.get(keyOf(each)) ?? make(each);
    made.dataset.key = keyOf(each);
    return made;
  });
  const isSame = wanted.length === node.children.length && wanted.every((each, index) => each === node.children[index]);
  if (isSame) return;
  const held = node.contains(document.activeElement) ? [...node.children].findIndex((each) => each.contains(document.activeElement)) : -1;
  node.replaceChildren(...wanted);
  // The keyboard stays at its place in the list.
  if (held >= 0) (wanted[Math.min(held, wanted.length - 1)]?.querySelector("button"))?.focus();
}
