//! The data plane's work for controllers between packets, and the controllers' interface, as values
//! and messages: no gRPC, no threads, no clock.
//!
//! ```text
//!   messages -> front -> Request -> exchange -> Agent -> pipeline, traffic manager
//!   messages <- front <- Report  <- reports  <- Agent <- device
//! ```
//!
//! The parts, from the outside in:
//!
//! ```text
//!   front/            messages to requests and back: sessions, streams, calls
//!   request.rs        requests to the data plane
//!   batch.rs          updates that belong together, and their results
//!   exchange.rs       the way of requests there, and of replies back
//!   reports.rs        the way of the data plane's own messages
//!   programs.rs       the program in force, published by the agent and read by all
//!
//!   agent.rs          the Agent: takes requests and carries them out in slices; how to drive it
//!   plane.rs          its requirements for the device's driver
//!   devices.rs        network devices behind ports: opened and let go of elsewhere
//!   slice.rs          how long it works before packets have their turn
//!   write.rs read.rs reconcile.rs configure.rs describe.rs idle.rs    jobs that take several slices
//!   ports.rs          ports that come and go
//!   watch.rs trace.rs feed.rs    watchers of single packets and samples
//!   discard.rs        objects freed elsewhere
//!   visit.rs kept.rs  requests by other doors, and their data with a program
//!
//!   apply.rs          one change ...
//!   one_shot.rs       ... to entries that bring a group along
//!   replicate.rs      ... to multicast groups and clone sessions
//!   undo.rs           the changes that put things back
//!   look.rs           one query
//!   watched_ports.rs  choices that depend on a port
//!   target.rs         the program that a change is carried out on
//!   forwarding.rs     what the control plane remembers beside a pipeline
//!   values.rs         values in the pipeline's form, and back
//! ```

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]
#![allow(deprecated, reason = "P4Runtime still has its older fields, and they are read back too")]

mod agent;
mod apply;
mod batch;
mod carried;
mod configure;
mod describe;
pub mod devices;
pub mod discard;
pub mod exchange;
pub mod feed;
mod forwarding;
pub mod front;
mod idle;
mod keeps;
mod kept;
pub mod learning;
mod look;
mod measured;
mod one_shot;
mod plane;
pub mod ports;
pub mod programs;
mod read;
mod reconcile;
mod replicate;
pub mod reports;
mod request;
mod slice;
mod target;
mod trace;
mod undo;
mod values;
pub mod visit;
mod watch;
mod watched_ports;
mod write;

pub use agent::Agent;
pub use batch::{Atomicity, BatchResult, Outcome};
pub use configure::PORTS_PER_CHANGE;
pub use describe::PORTS_PER_INSTANT;
pub use forwarding::Load;
pub use keeps::Keeps;
pub use plane::DataPlane;
pub use request::{Description, Findings, ReadResult, Request};
pub use slice::{SLICE_SPAN, SLICE_STEPS_MAX, STEPS_BETWEEN_LOOKS};
pub use write::ATOMIC_STEPS_MAX;
