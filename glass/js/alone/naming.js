// Asks for a name.

import { element } from "../page/dom.js";

// Resolves to the typed name, or to undefined.
export function askName(old) {
  return new Promise((resolve) => {
    const field = element("input", { type: "text", value: old, "aria-label": "New name", spellcheck: "false" });
    const done = (name) => {
      resolve(name);
      dialog.close();
    };
    const form = element("form", { onsubmit: (event) => {
      event.preventDefault();
      done(field.value.trim());
    } }, field, element("div", { class: "row" },
      element("button", { type: "submit", class: "main" }, "Rename"),
      element("button", { type: "button", onclick: () => done() }, "Close")));
    const dialog = element("dialog", { "aria-label": "Rename" }, element("h2", {}, `Rename ${old}`), form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
    field.select();
  });
}
