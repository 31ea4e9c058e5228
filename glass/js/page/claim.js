// A lesson's claim as a number, measured in each of the settings that it compares.
//
// A claim: {title, measure, place, port, cases: [[name, words]], caseOf(about, sources)}: the measure, its place in
// words and, where it is one, its port, and the case that it counts for: the setting in force throughout the window.

import { RATE_WINDOW_PS, settingsOf, WINDOW_WORDS } from "../model/samples.js";
import { element, setText } from "./dom.js";

export class ClaimPanel {
  constructor(glass, claim) {
    Object.assign(this, { glass, claim });
    this.cells = new Map(claim.cases.map(([name]) => [name, element("output", {}, "…")]));
    this.rows = new Map(claim.cases.map(([name, words]) => [name, element("div", {}, element("span", {}, words), this.cells.get(name))]));
    this.node = element("section", { class: "claim", "aria-label": claim.title }, element("h3", {}, claim.title), ...this.rows.values(),
      element("p", { class: "faint" }, `Measured ${claim.place}, ${WINDOW_WORDS} of the network.`));
  }

  clear() {
    for (const cell of this.cells.values()) setText(cell, "…");
  }

  // The present results, for a report.
  get said() {
    const { title, place, cases } = this.claim;
    return { title, place, rows: cases.map(([name, words]) => [words, this.cells.get(name).textContent]) };
  }

  show() {
    const { glass: { model, hosts, shownPs }, claim } = this;
    const found = measured(claim, { model, hosts }, shownPs);
    for (const [name, row] of this.rows) row.toggleAttribute("data-now", name === found?.name);
    // The last measurement stays, for comparison.
    const cell = this.cells.get(found?.name);
    if (cell && found.value !== undefined) setText(cell, claim.measure.words(found.value));
  }
}

// {name, value}: which case is in force at an instant, and what was measured over the window before it; no value
// while settings have changed within the window.
export function measured({ measure, caseOf }, sources, timePs) {
  const { samples } = sources.model, about = samples.aboutAt(timePs);
  if (!about) return undefined;
  const name = caseOf(about, sources, timePs), fromPs = timePs - RATE_WINDOW_PS;
  const within = [samples.aboutAt(fromPs), ...samples.abouts.filter((each) => each.time_ps > fromPs && each.time_ps <= timePs)];
  if (within.some((each) => settingsOf(each) !== settingsOf(about))) return { name };
  return { name, value: measure.read(sources, timePs) };
}
