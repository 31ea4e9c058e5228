//! [`Found`]: one thing that a Read found, on its way from the data plane to a message.
//!
//! The data-plane thread copies plain values; the gRPC threads turn them into protobuf.

use bits::Int;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::packet_replication_engine_entry::Type as Replication;
use pipeline::KeyMatch;

use crate::index::Index;
use crate::translate::action::{ActionCall, EntryAction};
use crate::translate::cells::{self, CounterValue, MeterRates};
use crate::translate::change::{self, DigestConfig};
use crate::translate::matching;
use crate::translate::profile::{self, GroupState};
use crate::translate::replication::{self, CloneSession, MulticastGroup};
use crate::translate::table::{self, FoundEntry};

/// Something that was found; ids are P4Info's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A clone session.
    CloneSession(u32, CloneSession),
    /// A cell of a counter array.
    Counter(u32, u64, CounterValue),
    /// How a digest is sent.
    Digest(u32, DigestConfig),
    /// The counter beside an entry of a table.
    DirectCounter(u32, FoundEntry),
    /// The meter beside an entry of a table.
    DirectMeter(u32, FoundEntry),
    /// A group of an action selector: profile, group.
    Group(u32, u32, GroupState),
    /// A member of an action profile: profile, member.
    Member(u32, u32, ActionCall),
    /// A cell of a meter array; `None` is the default configuration.
    Meter(u32, u64, Option<MeterRates>),
    /// A multicast group.
    MulticastGroup(u32, MulticastGroup),
    /// A cell of a register array, one number per leaf of its type.
    Register(u32, u64, Vec<Int>),
    /// An entry of a table.
    Table(u32, FoundEntry),
    /// The members of a value set.
    ValueSet(u32, Vec<Vec<KeyMatch>>),
}

/// The memory of one result, on its way to a message and as one, beside its lists.
const FOUND_BYTES: usize = 320;

impl Found {
    /// About how much memory it takes, from here to the client.
    pub fn size_bytes(&self) -> u64 {
        let of_entry = |entry: &FoundEntry| match &entry.action {
            Some(EntryAction::OneShot(choices)) => choices.len() * 256,
            _ => 0,
        };
        let lists = match self {
            Self::CloneSession(_, session) => session.replicas.len() * 96,
            Self::DirectCounter(_, entry) | Self::DirectMeter(_, entry) | Self::Table(_, entry) => {
                of_entry(entry)
            }
            Self::Group(_, _, group) => group.members.len() * 128,
            Self::MulticastGroup(_, group) => group.replicas.len() * 96,
            Self::ValueSet(_, members) => members.len() * 256,
            Self::Counter(..)
            | Self::Digest(..)
            | Self::Member(..)
            | Self::Meter(..)
            | Self::Register(..) => 0,
        };
        (FOUND_BYTES + lists) as u64
    }

    /// The message. Ids that the index does not know (they cannot occur: the index found them)
    /// make an empty entity.
    pub fn message(self, index: &Index) -> p4::Entity {
        p4::Entity { entity: self.entity(index) }
    }

    fn entity(self, index: &Index) -> Option<Entity> {
        let at = |index: u64| Some(p4::Index { index: index.cast_signed() });
        let replication = |given| {
            Entity::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry {
                r#type: Some(given),
            })
        };
        Some(match self {
            Self::Table(table_id, entry) => {
                Entity::TableEntry(table::entry_message(index, index.table(table_id).ok()?, &entry))
            }
            Self::DirectCounter(table_id, entry) => {
                let data = entry.counter.as_ref().map(cells::counter_message);
                let table_entry = Some(key_message(index, table_id, &entry)?);
                Entity::DirectCounterEntry(p4::DirectCounterEntry { table_entry, data })
            }
            Self::DirectMeter(table_id, entry) => {
                let config = entry.meter.as_ref().map(cells::meter_message);
                let table_entry = Some(key_message(index, table_id, &entry)?);
                let counter_data = None;
                Entity::DirectMeterEntry(p4::DirectMeterEntry { table_entry, config, counter_data })
            }
            Self::Counter(counter_id, cell, value) => Entity::CounterEntry(p4::CounterEntry {
                counter_id,
                index: at(cell),
                data: Some(cells::counter_message(&value)),
            }),
            Self::Meter(meter_id, cell, rates) => Entity::MeterEntry(p4::MeterEntry {
                meter_id,
                index: at(cell),
                config: rates.as_ref().map(cells::meter_message),
                counter_data: None,
            }),
            Self::Register(register_id, cell, leaves) => {
                let shape = &index.register(register_id).ok()?.shape;
                let data = Some(shape.encode(&mut leaves.iter()));
                Entity::RegisterEntry(p4::RegisterEntry { register_id, index: at(cell), data })
            }
            Self::Member(profile_id, member_id, call) => Entity::ActionProfileMember(
                profile::member_message(index, profile_id, member_id, &call),
            ),
            Self::Group(profile_id, group_id, state) => {
                Entity::ActionProfileGroup(profile::group_message(profile_id, group_id, &state))
            }
            Self::ValueSet(value_set_id, members) => {
                let fields = &index.value_set(value_set_id).ok()?.fields;
                let members = members.iter().map(|member| p4::ValueSetMember {
                    r#match: matching::key_message(fields, member),
                });
                let members = members.collect();
                Entity::ValueSetEntry(p4::ValueSetEntry { value_set_id, members })
            }
            Self::Digest(digest_id, config) => {
                Entity::DigestEntry(change::digest_message(digest_id, &config))
            }
            Self::MulticastGroup(id, group) => replication(Replication::MulticastGroupEntry(
                replication::multicast_message(index.port_names(), id, &group),
            )),
            Self::CloneSession(id, session) => replication(Replication::CloneSessionEntry(
                replication::clone_message(index.port_names(), id, &session),
            )),
        })
    }
}

/// An entry by its key alone, as counters and meters name it.
fn key_message(index: &Index, table_id: u32, entry: &FoundEntry) -> Option<p4::TableEntry> {
    let whole = table::entry_message(index, index.table(table_id).ok()?, entry);
    Some(p4::TableEntry {
        table_id,
        r#match: whole.r#match,
        priority: whole.priority,
        is_default_action: whole.is_default_action,
        ..Default::default()
    })
}
