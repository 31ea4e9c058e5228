//! `vitrine.v1` messages to and from the traffic manager's own types. Pure.
//!
//! ```text
//!   config.rs       PortConfig and what is in it: edits of a configuration, and the reading back
//!   aqm.rs          active queue management, shares of the buffer
//!   input.rs        the shared buffer, the input stage, the crossbar
//!   limit.rs        how much may wait
//!   link.rs         the cables at the ports
//!   mirror.rs       where copies of dropped packets go
//!   parts.rs        common parts of messages, and the report of a mistake
//!   scheduler.rs    which queue is next: groups, trees
//!   shaper.rs       how fast a queue or a port may send
//!   counters.rs     what can be read and sampled
//!   columns.rs      samples of several instants together
//!   flows.rs        the flows of waiting packets
//!   arbitration.rs  what the crossbar's arbiter does
//!   packets.rs      each packet's way through the router
//!   states.rs       the states of queue management and the shared buffer
//!   reasons.rs      why packets were dropped
//!   trace.rs        which packets a client wants to follow, and their steps
//!   watch.rs        a client's filter, and its events
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
