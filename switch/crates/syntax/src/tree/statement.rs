//! Statements, parser states and key sets as written.

use super::{
    Annotation, BinaryOperator, ConstantDeclaration, Expression, Name, TypeRef, VariableDeclaration,
};
use crate::Span;

/// A statement with its place.
#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    /// From its first character to its semicolon or brace.
    pub span: Span,
}

/// The productions `statementOrDeclaration` and `parserStatement` together; what a place does not
/// allow (a `return` in a parser) is reported by the type checker.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `target = value`, or `target op= value`.
    Assignment {
        /// The target.
        target: Expression,
        /// The operator of `op=`.
        operator: Option<BinaryOperator>,
        /// The new value or second operand.
        value: Expression,
    },
    /// `{ ... }`.
    Block(BlockStatement),
    /// `break;`
    Break,
    /// A call as a statement; direct application `Type.apply(...)` included.
    Call(Expression),
    /// `if ... else if ... else ...`, of any length.
    Conditional {
        /// In written order: the first whose condition holds is run.
        links: Vec<ConditionalLink>,
        /// Run when none holds.
        otherwise: Option<Box<Statement>>,
    },
    /// `const type name = value;`
    Constant(ConstantDeclaration),
    /// `continue;`
    Continue,
    /// `;`
    Empty,
    /// `exit;`
    Exit,
    /// `for (init; condition; update) body`.
    For(Box<ForStatement>),
    /// `for (type name in collection) body`.
    ForIn(Box<ForInStatement>),
    /// `return;` or `return value;`
    Return(Option<Expression>),
    Switch {
        subject: Expression,
        /// In written order.
        cases: Vec<SwitchCase>,
    },
    /// `type name;` or `type name = value;`
    Variable(VariableDeclaration),
}

/// One `if` of a chain.
#[derive(Clone, Debug)]
pub struct ConditionalLink {
    pub condition: Expression,
    /// Run when true.
    pub then: Statement,
    /// From its `if` to the end of the chain.
    pub span: Span,
}

/// `{ ... }` with annotations.
#[derive(Clone, Debug)]
pub struct BlockStatement {
    /// In front of the brace.
    pub annotations: Vec<Annotation>,
    /// In written order.
    pub statements: Vec<Statement>,
    /// From brace to brace.
    pub span: Span,
}

/// The C-like `for`.
#[derive(Clone, Debug)]
pub struct ForStatement {
    /// In front of `for`.
    pub annotations: Vec<Annotation>,
    /// Run once, before the first test.
    pub init: Vec<Statement>,
    /// Tested before every round.
    pub condition: Expression,
    /// Run after every round.
    pub update: Vec<Statement>,
    pub body: Statement,
}

/// `for (type name in collection)`.
#[derive(Clone, Debug)]
pub struct ForInStatement {
    /// In front of `for`.
    pub annotations: Vec<Annotation>,
    /// In front of the variable.
    pub variable_annotations: Vec<Annotation>,
    /// The variable's type.
    pub type_ref: TypeRef,
    pub name: Name,
    /// The values that it runs through.
    pub collection: ForCollection,
    pub body: Statement,
}

/// The values that a `for ... in` runs through.
#[derive(Clone, Debug)]
pub enum ForCollection {
    /// A stack or list.
    Expression(Expression),
    /// `low .. high`, both included.
    Range {
        /// First value.
        low: Expression,
        /// Last value.
        high: Expression,
    },
}

/// One case of a `switch`.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// Its label.
    pub label: SwitchLabel,
    /// Where the label is.
    pub span: Span,
    /// Its statements; `None` falls through to the next case.
    pub body: Option<BlockStatement>,
}

/// In front of a `switch` case's colon.
#[derive(Clone, Debug)]
pub enum SwitchLabel {
    Default,
    /// A value, or the name of an action.
    Expression(Expression),
}

/// `state name { statements transition }`.
#[derive(Clone, Debug)]
pub struct ParserState {
    /// In front of `state`.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// In written order.
    pub statements: Vec<Statement>,
    /// Where to go next; `None` means `reject`.
    pub transition: Option<StateExpression>,
    /// The whole state.
    pub span: Span,
}

/// After `transition`.
#[derive(Clone, Debug)]
pub enum StateExpression {
    /// A state's name.
    Name(Name),
    /// `select (...) { ... }`.
    Select(SelectExpression),
}

/// `select (subjects) { cases }`.
#[derive(Clone, Debug)]
pub struct SelectExpression {
    pub subjects: Vec<Expression>,
    /// In written order.
    pub cases: Vec<SelectCase>,
    /// The whole expression.
    pub span: Span,
}

/// `keyset : state;`
#[derive(Clone, Debug)]
pub struct SelectCase {
    /// Its values.
    pub keyset: KeysetExpression,
    /// Where to go.
    pub state: Name,
    /// The whole case.
    pub span: Span,
}

/// A set of values for each of the keys.
#[derive(Clone, Debug)]
pub struct KeysetExpression {
    /// One a key; a single element stands alone or is the whole key.
    pub elements: Vec<KeysetElement>,
    /// From parenthesis to parenthesis.
    pub span: Span,
}

/// The production `simpleKeysetExpression`.
#[derive(Clone, Debug)]
pub enum KeysetElement {
    /// `default`: everything.
    Default(Span),
    /// `_`: everything.
    DontCare(Span),
    /// `value &&& mask`.
    Mask(Expression, Expression),
    /// `low .. high`, both included.
    Range(Expression, Expression),
    /// One value, or the name of a value set.
    Value(Expression),
}
