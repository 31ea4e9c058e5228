//! BMv2 JSON executed on packets, with simple_switch's results.
//!
//! [`Pipeline::load`] resolves every name, width and offset of a program; afterwards a packet meets
//! indexes and offsets only. There is no clock, thread, port or queue here: time is an argument,
//! queues are `traffic`'s, and `device` connects the two.
//!
//! # Driving it
//!
//! For each frame received:
//!
//! 1. `packet = pipeline.receive(&mut frames, port, frame, now)`, then `end = pipeline.ingress(&mut packet, now)`.
//! 2. `fate = after_ingress(&end)` says what happens, in this order:
//!    a clone ([`Pipeline::clone_from_ingress`]), a digest ([`Pipeline::digest`]), the packet itself.
//! 3. The packet itself is resubmitted ([`Pipeline::resubmit`], then step 1 without `receive`),
//!    replicated ([`Pipeline::copy`] for each of `pipeline.replication`'s replicas), dropped, or sent.
//! 4. A packet that goes on passes [`Pipeline::leave_ingress`], every copy on its way to a port
//!    [`Pipeline::dispatch`], and then it waits in a queue.
//! 5. When it leaves the queue: `end = pipeline.egress(&mut packet, &queueing, now)`;
//!    `fate = after_egress(&end)` says whether to clone
//!    ([`Pipeline::clone_from_egress`]) and the fate of the packet.
//! 6. Unless it is dropped, [`Pipeline::deparse`]; then it is transmitted
//!    ([`Pipeline::transmit`]) or recirculated ([`Pipeline::recirculate`], then step 1 without `receive`).
//! 7. Give back finished objects: a packet by [`Pipeline::recycle`], a frame to the driver's pool.
//!    In the steady state nothing of all this allocates.
//!
//! # Three words
//!
//! A program is *loaded* from JSON object by object, each beside its type; then the objects are *linked*:
//! put in order and rewritten where one knows of another (`link`). For machine code, what was linked is
//! *lowered* to the few words of [`native`], which a compiler handed in from outside *compiles*.
//!
//! `device` is the loop above with queues. Control-plane changes are methods of
//! [`Pipeline`] and may come between any two packets.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod action;
mod api;
mod calculation;
mod chance;
mod checksum;
mod control;
mod deparser;
mod entries;
mod error;
mod expression;
mod externs;
mod fate;
mod hash;
mod instances;
mod known;
mod layout;
mod link;
mod lists;
mod memory;
pub mod native;
mod nodes;
mod observe;
mod packet;
mod packing;
mod parser;
mod pipeline;
mod place;
mod profile;
mod program;
mod psa;
mod queues;
mod replication;
mod room;
mod state;
mod table;
mod tofino;
mod value_set;

pub use action::ROUNDS_MAX;
pub use api::ActionInfo;
pub use error::LoadError;
pub use fate::{
    CloneRequest, EgressEnd, EgressFate, EgressWay, IngressEnd, IngressFate, IngressWay,
    InstanceType, MoreCopies, after_egress, after_ingress,
};
pub use hash::{Crc, CrcParameters, Hash};
pub use known::Queueing;
pub use memory::Memory;
pub use observe::{Event, Observe, Reading, Unobserved};
pub use packet::{FRAME_LENGTH_MAX, Packet};
pub use pipeline::{Config, Pipeline};
pub use psa::{PORT_CPU, PORT_RECIRCULATE};
pub use queues::{QueueRead, Queues};
pub use replication::{CloneSession, Node, Replica, Replication};
pub use room::{ARRAY_MEMORY_BYTES, TABLE_MEMORY_BYTES};
pub use state::{MeterArray, RegisterArray};
pub use value_set::ValueSetMember;
// The things that a controller writes, under the names that it uses.
pub use tables::{
    ActionProfile, Color, Counter, Entry, EntryAction, EntryId, KeyMatch, Member, Meter,
    MeterConfig, MeterRate, MeterUnit, Table, TableError,
};
