//! Ports that take up a change later than it was made, as of the instant at which it was made.
//!
//! To change a port takes microseconds, so to change hundreds of them takes milliseconds, for which
//! packets must not wait. But what a port does follows from its state, its configuration and the
//! instant alone: as long as nothing happens to it, nobody can tell whether it has been changed.
//! So a change is made at its instant, and a port takes it up before anything happens to it:
//!
//! | port | takes up the change |
//! |---|---|
//! | is empty | before its next packet |
//! | waits for nothing but its line, then and now | before its next packet or departure; when that is, the change does not alter |
//! | has shapers or a tree of classes, then or now, and packets | at the instant: it is due anew |
//! | has packets, and loses queues | at the instant: packets are dropped |
//! | is new, or goes | at the instant |
//! | of a router with an input stage or a shared buffer | at the instant: what a port may hold concerns all others |
//!
//! What is not asked for by packets is caught up with a few ports at a time, when there is time.
//! Until then reading a port shows it as it was. `tests/laws.rs` holds against each other a router
//! whose ports stay behind for as long as they may and one whose ports never do.

use std::collections::BTreeMap;

use units::{HasLength, PortId, Time};

use super::Manager;
use crate::config::PortConfig;

/// The ports that are behind; nearly always none.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// When they were changed.
    pub since: Time,
    /// How they are to be. None of them is to go.
    pub ports: BTreeMap<PortId, Option<PortConfig>>,
}

impl<P: HasLength> Manager<P> {
    /// Lets up to `count` ports take up what [`begin_change`](Manager::begin_change) has changed.
    /// `true`: no port is behind any more.
    pub fn catch_up_some(&mut self, count: usize) -> bool {
        for _ in 0..count {
            let Some((port, wanted)) = self.behind.ports.pop_first() else { return true };
            self.take_up(port, wanted);
        }
        self.behind.ports.is_empty()
    }

    /// Something is about to happen to a port, or somebody wants to read it.
    #[inline]
    pub fn catch_up(&mut self, port: PortId) {
        if !self.behind.ports.is_empty() {
            self.catch_up_now(port);
        }
    }

    #[cold]
    fn catch_up_now(&mut self, port: PortId) {
        if let Some(wanted) = self.behind.ports.remove(&port) {
            self.take_up(port, wanted);
        }
    }

    fn take_up(&mut self, port: PortId, wanted: Option<PortConfig>) {
        let due = self.ports.existing(port).due();
        let _empty_ones = self.change_port(self.behind.since, port, wanted);
        debug_assert_eq!(self.ports.existing(port).due(), due, "port {port} could not wait");
    }
}
