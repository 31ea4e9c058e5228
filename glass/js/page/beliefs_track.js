// A track of the timeline: the true depth of a queue, and below it what each telemetry system believed.

import { barsAt, sentence, standing } from "../model/beliefs.js";
import { instant, tickWords } from "../words.js";
import { element, setText, table } from "./dom.js";
import { listen } from "./pointer.js";

// As uPlot's axes have it, so that one instant stands at one place in all tracks.
const LEFT = 64, RIGHT = 28;
const AXIS = 18, DEPTH = 74, ROW = 15, GAP = 4;
const TICK_PX = 90;
const TITLE = "Who knows of it";
const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
const WORDS = { right: "knows of it", false: "a false alarm", unseen: "does not know", missed: "missed it, so far" };

export class BeliefsTrack {
  constructor(beliefs, handlers) {
    this.beliefs = beliefs;
    this.onSeek = handlers.onSeek;
    this.canvas = element("canvas", { role: "img", "aria-label": TITLE });
    this.place = element("div", { class: "curve", style: `height:${this.height}px` }, this.canvas);
    this.value = element("span", { class: "value", role: "status" });
    this.rows = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `${TITLE} as a table` });
    this.details = element("details", { class: "notpresented" }, element("summary", {}, "As a table"), this.rows);
    this.details.addEventListener("toggle", () => this.tabulate());
    const marks = ["right", "false", "missed"].map((kind) => element("span", {}, element("i", { class: `belief ${kind}` }), WORDS[kind]));
    this.node = element("div", { class: "chart beliefs" },
      element("h2", {}, element("b", {}, TITLE),
        element("span", { class: "legend" }, ...marks, element("span", {}, element("i", { class: "belief known" }), "it knew"))),
      this.place, this.value, this.details);
    listen(this.canvas, (event) => this.secondsAt(event), handlers);
  }

  get height() {
    return AXIS + DEPTH + GAP + ROW * this.beliefs.systems.length + GAP;
  }

  // `view`: {from, to, nowS, untilPs}: the axis and the picture, in seconds, and the last instant that may be shown.
  draw(view, palette) {
    Object.assign(this, { view, palette });
    this.say();
    if (this.details.open) this.tabulate();
    const { clientWidth: width } = this.place, ratio = devicePixelRatio;
    // The open table hides the drawing.
    if (!width) return;
    if (this.canvas.width !== Math.round(width * ratio)) {
      Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(this.height * ratio) });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${this.height}px` });
    }
    this.width = width;
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, this.height);
    context.font = "11px system-ui, sans-serif";
    this.drawAxis(context);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT - RIGHT, this.height);
    context.clip();
    this.drawDepth(context);
    this.drawBars(context);
    this.drawNow(context);
    context.restore();
    this.drawNames(context);
  }

  // Its drawing in these colours; none before the first one, and while the open table hides it.
  picture(palette) {
    if (!this.view) return undefined;
    this.draw(this.view, palette);
    return this.place.clientWidth ? this.canvas : undefined;
  }

  x(seconds) {
    const { from, to } = this.view;
    return LEFT + ((seconds - from) / (to - from)) * (this.width - LEFT - RIGHT);
  }

  secondsAt(event) {
    if (!this.view) return NaN;
    const { from, to } = this.view, x = event.clientX - this.canvas.getBoundingClientRect().left;
    return from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (to - from);
  }

  drawAxis(context) {
    const { from, to } = this.view, { faint, wire } = this.palette;
    const ticks = ticksOf(from, to, Math.max(2, Math.floor((this.width - LEFT) / TICK_PX)));
    const words = tickWords(ticks);
    context.textAlign = "center";
    ticks.forEach((tick, index) => {
      const x = Math.round(this.x(tick)) + 0.5;
      context.strokeStyle = wire;
      line(context, x, AXIS, x, this.height);
      context.fillStyle = faint;
      context.fillText(words[index], x, AXIS - 6);
    });
  }

  drawDepth(context) {
    const { depth, thresholdBytes } = this.beliefs, { accent, faint } = this.palette;
    const bottom = AXIS + DEPTH, y = (bytes) => bottom - (bytes / this.top) * (DEPTH - 4);
    context.beginPath();
    context.moveTo(this.x(0), bottom);
    let last = 0;
    for (const [timePs, bytes] of depth) {
      if (timePs > this.view.untilPs) break;
      const x = this.x(timePs / 1e12);
      context.lineTo(x, y(last));
      context.lineTo(x, y(bytes));
      last = bytes;
    }
    const end = this.x(this.view.untilPs / 1e12);
    context.lineTo(end, y(last));
    context.lineTo(end, bottom);
    context.fillStyle = `${accent}55`;
    context.fill();
    context.strokeStyle = faint;
    context.setLineDash([2, 3]);
    line(context, LEFT, y(thresholdBytes), this.width - RIGHT, y(thresholdBytes));
    context.setLineDash([]);
  }

  get top() {
    const { depth, thresholdBytes } = this.beliefs;
    this.most ??= depth.reduce((most, [, bytes]) => Math.max(most, bytes), thresholdBytes);
    return this.most;
  }

  drawBars(context) {
    const { flows, alarm, faint, ink } = this.palette;
    const colours = { right: flows[2], false: alarm };
    this.beliefs.systems.forEach((system, row) => {
      const top = AXIS + DEPTH + GAP + row * ROW + 2, height = ROW - 4;
      for (const { kind, fromPs, toPs, knownPs } of barsAt(system, this.view.untilPs)) {
        const left = this.x(fromPs / 1e12), width = Math.max(2, this.x(toPs / 1e12) - left);
        if (colours[kind]) {
          context.fillStyle = colours[kind];
          // A gap, where one claim follows the other at once.
          context.fillRect(left, top, Math.max(2, width - 1), height);
          context.fillStyle = ink;
          context.fillRect(this.x(knownPs / 1e12) - 1, top - 1, 2, height + 2);
        } else {
          context.strokeStyle = faint;
          context.setLineDash([3, 2]);
          context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
          context.setLineDash([]);
        }
      }
    });
  }

  drawNow(context) {
    const line_ = (seconds, colour) => {
      context.strokeStyle = colour;
      line(context, this.x(seconds), AXIS, this.x(seconds), this.height);
    };
    line_(this.view.nowS, this.palette.accent);
    if (this.pointed !== undefined) line_(this.pointed, this.palette.pointer);
  }

  drawNames(context) {
    const { ink, faint, alarm, flows } = this.palette, timePs = this.instantPs;
    const colours = { knows: flows[2], false: alarm, unaware: ink };
    context.textAlign = "right";
    context.fillStyle = faint;
    context.fillText(kB(this.top), LEFT - 6, AXIS + 10, LEFT - 8);
    context.fillText("0", LEFT - 6, AXIS + DEPTH);
    this.beliefs.systems.forEach((system, row) => {
      context.fillStyle = colours[standing(system, timePs)] ?? faint;
      context.fillText(system.name, LEFT - 6, AXIS + DEPTH + GAP + row * ROW + 11, LEFT - 8);
    });
    context.textAlign = "left";
  }

  // The instant that is spoken of: that of the pointer where it is over a track, and of the picture else.
  get instantPs() {
    return this.pointed === undefined ? this.view.nowS * 1e12 : Math.min(this.pointed * 1e12, this.view.untilPs);
  }

  point(seconds) {
    const { from, to } = this.view ?? {};
    this.pointed = seconds >= from && seconds <= to ? seconds : undefined;
    if (this.view) this.draw(this.view, this.palette);
  }

  say() {
    const { from, to } = this.view, timePs = this.instantPs;
    const words = `${instant(timePs, (to - from) / 12)}: ${sentence(this.beliefs, timePs, kB)}`;
    setText(this.value, words);
    this.canvas.setAttribute("aria-label", `${TITLE}: ${words}`);
  }

  // All that is known up to the instant of the picture, with a button that leads to where it was known.
  tabulate() {
    if (!this.view || this.rows.contains(document.activeElement)) return;
    const { untilPs, from, to } = this.view, unit = (to - from) / 12;
    const rows = this.beliefs.systems.flatMap((system) => barsAt(system, untilPs).map((bar) => [system.name, bar]));
    const shape = rows.map(([name, { kind, fromPs, toPs }]) => [name, kind, fromPs, toPs].join(" ")).join();
    if (shape === this.tabulated) return;
    this.tabulated = shape;
    const at = (timePs) => element("button", { type: "button", class: "bare", onclick: () => this.onSeek(timePs / 1e12) }, instant(timePs, unit));
    this.rows.replaceChildren(table(TITLE, ["system", "it", "from", "to", "knew at", "peak", "flows with the most packets"],
      rows.map(([name, { kind, fromPs, toPs, knownPs, claim }]) => [
        name, WORDS[kind], at(fromPs), at(toPs), knownPs === undefined ? "" : at(knownPs),
        claim?.peakBytes ? kB(claim.peakBytes) : "", claim?.culprits.join("; ") ?? ""])));
  }
}

function line(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

// Round instants, no more than `most`.
function ticksOf(from, to, most) {
  const least = (to - from) / most, power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, index) => (first + index) * step);
}
