// The results of checks: a line for each case, and the story of each failed one.

import { element, setText } from "../page/dom.js";

export class Results {
  // onCheck(name) checks one case alone; onRun(line) runs a command line of a story.
  constructor(exercise, onCheck, onRun) {
    this.onRun = onRun;
    this.cases = new Map(exercise.cases.map((each) => [each.name, this.row(each, onCheck)]));
    this.own = element("p", { class: "own" });
    this.node = element("div", {}, this.own, element("ul", { class: "cases" }, ...[...this.cases.values()].map((each) => each.node)));
  }

  row({ name, title, points }, onCheck) {
    const mark = element("span", { class: "mark" }, "–"), story = element("div", { class: "story", hidden: true });
    const got = element("span", { class: "got" }, `of ${points}`);
    const again = element("div", {});
    const node = element("li", {},
      element("div", { class: "row" }, mark, element("div", { class: "what" }, element("b", {}, name), element("span", { class: "title" }, title)), got,
        element("button", { type: "button", onclick: () => onCheck(name), "aria-label": `Check ${name}` }, "Check")),
      story, again);
    return { node, mark, story, again, got, points };
  }

  // Resets all cases, or the one of that name, before a check.
  begin(name) {
    for (const [each, row] of this.cases) {
      if (!name || each === name) this.reset(row);
    }
  }

  clear() {
    this.begin();
    setText(this.own, "");
  }

  reset(row) {
    row.node.className = "";
    setText(row.mark, "–");
    setText(row.got, `of ${row.points}`);
    row.story.hidden = true;
    row.again.replaceChildren();
  }

  // The row already shows the first line of the text.
  tell({ case: name, points, outOf, isMet, counts, text, again }) {
    const row = this.cases.get(name);
    const [, ...lines] = text.split("\n");
    row.node.className = counts ? "met" : "unmet";
    setText(row.mark, isMet ? (counts ? "ok" : "met") : "FAIL");
    setText(row.got, `${points} of ${outOf}`);
    row.story.replaceChildren(...storyOf(lines));
    row.story.hidden = !lines.length;
    if (/vitrine-(sim|p4c) /.test(again)) {
      row.again.replaceChildren(element("button", { type: "button", onclick: () => this.onRun(again) }, "Run its last line"));
    }
  }

  tellOwn(sentence) {
    setText(this.own, sentence);
  }
}

// The lines of a story (course/telling.py): eight spaces, then a label of ten characters or spaces, then text. Steps of
// a packet's way have a line each; the lines of other parts are one text.
const INDENT = 8, LABEL = 10;

function storyOf(lines) {
  const parts = [];
  for (const line of lines.map((each) => each.slice(INDENT))) {
    const label = line.slice(0, LABEL).trim(), rest = line.slice(LABEL);
    if (!LABELS.has(label)) parts.push({ label: "", texts: [line] });
    else if (label) parts.push({ label, texts: [rest] });
    else parts.at(-1)?.texts.push(rest);
  }
  return parts.map(({ label, texts }) => {
    if (!label) return element("p", {}, texts.join(" "));
    const isCode = label === "its way" || label === "again";
    const shown = isCode ? element("pre", { tabindex: 0 }, texts.join("\n")) : element("p", {}, texts.join(" "));
    return element("div", { class: "part" }, element("b", {}, label), shown);
  });
}

const LABELS = new Set(["", "done", "expected", "because", "came", "its way", "again", "see"]);
