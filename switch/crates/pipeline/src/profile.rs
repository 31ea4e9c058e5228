//! Action profiles: members that tables share, and groups of which a hash chooses one.

use std::collections::BTreeMap;

use bits::Int;

use crate::calculation::Recipe;
use crate::table::TableError;

/// A member: an action and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Index of the action in the program.
    pub action: usize,
    /// Its data.
    pub data: Vec<Int>,
    pub(crate) limbs: Vec<u64>,
}

/// How a member of a group is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    pub recipe: Recipe,
    /// Index of the hash in the mutable state.
    pub hash: usize,
}

/// An action profile.
#[derive(Clone, Debug)]
pub struct ActionProfile {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) selector: Option<Selector>,
    /// Actions its tables may run.
    pub(crate) actions: Vec<usize>,
    members: BTreeMap<u32, Member>,
    /// Member ids of a group, ascending; one that counts twice is there twice.
    groups: BTreeMap<u32, Vec<u32>>,
}

impl ActionProfile {
    pub(crate) fn new(name: String, size: usize, selector: Option<Selector>) -> ActionProfile {
        let (members, groups) = (BTreeMap::new(), BTreeMap::new());
        ActionProfile { name, size, selector, actions: Vec::new(), members, groups }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has groups at all.
    pub fn has_selector(&self) -> bool {
        self.selector.is_some()
    }

    /// How many members it can have; 0 is any number.
    pub fn size(&self) -> usize {
        self.size
    }

    /// All members in the order of their ids.
    pub fn members(&self) -> impl Iterator<Item = (u32, &Member)> {
        self.members.iter().map(|(id, member)| (*id, member))
    }

    /// All groups in the order of their ids, each with the ids of its members.
    pub fn groups(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.groups.iter().map(|(id, members)| (*id, members.as_slice()))
    }

    /// A member.
    pub fn member(&self, id: u32) -> Result<&Member, TableError> {
        self.members.get(&id).ok_or_else(|| self.not_found("member", id))
    }

    /// Ids of the members of a group.
    pub fn group(&self, id: u32) -> Result<&[u32], TableError> {
        self.groups.get(&id).map(Vec::as_slice).ok_or_else(|| self.not_found("group", id))
    }

    pub(crate) fn insert_member(&mut self, id: u32, member: Member) -> Result<(), TableError> {
        if self.members.contains_key(&id) {
            let what = format!("member {id} of action profile {}", self.name);
            return Err(TableError::Exists { what });
        }
        if self.size != 0 && self.members.len() >= self.size {
            let what = format!("action profile {}", self.name);
            return Err(TableError::Full { what, size: self.size });
        }
        self.members.insert(id, member);
        Ok(())
    }

    pub(crate) fn modify_member(&mut self, id: u32, member: Member) -> Result<(), TableError> {
        match self.members.get_mut(&id) {
            Some(slot) => {
                *slot = member;
                Ok(())
            }
            None => Err(self.not_found("member", id)),
        }
    }

    pub(crate) fn delete_member(&mut self, id: u32) -> Result<(), TableError> {
        if self.groups.values().any(|members| members.contains(&id)) {
            let what = format!("member {id} of action profile {}", self.name);
            return Err(TableError::InUse { what });
        }
        self.members.remove(&id).map(drop).ok_or_else(|| self.not_found("member", id))
    }

    /// Sets the members of a group, with repetitions for weights; adds the group if `new`.
    pub fn set_group(&mut self, id: u32, members: &[u32], new: bool) -> Result<(), TableError> {
        match (self.groups.contains_key(&id), new) {
            (true, true) => {
                let what = format!("group {id} of action profile {}", self.name);
                return Err(TableError::Exists { what });
            }
            (false, false) => return Err(self.not_found("group", id)),
            _ => {}
        }
        for member in members {
            let _ = self.member(*member)?;
        }
        let mut members = members.to_vec();
        members.sort_unstable();
        self.groups.insert(id, members);
        Ok(())
    }

    pub(crate) fn delete_group(&mut self, id: u32) -> Result<(), TableError> {
        self.groups.remove(&id).map(drop).ok_or_else(|| self.not_found("group", id))
    }

    /// The member of a group that a hash chooses; none where the group is empty or unknown.
    pub(crate) fn select(&self, group: u32, hash: u64) -> Option<&Member> {
        let members = self.groups.get(&group)?;
        let chosen = members.get((hash % members.len().max(1) as u64) as usize)?;
        self.members.get(chosen)
    }

    pub(crate) fn find_member(&self, id: u32) -> Option<&Member> {
        self.members.get(&id)
    }

    pub(crate) fn reset(&mut self) {
        self.members.clear();
        self.groups.clear();
    }

    fn not_found(&self, what: &str, id: u32) -> TableError {
        TableError::NotFound { what: format!("{what} {id} in action profile {}", self.name) }
    }
}
