//! What the data plane tells controllers of its own accord: packets, digests, idle entries.
//!
//! The data-plane thread hands reports over without waiting. A task on the gRPC side turns them
//! into messages and offers them to the streams concerned. When that task falls behind, reports
//! are dropped here and counted: the specification calls all of them best effort.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;

use crate::digest::List;
use crate::translate::table::FoundEntry;

/// Reports that may wait for the task.
const WAITING_COUNT_MAX: usize = 4096;

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

/// The data plane's end; cheap to clone.
#[derive(Clone, Debug)]
pub struct Reporter {
    sender: mpsc::Sender<Report>,
    lost: Arc<AtomicU64>,
}

impl Reporter {
    /// A reporter and the end from which its reports are taken.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Report>) {
        let (sender, receiver) = mpsc::channel(WAITING_COUNT_MAX);
        (Self { sender, lost: Arc::default() }, receiver)
    }

    /// Hands a report over, or counts it as lost. Never waits.
    pub fn report(&self, report: Report) {
        if self.sender.try_send(report).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Where the reports are counted that were lost here since the switch started.
    pub(crate) fn lost_count(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lost)
    }
}
