// A lesson beside the view: its steps set the scene, ask, and leave room for an answer.
//
// A step: {title, text, button, act(glass), ask, picture}. Answers stay in the browser of who wrote
// them, also when the page is loaded again, and can be taken along as a file.

import { ClaimPanel } from "./claim.js";
import { element } from "./dom.js";
import { inLight } from "./theme.js";

const placeOf = ({ name }) => `vitrine.answers.${name}`;

function keptAnswers(lesson) {
  try {
    return JSON.parse(localStorage.getItem(placeOf(lesson)) ?? "{}");
  } catch {
    return {};
  }
}

// How the page looks that one takes along, on a screen and on paper.
const SAVED_STYLE = `
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a212c; background: #fff; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.05rem; margin-top: 2rem; }
p { white-space: pre-wrap; }
img { display: block; max-width: 100%; max-height: 22cm; border: 1px solid #dde2ea; border-radius: 10px; }
@page { margin: 15mm; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 11pt; } h2 { break-after: avoid; } img { break-inside: avoid; } }
`;

export class LessonPanel {
  constructor(glass, lesson) {
    this.glass = glass;
    this.lesson = lesson;
    this.answers = keptAnswers(lesson);
    // What steps remember for later ones.
    this.state = {};
    this.at = 0;
    this.claim = lesson.claim && new ClaimPanel(glass, lesson.claim);
    this.items = lesson.steps.map((step, index) => this.item(step, index));
    this.node = element("div", { class: "lesson" },
      element("h2", {}, lesson.title),
      element("p", {}, lesson.question),
      ...(this.claim ? [this.claim.node] : []),
      element("ol", {}, ...this.items),
      element("button", { type: "button", onclick: () => this.save() }, "Save answers and pictures"));
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
    return element("li", { tabindex: -1 }, element("h3", {}, `${index + 1}. ${step.title}`),
      ...step.text.map((each) => element("p", {}, each)),
      ...[answer, element("div", { class: "row" }, ...[button, picture, next].filter(Boolean))].filter(Boolean));
  }

  show() {
    this.claim?.show();
  }

  write(step, text) {
    this.answers[step.title] = text;
    try {
      localStorage.setItem(placeOf(this.lesson), JSON.stringify(this.answers));
    } catch {
      // A browser that keeps nothing: they last as long as the page.
    }
  }

  // Sets the scene of a step. What needs the hosts of a network in virtual time says what to type
  // where they are real ones.
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
      // Who has begun to do something else meanwhile is left there.
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
    this.pictures ??= {};
    this.pictures[step.title] = inLight(() => {
      this.glass.view.draw(this.glass.shownPs);
      return this.glass.stage.picture();
    });
    const taken = element("img", { src: this.pictures[step.title], alt: `The picture for ${step.title}`, style: "width:100%" });
    const item = this.items[this.lesson.steps.indexOf(step)];
    item.querySelector("img")?.remove();
    item.append(taken);
  }

  // One page with questions, answers and pictures, to hand in.
  save() {
    const page = document.implementation.createHTMLDocument(this.lesson.title);
    page.documentElement.lang = "en";
    page.head.append(element("meta", { charset: "utf-8" }), element("style", {}, SAVED_STYLE));
    page.body.append(element("h1", {}, this.lesson.title), element("p", {}, this.lesson.question));
    for (const step of this.lesson.steps.filter((each) => each.ask || each.picture)) {
      page.body.append(element("h2", {}, step.ask ?? step.title), element("p", {}, this.answers[step.title] ?? "(no answer)"));
      const picture = this.pictures?.[step.title];
      if (picture) page.body.append(element("img", { src: picture, alt: step.title }));
    }
    const bytes = new Blob([`<!doctype html>${page.documentElement.outerHTML}`], { type: "text/html" });
    const link = element("a", { href: URL.createObjectURL(bytes), download: `${this.lesson.name}.html` });
    link.click();
    URL.revokeObjectURL(link.href);
  }
}
