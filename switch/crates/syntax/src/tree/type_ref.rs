//! Types as written.

use super::{Expression, PrefixedName};
use crate::Span;

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeRef {
    /// Which.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The productions `typeRef`, `typeOrVoid` and `typeArg` together.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `element[size]`.
    Array {
        /// What there are several of.
        element: Box<TypeRef>,
        /// How many.
        size: Box<Expression>,
    },
    /// `bit<width>`; plain `bit` is `bit<1>`, with no expression.
    Bit(Option<Box<Expression>>),
    /// `bool`.
    Bool,
    /// `_` as a type argument: to be inferred.
    DontCare,
    /// `error`.
    Error,
    /// `int` without a width: the integers.
    Integer,
    /// `int<width>`: two's complement.
    Int(Box<Expression>),
    /// `list<element>`.
    List(Box<TypeRef>),
    /// `match_kind`.
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
    /// `string`.
    String,
    /// `tuple<element, ...>`.
    Tuple(Vec<TypeRef>),
    /// `varbit<width>`.
    Varbit(Box<Expression>),
    /// `void`.
    Void,
}
