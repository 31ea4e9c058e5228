//! The contents of streams and datagrams: bytes that follow from their place.
//!
//! Byte `n` of a stream is byte `n % 8` (little-endian) of the word `mix(key) + (n / 8) * STEP`. So
//! no payload is kept: it is written when a segment is built and checked when one arrives, and a
//! byte that is lost, doubled or displaced is found. A stream's key is its initial sequence number,
//! which survives a router that rewrites addresses.
//!
//! A frame knows whether its last bytes are still those that the sender wrote ([`frames::Seal`]).
//! So the sender attaches a [`note`]: their place in the stream, and their sum. A receiver of the
//! frame with the note has the sum for the checksum, and compares the place instead of the bytes. A
//! damaged frame comes without, and is read.

use wire::Sum;
use wire::checksum::fold;

/// Odd, and no two of its bytes are equal: neighbouring words differ everywhere.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const WORD: usize = 8;

/// Spreads a key over a word (SplitMix64's finish).
fn mix(key: u64) -> u64 {
    let z = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The contents of a frame's seal for a piece of a stream.
pub(crate) fn note(key: u64, offset: u64, sum: Sum) -> u64 {
    mix(key ^ mix(offset)) & !0xffff | u64::from(sum.word())
}

/// The sum in a note.
pub(crate) fn noted_sum(note: u64) -> Sum {
    Sum::from_word(note as u16)
}

/// Whether a note is about the bytes of stream `key` at `offset`.
pub(crate) fn is_noted(key: u64, offset: u64, note: u64) -> bool {
    self::note(key, offset, noted_sum(note)) == note
}

/// Writes the bytes of stream `key` that begin at `offset`, and returns their sum.
pub(crate) fn write(key: u64, offset: u64, bytes: &mut [u8]) -> Sum {
    let (mut word, lead) = first_word(key, offset, bytes.len());
    let (head, rest) = bytes.split_at_mut(lead);
    if lead > 0 {
        let skip = (offset % WORD as u64) as usize;
        head.copy_from_slice(&word.to_le_bytes()[skip..skip + lead]);
        word = word.wrapping_add(STEP);
    }
    let (words, tail) = rest.as_chunks_mut::<WORD>();
    // Both halves of each word, so that no carry is lost; the sum of swapped bytes is the swapped
    // sum.
    let mut total = 0u64;
    for chunk in words {
        *chunk = word.to_le_bytes();
        total += (word & 0xffff_ffff) + (word >> 32);
        word = word.wrapping_add(STEP);
    }
    tail.copy_from_slice(&word.to_le_bytes()[..tail.len()]);
    let words = Sum::from_word(fold(total).word().swap_bytes());
    Sum::of(head).join_at(lead, words.then(tail))
}

/// Whether `bytes` are those of stream `key` at `offset`.
pub(crate) fn is_right(key: u64, offset: u64, bytes: &[u8]) -> bool {
    let (mut word, lead) = first_word(key, offset, bytes.len());
    let (head, rest) = bytes.split_at(lead);
    let mut wrong = 0u64;
    if lead > 0 {
        let skip = (offset % WORD as u64) as usize;
        wrong |= u64::from(head != &word.to_le_bytes()[skip..skip + lead]);
        word = word.wrapping_add(STEP);
    }
    let (words, tail) = rest.as_chunks::<WORD>();
    for chunk in words {
        wrong |= u64::from_le_bytes(*chunk) ^ word;
        word = word.wrapping_add(STEP);
    }
    wrong == 0 && tail == &word.to_le_bytes()[..tail.len()]
}

/// The word in which `offset` lies, and how many bytes come before the next whole one.
fn first_word(key: u64, offset: u64, length: usize) -> (u64, usize) {
    let word = mix(key).wrapping_add((offset / WORD as u64).wrapping_mul(STEP));
    let inside = (offset % WORD as u64) as usize;
    (word, if inside == 0 { 0 } else { (WORD - inside).min(length) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However a stream is cut, its bytes are the same.
        #[test]
        fn pieces_are_parts_of_the_whole(key: u64, from in 0..200usize, length in 0..200usize, far in 0..u64::MAX / 2) {
            let mut whole = [0; 400];
            write(key, far, &mut whole);
            let mut piece = vec![0; length];
            let sum = write(key, far + from as u64, &mut piece);
            prop_assert_eq!(sum.checksum() % 0xffff, Sum::of(&piece).checksum() % 0xffff);
            prop_assert_eq!(&piece[..], &whole[from..from + length]);
            prop_assert!(is_right(key, far + from as u64, &piece));
        }

        /// One wrong bit, or the right bytes at a wrong place, are found.
        #[test]
        fn what_is_wrong_is_found(key: u64, offset in 0..10_000u64, at in 0..100usize, bit in 0..8u32, shift in 1..50u64) {
            let mut bytes = [0; 100];
            write(key, offset, &mut bytes);
            prop_assert!(!is_right(key, offset + shift, &bytes));
            prop_assert!(!is_right(key ^ 1, offset, &bytes));
            let note = note(key, offset, Sum::of(&bytes));
            prop_assert_eq!(noted_sum(note), Sum::of(&bytes));
            prop_assert!(is_noted(key, offset, note));
            prop_assert!(!is_noted(key, offset + shift, note) && !is_noted(key ^ 1, offset, note));
            bytes[at] ^= 1 << bit;
            prop_assert!(!is_right(key, offset, &bytes));
        }
    }
}
