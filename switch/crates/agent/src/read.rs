//! A Read, some elements at a time.

use std::collections::VecDeque;

use p4runtime::Refusal;
use p4runtime::found::Found;
use p4runtime::translate::query::Query;
use units::memory::Share;

use super::discard::Discard;
use super::exchange::{Reply, reply};
use super::look::{Cursor, View};
use super::request::{Findings, ReadResult};
use super::slice::SLICE_STEPS_MAX;
use super::target::Target;

/// Results are kept in portions of about this many: one list would be moved as it grows, for
/// milliseconds where it is long.
const FOUND_PORTION: usize = 1024;

#[derive(Debug)]
pub(super) struct ReadJob {
    queries: VecDeque<Result<Query, Refusal>>,
    role: String,
    /// Where the first of `queries` goes on.
    cursor: Cursor,
    found: Vec<Found>,
    /// The full portions before it.
    portions: Vec<Vec<Found>>,
    results: Vec<Result<(), Refusal>>,
    /// The memory of all of it.
    memory: Share,
    reply: Reply<ReadResult>,
}

impl ReadJob {
    /// A read that has not begun; `role`: only its entities, if it is not empty. The results come
    /// out of `memory`, a share of nothing.
    pub fn new(
        queries: Vec<Result<Query, Refusal>>,
        role: String,
        memory: Share,
        reply: Reply<ReadResult>,
    ) -> Self {
        Self {
            results: Vec::with_capacity(queries.len()),
            queries: queries.into(),
            role,
            cursor: Cursor::default(),
            found: Vec::new(),
            portions: Vec::new(),
            memory,
            reply,
        }
    }

    /// Answers without looking at anything.
    pub fn refuse(self, refusal: Refusal) {
        reply(self.reply, Err(refusal));
    }

    /// Goes on for about `left` steps. `None`: it has come to its end, and is answered.
    pub fn go_on(
        mut self,
        target: Target<'_>,
        left: &mut usize,
        discard: &Discard,
    ) -> Option<Self> {
        let Target { forwarding, pipeline, now, .. } = target;
        let mut view = View { forwarding, pipeline, now, role: &self.role };
        while *left > 0 {
            if self.found.len() >= FOUND_PORTION {
                let next = Vec::with_capacity(FOUND_PORTION + SLICE_STEPS_MAX);
                self.portions.push(std::mem::replace(&mut self.found, next));
            }
            let Some(query) = self.queries.front() else {
                self.portions.push(self.found);
                let Self { portions, results, memory, .. } = self;
                let findings = Findings { portions, results, memory };
                if let Err(nobody_waits) = self.reply.send(Ok(findings)) {
                    discard.take(nobody_waits);
                }
                return None;
            };
            let found_before = self.found.len();
            let step = match query {
                Ok(query) => view.look(query, &mut self.cursor, left, &mut self.found),
                Err(refusal) => Err(refusal.clone()),
            };
            let new = self.found.iter().skip(found_before).map(Found::size_bytes).sum();
            if let Err(exhausted) = self.memory.grow(new) {
                // The memory goes back when they have been freed, and not before.
                discard.take((self.found, self.portions, self.memory));
                reply(self.reply, Err(exhausted.into()));
                return None;
            }
            let result = match step {
                Ok(false) => break,
                Ok(true) => Ok(()),
                Err(refusal) => Err(refusal),
            };
            *left = left.saturating_sub(1);
            self.results.push(result);
            self.queries.pop_front();
            self.cursor = Cursor::default();
        }
        Some(self)
    }
}
