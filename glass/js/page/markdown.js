// The Markdown of handouts as elements: headings, paragraphs, lists, tables, code. Pictures are left out, and only
// links to web pages lead somewhere. Text can only become text.

import { element } from "./dom.js";

export function markdown(text) {
  const lines = text.split("\n");
  const found = [];
  let at = 0;
  const take = (isIn) => {
    const from = at;
    while (at < lines.length && isIn(lines[at])) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#+) (.*)/.exec(line);
    if (line.startsWith("```")) {
      at++;
      found.push(element("pre", { class: "wide", tabindex: 0 }, take((each) => !each.startsWith("```")).join("\n")));
      at++;
    } else if (heading) {
      at++;
      // The page has the first heading itself.
      found.push(element(`h${Math.min(6, heading[1].length + 1)}`, {}, ...inline(heading[2])));
    } else if (line.startsWith("|")) {
      found.push(tableOf(take((each) => each.startsWith("|"))));
    } else if (ITEM.test(line)) {
      found.push(listOf(take((each) => ITEM.test(each) || /^\s+\S/.test(each)), /^\s*\d/.test(line)));
    } else if (!line.trim()) {
      at++;
    } else {
      found.push(element("p", {}, ...inline(take((each) => each.trim() && !/^(#|\||```)/.test(each) && !ITEM.test(each)).join(" "))));
    }
  }
  return found.filter((each) => each.childNodes.length);
}

const ITEM = /^\s*([-*]|\d+\.) /;

function listOf(lines, isNumbered) {
  const items = [];
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ""));
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return element(isNumbered ? "ol" : "ul", {}, ...items.map((each) => element("li", {}, ...inline(each))));
}

function tableOf(lines) {
  const cells = (line) => line.replace(/^\||\|\s*$/g, "").split("|").map((each) => inline(each.trim()));
  const [head, , ...rows] = lines.map(cells);
  return element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "A table" }, element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((each) => (each.length ? element("th", { scope: "col" }, ...each) : element("td", {}))))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((each) => element("td", {}, ...each)))))));
}

// Code, strong words, emphasis and links of a line.
function inline(text) {
  const parts = [];
  let rest = text.replace(/!\[[^\]]*\]\([^)]*\)/g, "");
  const MARK = /`([^`]+)`|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)]+)\)/;
  for (let found = MARK.exec(rest); found; found = MARK.exec(rest)) {
    const [all, code, strong, soft, words, way] = found;
    if (found.index) parts.push(rest.slice(0, found.index));
    if (code) parts.push(element("code", {}, code));
    else if (strong) parts.push(element("b", {}, ...inline(strong)));
    else if (soft) parts.push(element("i", {}, ...inline(soft)));
    else if (/^https?:\/\//.test(way)) parts.push(element("a", { href: way, target: "_blank", rel: "noopener" }, ...inline(words)));
    else parts.push(...inline(words));
    rest = rest.slice(found.index + all.length);
  }
  return rest ? [...parts, rest] : parts;
}
