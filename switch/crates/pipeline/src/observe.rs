//! Watching a packet on its way.
//!
//! The pipeline is generic over its observer. With [`Unobserved`] every hook compiles to nothing;
//! a recorder gets an [`Event`] for each step, in order. Events carry names and values, so they can
//! outlive the program they come from.

use bits::Int;
use bmv2::SourceInfo;
use tables::KeyMatch;

use crate::queues::Queues;

/// Something that happened to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Action {
        name: String,
        /// Names and values of its parameters.
        data: Vec<(String, Int)>,
    },
    /// An `assert` or `assume` did not hold; the packet is dropped.
    AssertionFailed {
        /// The statement and its place in the source.
        what: String,
    },
    /// A checksum was compared or written.
    Checksum {
        name: String,
        /// Compared after parsing, rather than written before deparsing.
        verified: bool,
        computed: u64,
        /// The value of the field.
        found: u64,
    },
    /// An `if` of a control.
    Condition {
        name: String,
        /// Which branch was taken.
        holds: bool,
    },
    Control {
        /// `ingress` or `egress`.
        name: String,
    },
    /// A header is put onto the wire.
    Emitted { header: String },
    /// A header was filled from the wire.
    Extracted {
        header: String,
        /// Its length in bytes.
        length: usize,
    },
    /// A field has a new value.
    FieldChanged {
        /// `header.field`.
        field: String,
        before: Int,
        after: Int,
    },
    /// The program's `log_msg`.
    Log {
        /// The text with its values.
        text: String,
    },
    /// The parser entered a state.
    ParserState { name: String },
    ParserDone {
        /// Name of the error; `NoError` if all went well.
        error: String,
        /// How many bytes it consumed.
        parsed: usize,
    },
    /// A primitive of an action is next.
    Primitive {
        /// The statement that it comes from, if the program's JSON says so.
        source: Option<SourceInfo>,
    },
    /// The program read the state of the queues.
    QueueRead {
        /// The function of `vitrine.p4`.
        function: String,
        /// The arguments, by the names of the parameters.
        inputs: Vec<(String, u64)>,
        /// The results, likewise.
        outputs: Vec<(String, u64)>,
    },
    /// A table was applied.
    Table {
        table: String,
        /// Names and values of its keys.
        key: Vec<(String, Int)>,
        /// The entry that was hit.
        entry: Option<u32>,
        /// The generation of that entry, which distinguishes it from former ones of its number; of
        /// a miss 0.
        handle: u32,
        /// The match of that entry for each key, in their order; of a miss nothing.
        matches: Vec<KeyMatch>,
        /// Of a hit in a ternary or range table; else 0.
        priority: i32,
    },
}

/// The surroundings of a running program: an observer, and the queues that it can read.
pub trait Observe {
    /// Whether anybody looks at all; the cost of finding out is paid only then.
    const ENABLED: bool;
    /// Takes an event; not called unless [`Self::ENABLED`].
    fn event(&mut self, event: impl FnOnce() -> Event);
    /// Takes an [`Event::Primitive`]. There are many, so they are for those who ask.
    fn primitive(&mut self, _event: impl FnOnce() -> Event) {}
    /// The queues that the program may read; without any, every read returns zeros.
    fn queues(&self) -> Option<&dyn Queues> {
        None
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observe for Unobserved {
    const ENABLED: bool = false;
    #[inline(always)]
    fn event(&mut self, _event: impl FnOnce() -> Event) {}
}

/// Nobody watches a program that reads these queues.
#[derive(Clone, Copy)]
pub struct Reading<'a>(pub &'a dyn Queues);

impl Observe for Reading<'_> {
    const ENABLED: bool = false;
    #[inline(always)]
    fn event(&mut self, _event: impl FnOnce() -> Event) {}
    fn queues(&self) -> Option<&dyn Queues> {
        Some(self.0)
    }
}

impl Observe for Vec<Event> {
    const ENABLED: bool = true;
    fn event(&mut self, event: impl FnOnce() -> Event) {
        self.push(event());
    }
}
