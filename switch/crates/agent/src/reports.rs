//! The way of reports from the data plane to those who tell controllers.
//!
//! The data plane hands reports over without waiting. Their taker turns them into messages and
//! offers them to the streams concerned. If that falls behind, reports are dropped here and
//! counted: the specification calls all of them best effort.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_channel::mpsc;
use p4runtime::config::Config;
use p4runtime::report::Report;
use units::memory::{Budget, Purpose, Share};

/// Reports that may wait to be sent.
const WAITING_COUNT_MAX: usize = 4096;

/// A report, with the program whose ids it uses: another may be in force when it is sent.
#[derive(Debug)]
pub struct Reported {
    /// The program in force when it was made.
    pub config: Arc<Config>,
    pub report: Report,
    /// Its memory until it is sent.
    _memory: Share,
}

/// The data plane's end.
#[derive(Debug)]
pub struct Reporter {
    sender: mpsc::Sender<Reported>,
    lost: Arc<AtomicU64>,
    memory: Budget,
}

/// The other end: a stream of reports.
pub type Reports = mpsc::Receiver<Reported>;

impl Reporter {
    /// A reporter and the end from which its reports are taken.
    pub fn new() -> (Self, Reports) {
        let (sender, receiver) = mpsc::channel(WAITING_COUNT_MAX);
        (Self { sender, lost: Arc::default(), memory: Budget::UNLIMITED }, receiver)
    }

    /// Waiting reports come out of this memory.
    #[must_use]
    pub fn with_memory(self, memory: Budget) -> Self {
        Self { memory, ..self }
    }

    /// Hands a report over, or counts it as lost. Never waits.
    pub fn report(&mut self, config: &Arc<Config>, report: Report) {
        let memory = self.memory.take(Purpose::Reports, report.size_bytes());
        let sent = memory.is_ok_and(|_memory| {
            let reported = Reported { config: Arc::clone(config), report, _memory };
            self.sender.try_send(reported).is_ok()
        });
        if !sent {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Where the reports are counted that were lost here since the switch started.
    pub fn lost_count(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.lost)
    }
}
