// The program of a router: its source with how often packets that were followed ran each line, its
// graphs, its tables and cells; one at a time.

import { Coverage, Program } from "../model/program.js";
import { P4RUNTIME, ROUTER } from "../wire/calls.js";
import { instant } from "../words.js";
import { element, setText } from "./dom.js";
import { graphView } from "./graph_view.js";
import { CellsPanel } from "./cells_panel.js";
import { TablesPanel } from "./tables_panel.js";

// How many packets are followed at a time.
const FOLLOWED = 50;
const SHOWN_MS = 400;
// The time between two checks whether a router still has the known program.
const CHECKED_MS = 2000;
const PARTS = { source: "Source", tables: "Tables", cells: "Counters, meters, registers", parser: "Parser graph",
                ingress: "Ingress graph", egress: "Egress graph" };

export class ProgramPanel {
  constructor(glass) {
    this.glass = glass;
    this.known = new Map();
    // When each router was last asked.
    this.checked = new Map();
    this.sources = new Map();
    // Files stay open, or closed, as the viewer has left them.
    this.open = new Map();
    this.part = "source";
    this.isRecorded = glass.scene.world === "recorded";
    this.tables = new TablesPanel(glass, this);
    this.cells = new CellsPanel(glass, this);
    this.said = element("p", { class: "faint", role: "status" });
    this.buttons = Object.entries(PARTS).map(([part, title]) => element("button", {
      type: "button", "data-part": part, onclick: () => this.choose(part),
    }, title));
    this.parts = element("div", { class: "row", role: "group", "aria-label": "Parts of the program" }, ...this.buttons);
    // A router traces for one client at a time: not for those who only look.
    this.follow = this.isRecorded || glass.scene.readOnly ? ""
      : element("button", { type: "button", onclick: () => this.followMany() }, `Follow ${FOLLOWED} packets`);
    this.content = element("div", {});
    this.node = element("div", {}, this.parts, element("div", { class: "row" }, this.follow, this.said), this.content);
  }

  // {program, p4info, coverage, cookie} of a router; read once, and again when it has another program.
  async of(model) {
    await this.check(model);
    if (!this.known.has(model.name)) this.known.set(model.name, this.read(model));
    return this.known.get(model.name);
  }

  // Forgets a program that is no longer the router's: vitrine reload, or a controller, has changed it.
  async check(model) {
    const now = performance.now();
    const known = this.known.get(model.name);
    if (this.isRecorded || !known || now - (this.checked.get(model.name) ?? -Infinity) < CHECKED_MS) return;
    this.checked.set(model.name, now);
    const [{ cookie }, config] = await Promise.all([known, this.config(model, "COOKIE_ONLY")].map((each) => each.catch(() => ({}))));
    if (!config.cookie || !cookie || config.cookie.cookie === cookie.cookie || this.known.get(model.name) !== known) return;
    this.known.delete(model.name);
    // Its files may have the names that they had.
    this.sources.clear();
    this.open.clear();
    if (model !== this.glass.model) return;
    this.tables.entered();
    this.cells.entered();
    if (this.part === "tables") this.tables.read();
    if (this.part === "cells") this.cells.show();
  }

  async config(model, response_type) {
    return (await this.glass.calls.call(model.name, P4RUNTIME, "GetForwardingPipelineConfig",
                                        { device_id: model.deviceId, response_type })).config ?? {};
  }

  // Routers have other programs now.
  forget() {
    this.known.clear();
    this.sources.clear();
    if (this.glass.side.chosen === "program") this.show();
  }

  async read(model) {
    try {
      const config = await this.config(model, "ALL");
      if (!config.p4info) throw new Error("no program is loaded.");
      const json = JSON.parse(new TextDecoder().decode(config.p4_device_config));
      return { program: new Program(json), p4info: config.p4info, cookie: config.cookie, coverage: new Coverage() };
    } catch (error) {
      this.known.delete(model.name);
      throw error;
    }
  }

  // A handle has changed entries or cells.
  wrote() {
    if (this.part === "tables") this.tables.read();
    if (this.part === "cells") this.cells.wrote();
  }

  // Counts the lines and steps of traced packets.
  async cover(model, steps) {
    const { program, coverage } = await this.of(model);
    coverage.packets += new Set(steps.filter((each) => each.kind === "received").map((each) => each.packet)).size;
    for (const step of steps) if (step.kind === "program") coverage.take(step, program);
    // Many messages may come at once.
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.show();
    }, SHOWN_MS);
  }

  // Any packets, as they come: what they run is counted.
  followMany() {
    const { glass } = this;
    const { model } = glass;
    this.call?.cancel();
    this.said.textContent = "Waiting for packets …";
    this.call = glass.calls.open(model.name, ROUTER, "Trace",
      { ...glass.target(model), filters: [{ frames_max: FOLLOWED }] }, {
        next: ({ steps }) => this.cover(model, steps),
        ended: (error) => {
          if (error) this.said.textContent = error.message;
        },
      });
  }

  async show() {
    const { model } = this.glass;
    for (const each of this.buttons) each.setAttribute("aria-pressed", String(each.dataset.part === this.part));
    try {
      const { program, coverage } = await this.of(model);
      this.said.textContent = this.words(coverage);
      if (this.part === "tables") this.put(this.tables.node);
      else if (this.part === "cells") this.put(this.cells.node);
      else if (this.part === "source") {
        const node = await this.source(program, coverage);
        if (this.part === "source") this.put(node);
      } else if (this.part === "parser") this.put(graphView("Parser graph", program.parserGraph(), coverage.steps));
      else this.put(graphView(PARTS[this.part], program.controlGraph(this.part), coverage.steps));
    } catch (error) {
      this.said.textContent = `The program cannot be read: ${error.message}`;
    }
  }

  words({ packets }) {
    if (!packets && this.glass.scene.readOnly) return this.isRecorded ? "No packets were followed in this run." : "";
    if (!packets) return "Numbers count the packets that are followed.";
    return `${packets} packets ${this.isRecorded ? "of this run " : ""}were followed.`;
  }

  // Follows the router to another program.
  async look() {
    const { model } = this.glass;
    const known = this.known.get(model.name);
    await this.check(model);
    if (known && this.known.get(model.name) !== known && model === this.glass.model) this.show();
  }

  // Of a recording tables are shown as of the instant: read anew when time has come to another reading.
  refresh() {
    if (!this.isRecorded) this.look();
    const reading = this.isRecorded && this.glass.calls.way.reading(this.glass.model.name);
    if (!reading || reading === this.reading) return;
    this.reading = reading;
    if (this.part === "tables") this.tables.read();
    if (this.part === "cells") this.cells.show();
  }

  // When what is shown of tables was read; "" where that is now.
  get readWords() {
    const reading = this.isRecorded && this.glass.calls.way.reading(this.glass.model.name);
    return reading ? `As of ${instant(reading.timePs)}.` : "";
  }

  choose(part) {
    this.part = part;
    this.show();
    if (part === "tables") this.tables.read();
    if (part === "cells") this.cells.show();
  }

  entered() {
    this.call?.cancel();
    this.tables.entered();
    this.cells.entered();
  }

  put(node) {
    if (this.content.firstChild === node && node.isConnected) return;
    this.content.replaceChildren(node);
  }

  // Whole files where the server has them; else the lines that the compiled program names. Drawn source is only counted
  // anew, so that its reader is not disturbed.
  async source(program, coverage) {
    if (this.drawn?.program !== program) this.drawn = await this.drawSource(program);
    const { node, files } = this.drawn;
    for (const { file, lines, details, summary, rows } of files) {
      const covered = lines.filter((line) => coverage.counts.has(`${file}:${line}`)).length;
      setText(summary, `${file}: ${covered} of ${lines.length} lines that can run did`);
      if (covered && !this.open.has(file)) details.open = true;
      for (const line of lines) {
        const times = coverage.counts.get(`${file}:${line}`);
        const { row, said } = rows.get(line) ?? {};
        if (!row) continue;
        row.className = times ? "ran" : coverage.packets ? "idle" : "";
        setText(said, times ? `${times} ×` : "");
      }
    }
    return node;
  }

  // A step of a packet leads here: its line is marked, and in sight.
  async showLine({ file, line }) {
    this.part = "source";
    this.open.set(file, true);
    await this.show();
    const found = this.drawn?.files.find((each) => each.file === file);
    const { row } = found?.rows.get(line) ?? {};
    if (!row) return;
    this.here?.removeAttribute("aria-current");
    this.here = row;
    found.details.open = true;
    row.setAttribute("aria-current", "location");
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  }

  async drawSource(program) {
    const all = program.lines();
    const names = [...new Set(all.map((each) => each.file))];
    const files = await Promise.all(names.map(async (file) => {
      const mine = all.filter((each) => each.file === file);
      const text = await this.textOf(program.files.get(file));
      const rows = new Map((text?.split("\n").map((words, index) => ({ line: index + 1, text: words })) ?? mine).map((each) => [each.line, this.line(file, each)]));
      const summary = element("summary", { onclick: () => this.open.set(file, !details.open) });
      const details = element("details", { "data-file": file, open: this.open.get(file) ?? file === names.at(-1) }, summary,
        element("div", { class: "code", tabindex: 0, role: "region", "aria-label": `Source of ${file}` }, ...[...rows.values()].map((each) => each.row)));
      return { file, lines: mine.map((each) => each.line), details, summary, rows };
    }));
    return { program, files, node: element("div", {}, ...files.map((each) => each.details)) };
  }

  line(file, { line, text }) {
    const said = element("span", { class: "times" });
    const row = element("div", { "data-line": `${file}:${line}`, tabindex: -1 },
      element("span", { class: "number" }, String(line)), said, text);
    return { row, said };
  }

  async textOf(file) {
    if (!this.sources.has(file)) this.sources.set(file, this.glass.calls.source(file).catch(() => undefined));
    return this.sources.get(file);
  }
}
