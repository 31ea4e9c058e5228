//! A fault of an outside decider.

use core::fmt;

use crate::Time;

/// The reason why an outside decider, such as a student's arbiter or congestion control, is no
/// longer called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The instant of the decision.
    pub at: Time,
    /// Which decision it was, from 1.
    pub decision: u64,
    /// The mistake.
    pub what: String,
    /// The question that it answered, in words.
    pub asked: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { at, decision, what, asked } = self;
        write!(f, "decision {decision}, at {} ns: {what}; asked was: {asked}", at.whole_ns())
    }
}
