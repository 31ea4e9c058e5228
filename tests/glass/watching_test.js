// A page that a busy machine keeps from seeing a live router as it is notices that.

import { Watching } from "../../glass/js/page/watching.js";
import { same } from "./check.js";

function watching(isLive) {
  return Object.assign(Object.create(Watching.prototype), { isLive, model: { toldPs: 0 } });
}

// For each [ms of the viewer, ms of the router] whether it is behind.
function behind(watch, moments) {
  return moments.map(([nowMs, toldMs]) => {
    watch.model.toldPs = toldMs * 1e9;
    return watch.isBehind(nowMs);
  });
}

export function what_comes_later_and_later_is_behind() {
  // The clocks are 60 s apart. The best that was seen is 1 s later than that.
  same(behind(watching(true), [[0, 58_500], [500, 59_500], [3100, 60_000], [3600, 60_500], [3700, 62_000]]),
       [false, false, true, true, false]);
}

export function a_network_in_virtual_time_waits_for_its_page() {
  same(behind(watching(false), [[0, 0], [60_000, 0]]), [false, false]);
}
