//! BBR, version 1, as in Linux (Cardwell et al. 2016, draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! ```text
//!   Startup -- the rate stops growing --> Drain -- no queue left --> ProbeBw (5/4, 3/4, 1 x 6, ...)
//!      ^                                                                |  ^
//!      +--------------------- ProbeRtt: every 10 s, 200 ms at 4 packets +--+
//! ```
//!
//! It keeps a model of the path (the largest delivery rate of ten round trips, the least round-trip
//! time of ten seconds), sends at that rate and keeps at most twice their product in flight. Losses
//! change the window only while they are repaired.
//!
//! Rates are packets a microsecond, times 2^24; gains are 256ths.

use chance::Chance;
use units::{Span, Time};

use super::clumps::Clumps;
use super::max_filter::MaxFilter;
use super::{Congestion, Happening, Path, RATE_SHIFT, RateSample, RecoveryState, Window};

const UNIT: u64 = 256;
/// 2 / ln 2: the least gain that doubles the rate each round trip; and its inverse.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
const CWND_GAIN: u64 = UNIT * 2;
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
const RATE_ROUNDS: u64 = 10;
const MIN_RTT_SPAN: Span = Span::from_secs(10);
const PROBE_RTT_SPAN: Span = Span::from_ms(200);
const CWND_MIN: u32 = 4;
/// The pipe is full when the rate has not grown by a quarter in three round trips.
const FULL_ROUNDS: u32 = 3;
/// Pace a little below the estimate, so that no queue is left standing.
const MARGIN_PERCENT: u64 = 1;
/// Acknowledgments that come in clumps: the window grows by the largest clump of five to ten rounds.
const CLUMP_ROUNDS: u32 = 5;
/// Below 1.2 Mb/s, single segments; above, two or more in a burst.
const SMALL_BURST_BYTES_PER_S: u64 = 150_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// See the top of the file.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    dice: Chance,
    mode: Mode,
    max_rate: MaxFilter,
    min_rtt_us: u32,
    min_rtt_at: Time,
    /// Round trips: each ends when what was sent at its beginning is delivered.
    rounds: u64,
    round_ends_at: u64,
    round_starts: bool,
    full_rate: u64,
    full_rounds: u32,
    is_full: bool,
    cycle: usize,
    cycle_at: Time,
    pacing_gain: u64,
    cwnd_gain: u64,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    restarts_idle: bool,
    has_rtt: bool,
    conserves: bool,
    prior_cwnd: u32,
    prior_recovery: RecoveryState,
    policer: Policer,
    clumps: Clumps,
}

/// A token-bucket policer on the path shows as a steady rate amid steady losses: then the rate is
/// kept for a while instead of probed.
#[derive(Clone, Copy, Debug, Default)]
struct Policer {
    rate: u64,
    in_use: bool,
    sampling: bool,
    rounds: u32,
    last_at_us: u64,
    last_delivered: u64,
    last_lost: u64,
}

impl Bbr {
    pub fn new(dice: Chance) -> Bbr {
        Bbr {
            dice,
            mode: Mode::Startup,
            max_rate: MaxFilter::default(),
            min_rtt_us: u32::MAX,
            min_rtt_at: Time::ZERO,
            rounds: 0,
            round_ends_at: 0,
            round_starts: false,
            full_rate: 0,
            full_rounds: 0,
            is_full: false,
            cycle: 0,
            cycle_at: Time::ZERO,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            restarts_idle: false,
            has_rtt: false,
            conserves: false,
            prior_cwnd: 0,
            prior_recovery: RecoveryState::Open,
            policer: Policer::default(),
            clumps: Clumps::default(),
        }
    }

    fn rate(&self) -> u64 {
        if self.policer.in_use { self.policer.rate } else { self.max_rate.get() }
    }

    /// Bytes a second at `rate` times `gain`, less the margin.
    fn bytes_per_s(rate: u64, gain: u64, mss: u32) -> u64 {
        let bytes = u128::from(rate) * u128::from(mss) * u128::from(gain) / u128::from(UNIT);
        let bytes = bytes * 1_000_000 * u128::from(100 - MARGIN_PERCENT) / 100;
        (bytes >> RATE_SHIFT).min(u128::from(u64::MAX)) as u64
    }

    fn set_pacing(&mut self, window: &mut Window, path: &Path, rate: u64, gain: u64) {
        if !self.has_rtt && path.srtt_us > 0 {
            self.begin_pacing(window, path);
        }
        let bytes_per_s = Bbr::bytes_per_s(rate, gain, path.mss);
        if self.is_full || bytes_per_s > window.pacing_bytes_per_s {
            window.pacing_bytes_per_s = bytes_per_s;
        }
        window.burst_segments_min = burst_segments_min(window.pacing_bytes_per_s);
    }

    /// Before the first sample: the initial window in the first round trip, or in a millisecond.
    fn begin_pacing(&mut self, window: &mut Window, path: &Path) {
        self.has_rtt |= path.srtt_us > 0;
        let rtt_us = if path.srtt_us > 0 { u64::from(path.srtt_us) } else { 1000 };
        let rate = (u64::from(window.cwnd) << RATE_SHIFT) / rtt_us;
        window.pacing_bytes_per_s = Bbr::bytes_per_s(rate, HIGH_GAIN, path.mss);
    }

    /// The bandwidth-delay product times `gain`, in packets.
    fn product(&self, rate: u64, gain: u64, window: &Window) -> u32 {
        if self.min_rtt_us == u32::MAX {
            return window.cwnd.max(10);
        }
        let product = u128::from(rate) * u128::from(self.min_rtt_us) * u128::from(gain);
        ((product / u128::from(UNIT)).div_ceil(1 << RATE_SHIFT)).min(1 << 30) as u32
    }

    /// Room for bursts in flight at both ends, and for delayed acknowledgments.
    fn with_headroom(&self, packets: u32, window: &Window, path: &Path) -> u32 {
        let goal = burst_goal(window.pacing_bytes_per_s, path.mss);
        let even = (packets + 3 * goal).next_multiple_of(2);
        if self.mode == Mode::ProbeBw && self.cycle == 0 { even + 2 } else { even }
    }

    fn target(&self, rate: u64, gain: u64, window: &Window, path: &Path) -> u32 {
        self.with_headroom(self.product(rate, gain, window), window, path)
    }

    /// The data in the network when the next segment may leave.
    fn in_network(&self, in_flight: u32, window: &Window, path: &Path) -> u32 {
        let ahead_us = path.next_send.since(path.now).whole_us();
        let delivered = (u128::from(self.rate()) * u128::from(ahead_us)) >> RATE_SHIFT;
        let mut then = in_flight;
        if self.pacing_gain > UNIT {
            then += burst_goal(window.pacing_bytes_per_s, path.mss);
        }
        then.saturating_sub(delivered.min(u128::from(u32::MAX)) as u32)
    }

    fn update_model(&mut self, window: &mut Window, path: &Path, sample: &RateSample) {
        self.update_rate(path, sample);
        self.update_clumps(window, path, sample);
        self.update_cycle(window, path, sample);
        self.check_full(sample);
        self.check_drained(window, path);
        self.update_min_rtt(window, path, sample);
        let mode = self.mode;
        (self.pacing_gain, self.cwnd_gain) = match mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.in_use => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn update_rate(&mut self, path: &Path, sample: &RateSample) {
        self.round_starts = false;
        let Some(delivered) = sample.delivered else { return };
        if sample.prior_delivered >= self.round_ends_at {
            self.round_ends_at = path.delivered;
            self.rounds += 1;
            self.round_starts = true;
            self.conserves = false;
        }
        if self.policer.sample(path, sample.newly_lost, sample.app_limited, self.round_starts) {
            self.restart_cycle(path);
        }
        let rate = (u64::from(delivered) << RATE_SHIFT) / sample.interval_us.max(1);
        if !sample.app_limited || rate >= self.max_rate.get() {
            self.max_rate.update(RATE_ROUNDS, self.rounds, rate);
        }
    }

    fn update_clumps(&mut self, window: &Window, path: &Path, sample: &RateSample) {
        let seen = [self.rate(), u64::from(window.cwnd)];
        self.clumps.update(path, sample, seen, self.round_starts, CLUMP_ROUNDS);
    }

    fn clump_packets(&self) -> u32 {
        if self.is_full { self.clumps.packets(self.rate()) } else { 0 }
    }

    fn update_cycle(&mut self, window: &Window, path: &Path, sample: &RateSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let long_enough = path.now.since(self.cycle_at) > Span::from_us(u64::from(self.min_rtt_us));
        let rate = self.max_rate.get();
        let in_network = self.in_network(sample.prior_in_flight, window, path);
        let over = if self.pacing_gain == UNIT {
            long_enough
        } else if self.pacing_gain > UNIT {
            let reached = in_network >= self.target(rate, self.pacing_gain, window, path);
            long_enough && (sample.newly_lost > 0 || reached)
        } else {
            long_enough || in_network <= self.target(rate, UNIT, window, path)
        };
        if over {
            self.cycle = (self.cycle + 1) % CYCLE.len();
            self.cycle_at = path.now;
        }
    }

    /// Into ProbeBw, at any phase but that which drains.
    fn restart_cycle(&mut self, path: &Path) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.dice.below(CYCLE.len() as u64 - 1) as usize;
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = path.now;
    }

    fn check_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_starts || sample.app_limited {
            return;
        }
        if self.max_rate.get() >= self.full_rate * 5 / 4 {
            self.full_rate = self.max_rate.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drained(&mut self, window: &mut Window, path: &Path) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.target(self.max_rate.get(), UNIT, window, path);
        }
        let target = self.target(self.max_rate.get(), UNIT, window, path);
        if self.mode == Mode::Drain && self.in_network(path.in_flight, window, path) <= target {
            self.restart_cycle(path);
        }
    }

    fn update_min_rtt(&mut self, window: &mut Window, path: &Path, sample: &RateSample) {
        let expired = path.now > self.min_rtt_at + MIN_RTT_SPAN;
        if let Some(rtt_us) = sample.rtt_us
            && (rtt_us < self.min_rtt_us || expired && !sample.ack_delayed)
        {
            self.min_rtt_us = rtt_us.max(1);
            self.min_rtt_at = path.now;
        }
        if expired && !self.restarts_idle && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            // The delivery rate now is less than the path's.
            window.limited_by_choice = true;
            match self.probe_rtt_until {
                None if path.in_flight <= CWND_MIN => {
                    self.probe_rtt_until = Some(path.now + PROBE_RTT_SPAN);
                    self.probe_rtt_round_done = false;
                    self.round_ends_at = path.delivered;
                }
                Some(_) => {
                    self.probe_rtt_round_done |= self.round_starts;
                    if self.probe_rtt_round_done {
                        self.check_probed(window, path);
                    }
                }
                None => (),
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarts_idle = false;
        }
    }

    fn check_probed(&mut self, window: &mut Window, path: &Path) {
        if self.probe_rtt_until.is_none_or(|until| path.now <= until) {
            return;
        }
        self.min_rtt_at = path.now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.restart_cycle(path);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// The window to return to after recovery or ProbeRtt.
    fn save_cwnd(&mut self, window: &Window) {
        let normal = self.prior_recovery < RecoveryState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if normal { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    fn set_cwnd(&mut self, window: &mut Window, path: &Path, sample: &RateSample, rate: u64) {
        let acked = sample.acked;
        if acked > 0 && !self.repairs(window, path, sample) {
            let product = self.product(rate, self.cwnd_gain, window) + self.clump_packets();
            let target = self.with_headroom(product, window, path);
            if self.is_full {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || path.delivered < 10 {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(CWND_MIN);
        }
        window.cwnd = window.cwnd.min(window.cwnd_max);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(CWND_MIN);
        }
    }

    /// In the first round trip of a recovery, as many leave as arrive; after it, the window returns.
    /// True while it is so conserved.
    fn repairs(&mut self, window: &mut Window, path: &Path, sample: &RateSample) -> bool {
        if sample.newly_lost > 0 {
            window.cwnd = window.cwnd.saturating_sub(sample.newly_lost).max(1);
        }
        let (before, state) = (self.prior_recovery, path.recovery);
        if state == RecoveryState::Recovery && before != RecoveryState::Recovery {
            self.conserves = true;
            self.round_ends_at = path.delivered;
            window.cwnd = path.in_flight + sample.acked;
        } else if before >= RecoveryState::Recovery && state < RecoveryState::Recovery {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.prior_recovery = state;
        if self.conserves {
            window.cwnd = window.cwnd.max(path.in_flight + sample.acked);
        }
        self.conserves
    }
}

impl Congestion for Bbr {
    fn name(&self) -> &str {
        "bbr"
    }

    fn begin(&mut self, window: &mut Window, path: &Path) {
        self.min_rtt_us = path.min_rtt_us;
        self.min_rtt_at = path.now;
        self.clumps.restart(path.now);
        self.begin_pacing(window, path);
    }

    fn grow(&mut self, _window: &mut Window, _path: &Path, _acked: u32) {}

    /// The threshold stays; what the window was is remembered for the time after.
    fn ssthresh(&mut self, window: &Window, _path: &Path) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn undo_cwnd(&mut self, window: &Window, _path: &Path) -> u32 {
        self.full_rate = 0;
        self.full_rounds = 0;
        self.policer = Policer::default();
        window.cwnd
    }

    fn happened(&mut self, window: &mut Window, path: &Path, what: Happening) {
        match what {
            Happening::Timeout => {
                self.prior_recovery = RecoveryState::Loss;
                self.full_rate = 0;
                self.round_starts = true;
                self.policer.sample(path, 1, false, true);
            }
            Happening::TransmitStart if path.app_limited => {
                self.restarts_idle = true;
                self.clumps.restart(path.now);
                if self.mode == Mode::ProbeBw {
                    let rate = self.rate();
                    self.set_pacing(window, path, rate, UNIT);
                } else if self.mode == Mode::ProbeRtt {
                    self.check_probed(window, path);
                }
            }
            _ => (),
        }
    }

    fn takes_over(&self) -> bool {
        true
    }

    fn control(&mut self, window: &mut Window, path: &Path, sample: &RateSample) {
        self.update_model(window, path, sample);
        let rate = self.rate();
        self.set_pacing(window, path, rate, self.pacing_gain);
        self.set_cwnd(window, path, sample, rate);
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn tell(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        let mode = match self.mode {
            Mode::Startup => 0,
            Mode::Drain => 1,
            Mode::ProbeBw => 2,
            Mode::ProbeRtt => 3,
        };
        tell("mode", mode);
        tell("packets_per_s", ((u128::from(self.rate()) * 1_000_000) >> RATE_SHIFT) as u64);
        tell("min_rtt_us", u64::from(self.min_rtt_us));
        tell("pacing_gain_256ths", self.pacing_gain);
        tell("cwnd_gain_256ths", self.cwnd_gain);
    }
}

/// The least length of an interval, in round trips; one longer than four times that says nothing.
const POLICER_ROUNDS_MIN: u32 = 4;
/// An interval counts if a fifth of its packets were lost.
const POLICER_LOSS_256THS: u64 = 50;
/// The rate is believed for this many round trips.
const POLICER_USE_ROUNDS: u32 = 48;

impl Policer {
    /// Works a round in; true if what was believed is to be probed again.
    fn sample(&mut self, path: &Path, lost: u32, app_limited: bool, round_starts: bool) -> bool {
        if self.in_use {
            self.rounds += u32::from(round_starts);
            if self.rounds < POLICER_USE_ROUNDS {
                return false;
            }
            *self = Policer::default();
            return true;
        }
        if !self.sampling {
            if lost == 0 {
                return false;
            }
            self.restart(path);
            self.sampling = true;
        }
        if app_limited {
            *self = Policer::default();
            return false;
        }
        self.rounds += u32::from(round_starts);
        if self.rounds < POLICER_ROUNDS_MIN {
            return false;
        }
        if self.rounds > 4 * POLICER_ROUNDS_MIN {
            *self = Policer::default();
            return false;
        }
        if lost == 0 {
            return false;
        }
        let lost = path.lost - self.last_lost;
        let delivered = path.delivered - self.last_delivered;
        if delivered == 0 || (lost << 8) < POLICER_LOSS_256THS * delivered {
            return false;
        }
        let us = path.now.whole_us() - self.last_at_us;
        if us < 1000 {
            return false;
        }
        self.interval_done(path, (delivered << RATE_SHIFT) / us);
        false
    }

    fn restart(&mut self, path: &Path) {
        self.last_at_us = path.now.whole_us();
        self.last_delivered = path.delivered;
        self.last_lost = path.lost;
        self.rounds = 0;
    }

    /// Two intervals in a row with about the same rate: a policer.
    fn interval_done(&mut self, path: &Path, rate: u64) {
        if self.rate > 0 {
            let apart = rate.abs_diff(self.rate);
            let apart_bytes_per_s = Bbr::bytes_per_s(apart, UNIT, path.mss);
            if apart <= self.rate / 8 || apart_bytes_per_s <= 4000 / 8 {
                self.rate = self.rate.midpoint(rate);
                self.in_use = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = rate;
        self.restart(path);
    }
}

/// How many segments one burst should have: a millisecond's worth, at least two.
fn burst_goal(pacing_bytes_per_s: u64, mss: u32) -> u32 {
    let bytes = (pacing_bytes_per_s >> 10).min(65_535);
    ((bytes / u64::from(mss)) as u32).max(burst_segments_min(pacing_bytes_per_s))
}

/// On slow paths segments leave one by one.
fn burst_segments_min(pacing_bytes_per_s: u64) -> u32 {
    if pacing_bytes_per_s < SMALL_BURST_BYTES_PER_S { 1 } else { 2 }
}
