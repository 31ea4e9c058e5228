// The page without a router to show: the reason, and the next step.

import { element } from "./dom.js";

const WORDS = {
  token: ["This address is not complete", "The glass's address ends in # and a token. Copy all of it "
    + "from the terminal in which vitrine glass runs."],
  empty: ["No network is up", "Start one in another terminal, with vitrine up or vitrine run, and load this "
    + "page again."],
  broken: ["This recording cannot be read", "The file is damaged, or the browser too old to unpack it: "
    + "it takes Firefox 113, Chromium 80 or Safari 16.4."],
  away: ["Nobody answers", "The glass's server has gone away, or was started anew and has another "
    + "token now. Look into the terminal in which vitrine glass runs, and open the address that it prints."],
};

export function sayWhy(page, kind, error) {
  const [title, sentence] = WORDS[kind];
  page.replaceChildren();
  page.className = "whole";
  page.append(
    element("h1", {}, title),
    element("p", {}, sentence),
    error ? element("p", { class: "faint" }, error.message) : "",
    element("button", { type: "button", class: "main", onclick: () => location.reload() }, "Try again"),
  );
}
