//! An entry, as a controller writes it.

use bits::Int;
use units::Span;

/// An entry's number: stable while the entry exists, reused afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u32);

/// An entry's match for one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyMatch {
    Any,
    Exact(Int),
    /// This value in the first bits.
    Lpm {
        /// The value; later bits do not count.
        value: Int,
        /// How many bits count.
        length_bits: u32,
    },
    /// A value from low to high, both included.
    Range {
        low: Int,
        high: Int,
    },
    /// This value in the bits of a mask.
    Ternary {
        /// The value; bits outside the mask do not count.
        value: Int,
        /// The bits that count.
        mask: Int,
    },
}

/// The action on a match, or on a miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    Action {
        /// Index of the action in the program.
        action: usize,
        data: Vec<Int>,
    },
    /// Runs the action of one member of a group of the table's action profile.
    Group(u32),
    /// Runs the action of a member of the table's action profile.
    Member(u32),
}

/// An entry as the control plane writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One match a key.
    pub key: Vec<KeyMatch>,
    /// Ternary and range tables: the highest number wins, as in P4Runtime. Elsewhere 0.
    pub priority: i32,
    pub action: EntryAction,
    /// The entry is reported when no packet has hit it for this long.
    pub idle_timeout: Option<Span>,
}
