// The desk: the programs of a scenario as texts to change, and what the compiler says of them.
//
// Whoever types waits for nothing: a moment after the last key the program is compiled by the worker;
// if it is good it takes the old one's place in the routers that run it, else the old one goes on.

import { element, setText } from "../page/dom.js";
import { Editor, mending } from "./editor.js";
import { askName } from "./naming.js";
import { isTest, newName, Tests, testsOf } from "./tests.js";

const PAUSE_MS = 250;

export class Desk {
  // swapped() when routers have another program; mended() when there is one for a network that could
  // not begin.
  constructor({ swapped, mended }) {
    Object.assign(this, { swapped, mended });
    this.editor = new Editor((text) => this.typed(text), this);
    this.choice = element("select", { "aria-label": "Text", onchange: () => this.open(this.choice.value) });
    this.undo = element("button", { type: "button", onclick: () => this.forget() }, "As it was");
    const command = (name, words, keys) => element("button", {
      type: "button", title: keys, onclick: () => this.editor.command(name),
    }, words);
    this.said = element("p", { class: "said", role: "status" });
    this.tests = new Tests((name, line) => this.goToLine(name, line));
    this.testing = element("button", { type: "button", onclick: () => this.test() }, "Run the tests");
    this.list = element("ul", { class: "findings", "aria-label": "What the compiler says" });
    this.node = element("section", { class: "desk", "aria-label": "Program" },
      element("div", { class: "row" }, this.choice, this.undo,
        command("rename", "Rename", "F2: another name for what is named at the cursor"),
        command("format", "Format", "Shift-Alt-F: indentation and blanks"), this.testing),
      this.editor.node, this.said, this.list, this.tests.said, this.tests.list);
    this.turn = 0;
  }

  // Another scenario is running, or cannot yet. `kit` are its texts as they were; `typed` those that
  // somebody has changed while the same one began anew.
  begin(running, kit, { isUp = true, typed } = {}) {
    const { name } = this;
    Object.assign(this, { running, kit, isUp });
    if (!typed || !running.programs.has(this.main)) this.main = [...running.programs.keys()][0];
    this.inForce = this.textsOf(this.main);
    Object.assign(running.files, typed);
    this.tests.clear();
    // Whoever is writing goes on where he is.
    if (typed && running.files[name] === this.editor.text) this.tell();
    else {
      this.editor.states.clear();
      this.editor.name = undefined;
      this.tell();
      this.open(this.main);
    }
    if (isUp) this.say("The program runs.");
    else this.faulty();
    if (typed && Object.keys(typed).length) this.typed(running.files[this.name]);
  }

  // The program that this text belongs to: its own, or the one that includes it.
  get program() {
    return this.main;
  }

  get names() {
    const said = this.running.compiled.get(this.program)?.said;
    const read = (said?.files ?? []).filter((name) => name in this.running.files);
    return [...new Set([...this.running.programs.keys(), ...read])];
  }

  get testNames() {
    return testsOf(this.program, Object.keys(this.running.files));
  }

  open(name) {
    if (this.running.programs.has(name)) this.main = name;
    this.name = name;
    this.editor.open(name, this.running.files[name]);
    this.tell();
  }

  typed(text) {
    this.running.files[this.name] = text;
    this.undo.disabled = text === this.kit[this.name];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.compile(), PAUSE_MS);
  }

  // The text as the kit has it.
  forget() {
    this.running.files[this.name] = this.kit[this.name];
    this.editor.open(this.name, this.kit[this.name]);
    this.compile();
  }

  // What the programs were made from, to know what has changed.
  textsOf(program) {
    return JSON.stringify([program, Object.entries(this.running.files).filter(([name]) => !isTest(name))]);
  }

  async compile() {
    const turn = ++this.turn, { running, program } = this, texts = this.textsOf(program);
    try {
      const { said, config } = await running.compile(program);
      // Somebody has typed on.
      if (turn !== this.turn || running !== this.running) return;
      this.tell();
      // Who has looked at the tests once wants to know what becomes of them.
      if (config && this.tests.results) await this.test();
      if (!config) return void this.faulty();
      if (!this.isUp) return void this.mended();
      if (texts === this.inForce) return void this.say("The program runs.");
      const remarks = await running.swap(program, config);
      this.inForce = texts;
      this.say(["The new program runs.", ...remarks].join(" "), "good");
      this.swapped();
    } catch (error) {
      this.say(`The program before goes on running: ${error.message}`, "bad");
    }
  }

  faulty() {
    const { diagnostics } = this.running.compiled.get(this.program).said;
    const errors = diagnostics.filter((each) => each.severity === "error").length;
    this.say(`${errors === 1 ? "A mistake" : `${errors} mistakes`}: ${this.isUp ? "the program before goes on running."
      : "nothing runs before it is mended."}`, "bad");
  }

  say(sentence, kind = "") {
    setText(this.said, sentence);
    this.said.className = `said ${kind}`;
  }

  // Which texts there are, and what the compiler says of the program.
  tell() {
    const { running, name } = this;
    const isChanged = (each) => running.files[each] !== this.kit[each];
    const option = (each) => element("option", { value: each, selected: each === name }, isChanged(each) ? `${each} (changed)` : each);
    const group = (label, names) => (names.length ? [element("optgroup", { label }, ...names.map(option))] : []);
    this.choice.replaceChildren(...group("Program", this.names), ...group("Packet tests", this.testNames));
    this.testing.hidden = !this.testNames.length;
    this.undo.disabled = !name || !isChanged(name) || !(name in this.kit);
    const found = running.compiled.get(this.program)?.said.diagnostics ?? [];
    this.mark(found.filter((each) => each.file === name));
    this.list.replaceChildren(...found.map((each) => element("li", { class: each.severity },
      element("button", { type: "button", onclick: () => this.goTo(each) },
        `${each.file}:${each.line}: ${each.title}`),
      each.hint ? element("div", { class: "faint" }, each.hint) : "",
      each.fix && each.fix.file in running.files
        ? element("button", { type: "button", class: "mend", onclick: () => this.mend(each.fix) }, mending(each.fix)) : "")));
  }

  // Of a test the lines are underlined that did not come true.
  mark(diagnostics) {
    const text = this.running.files[this.name] ?? "", lines = text.split("\n");
    const from = (line) => lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const problems = this.tests.problemsOf(this.name ?? "").map(({ line, text: said }) => (
      { from: from(line), to: from(line) + (lines[line - 1]?.length ?? 0), severity: "error", title: said.split("\n")[0] }));
    this.editor.mark([...diagnostics, ...problems]);
  }

  // ---- packet tests ------------------------------------------------------------------------------

  async test() {
    const { running } = this;
    await this.tests.run(running, this.program);
    if (running === this.running) this.tell();
  }

  // Another test of a program, which is shown and run.
  addTest(program, text) {
    const name = newName(program, Object.keys(this.running.files));
    this.running.files[name] = text;
    this.main = program;
    this.open(name);
    return this.test();
  }

  goToLine(name, line) {
    const lines = this.running.files[name].split("\n").slice(0, (line ?? 1) - 1);
    this.goTo({ file: name, from: lines.reduce((sum, each) => sum + each.length + 1, 0) });
  }

  // ---- what the language service knows, for the editor -------------------------------------------

  // About a place of the text that is open.
  async ask(question) {
    if (isTest(this.name)) return undefined;
    return this.running.edit(this.program, { ...question, file: this.name });
  }

  complete(at) {
    return this.ask({ ask: "complete", at });
  }

  meaning(at) {
    return this.ask({ ask: "meaning", at });
  }

  async define(at) {
    const place = await this.ask({ ask: "definition", at });
    if (!place) return this.say("Nothing here is declared anywhere.");
    if (place.file in this.running.files) return this.goTo(place);
    return this.say(`That is declared in ${place.file.split("/").at(-1)}, which is part of the compiler.`);
  }

  async rename(at) {
    const place = await this.ask({ ask: "definition", at }), meaning = place && await this.meaning(at);
    if (!meaning) return this.say("There is no name here that the program declares.");
    const old = this.running.files[this.name].slice(meaning.from, meaning.to);
    const name = await askName(old);
    this.editor.view.focus();
    if (!name || name === old) return undefined;
    const { changes, refused } = await this.ask({ ask: "rename", at, name });
    if (refused) return this.say(`${refused}.`, "bad");
    return this.change(changes);
  }

  async format() {
    if (isTest(this.name)) return this.say("Tests are laid out as they are written.");
    const { text, refused } = await this.ask({ ask: "format", at: 0 });
    if (refused) return this.say(`${refused}.`, "bad");
    const old = this.running.files[this.name];
    return text === old ? undefined : this.editor.change(difference(old, text));
  }

  mend(fix) {
    this.change([fix]);
  }

  // Changes of texts: [{file, from, to, text}].
  change(changes) {
    const { files } = this.running;
    for (const file of new Set(changes.map((each) => each.file))) {
      const own = changes.filter((each) => each.file === file).sort((a, b) => a.from - b.from);
      if (file === this.name) {
        this.editor.change(own);
        continue;
      }
      files[file] = own.reduceRight((text, { from, to, text: now }) => text.slice(0, from) + now + text.slice(to), files[file]);
      this.typed(files[this.name]);
    }
  }

  goTo({ file, from }) {
    if (!(file in this.running.files)) return;
    if (file !== this.name) this.open(file);
    this.editor.show(from);
  }
}

// The lines that differ, as one change, so that the cursor stays where nothing has changed.
function difference(old, now) {
  const least = Math.min(old.length, now.length);
  let from = 0, behind = 0;
  while (from < least && old[from] === now[from]) from++;
  while (behind < least - from && old.at(-1 - behind) === now.at(-1 - behind)) behind++;
  return [{ from, to: old.length - behind, text: now.slice(from, now.length - behind) }];
}
