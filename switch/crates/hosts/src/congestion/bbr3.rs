//! BBR, version 3 (draft-ietf-ccwg-bbr): BBR that backs off for losses and marks.
//!
//! ```text
//!   Startup --> Drain --> Down --> Cruise --> Refill --> Up --> Down ...   every 2 to 3 s, or as often
//!                           ^                                              as Reno would lose a packet
//!                           +--- ProbeRtt: every 5 s, 200 ms at half a BDP
//! ```
//!
//! Beside version 1's model (largest rate of two cycles, least round-trip time) it keeps bounds on
//! the data in flight: `inflight_high`, found by probing until 2 % are lost, and `inflight_low` and
//! `rate_low`, cut by 30 % in each round with losses between probes and forgotten at the next.
//! Marks count as losses: the draft's own ECN reaction needs paths known to mark early. Changes of
//! the model by losses are undone if the losses turn out to be spurious.
//!
//! Rates are packets a microsecond, times 2^24; gains are 256ths.

use chance::Chance;
use units::{Span, Time};

use super::clumps::Clumps;
use super::{Congestion, Happening, Path, RATE_SHIFT, RateSample, RecoveryState, Stamp, Window};

const UNIT: u64 = 256;
const STARTUP_PACING: u64 = UNIT * 277 / 100 + 1;
const STARTUP_CWND: u64 = UNIT * 2;
const DRAIN: u64 = UNIT / 2;
const DOWN: u64 = UNIT * 90 / 100;
const UP: u64 = UNIT * 5 / 4;
const CWND_GAIN: u64 = UNIT * 2;
const UP_CWND_GAIN: u64 = UNIT * 9 / 4;
/// The part of a bound that is left after a round with losses.
const BETA_LEFT: u64 = UNIT - UNIT * 30 / 100;
/// If a larger part of the data in flight is lost, there was too much of it.
const LOSS_THRESHOLD: u64 = UNIT * 2 / 100;
/// The part of `inflight_high` that is left to other flows.
const HEADROOM: u64 = UNIT * 15 / 100;
const MARGIN_PERCENT: u64 = 1;
const CWND_MIN: u32 = 4;
const FULL_ROUNDS: u32 = 3;
const STARTUP_LOSS_EVENTS: u32 = 6;
const PROBE_ROUNDS_MAX: u32 = 63;
const PROBE_WAIT: Span = Span::from_secs(2);
const PROBE_WAIT_RANDOM: Span = Span::from_secs(1);
const MIN_RTT_SPAN: Span = Span::from_secs(10);
const PROBE_RTT_EVERY: Span = Span::from_secs(5);
const PROBE_RTT_SPAN: Span = Span::from_ms(200);
const NO_BOUND: u32 = u32::MAX;
/// Clumps of acknowledgments are remembered for five to ten rounds, in Startup for one or two.
const CLUMP_ROUNDS: u32 = 5;
const CLUMP_ROUNDS_STARTUP: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The acknowledgments that belong to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feedback {
    None,
    Starting,
    Coming,
    Stopping,
}

/// The model before a round with losses, in case they turn out to have been none.
#[derive(Clone, Copy, Debug)]
struct Before {
    rate_low: u64,
    inflight_low: u32,
    inflight_high: u32,
    /// Startup or Up, if losses ended it.
    ended: Option<Mode>,
}

/// See the top of the file.
#[derive(Clone, Debug)]
pub(super) struct Bbr3 {
    dice: Chance,
    mode: Mode,
    feedback: Feedback,
    /// The largest rate of the last cycle and of the present one.
    rates: [u64; 2],
    rate_low: u64,
    rate_latest: u64,
    inflight_high: u32,
    inflight_low: u32,
    inflight_latest: u32,
    min_rtt: (u32, Time),
    /// The least of the last five seconds: when it expires, ProbeRtt looks again.
    probed_rtt: (u32, Time),
    round_ends_at: u64,
    round_starts: bool,
    loss_round_ends_at: u64,
    loss_round_starts: bool,
    loss_in_round: bool,
    loss_events: u32,
    full_rate: u64,
    full_rounds: u32,
    full_now: bool,
    is_full: bool,
    phase_at: Time,
    probe_wait: Span,
    rounds_since_probe: u32,
    samples_are_probes: bool,
    stopped_risky: bool,
    was_too_high: bool,
    up_rounds: u32,
    up_acks: u32,
    up_cost: u32,
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    restarts_idle: bool,
    has_rtt: bool,
    prior_cwnd: u32,
    prior_recovery: RecoveryState,
    clumps: Clumps,
    before_losses: Before,
}

impl Bbr3 {
    pub fn new(dice: Chance) -> Bbr3 {
        Bbr3 {
            dice,
            mode: Mode::Startup,
            feedback: Feedback::None,
            rates: [0; 2],
            rate_low: u64::MAX,
            rate_latest: 0,
            inflight_high: NO_BOUND,
            inflight_low: NO_BOUND,
            inflight_latest: 0,
            min_rtt: (u32::MAX, Time::ZERO),
            probed_rtt: (u32::MAX, Time::ZERO),
            round_ends_at: 0,
            round_starts: false,
            loss_round_ends_at: 0,
            loss_round_starts: false,
            loss_in_round: false,
            loss_events: 0,
            full_rate: 0,
            full_rounds: 0,
            full_now: false,
            is_full: false,
            phase_at: Time::ZERO,
            probe_wait: PROBE_WAIT,
            rounds_since_probe: 0,
            samples_are_probes: false,
            stopped_risky: false,
            was_too_high: false,
            up_rounds: 0,
            up_acks: 0,
            up_cost: NO_BOUND,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            restarts_idle: false,
            has_rtt: false,
            prior_cwnd: 0,
            prior_recovery: RecoveryState::Open,
            clumps: Clumps::default(),
            before_losses: Before {
                rate_low: u64::MAX,
                inflight_low: NO_BOUND,
                inflight_high: NO_BOUND,
                ended: None,
            },
        }
    }

    fn max_rate(&self) -> u64 {
        self.rates[0].max(self.rates[1])
    }

    fn rate(&self) -> u64 {
        self.max_rate().min(self.rate_low)
    }

    fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (STARTUP_PACING, STARTUP_CWND),
            Mode::Drain => (DRAIN, STARTUP_CWND),
            Mode::Down => (DOWN, CWND_GAIN),
            Mode::Cruise | Mode::Refill => (UNIT, CWND_GAIN),
            Mode::Up => (UP, UP_CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        }
    }

    fn probes_rate(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::Refill | Mode::Up)
    }

    fn in_cycle(&self) -> bool {
        matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    fn set_pacing(&mut self, window: &mut Window, path: &Path, gain: u64) {
        if !self.has_rtt && path.srtt_us > 0 {
            self.begin_pacing(window, path);
        }
        let bytes_per_s = bytes_per_s(self.rate(), gain, path.mss);
        if self.is_full || bytes_per_s > window.pacing_bytes_per_s {
            window.pacing_bytes_per_s = bytes_per_s.max(1);
        }
    }

    fn begin_pacing(&mut self, window: &mut Window, path: &Path) {
        self.has_rtt |= path.srtt_us > 0;
        let rtt_us = if path.srtt_us > 0 { u64::from(path.srtt_us) } else { 1000 };
        let rate = (u64::from(window.cwnd) << RATE_SHIFT) / rtt_us;
        window.pacing_bytes_per_s = bytes_per_s(rate, STARTUP_PACING, path.mss);
    }

    /// The bandwidth-delay product times `gain`, in packets.
    fn product(&self, rate: u64, gain: u64, window: &Window) -> u32 {
        if self.min_rtt.0 == u32::MAX {
            return window.cwnd.max(10);
        }
        let product = u128::from(rate) * u128::from(self.min_rtt.0) * u128::from(gain);
        (product / u128::from(UNIT)).div_ceil(1 << RATE_SHIFT).min(1 << 30) as u32
    }

    /// The same with room for bursts at both ends.
    fn target(&self, rate: u64, gain: u64, window: &Window, path: &Path) -> u32 {
        self.with_bursts(self.product(rate, gain, window), window, path)
    }

    fn with_bursts(&self, packets: u32, window: &Window, path: &Path) -> u32 {
        let bytes = (window.pacing_bytes_per_s >> 10).min(65_535);
        let burst = ((bytes / u64::from(path.mss)) as u32).max(2);
        let least = (3 * burst).max(CWND_MIN);
        let target = packets.max(least);
        if self.mode == Mode::Up { target + 2 } else { target }
    }

    /// A round trip is over when what was sent at its beginning is delivered.
    fn update_rounds(&mut self, path: &Path, sample: &RateSample, rate: u64) {
        self.round_starts = false;
        self.loss_round_starts = false;
        let Some(delivered) = sample.delivered else { return };
        if sample.prior_delivered >= self.round_ends_at {
            self.round_ends_at = path.delivered;
            self.round_starts = true;
            self.rounds_since_probe = (self.rounds_since_probe + 1).min(255);
        }
        if sample.acked > 0 {
            self.rate_latest = self.rate_latest.max(rate);
            self.inflight_latest = self.inflight_latest.max(delivered);
            if sample.prior_delivered >= self.loss_round_ends_at {
                self.loss_round_ends_at = path.delivered;
                self.loss_round_starts = true;
            }
        }
    }

    /// Rate, and the bounds that losses between probes set.
    fn update_signals(&mut self, window: &Window, path: &Path, sample: &RateSample, rate: u64) {
        if sample.delivered.is_none() || sample.acked == 0 {
            return;
        }
        if !sample.app_limited || rate >= self.max_rate() {
            self.rates[1] = self.rates[1].max(rate);
        }
        if sample.ece {
            self.note_loss(window, path);
        }
        if !self.loss_round_starts {
            return;
        }
        if self.loss_in_round && !self.probes_rate() {
            if self.rate_low == u64::MAX {
                self.rate_low = self.max_rate();
            }
            if self.inflight_low == NO_BOUND {
                self.inflight_low = window.cwnd;
            }
            self.rate_low = self.rate_latest.max(self.rate_low * BETA_LEFT / UNIT).max(1);
            let left = (u64::from(self.inflight_low) * BETA_LEFT / UNIT) as u32;
            self.inflight_low = self.inflight_latest.max(left);
        }
        self.loss_in_round = false;
    }

    /// Something was lost, or marked: the round ends when what is sent from here on is delivered, so
    /// that what the path still delivers is seen over a whole one.
    fn note_loss(&mut self, window: &Window, path: &Path) {
        if self.loss_in_round {
            return;
        }
        self.loss_in_round = true;
        self.loss_round_ends_at = path.delivered;
        self.save_cwnd(window);
        self.before_losses = Before {
            rate_low: self.rate_low,
            inflight_low: self.inflight_low,
            inflight_high: self.inflight_high,
            ended: None,
        };
    }

    fn is_too_high(sample: &RateSample) -> bool {
        let lost = loses_too_much(sample.lost, sample.sent_in_flight);
        let delivered = u64::from(sample.delivered.unwrap_or(0));
        lost || delivered > 0 && u64::from(sample.delivered_ce) > delivered / 2
    }

    /// Startup ends early if a round of recovery loses too much.
    fn check_startup_losses(&mut self, window: &Window, path: &Path, sample: &RateSample) {
        if self.is_full {
            return;
        }
        self.loss_events += u32::from(sample.newly_lost > 0);
        let many = self.loss_round_starts
            && path.recovery == RecoveryState::Recovery
            && self.loss_events >= STARTUP_LOSS_EVENTS;
        if many && Bbr3::is_too_high(sample) {
            self.is_full = true;
            self.before_losses.ended = Some(Mode::Startup);
            let product = self.target(self.max_rate(), UNIT, window, path);
            self.inflight_high = product.max(self.inflight_latest);
        } else if self.loss_round_starts {
            self.loss_events = 0;
        }
    }

    fn check_full(&mut self, sample: &RateSample, rate: u64) {
        if self.full_now || sample.app_limited || sample.delivered.is_none() {
            return;
        }
        if rate >= self.full_rate * 5 / 4 {
            self.forget_full(rate);
        } else if self.round_starts {
            self.full_rounds += 1;
            self.full_now = self.full_rounds >= FULL_ROUNDS;
            self.is_full |= self.full_now;
        }
    }

    fn forget_full(&mut self, rate: u64) {
        (self.full_rate, self.full_rounds, self.full_now) = (rate, 0, false);
    }

    fn forget_signals(&mut self) {
        self.loss_in_round = false;
        self.rate_latest = 0;
        self.inflight_latest = 0;
    }

    fn check_drained(&mut self, window: &mut Window, path: &Path) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.target(self.max_rate(), UNIT, window, path);
            self.forget_signals();
        }
        let target = self.target(self.max_rate(), UNIT, window, path);
        if self.mode == Mode::Drain && path.in_flight <= target {
            self.begin_down(path);
        }
    }

    fn begin_down(&mut self, path: &Path) {
        self.forget_signals();
        self.up_cost = NO_BOUND;
        self.rounds_since_probe = self.dice.below(2) as u32;
        self.probe_wait = PROBE_WAIT + self.dice.span_up_to(PROBE_WAIT_RANDOM);
        self.phase_at = path.now;
        self.feedback = Feedback::Stopping;
        self.round_ends_at = path.delivered;
        self.mode = Mode::Down;
    }

    fn begin_cruise(&mut self) {
        if self.inflight_low != NO_BOUND {
            self.inflight_low = self.inflight_low.min(self.inflight_high);
        }
        self.mode = Mode::Cruise;
    }

    fn begin_refill(&mut self, path: &Path) {
        (self.rate_low, self.inflight_low) = (u64::MAX, NO_BOUND);
        (self.up_rounds, self.up_acks, self.stopped_risky) = (0, 0, false);
        self.feedback = Feedback::None;
        self.round_ends_at = path.delivered;
        self.mode = Mode::Refill;
    }

    fn begin_up(&mut self, window: &Window, path: &Path, rate: u64) {
        self.samples_are_probes = true;
        self.feedback = Feedback::Starting;
        self.round_ends_at = path.delivered;
        self.phase_at = path.now;
        self.forget_full(rate);
        self.mode = Mode::Up;
        self.raise_slope(window);
    }

    /// Each round of a probe, twice as much is added to what may be in flight.
    fn raise_slope(&mut self, window: &Window) {
        let growth = 1u32 << self.up_rounds.min(30);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_cost = (window.cwnd / growth).max(1);
    }

    /// Updates the upper bound after a probe. True if the phase was decided here.
    fn update_high(&mut self, window: &Window, path: &Path, sample: &RateSample) -> bool {
        if self.feedback == Feedback::Starting && self.round_starts {
            self.feedback = Feedback::Coming;
        }
        if self.feedback == Feedback::Stopping && self.round_starts {
            self.samples_are_probes = false;
            self.feedback = Feedback::None;
            if self.in_cycle() && !sample.app_limited && self.rates[1] > 0 {
                self.rates = [self.rates[1], 0];
            }
            if self.in_cycle() && self.stopped_risky && !self.was_too_high {
                self.begin_refill(path);
                return true;
            }
        }
        if Bbr3::is_too_high(sample) {
            if self.samples_are_probes {
                self.note_too_high(window, path, sample.sent_in_flight, sample.app_limited);
            }
        } else if self.inflight_high != NO_BOUND {
            self.inflight_high = self.inflight_high.max(sample.sent_in_flight);
            if self.mode == Mode::Up {
                self.raise_high(window, path, sample);
            }
        }
        false
    }

    /// With `in_flight` packets under way a probe lost too much.
    fn note_too_high(&mut self, window: &Window, path: &Path, in_flight: u32, app_limited: bool) {
        self.was_too_high = true;
        self.samples_are_probes = false;
        if !app_limited {
            let target = self.target(self.rate(), UNIT, window, path).min(window.cwnd);
            let least = (u64::from(target) * BETA_LEFT / UNIT) as u32;
            self.inflight_high = in_flight.max(least);
        }
        if self.mode == Mode::Up {
            self.before_losses.ended = Some(Mode::Up);
            self.begin_down(path);
        }
    }

    fn raise_high(&mut self, window: &Window, path: &Path, sample: &RateSample) {
        if !path.cwnd_limited || window.cwnd < self.inflight_high {
            return;
        }
        self.up_acks += sample.acked;
        if self.up_acks >= self.up_cost {
            self.inflight_high = self.inflight_high.saturating_add(self.up_acks / self.up_cost);
            self.up_acks %= self.up_cost;
        }
        if self.round_starts {
            self.raise_slope(window);
        }
    }

    fn with_headroom(&self) -> u32 {
        if self.inflight_high == NO_BOUND {
            return NO_BOUND;
        }
        let room = (u64::from(self.inflight_high) * HEADROOM / UNIT).max(1) as u32;
        self.inflight_high.saturating_sub(room).max(CWND_MIN)
    }

    /// Time to probe: after two to three seconds, or as many rounds as Reno would take to fill and
    /// lose again.
    fn is_probe_time(&self, window: &Window, path: &Path) -> bool {
        let target = self.target(self.rate(), UNIT, window, path).min(window.cwnd);
        path.now.since(self.phase_at) > self.probe_wait
            || self.rounds_since_probe >= target.min(PROBE_ROUNDS_MAX)
    }

    fn update_cycle(&mut self, window: &Window, path: &Path, sample: &RateSample, rate: u64) {
        if !self.is_full || self.update_high(window, path, sample) || !self.in_cycle() {
            return;
        }
        let in_flight = sample.prior_in_flight;
        match self.mode {
            Mode::Cruise | Mode::Down if self.is_probe_time(window, path) => {
                self.begin_refill(path)
            }
            Mode::Down => {
                let target = self.target(self.max_rate(), UNIT, window, path);
                if in_flight <= self.with_headroom() && in_flight <= target {
                    self.begin_cruise();
                }
            }
            Mode::Refill if self.round_starts => self.begin_up(window, path, rate),
            Mode::Up => {
                let risky = self.was_too_high && in_flight >= self.inflight_high;
                let bounded = path.cwnd_limited && window.cwnd >= self.inflight_high;
                if bounded && !risky {
                    self.forget_full(rate);
                }
                if risky || self.full_now && !bounded {
                    self.stopped_risky |= risky;
                    self.was_too_high = false;
                    self.begin_down(path);
                }
            }
            _ => (),
        }
    }

    fn update_min_rtt(&mut self, window: &mut Window, path: &Path, sample: &RateSample) {
        let expired = path.now > self.probed_rtt.1 + PROBE_RTT_EVERY;
        if let Some(rtt_us) = sample.rtt_us
            && (rtt_us < self.probed_rtt.0 || expired && !sample.ack_delayed)
        {
            self.probed_rtt = (rtt_us.max(1), path.now);
        }
        if self.probed_rtt.0 <= self.min_rtt.0 || path.now > self.min_rtt.1 + MIN_RTT_SPAN {
            self.min_rtt = self.probed_rtt;
        }
        if expired && !self.restarts_idle && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_until = None;
            self.feedback = Feedback::Stopping;
            self.round_ends_at = path.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            window.limited_by_choice = true;
            match self.probe_rtt_until {
                None if path.in_flight <= self.probe_rtt_cwnd(window) => {
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
        self.probed_rtt.1 = path.now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        (self.rate_low, self.inflight_low) = (u64::MAX, NO_BOUND);
        if self.is_full {
            self.begin_down(path);
            self.begin_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn probe_rtt_cwnd(&self, window: &Window) -> u32 {
        self.product(self.rate(), UNIT / 2, window).max(CWND_MIN)
    }

    fn save_cwnd(&mut self, window: &Window) {
        let normal = self.prior_recovery < RecoveryState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if normal { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    fn set_cwnd(&mut self, window: &mut Window, path: &Path, sample: &RateSample, gain: u64) {
        if sample.acked > 0 {
            let product = self.product(self.rate(), gain, window);
            let product = product + self.clumps.packets(self.rate());
            let target = self.with_bursts(product, window, path);
            if self.is_full {
                window.cwnd = (window.cwnd + sample.acked).min(target);
            } else if window.cwnd < target || window.cwnd < 20 {
                window.cwnd += sample.acked;
            }
            window.cwnd = window.cwnd.max(CWND_MIN);
        }
        window.cwnd = window.cwnd.min(window.cwnd_max);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd(window));
        }
        let high = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.inflight_high,
            Mode::Cruise | Mode::ProbeRtt => self.with_headroom(),
            Mode::Startup | Mode::Drain => NO_BOUND,
        };
        window.cwnd = window.cwnd.min(high.min(self.inflight_low).max(CWND_MIN));
    }
}

impl Congestion for Bbr3 {
    fn name(&self) -> &str {
        "bbr3"
    }

    fn begin(&mut self, window: &mut Window, path: &Path) {
        self.min_rtt = (path.min_rtt_us, path.now);
        self.probed_rtt = self.min_rtt;
        self.clumps.restart(path.now);
        self.begin_pacing(window, path);
    }

    fn grow(&mut self, _window: &mut Window, _path: &Path, _acked: u32) {}

    fn ssthresh(&mut self, window: &Window, _path: &Path) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn undo_cwnd(&mut self, window: &Window, path: &Path) -> u32 {
        self.forget_full(0);
        self.loss_in_round = false;
        let before = self.before_losses;
        self.rate_low = self.rate_low.max(before.rate_low);
        self.inflight_low = self.inflight_low.max(before.inflight_low);
        self.inflight_high = self.inflight_high.max(before.inflight_high);
        self.before_losses.ended = None;
        match before.ended {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.is_full = false;
                if self.mode != Mode::ProbeRtt {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if !matches!(self.mode, Mode::Up | Mode::ProbeRtt) => {
                self.begin_refill(path);
            }
            _ => (),
        }
        window.cwnd.max(self.prior_cwnd)
    }

    fn happened(&mut self, window: &mut Window, path: &Path, what: Happening) {
        match what {
            Happening::Timeout => {
                self.prior_recovery = RecoveryState::Loss;
                self.forget_full(0);
                if !self.probes_rate() && self.inflight_low == NO_BOUND {
                    self.inflight_low = window.prior_cwnd.max(CWND_MIN);
                }
            }
            Happening::TransmitStart if path.app_limited => {
                self.restarts_idle = true;
                self.clumps.restart(path.now);
                if self.in_cycle() {
                    self.set_pacing(window, path, UNIT);
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

    /// A segment may be found to be lost long after later ones were delivered, so the data in
    /// flight is that of the lost segment's own stamp (draft-ietf-ccwg-bbr section 5.5.10.2).
    fn lost(&mut self, window: &mut Window, path: &Path, sent: &Stamp) {
        self.note_loss(window, path);
        let lost = (path.lost - sent.lost) as u32;
        if self.samples_are_probes && loses_too_much(lost, sent.in_flight) {
            let in_flight = in_flight_at_loss(sent.in_flight, lost);
            self.note_too_high(window, path, in_flight, sent.app_limited);
        }
    }

    fn control(&mut self, window: &mut Window, path: &Path, sample: &RateSample) {
        let rate = match sample.delivered {
            Some(delivered) => {
                (u64::from(delivered) << RATE_SHIFT).div_ceil(sample.interval_us.max(1))
            }
            None => 0,
        };
        self.update_rounds(path, sample, rate);
        self.update_signals(window, path, sample, rate);
        let seen = [self.rate(), u64::from(window.cwnd)];
        let rounds = if self.is_full { CLUMP_ROUNDS } else { CLUMP_ROUNDS_STARTUP };
        self.clumps.update(path, sample, seen, self.round_starts, rounds);
        self.check_startup_losses(window, path, sample);
        self.check_full(sample, rate);
        self.check_drained(window, path);
        self.update_cycle(window, path, sample, rate);
        self.update_min_rtt(window, path, sample);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_pacing(window, path, pacing_gain);
        if self.prior_recovery >= RecoveryState::Recovery && path.recovery < RecoveryState::Recovery
        {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.prior_recovery = path.recovery;
        self.set_cwnd(window, path, sample, cwnd_gain);
        if self.loss_round_starts {
            self.rate_latest = rate;
            self.inflight_latest = sample.delivered.unwrap_or(0);
        }
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn tell(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        tell("mode", self.mode as u64);
        tell("packets_per_s", ((u128::from(self.rate()) * 1_000_000) >> RATE_SHIFT) as u64);
        tell("min_rtt_us", u64::from(self.min_rtt.0));
        tell("inflight_high", u64::from(self.inflight_high));
        tell("inflight_low", u64::from(self.inflight_low));
    }
}

/// Bytes a second at `rate` times `gain`, less the margin.
fn bytes_per_s(rate: u64, gain: u64, mss: u32) -> u64 {
    let bytes = u128::from(rate) * u128::from(mss) * u128::from(gain) / u128::from(UNIT);
    let bytes = bytes * 1_000_000 * u128::from(100 - MARGIN_PERCENT) / 100;
    (bytes >> RATE_SHIFT).min(u128::from(u64::MAX)) as u64
}

/// Whether more than the threshold of the data in flight was lost.
fn loses_too_much(lost: u32, in_flight: u32) -> bool {
    lost > 0 && u64::from(lost) > u64::from(in_flight) * LOSS_THRESHOLD / UNIT
}

/// With how many packets in flight the losses crossed the threshold, where the last of `lost` packets
/// was lost with `in_flight` under way, itself included.
fn in_flight_at_loss(in_flight: u32, lost: u32) -> u32 {
    let (before, lost_before) = (u64::from(in_flight) - 1, u64::from(lost) - 1);
    let missing = (LOSS_THRESHOLD * before).saturating_sub(lost_before * UNIT);
    (before + missing / (UNIT - LOSS_THRESHOLD)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests_support::path;

    /// A connection that probes: 100 packets were delivered, 20 are in flight at 0.1 a millisecond.
    fn probing() -> (Bbr3, Window) {
        let mut bbr = Bbr3::new(Chance::new(1, "test"));
        bbr.is_full = true;
        bbr.min_rtt = (100_000, Time::ZERO);
        bbr.rates = [(100 << RATE_SHIFT) / 1_000_000; 2];
        bbr.mode = Mode::Up;
        bbr.samples_are_probes = true;
        (bbr, Window { cwnd: 40, ..Window::new(40, None) })
    }

    fn sent(in_flight: u32, lost: u64) -> Stamp {
        Stamp {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            delivered_ce: 0,
            lost,
            in_flight,
            app_limited: false,
        }
    }

    /// Section 5.5.10.2: 5/256 of 110 packets may be lost; the third loss is one too many, and what was
    /// in flight before it is the bound, not what is when the loss is found.
    #[test]
    fn a_probe_that_loses_too_much_is_bounded_by_what_was_in_flight_then() {
        let (mut bbr, mut window) = probing();
        for lost in 1..=2 {
            bbr.lost(&mut window, &Path { lost, in_flight: 30, ..path(0) }, &sent(110, 0));
            assert_eq!((bbr.mode, bbr.inflight_high), (Mode::Up, NO_BOUND), "{lost} lost");
        }
        bbr.lost(&mut window, &Path { lost: 3, in_flight: 30, ..path(0) }, &sent(110, 0));
        assert_eq!((bbr.mode, bbr.inflight_high), (Mode::Down, 109));
        // One answer a probe: what else was lost of it changes nothing.
        bbr.lost(&mut window, &Path { lost: 9, in_flight: 30, ..path(0) }, &sent(50, 0));
        assert_eq!(bbr.inflight_high, 109);
    }

    /// Between probes a round with losses cuts the bounds by 30 %, once the whole round is over.
    #[test]
    fn losses_between_probes_cut_at_the_end_of_their_round() {
        let (mut bbr, mut window) = probing();
        bbr.mode = Mode::Cruise;
        let round = |delivered, prior_delivered| {
            let sample = RateSample {
                acked: 1,
                delivered: Some(10),
                interval_us: 200_000,
                prior_delivered,
                ..RateSample::default()
            };
            (Path { delivered, lost: 1, ..path(0) }, sample)
        };
        bbr.lost(&mut window, &Path { delivered: 100, lost: 1, ..path(0) }, &sent(20, 0));
        // Acknowledgments of data sent before the loss was found do not end the round; those of
        // later data do.
        let (at, sample) = round(110, 99);
        bbr.control(&mut window, &at, &sample);
        assert_eq!((bbr.inflight_low, bbr.rate_low), (NO_BOUND, u64::MAX));
        window.cwnd = 40;
        let (at, sample) = round(120, 100);
        bbr.control(&mut window, &at, &sample);
        // 40 packets x 180/256, and 100 a second x 180/256.
        assert_eq!((bbr.inflight_low, bbr.rate_low), (28, bbr.rates[0] * 180 / 256));
    }

    /// Section 5.5.11: what a spurious loss did to the model is taken back, and the probe is repeated.
    #[test]
    fn losses_that_were_none_leave_the_model_as_it_was() {
        let (mut bbr, mut window) = probing();
        bbr.inflight_high = 120;
        bbr.lost(&mut window, &Path { lost: 4, ..path(0) }, &sent(100, 0));
        assert_eq!((bbr.mode, bbr.inflight_high), (Mode::Down, 99));
        window.cwnd = 10;
        assert_eq!(bbr.undo_cwnd(&window, &path(0)), 40);
        assert_eq!((bbr.mode, bbr.inflight_high), (Mode::Refill, 120));
    }
}
