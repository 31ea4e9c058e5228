//! [`Refusal`]: why a request, or one update of a batch, was not carried out.
//!
//! The same value becomes a [`Status`] (a whole request refused) or a `p4.v1.Error` (one update
//! of a batch refused; `details.rs`). Its message says what was found, where, and what to do.

use prost::bytes::Bytes;
use units::memory::Exhausted;

use crate::code::Code;

/// A reason in the words of gRPC: the code is for programs, the message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of mistake, as P4Runtime's specification assigns codes.
    pub code: Code,
    /// The mistake, its place, and its correction.
    pub message: String,
}

impl Refusal {
    /// A refusal with any code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The request contradicts itself or the program's P4Info.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// The request names something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// The request is not allowed for this controller, or for any.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Code::PermissionDenied, message)
    }

    /// A value does not fit its width, an index its array.
    pub fn out_of_range(message: impl Into<String>) -> Self {
        Self::new(Code::OutOfRange, message)
    }

    /// The request would exceed a size that the program or the switch sets.
    pub fn exhausted(message: impl Into<String>) -> Self {
        Self::new(Code::ResourceExhausted, message)
    }

    /// The request is right but the switch is not in the state it needs.
    pub fn precondition(message: impl Into<String>) -> Self {
        Self::new(Code::FailedPrecondition, message)
    }

    /// P4Runtime has the words, this switch not the function.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// The new object exists already.
    pub fn exists(message: impl Into<String>) -> Self {
        Self::new(Code::AlreadyExists, message)
    }

    /// The same refusal, its message preceded by where it happened.
    #[must_use]
    pub fn within(mut self, place: impl std::fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

impl From<Exhausted> for Refusal {
    fn from(exhausted: Exhausted) -> Self {
        Self::exhausted(exhausted.to_string())
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}

/// How a call ended that did not succeed: what gRPC sends as its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The kind of mistake.
    pub code: Code,
    /// The mistake, its place, and its correction.
    pub message: String,
    /// A `google.rpc.Status` with an error for each element of a batch; empty if there is no batch.
    pub details: Bytes,
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code, message: refusal.message, details: Bytes::new() }
    }
}
