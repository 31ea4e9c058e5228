//! Action profiles: members, groups, and tables whose entries name them.

use agent::visit::Site;
use pipeline::{Entry, EntryAction, Member, Pipeline, TableError};
use thrift::{Struct, Type, Value};

use crate::actions::{data_of, data_value};
use crate::codes::{Thrown, of_default, of_entries, table};
use crate::entries::set_entry_ttl;
use crate::found::{entry_of, handle_value, loaded, object, pipeline, table_of};
use crate::job::{Outcome, Run, Walk};
use crate::keys::{key_of, priority_of};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_mt_act_prof_add_member", Run::Once(add_member)),
    ("bm_mt_act_prof_delete_member", Run::Once(delete_member)),
    ("bm_mt_act_prof_modify_member", Run::Once(modify_member)),
    ("bm_mt_act_prof_create_group", Run::Once(create_group)),
    ("bm_mt_act_prof_delete_group", Run::Once(delete_group)),
    ("bm_mt_act_prof_add_member_to_group", Run::Once(add_to_group)),
    ("bm_mt_act_prof_remove_member_from_group", Run::Once(remove_from_group)),
    ("bm_mt_act_prof_get_members", Run::Walk(members)),
    ("bm_mt_act_prof_get_member", Run::Once(member)),
    ("bm_mt_act_prof_get_groups", Run::Walk(groups)),
    ("bm_mt_act_prof_get_group", Run::Once(group)),
    ("bm_mt_indirect_add_entry", Run::Once(add_entry_of_member)),
    ("bm_mt_indirect_modify_entry", Run::Once(modify_entry_of_member)),
    ("bm_mt_indirect_delete_entry", Run::Once(delete_entry)),
    ("bm_mt_indirect_set_entry_ttl", Run::Once(set_ttl)),
    ("bm_mt_indirect_set_default_member", Run::Once(set_default_member)),
    ("bm_mt_indirect_reset_default_entry", Run::Once(reset_default)),
    ("bm_mt_indirect_ws_add_entry", Run::Once(add_entry_of_group)),
    ("bm_mt_indirect_ws_modify_entry", Run::Once(modify_entry_of_group)),
    ("bm_mt_indirect_ws_set_default_group", Run::Once(set_default_group)),
];

/// Why a profile did not take a change of a member.
fn of_members(error: &TableError) -> Thrown {
    match error {
        TableError::InUse { .. } => table::MEMBER_STILL_USED,
        TableError::NotFound { .. } => table::INVALID_MEMBER,
        other => of_entries(other),
    }
}

/// The same of a group.
fn of_groups(error: &TableError) -> Thrown {
    match error {
        TableError::InUse { .. } => table::GROUP_STILL_USED,
        TableError::NotFound { .. } => table::INVALID_GROUP,
        other => of_entries(other),
    }
}

fn profile_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    object(site, arguments, table::INVALID_PROFILE_NAME, Pipeline::profile_index)
}

/// The profile that the arguments name, if it has groups.
fn selector_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    let profile = profile_of(site, arguments)?;
    match site.pipeline().is_some_and(|pipeline| pipeline.profile(profile).has_selector()) {
        true => Ok(profile),
        false => Err(table::NO_SELECTOR),
    }
}

/// The id in the argument of this number.
fn id(arguments: &Struct, number: i16, thrown: Thrown) -> Result<u32, Thrown> {
    u32::try_from(arguments.i32(number)).map_err(|_| thrown)
}

/// Sets a member to the action in the argument of this number, with the data behind it.
fn set_member(
    site: &mut Site<'_>,
    profile: usize,
    id: u32,
    arguments: &Struct,
    name: i16,
    new: bool,
) -> Result<(), Thrown> {
    let pipeline = pipeline(site, table::INVALID_PROFILE_NAME)?;
    let wanted = arguments.text(name);
    let mut actions = pipeline.profile(profile).actions().iter().copied();
    let action = actions.find(|action| pipeline.action(*action).name == wanted);
    let action = action.ok_or(table::INVALID_ACTION_NAME)?;
    let data = data_of(pipeline, action, arguments.list(name + 1))?;
    pipeline.set_member(profile, id, action, data, new).map_err(|error| of_members(&error))
}

fn add_member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = profile_of(site, arguments)?;
    let id = pipeline(site, table::INVALID_PROFILE_NAME)?.profile(profile).free_member_id();
    set_member(site, profile, id, arguments, 3, true)?;
    Ok(Some(Value::I32(id.cast_signed())))
}

fn modify_member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = profile_of(site, arguments)?;
    let id = id(arguments, 3, table::INVALID_MEMBER)?;
    set_member(site, profile, id, arguments, 4, false).map(|()| None)
}

fn delete_member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = profile_of(site, arguments)?;
    let id = id(arguments, 3, table::INVALID_MEMBER)?;
    let pipeline = pipeline(site, table::INVALID_PROFILE_NAME)?;
    pipeline.delete_member(profile, id).map_err(|error| of_members(&error))?;
    Ok(None)
}

fn create_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = selector_of(site, arguments)?;
    let id = pipeline(site, table::INVALID_PROFILE_NAME)?.profile(profile).free_group_id();
    site.set_group(profile, id, &[], true).map_err(|error| of_groups(&error))?;
    Ok(Some(Value::I32(id.cast_signed())))
}

fn delete_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = selector_of(site, arguments)?;
    let id = id(arguments, 3, table::INVALID_GROUP)?;
    site.delete_group(profile, id).map_err(|error| of_groups(&error))?;
    Ok(None)
}

/// The members of the group in the second argument, and the member in the first.
fn membership(
    site: &Site<'_>,
    profile: usize,
    arguments: &Struct,
) -> Result<(u32, u32, Vec<u32>), Thrown> {
    let member = id(arguments, 3, table::INVALID_MEMBER)?;
    let group = id(arguments, 4, table::INVALID_GROUP)?;
    let loaded = site.pipeline().ok_or(table::INVALID_PROFILE_NAME)?.profile(profile);
    let _there = loaded.member(member).map_err(|error| of_members(&error))?;
    let members = loaded.group(group).map_err(|error| of_groups(&error))?;
    Ok((member, group, members.to_vec()))
}

fn add_to_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = selector_of(site, arguments)?;
    let (member, group, mut members) = membership(site, profile, arguments)?;
    if members.contains(&member) {
        return Err(table::MEMBER_ALREADY_IN_GROUP);
    }
    members.push(member);
    site.set_group(profile, group, &members, false).map_err(|error| of_groups(&error))?;
    Ok(None)
}

fn remove_from_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = selector_of(site, arguments)?;
    let (member, group, mut members) = membership(site, profile, arguments)?;
    if !members.contains(&member) {
        return Err(table::MEMBER_NOT_IN_GROUP);
    }
    members.retain(|other| *other != member);
    site.set_group(profile, group, &members, false).map_err(|error| of_groups(&error))?;
    Ok(None)
}

fn members(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let profile = profile_of(site, arguments)?;
    let loaded = pipeline(site, table::INVALID_PROFILE_NAME)?.profile(profile);
    let mut rest = loaded.members(0..=u32::MAX).map(|(id, _)| id).collect::<Vec<_>>().into_iter();
    Ok(Walk::list(0..rest.len() as u64, Type::Struct, move |site, _| {
        let pipeline = site.pipeline().ok_or(table::INVALID_PROFILE_NAME)?;
        let found =
            rest.next().and_then(|id| Some((id, pipeline.profile(profile).find_member(id)?)));
        Ok(found.map(|(id, member)| member_value(pipeline, id, member)))
    }))
}

fn member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = profile_of(site, arguments)?;
    let id = id(arguments, 3, table::INVALID_MEMBER)?;
    let pipeline = pipeline(site, table::INVALID_PROFILE_NAME)?;
    let member = pipeline.profile(profile).member(id).map_err(|error| of_members(&error))?;
    Ok(Some(member_value(pipeline, id, member)))
}

/// BmMtActProfMember.
fn member_value(pipeline: &Pipeline, id: u32, member: &Member) -> Value {
    let described = Struct::default()
        .with(1, Value::I32(id.cast_signed()))
        .with(2, Value::text(pipeline.action(member.action).name))
        .with(3, data_value(pipeline, member.action, &member.data));
    Value::Struct(described)
}

fn groups(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let profile = selector_of(site, arguments)?;
    let loaded = pipeline(site, table::INVALID_PROFILE_NAME)?.profile(profile);
    let mut rest = loaded.groups().map(|(id, _)| id).collect::<Vec<_>>().into_iter();
    Ok(Walk::list(0..rest.len() as u64, Type::Struct, move |site, _| {
        let pipeline = site.pipeline().ok_or(table::INVALID_PROFILE_NAME)?;
        let found =
            rest.next().and_then(|id| Some((id, pipeline.profile(profile).group(id).ok()?)));
        Ok(found.map(|(id, members)| group_value(id, members)))
    }))
}

fn group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let profile = selector_of(site, arguments)?;
    let id = id(arguments, 3, table::INVALID_GROUP)?;
    let loaded = pipeline(site, table::INVALID_PROFILE_NAME)?.profile(profile);
    let members = loaded.group(id).map_err(|error| of_groups(&error))?;
    Ok(Some(group_value(id, members)))
}

/// BmMtActProfGroup.
fn group_value(id: u32, members: &[u32]) -> Value {
    let members = members.iter().map(|member| Value::I32(member.cast_signed())).collect();
    let described = Struct::default().with(1, Value::I32(id.cast_signed()));
    Value::Struct(described.with(2, Value::List(Type::I32, members)))
}

/// The table that the arguments name, if its entries name members or groups.
fn indirect_table_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    let found = table_of(site, arguments)?;
    match loaded(site, found)?.profile() {
        Some(_) => Ok(found),
        None => Err(table::WRONG_TYPE),
    }
}

/// The action of an entry in this table that uses the member in the argument of this number.
fn member_action(
    site: &Site<'_>,
    table: usize,
    arguments: &Struct,
    number: i16,
) -> Result<EntryAction, Thrown> {
    let id = id(arguments, number, table::INVALID_MEMBER)?;
    let pipeline = site.pipeline().ok_or(table::INVALID_NAME)?;
    let profile = pipeline.table(table).profile().ok_or(table::WRONG_TYPE)?;
    let _there = pipeline.profile(profile).member(id).map_err(|error| of_members(&error))?;
    Ok(EntryAction::Member(id))
}

/// The same with a group, which must have members.
fn group_action(
    site: &Site<'_>,
    table: usize,
    arguments: &Struct,
    number: i16,
) -> Result<EntryAction, Thrown> {
    let id = id(arguments, number, table::INVALID_GROUP)?;
    let pipeline = site.pipeline().ok_or(table::INVALID_NAME)?;
    let profile = pipeline.profile(pipeline.table(table).profile().ok_or(table::WRONG_TYPE)?);
    if !profile.has_selector() {
        return Err(table::WRONG_TYPE);
    }
    match profile.group(id).map_err(|error| of_groups(&error))? {
        [] => Err(table::EMPTY_GROUP),
        _ => Ok(EntryAction::Group(id)),
    }
}

fn add_entry(
    site: &mut Site<'_>,
    table: usize,
    arguments: &Struct,
    action: EntryAction,
) -> Outcome {
    let now = site.now();
    let pipeline = pipeline(site, table::INVALID_NAME)?;
    let of = pipeline.table(table);
    let (key, priority) = (key_of(of, arguments.list(3))?, priority_of(of, arguments, 5));
    let entry = Entry { key, priority, action, idle_timeout: None };
    let id = pipeline.insert_entry(table, entry, now).map_err(|error| of_entries(&error))?;
    Ok(Some(handle_value(pipeline.table(table), id)))
}

fn add_entry_of_member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let action = member_action(site, table, arguments, 4)?;
    add_entry(site, table, arguments, action)
}

fn add_entry_of_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let action = group_action(site, table, arguments, 4)?;
    add_entry(site, table, arguments, action)
}

fn modify_entry_of_member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    let action = member_action(site, table, arguments, 4)?;
    site.modify_entry(table, id, action).map_err(|error| of_entries(&error))?;
    Ok(None)
}

fn modify_entry_of_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    let action = group_action(site, table, arguments, 4)?;
    site.modify_entry(table, id, action).map_err(|error| of_entries(&error))?;
    Ok(None)
}

fn delete_entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    site.delete_entry(table, id).map_err(|error| of_entries(&error))?;
    Ok(None)
}

fn set_ttl(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    set_entry_ttl(site, table, arguments)
}

fn set_default_member(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let action = member_action(site, table, arguments, 3)?;
    set_default(site, table, Some(action))
}

fn set_default_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    let action = group_action(site, table, arguments, 3)?;
    set_default(site, table, Some(action))
}

fn reset_default(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = indirect_table_of(site, arguments)?;
    set_default(site, table, None)
}

fn set_default(site: &mut Site<'_>, table: usize, action: Option<EntryAction>) -> Outcome {
    let pipeline = pipeline(site, table::INVALID_NAME)?;
    let done = pipeline.set_default_entry(table, action);
    done.map_err(|error| of_default(pipeline.table(table), &error))?;
    Ok(None)
}
