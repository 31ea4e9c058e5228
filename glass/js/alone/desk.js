// The desk: the programs of a scenario as texts to change, and what the compiler says of them.
//
// Typing waits for nothing: a moment after the last key the worker compiles every program that reads a text
// that has changed. A good one takes the old one's place in the routers that run it; with mistakes in it
// the old one goes on.

import { element, setText } from "../page/dom.js";
import { Editor, mending } from "./editor.js";
import { askName } from "./naming.js";
import { isTest, newName, Tests, testsOf } from "./tests.js";

const PAUSE_MS = 250;
// The longest history of places to go back to.
const LEFT_MAX = 50;

export class Desk {
  // swapped() when routers have another program; mended() when a network that could not start, or that stopped, has a
  // working one.
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
    this.used = element("ul", { class: "findings", "aria-label": "Where it is used", hidden: true });
    this.asideList = element("ul", { class: "findings" });
    this.aside = element("details", { class: "aside", hidden: true }, element("summary", {}, "Entries that are set aside"),
      element("p", { class: "faint" }, "They come back with the first program that they fit."), this.asideList);
    this.back = element("button", { type: "button", disabled: true, title: "Alt-Left: to where F12 was pressed", onclick: () => this.goBack() }, "Back");
    this.node = element("section", { class: "desk", "aria-label": "Program" },
      element("div", { class: "row" }, this.choice, this.back, this.undo,
        command("rename", "Rename", "F2: another name for what is named at the cursor"),
        command("format", "Format", "Shift-Alt-F: indentation and blanks"), this.testing),
      this.editor.node, this.said, this.aside, this.used, this.list, this.tests.said, this.tests.list);
    this.turn = 0;
    // Places that the reader has left for a declaration, the last one behind: [{file, from}].
    this.left = [];
  }

  // Another scenario is running, or cannot start, and `why`. `kit` are its original texts; `typed` the texts that were
  // edited while the same scenario restarted.
  begin(running, kit, { isUp = true, why, typed } = {}) {
    const { name } = this, programs = [...running.programs.keys()];
    Object.assign(this, { running, kit, isUp, isOver: false });
    if (!typed || !running.programs.has(this.main)) [this.main] = programs;
    // By program: the texts that the one in force was made from.
    this.inForce = new Map(isUp ? programs.map((each) => [each, this.textsOf(each)]) : []);
    Object.assign(running.files, typed);
    this.tests.clear();
    this.used.hidden = true;
    // A text that is being edited stays as it is.
    if (typed && running.files[name] === this.editor.text) this.tell();
    else {
      this.editor.states.clear();
      this.editor.name = undefined;
      this.tell();
      this.open(this.main);
    }
    if (isUp) this.say(["The program runs.", ...running.remarks].join(" "));
    else if (why) this.say(`Nothing runs: ${why}`, "bad");
    else this.faulty(programs);
    if (typed && Object.keys(typed).length) this.typed(running.files[this.name]);
  }

  // Another one is about to begin, which takes what is typed meanwhile.
  end() {
    this.isOver = true;
  }

  // The program that is being looked at: others may include the same texts.
  get program() {
    return this.main;
  }

  // The texts that a program is made of, as far as it has been compiled.
  readBy(program) {
    const read = this.running.compiled.get(program)?.said.files ?? [];
    return [...new Set([program, ...read])].filter((name) => name in this.running.files);
  }

  // The programs that a text belongs to.
  programsWith(name) {
    return [...this.running.programs.keys()].filter((each) => this.readBy(each).includes(name));
  }

  get names() {
    return [...new Set([...this.running.programs.keys(), ...this.readBy(this.program)])];
  }

  get testNames() {
    return testsOf(this.program, Object.keys(this.running.files));
  }

  open(name) {
    if (this.running.programs.has(name)) this.main = name;
    else if (!this.readBy(this.main).includes(name)) this.main = this.programsWith(name)[0] ?? this.main;
    this.name = name;
    this.editor.open(name, this.running.text(name), { isReadOnly: this.isGiven });
    this.tell();
  }

  // Whether the text that is open is part of the compiler.
  get isGiven() {
    return !(this.name in this.running.files);
  }

  typed(text) {
    this.running.files[this.name] = text;
    this.undo.disabled = text === this.kit[this.name];
    this.used.hidden = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.compile(), PAUSE_MS);
  }

  // The text as the kit has it.
  forget() {
    this.running.files[this.name] = this.kit[this.name];
    this.editor.open(this.name, this.kit[this.name]);
    this.compile();
  }

  // {name: text} of the sources of a program.
  textsOf(program) {
    return Object.fromEntries(this.readBy(program).map((name) => [name, this.running.files[name]]));
  }

  // Whether a program is another one than its routers run.
  isChanged(program) {
    const texts = this.inForce.get(program);
    return !texts || Object.entries(texts).some(([name, text]) => this.running.files[name] !== text);
  }

  async compile() {
    const turn = ++this.turn, { running } = this;
    if (this.isOver) return;
    // A stopped network starts again with the new program.
    if (!running.isThere) return void this.mended();
    const isStale = (each) => this.isChanged(each) || !running.compiled.get(each)?.config;
    const stale = [...running.programs.keys()].filter(isStale);
    try {
      const made = [];
      for (const name of stale) {
        const files = { ...running.files };
        const { config } = await running.compile(name);
        // Somebody has typed on.
        if (turn !== this.turn || running !== this.running) return;
        if (config) made.push({ name, config, texts: Object.fromEntries(this.readBy(name).map((each) => [each, files[each]])) });
      }
      this.tell();
      // Tests that were run once are run again with each change.
      if (this.tests.results && running.compiled.get(this.program)?.config) await this.test();
      const faulty = stale.filter((name) => !made.some((each) => each.name === name));
      if (!this.isUp) return void (faulty.length ? this.faulty(faulty) : this.mended());
      const swapped = made.filter(({ name }) => this.isChanged(name));
      let back = 0;
      for (const { name, config, texts } of swapped) {
        back += await running.swap(name, config);
        this.inForce.set(name, texts);
      }
      if (running !== this.running) return;
      this.tellSwapped(swapped.map((each) => each.name), faulty, back);
      if (swapped.length) this.swapped();
    } catch (error) {
      if (running === this.running) this.say(`${this.isUp ? "The program before goes on running" : "Nothing runs"}: ${error.message}`, "bad");
    }
  }

  tellSwapped(swapped, faulty, back) {
    const remarks = [...(back ? [`${back === 1 ? "One entry" : `${back} entries`} that did not fit before ${back === 1 ? "is" : "are"} there again.`] : []),
                     ...this.running.remarks];
    if (faulty.length) return this.faulty(faulty, swapped, remarks);
    if (!swapped.length) return this.say(["The program runs.", ...remarks].join(" "));
    return this.say([swapped.length > 1 ? "The new programs run." : "The new program runs.", ...remarks].join(" "), "good");
  }

  // Says which programs stay as they are because of errors, and which were replaced.
  faulty(programs, swapped = [], remarks = []) {
    const errorsOf = (names) => this.findings(names).filter((each) => each.severity === "error").length;
    const errors = errorsOf(programs), wrong = programs.filter((each) => errorsOf([each]));
    const where = this.running.programs.size > 1 ? ` in ${wrong.join(" and ")}` : "";
    const count = errors === 1 ? "A mistake" : `${errors} mistakes`;
    const runs = swapped.map((name) => `The new ${name} runs.`);
    const stays = !this.isUp ? "nothing runs before it is mended." : wrong.length > 1 ? "the programs before go on running." : "the program before goes on running.";
    this.say([...runs, `${count}${where}: ${stays}`, ...remarks].join(" "), "bad");
  }

  // The compiler's diagnostics for programs; those of a shared text, once.
  findings(programs) {
    const found = programs.flatMap((each) => this.running.compiled.get(each)?.said.diagnostics ?? []);
    const key = ({ file, from, title }) => JSON.stringify([file, from, title]);
    return [...new Map(found.map((each) => [key(each), each])).values()];
  }

  tellAside() {
    const { aside } = this.running;
    this.aside.hidden = !aside.length;
    this.asideList.replaceChildren(...aside.map((each) => element("li", {}, each)));
  }

  say(sentence, kind = "") {
    this.tellAside();
    setText(this.said, sentence);
    this.said.className = `said ${kind}`;
  }

  // Which texts there are, and what the compiler says of the program.
  tell() {
    const { running, name } = this;
    const isChanged = (each) => running.files[each] !== this.kit[each];
    const option = (each) => element("option", { value: each, selected: each === name }, isChanged(each) ? `${each} (changed)` : each);
    const group = (label, names) => (names.length ? [element("optgroup", { label }, ...names.map(option))] : []);
    const given = name && this.isGiven ? [name] : [];
    this.choice.replaceChildren(...group("Program", this.names), ...group("Packet tests", this.testNames), ...group("Part of the compiler", given));
    this.testing.hidden = !this.testNames.length;
    this.undo.disabled = !name || !isChanged(name) || !(name in this.kit);
    const found = this.findings([...running.programs.keys()]);
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
    const text = this.running.text(this.name ?? "") ?? "", lines = text.split("\n");
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

  // The same question of all programs that read the text: their answers.
  async askAll(question) {
    if (isTest(this.name)) return [];
    const programs = this.programsWith(this.name), asked = { ...question, file: this.name };
    return Promise.all((programs.length ? programs : [this.program]).map((each) => this.running.edit(each, asked)));
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
    // A text of the compiler is there to be read.
    await this.running.look(this.program, place.file);
    return this.goFrom({ file: this.name, from: at }, place);
  }

  goFrom(here, place) {
    this.leave(here);
    this.goTo(place);
  }

  leave(place) {
    this.left.push(place);
    if (this.left.length > LEFT_MAX) this.left.shift();
    this.back.disabled = false;
  }

  // To where the reader was before the last declaration.
  goBack() {
    const place = this.left.pop();
    this.back.disabled = !this.left.length;
    if (place) this.goTo(place);
  }

  // Lists where the name at a place is used.
  async uses(at) {
    const here = { file: this.name, from: at };
    const places = unique((await this.askAll({ ask: "uses", at })).flatMap((found) => found ?? []));
    if (!places.length) return this.say("There is no name here that the program declares.");
    const files = new Set(places.map((each) => each.file));
    for (const file of files) await this.running.look(this.program, file);
    this.used.hidden = false;
    return this.used.replaceChildren(...places.map((place) => {
      const before = this.running.text(place.file).slice(0, place.from).split("\n");
      const line = this.running.text(place.file).split("\n")[before.length - 1].trim();
      return element("li", {}, element("button", { type: "button", onclick: () => this.goFrom(here, place) }, `${place.file}:${before.length}: ${line}`));
    }));
  }

  async rename(at) {
    const place = await this.ask({ ask: "definition", at }), meaning = place && await this.meaning(at);
    if (!meaning) return this.say("There is no name here that the program declares.");
    const old = this.running.text(this.name).slice(meaning.from, meaning.to);
    const name = await askName(old);
    this.editor.view.focus();
    if (!name || name === old) return undefined;
    const answers = await this.askAll({ ask: "rename", at, name });
    const refused = answers.find((each) => each.refused)?.refused;
    if (refused) return this.say(`${refused}.`, "bad");
    return this.change(unique(answers.flatMap((each) => each.changes)));
  }

  async format() {
    if (isTest(this.name)) return this.say("Tests are laid out as they are written.");
    if (this.isGiven) return this.say("This text is part of the compiler.");
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
    if (this.running.text(file) === undefined) return;
    if (file !== this.name) this.open(file);
    this.editor.show(from);
  }
}

// Places or changes without duplicates: several programs may have reported the same one.
function unique(places) {
  return [...new Map(places.map((each) => [`${each.file}:${each.from}`, each])).values()];
}

// The lines that differ, as one change, so that the cursor stays where nothing has changed.
function difference(old, now) {
  const least = Math.min(old.length, now.length);
  let from = 0, behind = 0;
  while (from < least && old[from] === now[from]) from++;
  while (behind < least - from && old.at(-1 - behind) === now.at(-1 - behind)) behind++;
  return [{ from, to: old.length - behind, text: now.slice(from, now.length - behind) }];
}
