//! Controlled delay (Nichols and Jacobson 2012; RFC 8289).
//!
//! A queue is bad when even its shortest wait over a whole interval exceeds the target. Then the
//! packet at the head is dropped, and the next one interval / sqrt(n) after the n-th, until the
//! wait is below the target: drops at 0, 100, 170.7, 228.4, ... ms for an interval of 100 ms.

use chance::Chance;
use units::{Bytes, Span, Time};

use super::{AqmState, AqmVerdict, Leaving, Method, MethodConfig, Parameter, mark_or_drop};
use crate::fate::Depth;

/// The parameters of CoDel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// The delay that is good enough.
    pub target: Span,
    /// How long the delay must be above it before anything is dropped.
    pub interval: Span,
    /// With no more than this in the queue nothing is dropped.
    pub mtu: Bytes,
    /// Mark instead of drop where possible.
    pub ecn: bool,
}

/// RFC 8289's: 5 ms, 100 ms, an Ethernet frame; marking on.
impl Default for CodelConfig {
    fn default() -> CodelConfig {
        CodelConfig {
            target: Span::from_ms(5),
            interval: Span::from_ms(100),
            mtu: Bytes(1514),
            ecn: true,
        }
    }
}

/// CoDel's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelState {
    /// Drops since dropping began, or where it resumed.
    pub count: u64,
    /// When the next packet is dropped; none while none are.
    pub next: Option<Time>,
}

impl MethodConfig for CodelConfig {
    fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)> {
        vec![
            ("target", Parameter::Span(&mut self.target)),
            ("interval", Parameter::Span(&mut self.interval)),
            ("mtu", Parameter::Bytes(&mut self.mtu)),
            ("ecn", Parameter::Flag(&mut self.ecn)),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match self.interval {
            Span::ZERO => Err(("an interval of no length", "100 ms suits the Internet")),
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Codel {
    config: CodelConfig,
    /// When the wait will have been above the target for an interval; none while it is below.
    above_since: Option<Time>,
    /// Whether packets are being dropped.
    dropping: bool,
    /// When the next one is, or was.
    drop_next: Time,
    /// Drops since dropping began, or where it resumed.
    count: u64,
    /// `count` when dropping last began.
    count_at_start: u64,
    /// The last packet was dropped; the next one decides whether the schedule goes on.
    just_dropped: bool,
}

impl Method for Codel {
    type Config = CodelConfig;

    fn new(config: &CodelConfig, _now: Time, _chance: Chance) -> Codel {
        Codel {
            config: config.clone(),
            above_since: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            count_at_start: 0,
            just_dropped: false,
        }
    }

    fn state(&self) -> Option<AqmState> {
        let next = match self.just_dropped {
            true => self.following(self.drop_next),
            false => self.drop_next,
        };
        Some(AqmState::Codel(CodelState { count: self.count, next: self.dropping.then_some(next) }))
    }

    fn handle_departure(&mut self, leaving: &Leaving) -> AqmVerdict {
        let Leaving { at, waited, left, ecn, .. } = *leaving;
        let bad = self.is_bad(at, waited, left);
        let just_dropped = std::mem::take(&mut self.just_dropped);
        if self.dropping {
            if !bad {
                self.dropping = false;
                return AqmVerdict::Pass;
            }
            if just_dropped {
                self.drop_next = self.following(self.drop_next);
            }
            if at < self.drop_next {
                return AqmVerdict::Pass;
            }
            self.count += 1;
        } else {
            if !bad {
                return AqmVerdict::Pass;
            }
            self.begin(at);
        }
        let verdict = mark_or_drop(self.config.ecn, ecn);
        // The first drop has set the time of the second already.
        if self.count > self.count_at_start {
            match verdict {
                // A marked packet is the one that departs; the schedule goes on at once.
                AqmVerdict::Mark => self.drop_next = self.following(self.drop_next),
                _ => self.just_dropped = true,
            }
        }
        verdict
    }
}

impl Codel {
    /// Whether the wait has been above the target for a whole interval.
    fn is_bad(&mut self, at: Time, waited: Span, left: Depth) -> bool {
        if waited < self.config.target || left.bytes <= self.config.mtu {
            self.above_since = None;
            return false;
        }
        let until = *self.above_since.get_or_insert(at.saturating_add(self.config.interval));
        at >= until
    }

    /// Dropping begins. If it ended only a short while ago, it resumes near the rate it had then.
    fn begin(&mut self, at: Time) {
        self.dropping = true;
        let recent = at.since(self.drop_next) < self.config.interval * 16;
        let gained = self.count - self.count_at_start;
        self.count = if recent && gained > 1 { gained } else { 1 };
        self.count_at_start = self.count;
        self.drop_next = self.following(at);
    }

    /// The control law: interval / sqrt(count) after `time`.
    fn following(&self, time: Time) -> Time {
        let interval = u128::from(self.config.interval.ps());
        let ps = (interval * interval / u128::from(self.count.max(1))).isqrt();
        time.saturating_add(Span::from_ps(ps as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Ecn;

    fn codel() -> Codel {
        Codel::new(&CodelConfig::default(), Time::ZERO, Chance::new(1, "codel"))
    }

    fn leaving(at: Time, waited: Span, left: Depth, ecn: Ecn) -> Leaving {
        Leaving { at, waited, left, ecn, is_l4s: false, other_since: None }
    }

    /// Departures every 10 us with this wait, from time zero; returns the drops in microseconds.
    fn drops(codel: &mut Codel, waited: Span, from_us: u64, until_us: u64) -> Vec<u64> {
        let left = Depth { packets: 100, bytes: Bytes(150_000) };
        let instants = (from_us..until_us).step_by(10);
        let dropped = instants.filter(|us| {
            let at = Time::ZERO + Span::from_us(*us);
            codel.handle_departure(&leaving(at, waited, left, Ecn::NotEct)) == AqmVerdict::Drop
        });
        dropped.collect()
    }

    #[test]
    fn drops_come_at_the_interval_over_the_square_root_of_their_number() {
        let mut codel = codel();
        let dropped = drops(&mut codel, Span::from_ms(50), 0, 430_000);
        // The wait is above the target from 0 on, so the first drop is at 100 ms; then
        // 100 / sqrt(n): +100, +70.71, +57.74, +50, +44.72 ms, seen at the next departure.
        let after_first: Vec<u64> = dropped.iter().map(|at| at - 100_000).collect();
        assert_eq!(after_first, [0, 100_000, 170_720, 228_450, 278_450, 323_170]);
    }

    #[test]
    fn a_wait_below_the_target_ends_the_dropping_and_the_patience_begins_anew() {
        let mut codel = codel();
        assert_eq!(drops(&mut codel, Span::from_ms(50), 0, 150_000), [100_000]);
        assert_eq!(drops(&mut codel, Span::from_ms(4), 150_000, 160_000), []);
        assert_eq!(drops(&mut codel, Span::from_ms(50), 160_000, 260_000), []);
        assert_eq!(drops(&mut codel, Span::from_ms(50), 260_000, 260_010), [260_000]);
    }

    #[test]
    fn dropping_resumes_near_its_former_rate_after_a_short_truce() {
        let mut codel = codel();
        // 100, 200, 270.72, 328.45, 378.45, 423.17 ms: six drops, five more than at the start.
        assert_eq!(drops(&mut codel, Span::from_ms(50), 0, 430_000).len(), 6);
        drops(&mut codel, Span::from_ms(4), 430_000, 430_010);
        // Bad again from 430.01 ms on: first drop at 530.01 ms, resumed with count 5, so the next
        // one is 100 / sqrt(5) = 44.72 ms later.
        let resumed = drops(&mut codel, Span::from_ms(50), 430_010, 580_000);
        assert_eq!(resumed, [530_010, 574_740]);
    }

    #[test]
    fn the_last_packet_of_a_queue_is_never_dropped() {
        let mut codel = codel();
        let left = Depth { packets: 1, bytes: Bytes(1500) };
        for ms in 0..1000 {
            let at = Time::ZERO + Span::from_ms(ms);
            let verdict =
                codel.handle_departure(&leaving(at, Span::from_ms(500), left, Ecn::NotEct));
            assert_eq!(verdict, AqmVerdict::Pass);
        }
    }

    #[test]
    fn packets_that_can_be_marked_are_marked_on_the_same_schedule() {
        let mut codel = codel();
        let left = Depth { packets: 100, bytes: Bytes(150_000) };
        let marked: Vec<u64> = (0..430_000)
            .step_by(10)
            .filter(|us| {
                let at = Time::ZERO + Span::from_us(*us);
                codel.handle_departure(&leaving(at, Span::from_ms(50), left, Ecn::Ect0))
                    == AqmVerdict::Mark
            })
            .collect();
        assert_eq!(marked, [100_000, 200_000, 270_720, 328_450, 378_450, 423_170]);
    }
}
