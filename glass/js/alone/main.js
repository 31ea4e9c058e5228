// Where the page begins that needs nothing: compiler, routers, hosts and glass in one file.

import { Glass } from "../page/glass.js";
import { element, setText } from "../page/dom.js";
import { applyTheme } from "../page/theme.js";
import { Calls } from "../wire/calls.js";
import { readSchema } from "../wire/schema.js";
import { unpack } from "../wire/tape.js";
import { startWorker } from "../wire/worker.js";
import { Desk } from "./desk.js";
import { packed, unpacked } from "./bundle.js";
import { choose } from "./gallery.js";
import { Packets } from "./packets.js";
import { PairWay } from "./pair_way.js";
import { RecordingWay } from "./recording_way.js";
import { Faulty, Running, scenarioOf, WATCHED_PS } from "./scenario.js";
import { chooseDifference, differenceBy, differencesOf } from "./twins.js";
import { ADDRESS_LENGTH_MAX, checked, fromAddress, fromFile, shared, toAddress } from "./sharing.js";

// Behind a scenario's name: what it is compared with.
const OPEN = "#open=", TWIN = "&twin=", SHARED = "#s=";
// The programs that may run in this window, so that reloading the page does not ask again.
const TRUSTED = "vitrine.trusted";
// The changes made in this window before the page was left, so that reloading continues from there.
const KEPT = "vitrine.kept";
const PS_PER_MS = 1e9;
// Pixels that a program beside the picture needs.
const WIDE = 1200;

class Alone {
  constructor({ module, engine, kit, schema }) {
    Object.assign(this, { module, engineText: engine, files: kit.files, scenarios: kit.scenarios });
    this.schema = readSchema(schema);
    this.page = document.getElementById("page");
    this.engines = [];
    this.desk = new Desk({ swapped: () => this.swapped(), mended: () => this.again() });
    this.packets = new Packets(this);
    const button = (text, action, options = {}) => element("button", { type: "button", onclick: action, ...options }, text);
    this.title = element("h1", {});
    // The panels beside the picture, one at a time.
    this.beside = { program: this.desk, packets: this.packets };
    const toggle = (text, name, title) =>
      button(text, () => this.show(this.beside[name].node.hidden ? name : undefined), { "aria-expanded": "false", title });
    this.toggles = { program: toggle("Program", "program", "The routers' P4 programs, to read and change"),
                     packets: toggle("Packets", "packets", "Build packets of your own, send them, keep them as tests") };
    this.file = element("input", { type: "file", accept: ".json,.zip", hidden: true, "aria-label": "A scenario's file" });
    this.file.addEventListener("change", () => this.openFile());
    this.bar = element("header", { class: "alone-bar" },
      button("Scenarios", () => this.chooseScenario()), this.title, element("span", { class: "fill" }),
      this.toggles.program, this.toggles.packets,
      button("Compare", () => this.compare(), { title: "Two networks side by side that differ in one setting" }),
      button("Again", () => this.again(), { title: "Begin this network again, with the programs as they are now" }),
      button("Share", () => this.share(), { title: "Save the network, or take an address that opens it" }),
      button("Open", () => this.file.click(), { title: "Open a saved network" }), this.file);
    this.sheet = element("div", { class: "sheet", role: "status", hidden: true });
    this.body = element("main", { class: "alone" }, this.desk.node, this.packets.node, this.page);
    document.body.append(this.bar, this.sheet, this.body);
    addEventListener("hashchange", () => this.enter());
    addEventListener("pagehide", () => this.keep());
  }

  // Opens the scenario that the address names, by default the first one.
  async enter() {
    const { hash } = location, isFirst = this.own === undefined;
    if (hash === this.own) return undefined;
    this.own = hash;
    try {
      const kept = isFirst && this.kept(hash);
      const [name, twin] = hash.startsWith(OPEN) ? hash.slice(OPEN.length).split(TWIN).map(decodeURIComponent) : [];
      if (kept) return await this.begin({ ...scenarioOf(kept, kept.own ? undefined : this.named(kept.base), this.schema), twin, isKept: true });
      if (hash.startsWith(SHARED)) return await this.offer(await fromAddress(hash.slice(SHARED.length)), hash);
      if (name !== undefined) return await this.begin({ ...this.named(name), twin });
      return await this.begin(this.scenarios[0]);
    } catch (error) {
      return this.tell(error.message, ["Scenarios", () => this.chooseScenario()]);
    }
  }

  // Remembers the edits and acts of this window.
  keep() {
    const value = this.scenario && this.changes();
    const isWorth = value && (Object.keys(value.files).length || value.acts.length || value.own);
    remember(isWorth ? JSON.stringify({ hash: location.hash, value }) : "", KEPT);
  }

  // The state remembered for this address; undefined if it cannot be read.
  kept(hash) {
    try {
      const { hash: then, value } = JSON.parse(remembered(KEPT) || "{}");
      return then === hash ? checked(value) : undefined;
    } catch {
      return undefined;
    }
  }

  named(name) {
    const found = this.scenarios.find((each) => each.name === name);
    if (!found) throw new Error(`This Vitrine has no scenario "${name}": it may have been made with a later one.`);
    return found;
  }

  // Somebody else's scenario runs when one says so, and not before.
  async offer(value, address) {
    const base = value.own ? undefined : this.named(value.base);
    const scenario = scenarioOf(value, base, this.schema);
    const open = () => this.begin(scenario);
    if (address && remembered() === address) return open();
    const changed = Object.keys(value.files).length;
    this.end();
    this.scenario = this.running = undefined;
    return this.tell(`Somebody has shared a scenario with you: "${scenario.title}", with ${value.own ? "a network of its own, " : ""}`
      + `${changed === 1 ? "one changed text" : `${changed} changed texts`} and ${value.acts.length} `
      + "things done. It runs in this page alone and can reach nothing else.", ["Run it", () => {
      if (address) remember(address);
      return open();
    }], ["Scenarios", () => this.chooseScenario()]);
  }

  // ---- one scenario ----------------------------------------------------------------------------

  // `typed()`: what was written into texts since they were taken for it, if it is the same one again.
  async begin(scenario, typed) {
    this.end();
    this.scenario = scenario;
    // A scenario that restarts is still saved meanwhile.
    if (!typed) this.running = undefined;
    const turn = this.turn = {};
    setText(this.title, scenario.title);
    // A lesson has the room to itself until the reader opens the program; without a lesson, the
    // program is open.
    if (!typed && !this.isChosen) this.lay(scenario.lesson || innerWidth < WIDE ? undefined : "program");
    document.title = `${scenario.title} – Vitrine`;
    this.tell("Compiling the program …");
    try {
      const running = await this.started(scenario, turn);
      const other = scenario.twin && await this.started(scenario, turn, differenceBy(scenario));
      if (turn !== this.turn) return;
      this.running = running;
      const onTime = (ps) => this.tell(`The network settles: ${Math.round(ps / PS_PER_MS)} ms of its time have passed …`);
      const untilPs = Math.max(0, scenario.settled_ps - (running.acts.length ? 0 : WATCHED_PS));
      // Both come to an end before one is refused: how far it is would be said over that.
      const begun = await Promise.allSettled([running.begin(onTime, untilPs), other?.begin(() => {}, untilPs)]);
      const refused = begun.find(({ status }) => status === "rejected");
      if (refused) throw refused.reason;
      if (turn !== this.turn) return;
      const { way } = running.engine;
      this.way = new RecordingWay(other ? new PairWay(way, other.engine.way) : way, running.acts, running.reachedPs);
      this.way.source = (file) => running.source(file);
      this.desk.begin(running, this.files, { typed: typed?.() });
      // The program panel shows which acts these programs do not allow.
      if (running.remarks.length) this.lay("program");
      this.glass = new Glass(this.page, new Calls(this.way, this.schema), running.scene,
                             { twin: other && { calls: other.calls, ...other.difference }, again: () => this.again() });
      await this.glass.settle();
      if (turn !== this.turn) return;
      this.sheet.hidden = true;
      // For tests and for the curious.
      window.vitrine = this.glass;
      this.packets.begin();
    } catch (error) {
      if (turn === this.turn) this.failed(error, typed);
    }
  }

  // A network of the page's own, with a worker for it. It does not begin here.
  async started(scenario, turn, alter) {
    // Its bytes go to the worker, so each worker gets a copy.
    const engine = await startWorker({ engine: this.engineText, wasm: this.module.slice() }, (why) => this.broken(why));
    if (turn !== this.turn) return void engine.end();
    this.engines.push(engine);
    return new Running({ engine, calls: new Calls(engine.way, this.schema), kit: this.files, scenario, alter });
  }

  // The network does not begin; with the next good program it does.
  failed(error, typed) {
    const { running } = this, isFaulty = error instanceof Faulty;
    this.packets.end();
    if (running) {
      this.desk.begin(running, this.files, { isUp: false, why: isFaulty ? undefined : error.message, typed: typed?.() });
      this.lay("program");
    }
    if (!isFaulty) return this.tell(`The network cannot begin. ${error.message}`, ...this.waysOn());
    const first = error.said.diagnostics.find((each) => each.severity === "error");
    return this.tell(`${first.file}, line ${first.line}: ${first.title}. The network begins as soon as it is mended.`);
  }

  waysOn() {
    return [["Again", () => this.again()], ["Scenarios", () => this.chooseScenario()]];
  }

  // Routers have another program now.
  swapped() {
    this.glass.side.program?.forget();
    if (!this.packets.node.hidden) this.packets.look();
  }

  // The worker has ended: the page still shows all it received.
  broken(why) {
    this.endEngines();
    this.packets.end();
    this.glass?.lose("The network has stopped. What is remembered can still be looked at.");
    this.tell(`The network has stopped. ${why}`, ...this.waysOn());
  }

  end() {
    this.turn = undefined;
    this.desk.end();
    this.packets.end();
    this.glass?.end();
    this.glass = this.way = window.vitrine = undefined;
    this.endEngines();
    this.page.replaceChildren();
  }

  endEngines() {
    for (const engine of this.engines) engine.end();
    this.engines = [];
  }

  // The same scenario from its beginning, with the texts as they are now. Acts of this window before the page was
  // reloaded do not belong to the scenario.
  again() {
    const { acts, isKept } = this.scenario;
    const texts = this.running?.files ?? {}, before = { ...texts };
    const typed = () => Object.fromEntries(Object.entries(texts).filter(([name, text]) => text !== before[name]));
    return this.begin({ ...this.scenario, files: this.changes().files, acts: isKept ? [] : acts, isKept: false }, typed);
  }

  // The same network twice, with one setting that differs.
  async compare() {
    const { scenario, glass } = this;
    const [about] = glass?.models.get(scenario.about.router).samples.abouts ?? [];
    if (!about) return;
    const chosen = await chooseDifference(differencesOf(about, scenario.about.port), scenario.twin);
    if (chosen === undefined) return;
    this.scenario = { ...scenario, twin: chosen?.name };
    if (location.hash.startsWith(OPEN) || !location.hash) {
      this.own = `${OPEN}${encodeURIComponent(scenario.name)}${chosen ? `${TWIN}${chosen.name}` : ""}`;
      history.pushState(null, "", this.own);
    }
    await this.again();
  }

  async chooseScenario() {
    const chosen = await choose(this.scenarios, this.scenario?.name);
    if (!chosen) return;
    this.own = `${OPEN}${encodeURIComponent(chosen.name)}`;
    history.pushState(null, "", this.own);
    await this.begin(chosen);
  }

  // ---- sharing ---------------------------------------------------------------------------------

  changes() {
    const files = this.running?.files ?? { ...this.files, ...this.scenario.files };
    return shared(this.scenario, files, this.files, this.way?.acts ?? this.scenario.acts ?? []);
  }

  async share() {
    if (!this.scenario) return;
    const value = this.changes();
    const address = `${SHARED}${await toAddress(value)}`;
    this.own = address;
    remember(address);
    history.replaceState(null, "", address);
    const whole = location.href;
    const field = element("input", { type: "text", readonly: true, value: whole, "aria-label": "Address" });
    const said = element("p", { class: "faint", role: "status" },
      whole.length > ADDRESS_LENGTH_MAX ? "This address is long, and programs for mail and chat may cut it: a file is safer." : "");
    const dialog = element("dialog", { "aria-label": "Share" },
      element("h2", {}, "Share"),
      element("p", {}, "The address has all of it: what was changed in the programs, and what was done since the beginning. "
        + "It can be opened wherever this page is."),
      field, said,
      element("div", { class: "row" },
        element("button", { type: "button", class: "main", onclick: async () => {
          field.select();
          try {
            await navigator.clipboard.writeText(whole);
            setText(said, "Copied.");
          } catch {
            setText(said, "The browser does not let this page copy: press Ctrl-C.");
          }
        } }, "Copy"),
        element("button", { type: "button", onclick: () => save(`vitrine-${value.base}.json`, JSON.stringify(value)) }, "Save as a file"),
        element("button", { type: "button", onclick: () => this.savePacked(value) }, "Save as a packet of files"),
        element("button", { type: "button", onclick: () => dialog.close() }, "Close")));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  // The whole of it, as files to read and change.
  async savePacked({ base, files, acts }) {
    const read = [...(this.running?.compiled.values() ?? [])].flatMap(({ said }) => said.files);
    const tests = this.desk.testNames;
    const texts = { ...this.files, ...files };
    const names = [...new Set([...read, ...tests, ...Object.keys(files)])].filter((name) => name in texts).sort();
    const zip = await packed({ scenario: this.scenario, files: texts, names, acts, schema: this.schema });
    save(`vitrine-${base}.zip`, zip, "application/zip");
  }

  async openFile() {
    const [file] = this.file.files;
    this.file.value = "";
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      // "PK": what begins so is a packet of files.
      const isPacked = bytes[0] === 0x50 && bytes[1] === 0x4b;
      await this.offer(isPacked ? await unpacked(bytes, { schema: this.schema, kit: this.files, scenarios: this.scenarios })
        : fromFile(new TextDecoder().decode(bytes)));
    } catch (error) {
      this.tell(error.message);
    }
  }

  // ---- the frame -------------------------------------------------------------------------------

  // Nothing, the program or packets beside the picture, as the reader chooses.
  show(name) {
    this.isChosen = true;
    this.lay(name);
  }

  lay(name) {
    for (const [each, { node }] of Object.entries(this.beside)) {
      node.hidden = each !== name;
      this.toggles[each].setAttribute("aria-expanded", String(each === name));
    }
    this.body.classList.toggle("with-desk", Boolean(name));
    if (name === "packets" && this.glass) this.packets.open();
  }

  // actions: [words, function] of each button.
  tell(sentence, ...actions) {
    this.sheet.hidden = false;
    this.sheet.replaceChildren(element("p", {}, sentence), ...actions.map(([words, action], index) =>
      element("button", { type: "button", class: index ? undefined : "main", onclick: action }, words)));
  }
}

function remembered(what = TRUSTED) {
  try {
    return sessionStorage.getItem(what);
  } catch {
    return undefined;
  }
}

function remember(text, what = TRUSTED) {
  try {
    sessionStorage.setItem(what, text);
  } catch {
    // A page from a disk may not be allowed to remember; then it asks again.
  }
}

function save(name, content, type = "application/json") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function begin() {
  applyTheme();
  const page = document.getElementById("page");
  try {
    const of = (id) => unpack(document.getElementById(id).textContent);
    const [module, engine, kit, schema] = await Promise.all(["module", "engine", "kit", "schema"].map(of));
    const text = new TextDecoder();
    const alone = new Alone({ module, engine: text.decode(engine), kit: JSON.parse(text.decode(kit)), schema });
    // For tests and for the curious.
    window.vitrineAlone = alone;
    await alone.enter();
  } catch (error) {
    page.replaceChildren(element("p", { class: "whole" }, `The page cannot begin: ${error.message}. It takes a browser of `
      + "2023 or later: Firefox 113, Chromium 103 or Safari 16.4."));
  }
}

begin();
