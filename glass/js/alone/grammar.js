// P4-16 and STF for the editor: which word is what. Colours only; what a program means the compiler says.

import { StreamLanguage } from "../../vendor/codemirror.js";

const words = (text) => new Set(text.split(" "));
const KEYWORDS = words("abstract action actions apply break continue control const default default_action else entries enum extern exit "
  + "for header header_union if in inout key match_kind out package parser priority return select size state struct "
  + "switch table this transition type typedef value_set");
const TYPES = words("bit bool error int list string tuple varbit void packet_in packet_out standard_metadata_t "
  + "counter direct_counter meter direct_meter register action_profile action_selector");
const ATOMS = words("true false accept reject NoAction exact lpm ternary range optional selector _");

const PREPROCESSOR = /^\s*#\s*\w+/;
const NUMBER = /^\d+[ws](?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[\d_]+)|^(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*)/;

function token(stream, state) {
  if (state.isComment) {
    if (stream.skipTo("*/")) {
      stream.match("*/");
      state.isComment = false;
    } else stream.skipToEnd();
    return "comment";
  }
  if (stream.sol() && stream.match(PREPROCESSOR)) {
    // The name of a file behind #include is a string of its own kind.
    state.isInclude = /include$/.test(stream.current());
    return "meta";
  }
  if (stream.eatSpace()) return null;
  if (state.isInclude && stream.match(/^<[^>]*>/)) {
    state.isInclude = false;
    return "string";
  }
  if (stream.match("//")) {
    stream.skipToEnd();
    return "comment";
  }
  if (stream.match("/*")) {
    state.isComment = true;
    return "comment";
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
  if (stream.match(NUMBER)) return "number";
  if (stream.match(/^@\w+/)) return "annotation";
  const word = stream.match(/^[A-Za-z_]\w*/)?.[0];
  if (word) {
    // A field of that name is no keyword.
    if (state.before === ".") {
      state.before = "";
      return "propertyName";
    }
    if (KEYWORDS.has(word)) return "keyword";
    if (TYPES.has(word) || word.endsWith("_t")) return "typeName";
    if (ATOMS.has(word)) return "atom";
    return "variableName";
  }
  const sign = stream.next();
  state.before = sign;
  if ("{([".includes(sign)) state.depth += 1;
  if ("])}".includes(sign)) state.depth = Math.max(0, state.depth - 1);
  return /[-+*/%&|^~!<>=?:]/.test(sign) ? "operator" : null;
}

export const p4 = StreamLanguage.define({
  name: "p4",
  startState: () => ({ isComment: false, isInclude: false, before: "", depth: 0 }),
  token: (stream, state) => {
    if (stream.sol()) state.isInclude = false;
    const kind = token(stream, state);
    if (kind !== null && kind !== "operator") state.before = "";
    return kind;
  },
  // A line stands as deep as braces are open before it; one that begins by closing some, that much less.
  indent: ({ depth, isComment }, after, { unit }) =>
    (isComment ? null : Math.max(0, depth - /^[\])}]*/.exec(after)[0].length) * unit),
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, indentOnInput: /^\s*[\])}]$/ },
});

// Packet tests: a statement a line.
export const stf = StreamLanguage.define({
  name: "stf",
  token: (stream) => {
    const isFirst = stream.sol();
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^(?:0[xX])?[\da-fA-F*]+(?![\w.])/)) return "number";
    if (stream.match(/^[\w.$[\]]+/)) return isFirst ? "keyword" : "variableName";
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});
