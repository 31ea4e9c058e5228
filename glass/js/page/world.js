// The world around the routers: hosts, with their flows, and cables. A network in virtual time also goes on just as far
// as the page is about to show, unless other clients let its time pass.
//
// Such a world stands still between two steps, so what a handle does happens at the instant reached,
// which is a little ahead of the one that is seen.

import { APPS, cut, liveAct, mend, reconstructed, sending, start, stop, worldAct } from "../model/world_acts.js";
import { passing } from "../model/passing.js";
import { WORLD } from "../wire/calls.js";
import { WORLD_NAME } from "./hosts_watch.js";

const LOOK_MS = 20, CATCH_UP_TRIES = 100;
const FIRST_PORT = 6001, PAGE_PORT = 80;
// Real hosts have one port for each flow of every page.
const LIVE_PORTS = 20_000;
const PING_NS = 200_000_000;
// The longest step, in seconds of the viewer: a click must not wait for a longer one. Where the machine
// does not keep the pace, steps become shorter, down to this share of the pace.
const STEP_S = 0.15, STEP_SHARE_MIN = 0.2;
// Time is counted in picoseconds, and JavaScript's numbers are exact up to 2^53: two and a half hours.
const LAST_PS = 9e15;
const OVER = "After two and a half hours of the network its time ends here, because a page cannot count on. "
  + "What is remembered can still be looked at; load the page again to begin anew.";
// A little more than was reached, so that it can become more.
const GROWTH = 1.2;

export class World {
  constructor(glass) {
    this.glass = glass;
    this.reachedPs = 0;
    this.isBusy = false;
    this.holders = 0;
    this.why = "";
    this.port = FIRST_PORT + (glass.scene.world === "live" ? Math.floor(Math.random() * LIVE_PORTS) : 0);
    // Hosts that serve pages, and what this page has started, by number.
    this.serving = new Set();
    this.started = new Map();
    const { isDriven, readOnly } = glass.scene;
    if (isDriven && !readOnly) this.timer = setInterval(() => this.go(), LOOK_MS);
  }

  end() {
    clearInterval(this.timer);
  }

  // One step, if the picture will need it.
  async go(least = 0) {
    const { player } = this.glass;
    if (this.isBusy || this.holders || this.isOver) return;
    const wantedPs = Math.max(player.wantedPs, least);
    // Earlier reports have to arrive first: streams arrive after the answer.
    if (this.reachedPs === 0) this.reachedPs = player.toldPs;
    if (wantedPs <= this.reachedPs || (player.toldPs && player.toldPs < this.reachedPs)) return;
    const pace = Math.min(player.pace, Math.max(GROWTH * player.reached, STEP_SHARE_MIN * player.pace));
    const mostPs = this.reachedPs + Math.max(1e6, pace * STEP_S * 1e12);
    await this.advance(Math.min(wantedPs, mostPs));
  }

  // Meanwhile no time passes for the picture: several changes happen at one instant of the network, however long
  // the machine takes for them.
  async holding(act) {
    this.holders++;
    try {
      return await act();
    } finally {
      this.holders--;
    }
  }

  async untilIdle() {
    while (this.isBusy) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  // So much time passes whatever the picture needs.
  async pass(spanPs) {
    await this.untilIdle();
    await this.advance((this.reachedPs || this.glass.player.toldPs) + spanPs);
  }

  async advance(untilPs) {
    if (this.reachedPs >= LAST_PS) {
      if (!this.isOver) this.glass.lose(OVER);
      this.isOver = true;
      return;
    }
    this.isBusy = true;
    try {
      const answer = await this.glass.calls.call(WORLD_NAME, WORLD, "Advance", { time_ps: Math.round(Math.min(untilPs, LAST_PS)) });
      this.reachedPs = answer.time_ps;
      this.why = "";
    } catch (error) {
      this.why = error.message;
    } finally {
      this.isBusy = false;
    }
  }

  // The picture goes to the instant that the network has reached: what was just done is seen there.
  async catchUp() {
    if (!this.glass.scene.isDriven || !this.reachedPs) return;
    const { player } = this.glass;
    const { timePs, isPlaying } = player;
    for (let tries = 0; tries < CATCH_UP_TRIES && (this.isBusy || player.toldPs < this.reachedPs); tries++) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    // Unless the viewer has gone somewhere else in the meantime.
    const isMoved = player.isPlaying !== isPlaying || (!isPlaying && player.timePs !== timePs);
    if (!isMoved && player.timePs < this.reachedPs) player.seek(this.reachedPs);
  }

  // ---- hosts and cables ------------------------------------------------------------------------

  // Each resolves to the number of the application that it has started, stands in the log and can be
  // taken back; they reject with the world's own sentence.
  startTcp(from, to, control) {
    return this.startApp("TCP", from, { to, control }, `${from} → ${to}, ${control}`);
  }

  startPing(from, to, interval = PING_NS) {
    return this.startApp("ping", from, { to, interval }, `${from} → ${to}, ping`);
  }

  // One of `APPS`.
  async startApp(kind, from, fields, words) {
    const port = this.port++;
    const [listening, app] = APPS[kind]({ ...fields, port });
    return this.startPair(words, from, app, listening && start(fields.to, listening));
  }

  // A page of `bytes` bytes, once.
  async fetchPage(reader, server, bytes) {
    const exchange = { request_bytes: 100, response_bytes: bytes };
    const isServing = this.serving.has(server);
    const app = { page: { from: [{ host: server, port: PAGE_PORT }], exchange } };
    const listening = isServing ? undefined : start(server, { listener: { port: PAGE_PORT, answers: exchange } });
    this.serving.add(server);
    return this.startPair(`${reader} fetches a page from ${server}`, reader, app, listening);
  }

  // Starts a sender, after its listener where that is not there yet.
  async startPair(words, host, app, listening) {
    const answers = await this.performNew(this.act(`Started: ${words}`, listening ? [listening, start(host, app)] : [start(host, app)]), (done) => {
      // Undone in reverse: first the sender, then the listener.
      const numbers = done.map((each) => each.app).toReversed();
      const act = this.act(`Undone: ${words}`, numbers.map(stop));
      for (const each of numbers) this.started.delete(each);
      if (listening?.[1].app.listener?.answers) this.serving.delete(listening[1].host);
      return act;
    });
    const number = answers.at(-1).app;
    this.started.set(number, { host, app, words });
    return number;
  }

  // All running senders, of any user: [{number, host, app, words}].
  async running() {
    const { apps, hosts } = await this.call("Look", { apps: true, connections: true });
    const { names } = this.glass.network;
    return sending(apps).map((each) =>
      ({ number: each.app, kind: each.kind, ...(this.started.get(each.app) ?? reconstructed(each, hosts, names)) }));
  }

  // Flows beside those applications. In virtual time all that sends is an application.
  passing(apps) {
    const { flows, hosts, player, scene } = this.glass;
    return scene.world === "live" ? passing(flows, hosts, apps, player.toldPs) : [];
  }

  // The transfers that run.
  async bulks() {
    const { apps } = await this.call("Look", { apps: true });
    return sending(apps).filter((each) => each.kind === "bulk").map((each) => each.app);
  }

  async stop(number) {
    const known = (await this.running()).find((each) => each.number === number);
    const words = known?.words ?? `application ${number}`;
    const again = known?.app && (() => this.act(`Undone: ${words} goes on`, [start(known.host, known.app)]));
    await this.performNew(this.act(`Stopped: ${words}`, [stop(number)]), again, "its host does not tell what it was started with.");
  }

  // [{ends: [a, b], isCut}], as they are now.
  async cables() {
    const { topology, cables } = await this.call("Look", { topology: true });
    // Those of a live network are the kernel's, and stay.
    if (!topology) return [];
    return topology.cables.map(({ one, other }, index) => ({ ends: [one, other], isCut: cables[index].cut }));
  }

  cut(end) {
    return this.fault("cut", end, cut, mend);
  }

  mend(end) {
    return this.fault("mended", end, mend, cut);
  }

  fault(done, end, does, undoes) {
    const at = end.port === undefined ? end.node : `${end.node}, port ${end.port}`;
    return this.performNew(this.act(`Cable at ${at} ${done}`, [does(end)]),
                           () => this.act(`Undone: cable at ${at} ${done}`, [undoes(end)]));
  }

  act(title, calls) {
    if (this.glass.scene.world === "live") return liveAct(title, calls, this.started);
    return worldAct(this.glass.calls.schema, title, calls);
  }

  // Carries out a new act of the network in its turn, for the log. `back`, given the answers, makes the act that takes
  // it back; without one, `whyNot` says why there is none.
  performNew(act, back, whyNot) {
    const { handles } = this.glass.side;
    const work = async () => {
      const answers = await this.perform(act);
      handles?.did(act, undefined, back && (() => back(answers)), whyNot);
      return answers;
    };
    return handles ? handles.inTurn(work) : work();
  }

  // Makes an act's calls, one after the other; what it has begun before one is refused ends again.
  async perform(act) {
    const answers = [];
    try {
      for (const [method, request] of act.calls) answers.push(await this.call(method, request));
    } catch (error) {
      for (const { app } of answers) if (app) await this.call("Stop", { app }).catch(() => {});
      throw error;
    }
    return answers;
  }

  call(name, request) {
    return this.glass.calls.call(WORLD_NAME, WORLD, name, request);
  }
}
