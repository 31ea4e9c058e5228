// Where the page of an exercise begins: its handout, the files to write, checks, and what is handed in.

import { element, setText } from "../page/dom.js";
import { markdown } from "../page/markdown.js";
import { applyTheme } from "../page/theme.js";
import { unpack } from "../wire/tape.js";
import { Checker, loadPython } from "./checker.js";
import { Keeping } from "./keeping.js";
import { Results } from "./results.js";
import { Texts } from "./texts.js";

const PYTHON = "python.js";

class Page {
  constructor(exercise) {
    this.exercise = exercise;
    this.keeping = new Keeping(exercise);
    const button = (text, action, options = {}) => element("button", { type: "button", onclick: action, ...options }, text);
    this.name = element("input", { value: this.keeping.student, "aria-label": "Your name", placeholder: "Ada Lovelace", autocomplete: "name", maxlength: 64 });
    this.name.addEventListener("input", () => this.keep());
    this.file = element("input", { type: "file", accept: ".zip,.p4,.py,.yaml", hidden: true, "aria-label": "Your work as a file" });
    this.file.addEventListener("change", () => this.guard(() => this.open()));
    this.texts = new Texts(this.keeping.files, () => this.keep());
    this.results = new Results(exercise, (name) => this.check(name), (line) => this.run(line));
    this.said = element("p", { class: "said", role: "status" }, "Python is being loaded …");
    this.checkAll = button("Check all", () => this.check(), { class: "primary" });
    this.stop = button("Stop", () => this.checker.stop(), { hidden: true });
    this.line = element("input", { "aria-label": "Command line", placeholder: "vitrine-sim fabric --ports 8 --load 1", spellcheck: "false" });
    this.printed = element("pre", { class: "printed", tabindex: 0, hidden: true });
    document.getElementById("page").replaceWith(
      element("header", { class: "alone-bar" },
        element("h1", {}, exercise.title), element("span", { class: "fill" }),
        element("label", {}, "Your name ", this.name),
        button("Download my hand-in", () => this.guard(() => this.handIn())),
        button("Open my work", () => this.file.click()), button("Start over", () => this.startOver()), this.file),
      element("main", { class: "exercise" },
        element("section", { class: "handout", "aria-label": "Handout", tabindex: 0 }, ...markdown(exercise.handout)),
        element("section", { class: "texts", "aria-label": "Your files" }, this.texts.node),
        element("section", { class: "results", "aria-label": "Checks" },
          element("div", { class: "row" }, this.checkAll, this.stop, this.said),
          this.results.node,
          element("form", { class: "row", onsubmit: (event) => {
            event.preventDefault();
            void this.run(this.line.value);
          } }, element("label", {}, "Run ", this.line), element("button", {}, "Run")),
          this.printed)));
  }

  begin(parts) {
    this.checker = new Checker(parts, (sentence) => setText(this.said, sentence));
  }

  keep() {
    this.keeping.student = this.name.value.trim();
    this.keeping.files = this.texts.all;
    if (!this.keeping.keep()) setText(this.said, "This browser remembers nothing for this page: download your work before you leave it.");
  }

  // All cases, or one of that name.
  async check(name) {
    if (!this.isFree()) return;
    if (!this.keeping.student) {
      setText(this.said, "Write your name first: your routes, rates and numbers follow from it.");
      this.name.focus();
      return;
    }
    this.results.begin(name);
    await this.busy("Checking …", async () => {
      const request = { ...this.work(), case: name };
      const { summary } = await this.checker.check(request, ({ verdict, own }) => (verdict ? this.results.tell(verdict) : this.results.tellOwn(own)));
      return name ? "" : `${summary}.`;
    });
  }

  // What a line of the handout or of a story prints.
  async run(line) {
    if (!this.isFree() || !line.trim()) return;
    this.line.value = line;
    await this.busy("Running …", async () => {
      const { output, errors } = await this.checker.run({ ...this.work(), line });
      setText(this.printed, output + errors);
      this.printed.hidden = false;
      this.printed.scrollIntoView();
      return "";
    });
  }

  work() {
    return { student: this.keeping.student, files: this.texts.all };
  }

  isFree() {
    return Boolean(this.checker) && this.stop.hidden;
  }

  async busy(sentence, act) {
    setText(this.said, sentence);
    this.stop.hidden = false;
    this.checkAll.disabled = true;
    try {
      setText(this.said, await act());
    } catch (error) {
      setText(this.said, error.message);
    }
    this.stop.hidden = true;
    this.checkAll.disabled = false;
  }

  async guard(act) {
    try {
      await act();
    } catch (error) {
      setText(this.said, error.message);
    }
  }

  async handIn() {
    this.keep();
    const archive = await this.keeping.archive();
    const address = URL.createObjectURL(new Blob([archive], { type: "application/zip" }));
    element("a", { href: address, download: `${this.exercise.name}.zip` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    setText(this.said, this.keeping.student ? "Hand in this file as it is." : "The file has no name in it: write yours above, and download it again.");
  }

  async open() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    await this.keeping.open(file.name, new Uint8Array(await file.arrayBuffer()));
    this.show();
    setText(this.said, `Opened ${file.name}.`);
  }

  startOver() {
    if (!confirm("Everything that you have written here will be gone. Start over?")) return;
    this.keeping.startOver();
    this.show();
  }

  show() {
    this.name.value = this.keeping.student;
    this.texts.show(this.keeping.files);
    this.results.clear();
    this.keep();
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
    page.begin({ ...python, script, kit, programs, network });
  } catch (error) {
    setText(page.said, error.message);
  }
}

void main();
