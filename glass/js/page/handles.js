// The handles: everything that can be changed at a router, as fields; the log of acts.
//
// A field sends its act as soon as it is changed. A refusal is shown at the field, in the router's own sentence, and
// the field shows again the value in force.

import * as acts from "../model/acts.js";
import {
  readClaim, readLimit, readLoss, readProfiles, readRate, readRatio, readSession, readShaper, readShare, readSize, readSpanNs, readStalls,
  sayLimit, sayLoss, sayProfiles, sayRate, sayRatio, sayShaper, sayShare, saySize, saySpanNs, sayStalls,
} from "../model/amounts.js";
import { settingsOf } from "../model/samples.js";
import { arbiterName } from "../words.js";
import { startingTree } from "../model/hierarchy.js";
import { element, setText } from "./dom.js";
import { hierarchyFields } from "./hierarchy_form.js";
import { Steering } from "./steering.js";

const BILLION = 1e9;
// Of more ports only those that are opened have their fields on the page.
const OPEN_PORTS_MAX = 12;

export class Handles {
  constructor(glass) {
    this.glass = glass;
    this.steering = new Map();
    this.done = [];
    this.turn = Promise.resolve();
    this.fields = element("div", {});
    this.entries = element("div", { class: "log" });
    this.undo = element("button", { type: "button", disabled: true, onclick: () => this.takeBack() }, "Undo");
    this.node = element("div", {}, this.fields);
    this.said = element("p", { class: "faint", role: "status" });
    this.undoing = element("div", {}, element("div", { class: "row" }, this.undo), this.said);
    this.log = element("div", {}, this.undoing,
      element("p", { class: "faint" }, "What you do stands here as text: for a topology or qos file, for Python, for a shell."),
      this.entries);
  }

  get about() {
    return this.glass.model.samples.abouts.at(-1);
  }

  // Draws the fields anew when the configuration has changed, unless one of them is being edited.
  show() {
    const { about, glass } = this;
    if (!about) return;
    const shape = `${glass.model.name} ${settingsOf(about)}`;
    if (shape === this.shape || this.fields.contains(document.activeElement)
      && document.activeElement.matches("input, textarea")) return;
    this.shape = shape;
    // A refusal stays beside its field, until the field is changed again.
    const refusals = this.drawn === glass.model ? [...this.fields.querySelectorAll(".refused[data-of]")] : [];
    this.drawn = glass.model;
    const open = new Set([...this.fields.querySelectorAll("details[open]")].map((each) => each.dataset.id));
    const focused = document.activeElement?.dataset?.field;
    const ports = about.ports.filter((each) => each.port < 510);
    this.fields.replaceChildren(this.inputStage(about),
      ...ports.map((each) => (ports.length > OPEN_PORTS_MAX ? this.folded(each) : this.port(each))), this.buffer(about), this.anotherPort(about));
    for (const each of this.fields.querySelectorAll("details")) each.open = open.has(each.dataset.id);
    for (const each of refusals) this.fieldOf(each.dataset.of)?.closest("label").parentElement.append(each);
    if (focused) this.fieldOf(focused)?.focus();
  }

  fieldOf(id) {
    return this.fields.querySelector(`[data-field="${CSS.escape(id)}"]`);
  }

  // ---- acting ----------------------------------------------------------------------------------

  // Resolves to whether the router has done it. `undo` is the act that takes it back, where that does not follow from
  // the earlier configuration; `id` is the field's.
  act(act, place, undo, id) {
    const { model } = this.glass;
    return this.inTurn(() => this.carryOutAndLog(model, act, place, undo, id));
  }

  // Acts are carried out one after the other, in the order in which they were requested. Side by side, the later one
  // could be ready first, and Undo would take the earlier one back before it.
  inTurn(work) {
    const ended = this.turn.then(work);
    this.turn = ended.catch(() => {});
    return ended;
  }

  async carryOutAndLog(model, act, place, undo, id) {
    const before = model.samples.abouts.at(-1);
    if (!await this.carryOut(model, act, place, id)) return false;
    this.did(act, model.name, undo ? () => undo : (act.request && ((now) => acts.inverse(act, before, now))));
    return true;
  }

  // Something was done: it is in the log, and `undo`, given what is in force then, makes the act that
  // takes it back. Without one, `whyNot` says why there is none.
  did(act, router, undo, whyNot) {
    const { player, world } = this.glass;
    this.done.push({ act, router, undo, whyNot, timePs: world?.reachedPs || player.toldPs });
    this.note(act, router);
  }

  // Acts of the world (`calls`) are the network's, others are the router's of `model`.
  async carryOut(model, act, place, id) {
    const { glass } = this;
    place?.querySelector(".refused")?.remove();
    try {
      if (act.calls) await glass.world.perform(act);
      else if (act.updates) await this.steeringOf(model).write(act.updates);
      else if (act.portCall) await this.steeringOf(model).changePorts(...act.portCall);
      else await this.steeringOf(model).configure(act.request);
    } catch (error) {
      this.refuse(error.message, place, id);
      return false;
    }
    if (!act.calls) await glass.describe(model);
    await glass.world?.catchUp();
    this.shape = "";
    this.show();
    return true;
  }

  steeringOf(model) {
    if (!this.steering.has(model.name)) this.steering.set(model.name, new Steering(this.glass.calls, model));
    return this.steering.get(model.name);
  }

  unrefuse(id) {
    for (const each of this.fields.querySelectorAll(`.refused[data-of="${CSS.escape(id)}"]`)) each.remove();
  }

  refuse(sentence, place, id) {
    // A field shows again what is in force.
    if (id) this.shape = "";
    // One sentence at a field, the last one.
    if (id) this.unrefuse(id);
    const words = element("p", { class: "refused", role: "alert", "data-of": id }, sentence);
    if (place?.isConnected) place.append(words);
    else this.fields.prepend(words);
  }

  // Pressed while an act is in flight, it takes that one back as soon as it is done; pressed again before it has taken
  // anything back, it does nothing.
  async takeBack() {
    if (this.isTakingBack) return;
    this.isTakingBack = true;
    setText(this.said, "");
    try {
      await this.inTurn(() => this.takeLastBack());
    } finally {
      this.isTakingBack = false;
      this.undo.disabled = this.done.length === 0;
    }
  }

  async takeLastBack() {
    const last = this.done.at(-1);
    if (!last) return;
    const { glass } = this;
    if (last.router && glass.model.name !== last.router) glass.enter(last.router);
    const act = last.undo?.(this.about);
    if (!act) {
      setText(this.said, `“${last.act.title}” cannot be taken back: ${last.whyNot ?? "nothing tells what was there before."}`);
      this.forget(last);
    } else if (await this.carryOut(glass.model, act, this.undoing)) {
      this.forget(last);
      this.note(act, last.router);
      if (act.updates) glass.side.program.wrote();
      if (act.calls) glass.side.flows?.read();
    }
  }

  // Something else may have been done meanwhile.
  forget(done) {
    this.done.splice(this.done.indexOf(done), 1);
  }

  // All that was done and can be taken back.
  async takeAllBack() {
    for (let left = this.done.length; left; left = this.done.length) {
      await this.takeBack();
      // Refused: it stays as it is.
      if (this.done.length === left) this.done.pop();
    }
    this.undo.disabled = true;
  }

  // The log of acts, for a report.
  get told() {
    return this.done.map(({ act, router, timePs }) => (
      { title: router ? `${router}, ${act.title}` : act.title, timePs, text: act.python || act.yaml || act.prompt || "" }));
  }

  // The address for commands: routers in virtual time share one and are distinguished behind a slash.
  addressOf(router) {
    const { scene } = this.glass;
    const found = scene.routers.find((each) => each.name === router);
    return found && scene.world === "virtual" && !/\/\d+$/.test(found.address) ? `${found.address}/${found.deviceId}` : found?.address;
  }

  note(act, router) {
    const address = this.addressOf(router);
    const shell = act.shell ? act.shell : act.yaml && act.request?.ports?.[0]?.config.link === undefined && address
      ? `build/venv/bin/python -m apps.qos --router ${address} /dev/stdin <<'END'\n${act.yaml}\nEND` : "";
    const forms = [["YAML", act.yaml], ["Python", act.python], ["Shell", shell], ["At the prompt of vitrine up", act.prompt]].filter(([, text]) => text);
    this.entries.prepend(element("article", {},
      element("b", {}, router ? `${router}, ${act.title}` : act.title),
      ...forms.map(([name, text]) => element("div", {},
        element("span", { class: "faint" }, name),
        element("pre", {}, text)))));
    while (this.entries.children.length > 50) this.entries.lastChild.remove();
    this.undo.disabled = this.done.length === 0;
  }

  // ---- fields ----------------------------------------------------------------------------------

  text(id, label, value, read, act) {
    const input = element("input", {
      type: "text", value, "data-field": id, onchange: () => {
        try {
          this.act(act(read(input.value)), field.parentElement, undefined, id);
        } catch (error) {
          this.refuse(error.message, field.parentElement, id);
        }
      },
      onkeydown: (event) => {
        if (event.key === "Escape") input.value = value;
      },
      // A field that is being corrected shows no refusal.
      oninput: () => this.unrefuse(id),
    });
    const field = element("label", { class: "field" }, label, input);
    return field;
  }

  choice(id, label, value, options, act) {
    const select = element("select", {
      "data-field": id, onchange: () => this.act(act(select.value), field.parentElement, undefined, id),
    }, ...options.map(([key, text]) => element("option", { value: key, selected: key === value }, text)));
    const field = element("label", { class: "field" }, label, select);
    return field;
  }

  // The values of an enum of vitrine.v1 that can be chosen.
  names(name) {
    return this.glass.calls.schema.enum(`vitrine.v1.${name}`).chosen;
  }

  inputStage(about) {
    const { input } = about;
    const changed = (change, title) => acts.inputStage({ ...input, ...change }, title);
    const kinds = [["NONE", "none"], ["FIFO", "one FIFO each"], ["VOQ", "virtual output queues"]];
    const rows = [this.choice("queueing", "Queues at the inputs", input.queueing, kinds,
                              (queueing) => acts.inputStage(acts.stageOf(about, queueing)))];
    if (input.queueing !== "NONE") {
      rows.push(
        this.choice("arbiter", "Arbiter", input.arbiter, this.names("Arbiter").map((each) => [each, arbiterName(each)]),
                    (arbiter) => changed({ arbiter }, `Arbiter: ${arbiterName(arbiter)}`)),
        this.choice("iterations", "Rounds", String(input.iterations || 1), [1, 2, 3, 4, 8].map((each) => [String(each), String(each)]),
                    (rounds) => changed({ iterations: Number(rounds) }, `${rounds} rounds of the arbiter`)),
        this.text("speedup", "Speedup", sayRatio(input.speedup ?? { over: 1, under: 1 }), readRatio,
                  (speedup) => changed({ speedup }, `Speedup ${sayRatio(speedup)}`)),
        this.text("input rate", "Line of the crossbar", sayRate(input.rate_bps), readRate,
                  (rate_bps) => changed({ rate_bps }, `Crossbar for lines of ${sayRate(rate_bps)}`)),
        this.text("input limit", "Limit of an input", sayLimit(input.limit), readLimit,
                  (limit) => changed({ limit }, `Inputs hold ${sayLimit(limit)}`)));
    }
    if (input.queueing === "VOQ") {
      rows.push(this.text("voq limit", "Limit of a VOQ", sayLimit(input.voq_limit), readLimit,
                          (voq_limit) => changed({ voq_limit }, `VOQs hold ${sayLimit(voq_limit)}`)));
    }
    if (input.queueing !== "NONE") {
      rows.push(this.choice("lossy", "A full output queue", input.lossy ? "yes" : "no",
                            [["no", "holds packets back"], ["yes", "drops"]],
                            (lossy) => changed({ lossy: lossy === "yes" }, "What a full output queue does")));
    }
    return element("fieldset", {}, element("legend", {}, "Inputs and crossbar"), ...rows);
  }

  useVoqs() {
    return this.act(acts.inputStage(acts.stageOf(this.about, "VOQ")));
  }

  useFifos() {
    return this.act(acts.inputStage(acts.stageOf(this.about, "FIFO")));
  }

  // A port of many: its fields are made when it is opened.
  folded(each) {
    const details = element("details", { "data-id": `port ${each.port}`, ontoggle: () => {
      if (details.open && details.children.length === 1) details.append(this.port(each));
    } }, element("summary", {}, `Port ${each.port}`));
    return details;
  }

  port({ port, config, device }) {
    const neighbour = this.glass.network.neighbours(this.glass.model.name).get(port);
    const title = neighbour ? `Port ${port}, to ${neighbour}` : `Port ${port}`;
    const id = (what) => `${what} ${port}`;
    const isOne = config.queues.length === 1;
    return element("fieldset", {}, element("legend", {}, title),
      this.text(id("rate"), "Line", sayRate(config.rate_bps), readRate, (bps) => acts.lineRate(port, bps)),
      this.choice(id("classes"), "Queues (classes)", String(config.queue_count),
                  [1, 2, 3, 4, 5, 6, 7, 8].map((each) => [String(each), String(each)]),
                  (count) => acts.queueCount(port, Number(count))),
      ...(isOne ? [] : this.scheduler(port, config)),
      ...config.queues.flatMap((each) => this.queue(port, each, config.queue_count)),
      element("details", { "data-id": `more ${port}` },
        element("summary", {}, "Cable, shapers, limits over all queues"),
        this.text(id("limit"), "Limit over all queues", sayLimit(config.limit), readLimit,
                  (limit) => acts.portLimit(port, limit)),
        this.text(id("shaper"), "Shaped to", sayShaper(config.shaper), readShaper,
                  (shaper) => acts.portShaper(port, shaper)),
        this.text(id("overhead"), "Added to each frame on the line", saySize(config.overhead_bytes), readSize,
                  (bytes) => acts.lineOverhead(port, bytes)),
        this.text(id("window"), "Utilisation is taken over", saySpanNs(config.utilisation_window_ns), readSpanNs,
                  (ns) => acts.utilisationWindow(port, ns)),
        ...this.sender(port, config.link?.sender),
        ...this.cable(port, "transmit", "out", config.link?.transmit),
        ...this.cable(port, "receive", "in", config.link?.receive),
        this.removal(port, device, config)),
      element("details", { "data-id": `whole ${port}` },
        element("summary", {}, "Everything of this port, in the words of vitrine.v1"), this.whole(port, config)));
  }

  scheduler(port, config) {
    const groups = config.scheduler?.groups ?? [];
    const [first] = groups;
    const isStrict = groups.length === config.queues.length;
    const kind = config.scheduler?.hierarchy ? "hierarchy" : isStrict ? "strict" : groups.length === 1 ? first.discipline : "groups";
    const weights = config.queues.map(({ class: class_ }) =>
      groups.flatMap((each) => each.members).find((each) => each.class === class_)?.weight ?? 1);
    const disciplines = this.names("Discipline");
    const options = [["strict", "strict priority"], ...disciplines.map((each) => [each, each]), ["hierarchy", "a hierarchy"]];
    if (kind === "groups") options.push([kind, "groups (see below)"]);
    const tree = () => startingTree(config.queues.map((each) => each.class), config.rate_bps ?? 0);
    const rows = [this.choice(`scheduler ${port}`, "Who goes first", kind, options, (chosen) =>
      (chosen === "hierarchy" ? acts.hierarchy(port, tree()) : acts.scheduler(port, chosen, weights)))];
    if (kind === "hierarchy") rows.push(...hierarchyFields(this, port, config.scheduler.hierarchy));
    if (disciplines.includes(kind)) {
      const read = (text) => {
        const list = text.split(":").map((each) => Number(each.trim()));
        if (list.length !== weights.length || list.some((each) => !Number.isInteger(each) || each < 1)) {
          throw new Error(`give ${weights.length} whole numbers, class 0 first: ${weights.join(":")}`);
        }
        return list;
      };
      rows.push(this.text(`weights ${port}`, "Weights, class 0 first", weights.join(":"), read,
                          (list) => acts.scheduler(port, kind, list)));
    }
    return rows;
  }

  queue(port, queue, count) {
    const { class: class_ } = queue;
    const isOne = count === 1;
    const of = isOne ? "" : `Class ${class_}: `;
    const kinds = [...this.glass.calls.schema.message("vitrine.v1.Aqm").byName.keys()];
    const kind = queue.aqm?.kind ?? "";
    return [
      this.text(`queue ${port} ${class_}`, `${of}${of ? "limit" : "Limit of the queue"}`, sayLimit(queue.limit), readLimit,
                (limit) => acts.queueLimit(port, class_, count, limit)),
      this.choice(`aqm ${port} ${class_}`, `${of}${of ? "management" : "Queue management"}`, kind,
                  [["", "none"], ...kinds.map((each) => [each, each.replace("_", " ")])],
                  (chosen) => acts.queueManagement(port, class_, count, chosen, chosen === "ecn_step" ? { threshold: { packets: 10 } } : {})),
      ...(kind ? [this.parameters(port, class_, count, kind, queue.aqm[kind])] : []),
      ...(isOne ? [] : [this.text(`shaper ${port} ${class_}`, `${of}shaped to`, sayShaper(queue.shaper), readShaper,
                                  (shaper) => acts.queueShaper(port, class_, count, shaper))]),
      ...(this.about.buffer?.size_bytes ? this.claim(port, queue, count, of) : []),
    ];
  }

  // The limits of a queue in the shared buffer.
  claim(port, { class: class_, share = {} }, count, of) {
    const changed = (change, words) => acts.bufferShare(port, class_, count, { ...share, ...change }, words);
    const label = (text) => `${of}${text}`;
    return [
      this.text(`alpha ${port} ${class_}`, label("times the free memory (alpha)"), sayRatio(share.alpha), readClaim,
                (alpha) => changed({ alpha }, `alpha ${sayRatio(alpha)}`)),
      this.text(`minimum ${port} ${class_}`, label("memory of its own"), saySize(share.minimum_bytes), readSize,
                (minimum_bytes) => changed({ minimum_bytes }, `${saySize(minimum_bytes)} of memory of its own`)),
    ];
  }

  // The neighbour's network card: how fast it sends, and what may wait in it.
  sender(port, card = {}) {
    const changed = (change, words) => acts.sender(port, { ...card, ...change }, words);
    const say = (bps) => (bps === undefined ? "as the line" : bps ? sayRate(bps) : "unlimited");
    const read = (text) => (/^\s*as the line\s*$/i.test(text) ? undefined : /^\s*unlimited\s*$/i.test(text) ? 0 : readRate(text));
    return [
      this.text(`sender ${port}`, "The neighbour's card: rate", say(card.rate_bps), read,
                (rate_bps) => changed({ rate_bps }, `rate ${say(rate_bps)}`)),
      this.text(`backlog ${port}`, "The neighbour's card: what waits", sayLimit(card.backlog), readLimit,
                (backlog) => changed({ backlog }, `holds ${sayLimit(backlog)}`)),
    ];
  }

  // The parameters of a method of queue management: the fields of its message, by the units in their names.
  parameters(port, class_, count, kind, values) {
    const type = this.glass.calls.schema.message("vitrine.v1.Aqm").byName.get(kind).type;
    const given = (name, value) => acts.queueManagement(port, class_, count, kind, { ...plain(type, values), [name]: value });
    const rows = [...type.byName.values()].map((field) => {
      const value = values[field.name];
      const id = `aqm ${port} ${class_} ${field.name}`;
      const name = field.name.replace(/_(ns|bytes|ppm|packets)$/, "").replaceAll("_", " ");
      if (field.kind === "bool") {
        return this.choice(id, name, value ? "yes" : "no", [["yes", "yes"], ["no", "no"]], (each) => given(field.name, each === "yes"));
      }
      const [say, read] = unitOf(field);
      return this.text(id, name, say(value), read, (each) => given(field.name, each));
    });
    return element("details", { "data-id": `aqm ${port} ${class_}` }, element("summary", {}, `Parameters of ${kind.replace("_", " ")}`), ...rows);
  }

  cable(port, direction, word, line) {
    const now = line ?? {};
    const changed = (change, words) => acts.cable(port, direction, { ...now, ...change }, words);
    const share = (name, label) => this.text(`${name} ${direction} ${port}`, `Cable ${word}: ${label}`,
      sayShare(now[`${name}_ppb`], BILLION), (text) => readShare(text, BILLION),
      (ppb) => changed({ [`${name}_ppb`]: ppb }, `${name}: ${sayShare(ppb, BILLION)}`));
    return [
      this.text(`delay ${direction} ${port}`, `Cable ${word}: delay`, saySpanNs(now.delay_ns), readSpanNs,
                (delay_ns) => changed({ delay_ns }, `delay: ${saySpanNs(delay_ns)}`)),
      this.text(`loss ${direction} ${port}`, `Cable ${word}: loss`, sayLoss(now.loss), readLoss,
                (loss) => changed({ loss }, `loss: ${sayLoss(loss)}`)),
      this.text(`jitter ${direction} ${port}`, `Cable ${word}: jitter`, saySpanNs(now.jitter?.max_ns), readSpanNs,
                (max_ns) => changed({ jitter: { ...now.jitter, max_ns } }, `jitter: ${saySpanNs(max_ns)}`)),
      this.text(`stalls ${direction} ${port}`, `Cable ${word}: stalls`, sayStalls(now.stalls), readStalls,
                (stalls) => changed({ stalls }, `stalls: ${sayStalls(stalls)}`)),
      this.choice(`reorder ${direction} ${port}`, `Cable ${word}: frames may overtake`, now.jitter?.reorder ? "yes" : "no",
                  [["no", "no"], ["yes", "yes"]],
                  (reorder) => changed({ jitter: { ...now.jitter, reorder: reorder === "yes" } }, `reorder: ${reorder}`)),
      share("corruption", "corruption"), share("duplication", "duplication"),
    ];
  }

  buffer(about) {
    return element("fieldset", {}, element("legend", {}, "Memory"),
      this.text("buffer", "Shared by all output queues", saySize(about.buffer?.size_bytes), readSize,
                (bytes) => acts.sharedBuffer(bytes)),
      this.text("mirror", "Copies of drops go to clone session", String(about.drop_mirror?.clone_session ?? "none"), readSession,
                (session) => acts.dropMirror(session)));
  }

  // Packets in the queues of a removed port are lost, and counted; the cable stays where it is.
  removal(port, device, config) {
    const place = element("div", { class: "row" }, element("button", {
      type: "button", onclick: () => this.act(acts.removePort(port), place, acts.undone(acts.removePort(port), acts.addPort(port, device, config))),
    }, `Remove port ${port}`));
    return place;
  }

  // A network device that becomes a port: those that the switch was started with, or told to expect.
  anotherPort(about) {
    const free = Math.max(0, ...about.ports.map((each) => each.port).filter((each) => each < 510)) + 1;
    const number = element("input", { type: "text", inputmode: "numeric", value: String(free), "data-field": "new port" });
    const device = element("input", { type: "text", value: `${this.glass.model.name}-eth${free}`, "data-field": "new device" });
    const place = element("details", { "data-id": "another port" }, element("summary", {}, "Another port"),
      element("label", { class: "field" }, "Number", number),
      element("label", { class: "field" }, "Network device", device),
      element("button", { type: "button", onclick: () => {
        const port = Number(number.value);
        if (!Number.isInteger(port)) return this.refuse(`“${number.value}” is not a whole number`, place);
        const add = acts.addPort(port, device.value.trim());
        return this.act(add, place, acts.undone(add, acts.removePort(port)));
      } }, "Add port"));
    return place;
  }

  whole(port, config) {
    const area = element("textarea", { rows: 12, style: "width:100%", "aria-label": `PortConfig of port ${port}, as JSON`, class: "mono", spellcheck: "false" });
    area.value = JSON.stringify(config, (key, value) => (value === undefined ? undefined : value), 1);
    const apply = element("button", {
      type: "button", onclick: () => {
        try {
          this.act(acts.wholePort(port, JSON.parse(area.value), config.queue_count), area.parentElement);
        } catch (error) {
          this.refuse(error.message, area.parentElement);
        }
      },
    }, "Apply");
    return element("div", {}, area, apply);
  }
}

function unitOf(field) {
  // The only list there is.
  if (field.name === "profiles") return [sayProfiles, readProfiles];
  if (field.name.endsWith("_ns")) return [saySpanNs, readSpanNs];
  if (field.name.endsWith("_bytes")) return [saySize, readSize];
  if (field.name.endsWith("_ppm")) return [(value) => sayShare(value, 1e6), (text) => readShare(text, 1e6)];
  if (field.kind === "message" && field.type.name.endsWith("Ratio")) return [sayRatio, readRatio];
  if (field.kind === "message") return [sayLimit, readLimit];
  return [(value) => String(value ?? ""), (text) => {
    if (!/^\s*[0-9]+\s*$/.test(text)) throw new Error(`“${text}” is not a whole number`);
    return Number(text);
  }];
}

// A message without what was not set.
function plain(type, values) {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== undefined && type.byName.has(name)));
}
