// Keeps the reports of hosts up to date: of those of a network in virtual time, and of real ones, from their kernels.

import { WORLD } from "../wire/calls.js";
import { detailAt, mayLose } from "./watching.js";

// The addressee of calls of the world; see labs/glass/server.py.
export const WORLD_NAME = "@world";
// Of time that the page drives there may be more of them than of time that passes by itself.
const DRIVEN_NS = 2_000_000, FOLLOWED_NS = 50_000_000;
const RETRY_MS = 2000;
const NS_PER_MS = 1_000_000;

export class HostsWatch {
  constructor({ calls, hosts, scene }) {
    Object.assign(this, { calls, hosts, scene });
    this.everyMs = detailAt(1).intervalMs;
    this.open();
  }

  open() {
    const interval_ns = this.scene.isDriven ? Math.max(DRIVEN_NS, this.everyMs * NS_PER_MS) : FOLLOWED_NS;
    const may_lose = mayLose(this.scene) && this.calls.schema.message("vitrine.v1.WatchHostsRequest").byName.has("may_lose");
    this.watch = this.calls.open(WORLD_NAME, WORLD, "WatchHosts", { interval_ns, events: true, may_lose }, {
      next: (message) => this.hosts.take(message),
      // Without it there are fewer curves, and that is all.
      ended: () => {
        if (!this.isEnded) this.timer = setTimeout(() => this.open(), RETRY_MS);
      },
    });
  }

  // As `Watching.setPace`.
  setPace(pace) {
    const { intervalMs } = detailAt(pace);
    if (intervalMs === this.everyMs) return;
    this.everyMs = intervalMs;
    clearTimeout(this.timer);
    this.watch.cancel();
    this.open();
  }

  end() {
    this.isEnded = true;
    clearTimeout(this.timer);
    this.watch.cancel();
  }
}
