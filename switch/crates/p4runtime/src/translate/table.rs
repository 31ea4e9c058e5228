//! Table entries: what a `TableEntry` asks to be done, and the message for one that is read.
//!
//! All rules that P4Info alone decides are checked here; whether an entry exists, or fits, is
//! found out where the entries are. Sections of the specification: "TableEntry" and its parts.

use messages::p4::v1 as p4;
use messages::p4::v1::update::Type;
use pipeline::KeyMatch;
use prost::bytes::Bytes;

use super::action::{self, ActionCall, EntryAction, Use};
use super::cells::{self, CounterValue, MeterRates};
use super::op::Op;
use super::{matching, own};
use crate::index::{Index, Table};
use crate::refusal::Refusal;

/// The identity of an entry in its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryKey {
    /// The table's id in P4Info.
    pub table_id: u32,
    /// One part per field of the table.
    pub parts: Vec<KeyMatch>,
    /// The higher wins; 0 in tables whose entries need none.
    pub priority: u32,
}

/// A controller's data at an entry, which it gets back unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The older, numeric form.
    pub controller_metadata: u64,
    pub metadata: Bytes,
}

/// An entry as a controller wants it to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// Unset in a change that keeps the action.
    pub action: Option<EntryAction>,
    /// Goes with the entry.
    pub attachment: Attachment,
    /// After this long without a hit the controller is notified; 0: never.
    pub idle_timeout_ns: u64,
    /// The direct counter's new value, if it is to be set.
    pub counter: Option<CounterValue>,
    /// The direct meter's configuration; `None` is the default one, all green.
    pub meter: Option<MeterRates>,
}

impl EntryState {
    /// The choices that it brings along, each as often as it weighs.
    pub fn choice_count(&self) -> usize {
        match &self.action {
            Some(EntryAction::OneShot(choices)) => {
                choices.iter().map(|choice| choice.weight as usize).sum()
            }
            _ => 0,
        }
    }
}

/// A change to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableChange {
    /// Any entry but the default one.
    Entry(EntryKey, Op<EntryState>),
    /// Another default action.
    SetDefault {
        /// The table's id in P4Info.
        table_id: u32,
        /// `None`: the one that the program declares.
        call: Option<ActionCall>,
        /// Goes with the default entry.
        attachment: Attachment,
        /// The direct counter's new value, if it is to be set.
        counter: Option<CounterValue>,
        /// The direct meter's configuration.
        meter: Option<MeterRates>,
    },
}

/// The change in an update, or the rule it breaks.
pub fn change_of(
    index: &Index,
    kind: Type,
    entry: &p4::TableEntry,
    role: &str,
) -> Result<TableChange, Refusal> {
    let table = index.table(entry.table_id)?;
    table.name.check_role(role)?;
    let change = || {
        if entry.is_const {
            return Err(Refusal::invalid(
                "is_const is set, but only the program makes const entries",
            ));
        }
        if entry.is_default_action {
            return default_change_of(index, table, kind, entry);
        }
        let key = key_of(table, entry)?;
        if table.is_const {
            return const_change_of(index, table, kind, entry, key);
        }
        match kind {
            Type::Insert if table.fields.is_empty() => Err(Refusal::invalid(
                "the table has no key, so it has no entries: modify its default entry",
            )),
            Type::Insert if entry.action.is_none() => {
                Err(Refusal::invalid("the entry has no action; an insert needs one"))
            }
            _ => {
                let op = Op::new(kind, || state_of(index, table, entry))?;
                Ok(TableChange::Entry(key, op))
            }
        }
    };
    change().map_err(|refusal| refusal.within(format!("table {}", table.name.name)))
}

/// The key of a message; INVALID_ARGUMENT for a priority that should or should not be there.
pub fn key_of(table: &Table, entry: &p4::TableEntry) -> Result<EntryKey, Refusal> {
    let parts = matching::key_of(&table.fields, &entry.r#match)?;
    let priority = u32::try_from(entry.priority)
        .map_err(|_| Refusal::invalid(format!("priority {} is negative", entry.priority)))?;
    match (table.needs_priority(), priority) {
        (true, 0) => Err(Refusal::invalid(
            "the priority is 0; a key with ternary, range or optional fields needs one above 0",
        )),
        (false, 1..) => Err(Refusal::invalid(format!(
            "the priority is {priority}; a key of exact and lpm fields has none, so leave it 0"
        ))),
        _ => Ok(EntryKey { table_id: table.name.id, parts, priority }),
    }
}

/// Entries that the program fixed: only their counters and meters can be changed.
fn const_change_of(
    index: &Index,
    table: &Table,
    kind: Type,
    entry: &p4::TableEntry,
    key: EntryKey,
) -> Result<TableChange, Refusal> {
    if kind != Type::Modify || entry.action.is_some() {
        return Err(Refusal::denied(
            "its entries are const: only their direct counters and meters can be changed",
        ));
    }
    let state = EntryState {
        action: None,
        attachment: attachment_of(entry),
        idle_timeout_ns: idle_timeout_of(table, entry)?,
        counter: counter_of(table, entry)?,
        meter: meter_of(index, table, entry)?,
    };
    Ok(TableChange::Entry(key, Op::Modify(state)))
}

fn state_of(index: &Index, table: &Table, entry: &p4::TableEntry) -> Result<EntryState, Refusal> {
    let given = entry.action.as_ref();
    Ok(EntryState {
        action: given.map(|given| action::entry_action_of(index, table, given)).transpose()?,
        attachment: attachment_of(entry),
        idle_timeout_ns: idle_timeout_of(table, entry)?,
        counter: counter_of(table, entry)?,
        meter: meter_of(index, table, entry)?,
    })
}

fn default_change_of(
    index: &Index,
    table: &Table,
    kind: Type,
    entry: &p4::TableEntry,
) -> Result<TableChange, Refusal> {
    match kind {
        Type::Modify => {}
        Type::Insert | Type::Delete => {
            return Err(Refusal::invalid("the default entry always exists: use MODIFY"));
        }
        Type::Unspecified => return Err(super::unspecified()),
    }
    check_default(entry)?;
    if table.default_is_const {
        return Err(Refusal::denied("its default action is const"));
    }
    if table.profile_id.is_some() {
        return Err(Refusal::denied(
            "it has an action profile; P4Runtime fixes the default entry of such tables",
        ));
    }
    let call = match entry.action.as_ref().map(|action| &action.r#type) {
        None => None,
        Some(Some(p4::table_action::Type::Action(given))) => {
            Some(action::call_of(index, table, given, Use::Default)?)
        }
        Some(_) => return Err(Refusal::invalid("the default entry takes an action")),
    };
    // Resetting the action resets its attachment, too.
    let attachment = if call.is_some() { attachment_of(entry) } else { Attachment::default() };
    Ok(TableChange::SetDefault {
        table_id: table.name.id,
        call,
        attachment,
        counter: counter_of(table, entry)?,
        meter: meter_of(index, table, entry)?,
    })
}

/// Refuses properties that a default entry cannot have.
pub fn check_default(entry: &p4::TableEntry) -> Result<(), Refusal> {
    let found = if !entry.r#match.is_empty() {
        "a match"
    } else if entry.priority != 0 {
        "a priority"
    } else if entry.idle_timeout_ns != 0 || entry.time_since_last_hit.is_some() {
        "an idle timeout"
    } else {
        return Ok(());
    };
    Err(Refusal::invalid(format!(
        "is_default_action is set, and a default entry never has {found}"
    )))
}

fn attachment_of(entry: &p4::TableEntry) -> Attachment {
    Attachment { controller_metadata: entry.controller_metadata, metadata: own(&entry.metadata) }
}

fn idle_timeout_of(table: &Table, entry: &p4::TableEntry) -> Result<u64, Refusal> {
    if entry.time_since_last_hit.is_some() {
        return Err(Refusal::invalid("time_since_last_hit is set; it can only be read"));
    }
    let timeout_ns = u64::try_from(entry.idle_timeout_ns).map_err(|_| {
        Refusal::invalid(format!("idle_timeout_ns {} is negative", entry.idle_timeout_ns))
    })?;
    if timeout_ns > 0 && !table.has_idle_timeout {
        return Err(Refusal::invalid(
            "idle_timeout_ns is set, but the program does not declare support_timeout for it",
        ));
    }
    Ok(timeout_ns)
}

fn counter_of(table: &Table, entry: &p4::TableEntry) -> Result<Option<CounterValue>, Refusal> {
    match (&entry.counter_data, table.direct_counter_id) {
        (None, _) => Ok(None),
        (Some(data), Some(_)) => cells::counter_of(data).map(Some),
        (Some(_), None) => {
            Err(Refusal::invalid("counter_data is set, but it has no direct counter"))
        }
    }
}

fn meter_of(
    index: &Index,
    table: &Table,
    entry: &p4::TableEntry,
) -> Result<Option<MeterRates>, Refusal> {
    if entry.meter_counter_data.is_some() {
        return Err(cells::no_meter_counters());
    }
    match (&entry.meter_config, table.direct_meter_id) {
        (None, _) => Ok(None),
        (Some(config), Some(id)) => cells::meter_of(config, index.meter_type(id)).map(Some),
        (Some(_), None) => Err(Refusal::invalid("meter_config is set, but it has no direct meter")),
    }
}

/// An entry as it was found in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEntry {
    /// `None` for the default entry.
    pub key: Option<EntryKey>,
    /// Its action; `None` for a default entry without action.
    pub action: Option<EntryAction>,
    /// As it was written.
    pub attachment: Attachment,
    /// As it was written.
    pub idle_timeout_ns: u64,
    /// Whether the program fixed it.
    pub is_const: bool,
    /// Its direct counter, if the read asked for it.
    pub counter: Option<CounterValue>,
    /// Its direct meter's configuration, if the read asked for it and it is not the default.
    pub meter: Option<MeterRates>,
    /// Nanoseconds since a packet hit it, if the read asked for it.
    pub since_hit_ns: Option<u64>,
}

/// The message for an entry of `table`.
pub fn entry_message(index: &Index, table: &Table, entry: &FoundEntry) -> p4::TableEntry {
    let elapsed = |ns: u64| p4::table_entry::IdleTimeout { elapsed_ns: as_i64(ns) };
    p4::TableEntry {
        table_id: table.name.id,
        r#match: entry
            .key
            .as_ref()
            .map(|key| matching::key_message(&table.fields, &key.parts))
            .unwrap_or_default(),
        action: entry.action.as_ref().map(|it| action::entry_action_message(index, it)),
        priority: entry
            .key
            .as_ref()
            .map_or(0, |key| i32::try_from(key.priority).unwrap_or(i32::MAX)),
        controller_metadata: entry.attachment.controller_metadata,
        meter_config: entry.meter.as_ref().map(cells::meter_message),
        counter_data: entry.counter.as_ref().map(cells::counter_message),
        meter_counter_data: None,
        is_default_action: entry.key.is_none(),
        idle_timeout_ns: as_i64(entry.idle_timeout_ns),
        time_since_last_hit: entry.since_hit_ns.map(elapsed),
        metadata: entry.attachment.metadata.clone(),
        is_const: entry.is_const,
    }
}

/// Protobuf's signed fields end at 2^63 - 1: 292 years in nanoseconds.
fn as_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Which entries a read wants, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableQuery {
    /// One table; `None`: all of them, and no filter.
    pub table_id: Option<u32>,
    /// Exactly this key.
    pub key: Option<Vec<KeyMatch>>,
    /// Only this priority; 0: any.
    pub priority: u32,
    /// Only entries that run this action; 0: any.
    pub action_id: u32,
    /// Only entries with this attachment, where it is not zero or empty.
    pub attachment: Attachment,
    /// The default entry instead of the others.
    pub default_entry: bool,
    /// Direct counters too.
    pub with_counter: bool,
    /// Direct meters' configurations too.
    pub with_meter: bool,
    /// The time since the last hit too.
    pub with_since_hit: bool,
}

/// The query in a read.
pub fn query_of(index: &Index, entry: &p4::TableEntry) -> Result<TableQuery, Refusal> {
    if entry.meter_counter_data.is_some() {
        return Err(cells::no_meter_counters());
    }
    let mut query = TableQuery {
        default_entry: entry.is_default_action,
        with_counter: entry.counter_data.is_some(),
        with_meter: entry.meter_config.is_some(),
        with_since_hit: entry.time_since_last_hit.is_some(),
        ..TableQuery::default()
    };
    if entry.table_id == 0 {
        let filtered = !entry.r#match.is_empty()
            || entry.priority != 0
            || entry.action.is_some()
            || attachment_of(entry) != Attachment::default();
        return if filtered {
            Err(Refusal::invalid("table_id 0 reads all tables and takes no other filter"))
        } else {
            Ok(query)
        };
    }
    let table = index.table(entry.table_id)?;
    let place = |refusal: Refusal| refusal.within(format!("table {}", table.name.name));
    query.table_id = Some(table.name.id);
    query.attachment = attachment_of(entry);
    query.priority = u32::try_from(entry.priority)
        .map_err(|_| place(Refusal::invalid(format!("priority {} is negative", entry.priority))))?;
    if entry.is_default_action {
        check_default(entry).map_err(place)?;
    }
    if query.with_since_hit && !table.has_idle_timeout {
        return Err(place(Refusal::invalid(
            "time_since_last_hit is set, but the program does not declare support_timeout for it",
        )));
    }
    if !entry.r#match.is_empty() {
        query.key = Some(matching::key_of(&table.fields, &entry.r#match).map_err(place)?);
    }
    if let Some(action) = &entry.action {
        query.action_id = filter_action(table, action).map_err(place)?;
    }
    Ok(query)
}

/// Entries can be filtered by which action they run, and by nothing else of it.
fn filter_action(table: &Table, action: &p4::TableAction) -> Result<u32, Refusal> {
    let Some(p4::table_action::Type::Action(action)) = &action.r#type else {
        return Err(Refusal::unimplemented(
            "entries can be filtered by action id, not by member, group or action set",
        ));
    };
    match table.action_ref(action.action_id) {
        Some(reference) => Ok(reference.id),
        None => {
            Err(Refusal::invalid(format!("action id {} is none of its actions", action.action_id)))
        }
    }
}

impl TableQuery {
    /// Whether an entry passes the filters that need more than its key.
    pub fn admits(&self, entry: &FoundEntry) -> bool {
        let priority = entry.key.as_ref().map_or(0, |key| key.priority);
        let wanted = &self.attachment;
        (self.priority == 0 || self.priority == priority)
            && (self.action_id == 0
                || matches!(&entry.action, Some(EntryAction::Call(call)) if call.action_id == self.action_id))
            && (wanted.controller_metadata == 0
                || wanted.controller_metadata == entry.attachment.controller_metadata)
            && (wanted.metadata.is_empty() || wanted.metadata == entry.attachment.metadata)
    }
}
