// The bar at the bottom: the instant, how fast time goes, and a scrubber over all that is remembered.

import { phasesOf } from "../model/arbiter.js";
import { count, instant, paceWords, shortWords } from "../words.js";
import { element, setText } from "./dom.js";

const PARTS = 1000;
// A step beyond the known events: how far time passes at first, in seconds of the viewer, how far
// at least and at most, and how often it is tried.
const SPAN_FIRST_S = 0.02, SPAN_LEAST_PS = 1e6, SPAN_MAX_PS = 1e12, TRIES_MAX = 60;
// The events that a step leads to, by the name of the step.
export const STEPS = {
  event: () => true,
  packet: ({ kind }) => kind === "received" || kind === "transmitted" || kind === "dropped",
  slot: ({ kind }) => kind === "arbitration",
};

export class TimeBar {
  constructor(player, glass) {
    this.player = player;
    this.glass = glass;
    this.stepsDue = 0;
    const button = (text, label, action) =>
      element("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    this.play = button("❚❚", "Pause (space)", () => player.toggle());
    this.live = element("button", { type: "button", onclick: () => player.follow() }, "Live");
    this.now = element("output", { class: "now" });
    this.pace = element("span", { class: "pace" });
    this.marks = element("canvas", { "aria-hidden": "true" });
    this.range = element("input", {
      type: "range", min: 0, max: PARTS, value: PARTS, "aria-label": "Instant",
      oninput: () => this.scrubbed(),
    });
    this.unit = element("select", { "aria-label": "Step by", title: "What a step leads to (S)" },
      ...Object.keys(STEPS).map((each) => element("option", { value: each }, each)));
    this.node = element("footer", { class: "time", "aria-label": "Time" },
      element("div", { class: "buttons" },
        button("◂", "The previous thing that happens (left)", () => this.step(-1)),
        this.play,
        button("▸", "The next thing that happens (right)", () => this.step(1)),
        this.unit,
        button("−", "Slower (−)", () => player.slower()),
        button("+", "Faster (+)", () => player.faster()),
        ...(player.isLive ? [this.live] : [])),
      element("div", {}, this.now, this.pace),
      element("div", { class: "scrub" }, this.marks, this.range),
      element("span", { class: "pace notpresented" }));
    this.reach = this.node.lastChild;
    player.listeners.add(() => this.show());
  }

  // To what happens next in the router that is shown, or happened last. An arbitration takes no time,
  // but has phases: `phase` is the one to be seen, until time goes on.
  step(direction) {
    const { player, glass } = this;
    const phase = this.nextPhase(direction);
    if (phase !== undefined) {
      player.pause();
      this.phase = phase;
      return;
    }
    player.pause();
    // Further steps wait for those that are under way.
    if (direction > 0 && (this.stepsDue || !this.stepTo(direction))) this.stepOn();
    if (direction < 0) {
      this.stepsDue = 0;
      this.stepTo(direction);
    }
  }

  // To what happens next, or happened last, as far as it is known; false: nothing.
  stepTo(direction) {
    const { player, glass: { model } } = this;
    const { timePs } = player, { insides, samples } = model;
    const isWanted = STEPS[this.unit.value];
    const list = samples.list;
    const to = direction > 0
      ? model.knowsPackets ? insides.next(timePs, isWanted) : list.find((each) => each.time_ps > timePs)?.time_ps
      : model.knowsPackets ? insides.previous(timePs, isWanted) : list.findLast((each) => each.time_ps < timePs)?.time_ps;
    // Other routers may still have to report it.
    if (to === undefined || to > player.toldPs) return false;
    player.seek(to);
    const phases = this.phases();
    this.phase = phases ? (direction > 0 ? 0 : phases - 1) : undefined;
    return true;
  }

  // Beyond the known events: lets time pass until something happens, once for each step that is
  // due.
  async stepOn() {
    if (this.stepsDue++) return;
    const { player, glass } = this, { model } = glass;
    let spanPs = Math.max(SPAN_LEAST_PS, player.pace * SPAN_FIRST_S * 1e12);
    for (let tries = 0; this.stepsDue && tries < TRIES_MAX;) {
      const { timePs } = player;
      if (!await glass.goOn(spanPs)) break;
      // Somebody has gone elsewhere in the meantime.
      if (player.isPlaying || player.timePs !== timePs || glass.model !== model) break;
      tries++;
      spanPs = Math.min(SPAN_MAX_PS, 2 * spanPs);
      while (this.stepsDue && this.stepTo(1)) {
        this.stepsDue--;
        tries = 0;
      }
    }
    this.stepsDue = 0;
  }

  // Steps lead to packets, to slots of the crossbar, or to everything, in turn.
  nextUnit() {
    this.unit.selectedIndex = (this.unit.selectedIndex + 1) % this.unit.length;
  }

  // An instant that is pointed at elsewhere.
  point(timePs) {
    this.pointedPs = timePs;
    this.show();
  }

  // How many phases the arbitration of this very instant has; undefined: there is none.
  phases() {
    const { player, glass } = this;
    if (!glass.place || !glass.model.knowsPacketsAt(player.timePs)) return undefined;
    const { arbitration } = glass.model.insides.at(player.timePs, "phases");
    return arbitration?.timePs === player.timePs ? phasesOf(arbitration).length : undefined;
  }

  nextPhase(direction) {
    const phases = this.phases();
    if (this.phase === undefined || !phases || this.player.isPlaying) return undefined;
    const next = this.phase + direction;
    return next >= 0 && next < phases ? next : undefined;
  }

  scrubbed() {
    const { player } = this;
    this.phase = undefined;
    const share = Number(this.range.value) / PARTS;
    player.isPlaying = false;
    player.seek(player.startPs + (player.toldPs - player.startPs) * share);
  }

  show() {
    const { player, glass } = this;
    if (player.isPlaying) this.phase = undefined;
    setText(this.play, player.isPlaying ? "❚❚" : "▶");
    this.play.setAttribute("aria-label", player.isPlaying ? "Pause (space)" : "Play (space)");
    this.live.setAttribute("aria-pressed", String(player.isFollowing));
    setText(this.now, instant(glass.shownPs, player.pace));
    // Only of a pace at which one can see that it is not kept.
    const isShort = player.pace > 1 && player.isShort;
    const pace = player.isFollowing && player.isLed ? "follows the page that steers" : isShort ? shortWords(player) : paceWords(player.pace);
    setText(this.pace, ` ${player.isPlaying ? pace : "paused"}`);
    const span = Math.max(1, player.toldPs - player.startPs);
    if (document.activeElement !== this.range || player.isPlaying) {
      this.range.value = String(Math.round(((player.timePs - player.startPs) / span) * PARTS));
    }
    this.range.setAttribute("aria-valuetext", instant(player.timePs, player.pace));
    setText(this.reach, `${secondsWords(span)} remembered${this.packetsWords()}${missedWords(glass.model)}`);
    this.drawMarks(span);
  }

  // From when on single packets are remembered, where depths are remembered for longer.
  get packetsFromPs() {
    const { player, glass: { model } } = this;
    return model.knowsPacketsAt(player.toldPs) && model.insides.startPs > player.startPs ? model.insides.startPs : undefined;
  }

  packetsWords() {
    const from = this.packetsFromPs;
    return from === undefined ? "" : `, single packets of the last ${secondsWords(this.player.toldPs - from)}`;
  }

  // Where packets were dropped, so that one finds it again, and a line under what has single packets.
  drawMarks(span) {
    const { player, glass } = this;
    const { clientWidth: width, clientHeight: height } = this.marks;
    // A canvas that is given its size is made anew: only where it has changed.
    if (this.marks.width !== width) this.marks.width = width;
    if (this.marks.height !== height) this.marks.height = height;
    const context = this.marks.getContext("2d");
    context.clearRect(0, 0, width, height);
    const from = this.packetsFromPs;
    if (from !== undefined) {
      context.fillStyle = glass.palette.accent;
      context.fillRect(((from - player.startPs) / span) * width, height - 2, width, 2);
    }
    context.fillStyle = glass.palette.alarm;
    let drawn = -1;
    for (const note of glass.model.notes) {
      if (note.kind !== "drop") continue;
      const x = Math.round(((note.timePs - player.startPs) / span) * width);
      // Of thousands at one place one is seen.
      if (x === drawn) continue;
      drawn = x;
      context.fillRect(x, height - 7, 1.5, 7);
    }
    if (this.pointedPs === undefined) return;
    context.fillStyle = glass.palette.accent;
    context.fillRect(((this.pointedPs - player.startPs) / span) * width - 1, 0, 2, height);
  }
}

const secondsWords = (ps) => `${(ps / 1e12).toFixed(ps < 1e13 ? 2 : 0)} s`;

// The reports that this page was too slow to take.
function missedWords({ lostEvents, missedSamples }) {
  const parts = [lostEvents && `${count(lostEvents)} steps of packets`, missedSamples && `${count(missedSamples)} samples`].filter(Boolean);
  return parts.length ? `; missed by a page that was too slow: ${parts.join(" and ")}` : "";
}
