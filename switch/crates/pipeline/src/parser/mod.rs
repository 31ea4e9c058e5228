//! The parser: states as lists of operations, and transitions on packed keys.
//!
//! No packet can keep it busy: a state may be entered at most [`STATES_MAX`] times before the
//! packet is given the error `ParserTimeout` (core.p4). Parsers that make progress need no more
//! than one state a byte of header.

mod load;
mod lower;
mod run;

pub(crate) use load::load_parser;

use crate::action::Routine;
use crate::expression::{Condition, HeaderRef, Number};
use crate::place::{Cell, Gather, Place};

/// How many states one packet may enter.
pub(crate) const STATES_MAX: u32 = 4096;

/// The errors of core.p4, as numbered by the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorCodes {
    pub no_error: u32,
    pub packet_too_short: u32,
    pub stack_out_of_bounds: u32,
    pub header_too_short: u32,
    pub parser_timeout: u32,
    pub parser_invalid_argument: u32,
}

/// Which header an extraction fills.
#[derive(Clone, Debug)]
enum Target {
    Header(u32),
    Stack(u32),
    UnionStack { stack: u32, member: u32 },
}

/// Bits ahead in the packet.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    offset: usize,
    width: usize,
}

#[derive(Clone, Debug)]
#[repr(u8)]
enum Operation {
    Advance(Number),
    Extract(Target),
    /// A header that says itself how long its variable field is, in fields before it.
    ExtractSelfSized {
        header: u32,
        width: Number,
    },
    ExtractVariable {
        target: Target,
        width: Number,
    },
    Lookahead {
        to: Place,
        ahead: Ahead,
    },
    Steps(Routine),
    Verify {
        condition: Condition,
        error: Number,
    },
}

/// The extraction of a header without variable field and outside of unions: a copy of bytes.
#[derive(Clone, Copy, Debug)]
struct PlainExtraction {
    header: u32,
    base: u32,
    length: u32,
    valid: u32,
}

/// A component of a transition key.
#[derive(Clone, Debug)]
enum KeySource {
    Cell(Cell),
    Found { header: HeaderRef, place: Place },
    Lookahead(Ahead),
    Place(Place),
}

/// A component and the bytes it takes.
#[derive(Clone, Debug)]
struct KeyPart {
    source: KeySource,
    bytes: usize,
    /// Its width in bits, for splitting members of value sets.
    width: usize,
}

/// When a transition is taken.
#[derive(Clone, Debug)]
enum Matches {
    /// A key of up to eight bytes.
    Narrow {
        value: u64,
        mask: u64,
    },
    Wide {
        value: Vec<u8>,
        mask: Vec<u8>,
    },
    /// A member of a value set, compared in the bits of the mask.
    ValueSet {
        set: usize,
        mask: Option<Vec<u8>>,
    },
}

/// The parser is done.
pub(crate) const ACCEPT: u32 = u32::MAX;

/// A value of a key of up to 64 bits, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub value: u64,
    /// The bits that are compared.
    pub mask: u64,
    /// The state that follows.
    pub next: u32,
}

/// The choice of most states: fields of up to 64 bits together, compared with constants.
#[derive(Clone, Debug)]
struct Cases {
    key: Box<[Gather]>,
    cases: Box<[Case]>,
}

#[derive(Clone, Debug)]
struct State {
    name: String,
    /// The first extractions of the state, as long as they are plain: mostly all of the state.
    extractions: Vec<PlainExtraction>,
    operations: Vec<Operation>,
    /// The choice in its short form, if it has one and the state does nothing else.
    plain: Option<Cases>,
    key: Vec<KeyPart>,
    key_bytes: usize,
    transitions: Vec<(Matches, u32)>,
    default: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Parser {
    states: Vec<State>,
    start: u32,
    pub errors: ErrorCodes,
    /// Names of errors by number.
    pub error_names: Vec<(String, u32)>,
}

impl Parser {
    /// Name of an error.
    pub fn error_name(&self, code: u32) -> String {
        let known = self.error_names.iter().find(|(_, candidate)| *candidate == code);
        known.map_or_else(|| format!("error {code}"), |(name, _)| name.clone())
    }
}
