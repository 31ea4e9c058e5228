//! What a loaded program takes of the memory, and what controllers write to it.

use units::memory::{Budget, Exhausted, Purpose, Share};

/// The memory of a program, given back with it.
///
/// What is written is paid for afterwards: more is refused once what there is cannot be paid for, so
/// that nobody need know beforehand how an index will grow. What is removed is given back when whoever
/// removed it has settled, because until then it may have to be put back.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) program: Share,
    entries: Share,
    /// What was written takes.
    used_bytes: u64,
}

impl Memory {
    pub(crate) fn of(budget: Budget) -> Memory {
        let (program, entries) = (budget.share(Purpose::Programs), budget.share(Purpose::Entries));
        Memory { program, entries, used_bytes: 0 }
    }

    /// The program takes so much beside its arrays, if that can be had.
    pub fn grow_program(&mut self, more_bytes: u64) -> Result<(), Exhausted> {
        self.program.grow(more_bytes)
    }

    /// Whether something more may be written.
    #[inline]
    pub fn check(&mut self) -> Result<(), Exhausted> {
        self.entries.cover(self.used_bytes)
    }

    /// What took so much takes so much now.
    #[inline]
    pub fn note(&mut self, before_bytes: u64, after_bytes: u64) {
        self.used_bytes = (self.used_bytes + after_bytes).saturating_sub(before_bytes);
    }

    /// What was written takes so much in all, and what has been removed will not be put back.
    pub(crate) fn settle(&mut self, used_bytes: u64) {
        self.used_bytes = used_bytes;
        self.entries.shrink(used_bytes);
    }
}
