//! A host's future events: a heap whose entries may be early.
//!
//! A connection's instant moves with every segment, mostly to later. Instead of moving its entry,
//! the entry stays, and its taker looks up the instant that is really due: one entry a timeout
//! instead of one a segment.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

/// The part to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wake {
    /// An application, with the token it gave.
    App(usize, u64),
    /// A connection, by its place and generation.
    Connection(usize, u32),
    /// The unanswered questions for neighbours at a card.
    Neighbours(usize),
}

/// Earliest first; at one instant in the order of noting.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<(Time, u64, Wake)>>,
    noted: u64,
}

impl Agenda {
    /// Notes that `whom` is to be woken at `at`.
    pub fn note(&mut self, at: Time, whom: Wake) {
        self.heap.push(Reverse((at, self.noted, whom)));
        self.noted += 1;
    }

    /// When the next is to be woken.
    pub fn next_due(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes one off that is due at `now`, with the instant that was noted.
    pub fn take_due(&mut self, now: Time) -> Option<(Time, Wake)> {
        if self.next_due()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, whom))| (at, whom))
    }
}
