// Drives a network in virtual time: lets it go on just as far as the page is about to show.
//
// The world stands still between two steps, so what a handle does happens at the instant reached,
// which is a little ahead of the one that is seen.

import { WORLD } from "../wire/calls.js";
import { Hosts } from "../model/hosts.js";

// Whom calls of the world are for; see labs/glass/virtual.py.
export const WORLD_NAME = "@world";
const LOOK_MS = 20;
const HOSTS_NS = 2_000_000;
// The longest step, in seconds of the viewer: a click must not wait for a longer one.
const STEP_S = 0.15;
// With so much told and not yet shown nothing more is asked for.
const STEP_ON_S = 0.02;

export class VirtualWorld {
  constructor(glass) {
    this.glass = glass;
    this.hosts = new Hosts(glass.flows);
    this.reachedPs = 0;
    this.isBusy = false;
    this.why = "";
    if (glass.scene.readOnly) return;
    this.watch = glass.calls.open(WORLD_NAME, WORLD, "WatchHosts", { interval_ns: HOSTS_NS, events: true }, {
      next: (message) => this.hosts.take(message),
      ended: () => {},
    });
    this.timer = setInterval(() => this.go(), LOOK_MS);
  }

  // One step, if the picture will need it.
  async go(least = 0) {
    const { player } = this.glass;
    if (this.isBusy) return;
    const wantedPs = Math.max(player.wantedPs, least);
    // What has been told already has to be there first: streams arrive after the answer.
    if (this.reachedPs === 0) this.reachedPs = player.toldPs;
    if (wantedPs <= this.reachedPs || (player.toldPs && player.toldPs < this.reachedPs)) return;
    const mostPs = this.reachedPs + Math.max(1e6, player.pace * STEP_S * 1e12);
    this.isBusy = true;
    try {
      const answer = await this.glass.calls.call(WORLD_NAME, WORLD, "Advance",
        { time_ps: Math.round(Math.min(wantedPs, mostPs)) });
      this.reachedPs = answer.time_ps;
      this.why = "";
    } catch (error) {
      this.why = error.message;
    } finally {
      this.isBusy = false;
    }
  }

  // The end of what was told is reached by single steps: a little more.
  stepOn() {
    const { player } = this.glass;
    this.go(this.reachedPs + player.pace * STEP_ON_S * 1e12);
  }

  call(name, request) {
    return this.glass.calls.call(WORLD_NAME, WORLD, name, request);
  }
}
