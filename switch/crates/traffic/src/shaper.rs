//! Token buckets in exact integer time.
//!
//! A bucket is kept as one instant, `full_at`: when it would be full again if nothing were sent.
//! With rate r and size b it holds `b - r * (full_at - t)` at time t, so sending L moves `full_at`
//! on by L / r, and L is covered from `full_at + L/r - b/r` on. This is the virtual-scheduling form
//! of the bucket (the ATM Forum's GCRA); unlike a counter of tokens it needs no refills and no
//! fractions. L / r is rounded up and b / r down, so the envelope b + r t is never exceeded.

use units::{Bytes, PacketRate, Rate, Span, Time};

use crate::credit::{Tokens, bytes_in, clamped};
use crate::error::ConfigError;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A token bucket: a long-term rate and how much may go at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaperConfig {
    /// Counts bytes of frames (without the line's overhead).
    Bits {
        /// The rate in the long run.
        rate: Rate,
        /// The bucket's size. A packet longer than the bucket leaves when the bucket is full, so
        /// zero means evenly spaced packets.
        burst: Bytes,
    },
    /// Counts packets, whatever their length: the meaning of simple_switch's `set_queue_rate`.
    Packets {
        /// The rate in the long run.
        rate: PacketRate,
        /// The bucket's size in packets, at least 1; 1 means evenly spaced packets.
        burst: u32,
        /// Whether turns that were missed are caught up. A packet's turn then comes one spacing
        /// after the turn of the one before it, or when it arrives, whenever that one really left:
        /// who was kept by the line or by other classes still has his turns. That is how
        /// simple_switch counts.
        catches_up: bool,
    },
}

impl ShaperConfig {
    pub(crate) fn validate(&self, place: &str) -> Result<(), ConfigError> {
        match self {
            ShaperConfig::Packets { burst: 0, .. } => Err(ConfigError::new(
                format!("{place}, shaper"),
                "a burst of 0 packets would never send",
                "use 1 for evenly spaced packets",
            )),
            _ => Ok(()),
        }
    }
}

/// A token bucket in action.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    config: ShaperConfig,
    full_at: Time,
    /// The time it takes to fill the whole bucket.
    depth: Span,
}

impl Shaper {
    /// A bucket that is full at `now`.
    pub fn new(config: ShaperConfig, now: Time) -> Shaper {
        Shaper { config, full_at: now, depth: depth_of(&config) }
    }

    /// How long the rate takes to earn one packet of `length`.
    #[inline]
    fn price(&self, length: Bytes) -> Span {
        match self.config {
            ShaperConfig::Bits { rate, .. } => rate.span_of(length),
            ShaperConfig::Packets { rate, .. } => rate.spacing(),
        }
    }

    /// The earliest instant at which the bucket covers a packet of `length`.
    #[inline]
    pub fn eligible_at(&self, length: Bytes) -> Time {
        // A packet longer than the bucket waits for a full one.
        let slack = self.depth.ps().saturating_sub(self.price(length).ps());
        Time::from_ps(self.full_at.ps().saturating_sub(slack))
    }

    /// The tokens in the bucket at `now`.
    pub fn tokens(&self, now: Time) -> Tokens {
        let missing_ps = i128::from(self.full_at.since(now).ps());
        match self.config {
            // The deficit is rounded up: the bucket never claims more than it has.
            ShaperConfig::Bits { rate, burst } => {
                Tokens::Bytes(clamped(i128::from(burst.count())) + bytes_in(rate, -missing_ps))
            }
            ShaperConfig::Packets { rate, burst, .. } => {
                let earned =
                    (-missing_ps * i128::from(rate.pps()) * 1000).div_euclid(PS_PER_SECOND as i128);
                Tokens::MilliPackets(clamped(i128::from(burst) * 1000 + earned))
            }
        }
    }

    /// Takes a packet of `length` out of the bucket at `at`, after it has `waited` in its queue.
    #[inline]
    pub fn charge(&mut self, at: Time, waited: Span, length: Bytes) {
        let filled_until = match self.config {
            ShaperConfig::Packets { catches_up: true, .. } => at - waited,
            _ => at,
        };
        self.full_at = self.full_at.max(filled_until).saturating_add(self.price(length));
    }

    /// Changes rate and size. Debt from the old rate stays owed in bytes (or packets), so it is
    /// paid back at the new rate.
    pub fn change(&mut self, config: ShaperConfig, now: Time) {
        let owed = self.full_at.since(now);
        let converted = match (self.config, config) {
            (ShaperConfig::Bits { rate: old, .. }, ShaperConfig::Bits { rate: new, .. }) => {
                scaled(owed, old.bps(), new.bps())
            }
            (ShaperConfig::Packets { rate: old, .. }, ShaperConfig::Packets { rate: new, .. }) => {
                scaled(owed, old.pps(), new.pps())
            }
            // Bytes and packets cannot be converted into each other: start afresh.
            _ => Span::ZERO,
        };
        *self = Shaper { config, full_at: now.saturating_add(converted), depth: depth_of(&config) };
    }
}

/// A debt of `owed` time at rate `old`, in time at rate `new`, rounded up.
fn scaled(owed: Span, old: u64, new: u64) -> Span {
    let ps = (u128::from(owed.ps()) * u128::from(old)).div_ceil(u128::from(new));
    Span::from_ps(ps.min(u128::from(u64::MAX)) as u64)
}

/// The time in which the rate fills the bucket, rounded down.
fn depth_of(config: &ShaperConfig) -> Span {
    match config {
        ShaperConfig::Bits { rate, burst } => {
            let bits = u128::from(burst.count()) * 8;
            let ps = bits.saturating_mul(PS_PER_SECOND) / u128::from(rate.bps());
            Span::from_ps(ps.min(u128::from(u64::MAX)) as u64)
        }
        ShaperConfig::Packets { rate, burst, .. } => {
            Span::from_ps(rate.spacing().ps().saturating_mul(u64::from(*burst)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Mb/s and 10,000 bytes: the bucket fills in 80 ms and earns 1250 bytes in 10 ms.
    fn one_megabit() -> Shaper {
        let config = ShaperConfig::Bits { rate: Rate::from_mbps(1), burst: Bytes(10_000) };
        Shaper::new(config, Time::ZERO)
    }

    /// 1000 packets a second.
    fn thousand_packets(burst: u32, catches_up: bool) -> Shaper {
        let rate = PacketRate::from_pps(1000).expect("not zero");
        Shaper::new(ShaperConfig::Packets { rate, burst, catches_up }, Time::ZERO)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_full_bucket_covers_its_size_at_once_and_then_its_rate() {
        let mut shaper = one_megabit();
        for _ in 0..8 {
            // 8 x 1250 = 10000 bytes go at time 0.
            assert_eq!(shaper.eligible_at(Bytes(1250)), Time::ZERO);
            shaper.charge(Time::ZERO, Span::ZERO, Bytes(1250));
        }
        // The ninth waits for 1250 bytes at 1 Mb/s = 10 ms.
        assert_eq!(shaper.eligible_at(Bytes(1250)), ms(10));
    }

    #[test]
    fn a_bucket_says_what_it_holds() {
        let mut shaper = one_megabit();
        assert_eq!(shaper.tokens(Time::ZERO), Tokens::Bytes(10_000));
        shaper.charge(Time::ZERO, Span::ZERO, Bytes(10_000));
        shaper.charge(Time::ZERO, Span::ZERO, Bytes(1_250));
        // 1250 bytes of debt, which 10 ms pay back.
        assert_eq!(shaper.tokens(Time::ZERO), Tokens::Bytes(-1_250));
        assert_eq!(shaper.tokens(ms(10)), Tokens::Bytes(0));
        assert_eq!(shaper.tokens(ms(1000)), Tokens::Bytes(10_000));
        // 2 packets at 1000 a second: half a millisecond after one has gone, 1.5 are there.
        let mut shaper = thousand_packets(2, false);
        shaper.charge(Time::ZERO, Span::ZERO, Bytes(9));
        let half = Time::ZERO + Span::from_us(500);
        assert_eq!(shaper.tokens(half), Tokens::MilliPackets(1_500));
    }

    #[test]
    fn a_long_pause_fills_the_bucket_no_further_than_its_size() {
        let mut shaper = one_megabit();
        shaper.charge(ms(1000), Span::ZERO, Bytes(10_000));
        // Empty at 1000 ms, whatever the second of silence before it.
        assert_eq!(shaper.eligible_at(Bytes(10_000)), ms(1080));
    }

    #[test]
    fn a_packet_longer_than_the_bucket_leaves_when_the_bucket_is_full() {
        let mut shaper = one_megabit();
        shaper.charge(Time::ZERO, Span::ZERO, Bytes(10_000));
        assert_eq!(shaper.eligible_at(Bytes(12_500)), ms(80));
        shaper.charge(ms(80), Span::ZERO, Bytes(12_500));
        // 12500 bytes were taken from 10000: full again 100 ms later.
        assert_eq!(shaper.eligible_at(Bytes(10_000)), ms(180));
    }

    #[test]
    fn a_debt_is_paid_back_at_the_new_rate() {
        let mut shaper = one_megabit();
        shaper.charge(Time::ZERO, Span::ZERO, Bytes(10_000));
        // At 40 ms 5000 bytes are missing; at 10 Mb/s they are earned in 4 ms.
        let config = ShaperConfig::Bits { rate: Rate::from_mbps(10), burst: Bytes(10_000) };
        shaper.change(config, ms(40));
        assert_eq!(shaper.eligible_at(Bytes(10_000)), ms(44));
    }

    #[test]
    fn packets_a_second_ignore_lengths() {
        let mut shaper = thousand_packets(1, false);
        for packet in 0..5 {
            assert_eq!(shaper.eligible_at(Bytes(64 + packet * 300)), ms(packet));
            shaper.charge(ms(packet), Span::ZERO, Bytes(64 + packet * 300));
        }
    }

    #[test]
    fn missed_turns_are_caught_up_where_that_is_asked_for() {
        // Three packets are there from time 0 on, with turns at 0, 1 and 2 ms; the line is taken
        // until 5 ms.
        let mut shaper = thousand_packets(1, true);
        for turn in 0..3 {
            assert_eq!(shaper.eligible_at(Bytes(64)), ms(turn));
            shaper.charge(ms(5), Span::from_ms(5), Bytes(64));
        }
        // One that arrives later has no turn before it was there, and takes none from those behind.
        shaper.charge(ms(9), Span::ZERO, Bytes(64));
        assert_eq!(shaper.eligible_at(Bytes(64)), ms(10));
        // Without it the turns are counted from when the packets before really left.
        let mut shaper = thousand_packets(1, false);
        shaper.charge(ms(5), Span::from_ms(5), Bytes(64));
        assert_eq!(shaper.eligible_at(Bytes(64)), ms(6));
    }
}
