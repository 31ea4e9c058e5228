// A lesson beside the view: its steps set the scene, ask, and leave room for an answer.
//
// A step: {title, text, button, act(glass), ask, picture, panel}: `panel` is a name of PANELS. Answers stay in the
// reader's browser, also when the page is loaded again, and can be saved as a file.

import { ClaimPanel } from "./claim.js";
import { element } from "./dom.js";
import { fileNameOf, handedIn } from "./hand_in.js";
import { LoadPanel } from "./load_panel.js";
import { inLight } from "./theme.js";

const placeOf = ({ name }) => `vitrine.answers.${name}`;

function keptAnswers(lesson) {
  try {
    return JSON.parse(localStorage.getItem(placeOf(lesson)) ?? "{}");
  } catch {
    return {};
  }
}

const NAME = "vitrine.name";
const PANELS = { load: LoadPanel };

function keptName() {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

export class LessonPanel {
  constructor(glass, lesson) {
    this.glass = glass;
    this.lesson = lesson;
    this.answers = keptAnswers(lesson);
    // The values that steps remember for later ones.
    this.state = {};
    this.at = 0;
    this.pictures = {};
    this.name = element("input", { type: "text", autocomplete: "name", value: keptName(), oninput: () => this.named(this.name.value) });
    this.claim = lesson.claim && new ClaimPanel(glass, lesson.claim);
    this.panels = [];
    this.items = lesson.steps.map((step, index) => this.item(step, index));
    this.node = element("div", { class: "lesson" },
      element("h2", {}, lesson.title),
      element("p", {}, lesson.question),
      ...(this.claim ? [this.claim.node] : []),
      element("ol", {}, ...this.items),
      element("fieldset", {}, element("legend", {}, "Hand in"),
        element("label", { class: "field" }, "Your name", this.name),
        element("p", { class: "faint" }, "One file: your numbers, answers and pictures, and what you did."),
        element("button", { type: "button", onclick: () => this.save() }, "Save the file")),
      element("button", { type: "button", title: "Answers stay, pictures go", onclick: () => this.restart() }, "Begin this lesson again"));
    this.mark();
  }

  item(step, index) {
    const button = step.button && element("button", {
      type: "button", class: "main", onclick: () => this.act(step, index),
    }, step.button);
    const next = !step.button && index < this.lesson.steps.length - 1
      && element("button", { type: "button", onclick: () => this.go(index + 1) }, "Next");
    const answer = step.ask && element("label", {}, step.ask,
      element("textarea", { "aria-label": step.ask, oninput: (event) => this.write(step, event.target.value) },
              this.answers[step.title] ?? ""));
    const picture = step.picture && element("button", { type: "button", onclick: () => this.take(step) }, "Take the picture");
    const panel = step.panel && new PANELS[step.panel](this.glass);
    if (panel) this.panels.push(panel);
    return element("li", { tabindex: -1 }, element("h3", {}, `${index + 1}. ${step.title}`),
      ...step.text.map((each) => element("p", {}, each)),
      ...[panel?.node, answer, element("div", { class: "row" }, ...[button, picture, next].filter(Boolean))].filter(Boolean));
  }

  end() {
    for (const each of this.panels) each.end();
  }

  show() {
    this.claim?.show();
    for (const each of this.panels) each.show();
  }

  write(step, text) {
    this.answers[step.title] = text;
    try {
      localStorage.setItem(placeOf(this.lesson), JSON.stringify(this.answers));
    } catch {
      // A browser that keeps nothing: they last as long as the page.
    }
  }

  // Sets the scene of a step. A step that needs the hosts of a network in virtual time shows the commands to type where
  // they are real ones.
  async act(step, index) {
    const item = this.items[index];
    item.querySelector(".refused")?.remove();
    const refuse = (sentence) => item.append(element("p", { class: "refused", role: "alert" }, sentence));
    if (step.type && this.glass.scene.world === "live") return refuse(`Hosts here are real ones. Type at the network's prompt: ${step.type}`);
    const held = document.activeElement;
    try {
      const act = () => step.act(this.glass, this.state);
      const done = await (this.glass.world?.holding(act) ?? act());
      if (step.charts) this.glass.charts.set(step.charts);
      // The focus stays where the reader has moved it meanwhile.
      if (done !== false) this.go(index + 1, document.activeElement === held || !held.isConnected);
      else refuse("The router did not do it; the tab Handles has its words.");
    } catch (error) {
      refuse(error.message);
    }
    return undefined;
  }

  go(index, takesFocus = true) {
    this.at = Math.min(index, this.items.length - 1);
    this.mark();
    this.items[this.at].scrollIntoView({ block: "nearest" });
    // Not its field: keys are for time until the reader goes there.
    if (takesFocus) this.items[this.at].focus({ preventScroll: true });
  }

  mark() {
    this.items.forEach((item, index) => {
      item.classList.toggle("past", index < this.at);
      if (index === this.at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }

  take(step) {
    this.pictures[step.title] = inLight(() => {
      const { view, stage, charts, palette, shownPs } = this.glass;
      view.draw(shownPs);
      return stage.picture(charts.beliefs?.picture(palette));
    });
    const taken = element("img", { src: this.pictures[step.title], alt: `The picture for ${step.title}`, style: "width:100%" });
    const item = this.items[this.lesson.steps.indexOf(step)];
    item.querySelector("img")?.remove();
    item.append(taken);
  }

  // ---- handing in, beginning again -------------------------------------------------------------

  named(name) {
    this.name.closest("fieldset").querySelector(".refused")?.remove();
    try {
      localStorage.setItem(NAME, name);
    } catch {
      // It lasts as long as the page.
    }
  }

  save() {
    const { lesson, claim, glass } = this, name = this.name.value.trim();
    this.named(name);
    if (!name) {
      this.name.closest("fieldset").append(element("p", { class: "refused", role: "alert" }, "Write your name: the file is yours by it."));
      return this.name.focus();
    }
    const text = handedIn({
      lesson, name, answers: this.answers, pictures: this.pictures, claim: claim?.said, done: glass.side.handles?.told ?? [],
    });
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/html" })), download: fileNameOf(lesson.name, name) });
    link.click();
    return URL.revokeObjectURL(link.href);
  }

  // A network that can begin again does; of another one everything that was done is taken back.
  async restart() {
    const { glass } = this;
    if (glass.again) return glass.again();
    await glass.side.handles?.takeAllBack();
    this.state = {};
    this.pictures = {};
    for (const each of this.items) each.querySelector("img")?.remove();
    this.claim?.clear();
    return this.go(0);
  }
}
