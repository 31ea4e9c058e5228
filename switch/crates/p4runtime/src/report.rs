//! What the data plane tells controllers of its own accord: packets, digests, idle entries.

use crate::digest::List;
use crate::translate::table::FoundEntry;

/// Something the data plane has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// A frame left through the CPU port, controller header first.
    PacketIn {
        /// The bytes.
        frame: Vec<u8>,
    },
    /// Messages of the program's digests.
    Digest(List),
    /// Entries that no packet has hit for their timeout.
    IdleTimeout {
        /// Their table's id in P4Info.
        table_id: u32,
        /// The entries.
        entries: Vec<FoundEntry>,
    },
}
