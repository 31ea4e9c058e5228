//! A hash table that grows a segment at a time, for an unknown number of keys: a table that doubles
//! moves all its keys at once, and packets wait meanwhile.
//!
//! ```text
//!   hash 10110…        directory         segments: hash tables of at most SEGMENT_KEYS_MAX keys
//!        │└┬┘          ┌───┐
//!        └─┴─ highest  │ 0 │ 00 ─┐
//!             bits     │ 0 │ 01 ─┴─ segment 0: all keys that begin with 0
//!                      │ 1 │ 10 ─── segment 1: those that begin with 10
//!                      │ 2 │ 11 ─── segment 2: those that begin with 11
//!                      └───┘
//! ```
//!
//! A full segment is split in two by the next bit of its keys' hashes; if the directory tells no
//! segments apart by that bit yet, it is doubled. So an insertion moves at most the keys of one
//! segment, some ten microseconds; and a removal frees at most the slots of one, that of its last
//! key.
//!
//! R. Fagin, J. Nievergelt, N. Pippenger, H. R. Strong, "Extendible hashing", 1979.

use crate::exact::{ExactIndex, NONE, hash, hash_one};

/// Keys of a segment before it is split.
const SEGMENT_KEYS_MAX: usize = 512;
/// The directory is never larger than 2 to this; segments grow then, which takes 2^29 keys or a
/// very unlucky choice of them.
const DIRECTORY_BITS_MAX: u32 = 20;

/// From keys of a fixed number of limbs to entry numbers.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    limbs: usize,
    /// The directory has 2 to this many places.
    bits: u32,
    directory: Vec<u32>,
    segments: Vec<Segment>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Segment {
    /// How many of the highest bits of a hash all its keys share.
    bits: u32,
    keys: ExactIndex,
}

impl Segments {
    pub fn new(limbs: usize) -> Segments {
        let segments = vec![Segment { bits: 0, keys: ExactIndex::new(limbs) }];
        Segments { limbs, bits: 0, directory: vec![0], segments, count: 0 }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The entry of a key, or [`NONE`].
    #[inline]
    pub fn find(&self, key: &[u64]) -> u32 {
        self.segments[self.segment_of(hash(key))].keys.find(key)
    }

    /// The same for keys of one limb.
    #[inline(always)]
    pub fn find_one(&self, key: u64) -> u32 {
        self.segments[self.segment_of(hash_one(key))].keys.find_one(key)
    }

    /// Sets the entry of a key; returns the entry it had, or [`NONE`].
    pub fn insert(&mut self, key: &[u64], value: u32) -> u32 {
        let hash = hash(key);
        while self.is_full(self.segment_of(hash)) {
            self.split(self.segment_of(hash));
        }
        let at = self.segment_of(hash);
        let replaced = self.segments[at].keys.insert(key, value);
        self.count += usize::from(replaced == NONE);
        replaced
    }

    /// Removes a key; returns the entry it had, or [`NONE`].
    pub fn remove(&mut self, key: &[u64]) -> u32 {
        let at = self.segment_of(hash(key));
        let keys = &mut self.segments[at].keys;
        let removed = keys.remove(key);
        self.count -= usize::from(removed != NONE);
        if keys.len() == 0 && removed != NONE {
            // Freed here, so that little is left when the whole is dropped: to free millions of
            // slots in one go would delay packets.
            *keys = ExactIndex::new(self.limbs);
        }
        removed
    }

    #[inline(always)]
    fn segment_of(&self, hash: u64) -> usize {
        // In two shifts, because one by 64 is none.
        self.directory[(hash >> 1 >> (63 - self.bits)) as usize] as usize
    }

    fn is_full(&self, at: usize) -> bool {
        let segment = &self.segments[at];
        segment.keys.len() >= SEGMENT_KEYS_MAX && segment.bits < DIRECTORY_BITS_MAX
    }

    fn split(&mut self, at: usize) {
        if self.segments[at].bits == self.bits {
            self.directory = self.directory.iter().flat_map(|place| [*place; 2]).collect();
            self.bits += 1;
        }
        let new = self.segments.len();
        let segment = &mut self.segments[at];
        segment.bits += 1;
        let bits = segment.bits;
        let is_upper = move |key: &[u64]| hash(key) >> (64 - bits) & 1 != 0;
        // With room for the keys that are about to move: to grow into it would move them again.
        let half = || ExactIndex::with_capacity(self.limbs, SEGMENT_KEYS_MAX / 2);
        let mut halves = [half(), half()];
        for (key, value) in segment.keys.iter() {
            let _new = halves[usize::from(is_upper(key))].insert(key, value);
        }
        let [lower, upper] = halves;
        segment.keys = lower;
        self.segments.push(Segment { bits, keys: upper });
        // Of the places of the old segment, those with the new bit set lead to the new one.
        let below = self.bits - bits;
        for (place, segment) in self.directory.iter_mut().enumerate() {
            if *segment as usize == at && place >> below & 1 != 0 {
                *segment = new as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 keys take at least 20000 / 512 = 40 segments.
    #[test]
    fn keys_stay_where_they_are_found_while_segments_split() {
        let mut index = Segments::new(2);
        for number in 0..20_000u32 {
            assert_eq!(index.insert(&[number.into(), 7], number), NONE);
        }
        assert!(index.segments.len() >= 40, "{}", index.segments.len());
        assert!(index.segments.iter().all(|it| it.keys.len() <= SEGMENT_KEYS_MAX));
        assert_eq!(index.len(), 20_000);
        for number in 0..20_000u32 {
            assert_eq!(index.find(&[number.into(), 7]), number);
            assert_eq!(index.find(&[number.into(), 8]), NONE);
        }
        assert_eq!(index.insert(&[1, 7], 9), 1, "replaced");
        for number in 0..20_000u32 {
            assert_ne!(index.remove(&[number.into(), 7]), NONE);
        }
        assert_eq!((index.len(), index.find(&[1, 7])), (0, NONE));
    }

    /// 20,000 keys have 2 to 4 slots each. A removal gives back at most those of one segment, which
    /// is never larger than twice as many as it has keys at the most; the last leaves next to none.
    #[test]
    fn slots_go_a_segment_at_a_time() {
        let mut index = Segments::new(1);
        (0..20_000u32).for_each(|number| {
            index.insert(&[number.into()], number);
        });
        let slots = |index: &Segments| -> usize {
            index.segments.iter().map(|segment| segment.keys.slot_count()).sum()
        };
        let mut before = slots(&index);
        assert!((30_000..80_000).contains(&before), "{before}");
        for number in 0..20_000u64 {
            assert_ne!(index.remove(&[number]), NONE);
            let after = slots(&index);
            assert!(before - after <= 2 * SEGMENT_KEYS_MAX, "{before} to {after}");
            before = after;
        }
        assert!(before <= 8 * index.segments.len(), "{before} are left");
    }

    #[test]
    fn keys_of_one_limb_are_found_either_way() {
        let mut index = Segments::new(1);
        (0..5_000u32).for_each(|number| {
            index.insert(&[u64::from(number) << 40], number);
        });
        assert!((0..5_000u64).all(|it| index.find_one(it << 40) == index.find(&[it << 40])));
    }
}
