//! A network in virtual time: routers, hosts and cables, without a clock, a thread or a socket.
//!
//! ```text
//!   host -- cable -- router -- cable -- router -- cable -- host
//!    ^                 ^
//!    Host              device::Device, with any program
//! ```
//!
//! * [`World`] is the network and the one place where its time is kept; its documentation is the
//!   driving contract and the order of what happens at one instant.
//! * [`Host`] is what a world asks of an end point.
//! * [`Frames`] keeps the memory of frames to be used again.
//! * `cable.rs` says what a cable is, and what belongs to the ports at its ends instead.
//! * `fault.rs` has what goes wrong: cables that are cut, routers that start again.
//! * [`Ledger`] says where every frame is; [`World::balances`] is the law that nothing vanishes.

mod cable;
mod capture;
mod due;
mod fault;
mod frames;
mod host;
mod ledger;
mod report;
mod world;

pub use cable::{CableDrop, CableId, End, PortCounters};
pub use capture::{Captured, Direction};
pub use frames::Frames;
pub use host::Host;
pub use ledger::{Ledger, Loss};
pub use report::Report;
pub use world::{NodeId, ROUNDS_MAX, World};
