//! The data plane's own messages to controllers: packets, digests, idle entries.

use messages::p4::v1 as p4;
use messages::p4::v1::stream_message_response::Update;

use crate::digest::List;
use crate::index::Index;
use crate::packet_io;
use crate::translate::table::{FoundEntry, entry_message};

/// Something the data plane has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A frame left through the CPU port, controller header first.
    PacketIn { frame: Vec<u8> },
    /// Messages of the program's digests.
    Digest(List),
    /// Entries that no packet has hit for their timeout.
    IdleTimeout {
        /// Their table's id in P4Info.
        table_id: u32,
        entries: Vec<FoundEntry>,
    },
}

/// A report as controllers get it.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The message for the streams of primaries.
    pub message: p4::StreamMessageResponse,
    /// The role that the digest or table is reserved for, if it is for one.
    owner: Option<String>,
}

impl Report {
    /// Its approximate memory while it waits to be sent.
    pub fn size_bytes(&self) -> u64 {
        let lists = match self {
            Report::PacketIn { frame } => frame.len(),
            Report::Digest(list) => list.messages.len() * 256,
            Report::IdleTimeout { entries, .. } => entries.len() * 512,
        };
        (256 + lists) as u64
    }

    /// The notification, `epoch_ns` nanoseconds after 1970; `None` if the program has no such digest
    /// or table.
    pub fn notification(&self, index: &Index, epoch_ns: i64) -> Option<Notification> {
        let (update, owner) = match self {
            Report::PacketIn { frame } => {
                (Update::Packet(packet_io::packet_in_message(index, frame)), None)
            }
            Report::Digest(list) => {
                let digest = index.digest(list.digest_id).ok()?;
                let data = list.messages.iter().map(|it| digest.shape.encode(&mut it.iter()));
                let message = p4::DigestList {
                    digest_id: list.digest_id,
                    list_id: list.list_id,
                    data: data.collect(),
                    timestamp: epoch_ns,
                };
                (Update::Digest(message), digest.name.role.clone())
            }
            Report::IdleTimeout { table_id, entries } => {
                let table = index.table(*table_id).ok()?;
                let entries = entries.iter().map(|entry| entry_message(index, table, entry));
                let message = p4::IdleTimeoutNotification {
                    table_entry: entries.collect(),
                    timestamp: epoch_ns,
                };
                (Update::IdleTimeoutNotification(message), table.name.role.clone())
            }
        };
        let message = p4::StreamMessageResponse { update: Some(update) };
        Some(Notification { message, owner })
    }
}

impl Notification {
    /// Whether the primary of a role gets it. The default role, which has no name, gets everything;
    /// another gets whatever is not reserved for others.
    pub fn concerns(&self, role: &str) -> bool {
        role.is_empty() || self.owner.as_deref().is_none_or(|owner| owner == role)
    }
}
