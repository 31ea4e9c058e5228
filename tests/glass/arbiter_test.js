// An arbitration round by round, as its matrices show it.

import { roundsOf } from "../../glass/js/model/arbiter.js";
import { same } from "./check.js";

const pairs = (...list) => list.map(([input, output]) => ({ input, output }));
const rows = ({ levelOf }, size) =>
  Array.from({ length: size }, (_, i) => Array.from({ length: size }, (__, o) => levelOf(i + 1, o + 1)[0] ?? ".").join(""));

export function each_round_shows_what_is_left_to_ask_for() {
  const arbitration = {
    asks: pairs([1, 1], [1, 2], [2, 1], [3, 1], [3, 3]),
    rounds: [{ grants: pairs([1, 1], [1, 2], [3, 3]), accepts: pairs([1, 1], [3, 3]) },
             { grants: [], accepts: [] }],
  };
  const [first, second] = roundsOf(arbitration);
  // (a)sks, (g)ranted, (m)atched, (e)arlier.
  same(rows(first, 3), ["mg.", "a..", "a.m"]);
  // Input 1 and output 1 are taken: input 2 has nothing left to request.
  same(rows(second, 3), ["e..", "...", "..e"]);
}

export function requests_alone_are_a_round_too() {
  same(roundsOf({ asks: pairs([2, 1]), rounds: [] }).map((each) => rows(each, 2)), [["..", "a."]]);
}
