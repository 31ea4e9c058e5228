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
//! in one node (at most 256, or 65,536 in a large root), deleting it puts the next shorter prefix
//! of that node there, found in a hash table of all prefixes. Nothing is ever rebuilt.
//!
//! V. Srinivasan and G. Varghese, "Fast address lookups using controlled prefix expansion", 1999.

use super::exact::{ExactIndex, NONE};
use super::reserved;

/// Slots of a node below the root.
const NODE: usize = 256;
/// A table declared to hold this many entries gets a root of 16 bits (512 kB).
const LARGE_TABLE: usize = 1 << 15;

/// From prefixes of a key, together with exact keys, to entries.
#[derive(Clone, Debug)]
pub(crate) struct LpmIndex {
    /// Limbs of the exact keys in front; without any there is one trie.
    exact_limbs: usize,
    /// Limbs of the prefix key, which is aligned to the most significant bit.
    prefix_limbs: usize,
    root_bits: u32,
    /// Root node of each combination of exact keys.
    roots: ExactIndex,
    /// Nodes of [`NODE`] slots, one after the other; a root may take several.
    slots: Vec<u64>,
    /// Slots in use of each node below a root.
    used: Vec<u32>,
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
    /// Bits above the node.
    depth: u32,
    bits: u32,
}

impl LpmIndex {
    pub fn new(exact_limbs: usize, prefix_limbs: usize, size: usize) -> LpmIndex {
        let root_bits = if exact_limbs == 0 && size >= LARGE_TABLE { 16 } else { 8 };
        let mut index = LpmIndex {
            exact_limbs,
            prefix_limbs,
            root_bits,
            roots: ExactIndex::new(exact_limbs.max(1)),
            slots: Vec::new(),
            used: Vec::new(),
            free: Vec::new(),
            prefixes: ExactIndex::with_capacity(exact_limbs + prefix_limbs + 1, reserved(size)),
            lengths: Vec::new(),
        };
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
            depth += 8;
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
            rest <<= 8;
            if slot as u32 != 0 {
                best = slot as u32;
            }
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
        // The prefixes that end in this node are longer than its depth; the root has length 0 too.
        let shortest = if span.depth == 0 { 0 } else { span.depth + 1 };
        let shorter = (shortest..length)
            .rev()
            .map(|length| self.find_prefix(&prefix_key, length))
            .find(|found| *found != NONE);
        let successor = shorter.map_or(0, |found| found + 1);
        for at in self.range(&span) {
            if self.slots[at] as u32 == entry + 1 {
                self.set_entry(span.node, at, successor);
            }
        }
        self.prune(&prefix_key, length);
        entry
    }

    /// Removes all prefixes.
    pub fn clear(&mut self) {
        self.roots.clear();
        self.prefixes.clear();
        (self.slots, self.used, self.free) = (Vec::new(), Vec::new(), Vec::new());
        self.lengths = Vec::new();
        if self.exact_limbs == 0 {
            let _ = self.new_root();
        }
    }

    /// Exact limbs, the first `length` bits of the prefix key, and the length.
    fn prefix_key(&self, key: &[u64], length: u32) -> Vec<u64> {
        let mut prefix_key = key[..self.exact_limbs + self.prefix_limbs].to_vec();
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
            (node, depth, bits) = (child, depth + bits, 8);
        }
        let free_bits = depth + bits - length;
        let first = self.bits_of(prefix_key, depth, bits) >> free_bits << free_bits;
        Span { node, first, count: 1 << free_bits, depth, bits }
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
                        (node, depth, bits) = (child as u32 - 1, depth + bits, 8);
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
        self.slots.resize(self.slots.len() + nodes * NODE, 0);
        self.used.resize(self.used.len() + nodes, 0);
        root
    }

    fn new_node(&mut self) -> u32 {
        if let Some(node) = self.free.pop() {
            return node;
        }
        let node = self.used.len() as u32;
        self.slots.resize(self.slots.len() + NODE, 0);
        self.used.push(0);
        node
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
