//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! Every T_UPDATE the drop probability moves by
//! alpha (delay - target) + beta (delay - delay before), scaled down while the probability is
//! small.
//!
//! The delay is the time the last departed packet had waited (RFC 8033, section 5.1, by
//! timestamps), or zero while the queue is empty. Probabilities are in 2^-60.

use chance::{Chance, Probability};
use units::{Bytes, Ratio, Span, Time};

use super::pi::{ONE, gain, ppb};
use super::updates::{INTERVAL_MIN, Updates};
use super::{AqmState, AqmVerdict, Asking, Leaving, Method, MethodConfig, Parameter, mark_or_drop};

/// The parameters of PIE, by their names in RFC 8033.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieConfig {
    /// QDELAY_REF: the delay to steer to.
    pub target: Span,
    /// T_UPDATE: how often the probability is computed.
    pub update: Span,
    /// MAX_BURST: a burst of this length after quiet passes untouched.
    pub burst: Span,
    /// The gain on the distance to the target, per second.
    pub alpha: Ratio,
    /// The gain on the trend, per second.
    pub beta: Ratio,
    /// MAX_ECNTH: above this probability even ECN-capable packets are dropped.
    pub ecn_below: Probability,
    /// MEAN_PKTSIZE: with up to two of these in the queue nothing is dropped.
    pub mean_packet: Bytes,
    /// Mark instead of drop where possible.
    pub ecn: bool,
}

/// RFC 8033's: 15 ms, 15 ms, 150 ms, 1/8, 5/4, 10 %; marking on.
impl Default for PieConfig {
    fn default() -> PieConfig {
        PieConfig {
            target: Span::from_ms(15),
            update: Span::from_ms(15),
            burst: Span::from_ms(150),
            alpha: Ratio::new(1, 8).expect("not zero"),
            beta: Ratio::new(5, 4).expect("not zero"),
            ecn_below: Probability::ppm(100_000),
            mean_packet: Bytes(1000),
            ecn: true,
        }
    }
}

/// PIE's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieState {
    /// Of dropping an arrival, in thousand-millionths.
    pub probability_ppb: u64,
    /// The delay at the last update.
    pub delay: Span,
    /// The rest of the time in which bursts are let through.
    pub burst_left: Span,
}

impl MethodConfig for PieConfig {
    fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)> {
        vec![
            ("target", Parameter::Span(&mut self.target)),
            ("update", Parameter::Span(&mut self.update)),
            ("burst", Parameter::Span(&mut self.burst)),
            ("alpha", Parameter::Ratio(&mut self.alpha)),
            ("beta", Parameter::Ratio(&mut self.beta)),
            ("ecn_below", Parameter::Share(&mut self.ecn_below)),
            ("mean_packet", Parameter::Bytes(&mut self.mean_packet)),
            ("ecn", Parameter::Flag(&mut self.ecn)),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.update < INTERVAL_MIN {
            return Err((
                "an update interval below 10 us",
                "15 ms suits the Internet, 15 us a data centre",
            ));
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pie {
    config: PieConfig,
    chance: Chance,
    probability: i128,
    /// The sum of the probabilities since the last drop: keeps drops from clustering.
    accumulated: i128,
    /// The delay now, and at the last update.
    delay: Span,
    delay_before: Span,
    burst_left: Span,
    updates: Updates,
}

impl Method for Pie {
    type Config = PieConfig;

    fn new(config: &PieConfig, now: Time, chance: Chance) -> Pie {
        Pie {
            burst_left: config.burst,
            updates: Updates::new(config.update, now),
            config: config.clone(),
            chance,
            probability: 0,
            accumulated: 0,
            delay: Span::ZERO,
            delay_before: Span::ZERO,
        }
    }

    fn state(&self) -> Option<AqmState> {
        let probability_ppb = ppb(self.probability);
        Some(AqmState::Pie(PieState {
            probability_ppb,
            delay: self.delay,
            burst_left: self.burst_left,
        }))
    }

    fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
        self.make_updates(asking.now);
        if !self.chooses(asking) {
            return AqmVerdict::Pass;
        }
        let below = self.probability < i128::from(self.config.ecn_below.raw()) << 28;
        mark_or_drop(self.config.ecn && below, asking.waiting.ecn)
    }

    fn handle_departure(&mut self, leaving: &Leaving) -> AqmVerdict {
        self.make_updates(leaving.at);
        self.delay = if leaving.left.packets == 0 { Span::ZERO } else { leaving.waited };
        AqmVerdict::Pass
    }
}

impl Pie {
    /// Whether this packet is the one to be dropped or marked.
    fn chooses(&mut self, asking: &Asking) -> bool {
        // Work conservation: a queue with little delay or next to nothing in it is left alone.
        let short = self.delay_before < self.config.target / 2 && self.probability < ONE / 5;
        let small = asking.depth.bytes.count() <= self.config.mean_packet.count().saturating_mul(2);
        if self.burst_left > Span::ZERO || short || small {
            return false;
        }
        self.accumulated =
            if self.probability == 0 { 0 } else { self.accumulated + self.probability };
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        let overdue = self.accumulated >= ONE / 10 * 85;
        let drawn = Probability::from_raw((self.probability >> 28) as u64);
        let chosen = overdue || self.chance.occurs(drawn);
        if chosen {
            self.accumulated = 0;
        }
        chosen
    }

    /// While nothing departs the delay stays as it is.
    fn make_updates(&mut self, now: Time) {
        for _ in self.updates.due_by(now) {
            self.update();
        }
    }

    fn update(&mut self) {
        let target = self.config.target;
        let mut step = gain(self.config.alpha, self.delay, target)
            + gain(self.config.beta, self.delay, self.delay_before);
        // RFC 8033's auto-tuning: the smaller the probability, the smaller the steps.
        step /= match self.probability {
            p if p < ONE / 1_000_000 => 2048,
            p if p < ONE / 100_000 => 512,
            p if p < ONE / 10_000 => 128,
            p if p < ONE / 1_000 => 32,
            p if p < ONE / 100 => 8,
            p if p < ONE / 10 => 2,
            _ => 1,
        };
        if self.probability >= ONE / 10 {
            step = step.min(ONE / 50);
        }
        self.probability += step;
        if self.delay == Span::ZERO && self.delay_before == Span::ZERO {
            self.probability = self.probability * 98 / 100;
        }
        self.probability = self.probability.clamp(0, ONE);
        let quiet = self.delay < target / 2 && self.delay_before < target / 2;
        self.burst_left = if self.probability == 0 && quiet {
            self.config.burst
        } else {
            Span::from_ps(self.burst_left.ps().saturating_sub(self.config.update.ps()))
        };
        self.delay_before = self.delay;
    }
}

#[cfg(test)]
mod tests {
    use units::{ClassId, PortId};

    use super::*;
    use crate::fate::{Depth, Waiting};
    use wire::Ecn;

    const LEFT: Depth = Depth { packets: 100, bytes: Bytes(150_000) };

    fn pie() -> Pie {
        Pie::new(&PieConfig::default(), Time::ZERO, Chance::new(1, "pie"))
    }

    fn leaving(at: Time, waited: Span) -> Leaving {
        Leaving { at, waited, left: LEFT, ecn: Ecn::NotEct, is_l4s: false, other_since: None }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn probability(pie: &Pie) -> f64 {
        pie.probability as f64 / ONE as f64
    }

    #[test]
    fn the_probability_follows_the_equations_of_the_rfc() {
        let mut pie = pie();
        let _verdict = pie.handle_departure(&leaving(ms(1), Span::from_ms(55)));
        pie.make_updates(ms(15));
        // alpha (0.055 - 0.015) + beta (0.055 - 0) = 0.125 x 0.04 + 1.25 x 0.055 = 0.07375; the
        // probability is below 10^-6, so a 2048th of it: 3.601e-5.
        assert!((probability(&pie) - 0.07375 / 2048.0).abs() < 1e-12);
        pie.make_updates(ms(30));
        // The delay stays: 0.125 x 0.04 = 0.005; the probability is below 10^-4: a 128th.
        assert!((probability(&pie) - (0.07375 / 2048.0 + 0.005 / 128.0)).abs() < 1e-12);
    }

    #[test]
    fn without_delay_the_probability_decays_by_two_percent_an_update() {
        let mut pie = pie();
        pie.probability = ONE / 2;
        pie.make_updates(ms(15));
        // alpha x (0 - 0.015) = -0.001875, then 98 %.
        assert!((probability(&pie) - (0.5 - 0.001875) * 0.98).abs() < 1e-9);
        // A long silence is made up for in one go.
        pie.make_updates(Time::ZERO + Span::from_secs(3600));
        assert_eq!(pie.probability, 0);
        assert_eq!(pie.burst_left, pie.config.burst);
    }

    #[test]
    fn a_burst_after_quiet_passes_for_150_ms_and_then_arrivals_are_chosen() {
        let mut pie = pie();
        let waiting = Waiting {
            length: Bytes(1500),
            input: PortId(0),
            output: PortId(0),
            class: ClassId(0),
            ecn: Ecn::NotEct,
            precedence: 0,
            rank: 0,
            sequence: 0,
            number: 0,
        };
        let mut first_drop = None;
        for us in (0..2_000_000).step_by(100) {
            let now = Time::ZERO + Span::from_us(us);
            let _verdict = pie.handle_departure(&leaving(now, Span::from_ms(200)));
            let asking = Asking { now, waiting: &waiting, depth: LEFT, line_rate: None };
            if pie.handle_arrival(&asking) == AqmVerdict::Drop {
                first_drop = first_drop.or(Some(us));
            }
        }
        // The allowance lasts ten updates of 15 ms.
        assert!(first_drop.is_some_and(|us| us >= 150_000), "{first_drop:?}");
        assert!(probability(&pie) > 0.2, "a wait of 200 ms drives the probability up");
    }

    /// A queue that stands still, updated at the shortest interval: what an hour of it does is what
    /// 1024 updates do, so the packet after that hour waits for no more than these.
    #[test]
    fn a_packet_after_an_hour_pays_for_no_more_updates_than_one_after_a_moment() {
        let config = PieConfig { update: INTERVAL_MIN, ..PieConfig::default() };
        let after = |span: Span| {
            let mut pie = Pie::new(&config, Time::ZERO, Chance::new(1, "pie"));
            let _verdict = pie.handle_departure(&leaving(Time::ZERO, Span::from_ms(20)));
            pie.make_updates(Time::ZERO + span);
            pie.probability
        };
        let moment = after(INTERVAL_MIN * 1024);
        assert!(moment > 0 && moment < ONE);
        assert_eq!(after(Span::from_secs(3600)), moment);
    }

    #[test]
    fn an_update_interval_of_nanoseconds_is_refused() {
        let check = |update| PieConfig { update, ..PieConfig::default() }.check();
        for update in [Span::ZERO, Span::from_ns(1), Span::from_ns(9_999)] {
            assert!(check(update).is_err_and(|(found, _)| found.contains("below 10 us")));
        }
        assert_eq!(check(Span::from_us(10)), Ok(()));
    }
}
