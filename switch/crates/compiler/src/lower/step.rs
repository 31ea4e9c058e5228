//! Steps: what is left of statements once calls are inlined and values are flattened.
//!
//! The same steps serve controls, actions and parsers. Only controls apply tables, only parsers
//! have [`Step::Parse`].

use bmv2::{Expression, ParserOperation, PrimitiveCall};

use syntax::Span;

/// The end of a block, to be left for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label(pub usize);

/// Index into the tables of the flat program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableId(pub usize);

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Looks a packet up and runs what is found.
    Apply(Box<Apply>),
    /// Steps whose end can be left for.
    Block {
        /// The name of the end.
        label: Label,
        body: Vec<Step>,
    },
    /// Ends the control for this packet.
    Exit(Span),
    /// One way or the other.
    If {
        condition: Expression,
        /// The steps where it holds.
        then: Vec<Step>,
        /// The steps where it does not.
        otherwise: Vec<Step>,
        at: Span,
    },
    /// Goes to the end of an enclosing block.
    Leave(Label),
    /// Repeats its steps until one leaves an enclosing block.
    Loop(Vec<Step>),
    Parse(ParserOperation),
    Run(PrimitiveCall, Span),
}

/// The application of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Apply {
    pub table: TableId,
    pub outcome: Outcome,
    pub at: Span,
}

/// The branches after the application of a table, before the next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Nothing that depends on it.
    Any,
    /// Steps by the action that ran.
    ByAction {
        /// Index of an action in the table's list, and its steps.
        cases: Vec<(usize, Vec<Step>)>,
        /// After any other action.
        otherwise: Vec<Step>,
    },
    /// Steps by hit and miss.
    ByHit { hit: Vec<Step>, miss: Vec<Step> },
}
