//! The Internet checksum (RFC 1071).

/// The ones' complement sum of `bytes` folded to 16 bits, continuing from `start`.
///
/// An odd last byte counts as the high half of a word, so only the last of several pieces may have
/// an odd length.
pub fn sum(start: u16, bytes: &[u8]) -> u16 {
    // Eight bytes at a time into 128 bits: no carry can be lost in any packet that exists, and the
    // folding happens once. Words are added in native order; the sum's byte order is that of its
    // words (RFC 1071 section 2 (B)), so one swap at the end suffices.
    let mut words = bytes.chunks_exact(8);
    let mut total: u128 = 0;
    for word in &mut words {
        total += u128::from(u64::from_ne_bytes(word.try_into().expect("chunks of eight")));
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        let mut last = [0u8; 8];
        last[..rest.len()].copy_from_slice(rest);
        total += u128::from(u64::from_ne_bytes(last));
    }
    let mut folded = (total >> 64) as u64 as u128 + (total as u64) as u128;
    while folded > 0xffff {
        folded = (folded >> 16) + (folded & 0xffff);
    }
    let native = folded as u16;
    add(start, u16::from_be_bytes(native.to_ne_bytes()))
}

/// The ones' complement sum of two words.
pub const fn add(a: u16, b: u16) -> u16 {
    let (total, carry) = a.overflowing_add(b);
    total + carry as u16
}

/// The checksum field that makes the sum of everything come out as all ones.
pub const fn finish(sum: u16) -> u16 {
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071 read literally, a word at a time.
    fn sum_by_the_book(bytes: &[u8]) -> u16 {
        bytes.chunks(2).fold(0, |total, pair| {
            let low = pair.get(1).copied().unwrap_or(0);
            add(total, u16::from_be_bytes([pair[0], low]))
        })
    }

    #[test]
    fn the_example_of_rfc_1071_sums_to_ddf2() {
        assert_eq!(sum(0, &[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    proptest! {
        #[test]
        fn the_fast_sum_equals_the_book(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(sum(0, &bytes), sum_by_the_book(&bytes));
        }

        #[test]
        fn even_pieces_add_up(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..100) {
            let (left, right) = bytes.split_at((at * 2).min(bytes.len() / 2 * 2));
            prop_assert_eq!(sum(sum(0, left), right), sum(0, &bytes));
        }
    }
}
