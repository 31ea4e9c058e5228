//! Longest-prefix match: a multibit trie with controlled prefix expansion.
//!
//! ```text
//!  key  0a 00 01 17          a node of 256 slots, one for each value of 8 bits:
//!        │  │  │  │          ┌────────────────┬──────────────────┐
//!        │  │  │  └─ node 4  │ child node + 1 │ best entry + 1   │   0: none
//!        │  │  └─ node 3     └────────────────┴──────────────────┘
//!        │  └─ node 2        The best entry is the longest prefix that ends in this node
//!        └─ root             and covers the slot.
//! ```
//!
//! A lookup walks down while there are children and remembers the last entry seen: at most four
//! loads for IPv4, three where the root has 16 bits. Inserting a prefix writes the slots it covers
//! in one node: at most 256, also under a root of 16 bits, because prefixes of up to 8 bits have a
//! node of their own beside it, which is read last. Deleting a prefix puts the next shorter one of
//! its node there; a bit for each prefix that a node may hold identifies it, so that the hash table
//! of all prefixes is read once, not once a length. Nothing is ever rebuilt.
//!
//! V. Srinivasan and G. Varghese, "Fast address lookups using controlled prefix expansion", 1999;
//! the bits are the internal bitmap of W. Eatherton, G. Varghese and Z. Dittia, "Tree bitmap", 2004.

use crate::exact::{ExactIndex, NONE};
use crate::room::{RESERVED_SIZE_MAX, reserved, with_room};

/// Slots of a node below the root.
const NODE: usize = 256;
/// A table declared to hold this many entries gets a root of 16 bits (512 kB).
const LARGE_TABLE: usize = 1 << 13;
/// Bits of a node's slots, and of the prefixes that share one node beside a large root.
const NODE_BITS: u32 = 8;
/// Nodes for which an index has room from the start, by the size of its table: addresses of IPv4
/// that have nothing in common take up to three.
const NODES_PER_ENTRY: usize = 2;
/// Room for this many nodes at the most: 512 MB of addresses.
const RESERVED_NODES_MAX: usize = 1 << 18;
/// Limbs of the bits that say which prefixes a node holds: the prefix of length `l` below the node
/// and value `v` is bit `2^l + v`, so that halving the number leads to the next shorter one.
const HELD_LIMBS: usize = 2 * NODE / 64;

/// From prefixes of a key, together with exact keys, to entries.
#[derive(Clone, Debug)]
pub(crate) struct LpmIndex {
    /// Limbs of the exact keys in front; without any there is one trie.
    exact_limbs: usize,
    /// Limbs of the prefix key, which is aligned to the most significant bit.
    prefix_limbs: usize,
    root_bits: u32,
    /// How far behind a root the node of the shortest prefixes lies; 0 where that is the root.
    short_offset: u32,
    /// Root node of each combination of exact keys.
    roots: ExactIndex,
    /// Nodes of [`NODE`] slots, one after the other; a root may take several.
    slots: Vec<u64>,
    /// Slots in use of each node below a root.
    used: Vec<u32>,
    /// Which prefixes end in each node, [`HELD_LIMBS`] apiece.
    held: Vec<u64>,
    free: Vec<u32>,
    /// Every prefix: exact limbs, masked prefix limbs, length.
    prefixes: ExactIndex,
    /// Prefix length of each entry.
    lengths: Vec<u16>,
}

/// Where in the trie a prefix lives.
struct Span {
    node: u32,
    first: usize,
    count: usize,
    bits: u32,
    /// The prefix among those of its node; see [`HELD_LIMBS`].
    held: usize,
    /// The length of the shortest prefixes that the node may hold.
    shortest: u32,
}

impl LpmIndex {
    pub fn new(exact_limbs: usize, prefix_limbs: usize, size: usize) -> LpmIndex {
        let is_large = exact_limbs == 0 && size >= LARGE_TABLE;
        let root_bits = if is_large { 16 } else { NODE_BITS };
        let mut index = LpmIndex {
            exact_limbs,
            prefix_limbs,
            root_bits,
            short_offset: if is_large { 1 << (root_bits - NODE_BITS) } else { 0 },
            roots: match exact_limbs {
                0 => ExactIndex::new(1),
                limbs => ExactIndex::with_capacity(limbs, reserved(size)),
            },
            slots: Vec::new(),
            used: Vec::new(),
            held: Vec::new(),
            free: Vec::new(),
            prefixes: ExactIndex::with_capacity(exact_limbs + prefix_limbs + 1, reserved(size)),
            lengths: with_room(size.min(RESERVED_SIZE_MAX)),
        };
        let nodes = size.saturating_mul(NODES_PER_ENTRY).clamp(NODE, RESERVED_NODES_MAX);
        index.slots = with_room(nodes * NODE);
        index.held = with_room(nodes * HELD_LIMBS);
        index.used = with_room(nodes);
        index.free = with_room(nodes);
        if exact_limbs == 0 {
            // The only root is node 0.
            let _ = index.new_root();
        }
        index
    }

    /// The entry with the longest prefix of `key`, or [`NONE`].
    #[inline]
    pub fn find(&self, key: &[u64]) -> u32 {
        let (exact, prefix) = key.split_at(self.exact_limbs);
        let root = match self.exact_limbs {
            0 => 0,
            _ => self.roots.find(exact),
        };
        if root == NONE {
            return NONE;
        }
        let at = root as usize * NODE + (prefix[0] >> (64 - self.root_bits)) as usize;
        let mut slot = self.slots[at];
        let mut best = slot as u32;
        let mut depth = self.root_bits;
        while slot >> 32 != 0 {
            let byte = prefix[depth as usize / 64] >> (56 - depth % 64) & 0xff;
            slot = self.slots[((slot >> 32) as usize - 1) * NODE + byte as usize];
            if slot as u32 != 0 {
                best = slot as u32;
            }
            depth += NODE_BITS;
        }
        if best == 0 {
            let short = (root + self.short_offset) as usize * NODE;
            best = self.slots[short + (prefix[0] >> 56) as usize] as u32;
        }
        best.wrapping_sub(1)
    }

    /// The same for a table whose key is one prefix of up to 64 bits.
    #[inline(always)]
    pub fn find_one(&self, prefix: u64) -> u32 {
        let mut slot = self.slots[(prefix >> (64 - self.root_bits)) as usize];
        let mut rest = prefix << self.root_bits;
        let mut best = slot as u32;
        while slot >> 32 != 0 {
            slot = self.slots[((slot >> 32) as usize - 1) * NODE + (rest >> 56) as usize];
            rest <<= NODE_BITS;
            if slot as u32 != 0 {
                best = slot as u32;
            }
        }
        if best == 0 {
            best = self.slots[self.short_offset as usize * NODE + (prefix >> 56) as usize] as u32;
        }
        best.wrapping_sub(1)
    }

    /// The entry of exactly this prefix, or [`NONE`].
    pub fn find_prefix(&self, key: &[u64], length: u32) -> u32 {
        self.prefixes.find(&self.prefix_key(key, length))
    }

    /// Adds a prefix that is not there yet.
    pub fn insert(&mut self, key: &[u64], length: u32, entry: u32) {
        let prefix_key = self.prefix_key(key, length);
        let replaced = self.prefixes.insert(&prefix_key, entry);
        debug_assert_eq!(replaced, NONE);
        if self.lengths.len() <= entry as usize {
            self.lengths.resize(entry as usize + 1, 0);
        }
        self.lengths[entry as usize] = length as u16;
        let span = self.descend(&prefix_key, length);
        self.held[span.held / 64] |= 1 << (span.held % 64);
        for at in self.range(&span) {
            let held = self.slots[at] as u32;
            // Only a prefix that is at least as long stays.
            if held == 0 || u32::from(self.lengths[held as usize - 1]) <= length {
                self.set_entry(span.node, at, entry + 1);
            }
        }
    }

    /// Removes a prefix; returns the entry it had, or [`NONE`].
    pub fn remove(&mut self, key: &[u64], length: u32) -> u32 {
        let prefix_key = self.prefix_key(key, length);
        let entry = self.prefixes.remove(&prefix_key);
        if entry == NONE {
            return NONE;
        }
        let span = self.descend(&prefix_key, length);
        self.held[span.held / 64] &= !(1 << (span.held % 64));
        let shorter = self.next_shorter(&span, length);
        let successor = shorter.map_or(0, |length| self.find_prefix(&prefix_key, length) + 1);
        for at in self.range(&span) {
            if self.slots[at] as u32 == entry + 1 {
                self.set_entry(span.node, at, successor);
            }
        }
        self.prune(&prefix_key, length);
        entry
    }

    /// Its memory.
    pub fn size_bytes(&self) -> usize {
        let nodes = size_of_val(self.slots.as_slice()) + size_of_val(self.held.as_slice());
        nodes + self.roots.size_bytes() + self.prefixes.size_bytes()
    }

    /// The length of the longest prefix in the node of `span` that is shorter than `length` and
    /// covers its slots.
    fn next_shorter(&self, span: &Span, length: u32) -> Option<u32> {
        let start = span.node as usize * HELD_LIMBS * 64;
        let mut number = span.held - start;
        (span.shortest..length).rev().find(|_| {
            number /= 2;
            let bit = start + number;
            self.held[bit / 64] >> (bit % 64) & 1 != 0
        })
    }

    pub fn clear(&mut self) {
        self.roots.clear();
        self.prefixes.clear();
        self.slots.clear();
        self.held.clear();
        self.used.clear();
        self.free.clear();
        self.lengths.clear();
        if self.exact_limbs == 0 {
            let _ = self.new_root();
        }
    }

    /// Exact limbs, the first `length` bits of the prefix key, and the length.
    fn prefix_key(&self, key: &[u64], length: u32) -> Vec<u64> {
        let limbs = self.exact_limbs + self.prefix_limbs;
        let mut prefix_key = Vec::with_capacity(limbs + 1);
        prefix_key.extend_from_slice(&key[..limbs]);
        for (index, limb) in prefix_key[self.exact_limbs..].iter_mut().enumerate() {
            let kept = length.saturating_sub(index as u32 * 64).min(64);
            *limb &= !(u64::MAX.checked_shr(kept).unwrap_or(0));
        }
        prefix_key.push(length.into());
        prefix_key
    }

    /// Bits `depth .. depth + bits` of the prefix key.
    fn bits_of(&self, prefix_key: &[u64], depth: u32, bits: u32) -> usize {
        let limb = prefix_key[self.exact_limbs + depth as usize / 64];
        (limb << (depth % 64) >> (64 - bits)) as usize
    }

    /// Walks to the node a prefix ends in, adding nodes on the way.
    fn descend(&mut self, prefix_key: &[u64], length: u32) -> Span {
        let mut node = match self.exact_limbs {
            0 => 0,
            limbs => match self.roots.find(&prefix_key[..limbs]) {
                NONE => {
                    let root = self.new_root();
                    let _ = self.roots.insert(&prefix_key[..limbs], root);
                    root
                }
                root => root,
            },
        };
        let (mut depth, mut bits) = (0, self.root_bits);
        if length <= NODE_BITS {
            (node, bits) = (node + self.short_offset, NODE_BITS);
        }
        while length > depth + bits {
            let at = node as usize * NODE + self.bits_of(prefix_key, depth, bits);
            let child = match self.slots[at] >> 32 {
                0 => {
                    let child = self.new_node();
                    self.change_slot(
                        node,
                        at,
                        (u64::from(child) + 1) << 32 | self.slots[at] & 0xffff_ffff,
                    );
                    child
                }
                child => child as u32 - 1,
            };
            (node, depth, bits) = (child, depth + bits, NODE_BITS);
        }
        let free_bits = depth + bits - length;
        let value = self.bits_of(prefix_key, depth, bits) >> free_bits;
        let held = node as usize * HELD_LIMBS * 64 + (1 << (length - depth)) + value;
        let shortest = match depth {
            0 if bits > NODE_BITS => NODE_BITS + 1,
            0 => 0,
            depth => depth + 1,
        };
        Span { node, first: value << free_bits, count: 1 << free_bits, bits, held, shortest }
    }

    fn range(&self, span: &Span) -> std::ops::Range<usize> {
        debug_assert!(span.first + span.count <= 1 << span.bits);
        let start = span.node as usize * NODE + span.first;
        start..start + span.count
    }

    /// Gives back the nodes on the way to a prefix that hold nothing any more.
    fn prune(&mut self, prefix_key: &[u64], length: u32) {
        loop {
            let root = if self.exact_limbs == 0 {
                0
            } else {
                self.roots.find(&prefix_key[..self.exact_limbs])
            };
            let (mut node, mut depth, mut bits) = (root, 0, self.root_bits);
            let mut parent = None;
            while length > depth + bits {
                let at = node as usize * NODE + self.bits_of(prefix_key, depth, bits);
                match self.slots[at] >> 32 {
                    0 => break,
                    child => {
                        parent = Some((node, at));
                        (node, depth, bits) = (child as u32 - 1, depth + bits, NODE_BITS);
                    }
                }
            }
            match parent {
                Some((above, at)) if self.used[node as usize] == 0 => {
                    self.change_slot(above, at, self.slots[at] & 0xffff_ffff);
                    self.free.push(node);
                }
                _ => return,
            }
        }
    }

    fn set_entry(&mut self, node: u32, at: usize, entry: u32) {
        self.change_slot(node, at, self.slots[at] >> 32 << 32 | u64::from(entry));
    }

    fn change_slot(&mut self, node: u32, at: usize, slot: u64) {
        let before = std::mem::replace(&mut self.slots[at], slot);
        let used = &mut self.used[node as usize];
        *used += u32::from(slot != 0);
        *used -= u32::from(before != 0);
    }

    fn new_root(&mut self) -> u32 {
        let nodes = (1usize << self.root_bits) / NODE;
        let root = self.used.len() as u32;
        self.add_nodes(if self.short_offset > 0 { nodes + 1 } else { nodes });
        root
    }

    fn new_node(&mut self) -> u32 {
        if let Some(node) = self.free.pop() {
            return node;
        }
        let node = self.used.len() as u32;
        self.add_nodes(1);
        node
    }

    fn add_nodes(&mut self, count: usize) {
        self.slots.resize(self.slots.len() + count * NODE, 0);
        self.held.resize(self.held.len() + count * HELD_LIMBS, 0);
        self.used.resize(self.used.len() + count, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The definition: try every length, longest first.
    fn longest(model: &BTreeMap<(u64, u64, u32), u32>, exact: u64, key: u64) -> u32 {
        let masked = |length: u32| key & !u64::MAX.checked_shr(length).unwrap_or(0);
        let found = (0..=32).rev().find_map(|length| model.get(&(exact, masked(length), length)));
        found.copied().unwrap_or(NONE)
    }

    proptest! {
        #[test]
        fn it_finds_what_trying_every_length_finds(
            steps in prop::collection::vec((any::<bool>(), 0u64..2, 0u64..64, 0u32..33), 0..120),
            large: bool,
            exact_limbs in 0usize..2,
        ) {
            let size = if large { LARGE_TABLE } else { 0 };
            let mut index = LpmIndex::new(exact_limbs, 1, size);
            let mut model = BTreeMap::new();
            // Few distinct addresses, spread over the 32 bits, so that prefixes nest.
            let address = |seed: u64| (seed << 58) | (seed << 45) | (seed << 32);
            for (number, (insert, exact, seed, length)) in steps.into_iter().enumerate() {
                let exact = if exact_limbs == 0 { 0 } else { exact };
                let key = [exact, address(seed)];
                let key = &key[1 - exact_limbs..];
                let masked = address(seed) & !u64::MAX.checked_shr(length).unwrap_or(0);
                if insert && index.find_prefix(key, length) == NONE {
                    index.insert(key, length, number as u32);
                    model.insert((exact, masked, length), number as u32);
                } else {
                    let expected = model.remove(&(exact, masked, length)).unwrap_or(NONE);
                    prop_assert_eq!(index.remove(key, length), expected);
                }
            }
            for seed in 0..64 {
                for exact in 0..=exact_limbs as u64 {
                    let key = [exact, address(seed)];
                    let found = index.find(&key[1 - exact_limbs..]);
                    prop_assert_eq!(found, longest(&model, exact, address(seed)));
                    if exact_limbs == 0 {
                        prop_assert_eq!(index.find_one(address(seed)), found);
                    }
                }
            }
        }
    }

    /// Packets wait while slots are written, so no prefix may cover many: those of up to 8 bits lie
    /// beside the root of 2^16, longer ones cover at most 2^(16 - 9) of its slots.
    #[test]
    fn no_prefix_of_a_large_table_covers_more_slots_than_a_node_has() {
        for length in 0..=32 {
            let mut index = LpmIndex::new(0, 1, LARGE_TABLE);
            index.insert(&[0], length, 7);
            let written = index.slots.iter().filter(|slot| **slot as u32 != 0).count();
            assert!((1..=NODE).contains(&written), "{written} for a prefix of {length} bits");
            assert_eq!((index.find(&[0]), index.find_one(0)), (7, 7));
            assert_eq!(index.remove(&[0], length), 7);
            assert!(index.slots.iter().all(|slot| *slot == 0));
            assert!(index.held.iter().all(|bits| *bits == 0));
        }
    }

    #[test]
    fn removing_everything_gives_all_nodes_back() {
        let mut index = LpmIndex::new(0, 2, 0);
        // 128-bit keys, as for IPv6: 2001:db8::/32 and one host below it.
        let (network, host) = ([0x2001_0db8_0000_0000, 0], [0x2001_0db8_0000_0000, 1]);
        index.insert(&network, 32, 0);
        index.insert(&host, 128, 1);
        assert_eq!((index.find(&host), index.find(&network)), (1, 0));
        assert_eq!((index.remove(&host, 128), index.remove(&network, 32)), (1, 0));
        assert_eq!(index.find(&host), NONE);
        assert_eq!(index.used.iter().sum::<u32>(), 0);
        assert_eq!(index.free.len(), index.used.len() - 1);
    }
}
