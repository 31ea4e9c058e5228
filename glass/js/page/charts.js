// The timeline below the picture: tracks of the same instants on one axis. Which ones is the viewer's choice; over any
// of them the pointer shows an instant everywhere: in all tracks, on the bar of time and, while time stands, in the
// picture. The wheel zooms all of them, dragging pans, dragging with shift measures a span, a click goes there.

import { KINDS, OF_HOSTS, curves } from "../model/curves.js";
import { counterPaths } from "../model/counters.js";
import { settingsOf } from "../model/samples.js";
import { span as spanWords } from "../words.js";
import { Axis } from "./axis.js";
import { BeliefsTrack } from "./beliefs_track.js";
import { element, setText } from "./dom.js";
import { Plot } from "./plot.js";

const KEY = "vitrine.charts";
const AT_FIRST = ["depth", "flows"];
const PATHS_MAX = 2000;
// A press pans by this share of the shown span.
const PAN_SHARE = 0.25;

export class Charts {
  // `onSeek(seconds)` when an instant of a curve is clicked; `onHover(seconds or undefined)`. With `beliefs`, as a
  // recording of the scoreboard has them, there is a track of them that stays.
  constructor({ onSeek, onHover, beliefs }) {
    this.onSeek = onSeek;
    this.onHover = onHover;
    this.plots = element("div", { class: "plots" });
    this.counter = element("input", { type: "text", list: "counters", placeholder: "a counter of the router",
                                      "aria-label": "A counter of the router", onchange: () => this.addCounter() });
    this.refused = element("p", { class: "refused", role: "alert", hidden: true });
    this.paths = element("datalist", { id: "counters" });
    this.choice = element("select", { "aria-label": "Add a chart", onchange: () => this.addChosen() });
    this.axis = new Axis();
    const button = (text, title, action) => element("button", { type: "button", title, onclick: () => this.move(action) }, text);
    this.following = button("Back to now", "Follow the picture again", (axis) => {
      this.measure(0, 0);
      axis.follow();
    });
    this.measured = element("output", { class: "faint", "aria-live": "polite" });
    this.node = element("section", { class: "charts", "aria-label": "Charts" }, this.plots,
      element("div", { class: "row notpresented" }, this.choice, this.counter, this.paths,
        button("Zoom in", "Show a shorter span (wheel)", (axis) => axis.closer()), button("Zoom out", "Show a longer span (wheel)", (axis) => axis.wider()),
        button("Earlier", "Pan to what was before (drag)", (axis) => axis.pan(-PAN_SHARE * (axis.shown.toPs - axis.shown.fromPs))),
        button("Later", "Pan to what came after (drag)", (axis) => axis.pan(PAN_SHARE * (axis.shown.toPs - axis.shown.fromPs))),
        button("All", "All that is remembered", (axis) => axis.all()), this.following, this.measured), this.refused);
    this.beliefs = beliefs && new BeliefsTrack(beliefs, this.handlers);
    if (this.beliefs) this.plots.append(this.beliefs.node);
    this.list = [];
    // The track has the depth; what flows get needs a longer axis than these recordings have.
    for (const kind of beliefs ? [] : remembered()) this.add(kind);
    this.offer();
  }

  // `kind` is one of KINDS or {counter}.
  add(kind) {
    const title = typeof kind === "object" ? "Counter" : KINDS[kind];
    const plot = new Plot(title, { ...this.handlers, onRemove: () => this.remove(each) });
    const each = { kind, plot };
    this.list.push(each);
    this.plots.append(plot.node);
  }

  // Of the pointer over any track.
  get handlers() {
    return { onSeek: (seconds) => this.onSeek(seconds), onHover: (seconds) => this.hover(seconds),
             onMove: (action) => this.move(action), onMeasure: (from, to) => this.measure(from, to) };
  }

  remove(each) {
    this.list.splice(this.list.indexOf(each), 1);
    each.plot.end();
    this.offer();
    this.remember();
  }

  // uPlot listens to the window until its plots are ended. The engine keeps the first one of a page even then, so what
  // leads from there to the network is cut.
  end() {
    for (const { plot } of this.list.splice(0)) plot.end();
    this.onSeek = this.onHover = () => {};
    this.shownLast = undefined;
  }

  // Just these.
  set(kinds) {
    for (const each of [...this.list]) this.remove(each);
    for (const kind of kinds) this.add(kind);
    this.offer();
    this.remember();
  }

  offer() {
    const shown = new Set(this.list.map((each) => each.kind));
    const rest = Object.entries(KINDS).filter(([kind]) => !shown.has(kind) && (this.hasHosts || !OF_HOSTS.has(kind)));
    this.choice.replaceChildren(element("option", { value: "" }, "Add a chart …"),
      ...rest.map(([kind, title]) => element("option", { value: kind }, title)));
  }

  addChosen() {
    if (this.choice.value) this.add(this.choice.value);
    this.offer();
    this.remember();
  }

  addCounter() {
    const path = this.counter.value.trim();
    const isKnown = this.known?.has(path);
    setText(this.refused, isKnown || !path ? "" : `There is no counter "${path}": choose one of the list that opens while you type.`);
    this.refused.hidden = isKnown || !path;
    if (!isKnown) return;
    this.counter.value = "";
    this.add({ counter: path });
    this.remember();
  }

  remember() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.list.map((each) => each.kind)));
    } catch {
      // A page from a disk may not be allowed to remember.
    }
  }

  hover(seconds) {
    this.hoverS = seconds;
    for (const { plot } of this.list) plot.point(seconds);
    this.beliefs?.point(seconds);
    this.onHover(seconds);
  }

  // Somebody zooms, pans or follows again.
  move(action) {
    action(this.axis);
    if (this.shownLast) this.show(...this.shownLast);
  }

  // A span of all tracks, in seconds; its means stand in each of them until another span is measured, an instant is
  // clicked or the tracks follow the picture again.
  measure(from, to) {
    this.span = to > from ? [from, to] : undefined;
    setText(this.measured, this.span ? `${spanWords(to - from)} measured` : "");
    for (const { plot } of this.list) plot.measure(this.span);
  }

  show(sources, { timePs, toldPs, pace, palette }) {
    this.shownLast = [sources, { timePs, toldPs, pace, palette }];
    const { model, hosts } = sources;
    const hasHosts = hosts.samples.length > 0;
    // Hosts that send datagrams alone have no windows.
    const hasWindows = Boolean(hosts.samples.at(-1)?.hosts.some((each) => each.connections.length));
    if (hasWindows && !this.hasWindows && !this.beliefs && !wasChosen() && this.list.every((each) => each.kind !== "windows")) this.add("windows");
    this.hasWindows ||= hasWindows;
    if (hasHosts !== this.hasHosts) {
      this.hasHosts = hasHosts;
      this.offer();
    }
    this.listCounters(model);
    const { axis } = this;
    axis.extend(model.startPs, toldPs, timePs, pace);
    this.following.disabled = !axis.chosen;
    const { fromPs, toPs } = axis.shown;
    // Events after the instant of the picture show only when the viewer goes there.
    const untilPs = axis.chosen ? Math.min(toPs, toldPs) : timePs;
    const span = { fromPs, longPs: fromPs, toPs: untilPs };
    const found = this.list.map(({ kind }) => curves(kind, sources, span));
    axis.isLong = found.some((each) => each.isLong);
    this.beliefs?.draw({ from: fromPs / 1e12, to: toPs / 1e12, nowS: timePs / 1e12, untilPs }, palette);
    const marks = { nowS: timePs / 1e12, changesS: changes(model.samples, fromPs, untilPs).map((each) => each / 1e12) };
    this.list.forEach(({ plot }, index) =>
      plot.draw(found[index], { from: fromPs / 1e12, to: toPs / 1e12, marks, isFirst: index === 0 && !this.beliefs }, palette));
  }

  // The counters of Describe's answer change with the configuration only.
  listCounters(model) {
    const about = model.samples.abouts.at(-1);
    const shape = about && `${model.name} ${about.ports.length} ${about.ports.map((each) => each.config.queue_count)}`;
    if (!about || shape === this.shape) return;
    this.shape = shape;
    this.known = new Set(counterPaths(about).slice(0, PATHS_MAX));
    this.paths.replaceChildren(...[...this.known].map((path) => element("option", { value: path })));
  }
}

// When what is in force has changed.
function changes({ abouts }, fromPs, toPs) {
  return abouts.filter((each, index) => index && each.time_ps > fromPs && each.time_ps <= toPs && settingsOf(each) !== settingsOf(abouts[index - 1]))
    .map((each) => each.time_ps);
}

function chosen() {
  try {
    return JSON.parse(localStorage.getItem(KEY));
  } catch {
    return null;
  }
}

const wasChosen = () => Array.isArray(chosen());

function remembered() {
  const list = chosen();
  return Array.isArray(list) ? list.filter((each) => each?.counter || Object.hasOwn(KINDS, each)) : AT_FIRST;
}
