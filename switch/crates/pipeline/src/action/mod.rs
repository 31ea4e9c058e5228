//! Actions as lists of steps, every name resolved.
//!
//! A primitive of BMv2 JSON becomes one [`Step`]. Steps run in order; jumps go to an index. Most
//! steps of real programs are [`Step::SetCell`]: a field of up to 64 bits gets a number.

mod compile;
mod run;

pub(crate) use compile::{Names, compile, compile_primitives};
pub(crate) use run::{Machine, set_valid};

use crate::expression::{Condition, HeaderRef, Number, UnionRef, Wide};
use crate::place::{Bits, Cell, Place, Variable};

/// What a log message is made of.
#[derive(Clone, Debug)]
pub(crate) enum LogPart {
    Text(String),
    Value(Wide),
}

/// Where a number goes.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    Cell(Cell),
    /// A field of a header found at run time; nowhere if there is none.
    Found {
        header: HeaderRef,
        field: Place,
    },
    Place(Place),
    Register {
        array: u32,
        index: Number,
    },
}

/// A step of an action.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    AddHeader {
        header: HeaderRef,
        clear: bool,
    },
    /// The packet is dropped unless the condition holds; the text says what and where.
    Assert {
        condition: Condition,
        what: String,
    },
    Clone {
        session: Number,
        field_list: Number,
    },
    CopyBits {
        to: Bits,
        from: Bits,
    },
    /// A field of up to 64 bits gets the value of another.
    CopyCell {
        to: Cell,
        from: Cell,
    },
    CopyHeader {
        to: HeaderRef,
        from: HeaderRef,
    },
    CopyStack {
        to: u32,
        from: u32,
    },
    CopyUnion {
        to: UnionRef,
        from: UnionRef,
    },
    CopyUnionStack {
        to: u32,
        from: u32,
    },
    CopyVariable {
        to: Variable,
        from: Variable,
    },
    Count {
        array: u32,
        index: Number,
    },
    Digest {
        list: Number,
    },
    /// `egress_spec` gets the drop port, the multicast group is cleared.
    Drop {
        egress_spec: Option<Cell>,
        group: Option<Cell>,
    },
    Exit,
    Hash {
        to: Destination,
        base: Number,
        calculation: u32,
        size: Number,
    },
    Jump {
        to: Number,
    },
    JumpIfZero {
        condition: Number,
        to: Number,
    },
    Log {
        parts: Vec<LogPart>,
    },
    Meter {
        array: u32,
        index: Number,
        to: Destination,
    },
    /// Elements of a stack move to lower indexes.
    Pop {
        stack: u32,
        count: Number,
    },
    PopUnions {
        stack: u32,
        count: Number,
    },
    /// Elements of a stack move to higher indexes.
    Push {
        stack: u32,
        count: Number,
    },
    PushUnions {
        stack: u32,
        count: Number,
    },
    Random {
        to: Destination,
        low: Number,
        high: Number,
    },
    Recirculate {
        field_list: Number,
    },
    RegisterRead {
        to: Destination,
        array: u32,
        index: Number,
    },
    RegisterWrite {
        array: u32,
        index: Number,
        value: Wide,
    },
    RegisterWriteNarrow {
        array: u32,
        index: Number,
        value: Number,
    },
    RemoveHeader {
        header: HeaderRef,
    },
    Resubmit {
        field_list: Number,
    },
    SetCell {
        to: Cell,
        value: Number,
    },
    /// A field of up to 64 bits gets a constant.
    SetConst {
        to: Cell,
        value: u64,
    },
    SetFound {
        header: HeaderRef,
        field: Cell,
        value: Number,
    },
    /// A field of up to 64 bits gets a parameter of the action.
    SetParam {
        to: Cell,
        param: u32,
    },
    SetWide {
        to: Destination,
        value: Wide,
    },
    Truncate {
        length: Number,
    },
}

/// An action.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub name: String,
    /// Names and widths of its parameters.
    pub params: Vec<(String, u32)>,
    /// Limbs all parameters take together.
    pub limbs: usize,
    pub steps: Vec<Step>,
}
