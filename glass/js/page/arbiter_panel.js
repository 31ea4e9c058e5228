// The crossbar's last arbitration as matrices, an input a row and an output a column, one for each round.

import { roundsOf } from "../model/arbiter.js";
import { arbiterName, instant } from "../words.js";
import { element } from "./dom.js";

// Of a router with more ports only those that take part are shown.
const PORTS_MAX = 12;
const SIGNS = { asks: "○", granted: "◐", matched: "●", earlier: "●", "": "" };
const WORDS = { asks: "requests", granted: "granted", matched: "matched", earlier: "matched in an earlier round", "": "" };

export class ArbiterPanel {
  constructor(glass) {
    this.glass = glass;
    this.matrices = element("div", { class: "matrices" });
    this.moved = element("ul", {});
    this.node = element("div", {}, element("h2", {}, "Arbitration"), this.matrices, this.moved,
      element("p", { class: "faint" }, "○ requests, ◐ granted, ● matched. ▾ is an output's pointer, the input that it grants first; ▸ an input's, "
        + "the output that it accepts first. Let a step lead to slots (S) to go from one arbitration to the next."));
  }

  // Only a router with an input stage arbitrates.
  get hasArbiter() {
    const { model, shownPs } = this.glass, about = model.samples.aboutAt(shownPs);
    return Boolean(about) && about.input.queueing !== "NONE";
  }

  show() {
    const { model, shownPs, player } = this.glass;
    const state = this.hasArbiter && model.knowsPacketsAt(shownPs) ? model.insides.at(shownPs, "arbiter") : undefined;
    const arbitration = state?.arbitration;
    if (arbitration === this.shown && model === this.of) return;
    [this.shown, this.of] = [arbitration, model];
    this.moved.replaceChildren();
    if (!arbitration) return this.matrices.replaceChildren(element("p", {}, "No arbitration is known at this instant."));
    const before = state.pointersBefore?.length ? state.pointersBefore : arbitration.pointers;
    const about = model.samples.aboutAt(shownPs), rounds = roundsOf(arbitration);
    this.matrices.replaceChildren(
      element("p", { class: "wide" }, `${arbiterName(about.input.arbiter)} at ${instant(arbitration.timePs, player.pace)}`),
      ...rounds.map((round, index) => matrix(rounds.length > 1 ? `Round ${index + 1}` : "One round", round, before, portsOf(about, arbitration))));
    this.moved.replaceChildren(...movedWords(before, arbitration.pointers).map((each) => element("li", {}, each)));
    return undefined;
  }
}

function portsOf(about, { asks }) {
  const all = about.ports.map((each) => each.port).filter((each) => each < 510);
  if (all.length <= PORTS_MAX) return { inputs: all, outputs: all };
  const some = (name) => [...new Set(asks.map((each) => each[name]))].sort((a, b) => a - b).slice(0, PORTS_MAX);
  return { inputs: some("input"), outputs: some("output") };
}

function matrix(title, { levelOf }, pointers, { inputs, outputs }) {
  const pointerOf = new Map(pointers.map((each) => [each.port, each]));
  const cell = (input, output) => {
    const level = levelOf(input, output);
    const isGrant = pointerOf.get(output)?.grant === input, isAccept = pointerOf.get(input)?.accept === output;
    const words = [WORDS[level], isGrant ? `pointer of output ${output}` : "", isAccept ? `pointer of input ${input}` : ""].filter(Boolean).join(", ");
    return element("td", { class: level, ...(words ? { "aria-label": words, title: words } : {}) },
      element("i", {}, `${isGrant ? "▾" : ""}${isAccept ? "▸" : ""}`), SIGNS[level]);
  };
  return element("table", { class: "matrix" }, element("caption", {}, title),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "in, out"), ...outputs.map((each) => element("th", { scope: "col" }, String(each))))),
    element("tbody", {}, ...inputs.map((input) => element("tr", {}, element("th", { scope: "row" }, String(input)), ...outputs.map((output) => cell(input, output))))));
}

// Which pointers the arbitration has moved, in words.
function movedWords(before, after) {
  const earlier = new Map(before.map((each) => [each.port, each]));
  return after.flatMap(({ port, grant, accept }) => {
    const was = earlier.get(port);
    return [
      was && was.grant !== grant ? `Output ${port} grants input ${grant} first next time, not ${was.grant}.` : "",
      was && was.accept !== accept ? `Input ${port} accepts output ${accept} first next time, not ${was.accept}.` : "",
    ].filter(Boolean);
  });
}
