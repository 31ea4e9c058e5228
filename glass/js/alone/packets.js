// Packets built by hand: field by field with the headers of the program's parser, pasted, or taken from a capture or
// from the network; sent into a port, followed, and kept as a test.

import { element, setText } from "../page/dom.js";
import { lifeOf } from "../page/packet_panel.js";
import { areOver } from "../model/life.js";
import { read } from "../page/tables_panel.js";
import { readValue } from "../model/entries.js";
import { bitsOf, bytesOfText, completed, hexLines, hexOf, lengthOf, sayField, withBits, withLayers } from "../model/frame.js";
import { ROUTER, WORLD } from "../wire/calls.js";
import { reasonWords } from "../words.js";
import { endsAt } from "./ends.js";
import { packetsOf } from "./pcap.js";
import { testOf } from "./stf.js";

// Trace recognizes a packet by at most its first `PATTERN_BYTES` bytes.
const PATTERN_BYTES = 64;
// Why a packet is dropped on a switch without queues, too.
const PROGRAM_DROPS = new Set(["ASSERTION", "EGRESS_PROGRAM", "INGRESS_PROGRAM", "NO_REPLICA", "UNKNOWN_PORT"]);
// How far time goes at a time, and in all, for a packet that waits; in picoseconds.
const HURRY_PS = 5e9, HURRY_MAX_PS = 5e12;

export class Packets {
  // `place` has running, glass and desk of the scenario that is there.
  constructor(place) {
    this.place = place;
    this.frame = new Uint8Array(0);
    const button = (text, onclick, options = {}) => element("button", { type: "button", onclick, ...options }, text);
    this.port = element("select", { "aria-label": "Into port", onchange: () => this.look() });
    this.file = element("input", { type: "file", accept: ".pcap,.pcapng,.cap", hidden: true, "aria-label": "A capture" });
    this.file.addEventListener("change", () => this.openCapture());
    this.captured = element("select", { "aria-label": "Packet of the capture", hidden: true, onchange: () => this.show(this.list[this.captured.value].bytes) });
    this.layers = element("div", { class: "layers" });
    this.offers = element("div", { class: "row offers", role: "group", "aria-label": "Headers that could follow" });
    this.digits = element("textarea", { rows: 4, spellcheck: "false", class: "mono", "aria-label": "The packet in hexadecimal digits",
                                        onchange: () => this.paste() });
    this.isCompleted = element("input", { type: "checkbox", checked: true, onchange: () => this.put(this.frame) });
    this.said = element("p", { class: "outcome", role: "status" });
    this.sending = button("Send it in", () => this.send(), { class: "main" });
    this.keeping = button("Keep as a test", () => this.keep(), { disabled: true });
    this.hurrying = button("To its end", () => this.hurry(), { hidden: true, title: "Lets time pass until it has left" });
    this.taking = button("Take one that comes there", () => this.take());
    this.buttons = [this.sending, this.keeping, this.taking];
    this.life = element("div", { "aria-live": "polite" });
    this.node = element("section", { class: "desk packets", "aria-label": "Packets by hand", hidden: true },
      element("div", { class: "row" }, element("label", { class: "row fill" }, "Into", this.port),
        this.taking, button("Open a capture", () => this.file.click()), this.file),
      this.captured, this.layers, this.offers, this.digits,
      element("div", { class: "row" }, element("label", {}, this.isCompleted, " Lengths and checksums follow"),
        button("Begin anew", () => this.put(new Uint8Array(0)))),
      element("div", { class: "row" }, this.sending, this.hurrying, this.keeping), this.said, this.life);
  }

  // Another scenario runs.
  begin() {
    const { network, about } = this.place.running.scenario;
    this.call?.cancel();
    this.sent = this.call = undefined;
    this.life.replaceChildren();
    this.say("");
    this.taking.disabled = false;
    this.hurrying.hidden = true;
    const far = (name, port) => {
      const joined = network.cables.find((ends) => ends.some((end) => end.node === name && end.port === port));
      return joined?.find((end) => end.node !== name || end.port !== port)?.node;
    };
    const ports = network.routers.flatMap(({ name }) => [...new Set(network.cables.flat().filter((end) => end.node === name).map((end) => end.port))]
      .sort((a, b) => a - b).map((port) => ({ name, port })));
    this.port.replaceChildren(...ports.map(({ name, port }) =>
      element("option", { value: `${name} ${port}` }, `${name}, port ${port}, from ${far(name, port)}`)));
    const first = ports.find(({ name, port }) => name === about.router && port !== about.port) ?? ports[0];
    if (first) this.port.value = `${first.name} ${first.port}`;
    this.frame = new Uint8Array(0);
    if (!this.node.hidden) this.look();
  }

  // No scenario runs, for now.
  end() {
    this.call?.cancel();
    this.call = undefined;
    this.buttons.forEach((each) => (each.disabled = true));
  }

  // It is seen from now on.
  open() {
    this.look();
  }

  get target() {
    const [name, port] = this.port.value.split(" ");
    return { name, port: Number(port) };
  }

  get model() {
    return this.place.glass.models.get(this.target.name);
  }

  get program() {
    const { deviceId } = this.place.running.scenario.network.routers.find((each) => each.name === this.target.name);
    return this.place.running.scenario.programs[deviceId];
  }

  say(sentence, kind = "") {
    setText(this.said, sentence);
    this.said.className = `outcome ${kind}`;
  }

  // ---- the packet --------------------------------------------------------------------------------

  // Replaces the frame; recomputes lengths and checksums if wanted.
  async put(frame) {
    this.frame = frame;
    await this.look();
    // Somebody may have written on meanwhile.
    if (this.frame !== frame || !this.isCompleted.checked || !this.found) return;
    const made = completed(frame, this.found.layers);
    if (hexOf(made) === hexOf(frame)) return;
    this.frame = made;
    await this.look();
  }

  // Bytes that came from elsewhere are left as they are.
  show(frame) {
    this.isCompleted.checked = false;
    this.frame = frame;
    return this.look();
  }

  paste() {
    try {
      this.show(bytesOfText(this.digits.value));
    } catch (error) {
      this.say(`${error.message}.`, "bad");
    }
  }

  // Asks the program's parser what it sees.
  async look() {
    const { running } = this.place, { frame } = this;
    const found = await running.dissect(this.program, this.target.port, hexOf(frame)).catch((error) => ({ refused: error.message }));
    if (running !== this.place.running || frame !== this.frame) return;
    this.digits.value = hexLines(frame);
    this.found = found.refused ? undefined : found;
    this.say(found.refused ? `${found.refused}: the program has to be mended first.` : this.outcome(found), found.refused ? "bad" : "");
    this.sending.disabled = !frame.length;
    this.tell(found.layers ?? [], found.offers ?? []);
  }

  outcome({ layers, error }) {
    if (!this.frame.length) return "An empty packet: add a header, paste digits, or take one that comes.";
    const end = layers.length ? layers.at(-1).at + lengthOf(layers.at(-1)) : 0;
    const rest = this.frame.length - end;
    return `${this.frame.length} bytes${rest > 0 ? `, ${rest} behind what the parser reads` : ""}${error ? `; the parser stops with ${error}` : ""}.`;
  }

  tell(layers, offers) {
    const shape = JSON.stringify(layers.map(({ name, at, fields }) => [name, at, fields.map((each) => [each.name, each.at, each.width])]));
    if (shape !== this.shape) this.build(layers);
    else this.refresh();
    this.shape = shape;
    this.offers.replaceChildren(...offers.map((offer) => element("button", {
      type: "button", onclick: () => this.put(withLayers(this.frame, offer, endsAt(this.place.running.build, this.target))),
    }, `Add ${offer.layers.map((each) => each.name).join(", ")}`)));
  }

  // Other headers than before.
  build(layers) {
    const before = this.values ?? [];
    this.values = [];
    // The keyboard stays where it was, and what is being typed there.
    const held = this.layers.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : undefined;
    const typed = before.find(({ input, shown }) => input === document.activeElement && input.value !== shown)?.input.value;
    this.layers.replaceChildren(...layers.map((layer, index) => this.layer(layer, index === layers.length - 1)));
    const end = layers.length ? layers.at(-1).at + lengthOf(layers.at(-1)) : 0;
    this.layers.append(this.payload(end));
    const same = held && this.layers.querySelector(`[aria-label="${CSS.escape(held)}"]`);
    if (!same) return;
    same.focus();
    if (typed !== undefined) same.value = typed;
  }

  // The same headers with other values; the input that is being edited stays as it is.
  refresh() {
    for (const each of this.values) {
      if (each.input === document.activeElement && each.input.value !== each.shown) continue;
      each.input.value = each.shown = each.say();
    }
  }

  // An input that shows `say()` of the frame until it is edited.
  valueOf(say, write, options) {
    const shown = say();
    const value = { say, shown };
    // The browser reports no change for text typed into an input that this one has replaced.
    const take = () => {
      if (value.input.value === value.shown) return;
      value.shown = value.input.value;
      write(value.input.value);
    };
    value.input = element("input", {
      type: "text", spellcheck: "false", ...options, value: shown, onchange: take, onblur: take,
      onkeydown: ({ key }) => key === "Enter" && take(),
    });
    this.values.push(value);
    return value.input;
  }

  layer(layer, isLast) {
    const inputs = layer.fields.map((field) => {
      const name = `${layer.name}.${field.name}`;
      const input = this.valueOf(() => sayField(field, bitsOf(this.frame, field.at, field.width)),
        (text) => this.write(field, name, text), { "aria-label": name });
      return element("label", { class: "field" }, field.name, input);
    });
    const remove = element("button", { type: "button", class: "bare", "aria-label": `Remove ${layer.name}`, onclick: () => this.remove(layer) }, "Remove");
    return element("fieldset", {}, element("legend", {}, layer.name, isLast ? remove : ""), element("div", { class: "fields" }, ...inputs));
  }

  payload(from) {
    const write = (text) => {
      try {
        this.put(Uint8Array.from([...this.frame.subarray(0, from), ...bytesOfText(text)]));
      } catch (error) {
        this.say(`${error.message}.`, "bad");
      }
    };
    const input = this.valueOf(() => hexOf(this.frame.subarray(from)), write, { class: "mono", "aria-label": "Payload" });
    return element("label", { class: "field payload" }, "Payload", input);
  }

  async write({ at, width, name: field }, name, text) {
    let bytes;
    try {
      bytes = readValue({ name: field, bitwidth: width }, text);
    } catch (error) {
      return this.say(`${error.message}.`, "bad");
    }
    const value = bitsOf(bytes, 0, 8 * bytes.length);
    const wanted = withBits(this.frame, at, width, value);
    // A length or checksum written by hand stays as written, right or wrong.
    if (this.isCompleted.checked && bitsOf(completed(wanted, this.found?.layers ?? []), at, width) !== value) this.isCompleted.checked = false;
    return this.put(wanted);
  }

  // The header goes, and what led to it.
  remove(layer) {
    const from = layer.at, to = layer.at + lengthOf(layer);
    this.put(Uint8Array.from([...this.frame.subarray(0, from), ...this.frame.subarray(to)]));
  }

  // ---- from elsewhere ----------------------------------------------------------------------------

  async openCapture() {
    const [file] = this.file.files;
    this.file.value = "";
    try {
      this.list = packetsOf(new Uint8Array(await file.arrayBuffer()));
      this.captured.replaceChildren(...this.list.map(({ bytes, isCut }, index) => element("option", { value: index },
        `${index + 1}: ${bytes.length} bytes${isCut ? ", cut off" : ""}, ${this.place.glass.flows.of(bytes).name}`)));
      this.captured.hidden = false;
      await this.show(this.list[0].bytes);
    } catch (error) {
      this.say(error.message, "bad");
    }
  }

  // The next packet that comes in by the port.
  take() {
    const { glass } = this.place, { model } = this;
    this.call?.cancel();
    this.say(`Waiting for a packet that comes in by port ${this.target.port} of ${this.target.name} …`);
    this.call = glass.calls.open(model.name, ROUTER, "Trace", { ...glass.target(model), filters: [{ port: this.target.port, frames_max: 1 }] }, {
      next: ({ steps }) => {
        const came = steps.find((step) => step.kind === "received");
        if (!came) return;
        this.call?.cancel();
        this.call = undefined;
        this.show(came.received.frame.slice());
      },
      ended: (error) => error && this.say(error.message, "bad"),
    });
    glass.player.play();
  }

  // ---- into the network --------------------------------------------------------------------------

  async send() {
    const { glass } = this.place, { model, target, frame } = this;
    this.call?.cancel();
    this.keeping.disabled = true;
    this.life.replaceChildren();
    const sent = this.sent = { ...target, frame, program: this.program, steps: [], isOver: false };
    if (glass.place !== target.name) glass.enter(target.name);
    const call = glass.calls.open(model.name, ROUTER, "Trace", { ...glass.target(model), filters: [
      { port: target.port, patterns: [{ offset: 0, value: frame.slice(0, PATTERN_BYTES) }], frames_max: 1 }] }, {
      next: ({ steps }) => this.follow(sent, steps, model),
      ended: (error) => error && this.say(error.message, "bad"),
    });
    this.call = call;
    try {
      await glass.calls.call("", WORLD, "Inject", { at: { node: target.name, port: target.port }, frames: [frame] });
      this.say(`It came in by port ${target.port} of ${target.name}.`, "good");
      this.hurrying.hidden = sent.isOver;
      glass.player.play();
    } catch (error) {
      call.cancel();
      this.say(error.message, "bad");
    }
  }

  async follow(sent, steps, model) {
    if (sent !== this.sent) return;
    sent.steps.push(...steps);
    if (areOver(sent.steps)) {
      sent.isOver = true;
      this.call?.cancel();
      this.hurrying.hidden = true;
      const lost = sent.steps.find((step) => step.kind === "dropped" && !PROGRAM_DROPS.has(step.dropped));
      this.keeping.disabled = Boolean(lost);
      if (lost) this.say(`It was dropped (${reasonWords(lost.dropped)}), and a test has no queues: it cannot be kept.`);
      this.place.glass.side.program?.cover(model, sent.steps);
    }
    const { program } = await this.place.glass.side.program.of(model).catch(() => ({}));
    if (sent === this.sent) this.life.replaceChildren(...lifeOf(sent.steps, program));
  }

  // Lets time pass until the packet's life is over.
  async hurry() {
    const { glass } = this.place, { sent } = this;
    const { world } = glass, from = world.reachedPs;
    while (sent === this.sent && !sent.isOver && world.reachedPs < from + HURRY_MAX_PS) await world.pass(HURRY_PS);
    await world.catchUp();
  }

  // ---- as a test ---------------------------------------------------------------------------------

  async keep() {
    const { glass, desk } = this.place, { sent } = this;
    const model = glass.models.get(sent.name), { calls } = glass;
    try {
      const { p4info } = await glass.side.program.of(model);
      const asked = p4info.tables.map((each) => ({ table_entry: { table_id: each.preamble.id, is_default_action: true } }));
      const entities = async (list) => read(calls, model, list);
      const replication = (kind) => entities([{ packet_replication_engine_entry: { [kind]: {} } }]).catch(() => []);
      const router = {
        p4info,
        entries: (await entities([{ table_entry: {} }])).map((each) => each.table_entry),
        defaults: (await entities(asked).catch(() => [])).map((each) => each.table_entry),
        groups: (await replication("multicast_group_entry")).map((each) => each.packet_replication_engine_entry.multicast_group_entry),
        sessions: (await replication("clone_session_entry")).map((each) => each.packet_replication_engine_entry.clone_session_entry),
      };
      const out = sent.steps.filter((step) => step.kind === "transmitted").map((step) => step.transmitted);
      const dropped = sent.steps.find((step) => step.kind === "dropped")?.dropped;
      const name = `${sent.name}, port ${sent.port}: ${glass.flows.of(sent.frame).name}`;
      const text = testOf(router, { ...sent, name }, { out, dropped: dropped && reasonWords(dropped) });
      desk.addTest(sent.program, text);
      this.place.show("program");
    } catch (error) {
      this.say(error.message, "bad");
    }
  }
}
