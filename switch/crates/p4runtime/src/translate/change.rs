//! One [`Change`] per update of a Write, and everything that P4Info alone can say against it.

use bits::Int;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::packet_replication_engine_entry::Type as Replication;
use messages::p4::v1::update::Type;
use pipeline::KeyMatch;
use units::PortId;

use super::action::{ActionCall, EntryAction};
use super::cells::{self, CellRange, CounterValue, MeterRates};
use super::matching;
use super::op::Op;
use super::profile::{self, GroupState};
use super::replication::{self, CloneSession, MulticastGroup};
use super::table::{self, EntryKey, EntryState, TableChange};
use crate::index::{Index, Name};
use crate::refusal::Refusal;

/// An update in the device's terms; ids are P4Info's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A clone session.
    CloneSession(u32, Op<CloneSession>),
    /// Cells of a counter array.
    Counter(u32, CellRange, CounterValue),
    /// How digests are sent.
    Digest(u32, Op<DigestConfig>),
    /// The counter beside an entry, or beside the default entry (no key) of a table.
    DirectCounter(EntryRef, CounterValue),
    /// The meter beside an entry; `None` is the default configuration.
    DirectMeter(EntryRef, Option<MeterRates>),
    /// A group of an action selector: profile, group.
    Group(u32, u32, Op<GroupState>),
    /// A member of an action profile: profile, member.
    Member(u32, u32, Op<ActionCall>),
    /// Cells of a meter array; `None` is the default configuration.
    Meter(u32, CellRange, Option<MeterRates>),
    /// A multicast group.
    MulticastGroup(u32, Op<MulticastGroup>),
    /// An update that changes nothing (a counter without data): valid, and done.
    Nothing,
    /// Cells of a register array, one number per leaf of its type.
    Register(u32, CellRange, Vec<Int>),
    Table(TableChange),
    /// The members of a parser value set.
    ValueSet(u32, Vec<Vec<KeyMatch>>),
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryRef {
    /// The default entry of the table with this id.
    Default(u32),
    /// One of the others.
    Key(EntryKey),
}

/// How digests are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestConfig {
    /// The longest a message waits for others to be sent with it.
    pub timeout_ns_max: u64,
    /// The most messages in one list; 0: no limit.
    pub list_size_max: u32,
    /// How long a message that was sent is not sent again unless acknowledged.
    pub ack_timeout_ns: u64,
}

/// So many elements of one update (members of a group, copies of a session) take as long as one
/// entry of a table.
const ELEMENTS_PER_STEP: usize = 8;

impl Change {
    /// How much work it is, in entries of a table.
    pub fn steps(&self) -> usize {
        let elements = match self {
            Change::Counter(_, range, _)
            | Change::Meter(_, range, _)
            | Change::Register(_, range, _) => {
                return usize::try_from(range.count).unwrap_or(usize::MAX);
            }
            Change::Group(_, _, op) => op
                .state()
                .map_or(0, |group| group.members.iter().map(|member| member.weight as usize).sum()),
            Change::Table(TableChange::Entry(_, op)) => {
                op.state().map_or(0, EntryState::choice_count)
            }
            Change::CloneSession(_, op) => op.state().map_or(0, |it| it.replicas.len()),
            Change::MulticastGroup(_, op) => op.state().map_or(0, |it| it.replicas.len()),
            Change::ValueSet(_, members) => members.len(),
            _ => 0,
        };
        1 + elements / ELEMENTS_PER_STEP
    }

    /// The table whose entries it finds by their keys, if it does.
    pub fn table_id(&self) -> Option<u32> {
        match self {
            Change::Table(TableChange::Entry(key, _))
            | Change::DirectCounter(EntryRef::Key(key), _)
            | Change::DirectMeter(EntryRef::Key(key), _) => Some(key.table_id),
            _ => None,
        }
    }

    /// Whether it brings something that is kept in memory of its own; cells are there already, and
    /// members of value sets are counted where they are.
    pub fn is_kept(&self) -> bool {
        match self {
            Change::Table(_)
            | Change::Member(..)
            | Change::Group(..)
            | Change::MulticastGroup(..)
            | Change::CloneSession(..) => !self.is_delete(),
            Change::Counter(..)
            | Change::Digest(..)
            | Change::DirectCounter(..)
            | Change::DirectMeter(..)
            | Change::Meter(..)
            | Change::Nothing
            | Change::Register(..)
            | Change::ValueSet(..) => false,
        }
    }

    pub fn is_delete(&self) -> bool {
        match self {
            Change::Table(TableChange::Entry(_, op)) => op.is_delete(),
            Change::Member(_, _, op) => op.is_delete(),
            Change::Group(_, _, op) => op.is_delete(),
            Change::MulticastGroup(_, op) => op.is_delete(),
            Change::CloneSession(_, op) => op.is_delete(),
            Change::Digest(_, op) => op.is_delete(),
            _ => false,
        }
    }

    /// The ports on which choices that it brings depend.
    pub fn watched_ports(&self) -> Vec<PortId> {
        match self {
            Change::Group(_, _, Op::Insert(group) | Op::Modify(group)) => {
                group.members.iter().filter_map(|member| member.watch.port()).collect()
            }
            Change::Table(TableChange::Entry(_, Op::Insert(state) | Op::Modify(state))) => {
                let Some(EntryAction::OneShot(choices)) = &state.action else { return Vec::new() };
                choices.iter().filter_map(|choice| choice.watch.port()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// If it is for more cells than this, takes the first of them away, as a change of their own.
    pub fn split_off_first(&mut self, cells: usize) -> Option<Change> {
        let (Change::Counter(_, range, _)
        | Change::Meter(_, range, _)
        | Change::Register(_, range, _)) = self
        else {
            return None;
        };
        if range.count <= cells as u64 {
            return None;
        }
        let first = range.split_off_first(cells as u64);
        let mut part = self.clone();
        if let Change::Counter(_, range, _)
        | Change::Meter(_, range, _)
        | Change::Register(_, range, _) = &mut part
        {
            *range = first;
        }
        Some(part)
    }
}

/// The change in an update.
pub fn change_of(index: &Index, update: &p4::Update, role: &str) -> Result<Change, Refusal> {
    let kind = Type::try_from(update.r#type)
        .map_err(|_| Refusal::invalid(format!("update type {} is not known", update.r#type)))?;
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    match entity.ok_or_else(|| Refusal::invalid("the update has no entity"))? {
        Entity::TableEntry(entry) => table::change_of(index, kind, entry, role).map(Change::Table),
        Entity::ActionProfileMember(member) => {
            let op = profile::member_op_of(index, kind, member, role)?;
            Ok(Change::Member(member.action_profile_id, member.member_id, op))
        }
        Entity::ActionProfileGroup(group) => {
            let op = profile::group_op_of(index, kind, group, role)?;
            Ok(Change::Group(group.action_profile_id, group.group_id, op))
        }
        Entity::CounterEntry(entry) => counter_change_of(index, kind, entry, role),
        Entity::DirectCounterEntry(entry) => direct_counter_change_of(index, kind, entry, role),
        Entity::MeterEntry(entry) => meter_change_of(index, kind, entry, role),
        Entity::DirectMeterEntry(entry) => direct_meter_change_of(index, kind, entry, role),
        Entity::RegisterEntry(entry) => register_change_of(index, kind, entry, role),
        Entity::ValueSetEntry(entry) => value_set_change_of(index, kind, entry, role),
        Entity::DigestEntry(entry) => digest_change_of(index, kind, entry, role),
        Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
            Some(Replication::MulticastGroupEntry(group)) => {
                let op = replication::multicast_op_of(index.port_names(), kind, group)?;
                Ok(Change::MulticastGroup(group.multicast_group_id, op))
            }
            Some(Replication::CloneSessionEntry(session)) => {
                let op = replication::clone_op_of(index.port_names(), kind, session)?;
                Ok(Change::CloneSession(session.session_id, op))
            }
            None => Err(Refusal::invalid("neither a multicast group nor a clone session is set")),
        },
        Entity::ExternEntry(_) => Err(super::no_externs()),
    }
}

/// Arrays have no entries that come and go: the only update is MODIFY.
fn only_modify(kind: Type, name: &Name, role: &str) -> Result<(), Refusal> {
    name.check_role(role)?;
    match kind {
        Type::Modify => Ok(()),
        Type::Unspecified => Err(super::unspecified()),
        Type::Insert | Type::Delete => {
            Err(Refusal::invalid(format!("{} always exists: only MODIFY is possible", name.name)))
        }
    }
}

fn counter_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::CounterEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let counter = index.counter(entry.counter_id)?;
    only_modify(kind, &counter.name, role)?;
    let place = |refusal: Refusal| refusal.within(format!("counter {}", counter.name.name));
    let range = cells::range_of(entry.index.as_ref(), counter.size).map_err(place)?;
    match &entry.data {
        Some(data) => {
            let value = cells::counter_of(data).map_err(place)?;
            Ok(Change::Counter(counter.name.id, range, value))
        }
        None => Ok(Change::Nothing),
    }
}

fn meter_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::MeterEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let meter = index.meter(entry.meter_id)?;
    only_modify(kind, &meter.name, role)?;
    let place = |refusal: Refusal| refusal.within(format!("meter {}", meter.name.name));
    if entry.counter_data.is_some() {
        return Err(place(cells::no_meter_counters()));
    }
    let range = cells::range_of(entry.index.as_ref(), meter.size).map_err(place)?;
    let kind = index.meter_type(meter.name.id);
    let rates = entry.config.as_ref().map(|config| cells::meter_of(config, kind));
    let rates = rates.transpose().map_err(place)?;
    Ok(Change::Meter(meter.name.id, range, rates))
}

fn direct_counter_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::DirectCounterEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let entry_ref = entry_ref_of(index, kind, entry.table_entry.as_ref(), role)?;
    let table = index.table(entry_ref.table_id())?;
    if table.direct_counter_id.is_none() {
        let name = &table.name.name;
        return Err(Refusal::invalid(format!("table {name} has no direct counter")));
    }
    match &entry.data {
        Some(data) => Ok(Change::DirectCounter(entry_ref, cells::counter_of(data)?)),
        None => Ok(Change::Nothing),
    }
}

fn direct_meter_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::DirectMeterEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let entry_ref = entry_ref_of(index, kind, entry.table_entry.as_ref(), role)?;
    let table = index.table(entry_ref.table_id())?;
    let Some(meter_id) = table.direct_meter_id else {
        let name = &table.name.name;
        return Err(Refusal::invalid(format!("table {name} has no direct meter")));
    };
    if entry.counter_data.is_some() {
        return Err(cells::no_meter_counters());
    }
    let kind = index.meter_type(meter_id);
    let rates = entry.config.as_ref().map(|config| cells::meter_of(config, kind)).transpose()?;
    Ok(Change::DirectMeter(entry_ref, rates))
}

fn entry_ref_of(
    index: &Index,
    kind: Type,
    entry: Option<&p4::TableEntry>,
    role: &str,
) -> Result<EntryRef, Refusal> {
    let entry = entry.ok_or_else(|| {
        Refusal::invalid("table_entry is unset: say which entry's counter or meter is meant")
    })?;
    let table = index.table(entry.table_id)?;
    only_modify(kind, &table.name, role)?;
    EntryRef::new(index, entry)
}

impl EntryRef {
    /// The entry that a message names by its key.
    pub fn new(index: &Index, entry: &p4::TableEntry) -> Result<Self, Refusal> {
        let table = index.table(entry.table_id)?;
        let place = |refusal: Refusal| refusal.within(format!("table {}", table.name.name));
        if entry.is_default_action {
            table::check_default(entry).map_err(place)?;
            return Ok(Self::Default(table.name.id));
        }
        table::key_of(table, entry).map(Self::Key).map_err(place)
    }

    /// The table that the entry is in.
    pub fn table_id(&self) -> u32 {
        match self {
            Self::Default(table_id) => *table_id,
            Self::Key(key) => key.table_id,
        }
    }
}

fn register_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::RegisterEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let register = index.register(entry.register_id)?;
    only_modify(kind, &register.name, role)?;
    let place = |refusal: Refusal| refusal.within(format!("register {}", register.name.name));
    let range = cells::range_of(entry.index.as_ref(), register.size).map_err(place)?;
    let data = entry.data.as_ref().ok_or_else(|| place(Refusal::invalid("data is unset")))?;
    let mut leaves = Vec::with_capacity(register.shape.leaf_count());
    register.shape.decode(data, &mut leaves).map_err(place)?;
    Ok(Change::Register(register.name.id, range, leaves))
}

fn value_set_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::ValueSetEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let set = index.value_set(entry.value_set_id)?;
    only_modify(kind, &set.name, role)?;
    let place = |refusal: Refusal| refusal.within(format!("value set {}", set.name.name));
    if entry.members.len() as u64 > set.size {
        return Err(place(Refusal::exhausted(format!(
            "{} members are given, its size is {}",
            entry.members.len(),
            set.size
        ))));
    }
    let members = entry.members.iter().map(|member| matching::key_of(&set.fields, &member.r#match));
    let members = members.collect::<Result<Vec<_>, _>>().map_err(place)?;
    let mut seen = std::collections::BTreeSet::new();
    if members.iter().any(|member| !seen.insert(member)) {
        return Err(place(Refusal::exists("a member is there twice")));
    }
    Ok(Change::ValueSet(set.name.id, members))
}

fn digest_change_of(
    index: &Index,
    kind: Type,
    entry: &p4::DigestEntry,
    role: &str,
) -> Result<Change, Refusal> {
    let digest = index.digest(entry.digest_id)?;
    digest.name.check_role(role)?;
    let config = || {
        let config = entry.config.unwrap_or_default();
        digest_config_of(&config)
            .map_err(|refusal| refusal.within(format!("digest {}", digest.name.name)))
    };
    Ok(Change::Digest(digest.name.id, Op::new(kind, config)?))
}

fn digest_config_of(config: &p4::digest_entry::Config) -> Result<DigestConfig, Refusal> {
    let unsigned = |name: &str, value: i64| {
        u64::try_from(value).map_err(|_| Refusal::invalid(format!("{name} {value} is negative")))
    };
    let list_size_max = u32::try_from(config.max_list_size).map_err(|_| {
        Refusal::invalid(format!("max_list_size {} is negative", config.max_list_size))
    })?;
    Ok(DigestConfig {
        timeout_ns_max: unsigned("max_timeout_ns", config.max_timeout_ns)?,
        list_size_max,
        ack_timeout_ns: unsigned("ack_timeout_ns", config.ack_timeout_ns)?,
    })
}

/// The message for how a digest is sent.
pub fn digest_message(digest_id: u32, config: &DigestConfig) -> p4::DigestEntry {
    // All three came from the same signed types.
    let config = p4::digest_entry::Config {
        max_timeout_ns: config.timeout_ns_max.cast_signed(),
        max_list_size: config.list_size_max.cast_signed(),
        ack_timeout_ns: config.ack_timeout_ns.cast_signed(),
    };
    p4::DigestEntry { digest_id, config: Some(config) }
}
