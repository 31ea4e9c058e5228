//! Action profiles: members that tables share, and groups of which a hash chooses one.
//!
//! Whatever is used cannot be removed. Uses are counted as they come and go, so that removing a
//! member costs the same in a table of a million entries as in an empty one.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use bits::Int;

use crate::entry::EntryAction;
use crate::error::TableError;

/// A member: an action and its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Index of the action in the program.
    pub action: usize,
    pub data: Vec<Int>,
    /// The same in limbs of 64 bits, as the action reads them.
    pub limbs: Vec<u64>,
}

#[derive(Clone, Debug)]
pub struct ActionProfile {
    name: String,
    size: usize,
    has_selector: bool,
    /// Actions its tables may run.
    actions: Vec<usize>,
    members: BTreeMap<u32, Used<Member>>,
    /// Member ids of a group, ascending; one that counts twice is there twice.
    groups: BTreeMap<u32, Used<Vec<u32>>>,
    /// The approximate memory of members and groups, without the groups' lists, which change as
    /// ports come and go and are counted by the keeper of the entries.
    size_bytes: u64,
}

/// The memory of a member or group with its place among the others, without its lists.
const OBJECT_BYTES: usize = 192;

impl Member {
    fn size_bytes(&self) -> u64 {
        (OBJECT_BYTES + self.data.len() * size_of::<Int>() + size_of_val(self.limbs.as_slice()))
            as u64
    }
}

/// Something with the number of its uses: by entries, and of a member by groups.
#[derive(Clone, Debug)]
struct Used<T> {
    it: T,
    uses: usize,
}

impl ActionProfile {
    /// A profile without members. Without a selector it has no groups either.
    pub fn new(name: String, size: usize, has_selector: bool) -> ActionProfile {
        ActionProfile {
            name,
            size,
            has_selector,
            actions: Vec::new(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            size_bytes: 0,
        }
    }

    /// A table of the profile may run these actions of the program.
    pub fn allow(&mut self, actions: impl IntoIterator<Item = usize>) {
        self.actions.extend(actions);
    }

    /// The actions that its tables may run; one that several may run is there several times.
    pub fn actions(&self) -> &[usize] {
        &self.actions
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has groups at all.
    pub fn has_selector(&self) -> bool {
        self.has_selector
    }

    /// How many members it can have; 0 is any number.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The approximate memory of its members and groups, without the groups' lists.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Members with ids in this range, in their order.
    pub fn members(&self, ids: RangeInclusive<u32>) -> impl Iterator<Item = (u32, &Member)> {
        self.members.range(ids).map(|(id, member)| (*id, &member.it))
    }

    /// All groups in the order of their ids, each with the ids of its members.
    pub fn groups(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.groups.iter().map(|(id, members)| (*id, members.it.as_slice()))
    }

    /// Whether it has neither members nor groups.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.groups.is_empty()
    }

    /// The largest id of a member, and that of a group.
    pub fn last_ids(&self) -> (Option<u32>, Option<u32>) {
        let member = self.members.last_key_value().map(|(id, _)| *id);
        (member, self.groups.last_key_value().map(|(id, _)| *id))
    }

    /// The lowest id that no member has.
    pub fn free_member_id(&self) -> u32 {
        first_gap(self.members.keys(), self.members.len())
    }

    /// The lowest id that no group has.
    pub fn free_group_id(&self) -> u32 {
        first_gap(self.groups.keys(), self.groups.len())
    }

    pub fn member(&self, id: u32) -> Result<&Member, TableError> {
        self.find_member(id).ok_or_else(|| self.not_found("member", id))
    }

    /// Ids of the members of a group.
    pub fn group(&self, id: u32) -> Result<&[u32], TableError> {
        let group = self.groups.get(&id).map(|group| group.it.as_slice());
        group.ok_or_else(|| self.not_found("group", id))
    }

    /// An entry runs this from now on.
    pub fn note_use(&mut self, action: &EntryAction) {
        if let Some(uses) = self.uses_of(action) {
            *uses += 1;
        }
    }

    /// An entry ran this.
    pub fn forget_use(&mut self, action: &EntryAction) {
        if let Some(uses) = self.uses_of(action) {
            *uses -= 1;
        }
    }

    fn uses_of(&mut self, action: &EntryAction) -> Option<&mut usize> {
        match action {
            EntryAction::Member(id) => Some(&mut self.members.get_mut(id)?.uses),
            EntryAction::Group(id) => Some(&mut self.groups.get_mut(id)?.uses),
            EntryAction::Action { .. } => None,
        }
    }

    pub fn insert_member(&mut self, id: u32, member: Member) -> Result<(), TableError> {
        if self.members.contains_key(&id) {
            let what = format!("member {id} of action profile {}", self.name);
            return Err(TableError::Exists { what });
        }
        if self.size != 0 && self.members.len() >= self.size {
            let what = format!("action profile {}", self.name);
            return Err(TableError::Full { what, size: self.size });
        }
        self.size_bytes += member.size_bytes();
        self.members.insert(id, Used { it: member, uses: 0 });
        Ok(())
    }

    /// Gives a member another action or data: whatever uses it follows.
    pub fn modify_member(&mut self, id: u32, member: Member) -> Result<(), TableError> {
        match self.members.get_mut(&id) {
            Some(slot) => {
                self.size_bytes += member.size_bytes();
                self.size_bytes -= slot.it.size_bytes();
                slot.it = member;
                Ok(())
            }
            None => Err(self.not_found("member", id)),
        }
    }

    /// Removes a member that no group and no entry uses.
    pub fn delete_member(&mut self, id: u32) -> Result<(), TableError> {
        let uses = self.members.get(&id).map(|member| member.uses);
        self.check_unused("member", id, uses)?;
        let removed = self.members.remove(&id);
        self.size_bytes -= removed.map_or(0, |member| member.it.size_bytes());
        Ok(())
    }

    fn check_unused(&self, what: &str, id: u32, uses: Option<usize>) -> Result<(), TableError> {
        match uses {
            None => Err(self.not_found(what, id)),
            Some(0) => Ok(()),
            Some(_) => {
                let what = format!("{what} {id} of action profile {}", self.name);
                Err(TableError::InUse { what })
            }
        }
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
        for member in &members {
            self.note_use(&EntryAction::Member(*member));
        }
        if new {
            self.size_bytes += OBJECT_BYTES as u64;
        }
        let group = self.groups.entry(id).or_insert(Used { it: Vec::new(), uses: 0 });
        let before = std::mem::replace(&mut group.it, members);
        self.forget_members(&before);
        Ok(())
    }

    /// Removes a group that no entry uses.
    pub fn delete_group(&mut self, id: u32) -> Result<(), TableError> {
        let uses = self.groups.get(&id).map(|group| group.uses);
        self.check_unused("group", id, uses)?;
        if let Some(group) = self.groups.remove(&id) {
            self.size_bytes -= OBJECT_BYTES as u64;
            self.forget_members(&group.it);
        }
        Ok(())
    }

    fn forget_members(&mut self, members: &[u32]) {
        for member in members {
            self.forget_use(&EntryAction::Member(*member));
        }
    }

    /// The member of a group that a hash chooses; none where the group is empty or unknown.
    ///
    /// Of the hash only the lower 32 bits count, as in simple_switch.
    pub fn select(&self, group: u32, hash: u64) -> Option<&Member> {
        let members = &self.groups.get(&group)?.it;
        let chosen = members.get(hash as u32 as usize % members.len().max(1))?;
        self.find_member(*chosen)
    }

    /// The member of this number, if there is one.
    pub fn find_member(&self, id: u32) -> Option<&Member> {
        self.members.get(&id).map(|member| &member.it)
    }

    /// Removes everything: the state after loading.
    pub fn reset(&mut self) {
        self.members.clear();
        self.groups.clear();
        self.size_bytes = 0;
    }

    fn not_found(&self, what: &str, id: u32) -> TableError {
        TableError::NotFound { what: format!("{what} {id} in action profile {}", self.name) }
    }
}

/// The lowest number that is missing among `count` ascending ones.
fn first_gap<'a>(mut ids: impl DoubleEndedIterator<Item = &'a u32>, count: usize) -> u32 {
    // Without gaps, which is the rule, the last one tells.
    match ids.next_back() {
        None => 0,
        Some(last) if *last as usize + 1 == count => last + 1,
        Some(last) => {
            let found = (0..).zip(ids).find(|(number, id)| number != *id);
            found.map_or(count as u32 - 1, |(number, _)| number).min(*last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_fills_gaps_first() {
        let gap = |ids: &[u32]| first_gap(ids.iter(), ids.len());
        assert_eq!(gap(&[]), 0);
        assert_eq!(gap(&[0, 1, 2]), 3);
        assert_eq!(gap(&[1]), 0);
        assert_eq!(gap(&[0, 2, 5]), 1);
        assert_eq!(gap(&[0, 1, 7]), 2);
    }

    #[test]
    fn of_a_hash_the_lower_32_bits_choose() {
        let mut profile = ActionProfile::new("ways".to_owned(), 8, true);
        profile.allow([0]);
        for id in [10, 11, 12] {
            let member = Member { action: 0, data: vec![Int::from(id)], limbs: vec![id.into()] };
            profile.insert_member(id, member).unwrap();
        }
        profile.set_group(1, &[10, 11, 12], true).unwrap();
        let chosen = |hash: u64| profile.select(1, hash).unwrap().limbs[0];
        assert_eq!([0, 1, 2, 3].map(chosen), [10, 11, 12, 10]);
        // 2^32 + 1 is 2 modulo 3, its lower half is 1.
        assert_eq!(chosen((1 << 32) + 1), 11);
    }
}
