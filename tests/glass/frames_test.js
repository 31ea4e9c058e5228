// Calls over frames when a network is closed: by the page, or because it breaks off.

import { FrameWay } from "../../glass/js/wire/frames.js";
import { same } from "./check.js";

const MESSAGE_OF_FIRST_CALL = new Uint8Array([2, 0, 0, 0, 1, 7]);

// A way with one call, and what its caller was told.
function way() {
  const told = [], made = new FrameWay(() => {});
  const listener = { next: () => told.push("a message"), ended: (why) => told.push(why.message) };
  made.open("r1", "watch", listener);
  return { made, listener, told };
}

export function a_closed_network_holds_none_of_its_callers() {
  const { made, told } = way();
  made.forget();
  // A frame that was on its way finds nobody.
  made.take(MESSAGE_OF_FIRST_CALL);
  same(made.calls.size, 0);
  same(told, []);
}

export function a_network_that_breaks_off_tells_each_caller_why() {
  const { made, listener, told } = way();
  made.end("The worker has ended.");
  // Also those that come later.
  made.open("r1", "watch", listener);
  same(told, ["The worker has ended.", "The worker has ended."]);
}
