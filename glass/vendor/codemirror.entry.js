// What of CodeMirror the page's editor uses; update.sh bundles it into codemirror.js.

export { autocompletion, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export {
  bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting,
} from "@codemirror/language";
export { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { Compartment, EditorState } from "@codemirror/state";
export {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers,
  tooltips,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";
