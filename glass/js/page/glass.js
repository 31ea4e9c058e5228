// The glass itself: what is shown, put together. It owns the parts and draws sixty times a second.

import { element, setText } from "./dom.js";
import { Charts } from "./charts.js";
import { Player } from "./player.js";
import { Side } from "./side.js";
import { Stage } from "./stage.js";
import { TimeBar } from "./timebar.js";
import { Twin } from "./twin.js";
import { mayLose, Watching } from "./watching.js";
import { RouterView } from "./router_view.js";
import { NetworkView } from "./network_view.js";
import { World } from "./world.js";
import { help } from "./help.js";
import { HostsWatch, WORLD_NAME } from "./hosts_watch.js";
import { theme, toggleTheme } from "./theme.js";
import { KEYS, onKey } from "./keys.js";
import { PALETTES } from "../draw/palette.js";
import { remember, remembered } from "../model/colours.js";
import { Flows } from "../model/flows.js";
import { Hosts } from "../model/hosts.js";
import { sharesOf } from "../model/memory.js";
import { Network } from "../model/network.js";
import { RouterModel } from "../model/router.js";

// How long the past of a live router is remembered.
const REMEMBERED_PS = 30e12;
const SAMPLE_MS = 20;
// In virtual time there is time for more of them.
const VIRTUAL_SAMPLE_MS = 1;
// How often, and how many times, the page checks whether routers have reported an instant.
const LOOK_MS = 20, TOLD_TRIES = 500;
// Text and curves change less often than the picture.
const SLOW_MS = 100;
const WORLDS = { live: "live", virtual: "virtual time", recorded: "a recording" };

export class Glass {
  // `play` fills the models of a recording, which has no routers to ask: of routers, and of hosts.
  // `twin` is a second network to be shown beside the first one, as Twin takes it; `again()` begins the network again,
  // where it can.
  constructor(page, calls, scene, { play, twin, again } = {}) {
    Object.assign(this, { page, calls, scene, again });
    // The hosts of a live network are reported by labs/worlds/live/telling.py.
    calls.clocks.sameAs = { [WORLD_NAME]: scene.routers[0].name };
    this.network = new Network(scene.network);
    this.flows = new Flows(this.network.names, remembered(), this.network.routerNames);
    // A recording is as long as it is, and is shown whole.
    const shares = scene.world === "recorded" ? {} : sharesOf(scene.routers.length * (twin ? 2 : 1));
    this.models = new Map(scene.routers.map(({ name, deviceId }) =>
      [name, new RouterModel(name, deviceId, this.flows, shares)]));
    // Time that others let pass is followed, whatever kind of time it is.
    this.isFollowed = scene.world !== "recorded" && !scene.isDriven;
    this.hosts = new Hosts(this.flows, shares.hosts);
    this.player = new Player({ isLive: this.isFollowed, isLed: Boolean(scene.isDriven && scene.readOnly), pace: scene.pace ?? 1 });
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
    this.stage = new Stage();
    this.charts = new Charts({
      beliefs: scene.beliefs,
      onSeek: (seconds) => this.player.seek(seconds * 1e12),
      onHover: (seconds) => this.timeBar.point(seconds === undefined ? undefined : seconds * 1e12),
    });
    this.timeBar = new TimeBar(this.player, this);
    this.hostsWatch = scene.tellsHosts && !play ? new HostsWatch(this) : undefined;
    this.world = (scene.hasHosts || scene.startsFlows) && !play ? new World(this) : undefined;
    this.side = new Side(this);
    this.routerView = new RouterView(this);
    this.networkView = new NetworkView(this);
    play?.([...this.models.values()], this.hosts);
    const watch = {
      intervalMs: this.isFollowed ? SAMPLE_MS : VIRTUAL_SAMPLE_MS,
      isLive: scene.world === "live", mayLose: mayLose(scene), onState: (model, state) => this.told(model, state),
    };
    this.watching = play ? [] : [...this.models.values()].map((model) => new Watching(calls, model, watch));
    this.twin = twin && new Twin(this, twin, shares, watch);
    if (scene.isDriven && !scene.readOnly) {
      this.player.listeners.add(() => this.watchAtPace());
    }
    this.build();
    this.enter(scene.about.router || (scene.routers.length === 1 || !this.network.isKnown
      ? scene.routers[0].name : ""));
    this.isGone = this.isSettled = false;
    this.ending = new AbortController();
    onKey(this, this.ending.signal);
    addEventListener("pagehide", () => remember(this.flows.list), { signal: this.ending.signal });
    this.slowAt = 0;
    requestAnimationFrame((now) => this.frame(now, now));
  }

  build() {
    const { scene } = this;
    this.notice = element("div", { class: "notice", role: "status" });
    this.key = element("div", { class: "key", role: "group", "aria-label": "Flows" });
    this.tables = element("div", { class: "tables", role: "region", "aria-label": "Tables", tabindex: 0 });
    const details = element("details", { class: "notpresented" },
      element("summary", {}, "The picture as a table"), this.tables);
    details.addEventListener("toggle", () => this.slow());
    this.details = details;
    // The choice by keyboard, for screen readers.
    this.spoken = element("div", { class: "hidden", role: "status" });
    this.veil = element("div", { class: "veil", role: "alert", hidden: true });
    const place = (text, to) => [to, element("button", { type: "button", onclick: () => this.enter(to) }, text)];
    // The buttons by where they lead.
    this.ways = new Map([...(this.network.isKnown ? [place("Network", "")] : []), ...scene.routers.map(({ name }) => place(name, name))]);
    const places = element("nav", { "aria-label": "Places" }, ...this.ways.values());
    const button = (text, label, action) =>
      element("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    const presents = button("Present", "Present, on a projector (P)", () => this.present());
    presents.className = "presents";
    this.page.className = "";
    this.page.removeAttribute("data-wide");
    this.page.toggleAttribute("data-twin", Boolean(this.twin));
    this.page.toggleAttribute("data-lesson", this.side.chosen === "lesson");
    this.page.replaceChildren(
      element("header", { class: "top" },
        element("span", { class: "brand" }, sign(), element("span", {}, "Vitrine")),
        element("span", { class: `badge ${scene.world}` }, WORLDS[scene.world]),
        places,
        element("span", { class: "fill" }),
        scene.readOnly ? element("span", { class: "badge" }, "looking only") : "",
        button("◐", "Light or dark (T)", () => toggleTheme()),
        presents,
        button("?", "Keys (?)", () => help(this.page, KEYS)),
      ),
      element("section", { class: "stage", "aria-label": "The router" },
        ...(this.twin ? [this.twin.sides([this.notice, this.stage.box])] : [this.notice, this.stage.box]), this.key, details),
      // Of two networks the numbers are compared, and not the curves of one of them.
      this.twin ? this.twin.numbers.node : this.charts.node,
      this.side.node,
      this.timeBar.node,
      this.spoken,
      this.veil,
    );
    this.stage.box.addEventListener("click", (event) => this.view.clicked?.(event));
    this.stage.box.addEventListener("pointermove", (event) => this.view.pointed?.(event));
  }

  // Requests as much detail as the pace permits. Single packets come back at the instant that the network has reached,
  // which may be a minute ahead of the picture.
  watchAtPace() {
    const wasHurried = this.watching[0].detail.isHurried;
    for (const each of [...this.watching, this.hostsWatch, ...(this.twin ? [...this.twin.watching, this.twin.hostsWatch] : [])]) {
      each?.setPace(this.player.pace);
    }
    if (wasHurried && !this.watching[0].detail.isHurried) this.world?.catchUp();
  }

  // A router's name, or "" for the network around all of them.
  enter(name) {
    this.place = name;
    this.view = name ? this.routerView : this.networkView;
    this.stage.label([]);
    this.routerView.centred = undefined;
    for (const [to, button] of this.ways) button.setAttribute("aria-pressed", String(to === name));
    this.twin?.entered();
    this.side.entered();
    this.slow();
  }

  // Those of both networks.
  get allModels() {
    return [...this.models.values(), ...(this.twin?.models.values() ?? [])];
  }

  get model() {
    return this.models.get(this.place || this.scene.routers[0].name);
  }

  get palette() {
    return PALETTES[theme()];
  }

  present() {
    const root = document.documentElement;
    if ("presenting" in root.dataset) delete root.dataset.presenting;
    else root.dataset.presenting = "";
    this.stage.measure();
  }

  speak(words) {
    setText(this.spoken, words);
  }

  // How requests name a router among those of its address.
  target(model) {
    return { device_id: model.deviceId };
  }

  // Lets time pass beyond the known events, whatever the picture needs: resolves when the routers
  // have reported it, to false if they will report nothing more. If others let time pass, it waits.
  async goOn(spanPs) {
    const { player, scene, world } = this, drives = scene.isDriven && !scene.readOnly;
    if (scene.world === "recorded") return false;
    const before = player.toldPs;
    if (drives) {
      await world.pass(spanPs);
      if (world.why) return false;
    }
    const wantedPs = drives ? world.reachedPs : before + 1;
    for (let tries = 0; player.toldPs < wantedPs && (drives || tries < TOLD_TRIES); tries++) {
      if (this.isGone || this.ending.signal.aborted) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return player.toldPs > before;
  }

  // Events until the network has settled are recorded and not shown: the picture begins there, and
  // rates are known.
  async settle() {
    if (this.scene.isDriven && !this.scene.readOnly) await this.passUntilSettled();
    this.isSettled = true;
  }

  async passUntilSettled() {
    const { settledPs } = this.scene;
    const isTold = (each) => each.toldPs > 0;
    while (!this.player.toldPs || !this.allModels.every(isTold)) {
      if (this.isGone || this.ending.signal.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    // Exactly there, on every machine: what is done next has the same effect each time.
    await this.world.holding(async () => {
      await this.world.untilIdle();
      const spanPs = settledPs - (this.world.reachedPs || this.player.toldPs);
      // A viewer who has begun to look meanwhile stays where they are.
      if (spanPs > 0 && await this.goOn(spanPs) && this.player.isPlaying) this.player.seek(this.player.toldPs);
    });
  }

  // The network goes on for a while at once, and the picture with it.
  async jump(spanPs) {
    if (await this.goOn(spanPs)) this.player.seek(this.player.toldPs);
  }

  // Reads the configuration of a router anew.
  describe(model) {
    return this.watching.find((each) => each.model === model).describe();
  }

  // ---- what comes ------------------------------------------------------------------------------

  told(model, { isThere, why }) {
    model.isThere = isThere;
    model.why = why;
    const away = this.allModels.filter((each) => each.isThere === false);
    this.veil.hidden = this.isGone || away.length === 0;
    if (away.length) {
      setText(this.veil, `${away.map((each) => each.name).join(", ")} cannot be reached: ${away[0].why}. `
        + "It is shown again as soon as it answers.");
    }
  }

  // Whatever carried messages has gone: what is remembered can still be looked at.
  lose(why = "The connection has ended. What is remembered can still be looked at; load the page again when "
    + "vitrine glass runs.") {
    this.isGone = true;
    this.stopWatching();
    this.player.isFollowing = false;
    this.veil.hidden = false;
    setText(this.veil, why);
  }

  // Another one takes the page.
  end() {
    this.ending.abort();
    this.stopWatching();
    this.world?.end();
    this.charts.end();
    this.side.lesson?.end();
    this.stage.end();
    this.twin?.stage.end();
  }

  stopWatching() {
    this.watching.forEach((each) => each.end());
    this.hostsWatch?.end();
    this.twin?.end();
  }

  // ---- pictures --------------------------------------------------------------------------------

  frame(nowMs, lastMs) {
    if (this.ending.signal.aborted) return;
    const started = performance.now();
    // A router that has gone delays no other.
    const all = this.allModels, there = all.filter((each) => each.isThere !== false);
    const models = there.length ? there : all;
    const known = models.map((each) => each.toldPs || Infinity);
    // Of a recording what is there of any router; of others what all have told.
    const told = this.scene.world === "recorded" ? Math.max(...known.filter(Number.isFinite)) : Math.min(...known);
    if (Number.isFinite(told)) {
      const start = Math.max(...models.filter((each) => each.toldPs).map((each) => each.startPs));
      this.player.extend(start, told, nowMs / 1000);
      this.player.tick(nowMs / 1000, Math.min(0.25, (nowMs - lastMs) / 1000));
      this.view.draw(this.shownPs);
      this.twin?.draw(this.shownPs);
      if (nowMs - this.slowAt > SLOW_MS) this.slow(nowMs);
    }
    this.frameMs = performance.now() - started;
    requestAnimationFrame((next) => this.frame(next, nowMs));
  }

  // The instant of the picture: while time stands that of a curve that is pointed at.
  get shownPs() {
    const { player, timeBar } = this;
    if (player.isPlaying || timeBar.pointedPs === undefined) return player.timePs;
    return Math.min(Math.max(timeBar.pointedPs, player.startPs), player.toldPs);
  }

  showCharts() {
    const { model, player } = this;
    const about = model.samples.aboutAt(player.timePs);
    if (!about) return;
    this.charts.show({
      model, hosts: this.hosts, flows: this.flows, focus: this.routerView.focusOf(about),
      isKnown: model.knowsPacketsAt(player.timePs),
    }, { timePs: player.timePs, toldPs: player.toldPs, pace: player.pace, palette: this.palette });
  }

  // Models keep to their shares of memory by themselves. The past of a live router is still short,
  // and flows go with their last packets.
  forget() {
    const { player } = this, models = this.allModels;
    const before = player.isLive ? player.toldPs - REMEMBERED_PS : 0;
    if (before > 0) {
      for (const each of models) each.forget(before);
      this.hosts.forget(before);
    }
    this.flows.forget(Math.min(...models.map((each) => each.insides.startPs)));
    this.flows.shrink();
  }

  slow(nowMs = performance.now()) {
    this.slowAt = nowMs;
    if (!this.player.toldPs) return;
    this.view.drawSlowly?.(this.shownPs);
    this.twin?.slow(this.shownPs);
    this.showCharts();
    this.timeBar.show();
    this.side.show();
    if (this.scene.world !== "recorded") this.forget();
  }
}

// Three packets behind glass.
function sign() {
  const flows = PALETTES.dark.flows.slice(0, 3);
  return element("span", { class: "sign", "aria-hidden": "true" },
    ...flows.map((colour) => element("i", { style: `background:${colour}` })));
}
