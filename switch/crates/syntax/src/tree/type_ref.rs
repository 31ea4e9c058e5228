//! Types as written.

use super::{Expression, PrefixedName};
use crate::Span;

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeRef {
    pub kind: TypeKind,
    pub span: Span,
}

/// The productions `typeRef`, `typeOrVoid` and `typeArg` together.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `element[size]`.
    Array {
        /// The type of the elements.
        element: Box<TypeRef>,
        size: Box<Expression>,
    },
    /// `bit<width>`; plain `bit` is `bit<1>`, with no expression.
    Bit(Option<Box<Expression>>),
    Bool,
    /// `_` as a type argument: to be inferred.
    DontCare,
    Error,
    /// `int` without a width: the integers.
    Integer,
    /// `int<width>`: two's complement.
    Int(Box<Expression>),
    /// `list<element>`.
    List(Box<TypeRef>),
    MatchKind,
    /// Where a type should be, but none could be read; already reported.
    Missing,
    /// A type's name.
    Name(PrefixedName),
    /// `name<argument, ...>`.
    Specialized {
        /// The generic type.
        name: PrefixedName,
        arguments: Vec<TypeRef>,
    },
    String,
    /// `tuple<element, ...>`.
    Tuple(Vec<TypeRef>),
    /// `varbit<width>`.
    Varbit(Box<Expression>),
    Void,
}
