//! A Write, a slice at a time.
//!
//! Packets pass between the slices. A batch that is all or nothing keeps what would put things back;
//! when one of its updates fails, that is carried out, in slices too. Only DATAPLANE_ATOMIC, of
//! which no packet may see a half, is carried out in one go, and is bounded for that.

use std::collections::{BTreeSet, VecDeque};

use p4runtime::refusal::Refusal;
use p4runtime::router::config::ports_text;
use p4runtime::translate::change::Change;
use units::PortId;

use super::batch::{Atomicity, BatchResult, Outcome};
use super::discard::Discard;
use super::target::Target;
use super::undo;
use crate::exchange::{Reply, reply};

/// The most steps (entries of a table) of a batch that no packet may see half-done: packets wait
/// for all of them. `make bench-control` measures how long.
pub const ATOMIC_STEPS_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct WriteJob {
    changes: VecDeque<Result<Change, Refusal>>,
    atomicity: Atomicity,
    /// The ports that choices may watch: they do not change while it is carried out.
    ports: BTreeSet<PortId>,
    results: Vec<Result<(), Refusal>>,
    /// The changes that restore the former state, the last first.
    undo: Vec<Change>,
    /// An update of a batch that is all or nothing has failed: things are being put back.
    failed: Option<Refusal>,
    reply: Reply<BatchResult>,
}

/// Whether a batch can be carried out as it stands. Looks at all of it: not for the data-plane thread.
pub fn check_batch(
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
        ports: BTreeSet<PortId>,
        reply: Reply<BatchResult>,
    ) -> Self {
        // A list that grows is moved, which takes long where it is long.
        let undo_count = if atomicity == Atomicity::Continue { 0 } else { changes.len() };
        Self {
            results: Vec::with_capacity(changes.len()),
            changes: changes.into(),
            atomicity,
            ports,
            undo: Vec::with_capacity(undo_count),
            failed: None,
            reply,
        }
    }

    /// Answers without doing anything; the batch is freed elsewhere.
    pub fn refuse(self, refusal: Refusal, discard: &Discard) {
        discard.take(self.changes);
        reply(self.reply, Err(refusal));
    }

    /// Goes on for about `left` steps. `None`: it has come to its end, and is answered.
    pub fn go_on(
        mut self,
        target: &mut Target<'_>,
        left: &mut usize,
        discard: &Discard,
    ) -> Option<Self> {
        while *left > 0 || self.atomicity == Atomicity::Atomic {
            let is_done = match self.failed {
                None => self.change_one(target, left),
                Some(_) => self.put_one_back(target, left),
            };
            if is_done {
                self.end(discard);
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
            check_watched(&change, &self.ports)?;
            *left = left.saturating_sub(target.steps(&change));
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
                match self.atomicity {
                    Atomicity::Continue => self.results.push(Err(refusal)),
                    Atomicity::Atomic | Atomicity::Rollback => self.failed = Some(refusal),
                }
            }
        }
        false
    }

    /// Takes one change back. `true`: all are.
    fn put_one_back(&mut self, target: &mut Target<'_>, left: &mut usize) -> bool {
        match self.undo.pop() {
            Some(change) => {
                *left = left.saturating_sub(target.steps(&change));
                // The former state fits again: this cannot fail, and there is no one to report to.
                let _fits = target.apply(change);
                false
            }
            None => true,
        }
    }

    /// Answers; what is left of the batch is freed elsewhere.
    fn end(self, discard: &Discard) {
        let Self { changes, results, undo, failed, reply: slot, .. } = self;
        let outcome = match failed {
            None => {
                discard.take((changes, undo));
                Outcome::Each(results)
            }
            Some(refusal) => {
                let failed = results.len();
                let total = failed + 1 + changes.len();
                discard.take((changes, undo, results));
                Outcome::Nothing { failed, refusal, total }
            }
        };
        if let Err(nobody_waits) = slot.send(Ok(outcome)) {
            discard.take(nobody_waits);
        }
    }
}

/// A choice can depend only on a port that there is: specification, "Group Programming".
fn check_watched(change: &Change, ports: &BTreeSet<PortId>) -> Result<(), Refusal> {
    let watched = change.watched_ports();
    match watched.iter().find(|port| !ports.contains(port)) {
        None => Ok(()),
        Some(port) => {
            let known = ports_text(ports.iter().copied());
            Err(Refusal::invalid(format!(
                "a choice watches port {port}, which is not there; the switch has {known}"
            )))
        }
    }
}
