//! Expressions, values and calls.

use super::{
    Action, Control, Enum, ExternFunction, Function, Id, Instance, Parser, Table, Text, Type,
    Variable,
};
use bits::Int;
use syntax::Span;

pub use syntax::tree::BinaryOperator;

/// An expression with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub kind: ExpressionKind,
    /// Of what type.
    pub ty: Type,
    /// Where it was written.
    pub span: Span,
}

/// The form of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// All fields or elements of a struct, header, tuple, list, stack or record, in order. A header
    /// made so is valid.
    Aggregate(Vec<Expression>),
    /// `left operator right`. Operands of arithmetic and comparison have the same type, except for
    /// shifts and `++`.
    Binary {
        /// Which operation; never a short-circuit one with constant left side.
        operator: BinaryOperator,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// A call that has a value, or a call as a statement.
    Call(Box<Call>),
    /// The operand as `Expression::ty`.
    Cast(Box<Expression>),
    /// `condition ? then : otherwise`.
    Conditional {
        condition: Box<Expression>,
        /// Its value when true.
        then: Box<Expression>,
        /// Its value when false.
        otherwise: Box<Expression>,
    },
    /// A known value.
    Constant(Value),
    /// One field of a struct, header or header union, by its number.
    Field {
        base: Box<Expression>,
        /// Index into [`super::Struct::fields`].
        field: usize,
    },
    /// An element of a stack (`index` of any unsigned type) or, with a constant, of a tuple.
    Index { base: Box<Expression>, index: Box<Expression> },
    /// An extern object, control, parser or package by its declaration.
    Instance(Id<Instance>),
    /// `{#}`: a header that is not valid, or a union without a valid header.
    InvalidHeader,
    /// `base[high:low]`; also what `[low +: width]` with a constant `low` becomes.
    Slice {
        base: Box<Expression>,
        /// Number of the most significant bit taken.
        high: u32,
        /// Number of the least significant bit taken.
        low: u32,
    },
    /// `base[low +: width]` with a computed `low`; the width is that of the type.
    SliceFrom {
        base: Box<Expression>,
        /// Number of the least significant bit taken.
        low: Box<Expression>,
    },
    /// `stack.last` (read in a parser).
    StackLast(Box<Expression>),
    /// `stack.lastIndex`.
    StackLastIndex(Box<Expression>),
    /// `stack.next` (in a parser).
    StackNext(Box<Expression>),
    /// `table.apply(...)` followed by `.hit`, `.miss` or `.action_run`.
    TableResult {
        /// The call of the table.
        call: Box<Call>,
        /// The part of its result that is used.
        result: TableResult,
    },
    /// `this`, in the body of an abstract method.
    This,
    /// `operator operand`; `+` is gone.
    Unary { operator: UnaryOperator, operand: Box<Expression> },
    /// A variable or parameter.
    Variable(Id<Variable>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `~`
    Complement,
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// A known value; its type is that of the expression around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Of `bool`.
    Bool(bool),
    /// Of an enum: the number of the member. Serialisable enums too; a value of one that has no
    /// name is an [`Value::Integer`].
    Enumerator(Id<Enum>, usize),
    /// Of `error`: index into [`super::Program::errors`].
    Error(usize),
    /// Of `bit<N>`, `int<N>` (always in range), `int`, a `type` over these.
    Integer(Int),
    /// Of `match_kind`: index into [`super::Program::match_kinds`].
    MatchKind(usize),
    /// Of `string`.
    Text(Text),
}

/// The part of a table's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableResult {
    /// Which action ran; only as the subject of a `switch`.
    ActionRun,
    /// Whether an entry matched.
    Hit,
    /// Whether none matched.
    Miss,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The callee.
    pub callee: Callee,
    /// For generic extern functions and methods: one type for each of their type parameters.
    pub type_arguments: Vec<Type>,
    /// One for each parameter, in their order.
    pub arguments: Vec<Argument>,
    pub span: Span,
}

/// The callee.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// An action, called directly.
    Action(Id<Action>),
    /// A method that every header, header union or stack has.
    Builtin(Builtin, Box<Expression>),
    /// `apply` of a control.
    Control {
        /// The declaration; `None` where `instance` is a constructor parameter of a control type:
        /// then it is that of the instance that the parameter stands for.
        control: Option<Id<Control>>,
        /// The instance: [`ExpressionKind::Instance`], or a constructor parameter.
        instance: Box<Expression>,
    },
    /// A function the target provides.
    ExternFunction(Id<ExternFunction>),
    /// A function with a body.
    Function(Id<Function>),
    /// A method of an extern object.
    Method {
        /// The object: [`ExpressionKind::Instance`], a parameter, or `this`.
        object: Box<Expression>,
        /// Index into [`super::Extern::methods`].
        method: usize,
    },
    /// `apply` of a parser.
    Parser {
        /// The declaration; `None` where `instance` is a constructor parameter of a parser type.
        parser: Option<Id<Parser>>,
        /// The instance: [`ExpressionKind::Instance`], or a constructor parameter.
        instance: Box<Expression>,
    },
    /// `apply` of a table, its result unused or only one of [`TableResult`] used.
    Table(Id<Table>),
}

/// Methods that need no declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `header.isValid()`, `union.isValid()`.
    IsValid,
    /// `stack.pop_front(count)`.
    PopFront,
    /// `stack.push_front(count)`.
    PushFront,
    /// `header.setInvalid()`.
    SetInvalid,
    /// `header.setValid()`.
    SetValid,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `_`: the `out` value is not wanted; the type is that of the parameter.
    DontCare(Type),
    /// A value, or for `out` and `inout` a place to write to. Of the parameter's type.
    Expression(Expression),
    /// An `@optional` parameter without argument.
    Omitted,
}
