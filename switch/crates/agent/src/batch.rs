//! A batch of updates: how they stand to each other, and what became of them.

use messages::p4::v1::write_request;
use p4runtime::{Code, Refusal};

/// How the updates of a batch stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// All or none, and no packet sees less than all.
    Atomic,
    /// Each for itself.
    Continue,
    /// All or none, but packets may see some of them.
    Rollback,
}

impl Atomicity {
    /// From the number in a WriteRequest.
    pub fn new(number: i32) -> Result<Self, Refusal> {
        use write_request::Atomicity as Given;
        match Given::try_from(number) {
            Ok(Given::ContinueOnError) => Ok(Self::Continue),
            Ok(Given::RollbackOnError) => Ok(Self::Rollback),
            Ok(Given::DataplaneAtomic) => Ok(Self::Atomic),
            Err(_) => Err(Refusal::invalid(format!("atomicity {number} is not known"))),
        }
    }
}

/// The result of a batch; `Err`: none of it was tried.
pub type BatchResult = Result<Outcome, Refusal>;

/// The result of a batch that was tried.
#[derive(Debug)]
pub enum Outcome {
    /// One result per update, in their order.
    Each(Vec<Result<(), Refusal>>),
    /// Nothing was done, because of one update. A result for each of the others would be a text
    /// apiece, which is too much for the data-plane thread to write.
    Nothing {
        /// The update that failed.
        failed: usize,
        /// Why it did.
        refusal: Refusal,
        /// How many there are.
        total: usize,
    },
}

impl Outcome {
    /// One result per update, in their order.
    pub fn into_results(self) -> Vec<Result<(), Refusal>> {
        let (failed, refusal, total) = match self {
            Outcome::Each(results) => return results,
            Outcome::Nothing { failed, refusal, total } => (failed, refusal, total),
        };
        let message = format!("not carried out, because update {failed} of the batch failed");
        let mut results = vec![Err(Refusal::new(Code::Aborted, message)); total];
        results[failed] = Err(refusal);
        results
    }
}
