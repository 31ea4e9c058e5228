//! A Write, a slice at a time.
//!
//! Packets pass between the slices. A batch that is all or nothing keeps what would put things back;
//! when one of its updates fails, that is carried out, in slices too. Only DATAPLANE_ATOMIC, of
//! which no packet may see a half, is carried out in one go, and is bounded for that.

use std::collections::VecDeque;

use tonic::Code;

use super::Atomicity;
use super::apply::Target;
use super::remains::Remains;
use super::undo;
use crate::exchange::{Reply, reply};
use crate::refusal::Refusal;
use crate::translate::change::Change;

/// The most steps (entries of a table) that a batch may take of which no packet may see a half:
/// packets wait for all of them. `make bench-control` tells how long.
pub const ATOMIC_STEPS_MAX: usize = 128;

/// One result per element of a batch, in its order; or none of it was tried.
pub type BatchResult = Result<Vec<Result<(), Refusal>>, Refusal>;

#[derive(Debug)]
pub(super) struct WriteJob {
    changes: VecDeque<Result<Change, Refusal>>,
    atomicity: Atomicity,
    results: Vec<Result<(), Refusal>>,
    /// What puts things back as they were, the last first.
    undo: Vec<Change>,
    /// An update of a batch that is all or nothing has failed: things are being put back.
    is_failing: bool,
    reply: Reply<BatchResult>,
}

/// Whether a batch can be carried out as it stands.
pub(super) fn check(
    changes: &[Result<Change, Refusal>],
    atomicity: Atomicity,
) -> Result<(), Refusal> {
    if atomicity != Atomicity::Atomic {
        return Ok(());
    }
    let steps = changes.iter().flatten().map(Change::steps);
    let steps = steps.fold(0, usize::saturating_add);
    if steps > ATOMIC_STEPS_MAX {
        return Err(Refusal::unimplemented(format!(
            "a DATAPLANE_ATOMIC batch may change {ATOMIC_STEPS_MAX} entries or cells, because \
             packets wait for it; this one changes {steps}: use ROLLBACK_ON_ERROR, or several"
        )));
    }
    Ok(())
}

impl WriteJob {
    pub fn new(
        changes: Vec<Result<Change, Refusal>>,
        atomicity: Atomicity,
        reply: Reply<BatchResult>,
    ) -> Self {
        Self {
            results: Vec::with_capacity(changes.len()),
            changes: changes.into(),
            atomicity,
            undo: Vec::new(),
            is_failing: false,
            reply,
        }
    }

    /// Answers without doing anything.
    pub fn refuse(self, refusal: Refusal) {
        reply(self.reply, Err(refusal));
    }

    /// Goes on for about `left` steps. `None`: it has come to its end, and is answered.
    pub fn go_on(
        mut self,
        target: &mut Target<'_>,
        left: &mut usize,
        remains: &Remains,
    ) -> Option<Self> {
        while *left > 0 || self.atomicity == Atomicity::Atomic {
            let is_done = match self.is_failing {
                false => self.change_one(target, left),
                true => self.put_one_back(target, left),
            };
            if is_done {
                remains.bury(self.undo);
                reply(self.reply, Ok(self.results));
                return None;
            }
        }
        Some(self)
    }

    /// Carries out the next update, or a part of it. `true`: there is none.
    fn change_one(&mut self, target: &mut Target<'_>, left: &mut usize) -> bool {
        let cells = if self.atomicity == Atomicity::Atomic { usize::MAX } else { *left };
        let part = match self.changes.front_mut() {
            None => return true,
            Some(Ok(change)) => change.split_off_first(cells).map(Ok),
            Some(Err(_)) => None,
        };
        let is_last = part.is_none();
        let Some(change) = part.or_else(|| self.changes.pop_front()) else { return true };
        let result = change.and_then(|change| {
            *left = left.saturating_sub(change.steps());
            let before = match self.atomicity {
                Atomicity::Continue => Vec::new(),
                Atomicity::Atomic | Atomicity::Rollback => undo::inverse(target, &change),
            };
            target.apply(change)?;
            self.undo.extend(before);
            Ok(())
        });
        match result {
            Ok(()) if is_last => self.results.push(Ok(())),
            Ok(()) => {}
            Err(refusal) => {
                *left = left.saturating_sub(1);
                if !is_last {
                    self.changes.pop_front();
                }
                self.results.push(Err(refusal));
                self.is_failing = self.atomicity != Atomicity::Continue;
            }
        }
        false
    }

    /// Takes one change back. `true`: all are, and the results say so.
    fn put_one_back(&mut self, target: &mut Target<'_>, left: &mut usize) -> bool {
        match self.undo.pop() {
            Some(change) => {
                *left = left.saturating_sub(change.steps());
                // What was there before fits again: this cannot fail, and there is nobody to tell.
                let _fits = target.apply(change);
                false
            }
            None => {
                self.say_that_nothing_was_done();
                true
            }
        }
    }

    /// Every update but the one that failed was not carried out because of it.
    fn say_that_nothing_was_done(&mut self) {
        let failed = self.results.len() - 1;
        let aborted = || {
            Err(Refusal::new(
                Code::Aborted,
                format!("not carried out, because update {failed} of the batch failed"),
            ))
        };
        let total = self.results.len() + self.changes.len();
        let last = self.results.pop();
        self.results.clear();
        self.results.resize_with(failed, aborted);
        self.results.extend(last);
        self.results.resize_with(total, aborted);
    }
}
