//! CUBIC (RFC 9438) as Linux computes it, with HyStart's two ways out of slow start.
//!
//! ```text
//!   W(t) = C (t - K)^3 + Wmax       K = cbrt(Wmax (1 - beta) / C)      C = 0.4, beta = 0.7
//! ```
//!
//! Time is counted in 1024ths of a second, beta in 1024ths (717), C in 1024ths (410), so that the
//! whole curve is integer arithmetic: 410 x t^3 / 2^40 packets, t^3 carrying 2^30 and C 2^10.

use units::Time;

use super::{Congestion, Happening, Path, Window};

const BETA_1024THS: u64 = 717;
const C_1024THS: u64 = 410;
/// (1 + beta) / (1 - beta) x 8 / 3 = 15.1: packets acknowledged per eighth of a packet by which an
/// AIMD flow with CUBIC's beta grows (RFC 9438 section 4.3).
const FRIENDLY_EIGHTHS: u32 = 15;

/// Linux's clock for the curve ticks 250 times a second (its CONFIG_HZ on servers), and the window is
/// computed for a tick at a time.
const TICKS_PER_S: u64 = 250;
const TICK_US: u64 = 1_000_000 / TICKS_PER_S;

/// HyStart watches from this window on.
const HYSTART_CWND_MIN: u32 = 16;
/// Acknowledgments closer than this belong to one train.
const HYSTART_TRAIN_GAP_US: u64 = 2_000;
/// Round-trip times of a round before their minimum is believed.
const HYSTART_SAMPLES: u32 = 8;

/// CUBIC's state.
#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    /// The window before the last reduction (lowered by fast convergence); 0 for none.
    last_max_cwnd: u32,
    epoch: Option<Epoch>,
    /// Packets acknowledged for one packet more, and the window and tick it was computed for.
    per_increase: u32,
    computed_for: (u32, u64),
    delay_min_us: u32,
    hystart: Hystart,
}

/// One stretch of growth between two reductions.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began, in ticks.
    start: u64,
    /// K, in 1024ths of a second.
    k: u64,
    /// Wmax of the curve.
    origin: u32,
    /// The window of a Reno-like flow by now, and the acknowledgments not yet credited to it.
    friendly_cwnd: u32,
    friendly_acked: u32,
}

/// Leaving slow start before it overflows the queue (Ha and Rhee 2011; Linux).
#[derive(Clone, Debug, Default)]
struct Hystart {
    found: bool,
    round_start: Time,
    last_ack: Time,
    round_end: u64,
    round_rtt_us: u32,
    samples: u32,
}

impl Congestion for Cubic {
    fn name(&self) -> &str {
        "cubic"
    }

    fn begin(&mut self, _window: &mut Window, path: &Path) {
        self.hystart.new_round(path);
    }

    fn measured(&mut self, window: &mut Window, path: &Path, rtt_us: u32) {
        // Right after a reduction the queue is still that of before.
        let young = self.epoch.is_some_and(|epoch| ticks_of(path.now) < epoch.start + TICKS_PER_S);
        if young {
            return;
        }
        let rtt_us = rtt_us.max(1);
        if self.delay_min_us == 0 || rtt_us < self.delay_min_us {
            self.delay_min_us = rtt_us;
        }
        let watch =
            !self.hystart.found && window.in_slow_start() && window.cwnd >= HYSTART_CWND_MIN;
        if watch && self.hystart.finds_the_end(window, path, rtt_us, self.delay_min_us) {
            self.hystart.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    fn grow(&mut self, window: &mut Window, path: &Path, acked: u32) {
        if !path.cwnd_limited {
            return;
        }
        let left = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if left > 0 {
            let per_increase = self.per_increase(window.cwnd, left, path.now);
            window.additive_increase(per_increase, left);
        }
    }

    /// RFC 9438 section 4.6, with 4.7's fast convergence: a flow that did not reach its last
    /// maximum makes room for others.
    fn ssthresh(&mut self, window: &Window, _path: &Path) -> u32 {
        self.epoch = None;
        let cwnd = u64::from(window.cwnd);
        self.last_max_cwnd = if window.cwnd < self.last_max_cwnd {
            (cwnd * (1024 + BETA_1024THS) / 2048) as u32
        } else {
            window.cwnd
        };
        ((cwnd * BETA_1024THS / 1024) as u32).max(2)
    }

    fn happened(&mut self, _window: &mut Window, path: &Path, what: Happening) {
        match what {
            Happening::Timeout => {
                *self = Cubic::default();
                self.hystart.new_round(path);
            }
            // An idle time is no time in which the curve went up (RFC 9438 section 5.8).
            Happening::TransmitStart => {
                let (last, now) = (self.computed_for.1, ticks_of(path.now));
                self.epoch = self.epoch.map(|epoch| epoch.resumed(last, now));
            }
            _ => (),
        }
    }

    fn tell(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        tell("last_max_cwnd", u64::from(self.last_max_cwnd));
        tell("delay_min_us", u64::from(self.delay_min_us));
        if let Some(epoch) = &self.epoch {
            tell("k_ms", epoch.k * 1000 / 1024);
            tell("friendly_cwnd", u64::from(epoch.friendly_cwnd));
        }
    }
}

impl Cubic {
    /// How many acknowledged packets the next packet of window costs.
    fn per_increase(&mut self, cwnd: u32, acked: u32, now: Time) -> u32 {
        let (for_cwnd, at_tick) = self.computed_for;
        let tick = ticks_of(now);
        if let Some(epoch) = &mut self.epoch {
            epoch.friendly_acked += acked;
        }
        // The curve moves slowly: 32 looks a second are enough while the window stands still.
        if for_cwnd == cwnd && tick <= at_tick + TICKS_PER_S / 32 && at_tick > 0 {
            return self.per_increase;
        }
        // And one look a tick while it does not.
        if self.epoch.is_none() || tick != at_tick {
            self.computed_for = (cwnd, tick);
            let last_max_cwnd = self.last_max_cwnd;
            let epoch =
                self.epoch.get_or_insert_with(|| Epoch::begin(tick, cwnd, last_max_cwnd, acked));
            // The window of one round trip from now: acknowledgments come a round trip late.
            let ahead = tick - epoch.start + u64::from(self.delay_min_us).div_ceil(TICK_US);
            let target = epoch.target(ahead * 1024 / TICKS_PER_S);
            self.per_increase =
                if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
            // Before the first loss there is no curve yet, and 5 % a round trip are safe.
            if last_max_cwnd == 0 {
                self.per_increase = self.per_increase.min(20);
            }
        }
        if let Some(most) = self.epoch.as_mut().and_then(|epoch| epoch.be_friendly(cwnd)) {
            self.per_increase = self.per_increase.min(most);
        }
        self.per_increase = self.per_increase.max(2);
        self.per_increase
    }
}

impl Epoch {
    fn begin(tick: u64, cwnd: u32, last_max_cwnd: u32, acked: u32) -> Epoch {
        let below = u64::from(last_max_cwnd.saturating_sub(cwnd));
        // K^3 = below / C, with K in 1024ths: below x 2^30 / (410 / 1024).
        let k = cube_root(below * (1 << 40) / C_1024THS);
        Epoch {
            start: tick,
            k,
            origin: cwnd.max(last_max_cwnd),
            friendly_cwnd: cwnd,
            friendly_acked: acked,
        }
    }

    /// W(t), `t` in 1024ths of a second.
    fn target(&self, t: u64) -> u32 {
        let offset = u128::from(t.abs_diff(self.k));
        let delta = (u128::from(C_1024THS) * offset * offset * offset) >> 40;
        let delta = delta.min(u128::from(u32::MAX / 2)) as u32;
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// Where Reno with the same reduction would be further, follow it (RFC 9438 section 4.3): what
    /// the next packet of window costs at the most.
    fn be_friendly(&mut self, cwnd: u32) -> Option<u32> {
        let cost = ((u64::from(cwnd) * u64::from(FRIENDLY_EIGHTHS)) >> 3).max(1) as u32;
        while self.friendly_acked > cost {
            self.friendly_acked -= cost;
            self.friendly_cwnd += 1;
        }
        (self.friendly_cwnd > cwnd).then(|| cwnd / (self.friendly_cwnd - cwnd))
    }

    /// The same curve, later by the time since `last`, in which nothing was sent.
    fn resumed(self, last: u64, now: u64) -> Epoch {
        Epoch { start: (self.start + (now - last.max(self.start))).min(now), ..self }
    }
}

impl Hystart {
    fn new_round(&mut self, path: &Path) {
        self.round_start = path.now;
        self.last_ack = path.now;
        self.round_end = path.nxt;
        self.round_rtt_us = u32::MAX;
        self.samples = 0;
    }

    /// Whether slow start fills the path by now: the acknowledgments of one window come back to
    /// back for half a round trip (the bottleneck is busy that long), or the least delay of the
    /// round has grown by an eighth (the queue fills).
    fn finds_the_end(
        &mut self,
        window: &Window,
        path: &Path,
        rtt_us: u32,
        delay_min_us: u32,
    ) -> bool {
        if path.una > self.round_end {
            self.new_round(path);
        }
        let mut found = false;
        if path.now.since(self.last_ack).whole_us() <= HYSTART_TRAIN_GAP_US {
            self.last_ack = path.now;
            let full = u64::from(delay_min_us) + train_allowance_us(window.pacing_bytes_per_s);
            // Pacing spreads a window over half a round trip by itself.
            let threshold = if path.paced { full } else { full / 2 };
            found |= path.now.since(self.round_start).whole_us() > threshold;
        }
        self.round_rtt_us = self.round_rtt_us.min(rtt_us);
        if self.samples < HYSTART_SAMPLES {
            self.samples += 1;
        } else {
            let slack_us = (delay_min_us / 8).clamp(4_000, 16_000);
            found |= self.round_rtt_us > delay_min_us + slack_us;
        }
        found
    }
}

/// How long bursts of segments may stretch a train: four of 64 KB at the pacing rate, 1 ms at most.
fn train_allowance_us(pacing_bytes_per_s: u64) -> u64 {
    (65_536 * 4 * 1_000_000 / pacing_bytes_per_s.max(1)).min(1_000)
}

fn ticks_of(now: Time) -> u64 {
    now.whole_us() / TICK_US
}

/// The whole part of the cube root, bit by bit.
fn cube_root(value: u64) -> u64 {
    let mut root = 0u64;
    for bit in (0..22).rev() {
        let next = root | 1 << bit;
        if u128::from(next).pow(3) <= u128::from(value) {
            root = next;
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests_support::path;

    #[test]
    fn the_cube_root_is_exact() {
        for root in [0u64, 1, 2, 3, 10, 1023, 4318, 2_642_245] {
            let cube = root.pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + 1), root.max(1));
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1));
        }
    }

    /// RFC 9438 section 4.2: Wmax = 100 packets, beta = 0.7: K = cbrt(100 x 0.3 / 0.4) = 4.217 s.
    #[test]
    fn after_a_loss_at_100_packets_the_curve_is_back_after_4_217_seconds() {
        let mut cubic = Cubic::default();
        let mut window = Window::new(100, None);
        window.ssthresh = cubic.ssthresh(&window, &path(0));
        // 100 x 717 / 1024 = 70.02.
        assert_eq!(window.ssthresh, 70);
        let epoch = Epoch::begin(0, window.ssthresh, cubic.last_max_cwnd, 0);
        assert_eq!(epoch.k * 1000 / 1024, 4214, "C is 410/1024 rather than 0.4");
        // Half-way, W = 100 - 0.4 x 2.11^3 = 96.2; at K it is 100; at 2K, 130.
        let at = |s_1024: u64| epoch.target(s_1024);
        assert_eq!([at(0), at(epoch.k / 2), at(epoch.k), at(2 * epoch.k)], [71, 97, 100, 129]);
    }

    /// Linux computes the window once a tick of 4 ms, whatever happens to it within the tick.
    #[test]
    fn the_curve_is_looked_at_once_a_tick() {
        let at = |ms: u64| Time::from_ps(ms * 1_000_000_000);
        let mut cubic = Cubic { last_max_cwnd: 100, ..Cubic::default() };
        // A curve from 70 packets that began 4 s ago: 0.4 (4 - 4.21)^3 is no packet, so the target
        // is 100. From 80 it is 20 packets away, 80 / 20 = 4.
        cubic.epoch = Some(Epoch::begin(0, 70, 100, 0));
        assert_eq!(cubic.per_increase(80, 1, at(4000)), 4);
        assert_eq!(cubic.per_increase(81, 1, at(4003)), 4);
        assert_eq!(cubic.per_increase(90, 1, at(4004)), 9, "90 / 10");
    }

    /// Fast convergence: a second loss below the last maximum lowers Wmax to (1 + beta) / 2.
    #[test]
    fn a_flow_that_stays_below_its_last_maximum_lowers_it_further() {
        let mut cubic = Cubic::default();
        cubic.ssthresh(&Window::new(100, None), &path(0));
        cubic.ssthresh(&Window::new(80, None), &path(0));
        // 80 x (1024 + 717) / 2048 = 68.007.
        assert_eq!(cubic.last_max_cwnd, 68);
    }

    /// In the Reno-friendly region the growth is 3 (1 - beta) / (1 + beta) = 0.53 packets a round.
    #[test]
    fn with_a_short_path_cubic_grows_like_reno() {
        let mut cubic = Cubic { delay_min_us: 40_000, ..Cubic::default() };
        let mut window = Window::new(20, None);
        window.ssthresh = cubic.ssthresh(&window, &path(0));
        window.cwnd = window.ssthresh;
        // Twenty round trips of 40 ms: 0.8 s after the loss the cubic curve is still flat.
        for round in 1..=20 {
            let acked = window.cwnd;
            (0..acked).for_each(|_| cubic.grow(&mut window, &path(40 * round), 1));
        }
        // From 14: 0.53 x 20 = 10.6 packets more, less what is not computed in the last 32 ms.
        assert!((23..=25).contains(&window.cwnd), "{}", window.cwnd);
    }
}
