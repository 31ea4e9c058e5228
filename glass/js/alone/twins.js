// Comparisons of a network: with itself, but one other setting from its first packet on.
//
// A difference: {name, title, act}: its name in an address, in words, and the act that makes it; `own` is what the
// network has instead.

import * as acts from "../model/acts.js";
import { Steering } from "../page/steering.js";
import { ROUTER } from "../wire/calls.js";
import { arbiterName } from "../words.js";
import { element } from "../page/dom.js";

const STAGES = { NONE: "No input queues, an ideal output-queued router", FIFO: "One FIFO at each input", VOQ: "Virtual output queues" };
const ARBITERS = ["ISLIP", "PIM", "OCF", "LQF"];
const MANAGERS = { "": "Drop-tail", codel: "CoDel", pie: "PIE", red: "RED" };
const RED = { profiles: [{ min: 20, max: 60, max_ppm: 100_000 }] };
const SCHEDULERS = { DRR: "Deficit round robin", WFQ: "Weighted fair queueing", strict: "Strict priority" };

// Everything that a router may be compared with, by the part of it that differs; `port` is the one it is about.
export function differencesOf(about, port) {
  return [...stages(about), ...arbiters(about), ...managers(about, port), ...schedulers(about, port)];
}

// A function that applies the difference to a network about to start: a Running.
export function differenceBy({ twin, about: { router, port } }) {
  return async (running) => {
    const { deviceId } = running.scenario.network.routers.find(({ name }) => name === router);
    const about = await running.calls.call(router, ROUTER, "Describe", { device_id: deviceId });
    running.difference = differencesOf(about, port).find(({ name }) => name === twin);
    if (!running.difference) throw new Error(`${router} cannot be compared with "${twin}": choose another setting with Compare.`);
    await new Steering(running.calls, { name: router, deviceId }).configure(running.difference.act.request);
  };
}

function stages(about) {
  const { queueing } = about.input, own = STAGES[queueing];
  const others = Object.entries(STAGES).filter(([name]) => name !== queueing);
  return others.map(([name, title]) => ({ name, title, own, act: acts.inputStage(acts.stageOf(about, name), title) }));
}

function arbiters({ input }) {
  if (input.queueing !== "VOQ") return [];
  const own = arbiterName(input.arbiter);
  return ARBITERS.filter((each) => each !== input.arbiter).map((arbiter) => (
    { name: arbiter, title: arbiterName(arbiter), own, act: acts.inputStage({ ...input, arbiter }, arbiterName(arbiter)) }));
}

function managers({ ports }, port) {
  const { config } = ports.find((each) => each.port === port), kind = config.queues[0].aqm?.kind ?? "";
  const own = MANAGERS[kind] ?? kind.replaceAll("_", " ");
  return Object.entries(MANAGERS).filter(([each]) => each !== kind).map(([each, title]) => (
    { name: each || "droptail", title: `${title} at port ${port}`, own: `${own} at port ${port}`,
      act: acts.queueManagement(port, 0, config.queue_count, each, each === "red" ? RED : {}) }));
}

function schedulers({ ports }, port) {
  const { config } = ports.find((each) => each.port === port), { groups, hierarchy } = config.scheduler;
  if (config.queue_count < 2 || hierarchy || !groups.length) return [];
  const own = groups.length > 1 ? "strict" : groups[0].discipline, weights = config.queues.map(() => 1);
  return Object.entries(SCHEDULERS).filter(([each]) => each !== own).map(([each, title]) => (
    { name: each, title, own: SCHEDULERS[own] ?? own, act: acts.scheduler(port, each, weights) }));
}

// Resolves to the difference that was chosen, to null for none at all, or to nothing.
export function chooseDifference(differences, present) {
  return new Promise((resolve) => {
    const dialog = element("dialog", { "aria-label": "Compare" });
    const done = (chosen) => {
      dialog.close();
      resolve(chosen);
    };
    const button = (words, chosen) => element("button", { type: "button", "aria-pressed": String(present === chosen?.name), onclick: () => done(chosen) }, words);
    dialog.append(element("h2", {}, "Compare with"),
      element("p", {}, "The network begins again, twice: as it is, and with one other setting. Both have the same senders, "
        + "the same random numbers and the same clock."),
      element("div", { class: "differences" }, ...differences.map((each) => button(each.title, each))),
      element("div", { class: "row" }, ...(present ? [button("One network again", null)] : []), button("Cancel")));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
