// Python and YAML for the editor: colours only.

import { StreamLanguage } from "../../vendor/codemirror.js";
import { p4 } from "../alone/grammar.js";

const words = (text) => new Set(text.split(" "));
const KEYWORDS = words("and as assert async await break class continue def del elif else except finally for from global if import in is "
  + "lambda match nonlocal not or pass raise return try while with yield");
const ATOMS = words("False None True self");
const TYPES = words("bool bytes dict float frozenset int list object set str tuple");
const NUMBER = /^(?:0[xX][\da-fA-F_]+|0[bB][01_]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)/;
const LONG = /^[fFrRbB]{0,2}("""|''')/, SHORT = /^[fFrRbB]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/;

const python = StreamLanguage.define({
  startState: () => ({ quote: "" }),
  token(stream, state) {
    const long = !state.quote && stream.match(LONG);
    if (long || state.quote) {
      state.quote ||= long[1];
      if (stream.skipTo(state.quote)) {
        stream.match(state.quote);
        state.quote = "";
      } else stream.skipToEnd();
      return "string";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("#")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(SHORT)) return "string";
    if (stream.match(NUMBER)) return "number";
    if (stream.match(/^@[\w.]+/)) return "meta";
    const word = stream.match(/^[^\W\d]\w*/)?.[0];
    if (!word) {
      stream.next();
      return null;
    }
    if (KEYWORDS.has(word)) return "keyword";
    if (TYPES.has(word)) return "typeName";
    return ATOMS.has(word) ? "atom" : "variableName";
  },
  languageData: { commentTokens: { line: "#" } },
});

const yaml = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match("#")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match(SHORT)) return "string";
    if (stream.match(/^[\w.-]+(?=:(?:\s|$))/)) return "keyword";
    if (stream.match(NUMBER)) return "number";
    if (!stream.match(/^[\w.-]+/)) stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});

const BY_ENDING = { p4, py: python, yaml };

// The grammar of a file by its name; nothing for other files.
export function grammarOf(name) {
  return BY_ENDING[name.split(".").at(-1)] ?? [];
}
