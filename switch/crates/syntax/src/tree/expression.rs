//! Expressions as written.

use super::{Name, PrefixedName, TypeRef};
use crate::Span;
use bits::Int;
use std::rc::Rc;

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The productions of `expression`.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `left operator right`.
    Binary {
        operator: BinaryOperator,
        /// Where the operator's characters are.
        operator_span: Span,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// `true` or `false`.
    Bool(bool),
    /// `callee(arguments)`, `callee<types>(arguments)`; a constructor call when the callee is a
    /// [`ExpressionKind::Type`].
    Call {
        /// The callee.
        callee: Box<Expression>,
        /// Explicit type arguments; empty when none are written.
        type_arguments: Vec<TypeRef>,
        /// In written order.
        arguments: Vec<Argument>,
    },
    /// `(type) operand`.
    Cast {
        /// The type wanted.
        target: TypeRef,
        /// The operand.
        operand: Box<Expression>,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        condition: Box<Expression>,
        /// Its value when true.
        then: Box<Expression>,
        /// Its value when false.
        otherwise: Box<Expression>,
    },
    /// `...`: default values for the rest.
    Dots,
    /// `base[index]`.
    Index {
        /// A stack or tuple.
        base: Box<Expression>,
        index: Box<Expression>,
    },
    /// `5`, `8w5`, `4s-1`, ...
    Integer(IntegerLiteral),
    /// `{#}`.
    InvalidHeader,
    /// `{a, b}`; a trailing [`ExpressionKind::Dots`] is an element.
    List(Vec<Expression>),
    /// `base.member`.
    Member {
        /// A value, a type or an object.
        base: Box<Expression>,
        /// The name after the dot.
        member: Name,
    },
    /// Where an expression should be, but none could be read; already reported.
    Missing,
    /// A name that is not known to be a type.
    Name(PrefixedName),
    /// `{a = x, b = y}`, possibly with `...` at the end.
    Record {
        /// In written order.
        fields: Vec<KeyValue>,
        /// Whether `...` follows.
        has_dots: bool,
    },
    /// `base[high:low]`.
    Slice {
        base: Box<Expression>,
        /// Number of the most significant bit taken.
        high: Box<Expression>,
        /// Number of the least significant bit taken.
        low: Box<Expression>,
    },
    /// `base[low +: width]`.
    SlicePlus {
        base: Box<Expression>,
        /// Number of the least significant bit taken.
        low: Box<Expression>,
        /// How many bits.
        width: Box<Expression>,
    },
    /// A string literal, escapes resolved.
    String(Rc<str>),
    This,
    /// A type where an expression is wanted: before `.member` or `(arguments)`.
    Type(TypeRef),
    /// `operator operand`.
    Unary {
        operator: UnaryOperator,
        operand: Box<Expression>,
    },
}

/// An integer literal: its value and, with `w` or `s`, its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegerLiteral {
    /// The number written, never negative.
    pub value: Int,
    /// `Some((signed, width))` for `8w..` and `8s..`.
    pub width: Option<(bool, u32)>,
}

/// `name = expression`.
#[derive(Clone, Debug)]
pub struct KeyValue {
    pub key: Name,
    pub value: Expression,
}

/// One argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter's name, when given.
    pub name: Option<Name>,
    pub value: ArgumentValue,
    /// From the name or value to the end.
    pub span: Span,
}

/// An argument.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// `_`: an `out` value that is ignored.
    DontCare,
    Expression(Expression),
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
    /// `+`
    Plus,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `+`
    Add,
    /// `|+|`
    AddSaturating,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `++`
    Concat,
    /// `/`
    Divide,
    /// `==`
    Equal,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `&&`
    LogicalAnd,
    /// `||`
    LogicalOr,
    /// `%`
    Modulo,
    /// `*`
    Multiply,
    /// `!=`
    NotEqual,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `-`
    Subtract,
    /// `|-|`
    SubtractSaturating,
}

impl BinaryOperator {
    /// The operator as written in P4.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Add => "+",
            BinaryOperator::AddSaturating => "|+|",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitOr => "|",
            BinaryOperator::BitXor => "^",
            BinaryOperator::Concat => "++",
            BinaryOperator::Divide => "/",
            BinaryOperator::Equal => "==",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::LogicalAnd => "&&",
            BinaryOperator::LogicalOr => "||",
            BinaryOperator::Modulo => "%",
            BinaryOperator::Multiply => "*",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Subtract => "-",
            BinaryOperator::SubtractSaturating => "|-|",
        }
    }
}

impl UnaryOperator {
    /// The operator as written in P4.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Complement => "~",
            UnaryOperator::Negate => "-",
            UnaryOperator::Not => "!",
            UnaryOperator::Plus => "+",
        }
    }
}
