//! Stable ids and short aliases.
//!
//! An id is 8 bits of entity type and 24 bits of a hash of the fully qualified name, so the same
//! table has the same id in every program that names it the same, and a controller can keep ids in
//! its own files. Collisions are resolved by linear probing in the order of the sorted names; `@id`
//! overrides the hash. The hash is Bob Jenkins' one-at-a-time function.

use std::collections::{BTreeMap, BTreeSet};

/// The type of an entity: the top byte of its id (`P4Ids.Prefix` of the schema).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Prefix {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ControllerHeader = 0x04,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
}

const HASH_BITS: u32 = 24;
const HASH_MASK: u32 = (1 << HASH_BITS) - 1;

impl Prefix {
    fn id(self, hash: u32) -> u32 {
        (self as u32) << HASH_BITS | hash & HASH_MASK
    }
}

/// Why an `@id` cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdError {
    /// Another entity has it already.
    Taken,
    /// Its top byte is that of another entity type.
    WrongPrefix,
}

/// The names of a program's entities: collected first, then asked for ids and aliases.
///
/// 1. [`Ids::add`] every entity, in any order; adding one twice is harmless.
/// 2. [`Ids::assign`] once.
/// 3. [`Ids::id`] and [`Ids::alias`].
#[derive(Clone, Debug, Default)]
pub struct Ids {
    /// By type and name; `None` until `assign` for names without `@id`.
    ids: BTreeMap<(Prefix, String), Option<u32>>,
    taken: BTreeSet<u32>,
    /// How many distinct names end in this suffix, of any type: an alias must be unique among all
    /// names, not only among those of its own type.
    suffixes: BTreeMap<String, u32>,
    names: BTreeSet<String>,
}

impl Ids {
    /// Announces an entity, with the value of its `@id` if it has one.
    pub fn add(&mut self, prefix: Prefix, name: &str, id: Option<u32>) -> Result<(), IdError> {
        let key = (prefix, name.to_owned());
        if self.ids.contains_key(&key) {
            return Ok(());
        }
        let fixed = match id {
            None => None,
            Some(id) => Some(self.fixed_id(prefix, id)?),
        };
        self.ids.insert(key, fixed);
        if self.names.insert(name.to_owned()) {
            for suffix in suffixes(name) {
                *self.suffixes.entry(suffix.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// An `@id` may leave its top byte zero; the type fills it in.
    fn fixed_id(&mut self, prefix: Prefix, id: u32) -> Result<u32, IdError> {
        let top = id >> HASH_BITS;
        if top != 0 && top != prefix as u32 {
            return Err(IdError::WrongPrefix);
        }
        let id = prefix.id(id);
        if self.taken.insert(id) { Ok(id) } else { Err(IdError::Taken) }
    }

    /// Gives every name without `@id` its hashed id. Names are taken in sorted order, so the
    /// outcome of a collision does not depend on the order of the program's text.
    pub fn assign(&mut self) {
        for ((prefix, name), id) in &mut self.ids {
            if id.is_some() {
                continue;
            }
            let mut hash = one_at_a_time(name.as_bytes());
            while !self.taken.insert(prefix.id(hash)) {
                hash = hash.wrapping_add(1);
            }
            *id = Some(prefix.id(hash));
        }
    }

    /// The id of an entity that was added before `assign`; 0, the invalid id, for any other.
    pub fn id(&self, prefix: Prefix, name: &str) -> u32 {
        let id = self.ids.get(&(prefix, name.to_owned()));
        id.copied().flatten().unwrap_or(0)
    }

    /// The shortest suffix of whole components that only this name has: `t` for `ingress.t`, but
    /// `a.t` where `ingress.b.t` exists too. The whole name if every suffix is shared.
    pub fn alias(&self, name: &str) -> String {
        let unique = suffixes(name).find(|&suffix| self.suffixes.get(suffix) == Some(&1));
        unique.unwrap_or(name).to_owned()
    }
}

/// The suffixes of a dotted name in whole components, shortest first.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.rmatch_indices('.').map(|(dot, _)| &name[dot + 1..]);
    dots.chain(std::iter::once(name))
}

fn one_at_a_time(key: &[u8]) -> u32 {
    let mut hash = 0u32;
    for &byte in key {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(entities: &[(Prefix, &str, Option<u32>)]) -> Ids {
        let mut ids = Ids::default();
        for &(prefix, name, id) in entities {
            ids.add(prefix, name, id).unwrap();
        }
        ids.assign();
        ids
    }

    #[test]
    fn no_action_has_the_id_that_every_controller_knows() {
        // 0x01 in the top byte, then the low 24 bits of the hash of "NoAction".
        let ids = assigned(&[(Prefix::Action, "NoAction", None)]);
        assert_eq!(ids.id(Prefix::Action, "NoAction"), 21_257_015);
    }

    #[test]
    fn an_explicit_id_gets_the_prefix_of_its_type() {
        let ids = assigned(&[(Prefix::Table, "ingress.t", Some(7))]);
        assert_eq!(ids.id(Prefix::Table, "ingress.t"), 0x0200_0007);
    }

    #[test]
    fn an_explicit_id_of_another_type_is_refused() {
        let mut ids = Ids::default();
        let added = ids.add(Prefix::Table, "ingress.t", Some(0x0100_0007));
        assert_eq!(added, Err(IdError::WrongPrefix));
    }

    #[test]
    fn a_name_whose_hash_is_taken_gets_the_next_id() {
        let wanted = assigned(&[(Prefix::Action, "NoAction", None)]).id(Prefix::Action, "NoAction");
        let ids = assigned(&[
            (Prefix::Action, "other", Some(wanted)),
            (Prefix::Action, "NoAction", None),
        ]);
        assert_eq!(ids.id(Prefix::Action, "NoAction"), wanted + 1);
    }

    #[test]
    fn an_alias_is_the_shortest_suffix_no_other_name_has() {
        let ids = assigned(&[
            (Prefix::Table, "ingress.a.t", None),
            (Prefix::Table, "ingress.b.t", None),
            (Prefix::Action, "ingress.drop", None),
        ]);
        assert_eq!(ids.alias("ingress.a.t"), "a.t");
        assert_eq!(ids.alias("ingress.drop"), "drop");
    }

    #[test]
    fn a_name_that_is_a_suffix_of_another_keeps_its_whole_name() {
        // "t" ends both "t" and "ingress.t", so neither is unique by it.
        let ids = assigned(&[(Prefix::Table, "t", None), (Prefix::Table, "ingress.t", None)]);
        assert_eq!(ids.alias("t"), "t");
        assert_eq!(ids.alias("ingress.t"), "ingress.t");
    }
}
