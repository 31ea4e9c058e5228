//! Expressions as they run: trees with every name resolved.
//!
//! BMv2 computes with numbers without bounds and cuts them when they are stored. Nearly always 64
//! bits are enough to get the very same result, and `load` proves it per expression:
//!
//! * [`Number`] yields the true value modulo 2^64. Addition, subtraction, multiplication, bitwise
//!   operators and shifts to the left need no more than that of their operands. Where an operator
//!   needs the true value (comparison, division, shift to the right, saturation), the range of the
//!   operand is known at load to fit `u64` or `i64`, and the node says which.
//! * [`Wide`] works on [`Int`] and is used where that proof fails: fields beyond 64 bits, mostly.
//!
//! The trees are data, not closures, so that a compiler to machine code can walk them.

mod decision;
pub(crate) mod load;
mod run;
mod simplify;

use bits::Int;

use crate::place::{Bits, Cell, Place, Variable};

/// A header, known or found at run time. An index out of range finds none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HeaderRef {
    Known(u32),
    /// The last element of a stack that the parser or a push has filled.
    Last(u32),
    /// A member of the last element of a stack of unions.
    LastInUnionStack {
        stack: u32,
        member: u32,
    },
    /// The element of a stack at an index.
    OfStack {
        stack: u32,
        index: Box<Number>,
    },
    /// A member of a union of a stack at an index.
    OfUnionStack {
        stack: u32,
        index: Box<Number>,
        member: u32,
    },
}

/// A header union, known or found at run time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UnionRef {
    Known(u32),
    /// The element of a stack at an index.
    OfStack {
        stack: u32,
        index: Box<Number>,
    },
}

/// A pair of operands.
pub(crate) type Operands = Box<(Number, Number)>;

/// A number modulo 2^64. Tags are bytes of their own here: they are looked at on the hot path.
#[derive(Clone, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Number {
    Add(Operands),
    And(Operands),
    /// A truth value as 0 or 1.
    Bool(Box<Condition>),
    /// A field without sign.
    Cell(Cell),
    /// A field with sign.
    CellSigned(Cell),
    Const(u64),
    /// Quotient of two numbers that are exact as `u64`; 0 where the divisor is 0.
    Divide(Operands),
    /// A field of a header found at run time; 0 where there is none.
    Found {
        header: HeaderRef,
        field: Cell,
        signed: bool,
    },
    /// How many elements of a stack are filled.
    Fill {
        next: u32,
    },
    /// The low 64 bits of a number without bounds.
    Low(Box<Wide>),
    Multiply(Operands),
    Not(Box<Number>),
    Or(Operands),
    /// A parameter of the action.
    Param(u32),
    /// A cell of a register array of up to 64 bits.
    Register {
        array: u32,
        index: Box<Number>,
    },
    /// Remainder of two numbers that are exact as `u64`; 0 where the divisor is 0.
    Remainder(Operands),
    /// The nearest value of `int<width>`, of a number that is exact as `i64`.
    SaturateSigned {
        operand: Box<Number>,
        width: u8,
    },
    /// The nearest value of `bit<width>`, of a number that is exact as `i64` or as `u64`.
    SaturateUnsigned {
        operand: Box<Number>,
        width: u8,
        signed: bool,
    },
    Select(Box<(Condition, Number, Number)>),
    /// Shifted by a number that is exact as `u64`.
    ShiftLeft(Operands),
    /// Shifted right; the left operand is exact as `i64` if `signed`, else as `u64`.
    ShiftRight {
        operands: Operands,
        signed: bool,
    },
    Subtract(Operands),
    /// The value of `int<width>`.
    WrapSigned {
        operand: Box<Number>,
        width: u8,
    },
    Xor(Operands),
}

/// A number without bounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wide {
    Binary {
        operator: bmv2::BinaryOperator,
        operands: Box<(Wide, Wide)>,
    },
    Bits {
        bits: Bits,
        signed: bool,
    },
    Const(Int),
    Found {
        header: HeaderRef,
        field: Place,
        signed: bool,
    },
    Negate(Box<Wide>),
    Not(Box<Wide>),
    /// A number that is exact as `i64` if `signed`, else as `u64`.
    Number {
        number: Number,
        signed: bool,
    },
    /// A parameter of the action, as limbs from an index.
    Param {
        at: u32,
        limbs: u32,
    },
    Register {
        array: u32,
        index: Box<Number>,
    },
    Select(Box<(Condition, Wide, Wide)>),
    Variable(Variable),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// They are the same.
    Equal,
    /// The left is greater.
    Greater,
    /// The left is not less.
    GreaterOrEqual,
    /// The left is less.
    Less,
    /// The left is not greater.
    LessOrEqual,
    NotEqual,
}

#[derive(Clone, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Condition {
    And(Box<(Condition, Condition)>),
    /// A field without sign with a constant: most conditions of real programs.
    CellConst {
        compare: Compare,
        cell: Cell,
        value: u64,
    },
    /// Of two numbers that are exact as `i64` if `signed`, else as `u64`.
    Compare {
        compare: Compare,
        operands: Operands,
        signed: bool,
    },
    CompareWide {
        compare: Compare,
        operands: Box<(Wide, Wide)>,
    },
    Const(bool),
    /// Comparisons of fields, one after the other: most conditions of real programs.
    Decision(Decision),
    /// All headers of one list equal those of the other: validity and fields.
    HeadersEqual(Box<(Vec<HeaderRef>, Vec<HeaderRef>)>),
    /// A number that is exact is not 0.
    NonZero(Number),
    NonZeroWide(Wide),
    Not(Box<Condition>),
    Or(Box<(Condition, Condition)>),
    Select(Box<(Condition, Condition, Condition)>),
    /// Two unions are valid, with the same and an equal header.
    UnionsEqual(Box<(UnionRef, UnionRef)>),
    Valid(HeaderRef),
    ValidUnion(UnionRef),
    /// Two variable fields have the same bytes.
    VariablesEqual(Variable, Variable),
}

/// The inputs of expressions.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub layout: &'a crate::layout::Layout,
    pub area: &'a [u8],
    pub params: &'a [u64],
    pub registers: &'a [crate::state::RegisterArray],
}
pub(crate) use decision::{Decision, Next, Subject};
pub(crate) use run::is_valid;
pub(crate) use simplify::Short;
