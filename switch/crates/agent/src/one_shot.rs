//! One-shot groups: a table entry that brings its own group and members along.
//!
//! The pipeline knows only groups and members with ids. A one-shot entry gets some that are free.
//! P4Runtime forbids to mix both styles within one action selector, so ids made here never meet
//! ids that a controller chose; the checks here enforce that.

use p4runtime::refusal::Refusal;
use p4runtime::translate::action::OneShotAction;
use pipeline::EntryAction;

use super::forwarding::OneShot;
use super::target::Target;
use super::values::refused;
use super::watched_ports;

/// Makes members and group for the choices of an entry.
pub(super) fn insert(
    target: &mut Target<'_>,
    table_id: u32,
    choices: Vec<OneShotAction>,
) -> Result<OneShot, Refusal> {
    let (profile_id, profile) = profile_of(target, table_id)?;
    let loaded = &target.pipeline.profile(profile);
    if !loaded.is_empty() && !target.forwarding.ledger.has_one_shots(profile_id) {
        return Err(mixed());
    }
    // Free ids above all that are in use, so that members of one group are neighbours.
    let (last_member, last_group) = loaded.last_ids();
    let (first_member, group_id) = (last_member.unwrap_or(0) + 1, last_group.unwrap_or(0) + 1);
    let mut group = OneShot { profile_id, group_id, member_ids: Vec::new(), choices };
    for (idx, member_id) in (0..group.choices.len()).zip(first_member..) {
        let call = group.choices[idx].call.clone();
        if let Err(refusal) = target.set_member(profile_id, member_id, call, true) {
            remove(target, &group);
            return Err(refusal);
        }
        group.member_ids.push(member_id);
    }
    let weighted = watched_ports::weighted_choices(&group, target.down);
    if let Err(error) = target.pipeline.set_group(profile, group_id, &weighted, true) {
        remove(target, &group);
        return Err(refused(error));
    }
    Ok(group)
}

/// Removes what [`insert`] made, as far as it came.
pub(super) fn remove(target: &mut Target<'_>, group: &OneShot) {
    let Ok(profile) = target.forwarding.binding.profile(group.profile_id) else { return };
    // The group may not have been made yet, and then its members are in no group.
    let _absent = target.pipeline.delete_group(profile, group.group_id);
    for member_id in &group.member_ids {
        let _present = target.pipeline.delete_member(profile, *member_id);
    }
}

/// Members and groups cannot be written while entries bring their own.
pub(super) fn check_not_used(target: &Target<'_>, profile_id: u32) -> Result<(), Refusal> {
    if target.forwarding.ledger.has_one_shots(profile_id) {
        return Err(mixed());
    }
    Ok(())
}

/// An entry that refers to a member or group by id does not go with entries that bring their own.
pub(super) fn check_style(
    target: &Target<'_>,
    table_id: u32,
    action: &EntryAction,
    is_one_shot: bool,
) -> Result<(), Refusal> {
    match action {
        EntryAction::Action { .. } => Ok(()),
        EntryAction::Group(_) | EntryAction::Member(_) if is_one_shot => Ok(()),
        EntryAction::Group(_) | EntryAction::Member(_) => {
            check_not_used(target, profile_of(target, table_id)?.0)
        }
    }
}

fn profile_of(target: &Target<'_>, table_id: u32) -> Result<(u32, usize), Refusal> {
    let table = target.forwarding.config.index.table(table_id)?;
    let profile_id =
        table.profile_id.ok_or_else(|| Refusal::invalid("it has no action profile"))?;
    Ok((profile_id, target.forwarding.binding.profile(profile_id)?))
}

fn mixed() -> Refusal {
    Refusal::invalid(
        "an action selector is programmed either with action sets or with members and groups, and \
         this one is in use the other way; remove those entries first",
    )
}
