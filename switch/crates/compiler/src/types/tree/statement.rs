//! Statements.

use super::{Action, Annotation, Call, Expression, Id, Variable};
use syntax::Span;

/// A statement with its place.
#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    /// Where it was written.
    pub span: Span,
}

/// The form of a statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `target = value`: the types are equal; `target` is a variable, field, element or slice.
    Assign {
        /// The place that is written.
        target: Expression,
        /// The new value.
        value: Expression,
    },
    /// `{ ... }`.
    Block(Block),
    /// Leaves the innermost loop.
    Break,
    /// A call whose result, if any, is not used.
    Call(Call),
    /// Goes to the next round of the innermost loop.
    Continue,
    /// Brings a variable to life; without a value it is undefined (headers: invalid).
    Declare {
        variable: Id<Variable>,
        /// Its first value.
        value: Option<Expression>,
    },
    /// Ends all processing of the packet in this pipeline.
    Exit,
    /// `for (init; condition; update) body`.
    For(Box<For>),
    /// `for (variable in collection) body`.
    ForIn(Box<ForIn>),
    /// `if ... else if ... else ...`, of any length.
    If {
        /// In written order: the first whose condition holds is run.
        links: Vec<Link>,
        /// Run when none holds.
        otherwise: Option<Block>,
    },
    /// Leaves the function, action or control.
    Return(Option<Expression>),
    Switch(Switch),
}

/// One `if` of a chain.
#[derive(Clone, Debug)]
pub struct Link {
    pub condition: Expression,
    /// Run when true.
    pub then: Block,
    /// From its `if` to the end of the chain.
    pub span: Span,
}

/// Statements with a scope of their own.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In front of the brace (`@atomic`, ...).
    pub annotations: Vec<Annotation>,
    pub statements: Vec<Statement>,
}

/// The C-like `for`; its variables are declared in `init`.
#[derive(Clone, Debug)]
pub struct For {
    /// In front of `for` (`@unroll`, ...).
    pub annotations: Vec<Annotation>,
    /// Run once, before the first test.
    pub init: Vec<Statement>,
    /// Tested before every round.
    pub condition: Expression,
    /// Run after every round, also after `continue`.
    pub update: Vec<Statement>,
    pub body: Block,
}

/// `for (variable in collection)`.
#[derive(Clone, Debug)]
pub struct ForIn {
    /// In front of `for`.
    pub annotations: Vec<Annotation>,
    /// Has the next element in every round.
    pub variable: Id<Variable>,
    /// The values that it runs through; evaluated once.
    pub collection: ForCollection,
    pub body: Block,
}

/// The values that a `for ... in` runs through.
#[derive(Clone, Debug)]
pub enum ForCollection {
    /// The elements of a stack, list or tuple.
    Elements(Expression),
    /// `low .. high`, both included, both of the variable's type.
    Range {
        /// First value.
        low: Expression,
        /// Last value.
        high: Expression,
    },
}

#[derive(Clone, Debug)]
pub struct Switch {
    /// A `TableResult` with `ActionRun`, then all labels are actions; otherwise a value.
    pub subject: Expression,
    /// In written order; the first that fits is run, there is no falling through after it.
    pub cases: Vec<SwitchCase>,
}

/// One or more labels with a block.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// Labels that fall through to the same block are one case.
    pub labels: Vec<SwitchLabel>,
    /// The statements; empty for labels at the end without any.
    pub body: Block,
    /// Where the first label is.
    pub span: Span,
}

/// In front of a case's colon.
#[derive(Clone, Debug)]
pub enum SwitchLabel {
    /// This action ran.
    Action(Id<Action>),
    /// None of the others.
    Default,
    /// The subject has this constant value (an aggregate of constants for structs).
    Value(Expression),
}
