//! `vitrine.v1` messages to and from the traffic manager's own types. Pure.
//!
//! ```text
//!   config.rs       PortConfig and what is in it: edits of a configuration, and the reading back
//!   aqm.rs          active queue management, shares of the buffer
//!   input.rs        the shared buffer, the input stage, the crossbar
//!   link.rs         the cables at the ports
//!   mirror.rs       where copies of dropped packets go
//!   scheduler.rs    which queue is next: groups, trees
//!   counters.rs     what can be read and sampled
//!   arbitration.rs  what the crossbar's arbiter does
//!   packets.rs      each packet's way through the router
//!   states.rs       what queue management and the shared buffer have in mind
//!   reasons.rs      why packets were dropped
//!   trace.rs        which packets a client wants to follow, and their steps
//!   watch.rs        what a client wants to watch, and what it is told
//! ```

pub mod aqm;
mod arbitration;
pub mod config;
pub mod counters;
pub mod input;
pub mod link;
pub mod mirror;
mod packets;
pub mod reasons;
pub mod scheduler;
pub mod states;
pub mod trace;
pub mod watch;

use traffic::ConfigError;

/// One thing that is wrong with a request; all of them are reported together.
pub type Problem = ConfigError;
