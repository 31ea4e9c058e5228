//! Sums of parts are sums of the whole, however it is cut, and an update is a new computation.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::Sum;
use wire::checksum::{fold, updated};

/// RFC 1071 read literally, a word at a time.
fn sum_by_the_book(bytes: &[u8]) -> Sum {
    bytes.chunks(2).fold(Sum::ZERO, |total, pair| {
        let low = pair.get(1).copied().unwrap_or(0);
        total.add(u16::from_be_bytes([pair[0], low]))
    })
}

/// 0 and 0xffff are one number.
fn same(a: Sum, b: Sum) -> bool {
    let plain = |sum: Sum| if sum.word() == 0xffff { 0 } else { sum.word() };
    plain(a) == plain(b)
}

#[test]
fn the_example_of_rfc_1071_sums_to_ddf2() {
    let sum = Sum::of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
    assert_eq!((sum.word(), sum.checksum()), (0xddf2, 0x220d));
}

#[test]
fn the_example_of_rfc_1624_updates_dd2f_to_0000() {
    // Section 4: 0x5555 becomes 0x3285. An update that subtracts from the checksum itself
    // (equation 2) says 0xffff, which no computation does.
    assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
}

#[test]
fn zero_is_the_sum_of_zeros_only() {
    assert_eq!(Sum::of(&[0; 40]), Sum::ZERO);
    assert_eq!(Sum::of(&[0xff; 2]).word(), 0xffff);
    assert_eq!(Sum::of(&[0xff; 200]).word(), 0xffff);
    assert_eq!(fold(u64::MAX).word(), 0xffff);
}

proptest! {
    #[test]
    fn the_fast_sum_equals_the_book(bytes in vec(any::<u8>(), 0..2000)) {
        prop_assert_eq!(Sum::of(&bytes), sum_by_the_book(&bytes));
    }

    #[test]
    fn a_total_of_words_folds_to_their_sum(words in vec(any::<u16>(), 0..100)) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let total = words.iter().map(|word| u64::from(*word)).sum();
        prop_assert_eq!(fold(total), Sum::of(&bytes));
    }

    #[test]
    fn parts_add_up_wherever_they_are_cut(bytes in vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>()) {
        let (left, right) = bytes.split_at(at.index(bytes.len() + 1));
        prop_assert_eq!(Sum::of(left).join_at(left.len(), Sum::of(right)), Sum::of(&bytes));
        if left.len() % 2 == 0 {
            prop_assert_eq!(Sum::of(left).then(right), Sum::of(&bytes));
        }
    }

    /// As splitting a super-packet needs it: a word is taken out and another put in, and what comes
    /// out is spelled like the sum of the changed bytes, zero included.
    #[test]
    fn a_changed_word_need_not_be_summed_with_the_rest(
        mut bytes in vec(any::<u8>(), 2..60),
        at in any::<prop::sample::Index>(),
        word in any::<u16>(),
    ) {
        bytes[0] |= 0x40; // like the version of an IP header: not all is zero
        let at = at.index(bytes.len() / 2) * 2;
        let before = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let sum_before = Sum::of(&bytes);
        bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
        prop_assume!(bytes.iter().any(|byte| *byte != 0));
        prop_assert_eq!(sum_before.remove(before).add(word), Sum::of(&bytes));
    }

    #[test]
    fn an_updated_checksum_is_right_if_it_was_and_as_wrong_as_it_was(
        words in vec(any::<u16>(), 2..30),
        at in any::<prop::sample::Index>(),
        after in any::<u16>(),
        error in any::<u16>(),
    ) {
        // The checksum is the first word; the error is what is added to it.
        let sum_of = |words: &[u16]| words.iter().fold(Sum::ZERO, |sum, word| sum.add(*word));
        let mut words = words;
        let checksum = sum_of(&words[1..]).checksum();
        words[0] = Sum::from_word(checksum).add(error).word();
        let wrong_by = sum_of(&words);
        let at = 1 + at.index(words.len() - 1);
        words[0] = updated(words[0], words[at], after);
        words[at] = after;
        prop_assert!(same(sum_of(&words), wrong_by));
    }
}
