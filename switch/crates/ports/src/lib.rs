//! Linux netdevs as ports of a switch. The only crate with `unsafe` and libc.
//!
//! The kernel hands TCP over in super-packets of up to 64 KB whose checksums are unfinished. A
//! wire would carry neither, so a port turns each into the frames that a wire would have carried,
//! and the rest of the switch never sees anything else:
//!
//! ```text
//!   netdev -> socket.rs -> (offload.rs: what the kernel left undone) -> segment.rs -> frames
//!   frames -> merge.rs -> send.rs -> netdev
//! ```
//!
//! * [`PacketSocket`] receives and sends batches without blocking;
//! * [`Offload`] is the virtio-net header that travels with each packet;
//! * [`segment::split`] is pure: bytes in, frames out, nothing here knows a clock;
//! * [`merge::SuperPacket`] is its inverse, for frames that no receiver could tell from it;
//! * [`Tail`] is what splitting knows of a frame and merging would have to find out again;
//! * [`LinkWatch`] says which devices are there and carry, and when that changes;
//! * [`Poller`] waits for any of several sockets or a deadline;
//! * [`PcapWriter`] writes captures;
//! * [`take_precedence`] asks to be run before others;
//! * [`memory`] is an allocator without long pauses;
//! * [`privilege`] gives up rights that a running switch does not need, [`reach`] files that are not its own, and
//!   [`system_calls`] what the kernel would do for anybody else;
//! * [`raise_descriptor_limit`] makes room for ports and connections.
//!
//! Frames that arrive with a wrong checksum keep it: a checksum is written only where the kernel
//! says that it left the checksum to the hardware. Errors of the program leave as they are: only
//! frames whose checksums are right are merged.

mod descriptors;
mod headers;
mod link_watch;
pub mod memory;
pub mod merge;
mod netdev;
mod offload;
mod pcap;
mod poller;
mod precedence;
pub mod privilege;
pub mod reach;
pub mod segment;
mod send;
mod socket;
pub mod system_calls;
mod tail;
mod tunnel;

use wire::{ethernet, ipv4, vlan};

pub use descriptors::raise_descriptor_limit;
pub use link_watch::{LinkState, LinkWatch};
pub use netdev::{Netdev, OpenError};
pub use offload::{ChecksumTask, GsoKind, Offload, UnknownGso};
pub use pcap::PcapWriter;
pub use poller::{Poller, Waker};
pub use precedence::{Precedence, has_real_time, take_precedence, thread_time};
pub use segment::Piece;
pub use send::{Gathering, Outgoing, Refused, SendBatch, SendOutcome};
pub use socket::{PacketSocket, ReceiveBatch, ReceivedPacket, Waiting};
pub use tail::{Note, Tail};

/// The smallest frame a port takes or sends: an Ethernet header.
pub const FRAME_SIZE_BYTES_MIN: usize = ethernet::HEADER_SIZE_BYTES;
/// The largest frame a port takes or sends, not counting super-packets, which are split first.
pub const FRAME_SIZE_BYTES_MAX: usize = 9216 + 18;
/// The largest super-packet: 64 KB of IP packet and its layer 2 header with all VLAN tags.
pub const SUPER_PACKET_SIZE_BYTES_MAX: usize = ipv4::PACKET_SIZE_BYTES_MAX
    + ethernet::HEADER_SIZE_BYTES
    + vlan::TAG_COUNT_MAX * vlan::TAG_SIZE_BYTES;
