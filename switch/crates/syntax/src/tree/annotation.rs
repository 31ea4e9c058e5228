//! Annotations: `@name`, `@name(tokens)`, `@name[expressions]`, `@name[key = expression, ...]`,
//! and `@pragma`.

use super::{Expression, KeyValue, Name};
use crate::Span;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub struct Annotation {
    /// The name behind the `@`.
    pub name: Name,
    /// The contents of its brackets.
    pub body: AnnotationBody,
    /// From the `@` to the closing bracket.
    pub span: Span,
}

/// The contents of an annotation.
#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// `@name`.
    Empty,
    /// `@name[key = value, ...]`.
    KeyValues(Vec<KeyValue>),
    /// `@name[value, ...]`.
    List(Vec<Expression>),
    /// `@name(any tokens)`.
    Unstructured {
        /// Everything between the parentheses, token by token.
        tokens: Vec<AnnotationToken>,
        /// The same read as a list of expressions, where it is one; readers of the annotation know
        /// which of the two they want.
        expressions: Option<Vec<Expression>>,
    },
}

/// A token inside an unstructured annotation.
#[derive(Clone, Debug)]
pub struct AnnotationToken {
    /// Its characters as written; a string literal with its quotes.
    pub text: Rc<str>,
    pub span: Span,
}
