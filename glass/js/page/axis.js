// The one axis of time of all tracks: which span of the network they show.
//
// It follows the picture, with a fixed length in seconds of the viewer, until the viewer zooms or
// pans; then it stays.

// How much is to be seen at once, in seconds of the viewer at the pace of the moment.
const WINDOW_S = 12;
// A rate needs some packets to be one: what flows get is drawn over this long at least.
const RATE_WINDOW_PS = 1e12;
// No closer than this can anybody look, and how much a step of the wheel or a press changes.
const SPAN_LEAST_PS = 1e6, STEP = 1.5;

export class Axis {
  constructor() {
    // {fromPs, toPs} chosen by the viewer.
    this.chosen = undefined;
    this.known = { startPs: 0, toldPs: 0, timePs: 0 };
    this.isLong = false;
  }

  // The known span, and the instant of the picture.
  extend(startPs, toldPs, timePs, pace) {
    this.known = { startPs, toldPs, timePs };
    this.window = WINDOW_S * pace * 1e12;
  }

  // Where a track needs to look far back, all of them do.
  get shown() {
    if (this.chosen) return this.chosen;
    const { startPs, timePs } = this.known, width = this.isLong ? Math.max(this.window, RATE_WINDOW_PS) : this.window;
    // At the beginning the curves start at the left and grow.
    const fromPs = Math.max(startPs, timePs - width);
    return { fromPs, toPs: Math.max(timePs, fromPs + this.window) };
  }

  // Closer by `factor`, or wider, around an instant.
  zoom(factor, aroundPs) {
    const { fromPs, toPs } = this.shown, { startPs, toldPs } = this.known;
    const around = Math.min(Math.max(aroundPs ?? this.known.timePs, fromPs), toPs);
    const span = Math.max(SPAN_LEAST_PS, Math.min((toPs - fromPs) / factor, toldPs - startPs));
    this.choose(around - ((around - fromPs) / (toPs - fromPs)) * span, span);
  }

  closer(aroundPs) {
    this.zoom(STEP, aroundPs);
  }

  wider(aroundPs) {
    this.zoom(1 / STEP, aroundPs);
  }

  pan(byPs) {
    const { fromPs, toPs } = this.shown;
    this.choose(fromPs + byPs, toPs - fromPs);
  }

  all() {
    this.choose(this.known.startPs, this.known.toldPs - this.known.startPs);
  }

  follow() {
    this.chosen = undefined;
  }

  // Nothing beyond what is known.
  choose(fromPs, span) {
    const { startPs, toldPs } = this.known;
    const from = Math.max(startPs, Math.min(fromPs, toldPs - span));
    this.chosen = { fromPs: from, toPs: from + span };
  }
}
