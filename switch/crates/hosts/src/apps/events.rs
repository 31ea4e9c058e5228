//! Events of applications, one at a time, for a watcher of the host.

use units::{Span, Time};

use super::{Fetched, FlowDone, Report};
use crate::stack::{AppId, Endpoint, Undelivered};

/// Something that an application saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppEvent {
    pub at: Time,
    pub app: AppId,
    pub seen: Seen,
}

/// An event of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It begins, after what it had to wait for.
    Began,
    /// An echo request was answered.
    Echo(Echo),
    /// An echo request was not delivered.
    EchoError(EchoError),
    /// It has ended, and this is its report.
    Ended(Report),
    /// A page is here.
    Fetched(Fetched),
    /// A flow is over.
    Flow(FlowDone),
    /// A datagram that is none of ours: its length and first bytes.
    Payload {
        /// The sender.
        from: Endpoint,
        /// How long its payload is.
        bytes: usize,
        /// As many first bytes as asked for.
        head: Vec<u8>,
    },
}

/// An answer to an echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The request's, from 0.
    pub number: u64,
    /// When the request left.
    pub sent_at: Time,
    /// How long the answer took.
    pub rtt: Span,
}

/// The answer to an echo request that was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoError {
    /// The request's number, when it left, and how long the error took.
    pub echo: Echo,
    pub what: Undelivered,
}
