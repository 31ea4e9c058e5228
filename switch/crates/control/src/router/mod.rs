//! `vitrine.v1` messages to and from the traffic manager's own types. Pure.
//!
//! ```text
//!   config.rs     PortConfig and what is in it: edits of a configuration, and the reading back
//!   aqm.rs        active queue management, shares of the buffer
//!   input.rs      the shared buffer, the input stage, the crossbar
//!   link.rs       the cables at the ports
//!   mirror.rs     where copies of dropped packets go
//!   scheduler.rs  which queue is next: groups, trees
//!   counters.rs   what can be read and sampled
//!   reasons.rs    why packets were dropped
//!   trace.rs      which packets a client wants to follow, and their steps
//!   watch.rs      what a client wants to watch, and what it is told
//! ```

pub mod aqm;
pub mod config;
pub mod counters;
pub mod input;
pub mod link;
pub mod mirror;
pub mod reasons;
pub mod scheduler;
pub mod trace;
pub mod watch;

use prost::Message;
use prost::bytes::Bytes;
use tonic::{Code, Status};
use traffic::ConfigError;

use crate::proto::google::rpc;
use crate::proto::vitrine::v1;

/// One thing that is wrong with a request; all of them are reported together.
pub type Problem = ConfigError;

/// The status that lists every problem: INVALID_ARGUMENT, one `vitrine.v1.Problem` each.
pub fn problems_status(problems: &[Problem]) -> Status {
    let first = problems.first().map(ToString::to_string).unwrap_or_default();
    let message = match problems.len() {
        1 => format!("nothing was changed: {first}"),
        count => format!("nothing was changed: {count} problems; the first: {first}"),
    };
    let details = problems.iter().map(|problem| prost_types::Any {
        type_url: "type.googleapis.com/vitrine.v1.Problem".to_owned(),
        value: v1::Problem {
            place: problem.place.clone(),
            found: problem.found.clone(),
            advice: problem.advice.clone(),
        }
        .encode_to_vec(),
    });
    let status = rpc::Status {
        code: Code::InvalidArgument as i32,
        message: message.clone(),
        details: details.collect(),
    };
    Status::with_details(Code::InvalidArgument, message, Bytes::from(status.encode_to_vec()))
}
