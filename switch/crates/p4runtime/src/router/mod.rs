//! `vitrine.v1` messages to and from the traffic manager's own types. Pure.
//!
//! ```text
//!   config.rs       PortConfig and what is in it: edits of a configuration, and the reading back
//!   aqm.rs          active queue management, shares of the buffer
//!   input.rs        the shared buffer, the input stage, the crossbar
//!   limit.rs        how much may wait
//!   link.rs         the cables at the ports
//!   mirror.rs       where copies of dropped packets go
//!   parts.rs        what many messages have in them, and how a mistake is told
//!   scheduler.rs    which queue is next: groups, trees
//!   shaper.rs       how fast a queue or a port may send
//!   counters.rs     what can be read and sampled
//!   columns.rs      samples of several instants together
//!   flows.rs        whose packets wait
//!   arbitration.rs  what the crossbar's arbiter does
//!   packets.rs      each packet's way through the router
//!   states.rs       what queue management and the shared buffer have in mind
//!   reasons.rs      why packets were dropped
//!   trace.rs        which packets a client wants to follow, and their steps
//!   watch.rs        what a client wants to watch, and what it is told
//! ```

pub mod aqm;
mod arbitration;
pub mod columns;
pub mod config;
pub mod counters;
mod flows;
pub mod input;
mod limit;
pub mod link;
pub mod mirror;
mod packets;
mod parts;
pub mod reasons;
pub mod scheduler;
mod shaper;
pub mod states;
pub mod trace;
pub mod watch;

use traffic::ConfigError;

/// One thing that is wrong with a request; all of them are reported together.
pub type Problem = ConfigError;
