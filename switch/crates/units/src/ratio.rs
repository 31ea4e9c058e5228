//! A positive fraction of whole numbers: a fabric's speedup, a threshold's alpha.

use std::fmt;

/// `over / under`, both at least 1. Kept as given; compared by value.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    over: u32,
    under: u32,
}

impl Ratio {
    /// One to one.
    pub const ONE: Ratio = Ratio { over: 1, under: 1 };

    /// `over / under`, or nothing if either is zero.
    pub const fn new(over: u32, under: u32) -> Option<Ratio> {
        if over == 0 || under == 0 { None } else { Some(Ratio { over, under }) }
    }

    /// The number above the line.
    pub const fn over(self) -> u32 {
        self.over
    }

    /// The number below the line.
    pub const fn under(self) -> u32 {
        self.under
    }

    /// `value * self`, rounded down.
    pub fn of(self, value: u64) -> u64 {
        (u128::from(value) * u128::from(self.over) / u128::from(self.under)) as u64
    }

    /// `value / self`, rounded up.
    #[inline]
    pub fn into_parts_of(self, value: u64) -> u64 {
        if let Some(product) = value.checked_mul(u64::from(self.under)) {
            return product.div_ceil(u64::from(self.over));
        }
        (u128::from(value) * u128::from(self.under)).div_ceil(u128::from(self.over)) as u64
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> std::cmp::Ordering {
        let cross = |a: u32, b: u32| u64::from(a) * u64::from(b);
        cross(self.over, other.under).cmp(&cross(other.over, self.under))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.under {
            1 => write!(f, "{}", self.over),
            _ => write!(f, "{}/{}", self.over, self.under),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_fractions_are_equal_however_written() {
        assert_eq!(Ratio::new(2, 4), Ratio::new(1, 2));
        assert!(Ratio::new(3, 2) > Ratio::new(4, 3));
        assert_eq!(Ratio::new(1, 0), None);
    }

    #[test]
    fn half_again_of_ten_is_fifteen_and_ten_holds_seven_of_them() {
        let half_again = Ratio::new(3, 2).expect("both parts are positive");
        assert_eq!(half_again.of(10), 15);
        // 10 / 1.5 = 6.67, rounded up.
        assert_eq!(half_again.into_parts_of(10), 7);
    }
}
