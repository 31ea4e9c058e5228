//! Random early detection (Floyd and Jacobson 1993), with the gentle variant and WRED's profiles.
//!
//! A moving average of the queue decides: below `min` nothing happens, from `min` to `max` an
//! arrival is dropped with p_b = max_p (avg - min) / (max - min), spaced out evenly by
//! p_a = p_b / (1 - count p_b), where count is the number of packets let in since the last drop.
//! So the gap between drops is uniform on 1 .. 1 / p_b instead of geometric.
//!
//! All in fixed point: the average in 2^-24 of its unit, probabilities in 2^-32.

use chance::{Chance, Probability};
use units::{Bytes, Span, Time};

use super::{AqmState, AqmVerdict, Asking, Leaving, Method, MethodConfig, Parameter, mark_or_drop};
use crate::fate::Depth;

/// The parameters of RED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedConfig {
    /// The unit of the average.
    pub unit: RedUnit,
    /// One profile for all packets, or up to three by drop precedence (green, yellow, red); a
    /// precedence beyond the last takes the last.
    pub profiles: Vec<RedProfile>,
    /// The weight of one arrival in the moving average.
    pub weight: Probability,
    /// Rise to certain dropping between `max` and twice `max`, rather than at `max`.
    pub gentle: bool,
    /// While the queue is idle the average decays as if packets of this length arrived back to
    /// back at the line's rate and found nothing.
    pub mean_packet: Bytes,
    /// Mark instead of drop where possible, as long as the average is within the profile.
    pub ecn: bool,
}

/// The unit of RED's thresholds and average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedUnit {
    /// Bytes waiting.
    Bytes,
    /// Packets waiting.
    Packets,
}

/// How likely an arrival is dropped, by the average queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedProfile {
    /// Below this average nothing is dropped.
    pub min: u64,
    /// At this average the probability is `max_probability`.
    pub max: u64,
    /// The probability at `max`.
    pub max_probability: Probability,
}

/// Floyd's: 5 and 15 packets, 2 %, weight 0.002, gentle; marking on.
impl Default for RedConfig {
    fn default() -> RedConfig {
        let profile = RedProfile { min: 5, max: 15, max_probability: Probability::ppm(20_000) };
        RedConfig {
            unit: RedUnit::Packets,
            profiles: vec![profile],
            weight: Probability::ppm(2_000),
            gentle: true,
            mean_packet: Bytes(1000),
            ecn: true,
        }
    }
}

/// RED's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedState {
    /// The moving average in thousandths of a packet, or of a byte.
    pub average_thousandths: u64,
}

impl MethodConfig for RedConfig {
    /// The thresholds are those of the first profile.
    fn parameters(&mut self) -> Vec<(&'static str, Parameter<'_>)> {
        let mut parameters = vec![
            ("weight", Parameter::Share(&mut self.weight)),
            ("gentle", Parameter::Flag(&mut self.gentle)),
            ("mean_packet", Parameter::Bytes(&mut self.mean_packet)),
            ("ecn", Parameter::Flag(&mut self.ecn)),
        ];
        if let Some(profile) = self.profiles.first_mut() {
            parameters.push(("min", Parameter::Count(&mut profile.min)));
            parameters.push(("max", Parameter::Count(&mut profile.max)));
            parameters.push(("probability", Parameter::Share(&mut profile.max_probability)));
        }
        parameters
    }

    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.profiles.is_empty() || self.profiles.len() > 3 {
            return Err(("no profile or more than three", "give one, or one per drop precedence"));
        }
        if self.profiles.iter().any(|profile| profile.min >= profile.max) {
            return Err(("a minimum that is not below its maximum", "max = 3 x min is customary"));
        }
        Ok(())
    }
}

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

impl Method for Red {
    type Config = RedConfig;

    fn new(config: &RedConfig, now: Time, chance: Chance) -> Red {
        Red { config: config.clone(), chance, average: 0, count: 0, idle_since: Some(now) }
    }

    fn state(&self) -> Option<AqmState> {
        Some(AqmState::Red(RedState {
            average_thousandths: ((u128::from(self.average) * 1000) >> 24) as u64,
        }))
    }

    fn handle_arrival(&mut self, asking: &Asking) -> AqmVerdict {
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
        mark_or_drop(self.config.ecn && base < ONE, asking.waiting.ecn)
    }

    fn handle_departure(&mut self, leaving: &Leaving) -> AqmVerdict {
        if leaving.left.packets == 0 {
            self.idle_since = Some(leaving.at);
        }
        AqmVerdict::Pass
    }
}

impl Red {
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
    use units::{ClassId, PortId, Rate};

    use super::*;
    use crate::fate::Waiting;
    use wire::Ecn;

    fn waiting(ecn: Ecn, precedence: u8) -> Waiting {
        Waiting {
            length: Bytes(1000),
            input: PortId(0),
            output: PortId(0),
            class: ClassId(0),
            ecn,
            precedence,
            rank: 0,
            sequence: 0,
            number: 0,
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
        Red::new(&config, Time::ZERO, Chance::new(1, "red"))
    }

    fn drops(red: &mut Red, packets: u64, precedence: u8) -> usize {
        let waiting = waiting(Ecn::NotEct, precedence);
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
        let packet = waiting(Ecn::NotEct, 0);
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
        let packet = waiting(Ecn::Ect0, 0);
        let seen: Vec<_> = (0..1000).map(|_| ask(&mut red, 14, &packet)).collect();
        assert!(seen.contains(&AqmVerdict::Mark) && !seen.contains(&AqmVerdict::Drop));
        assert_eq!(ask(&mut red, 30, &packet), AqmVerdict::Drop);
    }

    #[test]
    fn an_idle_queue_forgets_its_average() {
        let config =
            RedConfig { weight: Probability::ratio(1, 2).expect("half"), ..RedConfig::default() };
        let mut red = Red::new(&config, Time::ZERO, Chance::new(1, "red"));
        let packet = waiting(Ecn::NotEct, 0);
        red.average = 32 << AVERAGE_BITS;
        let _verdict = red.handle_departure(&Leaving {
            at: Time::ZERO,
            waited: Span::ZERO,
            left: Depth::default(),
            ecn: Ecn::NotEct,
            is_l4s: false,
            other_since: None,
        });
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
