//! Random early detection (Floyd and Jacobson 1993), with the gentle variant and WRED's profiles.
//!
//! A moving average of the queue decides: below `min` nothing happens, from `min` to `max` an
//! arrival is dropped with p_b = max_p (avg - min) / (max - min), spaced out evenly by
//! p_a = p_b / (1 - count p_b), where count is the number of packets let in since the last drop.
//! So the gap between drops is uniform on 1 .. 1 / p_b instead of geometric.
//!
//! All in fixed point: the average in 2^-24 of its unit, probabilities in 2^-32.

use units::{Span, Time};

use super::{AqmVerdict, Asking, mark_or_drop};
use crate::config::{RedConfig, RedProfile, RedUnit};
use crate::fate::Depth;
use chance::{Chance, Probability};

const ONE: u64 = 1 << 32;
const AVERAGE_BITS: u32 = 24;

#[derive(Clone, Debug)]
pub(crate) struct Red {
    config: RedConfig,
    chance: Chance,
    /// The moving average, in 2^-24 packets or bytes.
    average: u64,
    /// Packets let in since the last drop.
    count: u64,
    /// Since when the queue is empty; none while it is not.
    idle_since: Option<Time>,
}

impl Red {
    pub fn new(config: RedConfig, now: Time, chance: Chance) -> Red {
        Red { config, chance, average: 0, count: 0, idle_since: Some(now) }
    }

    pub fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
        if let Some(since) = self.idle_since.take() {
            let service = asking.line_rate.map(|rate| rate.span_of(self.config.mean_packet));
            self.decay(asking.now.since(since), service);
        }
        self.average_in(asking.depth);
        let profile = self.config.profiles[..]
            .get(usize::from(asking.waiting.precedence))
            .or(self.config.profiles.last())
            .copied()
            .expect("a valid configuration has a profile");
        let base = self.base_probability(&profile);
        if base == 0 {
            self.count = 0;
            return AqmVerdict::Pass;
        }
        // 1 - count x p_b; at or below zero the drop is due.
        let rest = u128::from(ONE).saturating_sub(u128::from(self.count) * u128::from(base));
        let spaced = match rest {
            0 => ONE,
            rest => ((u128::from(base) << 32) / rest).min(u128::from(ONE)) as u64,
        };
        if !self.chance.occurs(Probability::from_raw(spaced)) {
            self.count += 1;
            return AqmVerdict::Pass;
        }
        self.count = 0;
        mark_or_drop(self.config.ecn && base < ONE, asking.waiting.ecn_capable)
    }

    /// A packet departs and leaves `left` behind.
    pub fn handle_departure(&mut self, at: Time, left: Depth) {
        if left.packets == 0 {
            self.idle_since = Some(at);
        }
    }

    /// avg += w (queue - avg).
    fn average_in(&mut self, depth: Depth) {
        let queue = match self.config.unit {
            RedUnit::Bytes => depth.bytes.count(),
            RedUnit::Packets => depth.packets,
        };
        let (queue, average) = (i128::from(queue) << AVERAGE_BITS, i128::from(self.average));
        let step = ((queue - average) * i128::from(self.config.weight.raw())) >> 32;
        self.average = (average + step).max(0) as u64;
    }

    /// avg (1 - w)^m for the m packets of `service` that could have been sent while idle.
    fn decay(&mut self, idle: Span, service: Option<Span>) {
        let Some(service) = service.filter(|service| *service > Span::ZERO) else { return };
        let mut left = idle.ps() / service.ps();
        let mut factor = u128::from(ONE - self.config.weight.raw().min(ONE));
        let mut average = u128::from(self.average);
        while left > 0 && average > 0 {
            if left & 1 == 1 {
                average = (average * factor) >> 32;
            }
            factor = (factor * factor) >> 32;
            left >>= 1;
        }
        self.average = average as u64;
    }

    /// p_b in 2^-32; `ONE` means that the drop is forced.
    fn base_probability(&self, profile: &RedProfile) -> u64 {
        let min = u128::from(profile.min) << AVERAGE_BITS;
        let max = u128::from(profile.max) << AVERAGE_BITS;
        let average = u128::from(self.average);
        let top = u128::from(profile.max_probability.raw());
        if average < min {
            0
        } else if average < max {
            ((average - min) * top / (max - min)) as u64
        } else if self.config.gentle && average < 2 * max {
            // From max_p at max to 1 at twice max.
            (top + (average - max) * (u128::from(ONE) - top) / max) as u64
        } else {
            ONE
        }
    }
}

#[cfg(test)]
mod tests {
    use units::{Bytes, ClassId, PortId, Rate};

    use super::*;
    use crate::fate::Waiting;

    fn waiting(ecn_capable: bool, precedence: u8) -> Waiting {
        Waiting {
            length: Bytes(1000),
            input: PortId(0),
            output: PortId(0),
            class: ClassId(0),
            ecn_capable,
            precedence,
            sequence: 0,
        }
    }

    fn ask(red: &mut Red, packets: u64, waiting: &Waiting) -> AqmVerdict {
        let depth = Depth { packets, bytes: Bytes(packets * 1000) };
        let line_rate = Some(Rate::from_mbps(8));
        red.handle_arrival(&Asking { now: Time::ZERO, waiting, depth, line_rate })
    }

    /// A RED whose average follows the queue at once.
    fn instant_red(config: RedConfig) -> Red {
        let config = RedConfig { weight: Probability::ALWAYS, ..config };
        Red::new(config, Time::ZERO, Chance::new(1, "red"))
    }

    fn drops(red: &mut Red, packets: u64, precedence: u8) -> usize {
        let waiting = waiting(false, precedence);
        (0..100_000).filter(|_| ask(red, packets, &waiting) == AqmVerdict::Drop).count()
    }

    #[test]
    fn the_share_dropped_follows_the_average() {
        // Halfway between 5 and 15 packets p_b = 1 %. Gaps are uniform on 1 .. 100: their mean is
        // 50.5, so 100000 arrivals see 1980 drops; the standard deviation of the gap is 28.9,
        // that of the number of drops 28.9 / 50.5 x sqrt(1980) = 25.
        let mut red = instant_red(RedConfig::default());
        assert!(drops(&mut red, 10, 0).abs_diff(1980) < 110);
        assert_eq!(drops(&mut red, 4, 0), 0);
        assert_eq!(drops(&mut red, 30, 0), 100_000);
    }

    #[test]
    fn drops_are_spaced_evenly_not_by_chance_alone() {
        let mut red = instant_red(RedConfig::default());
        let packet = waiting(false, 0);
        let mut gap = 0;
        for _ in 0..100_000 {
            gap += 1;
            if ask(&mut red, 10, &packet) == AqmVerdict::Drop {
                // Uniform on 1 .. 1 / p_b = 100: never more than 100 packets apart.
                assert!(gap <= 101, "{gap}");
                gap = 0;
            }
        }
    }

    #[test]
    fn a_yellow_packet_can_have_a_steeper_profile() {
        let profile = |min, max| RedProfile { min, max, max_probability: Probability::ALWAYS };
        let mut red = instant_red(RedConfig {
            profiles: vec![profile(20, 40), profile(5, 10)],
            ..RedConfig::default()
        });
        assert_eq!(drops(&mut red, 12, 0), 0);
        assert_eq!(drops(&mut red, 12, 1), 100_000);
    }

    #[test]
    fn marks_replace_drops_until_the_drop_is_forced() {
        let mut red = instant_red(RedConfig::default());
        let packet = waiting(true, 0);
        let seen: Vec<_> = (0..1000).map(|_| ask(&mut red, 14, &packet)).collect();
        assert!(seen.contains(&AqmVerdict::Mark) && !seen.contains(&AqmVerdict::Drop));
        assert_eq!(ask(&mut red, 30, &packet), AqmVerdict::Drop);
    }

    #[test]
    fn an_idle_queue_forgets_its_average() {
        let config =
            RedConfig { weight: Probability::ratio(1, 2).expect("half"), ..RedConfig::default() };
        let mut red = Red::new(config, Time::ZERO, Chance::new(1, "red"));
        let packet = waiting(false, 0);
        red.average = 32 << AVERAGE_BITS;
        red.handle_departure(Time::ZERO, Depth::default());
        // 3 ms idle at 1 ms a packet (1000 bytes at 8 Mb/s): 32 x (1/2)^3 = 4, and the arrival
        // itself finds an empty queue: 2.
        let asking = Asking {
            now: Time::ZERO + Span::from_ms(3),
            waiting: &packet,
            depth: Depth::default(),
            line_rate: Some(Rate::from_mbps(8)),
        };
        assert_eq!(red.handle_arrival(&asking), AqmVerdict::Pass);
        assert_eq!(red.average, 2 << AVERAGE_BITS);
    }
}
