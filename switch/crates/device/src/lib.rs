//! One switch, sans-IO: the loaded program, the traffic manager and the copies between them.
//!
//! ```text
//!   handle_frame -> ingress -> after_ingress -> traffic::Manager -> egress -> after_egress -> Transmit
//!               ^     ^   \-> clone, digest       ^    |             |  \-> clone            ^
//!               |     |    \-> resubmit           |    +-> Drop      |                       |
//!               |     +------ recirculate <-------+------------------+                       |
//!         receive line                                                             transmit line
//! ```
//!
//! Lines do something only at ports whose cable does: see `lines.rs`.
//!
//! [`Device`] is the state machine; its documentation is the driving contract. [`Books`] obey a
//! conservation law; [`Event`]s report single packets to a watcher, [`Captured`] ones are there in
//! full, and [`TraceFilter`] selects the packets that are followed step by step. There is no clock,
//! no socket and no thread here.
//! socket and no thread here.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod books;
mod budget;
mod capture;
mod device;
mod ecn;
mod egress;
mod fate;
mod flows;
mod guests;
mod ingress;
mod lines;
mod link;
mod links;
mod memory;
mod mirror;
mod parts;
mod programs;
mod queues;
mod trace;
mod watch;

pub use books::{Books, PortBooks};
pub use capture::{Captured, Fate};
pub use device::Device;
pub use fate::{Output, Queued};
pub use flows::FlowShare;
pub use frames::{Frame, Seal};
pub use link::{Change, LinkConfig, SenderConfig, SenderRate};
pub use memory::{PACKET_MEMORY, PACKET_OVERHEAD_BYTES};
pub use parts::{Crossing, Part, Parts};
pub use trace::{Pattern, RECORDS_MAX, TraceEvent, TraceFilter, TraceRecord};
pub use units::DropReason;
pub use watch::{Drop, Event, Inside, PacketStep, PacketStepKind, Watching};
