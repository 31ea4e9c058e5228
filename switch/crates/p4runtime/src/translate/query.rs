//! One [`Query`] per entity of a Read: what to look for. An id or index that is unset means all.

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::packet_replication_engine_entry::Type as Replication;

use super::cells;
use super::change::EntryRef;
use super::table::{self, TableQuery};
use crate::index::{Index, Name};
use crate::refusal::Refusal;

/// The target of a read; ids are P4Info's, and `None` is all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    CloneSessions(Option<u32>),
    /// Cells of counter arrays.
    Counters(Cells),
    /// How digests are sent.
    Digests(Option<u32>),
    /// Counters beside entries.
    DirectCounters(DirectCells),
    /// Meters beside entries.
    DirectMeters(DirectCells),
    /// Groups of action selectors: profile, group.
    Groups(Option<u32>, Option<u32>),
    /// Members of action profiles: profile, member.
    Members(Option<u32>, Option<u32>),
    /// Cells of meter arrays.
    Meters(Cells),
    MulticastGroups(Option<u32>),
    /// An entity that no switch of this kind has.
    Nothing,
    /// Cells of register arrays.
    Registers(Cells),
    Table(TableQuery),
    ValueSets(Option<u32>),
}

/// Cells of arrays: an array or all, and in it a cell or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    pub array_id: Option<u32>,
    /// Which cell of it.
    pub at: Option<u64>,
}

/// Cells beside the entries of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectCells {
    /// Beside every entry of all tables that have such cells.
    All,
    /// Beside one entry.
    Entry(EntryRef),
    /// Beside every entry of the table with this id.
    Table(u32),
}

/// The query for an entity of a Read.
pub fn query_of(index: &Index, entity: &p4::Entity) -> Result<Query, Refusal> {
    let entity = entity.entity.as_ref().ok_or_else(|| {
        Refusal::invalid("the entity is empty: say what to read, with ids 0 for all of a kind")
    })?;
    match entity {
        Entity::TableEntry(entry) => table::query_of(index, entry).map(Query::Table),
        Entity::ActionProfileMember(member) => {
            let profile = known(member.action_profile_id, |id| Ok(&index.profile(id)?.name))?;
            Ok(Query::Members(profile, nonzero(member.member_id)))
        }
        Entity::ActionProfileGroup(group) => {
            let profile = known(group.action_profile_id, |id| Ok(&index.profile(id)?.name))?;
            Ok(Query::Groups(profile, nonzero(group.group_id)))
        }
        Entity::CounterEntry(entry) => {
            let size = |id| Ok(index.counter(id)?.size);
            cells_of(entry.counter_id, entry.index.as_ref(), size).map(Query::Counters)
        }
        Entity::MeterEntry(entry) => {
            if entry.counter_data.is_some() {
                return Err(cells::no_meter_counters());
            }
            let size = |id| Ok(index.meter(id)?.size);
            cells_of(entry.meter_id, entry.index.as_ref(), size).map(Query::Meters)
        }
        Entity::RegisterEntry(entry) => {
            let size = |id| Ok(index.register(id)?.size);
            cells_of(entry.register_id, entry.index.as_ref(), size).map(Query::Registers)
        }
        Entity::DirectCounterEntry(entry) => {
            direct_cells_of(index, entry.table_entry.as_ref(), |id| {
                Ok(index.table(id)?.direct_counter_id)
            })
            .map(Query::DirectCounters)
        }
        Entity::DirectMeterEntry(entry) => {
            if entry.counter_data.is_some() {
                return Err(cells::no_meter_counters());
            }
            direct_cells_of(index, entry.table_entry.as_ref(), |id| {
                Ok(index.table(id)?.direct_meter_id)
            })
            .map(Query::DirectMeters)
        }
        Entity::PacketReplicationEngineEntry(entry) => match &entry.r#type {
            Some(Replication::MulticastGroupEntry(group)) => {
                Ok(Query::MulticastGroups(nonzero(group.multicast_group_id)))
            }
            Some(Replication::CloneSessionEntry(session)) => {
                Ok(Query::CloneSessions(nonzero(session.session_id)))
            }
            None => Err(Refusal::invalid("neither a multicast group nor a clone session is set")),
        },
        Entity::ValueSetEntry(entry) => {
            known(entry.value_set_id, |id| Ok(&index.value_set(id)?.name)).map(Query::ValueSets)
        }
        Entity::DigestEntry(entry) => {
            known(entry.digest_id, |id| Ok(&index.digest(id)?.name)).map(Query::Digests)
        }
        // All externs beyond those of v1model: there are none.
        Entity::ExternEntry(entry) if entry.extern_type_id == 0 && entry.extern_id == 0 => {
            Ok(Query::Nothing)
        }
        Entity::ExternEntry(_) => Err(super::no_externs()),
    }
}

fn nonzero(id: u32) -> Option<u32> {
    (id != 0).then_some(id)
}

/// An id that is 0 or exists.
fn known<'a>(
    id: u32,
    look_up: impl FnOnce(u32) -> Result<&'a Name, Refusal>,
) -> Result<Option<u32>, Refusal> {
    nonzero(id).map(|id| look_up(id).map(|name| name.id)).transpose()
}

fn cells_of(
    id: u32,
    index: Option<&p4::Index>,
    size: impl FnOnce(u32) -> Result<u64, Refusal>,
) -> Result<Cells, Refusal> {
    match nonzero(id) {
        Some(id) => Ok(Cells { array_id: Some(id), at: cells::index_of(index, size(id)?)? }),
        None if index.is_some() => Err(Refusal::invalid(
            "an index is set but no array: set its id, or leave the index out",
        )),
        None => Ok(Cells { array_id: None, at: None }),
    }
}

fn direct_cells_of(
    index: &Index,
    entry: Option<&p4::TableEntry>,
    cell_of_table: impl FnOnce(u32) -> Result<Option<u32>, Refusal>,
) -> Result<DirectCells, Refusal> {
    let entry = entry.ok_or_else(|| {
        Refusal::invalid("table_entry is unset: set it, with table_id 0 for all tables")
    })?;
    if entry.table_id == 0 {
        return Ok(DirectCells::All);
    }
    if cell_of_table(entry.table_id)?.is_none() {
        let name = &index.table(entry.table_id)?.name.name;
        return Err(Refusal::invalid(format!("table {name} has no direct cell of this kind")));
    }
    if entry.r#match.is_empty() && !entry.is_default_action {
        return Ok(DirectCells::Table(entry.table_id));
    }
    EntryRef::new(index, entry).map(DirectCells::Entry)
}
