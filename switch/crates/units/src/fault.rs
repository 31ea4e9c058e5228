//! What a decider from outside did wrong.

use core::fmt;

use crate::Time;

/// Why a decider from outside, such as a student's arbiter or congestion control, is asked no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The instant of the decision.
    pub at: Time,
    /// Which decision it was, from 1.
    pub decision: u64,
    /// What was wrong with it.
    pub what: String,
    /// What was asked, in words.
    pub asked: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { at, decision, what, asked } = self;
        write!(f, "decision {decision}, at {} ns: {what}; asked was: {asked}", at.whole_ns())
    }
}
