//! PIE: proportional integral controller enhanced (RFC 8033).
//!
//! Every T_UPDATE the drop probability moves by
//! alpha (delay - target) + beta (delay - delay before), scaled down while the probability is
//! small. Between updates nothing changes but by departures, so the updates that fell due are
//! made up for at the next event, each with the delay of its instant: no timer is needed.
//!
//! The delay is the time the last departed packet had waited (RFC 8033, section 5.1, by
//! timestamps), or zero while the queue is empty. Probabilities are in 2^-60.

use units::{Ratio, Span, Time};

use super::{AqmVerdict, Asking, mark_or_drop};
use crate::config::PieConfig;
use crate::fate::Depth;
use chance::{Chance, Probability};

const ONE: i128 = 1 << 60;
const PS_PER_SECOND: i128 = 1_000_000_000_000;

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
    /// When the next update is due.
    update_at: Time,
}

impl Pie {
    pub fn new(config: PieConfig, now: Time, chance: Chance) -> Pie {
        Pie {
            burst_left: config.burst,
            update_at: now + config.update,
            config,
            chance,
            probability: 0,
            accumulated: 0,
            delay: Span::ZERO,
            delay_before: Span::ZERO,
        }
    }

    pub fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
        self.catch_up(asking.now);
        if !self.chooses(asking) {
            return AqmVerdict::Pass;
        }
        let below = self.probability < i128::from(self.config.ecn_below.raw()) << 28;
        mark_or_drop(self.config.ecn && below, asking.waiting.ecn_capable)
    }

    pub fn handle_departure(&mut self, at: Time, waited: Span, left: Depth) {
        self.catch_up(at);
        self.delay = if left.packets == 0 { Span::ZERO } else { waited };
    }

    /// Whether this packet is the one to be dropped or marked.
    fn chooses(&mut self, asking: &Asking) -> bool {
        // Work conservation: a queue with little delay or next to nothing in it is left alone.
        let short = self.delay_before < self.config.target / 2 && self.probability < ONE / 5;
        let small = asking.depth.bytes.count() <= 2 * self.config.mean_packet.count();
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

    /// Makes the updates that fell due before `now`. While nothing happens the delay stays as it
    /// is; once everything has decayed to zero, further updates change nothing but the clock.
    fn catch_up(&mut self, now: Time) {
        while self.update_at <= now {
            let settled = self.probability == 0
                && self.delay == Span::ZERO
                && self.delay_before == Span::ZERO
                && self.burst_left == self.config.burst;
            if settled {
                let missed = now.since(self.update_at).ps() / self.config.update.ps() + 1;
                self.update_at += self.config.update * missed;
                return;
            }
            self.update();
            self.update_at += self.config.update;
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

/// `factor` per second times the distance from `from` to `delay`, in 2^-60.
fn gain(factor: Ratio, delay: Span, from: Span) -> i128 {
    let distance = i128::from(delay.ps()) - i128::from(from.ps());
    distance * i128::from(factor.over()) * (ONE / 1024)
        / (i128::from(factor.under()) * (PS_PER_SECOND / 1024))
}

#[cfg(test)]
mod tests {
    use units::{Bytes, ClassId, PortId};

    use super::*;
    use crate::fate::Waiting;

    const LEFT: Depth = Depth { packets: 100, bytes: Bytes(150_000) };

    fn pie() -> Pie {
        Pie::new(PieConfig::default(), Time::ZERO, Chance::new(1, "pie"))
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
        pie.handle_departure(ms(1), Span::from_ms(55), LEFT);
        pie.catch_up(ms(15));
        // alpha (0.055 - 0.015) + beta (0.055 - 0) = 0.125 x 0.04 + 1.25 x 0.055 = 0.07375; the
        // probability is below 10^-6, so a 2048th of it: 3.601e-5.
        assert!((probability(&pie) - 0.07375 / 2048.0).abs() < 1e-12);
        pie.catch_up(ms(30));
        // The delay stays: 0.125 x 0.04 = 0.005; the probability is below 10^-4: a 128th.
        assert!((probability(&pie) - (0.07375 / 2048.0 + 0.005 / 128.0)).abs() < 1e-12);
    }

    #[test]
    fn without_delay_the_probability_decays_by_two_percent_an_update() {
        let mut pie = pie();
        pie.probability = ONE / 2;
        pie.catch_up(ms(15));
        // alpha x (0 - 0.015) = -0.001875, then 98 %.
        assert!((probability(&pie) - (0.5 - 0.001875) * 0.98).abs() < 1e-9);
        // A long silence is made up for in one go.
        pie.catch_up(Time::ZERO + Span::from_secs(3600));
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
            ecn_capable: false,
            precedence: 0,
            sequence: 0,
        };
        let mut first_drop = None;
        for us in (0..2_000_000).step_by(100) {
            let now = Time::ZERO + Span::from_us(us);
            pie.handle_departure(now, Span::from_ms(200), LEFT);
            let asking = Asking { now, waiting: &waiting, depth: LEFT, line_rate: None };
            if pie.handle_arrival(&asking) == AqmVerdict::Drop {
                first_drop = first_drop.or(Some(us));
            }
        }
        // The allowance lasts ten updates of 15 ms.
        assert!(first_drop.is_some_and(|us| us >= 150_000), "{first_drop:?}");
        assert!(probability(&pie) > 0.2, "a wait of 200 ms drives the probability up");
    }
}
