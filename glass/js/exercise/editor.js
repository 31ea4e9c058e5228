// The editor of the student's files, one tab each.

import {
  bracketMatching, defaultKeymap, drawSelection, EditorState, EditorView, highlightActiveLine, highlightActiveLineGutter,
  HighlightStyle, history, historyKeymap, indentOnInput, indentUnit, keymap, lineNumbers, search, searchKeymap,
  syntaxHighlighting, tags,
} from "../../vendor/codemirror.js";
import { element } from "../page/dom.js";
import { grammarOf } from "./grammars.js";

const COLOURS = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.comment, class: "p4-comment" }, { tag: tags.keyword, class: "p4-keyword" }, { tag: tags.typeName, class: "p4-type" },
  { tag: [tags.string, tags.meta], class: "p4-string" }, { tag: [tags.number, tags.atom], class: "p4-number" },
]));

export class Editor {
  // files: {name: text}; onChange() is called after each edit.
  constructor(files, onChange) {
    this.onChange = onChange;
    this.view = new EditorView({ parent: element("div", { class: "editor" }) });
    this.tabs = element("div", { class: "row tabs", role: "tablist", "aria-label": "Files" });
    this.node = element("div", { class: "writing" }, this.tabs, this.view.dom.parentElement);
    this.show(files);
  }

  get all() {
    const states = { ...this.states, [this.name]: this.view.state };
    return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, state.doc.toString()]));
  }

  show(files) {
    this.states = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, this.state(name, text)]));
    this.tabs.replaceChildren(...Object.keys(files).map((name) => element("button", { type: "button", role: "tab", onclick: () => this.open(name) }, name)));
    this.name = undefined;
    this.open(Object.keys(files)[0]);
  }

  open(name) {
    if (this.name) this.states[this.name] = this.view.state;
    this.name = name;
    this.view.setState(this.states[name]);
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String(tab.textContent === name));
  }

  state(name, doc) {
    return EditorState.create({ doc, extensions: [
      lineNumbers(), highlightActiveLineGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(),
      highlightActiveLine(), search({ top: true }), indentUnit.of("    "), COLOURS, grammarOf(name),
      // The Tab key leaves the editor, so that keyboard users can.
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
      EditorView.contentAttributes.of({ "aria-label": name, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.onChange();
      }),
    ] });
  }
}
