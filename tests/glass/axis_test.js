// The one axis of all tracks: it follows the picture until the viewer chooses a span.

import { Axis } from "../../glass/js/page/axis.js";
import { holds, same } from "./check.js";

const S = 1e12;

function axisAt(timeS) {
  const axis = new Axis();
  axis.extend(0, 20 * S, timeS * S, 0.1);
  return axis;
}

const seconds = ({ shown: { fromPs, toPs } }) => [fromPs / S, toPs / S].map((each) => Math.round(each * 1e6) / 1e6);

export function it_follows_the_picture_and_grows_from_the_left_at_the_beginning() {
  same(seconds(axisAt(10)), [8.8, 10]);
  same(seconds(axisAt(0.5)), [0, 1.2]);
}

export function zooming_keeps_the_instant_below_the_pointer_where_it_is() {
  const axis = axisAt(10);
  const place = (atS) => (atS - seconds(axis)[0]) / (seconds(axis)[1] - seconds(axis)[0]);
  const before = place(9.1);
  axis.closer(9.1 * S);
  same(seconds(axis)[1] - seconds(axis)[0] < 1.2, true);
  holds(Math.abs(place(9.1) - before) < 1e-5, "in the same place");
  axis.wider(9.1 * S);
  same(seconds(axis), [8.8, 10]);
  for (let times = 0; times < 100; times++) axis.closer(9 * S);
  holds(axis.shown.toPs - axis.shown.fromPs >= 1e6 * 0.999, "no closer than a microsecond");
}

export function nothing_beyond_what_is_known_is_shown_and_the_picture_can_be_followed_again() {
  const axis = axisAt(10);
  axis.pan(-100 * S);
  same(seconds(axis), [0, 1.2]);
  axis.pan(100 * S);
  same(seconds(axis), [18.8, 20]);
  axis.all();
  same(seconds(axis), [0, 20]);
  axis.wider(0);
  same(seconds(axis), [0, 20]);
  // It stands while the picture goes on.
  axis.extend(0, 30 * S, 15 * S, 0.1);
  same(seconds(axis), [0, 20]);
  axis.follow();
  same(seconds(axis), [13.8, 15]);
}
