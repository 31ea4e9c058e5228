//! Members and groups of action profiles. Specification: "ActionProfileMember &
//! ActionProfileGroup".

use messages::p4::v1 as p4;
use messages::p4::v1::action_profile_group::member::WatchKind;
use messages::p4::v1::update::Type;

use super::action::{self, ActionCall, Watch};
use super::op::Op;
use crate::index::{Index, Profile};
use crate::refusal::Refusal;

/// A group as a controller wants it to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupState {
    /// As it was given; 0: none given.
    pub max_size: u32,
    /// The members, none of them twice.
    pub members: Vec<GroupMember>,
}

/// A member's place in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Which member of the action profile.
    pub member_id: u32,
    /// How often it is chosen, relative to the others.
    pub weight: u32,
    /// The port that must be up for it to be chosen.
    pub watch: Watch,
}

/// An update's operation on a member of an action profile.
pub fn member_op_of(
    index: &Index,
    kind: Type,
    member: &p4::ActionProfileMember,
    role: &str,
) -> Result<Op<ActionCall>, Refusal> {
    let profile = index.profile(member.action_profile_id)?;
    profile.name.check_role(role)?;
    let place = |refusal: Refusal| {
        refusal.within(format!("action profile {}, member {}", profile.name.name, member.member_id))
    };
    check_id(member.member_id).map_err(place)?;
    let call = || action::member_call_of(index, profile, member.action.as_ref()).map_err(place);
    Op::new(kind, call)
}

/// The message for a member.
pub fn member_message(
    index: &Index,
    profile_id: u32,
    member_id: u32,
    call: &ActionCall,
) -> p4::ActionProfileMember {
    p4::ActionProfileMember {
        action_profile_id: profile_id,
        member_id,
        action: Some(action::call_message(index, call)),
    }
}

/// An update's operation on a group of an action selector.
pub fn group_op_of(
    index: &Index,
    kind: Type,
    group: &p4::ActionProfileGroup,
    role: &str,
) -> Result<Op<GroupState>, Refusal> {
    let profile = index.profile(group.action_profile_id)?;
    profile.name.check_role(role)?;
    let place = |refusal: Refusal| {
        refusal.within(format!("action profile {}, group {}", profile.name.name, group.group_id))
    };
    check_id(group.group_id).map_err(place)?;
    Op::new(kind, || group_state_of(index, profile, group).map_err(place))
}

fn group_state_of(
    index: &Index,
    profile: &Profile,
    group: &p4::ActionProfileGroup,
) -> Result<GroupState, Refusal> {
    let selector = profile.selector.ok_or_else(|| {
        Refusal::invalid("it is an action profile without selector, so it has no groups")
    })?;
    let max_size = u32::try_from(group.max_size)
        .map_err(|_| Refusal::invalid(format!("max_size {} is negative", group.max_size)))?;
    let largest = selector.group_size_max;
    if largest > 0 && !(1..=largest).contains(&u64::from(max_size)) {
        return Err(Refusal::invalid(format!(
            "max_size is {max_size}; the program wants it between 1 and {largest}"
        )));
    }
    if u64::from(max_size) > action::WEIGHT_SUM_MAX {
        return Err(Refusal::exhausted(format!(
            "max_size is {max_size}; groups of this switch have at most {}",
            action::WEIGHT_SUM_MAX
        )));
    }
    let members = group.members.iter().enumerate().map(|(idx, member)| {
        let id = member.member_id;
        if group.members[..idx].iter().any(|earlier| earlier.member_id == id) {
            return Err(Refusal::invalid(format!("member {id} is there twice; use its weight")));
        }
        let watch = match &member.watch_kind {
            None => Watch::None,
            Some(WatchKind::Watch(port)) => Watch::Number(*port),
            Some(WatchKind::WatchPort(port)) => Watch::from_port(port, index.port_names())?,
        };
        let weight = action::check_weight(selector, member.weight)?;
        Ok(GroupMember { member_id: id, weight, watch })
    });
    let members = members.collect::<Result<Vec<_>, Refusal>>()?;
    let weights = members.iter().map(|member| member.weight);
    action::check_group_size(profile, selector, u64::from(max_size), weights)?;
    Ok(GroupState { max_size, members })
}

/// The message for a group.
pub fn group_message(profile_id: u32, group_id: u32, state: &GroupState) -> p4::ActionProfileGroup {
    let members = state.members.iter().map(|member| p4::action_profile_group::Member {
        member_id: member.member_id,
        // Both came from an i32.
        weight: member.weight.cast_signed(),
        watch_kind: match &member.watch {
            Watch::None => None,
            Watch::Number(port) => Some(WatchKind::Watch(*port)),
            Watch::Port(port, _) => Some(WatchKind::WatchPort(port.clone())),
        },
    });
    p4::ActionProfileGroup {
        action_profile_id: profile_id,
        group_id,
        members: members.collect(),
        max_size: state.max_size.cast_signed(),
    }
}

fn check_id(id: u32) -> Result<(), Refusal> {
    if id == 0 {
        return Err(Refusal::invalid("id 0 means all of them when reading and cannot be written"));
    }
    Ok(())
}
