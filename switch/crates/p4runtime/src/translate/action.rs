//! Actions with their arguments, and what a table entry does with a packet.
//!
//! The rules are the specification's sections "Action Specification" and "One Shot Action Selector
//! Programming".

use bits::Int;
use messages::p4::v1 as p4;
use messages::p4::v1::action_profile_action::WatchKind;
use messages::p4::v1::table_action::Type;
use prost::bytes::Bytes;
use units::PortId;

use crate::index::names::{Names, Translation};
use crate::index::shape::hex;
use crate::index::{Action, Index, Param, Profile, Scope, Selector, SizeSemantics, Table};
use crate::refusal::Refusal;

/// An action and its arguments, in the order of the action's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    /// The action's id in P4Info.
    pub action_id: u32,
    /// One value per parameter.
    pub args: Vec<Int>,
}

/// An entry's action for the packets that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// Runs an action (direct tables).
    Call(ActionCall),
    /// Runs what a group of the action selector chooses.
    Group(u32),
    /// Runs the action of a member of the action profile.
    Member(u32),
    /// Runs one of these, chosen like from a group that belongs to this entry alone.
    OneShot(Vec<OneShotAction>),
}

/// One choice of a one-shot group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneShotAction {
    /// The action.
    pub call: ActionCall,
    /// How often it is chosen, relative to the others.
    pub weight: u32,
    /// The port that must be up for it to be chosen.
    pub watch: Watch,
}

/// The port on which a choice depends, as the controller gave it: in the older or newer field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// On none: always available.
    #[default]
    None,
    /// Field `watch`, deprecated; a number.
    Number(i32),
    /// Field `watch_port`, a byte string, and the port that it is.
    Port(Bytes, Option<PortId>),
}

impl Watch {
    /// From field `watch_port`; empty is none.
    pub fn from_port(bytes: &Bytes, names: Option<&Names>) -> Result<Self, Refusal> {
        let number = match (bytes.is_empty(), names) {
            (true, _) => None,
            (false, Some(names)) => {
                let number = names.number_of(bytes).map_err(|it| it.within("watch_port"))?;
                number.to_u64().and_then(|number| u16::try_from(number).ok())
            }
            (false, None) => Some(super::replication::port_of(bytes).ok_or_else(|| {
                Refusal::invalid(format!(
                    "watch_port {} is not the number of a port, which has 9 bits",
                    hex(bytes)
                ))
            })?),
        };
        Ok(Watch::Port(super::own(bytes), number.map(PortId)))
    }

    /// The port; none where there is none, or none with such a number.
    pub fn port(&self) -> Option<PortId> {
        match self {
            Watch::None => None,
            Watch::Number(number) => u16::try_from(*number).ok().map(PortId),
            Watch::Port(_, port) => *port,
        }
    }
}

/// Where an action is going to be used, for the check of its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// In an entry, or a member that entries refer to.
    Entry,
    /// As a table's default.
    Default,
}

/// The action of a message for `table`; refused if the table has no such action there.
pub fn call_of(
    index: &Index,
    table: &Table,
    action: &p4::Action,
    usage: Use,
) -> Result<ActionCall, Refusal> {
    let reference = table.action_ref(action.action_id).ok_or_else(|| {
        let known: Vec<_> = table.actions.iter().map(|reference| reference.id).collect();
        let known: Vec<_> = known
            .iter()
            .filter_map(|id| index.action(*id).ok())
            .map(|action| format!("{} ({})", action.name.name, action.name.id))
            .collect();
        Refusal::invalid(format!(
            "action id {} is not an action of table {}, which has {}",
            action.action_id,
            table.name.name,
            known.join(", ")
        ))
    })?;
    let declared = index.action(reference.id)?;
    match (usage, reference.scope) {
        (Use::Entry, Scope::DefaultOnly) => Err(Refusal::denied(format!(
            "action {} of table {} is @defaultonly; it cannot be in an entry",
            declared.name.name, table.name.name
        ))),
        (Use::Default, Scope::EntriesOnly) => Err(Refusal::denied(format!(
            "action {} of table {} is @tableonly; it cannot be the default action",
            declared.name.name, table.name.name
        ))),
        _ => args_of(declared, action),
    }
}

/// The action of a message for a member of `profile`: any action of the profile's tables.
pub fn member_call_of(
    index: &Index,
    profile: &Profile,
    action: Option<&p4::Action>,
) -> Result<ActionCall, Refusal> {
    let action = action.ok_or_else(|| Refusal::invalid("the member has no action; give one"))?;
    let table_id = profile.table_ids.first().ok_or_else(|| {
        Refusal::invalid(format!("action profile {} belongs to no table", profile.name.name))
    })?;
    call_of(index, index.table(*table_id)?, action, Use::Entry)
}

fn args_of(declared: &Action, action: &p4::Action) -> Result<ActionCall, Refusal> {
    let place = || format!("action {}", declared.name.name);
    let stranger = action
        .params
        .iter()
        .find(|given| !declared.params.iter().any(|it| it.id == given.param_id));
    if let Some(given) = stranger {
        let known: Vec<_> = declared
            .params
            .iter()
            .map(|param| format!("{} (id {})", param.name, param.id))
            .collect();
        return Err(Refusal::invalid(format!(
            "{}: parameter id {} does not exist; the parameters are {}",
            place(),
            given.param_id,
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        )));
    }
    let args = declared.params.iter().map(|param| {
        let mut given = action.params.iter().filter(|given| given.param_id == param.id);
        match (given.next(), given.next()) {
            (Some(one), None) => arg_of(param, &one.value),
            (None, _) => Err(Refusal::invalid(format!(
                "parameter {} (id {}) is missing",
                param.name, param.id
            ))),
            (Some(_), Some(_)) => Err(Refusal::invalid(format!(
                "parameter {} (id {}) is given twice",
                param.name, param.id
            ))),
        }
    });
    let args = args.collect::<Result<_, _>>().map_err(|refusal| refusal.within(place()))?;
    Ok(ActionCall { action_id: declared.name.id, args })
}

fn arg_of(param: &Param, bytes: &[u8]) -> Result<Int, Refusal> {
    if let Some(names) = Translation::names(param.translation.as_ref()) {
        let place = format!("parameter {}", param.name);
        return names.number_of(bytes).map_err(|refusal| refusal.within(place));
    }
    bits::from_canonical(bytes, param.width_bits).map_err(|error| {
        Refusal::invalid(format!("parameter {} is {}: {error}", param.name, hex(bytes)))
    })
}

/// The message for an action.
pub fn call_message(index: &Index, call: &ActionCall) -> p4::Action {
    let params = index.action(call.action_id).map_or(&[][..], |action| &action.params);
    let params = params.iter().zip(&call.args).map(|(param, value)| p4::action::Param {
        param_id: param.id,
        value: match Translation::names(param.translation.as_ref()) {
            Some(names) => names.bytes_of(value),
            None => bits::canonical(value).into(),
        },
    });
    p4::Action { action_id: call.action_id, params: params.collect() }
}

/// The action of an entry of `table`, from a message.
pub fn entry_action_of(
    index: &Index,
    table: &Table,
    action: &p4::TableAction,
) -> Result<EntryAction, Refusal> {
    let given = action.r#type.as_ref().ok_or_else(|| {
        Refusal::invalid(format!("the action of table {} is empty; set one", table.name.name))
    })?;
    let profile = table.profile_id.map(|id| index.profile(id)).transpose()?;
    let selector = profile.and_then(|profile| profile.selector);
    match (given, profile, selector) {
        (Type::Action(action), None, _) => {
            call_of(index, table, action, Use::Entry).map(EntryAction::Call)
        }
        (Type::ActionProfileMemberId(id), Some(_), _) => Ok(EntryAction::Member(*id)),
        (Type::ActionProfileGroupId(id), Some(_), Some(_)) => Ok(EntryAction::Group(*id)),
        (Type::ActionProfileActionSet(set), Some(profile), Some(selector)) => {
            one_shot_of(index, table, set, profile, selector).map(EntryAction::OneShot)
        }
        (_, None, _) => Err(Refusal::invalid(format!(
            "table {} has no action profile: its entries take an action, not a member or a group",
            table.name.name
        ))),
        (_, Some(profile), None) => Err(Refusal::invalid(format!(
            "table {} has the action profile {}: its entries take a member id",
            table.name.name, profile.name.name
        ))),
        (_, Some(profile), Some(_)) => Err(Refusal::invalid(format!(
            "table {} has the action selector {}: its entries take a member id, a group id or an \
             action set",
            table.name.name, profile.name.name
        ))),
    }
}

/// The message for an entry's action.
pub fn entry_action_message(index: &Index, action: &EntryAction) -> p4::TableAction {
    let given = match action {
        EntryAction::Call(call) => Type::Action(call_message(index, call)),
        EntryAction::Group(id) => Type::ActionProfileGroupId(*id),
        EntryAction::Member(id) => Type::ActionProfileMemberId(*id),
        EntryAction::OneShot(choices) => {
            let choices = choices.iter().map(|choice| p4::ActionProfileAction {
                action: Some(call_message(index, &choice.call)),
                // Came from an i32, see `check_weight`.
                weight: choice.weight as i32,
                watch_kind: match &choice.watch {
                    Watch::None => None,
                    Watch::Number(port) => Some(WatchKind::Watch(*port)),
                    Watch::Port(port, _) => Some(WatchKind::WatchPort(port.clone())),
                },
            });
            Type::ActionProfileActionSet(p4::ActionProfileActionSet {
                action_profile_actions: choices.collect(),
            })
        }
    };
    p4::TableAction { r#type: Some(given) }
}

fn one_shot_of(
    index: &Index,
    table: &Table,
    set: &p4::ActionProfileActionSet,
    profile: &Profile,
    selector: Selector,
) -> Result<Vec<OneShotAction>, Refusal> {
    let choices = set.action_profile_actions.iter().map(|choice| {
        let action = choice
            .action
            .as_ref()
            .ok_or_else(|| Refusal::invalid("a choice of the action set has no action"))?;
        let watch = match &choice.watch_kind {
            None => Watch::None,
            Some(WatchKind::Watch(port)) => Watch::Number(*port),
            Some(WatchKind::WatchPort(port)) => Watch::from_port(port, index.port_names())?,
        };
        let weight = check_weight(selector, choice.weight)?;
        Ok(OneShotAction { call: call_of(index, table, action, Use::Entry)?, weight, watch })
    });
    let choices = choices.collect::<Result<Vec<_>, Refusal>>()?;
    check_group_size(profile, selector, 0, choices.iter().map(|choice| choice.weight))?;
    Ok(choices)
}

/// A weight must be positive, and within the selector's limit.
pub fn check_weight(selector: Selector, weight: i32) -> Result<u32, Refusal> {
    let given = u32::try_from(weight).ok().filter(|weight| *weight > 0).ok_or_else(|| {
        Refusal::invalid(format!("weight {weight} is not positive; use 1 for equal shares"))
    })?;
    match selector.semantics {
        SizeSemantics::Members { weight_max }
            if weight_max > 0 && u64::from(given) > weight_max =>
        {
            Err(Refusal::invalid(format!(
                "weight {weight} is above the selector's largest, {weight_max}"
            )))
        }
        _ => Ok(given),
    }
}

/// The limit for the sum of a group's weights: the hash chooses among this many places.
pub const WEIGHT_SUM_MAX: u64 = 4096;

/// The size of a group must be within its own `max_size` and the selector's (0: none).
pub fn check_group_size(
    profile: &Profile,
    selector: Selector,
    max_size: u64,
    weights: impl ExactSizeIterator<Item = u32> + Clone,
) -> Result<(), Refusal> {
    let sum: u64 = weights.clone().map(u64::from).sum();
    if sum > WEIGHT_SUM_MAX {
        return Err(Refusal::exhausted(format!(
            "the weights of the group add up to {sum}; this switch takes {WEIGHT_SUM_MAX}"
        )));
    }
    let (size, unit) = match selector.semantics {
        SizeSemantics::Members { .. } => (weights.len() as u64, "members"),
        SizeSemantics::Weights => (sum, "in sum of weights"),
    };
    if max_size > 0 && size > max_size {
        // The specification names no code; this is simple_switch_grpc's.
        let message = format!("the group has {size} {unit}; its max_size is {max_size}");
        return Err(Refusal::exhausted(message));
    }
    if selector.group_size_max > 0 && size > selector.group_size_max {
        return Err(Refusal::invalid(format!(
            "the group has {size} {unit}; groups of {} have at most {}",
            profile.name.name, selector.group_size_max
        )));
    }
    Ok(())
}
