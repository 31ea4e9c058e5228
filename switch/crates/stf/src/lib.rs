//! Packet tests written in STF, the Simple Test Framework of p4lang/p4c, and the switch that they
//! are run on.
//!
//! ```text
//!   script.rs   text to statements
//!   run.rs      statements applied to a switch; what came out and what was expected
//!   report.rs   where both differ, for people
//!   switch.rs   the device with ports that take no time
//! ```
//!
//! The switch is the device with ports that take no time: a packet is through before the next line
//! is read.

#![allow(
    missing_docs,
    reason = "statements and their parts are named as STF names them; script.rs says how they are written"
)]

mod report;
mod run;
mod script;
mod switch;

pub use report::Mismatch;
pub use run::Test;
pub use script::{Call, CounterCheck, KeyValue, ScriptError, Statement, parse};
pub use switch::{CPU_PORT, Sent, Switch};
