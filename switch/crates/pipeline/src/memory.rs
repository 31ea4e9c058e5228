//! The memory of a loaded program and of its entries.

use units::memory::{Budget, Exhausted, Purpose, Share};

/// The memory of a program, given back with it.
///
/// Entries are paid for afterwards: once the existing ones cannot be paid for, more are refused, so
/// that the growth of an index need not be known beforehand. The memory of removed entries is given
/// back when the remover has settled, because until then they may have to be put back.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) program: Share,
    entries: Share,
    /// The memory of entries.
    used_bytes: u64,
}

impl Memory {
    pub(crate) fn of(budget: Budget) -> Memory {
        let (program, entries) = (budget.share(Purpose::Programs), budget.share(Purpose::Entries));
        Memory { program, entries, used_bytes: 0 }
    }

    /// The program takes this much more beside its arrays, if there is room.
    pub fn grow_program(&mut self, more_bytes: u64) -> Result<(), Exhausted> {
        self.program.grow(more_bytes)
    }

    /// Whether something more may be written.
    #[inline]
    pub fn check(&mut self) -> Result<(), Exhausted> {
        self.entries.cover(self.used_bytes)
    }

    /// A thing of the first size has the second size now.
    #[inline]
    pub fn note(&mut self, before_bytes: u64, after_bytes: u64) {
        self.used_bytes = (self.used_bytes + after_bytes).saturating_sub(before_bytes);
    }

    /// The entries take this much in all, and removed ones will not be put back.
    pub(crate) fn settle(&mut self, used_bytes: u64) {
        self.used_bytes = used_bytes;
        self.entries.shrink(used_bytes);
    }
}
