//! A hash table from fixed-length keys to entries, for exact keys and as a part of the other
//! indexes.
//!
//! Open addressing with linear probing: the keys lie in one flat array, so a lookup is one hash
//! and, mostly, one cache line. Removal moves later keys back over the gap, so that there are no
//! tombstones and lookups stay as short after years of changes as after loading. The table doubles
//! when it is two thirds full; everything else is constant time.

/// No entry; also marks an empty slot.
pub(crate) const NONE: u32 = u32::MAX;

/// From keys of `stride` limbs to entry numbers.
#[derive(Clone, Debug)]
pub(crate) struct ExactIndex {
    stride: usize,
    keys: Vec<u64>,
    values: Vec<u32>,
    count: usize,
}

/// Mixes all limbs into 64 well spread bits: multiply and fold, as in wyhash.
#[inline(always)]
fn hash(key: &[u64]) -> usize {
    const MULTIPLIER: u128 = 0x9E37_79B9_7F4A_7C15;
    let mixed = key.iter().fold(0x2545_F491_4F6C_DD1Du64, |state, limb| {
        let product = u128::from(state ^ limb) * MULTIPLIER;
        (product >> 64) as u64 ^ product as u64
    });
    mixed as usize
}

impl ExactIndex {
    pub fn new(stride: usize) -> ExactIndex {
        ExactIndex { stride, keys: vec![0; 8 * stride], values: vec![NONE; 8], count: 0 }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The entry of a key, or [`NONE`].
    #[inline]
    pub fn find(&self, key: &[u64]) -> u32 {
        self.values[self.slot(key)]
    }

    /// Sets the entry of a key; returns the entry it had, or [`NONE`].
    pub fn insert(&mut self, key: &[u64], value: u32) -> u32 {
        if (self.count + 1) * 3 > self.values.len() * 2 {
            self.grow();
        }
        let slot = self.slot(key);
        if self.values[slot] == NONE {
            self.count += 1;
            self.keys[slot * self.stride..][..self.stride].copy_from_slice(key);
        }
        std::mem::replace(&mut self.values[slot], value)
    }

    /// Removes a key; returns the entry it had, or [`NONE`].
    pub fn remove(&mut self, key: &[u64]) -> u32 {
        let mut gap = self.slot(key);
        let removed = std::mem::replace(&mut self.values[gap], NONE);
        if removed == NONE {
            return NONE;
        }
        self.count -= 1;
        let mask = self.values.len() - 1;
        let mut slot = (gap + 1) & mask;
        while self.values[slot] != NONE {
            // A key may move back to the gap unless that is before its home slot.
            let home = hash(self.key(slot)) & mask;
            if (slot.wrapping_sub(home) & mask) >= (slot.wrapping_sub(gap) & mask) {
                self.values[gap] = self.values[slot];
                self.values[slot] = NONE;
                let start = slot * self.stride;
                self.keys.copy_within(start..start + self.stride, gap * self.stride);
                gap = slot;
            }
            slot = (slot + 1) & mask;
        }
        removed
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        *self = ExactIndex::new(self.stride);
    }

    fn key(&self, slot: usize) -> &[u64] {
        &self.keys[slot * self.stride..][..self.stride]
    }

    /// The slot of a key, or the empty slot where it would go.
    #[inline]
    fn slot(&self, key: &[u64]) -> usize {
        let mask = self.values.len() - 1;
        let mut slot = hash(key) & mask;
        // Nearly all keys have one limb, where a comparison of slices would be a call.
        if let [limb] = key {
            while self.values[slot] != NONE && self.keys[slot] != *limb {
                slot = (slot + 1) & mask;
            }
            return slot;
        }
        while self.values[slot] != NONE && self.key(slot) != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let capacity = self.values.len() * 2;
        let keys = std::mem::replace(&mut self.keys, vec![0; capacity * self.stride]);
        let values = std::mem::replace(&mut self.values, vec![NONE; capacity]);
        for (key, value) in keys.chunks_exact(self.stride).zip(values) {
            if value != NONE {
                let slot = self.slot(key);
                self.values[slot] = value;
                self.keys[slot * self.stride..][..self.stride].copy_from_slice(key);
            }
        }
    }
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
