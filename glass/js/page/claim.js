// What a lesson says, as a number: measured where it says so, for each of the settings that it compares.
//
// A claim: {title, port, class, cases: [[name, words]], caseOf(about)}: which part of the rate of a port's line is used,
// by all or by one class, by which case was in force throughout the window.

import { RATE_WINDOW_PS, settingsOf, WINDOW_WORDS } from "../model/samples.js";
import { percent, rate } from "../words.js";
import { element, setText } from "./dom.js";

export class ClaimPanel {
  constructor(glass, claim) {
    Object.assign(this, { glass, claim });
    // By case: the share that was measured last.
    this.found = new Map();
    this.cells = new Map(claim.cases.map(([name]) => [name, element("output", {}, "…")]));
    this.rows = new Map(claim.cases.map(([name, words]) => [name, element("div", {}, element("span", {}, words), this.cells.get(name))]));
    this.about = element("p", { class: "faint" });
    this.node = element("section", { class: "claim", "aria-label": claim.title }, element("h3", {}, claim.title), ...this.rows.values(), this.about);
  }

  show() {
    const { glass, claim } = this;
    const told = measured(glass.model.samples, claim, glass.shownPs);
    for (const [name, row] of this.rows) row.toggleAttribute("data-now", name === told?.name);
    if (!told) return;
    setText(this.about, `Measured at ${glass.model.name}, port ${claim.port}, ${WINDOW_WORDS} of the network; `
      + `the line carries ${rate(told.rateBps)}.`);
    if (told.share === undefined) return;
    this.found.set(told.name, told.share);
    setText(this.cells.get(told.name), percent(told.share));
  }
}

// {name, share, rateBps}: which case is in force at an instant, and the share of the line that was used over
// the window before it; no share while settings have changed within the window.
export function measured(samples, { port, class: class_, caseOf }, timePs) {
  const about = samples.aboutAt(timePs), rateBps = samples.configAt(timePs, port)?.rate_bps;
  if (!rateBps) return undefined;
  const told = { name: caseOf(about), rateBps }, fromPs = timePs - RATE_WINDOW_PS;
  const within = [samples.aboutAt(fromPs), ...samples.abouts.filter((each) => each.time_ps > fromPs && each.time_ps <= timePs)];
  if (within.some((each) => settingsOf(each) !== settingsOf(about))) return told;
  const now = samples.rateAt(timePs, port, class_);
  return now === undefined ? told : { ...told, share: now / rateBps };
}
