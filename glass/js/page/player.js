// The clock of the page: which instant is shown, and how fast time goes on.
//
// `pace` is seconds of the router in a second of the viewer. In a live world the newest instant moves on by itself;
// following it means to stay `LAG_S` behind, so that reports in flight have arrived. In a virtual world nothing is
// there yet beyond `toldPs`: the page that drives it asks `wantedPs` how far time may go; a page that only watches one
// stays behind the instant that the driving page requested. In each world one can go back as far as is remembered.

export const PACES = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01,
  0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500];

const LAG_S = 0.2;
// How far ahead of the picture a virtual world is kept, in seconds of the viewer.
const AHEAD_S = 0.3;
// A page that only watches catches up with the driving page within this, in the viewer's time.
const BEHIND_S = 0.3;
// The reached pace is averaged over this much of the viewer's time.
const REACHED_S = 1;
// Below this part of the wanted pace the page shows the reached one.
const SHORT_OF = 0.8;

export class Player {
  // `isLed`: another page lets time pass, at whatever pace.
  constructor({ isLive, isLed = false, pace = 1 }) {
    this.isLed = isLed;
    this.isLive = isLive || isLed;
    this.pace = this.reached = pace;
    this.isPlaying = true;
    // Live or led: shows the newest there is.
    this.isFollowing = this.isLive;
    this.timePs = 0;
    this.startPs = 0;
    this.toldPs = 0;
    // When `toldPs` became what it is, in seconds of the viewer.
    this.toldAtS = 0;
    this.listeners = new Set();
  }

  // The remembered instants: from `startPs` to `toldPs`.
  extend(startPs, toldPs, nowS) {
    this.startPs = startPs;
    if (toldPs > this.toldPs) {
      this.toldPs = toldPs;
      this.toldAtS = nowS;
    }
    if (this.timePs < startPs) this.timePs = startPs;
  }

  // A picture is due, `spanS` seconds of the viewer after the last one.
  tick(nowS, spanS) {
    if (!this.isPlaying) return;
    if (this.isFollowing) return this.followOn(nowS, spanS);
    const next = this.timePs + spanS * this.pace * 1e12;
    const before = this.timePs;
    this.timePs = Math.min(next, Math.max(this.toldPs, this.timePs));
    if (spanS > 0) this.reached += ((this.timePs - before) / spanS / 1e12 - this.reached) * Math.min(1, spanS / REACHED_S);
    if (this.isLive && !this.isLed && next >= this.toldPs && this.pace >= 1) this.follow();
    return undefined;
  }

  // Between two messages time goes on as the router's does.
  followOn(nowS, spanS) {
    if (this.isLed) {
      this.timePs += Math.max(0, this.toldPs - this.timePs) * Math.min(1, spanS / BEHIND_S);
      return;
    }
    const target = this.toldPs + (nowS - this.toldAtS - LAG_S) * 1e12;
    const next = this.timePs + spanS * 1e12;
    // Small differences are made up for smoothly, large ones at once.
    const off = target - next;
    const at = Math.abs(off) > 0.5e12 ? target : next + off * 0.05;
    this.timePs = Math.max(this.startPs, Math.min(at, this.toldPs));
  }

  // Whether time passes more slowly than requested, as the machine computes no faster.
  get isShort() {
    return this.isPlaying && !this.isFollowing && this.reached < SHORT_OF * this.pace;
  }

  get wantedPs() {
    return this.isPlaying ? this.timePs + this.pace * AHEAD_S * 1e12 : this.timePs;
  }

  play() {
    this.isPlaying = true;
    this.reached = this.pace;
    this.changed();
  }

  pause() {
    this.isPlaying = false;
    this.isFollowing = false;
    this.changed();
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  follow() {
    this.isFollowing = true;
    this.isPlaying = true;
    if (!this.isLed) this.pace = 1;
    this.changed();
  }

  seek(timePs) {
    this.isFollowing = false;
    this.timePs = Math.min(Math.max(timePs, this.startPs), this.toldPs);
    this.changed();
  }

  setPace(pace) {
    this.pace = this.reached = Math.min(PACES.at(-1), Math.max(PACES[0], pace));
    if (this.isLive && this.pace !== 1) this.isFollowing = false;
    this.changed();
  }

  faster() {
    this.setPace(PACES.find((each) => each > this.pace * 1.01) ?? PACES.at(-1));
  }

  slower() {
    this.setPace(PACES.findLast((each) => each < this.pace * 0.99) ?? PACES[0]);
  }

  changed() {
    for (const listener of this.listeners) listener();
  }
}
