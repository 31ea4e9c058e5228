// The bar at the bottom: the instant, how fast time goes, and a scrubber over all that is remembered.

import { instant, paceWords } from "../words.js";
import { element, setText } from "./dom.js";

const PARTS = 1000;

export class TimeBar {
  constructor(player, glass) {
    this.player = player;
    this.glass = glass;
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
    this.node = element("footer", { class: "time", "aria-label": "Time" },
      element("div", { class: "buttons" },
        button("◂", "The previous thing that happens (left)", () => this.step(-1)),
        this.play,
        button("▸", "The next thing that happens (right)", () => this.step(1)),
        button("−", "Slower (−)", () => player.slower()),
        button("+", "Faster (+)", () => player.faster()),
        ...(player.isLive ? [this.live] : [])),
      element("div", {}, this.now, this.pace),
      element("div", { class: "scrub" }, this.marks, this.range),
      element("span", { class: "pace notpresented" }));
    this.reach = this.node.lastChild;
    player.listeners.add(() => this.show());
  }

  // To what happens next in the router that is shown, or happened last.
  step(direction) {
    const { player, glass } = this;
    player.isPlaying = false;
    const { insides, samples } = glass.model;
    const known = glass.model.knowsPackets;
    const list = samples.list.map((each) => each.time_ps);
    const to = direction > 0
      ? known ? insides.next(player.timePs) : list.find((each) => each > player.timePs)
      : known ? insides.previous(player.timePs) : list.findLast((each) => each < player.timePs);
    if (to !== undefined) player.seek(to);
    else if (direction > 0) glass.world?.stepOn();
    player.changed();
  }

  scrubbed() {
    const { player } = this;
    const share = Number(this.range.value) / PARTS;
    player.isPlaying = false;
    player.seek(player.startPs + (player.toldPs - player.startPs) * share);
  }

  show() {
    const { player } = this;
    setText(this.play, player.isPlaying ? "❚❚" : "▶");
    this.play.setAttribute("aria-label", player.isPlaying ? "Pause (space)" : "Play (space)");
    this.live.setAttribute("aria-pressed", String(player.isFollowing));
    setText(this.now, instant(player.timePs, player.pace));
    setText(this.pace, ` ${player.isPlaying ? paceWords(player.pace) : "paused"}`);
    const span = Math.max(1, player.toldPs - player.startPs);
    if (document.activeElement !== this.range || player.isPlaying) {
      this.range.value = String(Math.round(((player.timePs - player.startPs) / span) * PARTS));
    }
    this.range.setAttribute("aria-valuetext", instant(player.timePs, player.pace));
    setText(this.reach, `${(span / 1e12).toFixed(span < 1e13 ? 2 : 0)} s remembered`);
    this.drawMarks(span);
  }

  // Where packets were dropped, so that one finds it again.
  drawMarks(span) {
    const { player, glass } = this;
    const { clientWidth: width, clientHeight: height } = this.marks;
    this.marks.width = width;
    this.marks.height = height;
    const context = this.marks.getContext("2d");
    context.fillStyle = glass.palette.alarm;
    for (const note of glass.model.notes) {
      if (note.kind !== "drop") continue;
      const x = ((note.timePs - player.startPs) / span) * width;
      context.fillRect(x, height - 7, 1.5, 7);
    }
  }
}
