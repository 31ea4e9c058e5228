//! Cables: which port is connected to which, and what happened to frames in between.
//!
//! A cable takes no time and loses nothing as long as it is whole. The effects of real cables on
//! frames (rate, delay, jitter, loss, reordering, duplication, damage) are emulated by the routers'
//! ports at their ends, each for its direction, as for live neighbours: see
//! [`LinkConfig`](device::LinkConfig). So there is one model of a line, and a topology means the
//! same in both worlds.
//!
//! A frame crosses at the instant at which its first bit comes out of the port, or of the port's
//! transmit line. The receive line of a router's port then takes as long as the frame's bits need;
//! a host has it at once, as a live host has, to which the router gives whole frames.

use device::Frame;
use traffic::Tally;
use units::{Bytes, PortId};

use crate::world::NodeId;

/// A place where a cable can be plugged in. The first network card of a host is port 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    /// The host or router.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
}

/// The number of a cable, in the order of connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableId(pub u32);

/// Why a frame that left a port did not arrive anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CableDrop {
    /// The cable is cut.
    Cut,
    /// It has crossed [`ROUNDS_MAX`](crate::ROUNDS_MAX) cables without any time passing: it runs in
    /// a circle of ports without rate or delay.
    NoTimePasses,
    /// Nothing is plugged in there.
    Unplugged,
}

impl CableDrop {
    /// All reasons, in the order of the counters.
    pub const ALL: [CableDrop; 3] = [CableDrop::Cut, CableDrop::NoTimePasses, CableDrop::Unplugged];

    /// The reason as it is written in reports: `cable_cut`.
    pub const fn name(self) -> &'static str {
        match self {
            CableDrop::Cut => "cable_cut",
            CableDrop::NoTimePasses => "no_time_passes",
            CableDrop::Unplugged => "unplugged",
        }
    }
}

/// The traffic of a port, as a network card counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames that left the node here.
    pub sent: Tally,
    /// Frames that came to the node here; a router's port then has its receive line.
    pub received: Tally,
    /// Frames that left here and did not arrive at the other end, by
    /// [`CableDrop::ALL`](CableDrop::ALL).
    pub dropped: [Tally; 3],
}

impl PortCounters {
    /// The frames that left here and were dropped for `reason`.
    pub fn dropped_for(&self, reason: CableDrop) -> Tally {
        self.dropped[reason as usize]
    }

    pub(crate) fn count_drop(&mut self, reason: CableDrop, length: Bytes) {
        self.dropped[reason as usize].add(length);
    }
}

/// A port of a node and the way to the other end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Port {
    pub plug: Option<Plug>,
    pub counters: PortCounters,
    /// Whether passing frames are captured.
    pub captured: bool,
}

/// The end of a cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plug {
    pub cable: CableId,
    pub far: End,
    /// The cable is cut.
    pub cut: bool,
}

/// A frame on its way to the far end, in the order in which frames are handed in: by node, port
/// and sequence.
#[derive(Debug)]
pub(crate) struct Crossing {
    pub to: End,
    /// Its place among all frames of its round.
    pub sequence: u32,
    pub frame: Frame,
}
