//! Deciders from outside: an arbiter, a scheduler or an AQM that is no part of this crate, such as a
//! student's in another process, in the place of the router's own.
//!
//! The router calls the decider, checks the answer and acts on it. An answer that is not allowed
//! (an output used twice, a class without packets) or an error of the decider is a [`Fault`]: it is
//! kept with the instant and the question, the decider is not called again, and the router's driver
//! ends the run. Until then the router acts harmlessly: it matches nothing, serves the lowest class
//! and lets every packet pass.
//!
//! A decider can be *compared*: then the router's own part decides too, and the first decision that
//! differs is a fault as well.

mod aqm;
mod arbiter;
mod scheduler;

use units::Time;

pub use aqm::{AqmQuestion, AqmVerdict};
pub use arbiter::MatchQuestion;
pub(crate) use arbiter::OwnMatch;
pub use scheduler::TurnQuestion;
pub use units::Fault;

/// Matches inputs and outputs of the crossbar.
pub trait ArbiterOutside: Send {
    /// The pairs `(input, output)`, counted from 0; `Err` says what went wrong inside.
    fn decide(&mut self, question: &MatchQuestion) -> Result<Vec<(usize, usize)>, String>;

    /// Its state in words, for a message; empty if it does not say.
    fn state(&mut self) -> String {
        String::new()
    }
}

/// Chooses which class sends next.
pub trait SchedulerOutside: Send {
    /// A packet entered the queue of `class`.
    fn handle_enqueue(&mut self, at: Time, class: usize, bytes: u64);

    /// The class that sends; `Err` says what went wrong inside.
    fn decide(&mut self, question: &TurnQuestion) -> Result<usize, String>;

    /// `class`, as chosen, sent a packet; `emptied` says whether its queue is now empty.
    fn handle_departure(&mut self, class: usize, bytes: u64, emptied: bool);

    /// Queue management dropped the first packet of `class`, which was about to leave.
    fn handle_drop(&mut self, class: usize, bytes: u64, emptied: bool);

    /// Its state in words, for a message; empty if it does not say.
    fn state(&mut self) -> String {
        String::new()
    }
}

/// Drops or marks packets of one queue before it is full.
pub trait AqmOutside: Send {
    /// The verdict on a packet; an `Err` describes an internal failure.
    fn decide(&mut self, question: &AqmQuestion) -> Result<AqmVerdict, String>;
}

/// A decider at work.
pub(crate) struct Guest<D: ?Sized> {
    decider: Box<D>,
    /// Whether the router's own part decides too.
    pub compared: bool,
    decisions: u64,
    pub fault: Option<Fault>,
}

impl<D: ?Sized> Guest<D> {
    pub fn new(decider: Box<D>, compared: bool) -> Guest<D> {
        Guest { decider, compared, decisions: 0, fault: None }
    }

    /// Asks, unless it has failed before; a failure is kept.
    fn ask<T>(
        &mut self,
        at: Time,
        ask: impl FnOnce(&mut D) -> Result<T, String>,
        asked: impl FnOnce() -> String,
    ) -> Option<T> {
        if self.fault.is_some() {
            return None;
        }
        self.decisions += 1;
        match ask(&mut self.decider) {
            Ok(answer) => Some(answer),
            Err(what) => {
                let decision = self.decisions;
                self.fault = Some(Fault { at, decision, what, asked: asked() });
                None
            }
        }
    }
}

/// The end of a message about two decisions that differ: what the outside one remembers now.
fn remembered(state: &str) -> String {
    if state.is_empty() { String::new() } else { format!("; now yours has {state}") }
}
