//! Ternary and range match: tuple-space search.
//!
//! All entries with the same mask form a tuple, and a tuple is a hash table from masked keys to
//! entries: one probe a tuple instead of one comparison an entry. Real tables have few distinct
//! masks. Tuples are kept in the order of the best priority they hold, so the search ends at the
//! first tuple that cannot beat what was found.
//!
//! A range `[low, high]` joins the tuple whose mask is the bits that `low` and `high` share, and
//! is compared in full when its slot is hit. Entries that share mask and masked key (other
//! priorities, other ranges) form a chain in the order of priority.
//!
//! V. Srinivasan, S. Suri, G. Varghese, "Packet classification using tuple space search", 1999;
//! the order by priority is that of Open vSwitch (B. Pfaff et al., NSDI 2015, section 5.2).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::exact::NONE;
use crate::room::with_room;
use crate::segments::Segments;

/// The approximate memory of a mask without a key.
const MASK_BYTES: usize = 512;
/// The hash table of a mask has room for at least this many keys.
const KEYS_PER_MASK: usize = 8;
/// Slots that a key has in a hash table, at most.
const SLOTS_PER_KEY: usize = 3;

/// One entry as this index sees it.
#[derive(Clone, Debug)]
struct Item {
    /// The highest wins; equals in the order of entry numbers.
    priority: i32,
    /// The next entry of the chain, or [`NONE`].
    next: u32,
}

/// Entries with one mask.
#[derive(Clone, Debug)]
struct Tuple {
    mask: Vec<u64>,
    /// From masked keys to the first entry of a chain.
    chains: Segments,
    /// How many entries there are of each priority.
    priorities: BTreeMap<i32, u32>,
    /// The highest of them.
    best: i32,
}

/// A range over some bits of one limb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub limb: u32,
    pub shift: u8,
    pub mask: u64,
    pub low: u64,
    pub high: u64,
}

/// From keys with masks, ranges and priorities to entries.
#[derive(Clone, Debug)]
pub(crate) struct TernaryIndex {
    stride: usize,
    tuples: Vec<Tuple>,
    /// By entry number.
    items: Vec<Item>,
    /// Ranges of each entry, `range_count` apiece.
    ranges: Vec<Range>,
    range_count: usize,
}

impl Range {
    #[inline]
    fn holds(&self, key: &[u64]) -> bool {
        let value = key[self.limb as usize] >> self.shift & self.mask;
        self.low <= value && value <= self.high
    }
}

impl TernaryIndex {
    /// With room for some entries.
    pub fn new(stride: usize, range_count: usize, entries: usize) -> TernaryIndex {
        TernaryIndex {
            stride,
            tuples: Vec::new(),
            items: with_room(entries),
            ranges: with_room(entries * range_count),
            range_count,
        }
    }

    /// Its approximate memory.
    pub fn size_bytes(&self) -> usize {
        let slot = (self.stride + 1) * size_of::<u64>();
        let ranges = self.range_count * size_of::<Range>();
        let item = size_of::<Item>() + ranges + SLOTS_PER_KEY * slot;
        self.items.len() * item + self.tuples.len() * (MASK_BYTES + KEYS_PER_MASK * slot)
    }

    /// How many masks there are: a change looks through them, as a packet does.
    pub fn mask_count(&self) -> usize {
        self.tuples.len()
    }

    /// The matching entry of the highest priority, or [`NONE`]. `masked` is room for a key.
    #[inline]
    pub fn find(&self, key: &[u64], masked: &mut [u64]) -> u32 {
        let (mut found, mut priority) = (NONE, i32::MIN);
        for tuple in &self.tuples {
            if found != NONE && tuple.best <= priority {
                break;
            }
            for ((masked, limb), mask) in masked.iter_mut().zip(key).zip(&tuple.mask) {
                *masked = limb & mask;
            }
            let entry = tuple.chains.find(masked);
            (found, priority) = self.better(entry, key, (found, priority));
        }
        found
    }

    /// The same for keys of one limb.
    #[inline]
    pub fn find_one(&self, key: u64) -> u32 {
        let (mut found, mut priority) = (NONE, i32::MIN);
        for tuple in &self.tuples {
            if found != NONE && tuple.best <= priority {
                break;
            }
            let entry = tuple.chains.find_one(key & tuple.mask[0]);
            if entry != NONE {
                (found, priority) = self.better(entry, &[key], (found, priority));
            }
        }
        found
    }

    /// The first of a chain that matches, if it beats what was found before.
    #[inline(always)]
    fn better(&self, first: u32, key: &[u64], (found, priority): (u32, i32)) -> (u32, i32) {
        let mut entry = first;
        while entry != NONE {
            let item = &self.items[entry as usize];
            if found != NONE && item.priority <= priority {
                break;
            }
            if self.in_ranges(entry, key) {
                return (entry, item.priority);
            }
            entry = item.next;
        }
        (found, priority)
    }

    /// The entry with exactly this key, mask, ranges and priority, or [`NONE`].
    pub fn find_same(&self, key: &[u64], mask: &[u64], ranges: &[Range], priority: i32) -> u32 {
        let Some(tuple) = self.tuples.iter().find(|tuple| tuple.mask == mask) else { return NONE };
        let mut entry = tuple.chains.find(key);
        while entry != NONE {
            let item = &self.items[entry as usize];
            if item.priority == priority && self.ranges_of(entry) == ranges {
                break;
            }
            entry = item.next;
        }
        entry
    }

    /// Adds an entry that is not there yet; the key has no bit outside the mask.
    pub fn insert(
        &mut self,
        key: &[u64],
        mask: &[u64],
        ranges: &[Range],
        priority: i32,
        entry: u32,
    ) {
        debug_assert_eq!((ranges.len(), mask.len()), (self.range_count, self.stride));
        let at = entry as usize;
        if self.items.len() <= at {
            self.items.resize(at + 1, Item { priority: 0, next: NONE });
            let none = Range { limb: 0, shift: 0, mask: 0, low: 0, high: 0 };
            self.ranges.resize((at + 1) * self.range_count, none);
        }
        self.ranges[at * self.range_count..][..self.range_count].copy_from_slice(ranges);
        let position = match self.tuples.iter().position(|tuple| tuple.mask == mask) {
            Some(position) => position,
            None => {
                let chains = Segments::new(self.stride);
                let priorities = BTreeMap::new();
                // Its place is found below, from the end, where the worst is.
                let best = i32::MIN;
                self.tuples.push(Tuple { mask: mask.to_vec(), chains, priorities, best });
                self.tuples.len() - 1
            }
        };
        let tuple = &mut self.tuples[position];
        *tuple.priorities.entry(priority).or_insert(0) += 1;
        // Into the chain, behind all that come before it.
        let first = tuple.chains.find(key);
        let (mut before, mut next) = (NONE, first);
        while next != NONE
            && (Reverse(self.items[next as usize].priority), next) < (Reverse(priority), entry)
        {
            (before, next) = (next, self.items[next as usize].next);
        }
        self.items[at] = Item { priority, next };
        if before == NONE {
            let _ = tuple.chains.insert(key, entry);
        } else {
            self.items[before as usize].next = entry;
        }
        self.move_to_its_place(position);
    }

    /// Removes an entry given as it was added.
    pub fn remove(&mut self, key: &[u64], mask: &[u64], entry: u32) {
        let Some(position) = self.tuples.iter().position(|tuple| tuple.mask == mask) else {
            return;
        };
        let tuple = &mut self.tuples[position];
        let Item { priority, next } = self.items[entry as usize];
        let first = tuple.chains.find(key);
        if first == entry {
            let _ = match next {
                NONE => tuple.chains.remove(key),
                next => tuple.chains.insert(key, next),
            };
        } else {
            let mut before = first;
            while self.items[before as usize].next != entry {
                before = self.items[before as usize].next;
            }
            self.items[before as usize].next = next;
        }
        if let Some(count) = tuple.priorities.get_mut(&priority) {
            *count -= 1;
            if *count == 0 {
                let _ = tuple.priorities.remove(&priority);
            }
        }
        if tuple.chains.len() == 0 {
            let _ = self.tuples.remove(position);
        } else {
            self.move_to_its_place(position);
        }
    }

    pub fn clear(&mut self) {
        self.tuples.clear();
        self.items.clear();
        self.ranges.clear();
    }

    fn ranges_of(&self, entry: u32) -> &[Range] {
        &self.ranges[entry as usize * self.range_count..][..self.range_count]
    }

    #[inline]
    fn in_ranges(&self, entry: u32, key: &[u64]) -> bool {
        self.range_count == 0 || self.ranges_of(entry).iter().all(|range| range.holds(key))
    }

    /// Finds out the best priority of a tuple that has changed, and puts it behind all that are
    /// better; the others are in order already.
    fn move_to_its_place(&mut self, position: usize) {
        let tuple = &mut self.tuples[position];
        let best = tuple.priorities.last_key_value().map_or(i32::MIN, |(highest, _)| *highest);
        let before = std::mem::replace(&mut tuple.best, best);
        let (front, back) = self.tuples.split_at(position);
        if best > before {
            let place = front.partition_point(|other| other.best >= best);
            self.tuples[place..=position].rotate_right(1);
        } else if best < before {
            let passed = back[1..].partition_point(|other| other.best > best);
            self.tuples[position..=position + passed].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Model = Vec<(u64, u64, Range, i32, u32)>;

    fn highest(model: &Model, key: u64) -> Option<i32> {
        model
            .iter()
            .filter(|(value, mask, range, ..)| key & mask == *value && range.holds(&[key]))
            .map(|(.., priority, _)| *priority)
            .max()
    }

    /// Each entry has a mask of its own; after every change, the best are tried first.
    #[test]
    fn masks_stay_in_the_order_of_their_best_priority() {
        let mut index = TernaryIndex::new(1, 0, 0);
        let order =
            |index: &TernaryIndex| index.tuples.iter().map(|it| it.best).collect::<Vec<_>>();
        for (entry, priority) in [3, 1, 4, 1, 5].into_iter().enumerate() {
            index.insert(&[0], &[1 << entry], &[], priority, entry as u32);
        }
        assert_eq!(order(&index), [5, 4, 3, 1, 1]);
        // The mask of priority 1 that came first gets a better entry, then loses it again.
        index.insert(&[2], &[2], &[], 9, 5);
        assert_eq!(order(&index), [9, 5, 4, 3, 1]);
        index.remove(&[2], &[2], 5);
        assert_eq!(order(&index), [5, 4, 3, 1, 1]);
        index.remove(&[0], &[1 << 2], 2);
        assert_eq!((order(&index), index.mask_count()), (vec![5, 3, 1, 1], 4));
    }

    proptest! {
        #[test]
        fn it_finds_a_match_of_the_highest_priority(
            steps in prop::collection::vec(
                (any::<bool>(), 0u64..64, 0usize..4, 0u64..8, 0u64..8, 0i32..4), 0..80),
        ) {
            let mut index = TernaryIndex::new(1, 1, 0);
            let mut model: Model = Vec::new();
            for (number, (insert, value, mask, a, b, priority)) in steps.into_iter().enumerate() {
                let mask = [0u64, 0x30, 0x3f, 0x38][mask];
                let (value, entry) = (value & mask, number as u32);
                let range = Range { limb: 0, shift: 0, mask: 7, low: a.min(b), high: a.max(b) };
                let same = index.find_same(&[value], &[mask], &[range], priority);
                let known = model.iter().find(|item| {
                    (item.0, item.1, item.2, item.3) == (value, mask, range, priority)
                });
                prop_assert_eq!(same, known.map_or(NONE, |item| item.4));
                if insert && same == NONE {
                    index.insert(&[value], &[mask], &[range], priority, entry);
                    model.push((value, mask, range, priority, entry));
                } else if same != NONE {
                    index.remove(&[value], &[mask], same);
                    model.retain(|item| item.4 != same);
                }
                for key in 0..64u64 {
                    let found = index.find(&[key], &mut [0]);
                    prop_assert_eq!(index.find_one(key), found);
                    let priority = model.iter().find(|item| item.4 == found).map(|item| item.3);
                    prop_assert_eq!(priority, highest(&model, key));
                }
            }
        }
    }
}
