//! A network in virtual time: routers, hosts and cables, without a clock, a thread or a socket.
//!
//! ```text
//!   host -- cable -- router -- cable -- router -- cable -- host
//!    ^                 ^
//!    Host              device::Device, with any program
//! ```
//!
//! * [`World`] is the network and the one place where its time is kept; its documentation is the
//!   driving contract and the order of events at one instant.
//! * [`network`] builds one from a topology, and knows its nodes by name.
//! * [`Host`] is the interface of an end point; [`network::host`] makes those of crate `hosts`, with
//!   TCP and applications.
//! * A [`Pool`] keeps the memory of frames to be used again: frames are moved from host to cable to
//!   router to host and copied nowhere, so that a world in steady state allocates nothing.
//! * `cable.rs` says what a cable is, and what belongs to the ports at its ends instead.
//! * `fault.rs` has what goes wrong: cables that are cut, routers that start again.
//! * [`Ledger`] says where every frame is; [`World::balances`] is the law that nothing vanishes.

mod cable;
mod capture;
mod due;
mod fault;
mod host;
mod ledger;
pub mod network;
mod report;
mod world;

pub use cable::{CableDrop, CableId, End, PortCounters};
pub use capture::{Captured, Direction};
pub use frames::Pool;
pub use host::Host;
pub use ledger::{Ledger, Loss};
pub use report::Report;
pub use world::{NodeId, ROUNDS_MAX, World};
