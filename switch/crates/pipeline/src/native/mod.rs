//! The loaded program as a compiler to machine code reads it, and what such a compiler gives back.
//!
//! This crate compiles nothing: it knows no processor and stays free of `unsafe`. The loader of a
//! program may hand in a compiler ([`crate::Config::compile`]). It gets the program as a
//! [`Source`], whose lists describe the frequent parts of a program in a few words, and returns
//! [`Native`] code for them. Parts without words here are left to the interpreter:
//!
//! * an [`Op`] that is [`Op::Leave`] stands for a step that only the interpreter knows; machine
//!   code calls an [`Interpreter`] for it, and goes on where that says;
//! * a part of the packet's way that is `None` in the source is interpreted as a whole;
//! * a packet for which that part is more than the source says is interpreted there: one that has a
//!   header of varying length to be emitted, or a checksum of other data.
//!
//! So every program runs, whatever it uses. The interpreter stays the reference: with an observer
//! it does everything, and the tests hold both ways against each other.

mod compiled;
mod control;
mod packet;

use std::fmt;
use std::sync::Arc;

pub use crate::expression::Compare;
pub use crate::parser::Case;
pub use crate::place::{Cell, Gather, Masked, Slot};
pub use crate::state::RegisterArray;

pub(crate) use compiled::{Compiled, source, source_between};
pub(crate) use control::Lowering;

/// A compiler to machine code; an error says what it cannot do.
pub type Compile = fn(&Source) -> Result<Arc<dyn Native>, String>;

/// A program to compile.
#[derive(Clone, Debug)]
pub struct Source {
    /// Bytes of the area, in which a packet's headers and metadata lie. All offsets are offsets in
    /// it, and every window of eight bytes that is named lies inside it.
    pub area_bytes: usize,
    /// How many arrays of registers there are.
    pub registers: usize,
    /// All actions and controls: a step of the interpreter each, by the same numbers.
    pub ops: Vec<Op>,
    /// The parser's states; `None` for one that only the interpreter knows.
    pub states: Vec<Option<State>>,
    /// The checksums that are verified after parsing, of packets that have no other.
    pub verified: Option<Vec<Checksum>>,
    /// The checksums that are written before deparsing, likewise.
    pub updated: Option<Vec<Checksum>>,
    /// The headers that the deparser puts in front of the payload, for packets that have no others.
    pub headers: Option<Vec<Header>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Goes on at one of two ops: if the test fails, if it succeeds.
    Branch { test: Test, next: [u32; 2] },
    /// Runs an action without parameters, and what comes after it.
    Call {
        /// The action's first op.
        to: u32,
        /// The node after it.
        next: u32,
    },
    /// The end of the action will be the end of the control.
    Exit,
    /// Goes on there.
    Jump { to: u32 },
    /// The interpreter knows this step. For a table that is looked up with one number, these are
    /// the parts of that number, to be combined by `or`.
    Leave {
        /// The parts of the key; empty elsewhere.
        key: Vec<Gather>,
        /// The op that a jump goes to.
        to: Option<u32>,
    },
    /// Gives a field the value of a register of up to 64 bits, if there is one at the index.
    Read {
        to: Cell,
        array: u32,
        /// Which of its registers.
        index: Value,
    },
    /// Gives fields new values, one after the other; then the action is at its end.
    Return {
        stores: Vec<Store>,
        /// The op after the action, if it is the same wherever the action runs.
        after: Option<u32>,
    },
    /// Gives fields new values, one after the other.
    Set { stores: Vec<Store> },
    /// Gives a register of up to 64 bits a new value, if there is one at the index.
    Write {
        array: u32,
        /// Which of its registers.
        index: Value,
        value: Value,
        /// Which bits of that are kept.
        mask: u64,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    pub to: Target,
    /// Its value, of which the low bits are kept.
    pub value: Value,
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A field that shares its window with others.
    Cell(Cell),
    /// A field that has its window to itself.
    Slot(Slot),
}

/// A number modulo 2^64. Looking at it changes nothing, so nothing need be looked at in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of two numbers.
    Binary {
        /// How they are combined.
        operator: Operator,
        operands: Box<(Value, Value)>,
    },
    /// One number or another.
    Choose(Box<(Test, Value, Value)>),
    /// Always the same.
    Const(u64),
    /// A field without sign.
    Field(Cell),
    /// A parameter of the action.
    Param(u32),
    /// The low `width` bits of a number, 1 to 64, the highest of which is a sign.
    Signed { operand: Box<Value>, width: u8 },
    /// 1 if a test succeeds, else 0.
    Truth(Box<Test>),
}

/// How two numbers are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    /// The bits of both.
    And,
    Multiply,
    /// The bits of either.
    Or,
    /// The left shifted left by the right; 0 from 64 on.
    ShiftLeft,
    /// The left shifted right by the right; 0 from 64 on.
    ShiftRight,
    /// The left, which has a sign, shifted right by the right; all sign from 63 on.
    ShiftRightSigned,
    Subtract,
    /// The bits of one of them.
    Xor,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    And(Box<(Test, Test)>),
    /// Of two numbers.
    Compare {
        compare: Compare,
        /// Whether they have signs.
        signed: bool,
        operands: Box<(Value, Value)>,
    },
    /// Always the same.
    Const(bool),
    /// The field is one of `span + 1` values from `low` on.
    InRange {
        cell: Cell,
        low: u64,
        /// How many follow it.
        span: u64,
    },
    /// It does not succeed.
    Not(Box<Test>),
    /// One of them succeeds.
    Or(Box<(Test, Test)>),
    /// The header is valid whose validity is this byte.
    Valid(u32),
}

/// A state of the parser: it does what it does, then a key is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its parts, in order; no more than [`PARTS_MAX`].
    pub parts: Vec<StatePart>,
    /// The parts of the key, to be combined by `or`.
    pub key: Vec<Gather>,
    /// The first whose value the key has in the bits of its mask says what comes next.
    pub cases: Vec<Case>,
    /// The next state if there is none.
    pub default: u32,
}

/// Something that a state of the parser does.
#[derive(Clone, Debug, PartialEq)]
pub enum StatePart {
    /// Copies a header from the frame, and goes on behind it.
    Extract(Header),
    /// Gives a field the number that stands ahead in the frame.
    LookAhead {
        to: Cell,
        /// How far ahead the number begins.
        offset_bytes: u32,
        /// How long it is: 1, 2, 4 or 8.
        length_bytes: u32,
    },
    /// Gives fields new values, one after the other.
    Set { stores: Vec<Store> },
    /// Asks for something that must hold. Where it does not, the state is left at this part.
    Verify(Test),
}

/// The most parts of a state.
pub const PARTS_MAX: usize = u16::MAX as usize;

/// The state after the last one.
pub const ACCEPT: u32 = crate::parser::ACCEPT;

/// The most states that a packet may enter.
pub const STATES_MAX: u32 = crate::parser::STATES_MAX;

/// A header of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The byte that says whether it is valid.
    pub valid: u32,
    /// Where its bytes start.
    pub base: u32,
    /// How many it has.
    pub length_bytes: u32,
}

/// An internet checksum of headers.
#[derive(Clone, Debug, PartialEq)]
pub struct Checksum {
    /// When it is wanted.
    pub wanted: Test,
    /// The summed fields, whose bits are those of 16-bit words, while the header with this validity
    /// byte is valid.
    pub words: Vec<(u32, Vec<Masked>)>,
    /// Where it is, or goes.
    pub target: Cell,
}

/// Machine code for the parts of a [`Source`].
///
/// An implementation checks what it is given as far as its own safety asks: the area has the length
/// of the source's, positions lie inside the frame, and there are as many parameters as are read.
pub trait Native: fmt::Debug + Send + Sync {
    /// Runs ops from this one on, until the control ends.
    fn control(&self, start: u32, interpreter: &mut dyn Interpreter<'_>);
    /// Enters states until one is left, the packet is too short for one, or the parser ends. A state
    /// for which the packet is too short is left before anything of it is done.
    fn parse(&self, area: &mut [u8], frame: &[u8], from: Position) -> Position;
    /// Whether one of the verified checksums is wrong.
    fn is_wrong(&self, area: &[u8]) -> bool;
    /// Writes the updated checksums.
    fn update(&self, area: &mut [u8]);
    /// Writes the valid headers in front of the bytes at `at`, and returns where they start.
    fn deparse(&self, area: &[u8], frame: &mut [u8], at: usize) -> usize;
}

/// Does the ops of a control that machine code leaves, on one packet.
pub trait Interpreter<'a> {
    /// The packet's area, and all arrays of registers.
    fn memory(&mut self) -> (&mut [u8], &mut [RegisterArray]);
    /// Does the op at a point, whose key is this if it has one. Returns where the control goes on,
    /// and the parameters of the action that runs there.
    fn step(&mut self, point: Point, key: u64) -> (Point, &'a [u64]);
}

/// Where a control is. Machine code takes it as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Point {
    /// The op to run.
    pub at: u32,
    /// The op after the action that runs. There is none at `u32::MAX`, the end.
    pub after: u32,
}

/// How far a parser has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// In the frame.
    pub at: usize,
    /// The state to be entered.
    pub state: u32,
    /// How many have been.
    pub entered: u32,
    /// How many parts of the state are done. If any is, the state has been entered.
    pub done: u32,
}

impl Op {
    /// The ops that may follow, besides the one after the action that runs. Other uses of the
    /// parameters do not count: an op that is left leaves them to the interpreter.
    pub fn followers(&self, own: u32) -> Vec<u32> {
        match self {
            Op::Branch { next, .. } => next.to_vec(),
            Op::Call { to, .. } | Op::Jump { to } => vec![*to],
            Op::Exit | Op::Read { .. } | Op::Set { .. } | Op::Write { .. } => vec![own + 1],
            Op::Leave { .. } | Op::Return { .. } => Vec::new(),
        }
    }

    /// How many parameters must be there for this op.
    pub fn params_read(&self) -> usize {
        match self {
            Op::Branch { test, .. } => test.params_read(),
            Op::Return { stores, .. } | Op::Set { stores } => {
                stores.iter().map(|store| store.value.params_read()).max().unwrap_or(0)
            }
            Op::Read { index, .. } => index.params_read(),
            Op::Write { index, value, .. } => index.params_read().max(value.params_read()),
            Op::Call { .. } | Op::Exit | Op::Jump { .. } | Op::Leave { .. } => 0,
        }
    }
}

impl Value {
    /// How many parameters must be there for this number.
    pub fn params_read(&self) -> usize {
        match self {
            Value::Binary { operands, .. } => {
                operands.0.params_read().max(operands.1.params_read())
            }
            Value::Choose(choice) => {
                let (test, first, second) = &**choice;
                test.params_read().max(first.params_read()).max(second.params_read())
            }
            Value::Const(_) | Value::Field(_) => 0,
            Value::Param(index) => *index as usize + 1,
            Value::Signed { operand, .. } => operand.params_read(),
            Value::Truth(test) => test.params_read(),
        }
    }
}

impl Test {
    /// How many parameters must be there for this question.
    pub fn params_read(&self) -> usize {
        match self {
            Test::And(both) | Test::Or(both) => both.0.params_read().max(both.1.params_read()),
            Test::Compare { operands, .. } => {
                operands.0.params_read().max(operands.1.params_read())
            }
            Test::Const(_) | Test::InRange { .. } | Test::Valid(_) => 0,
            Test::Not(operand) => operand.params_read(),
        }
    }
}
