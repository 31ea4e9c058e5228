//! Messages of routers to their controllers.

use bits::Int;
use units::Time;

use crate::host::Host;
use crate::world::{NodeId, World};

/// Something that a controller wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The program sends a message of this digest list.
    Digest {
        /// The router.
        router: NodeId,
        /// When.
        at: Time,
        /// The list's number in the loaded program.
        list: u32,
        /// Its values.
        values: Vec<Int>,
    },
    /// A frame left the CPU port, its controller header first.
    PacketIn {
        /// The router.
        router: NodeId,
        /// When.
        at: Time,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

impl<H: Host> World<H> {
    /// The next report, in the order in which things happened. To be called after every advance:
    /// the list is not bounded.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// Whether there is one.
    pub fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }
}
