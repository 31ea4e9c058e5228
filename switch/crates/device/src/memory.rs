//! How much memory packets may take.
//!
//! Queues without a limit, and the lines of cables, hold whatever they are given. So that a machine
//! never runs out of memory for it, all that a device holds is bounded together: a packet that does
//! not fit any more is dropped as [`DropReason::PacketMemory`], before it gets into a queue or onto a line.
//!
//! So that one queue without a limit leaves the other ports their share, no port gets more once it
//! holds more than is free (Choudhury and Hahne, "Dynamic queue length thresholds"): one port takes
//! half of the memory at most, k full ports leave a (k+1)th of it, of which a port that was idle gets
//! half. A packet counts for the port in whose queue or on whose line it is.
//!
//! A packet counts with its length and [`PACKET_OVERHEAD_BYTES`], which stands for its headers, its
//! place in the queue and the unused end of its buffer.

use frames::Frame;
use units::{Bytes, DropReason, PortId, Time};

use crate::device::Device;

/// A packet's memory beside its bytes.
pub const PACKET_OVERHEAD_BYTES: u64 = 1024;

/// The default bound: 512 MiB.
pub const PACKET_MEMORY: Bytes = Bytes(512 << 20);

/// The memory of packets and its bound.
#[derive(Debug)]
pub(crate) struct PacketMemory {
    bound: Bytes,
    /// The memory of the packets in the queues, by the number of their output port.
    queued: Vec<u64>,
}

impl Default for PacketMemory {
    fn default() -> PacketMemory {
        PacketMemory { bound: PACKET_MEMORY, queued: Vec::new() }
    }
}

impl PacketMemory {
    /// A packet for `port` is in a queue now.
    #[inline]
    pub fn take(&mut self, port: PortId, length: Bytes) {
        if self.queued.len() <= port.index() {
            self.queued.resize(port.index() + 1, 0);
        }
        self.queued[port.index()] += cost(length);
    }

    /// It is in none any more.
    #[inline]
    pub fn give_back(&mut self, port: PortId, length: Bytes) {
        self.queued[port.index()] -= cost(length);
    }

    fn of(&self, port: PortId) -> u64 {
        self.queued.get(port.index()).copied().unwrap_or(0)
    }
}

/// A packet's memory.
fn cost(length: Bytes) -> u64 {
    length.0 + PACKET_OVERHEAD_BYTES
}

/// The memory of several packets.
fn cost_of(depth: traffic::Depth) -> u64 {
    depth.bytes.0 + depth.packets * PACKET_OVERHEAD_BYTES
}

impl Device {
    /// Bounds the memory of packets. Packets that are already inside stay.
    pub fn bound_memory(&mut self, bound: Bytes) {
        self.memory.bound = bound;
    }

    /// The memory of the packets inside.
    #[inline]
    pub fn memory_in_use(&self) -> Bytes {
        let held = [self.traffic.held(), self.cables.receive.held(), self.cables.transmit.held()];
        Bytes(held.into_iter().map(cost_of).sum())
    }

    /// The memory of the packets in a port's queues and on its lines.
    #[inline]
    pub fn memory_in_use_of(&self, port: PortId) -> Bytes {
        let lines = [self.cables.receive.held_of(port), self.cables.transmit.held_of(port)];
        Bytes(self.memory.of(port) + lines.into_iter().map(cost_of).sum::<u64>())
    }

    /// `PacketMemory` for a packet of this length that does not fit any more: with it the port would
    /// hold more than would be free.
    #[inline]
    pub(crate) fn check_memory(&self, port: PortId, length: Bytes) -> Result<(), DropReason> {
        let of_port = self.memory_in_use_of(port).0 + cost(length);
        let of_all = self.memory_in_use().0 + cost(length);
        if of_port + of_all <= self.memory.bound.0 { Ok(()) } else { Err(DropReason::PacketMemory) }
    }

    /// Whether what counts for the ports is what is in the queues.
    pub(crate) fn memory_balances(&self) -> bool {
        self.memory.queued.iter().sum::<u64>() == cost_of(self.traffic.held())
    }

    /// Counts a frame as arrived and dropped: there is no memory for its way to the router.
    pub(crate) fn drop_before_line(&mut self, now: Time, port: PortId, frame: Frame) {
        let identity = self.note_received(now, port, &frame);
        self.drop_frame(now, identity, port, frame, DropReason::PacketMemory);
    }
}
