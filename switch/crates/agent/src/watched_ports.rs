//! Choices of action selectors that depend on a port: `watch_port`.
//!
//! The pipeline's groups hold only choices whose port is up; what was written stays in the ledger
//! and is what a Read returns. When a port goes up or down, the groups with such choices are put
//! together anew, some of them at a time, between packets.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

use p4runtime::translate::action::Watch;
use p4runtime::translate::profile::GroupState;
use pipeline::EntryId;
use units::PortId;

use super::forwarding::OneShot;
use super::target::Target;

/// How far the groups have been put together anew.
#[derive(Debug, Default)]
pub(super) enum Refresh {
    /// At the groups that controllers made; the last one done.
    #[default]
    First,
    /// After this group.
    Groups((u32, u32)),
    /// At the groups of entries; the last entry done.
    Entries(Option<(usize, EntryId)>),
}

impl Refresh {
    /// Puts up to `left` groups together. `true`: all are done.
    pub fn go_on(&mut self, target: &mut Target<'_>, left: &mut usize) -> bool {
        while *left > 0 {
            *left -= 1;
            let is_done = match self {
                Refresh::Entries(last) => {
                    let next = next_entry(target, *last);
                    *self = Refresh::Entries(next);
                    next.is_none()
                }
                Refresh::First => self.next_group(target, None),
                Refresh::Groups(last) => {
                    let last = *last;
                    self.next_group(target, Some(last))
                }
            };
            if is_done {
                return true;
            }
        }
        false
    }

    /// The group after `last`; never the end, for the entries' groups come after.
    fn next_group(&mut self, target: &mut Target<'_>, last: Option<(u32, u32)>) -> bool {
        let groups = &target.forwarding.ledger.groups;
        let after = (last.map_or(Unbounded, Excluded), Unbounded);
        let Some((key, state)) = groups.range(after).next() else {
            *self = Refresh::Entries(None);
            return false;
        };
        let (key, watches) = (*key, state.members.iter().any(|it| it.watch != Watch::None));
        let members = weighted(state, target.down);
        if watches && let Ok(profile) = target.forwarding.binding.profile(key.0) {
            // Its members exist as long as the group does, so this cannot be refused.
            let _present = target.pipeline.set_group(profile, key.1, &members, false);
        }
        *self = Refresh::Groups(key);
        false
    }
}

/// The entry after `last` that has something beside it; its group is put together if it has one.
fn next_entry(target: &mut Target<'_>, last: Option<(usize, EntryId)>) -> Option<(usize, EntryId)> {
    let after = (last.map_or(Unbounded, Excluded), Unbounded);
    let (key, beside) = target.forwarding.ledger.beside.range(after).next()?;
    let watching = |group: &&OneShot| group.choices.iter().any(|it| it.watch != Watch::None);
    if let Some(group) = beside.one_shot.as_ref().filter(watching)
        && let Ok(profile) = target.forwarding.binding.profile(group.profile_id)
    {
        let members = weighted_choices(group, target.down);
        // As above: what the group refers to exists.
        let _present = target.pipeline.set_group(profile, group.group_id, &members, false);
    }
    Some(*key)
}

/// The members of a group that can be chosen, each as often as it weighs; the pipeline's hash
/// chooses among these.
pub(super) fn weighted(state: &GroupState, down: &BTreeSet<PortId>) -> Vec<u32> {
    let chosen = state.members.iter().filter(|member| is_up(&member.watch, down));
    chosen
        .flat_map(|member| std::iter::repeat_n(member.member_id, member.weight as usize))
        .collect()
}

/// The same for the choices of an entry.
pub(super) fn weighted_choices(group: &OneShot, down: &BTreeSet<PortId>) -> Vec<u32> {
    let choices = group.choices.iter().zip(&group.member_ids);
    choices
        .filter(|(choice, _)| is_up(&choice.watch, down))
        .flat_map(|(choice, id)| std::iter::repeat_n(*id, choice.weight as usize))
        .collect()
}

fn is_up(watch: &Watch, down: &BTreeSet<PortId>) -> bool {
    watch.port().is_none_or(|port| !down.contains(&port))
}
