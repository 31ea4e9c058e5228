//! Parsers: states, selects, key sets, value sets.

use super::{Annotation, Expression, Id, LocalDeclaration, Name, Statement, Type, Variable};
use syntax::Span;

/// A parser with a body.
#[derive(Clone, Debug)]
pub struct Parser {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Parameters of `apply`.
    pub parameters: Vec<Id<Variable>>,
    /// Parameters of the constructor.
    pub constructor_parameters: Vec<Id<Variable>>,
    /// In front of the states; variables are initialised when the parser is applied.
    pub locals: Vec<LocalDeclaration>,
    /// In order of declaration. A program without errors has a `start`.
    pub states: Vec<State>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct State {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// In order. `verify`, `extract` and the like are calls.
    pub statements: Vec<Statement>,
    /// Where to go next.
    pub transition: Transition,
    pub span: Span,
}

/// Where to go after a state.
#[derive(Clone, Debug)]
pub enum Transition {
    /// Always to one state.
    Direct(StateTarget),
    /// As the keys say.
    Select(Select),
}

/// A state to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateTarget {
    /// The parser is done.
    Accept,
    /// The parser gives up.
    Reject,
    /// Index into [`Parser::states`].
    State(usize),
}

#[derive(Clone, Debug)]
pub struct Select {
    /// The keys: values of `bit`, `int`, `bool`, enum or error type, or structs or tuples of them.
    pub subjects: Vec<Expression>,
    /// The first that fits is taken; when none fits the parser rejects with `error.NoMatch`.
    pub cases: Vec<SelectCase>,
    pub span: Span,
}

/// One case of a `select`.
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// Its values.
    pub keyset: Keyset,
    /// Where to go.
    pub target: StateTarget,
    pub span: Span,
}

/// Sets of values: one element for each subject, key or field.
#[derive(Clone, Debug)]
pub struct Keyset {
    /// As many as there are subjects (`default` and `_` alone are repeated).
    pub elements: Vec<KeysetElement>,
    pub span: Span,
}

/// A set of values. Its expressions have the type of the subject and, in tables, are constant.
#[derive(Clone, Debug)]
pub enum KeysetElement {
    /// Everything.
    Any,
    /// All values that are equal to the first where the second has ones.
    Mask(Expression, Expression),
    /// All values from the first to the second, both included.
    Range(Expression, Expression),
    /// Exactly one value.
    Value(Expression),
    /// The control plane's values. When there are several subjects, a value set of a struct or
    /// tuple type covers all of them and is the only element.
    ValueSet(Id<ValueSet>),
}

/// `value_set<type>(size) name;`
#[derive(Clone, Debug)]
pub struct ValueSet {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Type of its members; fields of a struct may have `@match`.
    pub element: Type,
    /// How many members it can have.
    pub size: Expression,
    pub span: Span,
}
