//! [`Refusal`]: why a request, or one update of a batch, was not carried out.
//!
//! The same value becomes a gRPC status (a whole request refused) or a `p4.v1.Error` (one update
//! of a batch refused). Its message says what was found, where, and what to do.

use prost::Message;
use prost::bytes::Bytes;
use tonic::{Code, Status};

use crate::proto::google::rpc;
use crate::proto::p4::v1 as p4;

/// Names the error codes of this switch in `p4.v1.Error.space`.
const ERROR_SPACE: &str = "vitrine";

/// Bytes of details after which no more messages are added. Clients accept 8 KiB of metadata
/// unless told otherwise, and details travel in base64 (4 bytes for 3) beside the message. A
/// status that is too large reaches the client as RESOURCE_EXHAUSTED without any details.
const DETAILS_SIZE_BYTES_MAX: usize = 5_500;

/// A reason in the words of gRPC: the code is for programs, the message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of mistake it was, as P4Runtime's specification assigns codes.
    pub code: Code,
    /// What was found, where, and what to do.
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

    /// The request asks for what this controller, or any, may not do.
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

    /// What is being created exists already.
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

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.message)
    }
}

/// The status of a batch of which something failed: UNKNOWN, with one `p4.v1.Error` per element of
/// the batch in its order (specification, "Write RPC", "Error Reporting").
///
/// `verb` says what failed ("Write", "Read"). There is always one error per element, however long
/// the batch: clients that send long batches raise their limit on metadata, as the specification
/// advises. Only the messages give way when they alone would exceed the usual limit.
pub fn batch_status(verb: &str, results: &[Result<(), Refusal>]) -> Status {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let first =
        results.iter().enumerate().find_map(|(idx, result)| Some((idx, result.as_ref().err()?)));
    let message = match first {
        Some((idx, refusal)) => {
            format!(
                "{verb}: {failed} of {} failed; the first is number {idx}: {}",
                results.len(),
                refusal.message
            )
        }
        None => format!("{verb}: all {} succeeded", results.len()),
    };
    let mut size_bytes = message.len();
    let details: Vec<_> = results
        .iter()
        .map(|result| {
            let detail = detail(result, size_bytes < DETAILS_SIZE_BYTES_MAX);
            size_bytes += detail.encoded_len();
            detail
        })
        .collect();
    let status = rpc::Status { code: Code::Unknown as i32, message: message.clone(), details };
    Status::with_details(Code::Unknown, message, Bytes::from(status.encode_to_vec()))
}

/// One element's outcome as the specification packs it; success has no field set but the code.
fn detail(result: &Result<(), Refusal>, with_message: bool) -> prost_types::Any {
    let error = match result {
        Ok(()) => p4::Error::default(),
        Err(refusal) => p4::Error {
            canonical_code: refusal.code as i32,
            message: if with_message { refusal.message.clone() } else { String::new() },
            space: ERROR_SPACE.to_owned(),
            code: refusal.code as i32,
            details: None,
        },
    };
    prost_types::Any {
        type_url: "type.googleapis.com/p4.v1.Error".to_owned(),
        value: error.encode_to_vec(),
    }
}
