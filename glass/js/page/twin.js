// A second network beside the first one: the same hosts, programs and seeds, and one setting that differs. It has
// models and a picture of its own; clock, place and colours are those of the page.

import { element } from "./dom.js";
import { HostsWatch } from "./hosts_watch.js";
import { NetworkView } from "./network_view.js";
import { RouterView } from "./router_view.js";
import { Stage } from "./stage.js";
import { TwinNumbers } from "./twin_numbers.js";
import { Watching } from "./watching.js";
import { Hosts } from "../model/hosts.js";
import { RouterModel } from "../model/router.js";

export class Twin {
  // `twin`: {calls, title, own}: who answers for the second network, what differs in it, and what the page's own
  // network has instead.
  constructor(glass, twin, shares, watch) {
    const { calls, title, own } = twin;
    Object.assign(this, { glass, calls, title, own });
    this.models = new Map(glass.scene.routers.map(({ name, deviceId }) => [name, new RouterModel(name, deviceId, glass.flows, shares)]));
    calls.clocks.sameAs = glass.calls.clocks.sameAs;
    this.hosts = new Hosts(glass.flows, shares.hosts);
    this.hostsWatch = new HostsWatch(this);
    this.stage = new Stage("The other picture");
    this.notice = element("div", { class: "notice" });
    // Flows have their key below the first picture; what can be chosen is chosen there.
    this.key = element("div", {});
    this.details = {};
    this.side = {};
    this.routerView = new RouterView(this);
    this.networkView = new NetworkView(this);
    this.watching = [...this.models.values()].map((model) => new Watching(calls, model, watch));
    this.numbers = new TwinNumbers(glass, this);
    this.stage.box.addEventListener("pointermove", (event) => this.view.pointed?.(event));
  }

  // ---- the interface of a Glass, for the views -------------------------------------------------

  get scene() { return this.glass.scene; }
  get player() { return this.glass.player; }
  get network() { return this.glass.network; }
  get flows() { return this.glass.flows; }
  get motion() { return this.glass.motion; }
  get timeBar() { return this.glass.timeBar; }
  get palette() { return this.glass.palette; }
  get model() { return this.models.get(this.glass.model.name); }
  get view() { return this.glass.place ? this.routerView : this.networkView; }

  enter(name) {
    this.glass.enter(name);
  }

  speak(words) {
    this.glass.speak(words);
  }

  entered() {
    this.stage.label([]);
    this.routerView.centred = undefined;
  }

  // ---- pictures --------------------------------------------------------------------------------

  // Both pictures, each below what is in force there.
  sides(first) {
    const side = (title, ...parts) => element("section", { class: "twin", "aria-label": title }, element("h2", {}, title), ...parts);
    return element("div", { class: "twins" }, side(this.own, ...first), side(this.title, this.notice, this.stage.box));
  }

  draw(timePs) {
    this.view.draw(timePs);
  }

  slow(timePs) {
    this.view.drawSlowly(timePs);
    this.numbers.show(timePs);
  }

  end() {
    this.watching.forEach((each) => each.end());
    this.hostsWatch.end();
  }
}
