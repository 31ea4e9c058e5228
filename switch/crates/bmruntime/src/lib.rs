//! The runtime interface of bmv2 switches (`standard`, `simple_switch`): what its clients call, done
//! on our data plane.
//!
//! ```text
//!   thrift::Call -> Runtime -> job (a Visit of the agent) -> pipeline
//!   thrift::Reply <- Runtime <- outcome                   <-
//! ```
//!
//! Names, numbers of fields and codes of errors are the interface's own, from its `.thrift` files; its
//! words differ from ours: a handle is an entry's number, and of two priorities the lower wins.
//!
//! ```text
//!   runtime.rs    a call in, a reply out
//!   functions.rs  which function does what
//!   job.rs        a call on the data plane, in slices
//!   codes.rs      what is wrong, in the interface's numbers
//!   found.rs      objects by their names
//!   keys.rs       keys of entries        actions.rs   actions and their data
//!   entries.rs    tables                 reading.rs   what is in them
//!   counters.rs   counters               registers.rs registers
//!   meters.rs     meters                 profiles.rs  action profiles
//!   multicast.rs  multicast groups       mirroring.rs clone sessions
//!   learning.rs   digests, as what packets teach
//!   steps.rs      what becomes of packets, as messages
//!   value_sets.rs parser value sets      calculations.rs  CRCs
//!   queues.rs     depth and rate         ports.rs     ports that come and go
//!   clock.rs      what time it is        md5.rs       the mark of a program
//! ```

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod actions;
mod calculations;
mod clock;
mod codes;
mod counters;
mod entries;
mod found;
mod functions;
mod ids;
mod job;
mod keys;
pub mod learning;
mod md5;
mod meters;
mod mirroring;
mod multicast;
mod ports;
mod profiles;
mod queues;
mod reading;
mod registers;
mod runtime;
pub mod steps;
mod value_sets;

pub use runtime::{Host, Runtime};
