//! Instants and spans in picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// Picoseconds in a nanosecond, microsecond, millisecond, second.
const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const MS: u64 = 1_000_000_000;
const S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the device or the simulated world started.
///
/// The core never reads a clock. Its driver passes a `Time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every instant that occurs.
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since the start.
    pub const fn whole_ns(self) -> u64 {
        self.0 / NS
    }

    /// Whole microseconds since the start: what P4 programs see as a timestamp.
    pub const fn whole_us(self) -> u64 {
        self.0 / US
    }

    /// The span from `earlier` to `self`; zero if `earlier` is in fact later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, or [`Time::MAX`] where that is out of range.
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than every run.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Span {
        Span(ps)
    }

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns * NS)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * US)
    }

    /// A span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * MS)
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s * S)
    }

    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds, rounded down.
    pub const fn whole_ns(self) -> u64 {
        self.0 / NS
    }

    /// Whole microseconds, rounded down: the unit of P4's time differences.
    pub const fn whole_us(self) -> u64 {
        self.0 / US
    }

    /// Seconds for a person to read. Never feeds back into the model.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / S as f64
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}

/// The span between two instants; panics if the right one is later. See [`Time::since`].
impl Sub<Time> for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0 * times)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}

/// Prints the largest unit that leaves no more than three decimals, such as `51.2 ns`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            ps if ps < NS => return write!(f, "{ps} ps"),
            ps if ps < US => (NS, "ns"),
            ps if ps < MS => (US, "us"),
            ps if ps < S => (MS, "ms"),
            _ => (S, "s"),
        };
        let thousandths = u128::from(self.0) * 1000 / u128::from(unit);
        let (whole, fraction) = (thousandths / 1000, thousandths % 1000);
        match fraction {
            0 => write!(f, "{whole} {name}"),
            _ => write!(f, "{whole}.{} {name}", format!("{fraction:03}").trim_end_matches('0')),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_prints_in_the_unit_a_person_would_choose() {
        let cases = [
            (Span::from_ps(7), "7 ps"),
            (Span::from_ps(51_200), "51.2 ns"),
            (Span::from_us(120), "120 us"),
            (Span::from_ps(1_234_567_890), "1.234 ms"),
            (Span::from_secs(3), "3 s"),
        ];
        for (span, text) in cases {
            assert_eq!(span.to_string(), text);
        }
    }

    #[test]
    fn since_never_underflows() {
        let (early, late) = (Time::from_ps(5), Time::from_ps(9));
        assert_eq!(late.since(early), Span::from_ps(4));
        assert_eq!(early.since(late), Span::ZERO);
    }
}
