//! How much memory packets may take.
//!
//! Queues without a limit, and the lines of cables, hold whatever they are given. So that a machine
//! never runs out of memory for it, all that a device holds is bounded together: a packet that does
//! not fit any more is dropped as [`DropReason::PacketMemory`], before it gets into a queue or onto a line.
//!
//! What counts is a packet's length and [`PACKET_OVERHEAD_BYTES`], which stands for its headers, its
//! place in the queue and the unused end of its buffer.

use frames::Frame;
use units::{Bytes, DropReason, PortId, Time};

use crate::device::Device;

/// What a packet takes beside its bytes.
pub const PACKET_OVERHEAD_BYTES: u64 = 1024;

/// The bound, unless somebody sets another one: 512 MiB.
pub const PACKET_MEMORY: Bytes = Bytes(512 << 20);

impl Device {
    /// Bounds the memory that packets take. What is inside already stays.
    pub fn bound_memory(&mut self, bound: Bytes) {
        self.memory_bound = bound;
    }

    /// What the packets inside take.
    #[inline]
    pub fn memory_in_use(&self) -> Bytes {
        let held = [self.traffic.held(), self.cables.receive.held(), self.cables.transmit.held()];
        let of = |depth: &traffic::Depth| depth.bytes.0 + depth.packets * PACKET_OVERHEAD_BYTES;
        Bytes(held.iter().map(of).sum())
    }

    /// `Memory` for a packet of this length that does not fit.
    #[inline]
    pub(crate) fn check_memory(&self, length: Bytes) -> Result<(), DropReason> {
        let wanted = self.memory_in_use().0 + length.0 + PACKET_OVERHEAD_BYTES;
        if wanted <= self.memory_bound.0 { Ok(()) } else { Err(DropReason::PacketMemory) }
    }

    /// A frame for whose way to the router there is no memory: as if it had come and been dropped.
    pub(crate) fn drop_before_line(&mut self, now: Time, port: PortId, frame: Frame) {
        let identity = self.note_received(now, port, &frame);
        self.drop_frame(now, identity, port, frame, DropReason::PacketMemory);
    }
}
