// Curves beside the picture, of the same instants. Which ones is the viewer's choice; over any of them
// the pointer shows an instant everywhere: in all curves, on the bar of time and, while time stands, in
// the picture.

import { KINDS, OF_HOSTS, curves } from "../model/curves.js";
import { counterPaths } from "../model/counters.js";
import { element } from "./dom.js";
import { Plot } from "./plot.js";

// How much is to be seen at once, in seconds of the viewer at the pace of the moment.
const WINDOW_S = 12;
// A rate needs some packets to be one: what flows get is drawn over this long at least.
const RATE_WINDOW_S = 1;
const KEY = "vitrine.charts";
const AT_FIRST = ["depth", "flows"];
const PATHS_MAX = 2000;

export class Charts {
  // `onSeek(seconds)` when an instant of a curve is clicked; `onHover(seconds or undefined)`.
  constructor({ onSeek, onHover }) {
    this.onSeek = onSeek;
    this.onHover = onHover;
    this.plots = element("div", { class: "plots" });
    this.counter = element("input", { type: "text", list: "counters", placeholder: "a counter of Describe",
                                      "aria-label": "A counter of Describe", onchange: () => this.addCounter() });
    this.paths = element("datalist", { id: "counters" });
    this.choice = element("select", { "aria-label": "Add a chart", onchange: () => this.addChosen() });
    this.node = element("section", { class: "charts", "aria-label": "Charts" }, this.plots,
      element("div", { class: "row notpresented" }, this.choice, this.counter, this.paths));
    this.list = [];
    for (const kind of remembered()) this.add(kind);
    this.offer();
  }

  // `kind` is one of KINDS or {counter}.
  add(kind) {
    const title = typeof kind === "object" ? "Counter" : KINDS[kind];
    const plot = new Plot(title, {
      onSeek: this.onSeek, onHover: (seconds) => this.hover(seconds), onRemove: () => this.remove(each),
    });
    const each = { kind, plot };
    this.list.push(each);
    this.plots.append(plot.node);
  }

  remove(each) {
    this.list.splice(this.list.indexOf(each), 1);
    each.plot.end();
    this.offer();
    this.remember();
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
    this.counter.value = "";
    if (!this.known?.has(path)) return;
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
    this.onHover(seconds);
  }

  show(sources, { timePs, pace, palette }) {
    const { model, hosts } = sources;
    const hasHosts = hosts.samples.length > 0;
    if (hasHosts !== this.hasHosts) {
      this.hasHosts = hasHosts;
      if (hasHosts && !wasChosen() && this.list.every((each) => each.kind !== "windows")) this.add("windows");
      this.offer();
    }
    this.listCounters(model);
    // At the beginning the curves start at the left and grow.
    const window = WINDOW_S * pace * 1e12, wide = Math.max(window, RATE_WINDOW_S * 1e12);
    const span = { fromPs: Math.max(model.startPs, timePs - window), longPs: Math.max(model.startPs, timePs - wide), toPs: timePs };
    for (const { kind, plot } of this.list) {
      const found = curves(kind, sources, span);
      const from = found.isLong ? span.longPs : span.fromPs;
      plot.draw(found, [from / 1e12, Math.max(timePs, from + window) / 1e12], palette);
    }
  }

  // What Describe tells changes with the configuration only.
  listCounters(model) {
    const about = model.samples.abouts.at(-1);
    const shape = about && `${model.name} ${about.ports.length} ${about.ports.map((each) => each.config.queue_count)}`;
    if (!about || shape === this.shape) return;
    this.shape = shape;
    this.known = new Set(counterPaths(about).slice(0, PATHS_MAX));
    this.paths.replaceChildren(...[...this.known].map((path) => element("option", { value: path })));
  }
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
