//! Quotient and remainder.

use crate::Int;
use crate::int::steps;

impl Int {
    /// `self / divisor` rounded towards zero, and the remainder, which has the sign of `self`.
    /// `None` where the divisor is zero.
    ///
    /// Takes a step for each pair of a quotient's and a divisor's limb.
    pub fn divide(&self, divisor: &Int) -> Option<(Int, Int)> {
        if divisor.is_zero() {
            return None;
        }
        let (dividend, positive) = (self.magnitude(), divisor.magnitude());
        if let (Some(left), Some(right)) = (dividend.to_u64(), positive.to_u64()) {
            return Some(signed(self, divisor, Int::from(left / right), Int::from(left % right)));
        }
        if let Some(right) = positive.to_u64() {
            let (quotient, remainder) = by_limb(&dividend, right);
            return Some(signed(self, divisor, quotient, Int::from(remainder)));
        }
        let (quotient, remainder) = by_limbs(&dividend, &positive);
        Some(signed(self, divisor, quotient, remainder))
    }
}

/// Long division of numbers that are not negative, the divisor at least two limbs long.
// spec: Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D
fn by_limbs(dividend: &Int, divisor: &Int) -> (Int, Int) {
    let length = divisor.bit_length().div_ceil(64);
    if dividend < divisor {
        return (Int::zero(), dividend.clone());
    }
    // With the divisor's top bit set, the quotient limb estimated from two limbs is at most 2 too
    // large.
    let shift = length * 64 - divisor.bit_length();
    let (scaled, divisor) = (dividend.shift_left(shift), divisor.shift_left(shift));
    let divisor: Vec<u64> = (0..length).map(|index| divisor.limb(index)).collect();
    let count = scaled.bit_length().div_ceil(64);
    // One limb more, as the sign of a number may be in it.
    let mut rest: Vec<u64> = (0..=count).map(|index| scaled.limb(index)).collect();
    let mut quotient = vec![0; count - length + 1];
    for place in (0..quotient.len()).rev() {
        let window = &mut rest[place..=place + length];
        quotient[place] = quotient_limb(window, &divisor);
    }
    let remainder = Int::from_unsigned_limbs(&rest[..length]).shift_right(shift);
    (Int::from_unsigned_limbs(&quotient), remainder)
}

/// One limb of a quotient. Takes the multiple of the divisor off `window`, which is one limb longer.
fn quotient_limb(window: &mut [u64], divisor: &[u64]) -> u64 {
    let length = divisor.len();
    let top = u128::from(window[length]) << 64 | u128::from(window[length - 1]);
    let mut estimate = top / u128::from(divisor[length - 1]);
    let mut rest = top % u128::from(divisor[length - 1]);
    while estimate >> 64 != 0
        || estimate * u128::from(divisor[length - 2])
            > (rest << 64 | u128::from(window[length - 2]))
    {
        estimate -= 1;
        rest += u128::from(divisor[length - 1]);
        if rest >> 64 != 0 {
            break;
        }
    }
    if subtract_product(window, estimate as u64, divisor) {
        // It was one too large after all.
        estimate -= 1;
        let mut carry = false;
        for (place, limb) in window.iter_mut().zip(divisor.iter().chain([&0])) {
            let (sum, first) = place.overflowing_add(*limb);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*place, carry) = (sum, first || second);
        }
    }
    estimate as u64
}

/// Takes `factor * limbs` off `window`, which is one limb longer, and says whether that was too much.
fn subtract_product(window: &mut [u64], factor: u64, limbs: &[u64]) -> bool {
    steps::add(limbs.len());
    let (mut carry, mut borrow) = (0u128, false);
    for (place, limb) in window.iter_mut().zip(limbs.iter().chain([&0])) {
        let product = u128::from(factor) * u128::from(*limb) + carry;
        carry = product >> 64;
        let (difference, first) = place.overflowing_sub(product as u64);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (*place, borrow) = (difference, first || second);
    }
    borrow
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

    proptest! {
        #[test]
        fn long_division_undoes_multiplication(
            divisor in proptest::collection::vec(edge_limb(), 2..6),
            quotient in proptest::collection::vec(edge_limb(), 1..6),
            less in 0u64..3,
        ) {
            let [divisor, quotient] =
                [divisor, quotient].map(|limbs| Int::from_unsigned_limbs(&limbs));
            prop_assume!(!divisor.is_zero());
            let dividend = &(&divisor * &quotient) - &Int::from(less);
            let (found, remainder) = dividend.divide(&divisor).unwrap();
            prop_assert_eq!(&(&found * &divisor) + &remainder, dividend);
            prop_assert!(remainder.magnitude() < divisor);
        }
    }

    /// Limbs at which estimates of quotients go wrong, and any other.
    fn edge_limb() -> impl Strategy<Value = u64> {
        let edge = |limb: u64| Just(limb);
        prop_oneof![
            edge(0),
            edge(1),
            edge(u64::MAX),
            edge(1 << 63),
            edge((1 << 63) - 1),
            any::<u64>()
        ]
    }

    #[test]
    fn a_long_division_takes_a_step_for_each_pair_of_limbs() {
        let dividend = &Int::one().shift_left(64 * 512) - &Int::one();
        let divisor = &Int::one().shift_left(64 * 256) - &Int::one();
        let ((quotient, remainder), steps) = steps::of(|| dividend.divide(&divisor).unwrap());
        assert_eq!(quotient, &Int::one().shift_left(64 * 256) + &Int::one());
        assert!(remainder.is_zero());
        assert_eq!(steps, 257 * 256);
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        assert!(Int::one().divide(&Int::zero()).is_none());
    }
}
