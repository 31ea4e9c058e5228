//! [`Measured`]: a map that knows what it takes of the memory.

use std::collections::BTreeMap;
use std::ops::Deref;

use p4runtime::translate::profile::GroupState;
use p4runtime::translate::replication::{CloneSession, MulticastGroup};
use p4runtime::translate::table::Attachment;

/// A map of things that controllers wrote.
#[derive(Clone, Debug)]
pub(super) struct Measured<K, V> {
    map: BTreeMap<K, V>,
    size_bytes: u64,
}

/// The memory of something that is kept for controllers.
pub(super) trait Size {
    /// Its approximate bytes, with its place among others, here and in the pipeline; the same at
    /// each call.
    fn size_bytes(&self) -> u64;
}

impl<K: Ord, V: Size> Measured<K, V> {
    /// Keeps something, and returns what was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.size_bytes += value.size_bytes();
        let before = self.map.insert(key, value);
        self.forget(before)
    }

    /// Keeps it no longer.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let before = self.map.remove(key);
        self.forget(before)
    }

    fn forget(&mut self, before: Option<V>) -> Option<V> {
        self.size_bytes -= before.as_ref().map_or(0, V::size_bytes);
        before
    }
}

impl<K, V> Measured<K, V> {
    /// The approximate memory of all of it.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

impl<K, V> Default for Measured<K, V> {
    fn default() -> Measured<K, V> {
        Measured { map: BTreeMap::new(), size_bytes: 0 }
    }
}

/// To be read.
impl<K, V> Deref for Measured<K, V> {
    type Target = BTreeMap<K, V>;

    fn deref(&self) -> &BTreeMap<K, V> {
        &self.map
    }
}

/// The memory of an object beside its lists.
const OBJECT_BYTES: usize = 192;
/// The memory of a member of a group here.
const MEMBER_BYTES: u64 = 64;
/// The memory of a copy, here and as a node with a list of ports.
const REPLICA_BYTES: usize = 128;

impl Size for Attachment {
    fn size_bytes(&self) -> u64 {
        (OBJECT_BYTES + self.metadata.len()) as u64
    }
}

impl Size for GroupState {
    fn size_bytes(&self) -> u64 {
        let members = self.members.iter().map(|it| MEMBER_BYTES + listed_bytes(it.weight));
        OBJECT_BYTES as u64 + members.sum::<u64>()
    }
}

/// In the pipeline a choice is in its group's list as often as its weight says.
pub(super) fn listed_bytes(weight: u32) -> u64 {
    u64::from(weight) * size_of::<u32>() as u64
}

impl Size for MulticastGroup {
    fn size_bytes(&self) -> u64 {
        (OBJECT_BYTES + self.replicas.len() * REPLICA_BYTES + self.metadata.len()) as u64
    }
}

impl Size for CloneSession {
    fn size_bytes(&self) -> u64 {
        (OBJECT_BYTES + self.replicas.len() * REPLICA_BYTES) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_counts_until_it_is_replaced_or_removed() {
        let mut kept = Measured::<u32, Attachment>::default();
        let long =
            |len: usize| Attachment { metadata: vec![0; len].into(), ..Attachment::default() };
        let _new = kept.insert(1, long(1000));
        let _new = kept.insert(2, long(0));
        assert_eq!(kept.size_bytes(), 1000 + 2 * OBJECT_BYTES as u64);
        let _replaced = kept.insert(1, long(10));
        assert_eq!(kept.size_bytes(), 10 + 2 * OBJECT_BYTES as u64);
        assert!(kept.remove(&3).is_none());
        let _both = (kept.remove(&1), kept.remove(&2));
        assert_eq!(kept.size_bytes(), 0);
    }
}
