//! Quotient and remainder.

use crate::Int;

impl Int {
    /// `self / divisor` rounded towards zero, and the remainder, which has the sign of `self`.
    /// `None` where the divisor is zero.
    ///
    /// A divisor of one limb takes a step for each limb of the dividend. Any other takes one for
    /// each bit: P4 divides compile-time constants and, in the standard switch, fields, which are
    /// short.
    pub fn divide(&self, divisor: &Int) -> Option<(Int, Int)> {
        if divisor.is_zero() {
            return None;
        }
        let (dividend, positive) = (magnitude(self), magnitude(divisor));
        if let (Some(left), Some(right)) = (dividend.to_u64(), positive.to_u64()) {
            return Some(signed(self, divisor, Int::from(left / right), Int::from(left % right)));
        }
        if let Some(right) = positive.to_u64() {
            let (quotient, remainder) = by_limb(&dividend, right);
            return Some(signed(self, divisor, quotient, Int::from(remainder)));
        }
        let mut quotient = Int::zero();
        let mut remainder = Int::zero();
        for index in (0..dividend.bit_length()).rev() {
            remainder = remainder.shift_left(1);
            if dividend.bit(index) {
                remainder = &remainder | &Int::one();
            }
            quotient = quotient.shift_left(1);
            if remainder >= positive {
                remainder = &remainder - &positive;
                quotient = &quotient | &Int::one();
            }
        }
        Some(signed(self, divisor, quotient, remainder))
    }
}

/// Long division of a number that is not negative, a limb at a time.
fn by_limb(dividend: &Int, divisor: u64) -> (Int, u64) {
    let length = dividend.bit_length() / 64 + 1;
    let mut limbs = vec![0; length + 1];
    let mut remainder = 0;
    for index in (0..length).rev() {
        let part = u128::from(remainder) << 64 | u128::from(dividend.limb(index));
        limbs[index] = (part / u128::from(divisor)) as u64;
        remainder = (part % u128::from(divisor)) as u64;
    }
    (Int::from_limbs(&limbs), remainder)
}

fn magnitude(number: &Int) -> Int {
    if number.is_negative() { -number } else { number.clone() }
}

fn signed(dividend: &Int, divisor: &Int, quotient: Int, remainder: Int) -> (Int, Int) {
    let differ = dividend.is_negative() != divisor.is_negative();
    (
        if differ { -&quotient } else { quotient },
        if dividend.is_negative() { -&remainder } else { remainder },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn division_agrees_with_the_machines(a: i128, b: i64) {
            prop_assume!(b != 0);
            let b = i128::from(b);
            prop_assume!(!(a == i128::MIN && b == -1));
            let (quotient, remainder) = Int::from(a).divide(&Int::from(b)).unwrap();
            prop_assert_eq!(quotient, Int::from(a / b));
            prop_assert_eq!(remainder, Int::from(a % b));
        }
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        assert!(Int::one().divide(&Int::zero()).is_none());
    }
}
