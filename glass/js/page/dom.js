// Elements without markup: text from outside can only ever become text.

// element("button", {class: "go", onclick: ...}, "Go", other)
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((each) => each !== undefined && each !== null));
  return made;
}

// Writes only what has changed, so that a picture a frame costs no layout.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function table(caption, head, rows) {
  const cell = (each, index) => element(index ? "td" : "th", index ? {} : { scope: "row" }, each instanceof Node ? each : String(each));
  return element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head.map((each) => element("th", { scope: "col" }, each)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))));
}
