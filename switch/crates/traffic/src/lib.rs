//! The part of a router between ingress and egress processing, exact and open to view.
//!
//! ```text
//! Arrival -> INPUT STAGE -> FABRIC -> OUTPUT QUEUES -> SCHEDULER + SHAPERS -> line
//!    |       fifo or voq   crossbar   (port, class)          |
//!    |       (both optional)             |                   |
//!    +-> Verdict::Dropped(reason)        |                   +-> Output::Depart(at, residence)
//!                                        +-> Output::Drop(reason)
//! ```
//!
//! * [`Manager`] is the state machine; its documentation is the driving contract.
//! * [`Line`] is the cable to the neighbour: serialisation, delay, jitter, loss.
//! * [`Config`] is all that can be set, one value that reads back as it was written.
//! * [`DropReason`], [`Counters`]: every packet ends with a name, and the books balance.
//! * [`Watching`], [`Event`]: what happens to each packet, and what the arbiter does, step by step.
//! * [`outside`]: arbiters, schedulers and AQMs that are decided outside of the router.
//! * [`Chance`]: dice that are the same on every machine.
//!
//! There is no clock, no thread and no I/O here, and a packet is anything with a length.

mod aqm;
mod arbitration;
mod buffer;
mod config;
mod counters;
mod credit;
mod due;
mod error;
mod fabric;
mod fate;
mod histogram;
mod input;
mod limit;
mod line;
mod manager;
pub mod outside;
mod port;
mod ports;
mod queue;
mod schedule;
mod shaper;
mod slab;
mod utilisation;
mod watch;

pub use aqm::configs::*;
pub use aqm::states::*;
pub use arbitration::{Arbitration, Ask, Match, Pointers, Round};
pub use chance::{Chance, Probability};
pub use config::{
    BufferConfig, BufferShare, Change, Config, FABRIC_PORT_COUNT_MAX, FabricConfig, FullOutput,
    GroupConfig, HIERARCHY_DEPTH_MAX, InputConfig, InputQueueing, Member, NodeConfig, NodeKind,
    PortConfig, QueueConfig, QueueOrder, SchedulerConfig,
};
pub use counters::{Counters, Tally};
pub use credit::{ClassCredit, Credits, NodeTokens, ShareState, Tokens};
pub use error::ConfigError;
pub use fabric::ArbiterConfig;
pub use fate::{Arrival, Departure, Depth, Dropped, Output, Residence, Verdict};
pub use histogram::Histogram;
pub use limit::Limit;
pub use line::{
    Impairment, Jitter, Line, LineConfig, LineCounters, LineOutput, LineReport, LineVerdict, Lines,
    Loss, Stalls,
};
pub use manager::{
    BufferReport, InputReport, Inside, Manager, PortReport, QueueReport, TransferReport, VoqReport,
};
pub use schedule::Discipline;
pub use shaper::ShaperConfig;
pub use units::DropReason;
pub use watch::{Event, Step, StepKind, Watching};
pub use wire::Ecn;
