// The list of keys.

import { element } from "./dom.js";
import { KEYS } from "./keys.js";

export function help(page) {
  const rows = KEYS.map(([keys, what]) => element("tr", {},
    element("th", { scope: "row" }, element("kbd", {}, keys)), element("td", {}, what)));
  const close = element("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Close");
  const dialog = element("dialog", { "aria-label": "Keys" },
    element("h2", {}, "Keys"), element("table", {}, element("tbody", {}, ...rows)),
    element("p", { class: "faint" }, "Click a packet, or press N, to see what it is and where it waited."), close);
  dialog.addEventListener("close", () => dialog.remove());
  page.append(dialog);
  dialog.showModal();
}
