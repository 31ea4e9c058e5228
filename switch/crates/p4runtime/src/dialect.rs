//! [`Dialect`]: the specification, or what clients written for simple_switch_grpc rely on.
//!
//! PI, the library behind that switch, is more lenient than the specification. Where it matters to
//! clients, [`Dialect::as_specified`] rewrites their updates; the rest is in `arbitration`, and in
//! the agent where a port is watched that is not there yet.

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::packet_replication_engine_entry::Type as Replication;
use messages::p4::v1::replica::PortKind;
use messages::p4::v1::update::Type;

use crate::index::Index;

/// The rules that a server applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As PI does:
    ///
    /// - The live client with the highest election id is primary; ids of closed streams do not
    ///   count, and an unset id is 0.
    /// - While no stream is open, requests without election id are accepted.
    /// - A program that no controller has sent is none to a controller that asks.
    /// - A table without key takes its one entry by INSERT.
    /// - A port may be watched before it exists; it counts as down.
    /// - A replica without port has port 0, which the older protocol does not send.
    Pi,
    /// As P4Runtime's specification says.
    #[default]
    Specification,
}

impl Dialect {
    /// Rewrites an update to what the specification calls for.
    pub fn as_specified(self, index: &Index, update: &mut p4::Update) {
        if self == Dialect::Specification {
            return;
        }
        let entity = update.entity.as_mut().and_then(|entity| entity.entity.as_mut());
        match entity {
            Some(Entity::TableEntry(entry)) => {
                let is_only = entry.r#match.is_empty() && !entry.is_default_action;
                let table = index.table(entry.table_id).ok();
                if !is_only || table.is_none_or(|table| !table.fields.is_empty()) {
                    return;
                }
                entry.is_default_action = true;
                if update.r#type == Type::Delete as i32 {
                    entry.action = None;
                }
                if update.r#type != Type::Unspecified as i32 {
                    update.r#type = Type::Modify as i32;
                }
            }
            Some(Entity::PacketReplicationEngineEntry(entry)) => {
                let replicas = match &mut entry.r#type {
                    Some(Replication::MulticastGroupEntry(group)) => &mut group.replicas,
                    Some(Replication::CloneSessionEntry(session)) => &mut session.replicas,
                    None => return,
                };
                for replica in replicas {
                    replica.port_kind.get_or_insert(PortKind::EgressPort(0));
                }
            }
            _ => {}
        }
    }
}
