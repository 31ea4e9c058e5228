// The beliefs of systems about a queue, at an instant.

import { barsAt, depthAt, sentence, standing } from "../../glass/js/model/beliefs.js";
import { same } from "./check.js";

const size = (bytes) => `${bytes} B`;
const claim = (beginPs, endPs, knownPs, isRight = true) => ({ beginPs, endPs, knownPs, isRight, peakBytes: 9, culprits: [] });
// A build-up from 10 to 30 that crosses the threshold at 15.
const buildup = (knownPs) => ({ beginPs: 10, crossedPs: 15, endPs: 30, knownPs });
const quick = { name: "quick", claims: [claim(14, 28, 16)], buildups: [buildup(16)] };
const late = { name: "late", claims: [claim(12, 29, 50)], buildups: [buildup(50)] };
const blind = { name: "blind", claims: [], buildups: [buildup(null)] };
const nervous = { name: "nervous", claims: [claim(40, 60, 42, false)], buildups: [buildup(null)] };
const beliefs = {
  systems: [quick, late, blind, nervous], thresholdBytes: 5,
  depth: [[11, 1], [15, 6], [20, 9], [28, 3], [30, 2], [35, 0]], buildups: [{ beginPs: 10, endPs: 30 }],
};

export function the_depth_is_that_after_the_last_change() {
  same([10, 11, 19, 20, 99].map((timePs) => depthAt(beliefs.depth, timePs)), [0, 1, 6, 9, 0]);
}

export function a_claim_is_not_seen_before_its_controller_knew() {
  const at = (system, timePs) => barsAt(system, timePs).map(({ kind, fromPs, toPs }) => [kind, fromPs, toPs]);
  same(at(quick, 14), []);
  same(at(quick, 15), [["unseen", 10, 15]]);
  same(at(quick, 16), [["right", 14, 16]]);
  same(at(quick, 99), [["right", 14, 28]]);
  // Until it knows, a late one looks like one that never will.
  same(at(late, 40), [["missed", 10, 30]]);
  same(at(blind, 40), at(late, 40));
  same(at(late, 50), [["right", 12, 29]]);
  same(at(blind, 99), [["missed", 10, 30]]);
  same(at(nervous, 50), [["missed", 10, 30], ["false", 40, 50]]);
}

export function a_system_knows_or_does_not_while_the_queue_is_deep() {
  same([14, 15, 16, 30, 31].map((timePs) => standing(quick, timePs)), [undefined, "unaware", "knows", "knows", undefined]);
  same([20, 42, 61].map((timePs) => standing(nervous, timePs)), ["unaware", "false", undefined]);
}

export function a_sentence_says_who_knows() {
  same(sentence(beliefs, 20, size), "9 B wait, a build-up: quick knows; late, blind and nervous do not know.");
  same(sentence(beliefs, 12, size), "1 B wait, no build-up (5 B); build-ups so far: 0.");
  same(sentence(beliefs, 45, size), "nothing waits; build-ups so far: 1. nervous reports a build-up that is not there.");
}
