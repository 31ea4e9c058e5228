// What the checks say: a line for each case, and the story of each that is not met.

import { element, setText } from "../page/dom.js";

export class Results {
  // onCheck(name) checks one case alone; onRun(line) runs a command line of a story.
  constructor(exercise, onCheck, onRun) {
    this.onRun = onRun;
    this.cases = new Map(exercise.cases.map((each) => [each.name, this.row(each, onCheck)]));
    this.own = element("p", { class: "said" });
    this.node = element("div", {}, this.own, element("ul", { class: "cases" }, ...[...this.cases.values()].map((each) => each.node)));
  }

  row({ name, title, points }, onCheck) {
    const mark = element("span", { class: "mark" }, "–"), story = element("pre", { class: "story", hidden: true, tabindex: 0 });
    const got = element("span", { class: "got" }, `of ${points}`);
    const again = element("div", {});
    const node = element("li", {},
      element("div", { class: "row" }, mark, element("b", {}, name), element("span", { class: "title" }, title), got,
        element("button", { type: "button", onclick: () => onCheck(name), "aria-label": `Check ${name}` }, "Check")),
      story, again);
    return { node, mark, story, again, got, points };
  }

  // All cases are about to be checked, or the one of that name.
  begin(name) {
    for (const [each, row] of this.cases) {
      if (!name || each === name) this.unknown(row);
    }
  }

  clear() {
    this.begin();
    setText(this.own, "");
  }

  unknown(row) {
    row.node.className = "";
    setText(row.mark, "–");
    setText(row.got, `of ${row.points}`);
    row.story.hidden = true;
    row.again.replaceChildren();
  }

  // The first line of a verdict's text is what the row shows anyhow.
  tell({ case: name, points, outOf, isMet, counts, text, again }) {
    const row = this.cases.get(name);
    const [, ...story] = text.split("\n");
    row.node.className = counts ? "met" : "unmet";
    setText(row.mark, isMet ? (counts ? "ok" : "met") : "FAIL");
    setText(row.got, `${points} of ${outOf}`);
    setText(row.story, story.map((line) => line.replace(/^ {8}/, "")).join("\n"));
    row.story.hidden = !story.length;
    if (/vitrine-(sim|p4c) /.test(again)) {
      row.again.replaceChildren(element("button", { type: "button", onclick: () => this.onRun(again) }, "Run its last line"));
    }
  }

  tellOwn(sentence) {
    setText(this.own, sentence);
  }
}
