//! A hash table from fixed-length keys to entries, for exact keys and as a part of the other
//! indexes.
//!
//! Open addressing with linear probing: entries and keys lie in one flat array, so a lookup is one
//! hash and, mostly, one cache line, also where the table is larger than every cache. Removal moves
//! later keys back over the gap, so that there are no tombstones and lookups stay as short after
//! years of changes as after loading. The table doubles when it is two thirds full; everything else
//! is constant time. A table that is declared large has its slots from the start, because moving a
//! million keys would delay packets by milliseconds.
//!
//! ```text
//!   slot   ┌───────┬────────┬─────┐      the entry is NONE where the slot is empty;
//!          │ entry │ limb 0 │ ... │      nearly all keys have one limb: 16 bytes a slot
//!          └───────┴────────┴─────┘
//! ```

/// No entry; also marks an empty slot.
pub const NONE: u32 = u32::MAX;
/// The same in a slot.
const EMPTY: u64 = NONE as u64;
/// Slots of an empty table.
const SLOTS_MIN: usize = 8;

/// From keys of a fixed number of limbs to entry numbers.
#[derive(Clone, Debug)]
pub(crate) struct ExactIndex {
    /// Limbs of a slot: the entry, then the key.
    stride: usize,
    slots: Vec<u64>,
    /// Number of slots less one; there is a power of two of them.
    mask: usize,
    count: usize,
}

const HASH_START: u64 = 0x2545_F491_4F6C_DD1D;

/// Mixes a limb into 64 well spread bits: multiply and fold, as in wyhash.
#[inline(always)]
fn mix(state: u64, limb: u64) -> u64 {
    const MULTIPLIER: u128 = 0x9E37_79B9_7F4A_7C15;
    let product = u128::from(state ^ limb) * MULTIPLIER;
    (product >> 64) as u64 ^ product as u64
}

/// The hash of a key; a slot is chosen by its lowest bits.
#[inline]
pub(crate) fn hash(key: &[u64]) -> u64 {
    key.iter().fold(HASH_START, |state, limb| mix(state, *limb))
}

/// The same for a key of one limb.
#[inline(always)]
pub(crate) fn hash_one(key: u64) -> u64 {
    mix(HASH_START, key)
}

impl ExactIndex {
    pub fn new(limbs: usize) -> ExactIndex {
        let stride = limbs + 1;
        ExactIndex { stride, slots: empty(SLOTS_MIN, stride), mask: SLOTS_MIN - 1, count: 0 }
    }

    /// With room for some keys: until there are more, nothing is ever moved.
    pub fn with_capacity(limbs: usize, keys: usize) -> ExactIndex {
        let slots = (keys * 3).div_ceil(2).next_power_of_two().max(SLOTS_MIN);
        let stride = limbs + 1;
        ExactIndex { stride, slots: empty(slots, stride), mask: slots - 1, count: 0 }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Its memory.
    pub fn size_bytes(&self) -> usize {
        size_of_val(self.slots.as_slice())
    }

    /// How many keys there would be room for if it were full.
    #[cfg(test)]
    pub fn slot_count(&self) -> usize {
        self.mask + 1
    }

    /// The entry of a key, or [`NONE`].
    #[inline]
    pub fn find(&self, key: &[u64]) -> u32 {
        match key {
            [limb] => self.find_one(*limb),
            _ => self.slots[self.start_of(key)] as u32,
        }
    }

    /// The same for the key of a table whose keys have one limb.
    #[inline(always)]
    pub fn find_one(&self, key: u64) -> u32 {
        let (pairs, _) = self.slots.as_chunks::<2>();
        let mut slot = hash_one(key) as usize & self.mask;
        loop {
            let [entry, held] = pairs[slot];
            if held == key || entry == EMPTY {
                return entry as u32;
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// Sets the entry of a key; returns the entry it had, or [`NONE`].
    pub fn insert(&mut self, key: &[u64], value: u32) -> u32 {
        if (self.count + 1) * 3 > (self.mask + 1) * 2 {
            self.grow();
        }
        let start = self.start_of(key);
        if self.slots[start] == EMPTY {
            self.count += 1;
            self.slots[start + 1..start + self.stride].copy_from_slice(key);
        }
        std::mem::replace(&mut self.slots[start], value.into()) as u32
    }

    /// Removes a key; returns the entry it had, or [`NONE`].
    pub fn remove(&mut self, key: &[u64]) -> u32 {
        let stride = self.stride;
        let mut gap = self.start_of(key) / stride;
        let removed = self.slots[gap * stride];
        if removed == EMPTY {
            return NONE;
        }
        self.clear_slot(gap);
        self.count -= 1;
        let mut slot = (gap + 1) & self.mask;
        while self.slots[slot * stride] != EMPTY {
            // A key may move back to the gap unless that is before its home slot.
            let held = &self.slots[slot * stride + 1..(slot + 1) * stride];
            let home = hash(held) as usize & self.mask;
            if (slot.wrapping_sub(home) & self.mask) >= (slot.wrapping_sub(gap) & self.mask) {
                self.slots.copy_within(slot * stride..(slot + 1) * stride, gap * stride);
                self.clear_slot(slot);
                gap = slot;
            }
            slot = (slot + 1) & self.mask;
        }
        removed as u32
    }

    /// All keys with their entries, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], u32)> {
        let slots = self.slots.chunks_exact(self.stride);
        slots.filter(|held| held[0] != EMPTY).map(|held| (&held[1..], held[0] as u32))
    }

    pub fn clear(&mut self) {
        self.slots = empty(self.mask + 1, self.stride);
        self.count = 0;
    }

    /// Where the slot of a key starts, or the empty slot where it would go.
    fn start_of(&self, key: &[u64]) -> usize {
        let mut slot = hash(key) as usize & self.mask;
        loop {
            let start = slot * self.stride;
            let held = &self.slots[start..start + self.stride];
            if held[0] == EMPTY || held[1..] == *key {
                return start;
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// An empty slot has a key of zeros: [`Self::find_one`] may look at the key first.
    fn clear_slot(&mut self, slot: usize) {
        let held = &mut self.slots[slot * self.stride..(slot + 1) * self.stride];
        held.fill(0);
        held[0] = EMPTY;
    }

    fn grow(&mut self) {
        let slots = 2 * (self.mask + 1);
        let old = std::mem::replace(&mut self.slots, empty(slots, self.stride));
        self.mask = slots - 1;
        for held in old.chunks_exact(self.stride).filter(|held| held[0] != EMPTY) {
            let start = self.start_of(&held[1..]);
            self.slots[start..start + self.stride].copy_from_slice(held);
        }
    }
}

/// So many empty slots.
fn empty(count: usize, stride: usize) -> Vec<u64> {
    let mut slots = vec![0; count * stride];
    slots.iter_mut().step_by(stride).for_each(|entry| *entry = EMPTY);
    slots
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Small keys make collisions and moves frequent.
        #[test]
        fn it_agrees_with_an_ordered_map(
            steps in prop::collection::vec((any::<bool>(), 0u64..40, 0u64..2, 0u32..9), 0..200),
        ) {
            let mut index = ExactIndex::new(2);
            let mut model = BTreeMap::new();
            for (insert, first, second, value) in steps {
                let key = [first, second];
                let expected = if insert { model.insert(key, value) } else { model.remove(&key) };
                let found = if insert { index.insert(&key, value) } else { index.remove(&key) };
                prop_assert_eq!(found, expected.unwrap_or(NONE));
                prop_assert_eq!(index.len(), model.len());
            }
            for first in 0..40 {
                for second in 0..2 {
                    let expected = model.get(&[first, second]).copied().unwrap_or(NONE);
                    prop_assert_eq!(index.find(&[first, second]), expected);
                }
            }
        }
    }
}
