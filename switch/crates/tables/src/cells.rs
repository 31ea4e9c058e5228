//! Counters and meters: of an entry here, and of the arrays that a program declares.

use units::Time;

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

/// What a meter allows: a token bucket for each of two rates (RFC 2698, colour-blind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterConfig {
    /// Packets or bytes a second, committed.
    pub committed_rate_per_s: u64,
    /// Size of the committed bucket, in packets or bytes.
    pub committed_burst: u64,
    /// Packets or bytes a second, peak.
    pub peak_rate_per_s: u64,
    /// Size of the peak bucket, in packets or bytes.
    pub peak_burst: u64,
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
    fn take(&mut self, elapsed_us: u64, rate_per_s: u64, burst: u64, amount: u64) -> bool {
        let added = u128::from(elapsed_us) * u128::from(rate_per_s) / 1_000_000;
        let added = u64::try_from(added).unwrap_or(u64::MAX);
        let new = added.saturating_sub(self.added);
        self.added = added;
        self.tokens = self.tokens.saturating_add(new).min(burst);
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
            peak: full(config.map_or(0, |config| config.peak_burst)),
        };
    }

    /// What the meter allows.
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
        let MeterConfig { committed_rate_per_s, committed_burst, peak_rate_per_s, peak_burst } =
            config;
        if before == Color::Red || !self.peak.take(elapsed_us, peak_rate_per_s, peak_burst, amount)
        {
            Color::Red
        } else if before == Color::Yellow
            || !self.committed.take(elapsed_us, committed_rate_per_s, committed_burst, amount)
        {
            Color::Yellow
        } else {
            Color::Green
        }
    }
}

/// What an array of meters counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterUnit {
    /// Bytes, as received.
    Bytes,
    Packets,
}

impl MeterUnit {
    /// What a packet of this length counts.
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

    #[test]
    fn a_meter_colours_by_two_rates() {
        let mut meter = Meter::default();
        assert_eq!(meter.color(1, Time::ZERO), Color::Green);
        let config = MeterConfig {
            committed_rate_per_s: 1_000,
            committed_burst: 2,
            peak_rate_per_s: 2_000,
            peak_burst: 3,
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
}
