//! [`Int`]: a whole number without bounds, in two's complement.
//!
//! The number is a list of 64-bit limbs, least significant first; the last limb's top bit is the
//! sign and repeats for ever. Two's complement makes `&`, `|`, `^` and `!` plain limb operations
//! with P4's meaning for negative numbers, and truncation to `bit<N>` a mask.

use std::cmp::Ordering;
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Neg, Not, Sub};

use smallvec::{SmallVec, smallvec};

/// Limbs held without the heap: 320 bits, so that sums and signed forms of 256-bit fields fit.
const LIMBS_IN_PLACE: usize = 5;

/// A whole number of any size.
///
/// Invariant: never empty, and no limb can be left out without changing the value. So two equal
/// numbers have equal limbs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int {
    limbs: SmallVec<[u64; LIMBS_IN_PLACE]>,
}

impl Int {
    /// Zero.
    pub fn zero() -> Int {
        Int { limbs: smallvec![0] }
    }

    /// One.
    pub fn one() -> Int {
        Int { limbs: smallvec![1] }
    }

    /// The number whose two's complement limbs, least significant first, are given.
    pub fn from_limbs(limbs: &[u64]) -> Int {
        let mut number = Int { limbs: SmallVec::from_slice(limbs) };
        number.normalize();
        number
    }

    /// The number whose limbs, least significant first and without a sign, are given.
    pub fn from_unsigned_limbs(limbs: &[u64]) -> Int {
        if let [limb] = limbs {
            return Int::from(*limb);
        }
        let mut extended = SmallVec::from_slice(limbs);
        extended.push(0);
        let mut number = Int { limbs: extended };
        number.normalize();
        number
    }

    /// The non-negative number written big-endian in `bytes`.
    pub fn from_be_bytes(bytes: &[u8]) -> Int {
        let mut limbs: SmallVec<[u64; LIMBS_IN_PLACE]> = bytes
            .rchunks(8)
            .map(|chunk| chunk.iter().fold(0, |limb, byte| limb << 8 | u64::from(*byte)))
            .collect();
        limbs.push(0);
        let mut number = Int { limbs };
        number.normalize();
        number
    }

    /// Limb `index`, the sign extended beyond those stored.
    pub fn limb(&self, index: usize) -> u64 {
        self.limbs.get(index).copied().unwrap_or(self.sign_limb())
    }

    /// The lowest 64 bits: the number modulo 2^64.
    pub fn low_u64(&self) -> u64 {
        self.limbs[0]
    }

    /// Writes the lowest `bytes.len()` bytes big-endian.
    pub fn write_be_bytes(&self, bytes: &mut [u8]) {
        for (index, chunk) in bytes.rchunks_mut(8).enumerate() {
            let limb = self.limb(index).to_be_bytes();
            let length = chunk.len();
            chunk.copy_from_slice(&limb[8 - length..]);
        }
    }

    /// Below zero.
    pub fn is_negative(&self) -> bool {
        self.sign_limb() != 0
    }

    /// Equal to zero.
    pub fn is_zero(&self) -> bool {
        self.limbs.len() == 1 && self.limbs[0] == 0
    }

    /// Bits needed to write the magnitude: 0 for 0, 1 for 1, 8 for 255 and for -255.
    pub fn bit_length(&self) -> usize {
        if self.is_negative() {
            return (-self).bit_length();
        }
        let top = self.limbs.len() - 1;
        top * 64 + (64 - self.limbs[top].leading_zeros() as usize)
    }

    /// The number, if it is one of `u64`.
    pub fn to_u64(&self) -> Option<u64> {
        match self.limbs[..] {
            [low] if low >> 63 == 0 => Some(low),
            [low, 0] => Some(low),
            _ => None,
        }
    }

    /// The number, if it is one of `i64`.
    pub fn to_i64(&self) -> Option<i64> {
        match self.limbs[..] {
            [low] => Some(low as i64),
            _ => None,
        }
    }

    /// The number, if it is one of `u32`.
    pub fn to_u32(&self) -> Option<u32> {
        self.to_u64().and_then(|value| value.try_into().ok())
    }

    /// `self * 2^count`.
    pub fn shift_left(&self, count: usize) -> Int {
        let (limb_shift, bit_shift) = (count / 64, count % 64);
        let length = self.limbs.len() + limb_shift + 1;
        let mut limbs = SmallVec::with_capacity(length);
        for index in 0..length {
            let at = |offset: usize| {
                index.checked_sub(limb_shift + offset).map_or(0, |position| self.limb(position))
            };
            let carried = if bit_shift == 0 { 0 } else { at(1) >> (64 - bit_shift) };
            limbs.push(at(0) << bit_shift | carried);
        }
        let mut number = Int { limbs };
        number.normalize();
        number
    }

    /// `self / 2^count`, rounded towards minus infinity: P4's arithmetic shift.
    pub fn shift_right(&self, count: usize) -> Int {
        let (limb_shift, bit_shift) = (count / 64, count % 64);
        let length = self.limbs.len().saturating_sub(limb_shift).max(1);
        let mut limbs = SmallVec::with_capacity(length);
        for index in 0..length {
            let low = self.limb(index + limb_shift) >> bit_shift;
            let carried = match bit_shift {
                0 => 0,
                _ => self.limb(index + limb_shift + 1) << (64 - bit_shift),
            };
            limbs.push(low | carried);
        }
        let mut number = Int { limbs };
        number.normalize();
        number
    }

    /// The value of `bit<width>`: modulo 2^width.
    pub fn truncate(&self, width: usize) -> Int {
        let full = width / 64;
        let mut limbs: SmallVec<[u64; LIMBS_IN_PLACE]> =
            (0..full.min(self.limbs.len().max(full))).map(|index| self.limb(index)).collect();
        limbs.push(self.limb(full) & crate::mask64(width % 64));
        // The number is not negative: a zero limb says so, and is removed where it is not needed.
        limbs.push(0);
        let mut number = Int { limbs };
        number.normalize();
        number
    }

    /// The value of `int<width>`: modulo 2^width, in [-2^(width-1), 2^(width-1)). `int<0>` is 0.
    pub fn wrap_signed(&self, width: usize) -> Int {
        let low = self.truncate(width);
        if width > 0 && low.bit(width - 1) { &low - &Int::one().shift_left(width) } else { low }
    }

    /// The nearest value of `bit<width>`.
    pub fn saturate_unsigned(&self, width: usize) -> Int {
        let max = &Int::one().shift_left(width) - &Int::one();
        self.clamp_to(&Int::zero(), &max)
    }

    /// The nearest value of `int<width>`.
    pub fn saturate_signed(&self, width: usize) -> Int {
        if width == 0 {
            return Int::zero();
        }
        let limit = Int::one().shift_left(width - 1);
        self.clamp_to(&-&limit, &(&limit - &Int::one()))
    }

    /// Bit `index` of the two's complement form.
    pub fn bit(&self, index: usize) -> bool {
        self.limb(index / 64) >> (index % 64) & 1 == 1
    }

    /// The number without its sign.
    pub(crate) fn magnitude(&self) -> Int {
        if self.is_negative() { -self } else { self.clone() }
    }

    fn clamp_to(&self, low: &Int, high: &Int) -> Int {
        if self < low {
            low.clone()
        } else if self > high {
            high.clone()
        } else {
            self.clone()
        }
    }

    fn sign_limb(&self) -> u64 {
        ((self.limbs[self.limbs.len() - 1] as i64) >> 63) as u64
    }

    fn normalize(&mut self) {
        while let [.., below, top] = self.limbs[..] {
            if top != ((below as i64) >> 63) as u64 {
                break;
            }
            let _ = self.limbs.pop();
        }
    }

    /// Combines limb by limb, one limb longer than the longer operand so that a carry has room.
    fn zip(&self, other: &Int, mut combine: impl FnMut(u64, u64) -> u64) -> Int {
        let length = self.limbs.len().max(other.limbs.len()) + 1;
        let limbs = (0..length).map(|index| combine(self.limb(index), other.limb(index))).collect();
        let mut number = Int { limbs };
        number.normalize();
        number
    }
}

impl Add for &Int {
    type Output = Int;
    fn add(self, other: &Int) -> Int {
        let mut carry = false;
        self.zip(other, |left, right| {
            let (sum, carried_first) = left.overflowing_add(right);
            let (sum, carried_second) = sum.overflowing_add(u64::from(carry));
            carry = carried_first || carried_second;
            sum
        })
    }
}

impl Sub for &Int {
    type Output = Int;
    fn sub(self, other: &Int) -> Int {
        let mut borrow = false;
        self.zip(other, |left, right| {
            let (difference, borrowed_first) = left.overflowing_sub(right);
            let (difference, borrowed_second) = difference.overflowing_sub(u64::from(borrow));
            borrow = borrowed_first || borrowed_second;
            difference
        })
    }
}

impl Mul for &Int {
    type Output = Int;
    /// School multiplication of the magnitudes: one step for each pair of limbs.
    fn mul(self, other: &Int) -> Int {
        let (left, right) = (self.magnitude(), other.magnitude());
        let mut limbs: SmallVec<[u64; LIMBS_IN_PLACE]> =
            smallvec![0; left.limbs.len() + right.limbs.len() + 1];
        for (index, limb) in left.limbs.iter().enumerate() {
            let end = index + right.limbs.len();
            limbs[end] = add_product(&mut limbs[index..end], *limb, &right.limbs);
        }
        let mut number = Int { limbs };
        number.normalize();
        if self.is_negative() == other.is_negative() { number } else { -&number }
    }
}

/// Adds `factor * limbs` to `sum`, which has as many limbs, and returns the carry.
fn add_product(sum: &mut [u64], factor: u64, limbs: &[u64]) -> u64 {
    steps::add(limbs.len());
    let mut carry = 0;
    for (place, limb) in sum.iter_mut().zip(limbs) {
        let wide = u128::from(factor) * u128::from(*limb) + u128::from(*place) + carry;
        *place = wide as u64;
        carry = wide >> 64;
    }
    carry as u64
}

/// Limb products computed on this thread, counted in tests.
pub(crate) mod steps {
    #[cfg(test)]
    thread_local! {
        static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    pub(crate) fn add(_count: usize) {
        #[cfg(test)]
        STEPS.set(STEPS.get() + _count);
    }

    /// How many `work` takes.
    #[cfg(test)]
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let before = STEPS.get();
        let result = work();
        (result, STEPS.get() - before)
    }
}

impl Neg for &Int {
    type Output = Int;
    fn neg(self) -> Int {
        &Int::zero() - self
    }
}

impl Not for &Int {
    type Output = Int;
    fn not(self) -> Int {
        Int { limbs: self.limbs.iter().map(|limb| !limb).collect() }
    }
}

impl BitAnd for &Int {
    type Output = Int;
    fn bitand(self, other: &Int) -> Int {
        self.zip(other, |left, right| left & right)
    }
}

impl BitOr for &Int {
    type Output = Int;
    fn bitor(self, other: &Int) -> Int {
        self.zip(other, |left, right| left | right)
    }
}

impl BitXor for &Int {
    type Output = Int;
    fn bitxor(self, other: &Int) -> Int {
        self.zip(other, |left, right| left ^ right)
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Int) -> Ordering {
        match (self.is_negative(), other.is_negative()) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Equal signs: in two's complement the unsigned limbs order as the numbers do.
            _ => {
                let length = self.limbs.len().max(other.limbs.len());
                (0..length)
                    .rev()
                    .map(|index| self.limb(index).cmp(&other.limb(index)))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            }
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<u64> for Int {
    fn from(value: u64) -> Int {
        Int::from_limbs(&[value, 0])
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Int {
        Int { limbs: smallvec![value as u64] }
    }
}

impl From<u32> for Int {
    fn from(value: u32) -> Int {
        Int::from(u64::from(value))
    }
}

impl From<i32> for Int {
    fn from(value: i32) -> Int {
        Int::from(i64::from(value))
    }
}

impl From<u128> for Int {
    fn from(value: u128) -> Int {
        Int::from_limbs(&[value as u64, (value >> 64) as u64, 0])
    }
}

impl From<i128> for Int {
    fn from(value: i128) -> Int {
        Int::from_limbs(&[value as u64, (value >> 64) as u64])
    }
}

impl Default for Int {
    fn default() -> Int {
        Int::zero()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn int(value: i128) -> Int {
        Int::from(value)
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_the_machines_where_it_can_follow(a: i64, b: i64) {
            let (x, y) = (i128::from(a), i128::from(b));
            prop_assert_eq!(&int(x) + &int(y), int(x + y));
            prop_assert_eq!(&int(x) - &int(y), int(x - y));
            prop_assert_eq!(&int(x) * &int(y), int(x * y));
            prop_assert_eq!(&int(x) & &int(y), int(x & y));
            prop_assert_eq!(&int(x) | &int(y), int(x | y));
            prop_assert_eq!(&int(x) ^ &int(y), int(x ^ y));
            prop_assert_eq!(!&int(x), int(!x));
            prop_assert_eq!(int(x).cmp(&int(y)), x.cmp(&y));
        }

        #[test]
        fn shifts_agree_with_the_machines(value: i128, count in 0usize..140) {
            let floor = if count > 127 { value >> 127 } else { value >> count };
            prop_assert_eq!(int(value).shift_right(count), int(floor));
            prop_assert_eq!(int(value).shift_left(count).shift_right(count), int(value));
        }

        #[test]
        fn truncation_keeps_the_low_bits(value: i128, width in 0usize..200) {
            let kept = int(value).truncate(width);
            prop_assert!(!kept.is_negative());
            prop_assert!(kept.bit_length() <= width);
            for index in 0..width {
                prop_assert_eq!(kept.bit(index), int(value).bit(index));
            }
        }

        #[test]
        fn bytes_survive_a_round_trip(bytes: Vec<u8>) {
            let mut written = vec![0; bytes.len()];
            Int::from_be_bytes(&bytes).write_be_bytes(&mut written);
            prop_assert_eq!(written, bytes);
        }
    }

    #[test]
    fn multiplication_takes_one_step_for_each_pair_of_limbs() {
        let long = &Int::one().shift_left(64 * 1000) - &Int::from(3);
        let (product, steps) = steps::of(|| &long * &-&long);
        // (B - 3)^2 = B^2 - 6B + 9, and a limb of each holds nothing but the sign.
        let middle = &Int::from(6) * &Int::one().shift_left(64 * 1000);
        assert_eq!(-&product, &(&Int::one().shift_left(64 * 2000) - &middle) + &Int::from(9));
        assert_eq!(steps, 1001 * 1001);
        assert_eq!(steps::of(|| &long * &Int::from(7)).1, 1001);
    }

    #[test]
    fn wrapping_to_a_signed_type_follows_the_p4_text() {
        // docs/JSON_format.md of the standard switch gives these two as examples.
        assert_eq!(int(257).wrap_signed(8), int(1));
        assert_eq!(int(-129).wrap_signed(8), int(127));
        assert_eq!(int(128).wrap_signed(8), int(-128));
    }

    #[test]
    fn saturation_stops_at_the_ends_of_the_type() {
        assert_eq!(int(256).saturate_unsigned(8), int(255));
        assert_eq!(int(-1).saturate_unsigned(8), int(0));
        assert_eq!(int(200).saturate_signed(8), int(127));
        assert_eq!(int(-200).saturate_signed(8), int(-128));
        assert_eq!(int(-5).saturate_signed(8), int(-5));
    }

    #[test]
    fn equal_numbers_have_equal_limbs_however_they_were_made() {
        let large = Int::one().shift_left(700);
        assert_eq!(&(&large - &large) + &Int::one(), Int::one());
        assert_eq!(Int::from_limbs(&[5, 0, 0]), int(5));
        assert_eq!(Int::from_limbs(&[u64::MAX, u64::MAX]), int(-1));
        assert_eq!(large.bit_length(), 701);
    }
}
