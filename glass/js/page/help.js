// The list of keys: `keys` has pairs of their names and what they do.

import { element } from "./dom.js";

export function help(page, keys) {
  const rows = keys.map(([names, what]) => element("tr", {},
    element("th", { scope: "row" }, element("kbd", {}, names)), element("td", {}, what)));
  const close = element("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Close");
  const dialog = element("dialog", { "aria-label": "Keys" },
    element("h2", {}, "Keys"), element("table", {}, element("tbody", {}, ...rows)),
    element("p", { class: "faint" }, "Click a packet, or press N, to see what it is and where it waited."), close);
  dialog.addEventListener("close", () => dialog.remove());
  page.append(dialog);
  dialog.showModal();
}
