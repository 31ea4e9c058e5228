//! Counters and meters: of an entry here, and of the arrays that a program declares.

use units::Time;

const MILLION: u128 = 1_000_000;

/// How often something happened, and for how many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    pub packets: u64,
    /// Their bytes, as received.
    pub bytes: u64,
}

impl Counter {
    #[inline]
    pub fn count(&mut self, length_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(length_bytes);
    }
}

/// The colour a meter gives a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    /// Within the committed rate.
    #[default]
    Green,
    /// Beyond the committed, within the peak rate.
    Yellow,
    /// Beyond the peak rate.
    Red,
}

impl Color {
    /// The number it has in PSA, whose order is red, green, yellow.
    pub fn in_psa(self) -> u64 {
        (self as u64 + 1) % 3
    }

    /// The colour of a number of PSA; what is none is red.
    pub fn of_psa(number: u64) -> Color {
        match number {
            1 => Color::Green,
            2 => Color::Yellow,
            _ => Color::Red,
        }
    }
}

/// How fast a meter's bucket fills: packets or bytes a second, to the millionth. P4Runtime has whole
/// numbers, but bmv2's own interface sets half a packet a second, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeterRate {
    whole: u64,
    millionths: u32,
}

impl MeterRate {
    /// So many a second.
    pub const fn per_s(whole: u64) -> MeterRate {
        MeterRate { whole, millionths: 0 }
    }

    /// So many millionths a second; what is more than 64 bits of whole ones is cut to that.
    pub fn from_millionths(millionths: u128) -> MeterRate {
        match u64::try_from(millionths / MILLION) {
            Ok(whole) => MeterRate { whole, millionths: (millionths % MILLION) as u32 },
            Err(_) => MeterRate::per_s(u64::MAX),
        }
    }

    /// Millionths a second.
    pub fn millionths(self) -> u128 {
        u128::from(self.whole) * MILLION + u128::from(self.millionths)
    }

    /// Whole ones a second, rounded up, so that a rate that lets anything pass does not read as 0.
    pub fn whole_per_s(self) -> u64 {
        self.whole.saturating_add(u64::from(self.millionths > 0))
    }

    /// How many accrue in a time, rounded down.
    fn accrued(self, elapsed_us: u64) -> u64 {
        let elapsed_us = u128::from(elapsed_us);
        let fraction = elapsed_us * u128::from(self.millionths) / MILLION;
        let accrued = (elapsed_us * u128::from(self.whole) + fraction) / MILLION;
        u64::try_from(accrued).unwrap_or(u64::MAX)
    }
}

/// The configuration of a meter: a token bucket for each of two rates (RFC 2698), or two buckets
/// for one rate (RFC 2697).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterConfig {
    /// The committed rate, in the long run.
    pub committed_rate: MeterRate,
    /// Size of the committed bucket, in packets or bytes.
    pub committed_burst: u64,
    /// The peak rate, in the long run.
    pub peak_rate: MeterRate,
    /// Size of the peak bucket, in packets or bytes.
    pub peak_burst: u64,
    /// Size of the excess bucket of a meter with one rate, in packets or bytes: what no longer fits the
    /// committed bucket goes there. The peak rate has no meaning then.
    pub excess_burst: Option<u64>,
}

/// One rate's bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bucket {
    tokens: u64,
    /// Tokens that had been added since the meter's configuration when it was last used.
    added: u64,
}

/// A meter. Without a configuration every packet is green.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    config: Option<MeterConfig>,
    since: Time,
    committed: Bucket,
    peak: Bucket,
}

impl Bucket {
    /// Adds what has accrued, then takes `amount` if there is enough.
    ///
    /// Computed from the start, not from the last packet, so that no fraction of a token is lost.
    /// Time counts in whole microseconds, as in simple_switch.
    fn take(&mut self, elapsed_us: u64, rate: MeterRate, burst: u64, amount: u64) -> bool {
        let _overflow = self.fill(elapsed_us, rate, burst);
        self.spend(amount)
    }

    /// Adds what has accrued; returns what finds no room.
    fn fill(&mut self, elapsed_us: u64, rate: MeterRate, burst: u64) -> u64 {
        let added = rate.accrued(elapsed_us);
        let new = added.saturating_sub(self.added);
        self.added = added;
        let all = self.tokens.saturating_add(new);
        self.tokens = all.min(burst);
        all - self.tokens
    }

    fn spend(&mut self, amount: u64) -> bool {
        let enough = self.tokens >= amount;
        if enough {
            self.tokens -= amount;
        }
        enough
    }
}

impl Meter {
    /// Sets what the meter allows, with full buckets; `None` lets everything pass.
    pub fn configure(&mut self, config: Option<MeterConfig>, now: Time) {
        let full = |tokens: u64| Bucket { tokens, added: 0 };
        *self = Meter {
            config,
            since: now,
            committed: full(config.map_or(0, |config| config.committed_burst)),
            peak: full(config.map_or(0, |it| it.excess_burst.unwrap_or(it.peak_burst))),
        };
    }

    /// The meter's configuration.
    pub fn config(&self) -> Option<MeterConfig> {
        self.config
    }

    /// The colour of `amount` packets or bytes.
    ///
    /// A packet beyond the peak rate takes no committed tokens, nor adds any (`Meter::execute`).
    pub fn color(&mut self, amount: u64, now: Time) -> Color {
        self.color_aware(amount, now, Color::Green)
    }

    /// The same of a packet that has a colour already, which never gets better (RFC 2698, colour-aware
    /// mode).
    pub fn color_aware(&mut self, amount: u64, now: Time, before: Color) -> Color {
        let Some(config) = self.config else { return before };
        let elapsed_us = now.since(self.since).whole_us();
        let MeterConfig { committed_rate, committed_burst, peak_rate, peak_burst, .. } = config;
        if let Some(excess_burst) = config.excess_burst {
            let overflow = self.committed.fill(elapsed_us, committed_rate, committed_burst);
            self.peak.tokens = self.peak.tokens.saturating_add(overflow).min(excess_burst);
            return if before == Color::Green && self.committed.spend(amount) {
                Color::Green
            } else if before != Color::Red && self.peak.spend(amount) {
                Color::Yellow
            } else {
                Color::Red
            };
        }
        if before == Color::Red || !self.peak.take(elapsed_us, peak_rate, peak_burst, amount) {
            Color::Red
        } else if before == Color::Yellow
            || !self.committed.take(elapsed_us, committed_rate, committed_burst, amount)
        {
            Color::Yellow
        } else {
            Color::Green
        }
    }
}

/// The unit of an array of meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterUnit {
    /// Bytes, as received.
    Bytes,
    Packets,
}

impl MeterUnit {
    /// The amount that a packet of this length counts.
    pub fn amount(self, length_bytes: u32) -> u64 {
        match self {
            MeterUnit::Bytes => length_bytes.into(),
            MeterUnit::Packets => 1,
        }
    }
}

impl From<bmv2::MeterUnit> for MeterUnit {
    fn from(unit: bmv2::MeterUnit) -> MeterUnit {
        match unit {
            bmv2::MeterUnit::Bytes => MeterUnit::Bytes,
            bmv2::MeterUnit::Packets => MeterUnit::Packets,
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    /// RFC 2697: a committed bucket of two and an excess bucket of one, filled by one rate, the
    /// second by the overflow of the first.
    #[test]
    fn a_meter_of_one_rate_has_an_excess_bucket() {
        let config = MeterConfig {
            committed_rate: MeterRate::per_s(1_000),
            committed_burst: 2,
            excess_burst: Some(1),
            ..MeterConfig::default()
        };
        let mut meter = Meter::default();
        meter.configure(Some(config), Time::ZERO);
        let mut burst = |at_ms: u64| {
            let now = Time::ZERO + Span::from_ms(at_ms);
            [(); 4].map(|()| meter.color(1, now))
        };
        assert_eq!(burst(0), [Color::Green, Color::Green, Color::Yellow, Color::Red]);
        // Two tokens in two milliseconds fill the committed bucket and leave the other empty.
        assert_eq!(burst(2), [Color::Green, Color::Green, Color::Red, Color::Red]);
        // The third goes to the excess bucket.
        assert_eq!(burst(5), [Color::Green, Color::Green, Color::Yellow, Color::Red]);
    }

    #[test]
    fn a_meter_colours_by_two_rates() {
        let mut meter = Meter::default();
        assert_eq!(meter.color(1, Time::ZERO), Color::Green);
        let config = MeterConfig {
            committed_rate: MeterRate::per_s(1_000),
            committed_burst: 2,
            peak_rate: MeterRate::per_s(2_000),
            peak_burst: 3,
            excess_burst: None,
        };
        meter.configure(Some(config), Time::ZERO);
        let colors: Vec<Color> = (0..4).map(|_| meter.color(1, Time::ZERO)).collect();
        // The committed bucket holds two, the peak bucket three.
        assert_eq!(colors, [Color::Green, Color::Green, Color::Yellow, Color::Red]);
        // 1 ms later: one committed and two peak tokens more.
        let later = Time::ZERO + Span::from_ms(1);
        let colors: Vec<Color> = (0..3).map(|_| meter.color(1, later)).collect();
        assert_eq!(colors, [Color::Green, Color::Yellow, Color::Red]);
    }

    #[test]
    fn a_meter_may_allow_less_than_one_packet_a_second() {
        let half = MeterRate::from_millionths(500_000);
        let config = MeterConfig {
            committed_rate: half,
            committed_burst: 1,
            peak_rate: half,
            peak_burst: 1,
            excess_burst: None,
        };
        let mut meter = Meter::default();
        meter.configure(Some(config), Time::ZERO);
        // One packet a second; one token in two seconds.
        let colors: Vec<Color> =
            (0..6).map(|s| meter.color(1, Time::ZERO + Span::from_ms(1000 * s))).collect();
        assert_eq!(colors, [Color::Green, Color::Red].repeat(3));
        assert_eq!((half.whole_per_s(), MeterRate::per_s(7).whole_per_s()), (1, 7));
        assert_eq!(half.millionths(), 500_000);
    }

    #[test]
    fn the_fastest_meter_for_the_longest_time_does_not_overflow() {
        let fastest = MeterRate::from_millionths(u128::MAX);
        assert_eq!(fastest, MeterRate::per_s(u64::MAX));
        let all = MeterRate { whole: u64::MAX, millionths: 999_999 };
        assert_eq!(all.accrued(u64::MAX), u64::MAX);
        assert_eq!(MeterRate::from_millionths(all.millionths()), all);
        assert_eq!(all.whole_per_s(), u64::MAX);
    }
}
