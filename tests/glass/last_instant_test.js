// A network's time ends in a page where its numbers are no longer exact, and the page says so.

import { World } from "../../glass/js/page/world.js";
import { holds, same } from "./check.js";

export async function time_ends_with_a_sentence_and_not_with_a_wrong_instant() {
  const asked = [], said = [];
  const glass = {
    scene: {}, player: { wantedPs: 2 ** 53 + 1e12, toldPs: 8.9e15, pace: 500, reached: 500 }, lose: (why) => said.push(why),
    calls: { call: async (_, __, ___, { time_ps }) => {
      holds(Number.isSafeInteger(time_ps), `${time_ps} is exact`);
      asked.push(time_ps);
      glass.player.toldPs = time_ps;
      return { time_ps };
    } },
  };
  const world = new World(glass);
  for (let step = 0; step < 20; step++) await world.go();
  same(asked.at(-1), 9e15);
  same([said.length, world.why], [1, ""]);
  holds(/two and a half hours/.test(said[0]), said[0]);
}
