//! Sequence numbers of TCP (RFC 9293, section 3.4), which go round.

use core::cmp::Ordering;
use core::ops::{Add, AddAssign, Sub};

/// A place in a stream: counts bytes, and starts again at 0 after 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNumber(pub u32);

value_as!(SeqNumber, u32, SeqNumber, |number: SeqNumber| number.0);

impl SeqNumber {
    /// Bytes from `earlier` to here.
    pub const fn since(self, earlier: SeqNumber) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    pub fn max(self, other: SeqNumber) -> SeqNumber {
        if self < other { other } else { self }
    }

    pub fn min(self, other: SeqNumber) -> SeqNumber {
        if other < self { other } else { self }
    }
}

/// By which of two is ahead on the shorter way around. Holds among numbers less than 2^31 apart, as
/// those of a window are; there is no order of all numbers.
impl PartialOrd for SeqNumber {
    fn partial_cmp(&self, other: &SeqNumber) -> Option<Ordering> {
        Some((self.0.wrapping_sub(other.0) as i32).cmp(&0))
    }
}

impl Add<u32> for SeqNumber {
    type Output = SeqNumber;

    fn add(self, bytes: u32) -> SeqNumber {
        SeqNumber(self.0.wrapping_add(bytes))
    }
}

impl Sub<u32> for SeqNumber {
    type Output = SeqNumber;

    fn sub(self, bytes: u32) -> SeqNumber {
        SeqNumber(self.0.wrapping_sub(bytes))
    }
}

impl AddAssign<u32> for SeqNumber {
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}
