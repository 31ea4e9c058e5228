//! Values while a program is being flattened: trees shaped like P4 types whose leaves are BMv2
//! expressions.
//!
//! A place is a value too: one whose leaves are fields, headers or stacks. Binding a parameter to
//! its argument, or a variable to its storage, is therefore the same thing, and reading a variable
//! needs no step at all.

use bits::Int;
use bmv2::{BinaryOperator, Expression, FieldRef, Parameter, UnaryOperator};
use std::rc::Rc;

use super::storage::{HeaderId, Leaf, StackId, UnionId, UnionStackId};
use crate::types::tree;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(Expression),
    /// Any member of an enum without underlying type that only the compiler looks at (algorithms,
    /// clone types, counter types).
    Header(HeaderRef),
    /// A valid header made of values, one a field.
    HeaderOf(Vec<Value>),
    /// A header or union that is not valid.
    Invalid,
    /// A number in the range of its type: of `bit`, `int`, an enum or `error`.
    Number(Expression),
    /// An extern object, control or parser.
    Object(ObjectRef),
    /// The packet, in parsers and deparsers.
    Packet,
    Stack(StackId),
    /// Elements of a stack that is not stored.
    StackOf(Vec<Value>),
    /// A struct, tuple or list, by fields.
    Struct(Vec<Value>),
    Text(Rc<str>),
    Union(UnionRef),
    UnionStack(UnionStackId),
    /// A variable-length bit string, which only a field can hold.
    Varbit(FieldRef),
    /// Nothing: the result of a call without one, or of an expression that was reported.
    Void,
}

/// An instance as seen from one place: the declaration and the instantiation it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// Which of the program's instantiations of controls and parsers declares it.
    pub scope: ScopeId,
    pub instance: tree::Id<tree::Instance>,
}

/// One instantiation of a control or parser; 0 is the top level of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopeId(pub usize);

#[derive(Clone, Debug, PartialEq)]
pub enum HeaderRef {
    /// Element of a stack by a computed index.
    At {
        stack: StackId,
        /// A field or constant expression without side effects.
        index: Box<Expression>,
    },
    Instance(HeaderId),
    /// `stack.last`.
    Last(StackId),
    /// `stack.next`.
    Next(StackId),
    /// A member of a union that is not simply stored.
    OfUnion {
        /// The union: never [`UnionRef::Instance`].
        union: Box<UnionRef>,
        member: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum UnionRef {
    /// Element of a stack by a computed index.
    At {
        stack: UnionStackId,
        /// A field or constant expression without side effects.
        index: Box<Expression>,
    },
    Instance(UnionId),
    /// `stack.last`.
    Last(UnionStackId),
    /// `stack.next`.
    Next(UnionStackId),
}

impl Value {
    /// The number this is, if it is known.
    pub fn constant(&self) -> Option<&Int> {
        match self {
            Value::Number(Expression::Hex(number)) => Some(number),
            _ => None,
        }
    }

    /// The truth value this is, if it is known.
    pub fn constant_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(Expression::Bool(truth)) => Some(*truth),
            _ => None,
        }
    }

    /// Whether nothing that happens later can change it.
    pub fn is_constant(&self) -> bool {
        match self {
            Value::Number(number) => matches!(number, Expression::Hex(_) | Expression::Local(_)),
            Value::Bool(truth) => matches!(truth, Expression::Bool(_)),
            Value::Struct(parts) | Value::HeaderOf(parts) | Value::StackOf(parts) => {
                parts.iter().all(Value::is_constant)
            }
            Value::Invalid | Value::Object(_) | Value::Packet | Value::Text(_) | Value::Void => {
                true
            }
            _ => false,
        }
    }

    /// Whether reading the value anew with every use costs nothing.
    pub fn is_simple(&self) -> bool {
        match self {
            Value::Bool(Expression::Unary { operand, .. }) => {
                matches!(**operand, Expression::Field(_))
            }
            Value::Number(number) => {
                matches!(number, Expression::Field(_) | Expression::Hex(_) | Expression::Local(_))
            }
            Value::HeaderOf(_) | Value::StackOf(_) | Value::Bool(_) => false,
            Value::Struct(parts) => parts.iter().all(Value::is_simple),
            Value::Header(header) => matches!(header, HeaderRef::Instance(_)),
            Value::Union(union) => matches!(union, UnionRef::Instance(_)),
            _ => true,
        }
    }
}

/// The truth value stored in a field of one bit.
pub fn truth_of(field: Expression) -> Expression {
    Expression::Unary { operator: UnaryOperator::DataToBool, operand: Box::new(field) }
}

/// A truth value as the number 0 or 1.
pub fn number_of(truth: Expression) -> Expression {
    match truth {
        Expression::Bool(truth) => Expression::Hex(Int::from(u32::from(truth))),
        Expression::Unary { operator: UnaryOperator::DataToBool, operand } => *operand,
        truth => {
            Expression::Unary { operator: UnaryOperator::BoolToData, operand: Box::new(truth) }
        }
    }
}

/// `left operator right`.
pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary { operator, left: Box::new(left), right: Box::new(right) }
}

pub fn hex(number: u64) -> Expression {
    Expression::Hex(Int::from(number))
}

/// The value read from a field.
pub fn leaf_value(kind: Leaf, field: FieldRef) -> Value {
    match kind {
        Leaf::Bool => Value::Bool(truth_of(Expression::Field(field))),
        Leaf::Number { .. } => Value::Number(Expression::Field(field)),
        Leaf::Varbit { .. } => Value::Varbit(field),
    }
}

/// An expression as the argument of a primitive.
pub fn parameter(expression: Expression) -> Parameter {
    match expression {
        Expression::Local(index) => Parameter::RuntimeData(index),
        expression => Parameter::Expression(expression),
    }
}

/// A value as the argument of a primitive; truth values as numbers.
pub fn data_parameter(value: Value) -> Parameter {
    match value {
        Value::Bool(truth) => parameter(number_of(truth)),
        Value::Number(number) => parameter(number),
        Value::Text(text) => Parameter::String(text.to_string()),
        Value::Varbit(field) => parameter(Expression::Field(field)),
        _ => parameter(hex(0)),
    }
}
