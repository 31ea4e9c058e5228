// A network in virtual time: lets it go on just as far as the page is about
// to show, unless others let its time pass.
//
// The world stands still between two steps, so what a handle does happens at the instant reached,
// which is a little ahead of the one that is seen.

import { WORLD } from "../wire/calls.js";
import { WORLD_NAME } from "./hosts_watch.js";

const LOOK_MS = 20, CATCH_UP_TRIES = 100;
const FIRST_PORT = 6001, PAGE_PORT = 80;
const PING_NS = 200_000_000;
// The longest step, in seconds of the viewer: a click must not wait for a longer one.
const STEP_S = 0.15;
// With so much told and not yet shown nothing more is asked for.
const STEP_ON_S = 0.02;

export class VirtualWorld {
  constructor(glass) {
    this.glass = glass;
    this.reachedPs = 0;
    this.isBusy = false;
    this.why = "";
    this.port = FIRST_PORT;
    this.serving = new Set();
    const { isDriven, readOnly } = glass.scene;
    if (isDriven && !readOnly) this.timer = setInterval(() => this.go(), LOOK_MS);
  }

  end() {
    clearInterval(this.timer);
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
    await this.advance(Math.min(wantedPs, mostPs));
  }

  // So much time passes whatever the picture needs.
  async pass(spanPs) {
    while (this.isBusy) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    await this.advance((this.reachedPs || this.glass.player.toldPs) + spanPs);
  }

  async advance(untilPs) {
    this.isBusy = true;
    try {
      const answer = await this.glass.calls.call(WORLD_NAME, WORLD, "Advance", { time_ps: Math.round(untilPs) });
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

  // The end of what was told is reached by single steps: a little more.
  stepOn() {
    const { player } = this.glass;
    if (!this.glass.scene.isDriven) return;
    this.go(this.reachedPs + player.pace * STEP_ON_S * 1e12);
  }

  // ---- flows -----------------------------------------------------------------------------------

  // Each resolves to the number of the application that it has started, and is in the log.
  async startTcp(from, to, control) {
    const port = this.port++;
    await this.call("Start", { host: to, app: { listener: { port } } });
    const { app } = await this.call("Start", { host: from, app: { bulk: { to: { host: to, port }, congestion_control: control } } });
    this.note(`Flow from ${from} to ${to}, ${control}`,
      `world.start("${to}", App(listener=Listener(port=${port})))\n`
      + `world.start("${from}", App(bulk=Bulk(to=Peer(host="${to}", port=${port}), congestion_control="${control}")))`);
    return app;
  }

  async startUdp(from, to, rateBps) {
    const port = this.port++;
    await this.call("Start", { host: to, app: { datagram_sink: { port } } });
    const { app } = await this.call("Start", { host: from, app: { datagram_source: { to: { host: to, port }, steady: { rate_bps: rateBps } } } });
    this.note(`Datagrams from ${from} to ${to}`,
      `world.start("${to}", App(datagram_sink=DatagramSink(port=${port})))\n`
      + `world.start("${from}", App(datagram_source=DatagramSource(to=Peer(host="${to}", port=${port}), steady=DatagramSource.Steady(rate_bps=${rateBps}))))`);
    return app;
  }

  async startPing(from, to, intervalNs = PING_NS) {
    const { app } = await this.call("Start", { host: from, app: { ping: { to, interval_ns: intervalNs } } });
    this.note(`Ping from ${from} to ${to}`, `world.start("${from}", App(ping=Ping(to="${to}", interval_ns=${intervalNs})))`);
    return app;
  }

  // A page of so many bytes, once.
  async fetchPage(reader, server, bytes) {
    const exchange = { request_bytes: 100, response_bytes: bytes };
    const text = `Exchange(request_bytes=100, response_bytes=${bytes})`;
    if (!this.serving.has(server)) {
      await this.call("Start", { host: server, app: { listener: { port: PAGE_PORT, answers: exchange } } });
      this.serving.add(server);
    }
    const { app } = await this.call("Start", { host: reader, app: { page: { from: [{ host: server, port: PAGE_PORT }], exchange } } });
    this.note(`${reader} fetches a page from ${server}`,
      `world.start("${server}", App(listener=Listener(port=${PAGE_PORT}, answers=${text})))\n`
      + `world.start("${reader}", App(page=Page([Peer(host="${server}", port=${PAGE_PORT})], ${text})))`);
    return app;
  }

  // The transfers that run.
  async bulks() {
    const { apps } = await this.call("Look", { apps: true });
    return apps.filter((each) => each.kind === "bulk" && !each.ended).map((each) => each.app);
  }

  async stop(app) {
    await this.call("Stop", { app });
    this.note(`Application ${app} ends`, `world.stop(${app})`);
  }

  note(title, python) {
    this.glass.side.handles?.note({ title, request: {}, yaml: "", python }, "world");
  }

  call(name, request) {
    return this.glass.calls.call(WORLD_NAME, WORLD, name, request);
  }
}
