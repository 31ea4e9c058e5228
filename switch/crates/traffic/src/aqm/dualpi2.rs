//! DualPI2: two queues coupled, so that L4S traffic waits briefly beside Classic traffic (RFC 9332,
//! appendix A).
//!
//! A PI controller steers the base probability p' to the target delay, as PIE does:
//!
//! ```text
//!   p'   += alpha (delay - target) + beta (delay - delay before)      every T_UPDATE
//!   p_C   = p'^2                            drops or marks in the Classic queue
//!   p_CL  = k p'                            marks in the L4S queue, coupled
//!   p_L   = max(native, p_CL)               native: a ramp over the wait in the L4S queue itself
//! ```
//!
//! A Classic sender slows down with the square root of its drops, an L4S sender in proportion to its
//! marks; the square and the factor k make up for that, so both get about the same rate.
//!
//! The queue with the method is the Classic one; the L4S queue is that of another class, which the
//! port's scheduler serves first, but never to the exclusion of the Classic one: DRR with weights
//! 9 to 1 is what RFC 9332 calls a weighted round robin with a small Classic share.
//!
//! Overload begins where the coupled probability is certainty, p' = 1 / k. From then on marks say
//! nothing more, so L4S packets are dropped with p_C as well, and Classic ones even if they could be
//! marked.
//!
//! `delay` is the longer of the waiting times of the two queues' first packets. RFC 9332 looks at
//! the Classic queue alone; with the L4S queue included, an unresponsive L4S sender is marked
//! before it has filled its queue. While L4S packets wait as briefly as they should, there is no
//! difference. Probabilities are in 2^-60.

use units::{ClassId, Ratio, Span, Time};

use super::pi::{ONE, gain, ppb};
use super::updates::{INTERVAL_MIN, Updates};
use super::{AqmState, AqmVerdict, Leaving, Method, MethodConfig, Parameter, mark_or_drop};
use chance::Chance;

/// The parameters of DualPI2, by their names in RFC 9332.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DualPi2Config {
    /// The class whose queue is the L4S queue.
    pub l4s_class: ClassId,
    /// target: the Classic delay to steer to.
    pub target: Span,
    /// Tupdate: how often the probability is computed.
    pub update: Span,
    /// alpha: the gain on the distance to the target, per second.
    pub alpha: Ratio,
    /// beta: the gain on the trend, per second.
    pub beta: Ratio,
    /// k: how many times the base probability L4S packets are marked with.
    pub coupling: Ratio,
    /// minTh: an L4S packet that waited for less is not marked natively.
    pub l4s_min: Span,
    /// range: from minTh, the native probability rises to certainty over this span.
    pub l4s_range: Span,
    /// Th_len: with fewer packets behind it an L4S packet is not marked natively.
    pub l4s_queue: u64,
}

/// Appendix A's: 15 ms, 15 ms, 0.15, 3, 2, 800 us, 400 us, 1 packet; class 1.
impl Default for DualPi2Config {
    fn default() -> DualPi2Config {
        DualPi2Config {
            l4s_class: ClassId(1),
            target: Span::from_ms(15),
            update: Span::from_ms(15),
            alpha: Ratio::new(3, 20).expect("not zero"),
            beta: Ratio::new(3, 1).expect("not zero"),
            coupling: Ratio::new(2, 1).expect("not zero"),
            l4s_min: Span::from_us(800),
            l4s_range: Span::from_us(400),
            l4s_queue: 1,
        }
    }
}

/// DualPI2's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2State {
    /// p', whose square is the Classic probability, in thousand-millionths.
    pub base_ppb: u64,
    /// The delay at the last update.
    pub delay: Span,
}

impl MethodConfig for DualPi2Config {
    fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)> {
        vec![
            ("l4s_class", Parameter::Class(&mut self.l4s_class)),
            ("target", Parameter::Span(&mut self.target)),
            ("update", Parameter::Span(&mut self.update)),
            ("alpha", Parameter::Ratio(&mut self.alpha)),
            ("beta", Parameter::Ratio(&mut self.beta)),
            ("coupling", Parameter::Ratio(&mut self.coupling)),
            ("l4s_min", Parameter::Span(&mut self.l4s_min)),
            ("l4s_range", Parameter::Span(&mut self.l4s_range)),
            ("l4s_queue", Parameter::Count(&mut self.l4s_queue)),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.update < INTERVAL_MIN {
            return Err(("an update interval below 10 us", "15 ms suits the Internet"));
        }
        if self.coupling < Ratio::ONE {
            return Err(("a coupling factor below 1", "2 makes Classic and L4S rates equal"));
        }
        Ok(())
    }

    fn l4s_class(&self) -> Option<ClassId> {
        Some(self.l4s_class)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    updates: Updates,
    /// p'.
    base: i128,
    /// The delay at the last update.
    delay_before: Span,
    classic: Recurrence,
    l4s: Recurrence,
}

impl Method for DualPi2 {
    type Config = DualPi2Config;

    fn new(config: &DualPi2Config, now: Time, _chance: Chance) -> DualPi2 {
        DualPi2 {
            updates: Updates::new(config.update, now),
            config: config.clone(),
            base: 0,
            delay_before: Span::ZERO,
            classic: Recurrence::default(),
            l4s: Recurrence::default(),
        }
    }

    fn state(&self) -> Option<AqmState> {
        Some(AqmState::Dualpi2(DualPi2State { base_ppb: ppb(self.base), delay: self.delay_before }))
    }

    fn handle_departure(&mut self, leaving: &Leaving) -> AqmVerdict {
        self.make_updates(leaving);
        let squared = (self.base * self.base) >> 60;
        let coupled = times(self.base, self.config.coupling);
        let overload = coupled >= ONE;
        match (leaving.is_l4s, overload) {
            (true, false) => match self.l4s.occurs(coupled.max(self.native(leaving))) {
                // Packets that came before the queues were coupled may not be ECN-capable.
                true => mark_or_drop(true, leaving.ecn),
                false => AqmVerdict::Pass,
            },
            (true, true) if self.l4s.occurs(squared) => AqmVerdict::Drop,
            (true, true) => mark_or_drop(true, leaving.ecn),
            (false, _) if !self.classic.occurs(squared) => AqmVerdict::Pass,
            (false, overload) => mark_or_drop(!overload, leaving.ecn),
        }
    }
}

impl DualPi2 {
    /// Makes the updates that fell due before this packet leaves. It has been the first of its queue
    /// ever since the one before it left.
    fn make_updates(&mut self, leaving: &Leaving) {
        let own_since = Time::from_ps(leaving.at.ps() - leaving.waited.ps());
        let waits = |at: Time, since: Time| Span::from_ps(at.ps().saturating_sub(since.ps()));
        for at in self.updates.due_by(leaving.at) {
            let other = leaving.other_since.map_or(Span::ZERO, |since| waits(at, since));
            self.update(waits(at, own_since).max(other));
        }
    }

    fn update(&mut self, delay: Span) {
        let step = gain(self.config.alpha, delay, self.config.target)
            + gain(self.config.beta, delay, self.delay_before);
        self.base = (self.base + step).clamp(0, ONE);
        self.delay_before = delay;
    }

    /// The probability with which the L4S queue marks by itself.
    fn native(&self, leaving: &Leaving) -> i128 {
        let DualPi2Config { l4s_min, l4s_range, l4s_queue, .. } = self.config;
        if leaving.left.packets < l4s_queue || leaving.waited <= l4s_min {
            return 0;
        }
        let beyond = i128::from(leaving.waited.ps() - l4s_min.ps());
        match i128::from(l4s_range.ps()) {
            range if beyond >= range => ONE,
            range => beyond * ONE / range,
        }
    }
}

/// `factor` times a probability, at most certainty.
fn times(probability: i128, factor: Ratio) -> i128 {
    (probability * i128::from(factor.over()) / i128::from(factor.under())).min(ONE)
}

/// Occurs as often as the sum of the probabilities passed to it, evenly spaced: the `recur` of RFC
/// 9332, which needs no random numbers.
#[derive(Clone, Debug, Default)]
struct Recurrence(i128);

impl Recurrence {
    fn occurs(&mut self, probability: i128) -> bool {
        self.0 += probability;
        let occurs = self.0 >= ONE;
        if occurs {
            self.0 -= ONE;
        }
        occurs
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;
    use crate::fate::Depth;
    use wire::Ecn;

    fn dualpi2(base: f64) -> DualPi2 {
        let mut dualpi2 =
            DualPi2::new(&DualPi2Config::default(), Time::ZERO, Chance::new(1, "dualpi2"));
        dualpi2.base = (base * ONE as f64) as i128;
        dualpi2
    }

    fn leaving(ecn: Ecn, waited: Span) -> Leaving {
        Leaving {
            at: Time::ZERO + Span::from_ms(10),
            waited,
            left: Depth { packets: 10, bytes: Bytes(15_000) },
            ecn,
            is_l4s: ecn.is_l4s(),
            other_since: None,
        }
    }

    /// Of 10,000 such packets before the first update: how many are marked and how many dropped.
    fn fates(base: f64, ecn: Ecn, waited: Span) -> (usize, usize) {
        let mut dualpi2 = dualpi2(base);
        let of = |_| dualpi2.handle_departure(&leaving(ecn, waited));
        let verdicts: Vec<AqmVerdict> = (0..10_000).map(of).collect();
        let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        (count(AqmVerdict::Mark), count(AqmVerdict::Drop))
    }

    /// The sum of a fraction that is no binary one may miss its last occurrence.
    fn about(found: (usize, usize), wanted: (usize, usize)) {
        assert!(found.0.abs_diff(wanted.0) <= 1, "{found:?} for {wanted:?}");
        assert!(found.1.abs_diff(wanted.1) <= 1, "{found:?} for {wanted:?}");
    }

    #[test]
    fn the_probability_follows_the_update_of_appendix_a() {
        let mut dualpi2 = dualpi2(0.0);
        let base = |dualpi2: &DualPi2| dualpi2.base as f64 / ONE as f64;
        dualpi2.update(Span::from_ms(25));
        // alpha (0.025 - 0.015) + beta (0.025 - 0) = 0.15 x 0.01 + 3 x 0.025.
        assert!((base(&dualpi2) - 0.0765).abs() < 1e-9);
        dualpi2.update(Span::from_ms(25));
        // The delay stays: 0.0015 more. There is no scaling by the probability as in PIE.
        assert!((base(&dualpi2) - 0.0780).abs() < 1e-9);
        dualpi2.update(Span::ZERO);
        // 0.15 x -0.015 + 3 x -0.025 = -0.07725.
        assert!((base(&dualpi2) - 0.00075).abs() < 1e-9);
        dualpi2.update(Span::ZERO);
        assert_eq!(base(&dualpi2), 0.0, "never below zero");
    }

    #[test]
    fn classic_packets_go_by_the_square_and_l4s_packets_by_twice_the_probability() {
        // p', p'^2 and 2 p'.
        for (base, squared, coupled) in [(0.01, 1, 200), (0.1, 100, 2000), (0.4, 1600, 8000)] {
            about(fates(base, Ecn::NotEct, Span::from_ms(5)), (0, squared));
            about(fates(base, Ecn::Ect0, Span::from_ms(5)), (squared, 0));
            for ecn in [Ecn::Ect1, Ecn::Ce] {
                about(fates(base, ecn, Span::from_us(500)), (coupled, 0));
            }
        }
    }

    #[test]
    fn overload_drops_by_the_square_in_both_queues_and_marks_the_rest_of_l4s() {
        // p' = 0.6 is beyond 1 / k = 0.5, p_C = 0.36 beyond p_Cmax = 0.25.
        about(fates(0.6, Ecn::NotEct, Span::from_ms(5)), (0, 3600));
        about(fates(0.6, Ecn::Ect0, Span::from_ms(5)), (0, 3600));
        about(fates(0.6, Ecn::Ect1, Span::from_us(500)), (6400, 3600));
    }

    #[test]
    fn the_ramp_marks_from_800_us_to_1200_us_of_wait_in_the_l4s_queue() {
        for (us, marked) in [(799, 0), (800, 0), (900, 2500), (1000, 5000), (1200, 10_000)] {
            about(fates(0.0, Ecn::Ect1, Span::from_us(us)), (marked, 0));
        }
        // The larger of the ramp and the coupling, not their sum.
        about(fates(0.1, Ecn::Ect1, Span::from_us(900)), (2500, 0));
        about(fates(0.2, Ecn::Ect1, Span::from_us(900)), (4000, 0));
        // On a slow line a packet waits that long for the one before: alone it is not marked.
        let mut dualpi2 = dualpi2(0.0);
        let alone = Leaving { left: Depth::default(), ..leaving(Ecn::Ect1, Span::from_ms(9)) };
        let verdicts = (0..100).map(|_| dualpi2.handle_departure(&alone));
        assert_eq!(verdicts.filter(|verdict| *verdict != AqmVerdict::Pass).count(), 0);
    }

    #[test]
    fn updates_see_the_wait_of_the_first_packets_at_their_own_instants() {
        let mut dualpi2 = dualpi2(0.0);
        let at = Time::ZERO + Span::from_ms(32);
        // The first packet came at 10 ms: at 15 ms it has waited for 5, at 30 ms for 20.
        let packet = Leaving { at, ..leaving(Ecn::NotEct, Span::from_ms(22)) };
        let _verdict = dualpi2.handle_departure(&packet);
        // 0.15 x -0.01 + 3 x 0.005 = 0.0135, then 0.15 x 0.005 + 3 x 0.015 = 0.04575.
        assert!((dualpi2.base as f64 / ONE as f64 - 0.05925).abs() < 1e-9);
    }
}
