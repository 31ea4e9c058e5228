// The entry of an exercise's page: the handout, an editor, checks and the hand-in.

import { element, setText } from "../page/dom.js";
import { markdown } from "../page/markdown.js";
import { applyTheme } from "../page/theme.js";
import { unpack } from "../wire/tape.js";
import { Checker, loadPython } from "./checker.js";
import { Editor } from "./editor.js";
import { Results } from "./results.js";
import { SavedWork } from "./saved_work.js";

const PYTHON = "python.js";
// Links for screens that show one part at a time.
const PARTS = [["handout", "Handout"], ["files", "Files"], ["checks", "Checks"]];
const button = (text, action, options = {}) => element("button", { type: "button", onclick: action, ...options }, text);

// The handout's commands, as this page has them.
function hint() {
  return element("p", { class: "own" }, "Everything runs in this page. ", element("b", {}, "Check all"), " does what ", element("code", {}, "vitrine check"),
    " does, and ", element("b", {}, "Download my hand-in"), " saves your work as the file to hand in. Lines that begin with ",
    element("code", {}, "vitrine-sim"), " or ", element("code", {}, "vitrine-p4c"), " run in the field ", element("b", {}, "Command"), ".");
}

class Page {
  constructor(exercise) {
    this.exercise = exercise;
    this.saved = new SavedWork(exercise);
    this.isBusy = false;
    this.name = element("input", { type: "text", value: this.saved.student, "aria-label": "Your name", placeholder: "Ada Lovelace", autocomplete: "name", maxlength: 64 });
    this.name.addEventListener("input", () => this.save());
    this.name.addEventListener("change", () => this.guard(() => this.showOwn()));
    this.file = element("input", { type: "file", accept: ".zip,.p4,.py,.yaml", hidden: true, "aria-label": "Your work as a file" });
    this.file.addEventListener("change", () => this.guard(() => this.open()));
    this.editor = new Editor(this.saved.files, () => this.save());
    this.results = new Results(exercise, (name) => this.check(name), (line) => this.run(line));
    this.said = element("p", { class: "said", role: "status" }, "Python is loading …");
    this.checkAll = button("Check all", () => this.check(), { class: "main" });
    this.stop = button("Stop", () => this.checker.stop(), { hidden: true });
    this.line = element("input", { type: "text", "aria-label": "Command line", placeholder: "vitrine-sim … or vitrine-p4c …", spellcheck: "false", autocapitalize: "off" });
    this.printed = element("pre", { class: "printed", tabindex: 0, hidden: true });
    const handout = markdown(exercise.handout);
    // The bar already shows the title; screen readers need the heading here.
    handout[0].className = "hidden";
    const parts = element("nav", { class: "parts", "aria-label": "Parts" }, ...PARTS.map(([id, name]) => element("a", { href: `#${id}` }, name)));
    document.getElementById("page").replaceWith(this.bar(), parts, element("main", { class: "exercise" },
      element("section", { id: "handout", class: "handout", "aria-label": "Handout", tabindex: 0 }, hint(), ...handout),
      element("section", { id: "files", class: "files", "aria-label": "Your files" }, this.editor.node),
      element("section", { id: "checks", class: "results", "aria-label": "Checks" },
        element("div", { class: "row" }, this.checkAll, this.stop, this.said),
        this.results.node, this.commandLine(), this.printed)));
  }

  bar() {
    return element("header", { class: "exercise-bar" },
      element("h1", {}, this.exercise.title), element("span", { class: "fill" }),
      element("label", {}, "Your name ", this.name),
      button("Download my hand-in", () => this.guard(() => this.handIn())),
      button("Open my work", () => this.file.click()), button("Start over", () => this.startOver()), this.file);
  }

  commandLine() {
    const submit = (event) => {
      event.preventDefault();
      void this.run(this.line.value);
    };
    return element("form", { class: "row", onsubmit: submit }, element("label", {}, "Command ", this.line), element("button", {}, "Run"));
  }

  async begin(parts) {
    this.checker = new Checker(parts, (sentence) => setText(this.said, sentence));
    await this.checker.isReady;
    await this.showOwn();
  }

  save() {
    this.saved.student = this.name.value.trim();
    this.saved.files = this.editor.all;
    if (!this.saved.save()) setText(this.said, "This browser does not save your work: download it before you leave the page.");
  }

  // The student's numbers follow from the name.
  async showOwn() {
    if (!this.saved.student || !this.checker) return;
    const { own } = await this.checker.own(this.saved.student);
    this.results.tellOwn(own);
  }

  // All cases, or one of that name.
  async check(name) {
    if (!this.isFree()) return;
    if (!this.saved.student) {
      setText(this.said, "Write your name first: your addresses, rates and numbers follow from it.");
      this.name.focus();
      return;
    }
    this.results.begin(name);
    const count = this.exercise.cases.length;
    let checked = 0;
    await this.busy("Checking …", async () => {
      const { summary } = await this.checker.check({ ...this.work(), case: name }, (verdict) => {
        this.results.tell(verdict);
        checked += 1;
        if (!name) setText(this.said, `Checked ${checked} of ${count} cases …`);
      });
      return name ? `${name} is checked.` : `${summary}.`;
    });
  }

  // The output of a line of the handout or of a story.
  async run(line) {
    if (!this.isFree() || !line.trim()) return;
    this.line.value = line;
    await this.busy("Running …", async () => {
      const { output, errors } = await this.checker.run({ ...this.work(), line });
      setText(this.printed, output + errors);
      this.printed.hidden = false;
      this.printed.scrollIntoView({ block: "nearest" });
      return "";
    });
  }

  work() {
    return { student: this.saved.student, files: this.editor.all };
  }

  // Whether Python is there and no check is in progress.
  isFree() {
    return Boolean(this.checker) && !this.isBusy;
  }

  async busy(sentence, act) {
    setText(this.said, sentence);
    this.setBusy(true);
    try {
      setText(this.said, await act());
    } catch (error) {
      setText(this.said, error.message);
    }
    this.setBusy(false);
  }

  setBusy(isBusy) {
    this.isBusy = isBusy;
    this.stop.hidden = !isBusy;
    this.checkAll.disabled = isBusy;
  }

  async guard(act) {
    try {
      await act();
    } catch (error) {
      setText(this.said, error.message);
    }
  }

  async handIn() {
    this.save();
    const archive = await this.saved.archive();
    const address = URL.createObjectURL(new Blob([archive], { type: "application/zip" }));
    element("a", { href: address, download: `${this.exercise.name}.zip` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    setText(this.said, this.saved.student ? `Hand in ${this.exercise.name}.zip as it is.` : "Your name is missing in this file: write it above and download again.");
  }

  async open() {
    const [file] = this.file.files;
    if (!file) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    this.file.value = "";
    await this.saved.open(file.name, bytes);
    this.show();
    setText(this.said, `Opened ${file.name}.`);
    await this.showOwn();
  }

  startOver() {
    if (!confirm("This deletes everything that you have written here. Start over?")) return;
    this.saved.startOver();
    this.show();
  }

  show() {
    this.name.value = this.saved.student;
    this.editor.show(this.saved.files);
    this.results.clear();
    this.save();
  }
}

async function main() {
  applyTheme();
  const along = (name) => unpack(document.getElementById(name).textContent);
  const page = new Page(JSON.parse(new TextDecoder().decode(await along("exercise"))));
  try {
    const python = await loadPython(document, PYTHON);
    const [engine, kit, programs, network] = await Promise.all(["engine", "kit", "programs", "network"].map(along));
    const script = new Blob([python.script, "\n", engine]);
    await page.begin({ ...python, script, kit, programs, network });
  } catch (error) {
    setText(page.said, error.message);
  }
}

void main();
