// One text in CodeMirror: numbers, P4's colours, and what the compiler says at its place.

import {
  autocompletion, bracketMatching, completionKeymap, defaultKeymap, drawSelection, EditorState, EditorView, highlightActiveLine,
  highlightActiveLineGutter, highlightSelectionMatches, HighlightStyle, history, historyKeymap, hoverTooltip,
  indentOnInput, indentUnit, keymap, lineNumbers, lintGutter, lintKeymap, search, searchKeymap, setDiagnostics,
  syntaxHighlighting, tags, tooltips,
} from "../../vendor/codemirror.js";
import { element } from "../page/dom.js";
import { p4, stf } from "./grammar.js";

// The colours are the page's own, by classes, so that they follow its theme.
const COLOURS = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.comment, class: "p4-comment" },
  { tag: tags.keyword, class: "p4-keyword" },
  { tag: tags.typeName, class: "p4-type" },
  { tag: tags.string, class: "p4-string" },
  { tag: [tags.number, tags.atom], class: "p4-number" },
  { tag: [tags.meta, tags.annotation], class: "p4-meta" },
]));

// The kind of a name that has no type.
const KINDS = {
  Action: "action", Block: "parser or control", Constant: "constant", Enumerator: "constant", Error: "error", Function: "function",
  MatchKind: "match kind", Method: "method", State: "state", Table: "table", Type: "type", ValueSet: "value set",
};

// The label of the button that applies the compiler's fix.
export function mending({ from, to, text }) {
  return from === to ? `Insert ${text.trim()}` : `Write ${text.trim()}`;
}

// A declaration, its type and what its comments say.
function explained({ code, type, words }) {
  return element("div", { class: "meaning" },
    code ? element("pre", {}, code) : "",
    type ? element("p", { class: "faint" }, `Type: ${type}`) : "",
    ...(words ? words.split("\n\n").map((each) => element("p", {}, each)) : []));
}

export class Editor {
  // onChange(text) after each edit, not for the text that `open` shows. `language` answers about this text:
  // complete(at), meaning(at), define(at), goBack(), uses(at), rename(at), format(), mend(fix).
  constructor(onChange, language) {
    Object.assign(this, { onChange, language });
    this.view = new EditorView({ parent: element("div", { class: "editor" }) });
    this.states = new Map();
  }

  get node() {
    return this.view.dom.parentElement;
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // Each text keeps its own history and cursor; one that has changed elsewhere begins anew.
  open(name, text, { isReadOnly = false } = {}) {
    if (this.name) this.states.set(this.name, this.view.state);
    this.name = name;
    const known = this.states.get(name);
    this.view.setState(known?.doc.toString() === text ? known : this.state(name, text, isReadOnly));
  }

  state(name, doc, isReadOnly) {
    return EditorState.create({ doc, extensions: [
      EditorState.readOnly.of(isReadOnly),
      lineNumbers(), highlightActiveLineGutter(), history(), drawSelection(), indentOnInput(),
      bracketMatching(), highlightActiveLine(), highlightSelectionMatches(), search({ top: true }), lintGutter(),
      indentUnit.of("    "), name.endsWith(".stf") ? stf : p4, COLOURS,
      // Where there is room, also outside of the editor.
      tooltips({ parent: document.body }),
      // Typed text stays as typed: a completion is taken only after it was chosen with the arrow keys.
      autocompletion({ icons: false, selectOnOpen: false, override: [(context) => this.complete(context)] }),
      hoverTooltip((view, at) => this.hover(at)),
      // Tab leaves the editor, as everywhere on the page: who works by keyboard must get out.
      keymap.of([
        { key: "F12", run: () => this.command("define") },
        { key: "Alt-ArrowLeft", run: () => this.command("goBack") },
        { key: "Shift-F12", run: () => this.command("uses") },
        { key: "F2", run: () => this.command("rename") },
        { key: "Shift-Alt-f", run: () => this.command("format") },
        ...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap,
      ]),
      EditorView.domEventHandlers({ mousedown: (event, view) => {
        const at = (event.ctrlKey || event.metaKey) && view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (typeof at !== "number") return false;
        void this.language.define(at);
        return true;
      } }),
      EditorView.contentAttributes.of({ "aria-label": `Program ${name}`, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.onChange(update.state.doc.toString());
      }),
    ] });
  }

  // diagnostics: what the compiler says of this text.
  mark(diagnostics) {
    const end = this.view.state.doc.length;
    const at = (place) => Math.min(Math.max(0, place), end);
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics.map((each) => ({
      from: at(each.from), to: at(Math.max(each.to, each.from)), severity: each.severity,
      message: each.title,
      actions: each.fix ? [{ name: mending(each.fix), apply: () => this.language.mend(each.fix) }] : [],
      renderMessage: () => element("div", {},
        element("b", {}, each.title),
        each.label ? element("div", {}, each.label) : "",
        each.hint ? element("div", { class: "faint" }, each.hint) : ""),
    }))));
  }

  // A command of the language at the cursor; its key is always consumed.
  command(name) {
    void this.language[name](this.view.state.selection.main.head);
    return true;
  }

  // The completions at the cursor: behind a dot, while a name is typed, or on request.
  async complete(context) {
    const word = context.matchBefore(/\w*/);
    const isMember = context.state.sliceDoc(word.from - 1, word.from) === ".";
    if (!context.explicit && !isMember && word.from === word.to) return null;
    const found = await this.language.complete(context.pos);
    if (!found?.list.length) return null;
    return {
      from: found.from, validFor: /^\w*$/,
      options: found.list.map((each) => ({
        label: each.name, detail: each.type ?? KINDS[each.kind],
        info: each.code || each.words ? () => explained(each) : undefined,
      })),
    };
  }

  async hover(at) {
    const meaning = await this.language.meaning(at);
    if (!meaning) return null;
    return { pos: meaning.from, end: meaning.to, above: true, create: () => ({ dom: explained(meaning) }) };
  }

  // Applies requested changes: [{from, to, text}], in the order of the text.
  change(changes) {
    this.view.dispatch({ changes: changes.map(({ from, to, text }) => ({ from, to, insert: text })) });
  }

  // The cursor at a place, and the place where it can be seen.
  show(from) {
    const anchor = Math.min(from, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    this.view.focus();
  }
}
