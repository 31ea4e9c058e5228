//! Rates in bits and in packets a second.

use std::fmt;
use std::str::FromStr;

use crate::{Bytes, Span};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Bits a second; at least 1. A port without a limit has no `Rate` rather than a huge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// Packets a second; at least 1. The unit of simple_switch's `set_queue_rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketRate(u64);

impl Rate {
    /// `bps` bits a second, or nothing for zero.
    pub const fn from_bps(bps: u64) -> Option<Rate> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// `mbps` million bits a second; panics on zero. For constants.
    pub const fn from_mbps(mbps: u64) -> Rate {
        assert!(mbps > 0, "a rate is at least 1 bit a second");
        Rate(mbps * 1_000_000)
    }

    /// `gbps` thousand million bits a second; panics on zero. For constants.
    pub const fn from_gbps(gbps: u64) -> Rate {
        assert!(gbps > 0, "a rate is at least 1 bit a second");
        Rate(gbps * 1_000_000_000)
    }

    /// Bits a second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// How long `length` occupies a link of this rate, rounded up to a picosecond.
    #[inline]
    pub fn span_of(self, length: Bytes) -> Span {
        // Up to 2.3 MB the product fits a machine word, and so does every packet: a division of
        // 128 bits would cost more than the rest of a packet's way through the router.
        if let Some(bit_ps) = length.count().checked_mul(8 * PS_PER_SECOND as u64) {
            return Span::from_ps(bit_ps.div_ceil(self.0));
        }
        let ps = (u128::from(length.count()) * 8 * PS_PER_SECOND).div_ceil(u128::from(self.0));
        Span::from_ps(ps.min(u128::from(u64::MAX)) as u64)
    }

    /// How many whole bytes pass a link of this rate in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bytes = u128::from(span.ps()) * u128::from(self.0) / (8 * PS_PER_SECOND);
        Bytes(bytes.min(u128::from(u64::MAX)) as u64)
    }
}

impl PacketRate {
    /// `pps` packets a second, or nothing for zero.
    pub const fn from_pps(pps: u64) -> Option<PacketRate> {
        if pps == 0 { None } else { Some(PacketRate(pps)) }
    }

    /// Packets a second.
    pub const fn pps(self) -> u64 {
        self.0
    }

    /// The time between two packets at this rate, rounded up to a picosecond.
    pub fn spacing(self) -> Span {
        Span::from_ps(PS_PER_SECOND.div_ceil(u128::from(self.0)) as u64)
    }
}

/// Prints `1.5 Mb/s`, `10 Gb/s`: what [`Rate::from_str`] reads.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1_000_000_000, "Gb/s"), (1_000_000, "Mb/s"), (1_000, "kb/s")] {
            // A unit is a multiple of 1000, so this loses nothing, and cannot overflow.
            if self.0 >= unit && self.0.is_multiple_of(unit / 1000) {
                let (whole, fraction) = (self.0 / unit, self.0 / (unit / 1000) % 1000);
                return match fraction {
                    0 => write!(f, "{whole} {name}"),
                    _ => {
                        write!(
                            f,
                            "{whole}.{} {name}",
                            format!("{fraction:03}").trim_end_matches('0')
                        )
                    }
                };
            }
        }
        write!(f, "{} b/s", self.0)
    }
}

/// Why a text is no rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseRateError(String);

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a rate: write a positive number and a unit, such as `1.5 Mb/s`, \
             `10 Gb/s` or `512 kb/s`",
            self.0
        )
    }
}

impl std::error::Error for ParseRateError {}

/// Reads a decimal number and a unit: `b/s`, `kb/s`, `Mb/s`, `Gb/s` or iproute2's `bit`, `kbit`,
/// `mbit`, `gbit`. A number without a unit is refused, since its meaning is unclear.
impl FromStr for Rate {
    type Err = ParseRateError;

    fn from_str(text: &str) -> Result<Rate, ParseRateError> {
        parse(text).ok_or_else(|| ParseRateError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Rate> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit_at);
    let factor: u64 = match unit.trim() {
        "b/s" | "bit/s" | "bit" | "bps" => 1,
        "kb/s" | "kbit/s" | "kbit" | "kbps" => 1_000,
        "Mb/s" | "Mbit/s" | "mbit" | "Mbps" => 1_000_000,
        "Gb/s" | "Gbit/s" | "gbit" | "Gbps" => 1_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 9 || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let scale = 10u64.pow(fraction.len() as u32);
    let fraction: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let fraction_bps = u128::from(fraction) * u128::from(factor) / u128::from(scale);
    Rate::from_bps(whole.checked_mul(factor)?.checked_add(fraction_bps as u64)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sixty_four_bytes_at_ten_gigabits_take_51_point_2_nanoseconds() {
        assert_eq!(Rate::from_gbps(10).span_of(Bytes(64)), Span::from_ps(51_200));
    }

    #[test]
    fn a_rate_is_read_with_its_unit_and_refused_without() {
        let good = [("1.5 Mb/s", 1_500_000), ("10gbit", 10_000_000_000), ("512 kb/s", 512_000)];
        for (text, bps) in good {
            assert_eq!(text.parse::<Rate>().map(Rate::bps), Ok(bps), "{text}");
        }
        for text in ["", "10", "0 Mb/s", "-1 Mb/s", "1.2.3 Mb/s", "10 MB/s", "fast", ". Mb/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text:?} must be refused");
        }
    }

    proptest! {
        #[test]
        fn what_a_rate_prints_it_reads_back(bps in 1..1_000_000_000_000u64) {
            let rate = Rate(bps);
            prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
        }

        /// Rounding up means a link never carries more than its rate allows.
        #[test]
        fn a_link_never_runs_faster_than_its_rate(bps in 1..1_000_000_000_000u64, length in 1..100_000u64) {
            let rate = Rate(bps);
            prop_assert!(rate.bytes_in(rate.span_of(Bytes(length))) >= Bytes(length));
            let one_ps_less = rate.span_of(Bytes(length)) - Span::from_ps(1);
            prop_assert!(rate.bytes_in(one_ps_less) < Bytes(length) || bps > 8_000_000_000_000);
        }
    }
}
