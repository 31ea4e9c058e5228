//! Lengths in bytes, and the one thing the traffic manager needs to know of a packet.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// The number.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Eight times the number.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

/// Anything that occupies a link for a while. The traffic manager asks a packet nothing else, so
/// its tests can queue plain lengths.
pub trait HasLength {
    /// The frame's length on the link: layer 2 header to end of payload, without preamble, gap
    /// and frame check sequence (a port's configured overhead adds those).
    fn length(&self) -> Bytes;

    /// Prefetches the parts that are in slow memory, for use soon, so that nothing waits for them
    /// then. Changes nothing.
    #[inline(always)]
    fn approach(&self, _distance: Distance) {}
}

/// How soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Not next, but among those after.
    Far,
    /// Next; it was far before.
    Near,
}

impl HasLength for Bytes {
    fn length(&self) -> Bytes {
        *self
    }
}
