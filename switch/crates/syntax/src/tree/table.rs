//! Tables as written.

use super::{Annotation, Argument, Expression, KeysetExpression, Name, PrefixedName};
use crate::Span;

/// `table name { properties }`.
#[derive(Clone, Debug)]
pub struct TableDeclaration {
    /// In front of `table`.
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// In written order.
    pub properties: Vec<TableProperty>,
    /// The whole declaration.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct TableProperty {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    /// Whether `const` is in front of it.
    pub is_const: bool,
    /// The property's name.
    pub name: Name,
    /// Its kind and value.
    pub kind: TablePropertyKind,
    /// The whole property.
    pub span: Span,
}

/// The production `tableProperty`.
#[derive(Clone, Debug)]
pub enum TablePropertyKind {
    /// `actions = { ... }`.
    Actions(Vec<ActionListElement>),
    /// `entries = { ... }`.
    Entries(Vec<Entry>),
    /// `key = { ... }`.
    Key(Vec<KeyElement>),
    /// `name = expression;`: `size`, `default_action`, `implementation`, ...
    Value(Expression),
}

/// `expression : match_kind annotations;`
#[derive(Clone, Debug)]
pub struct KeyElement {
    /// The key.
    pub expression: Expression,
    /// `exact`, `lpm`, ...
    pub match_kind: Name,
    /// Behind it.
    pub annotations: Vec<Annotation>,
    /// The whole element.
    pub span: Span,
}

/// One element of a table's list of actions.
#[derive(Clone, Debug)]
pub struct ActionListElement {
    /// In front of it.
    pub annotations: Vec<Annotation>,
    pub action: ActionRef,
}

/// An action with the arguments given in the program.
#[derive(Clone, Debug)]
pub struct ActionRef {
    /// The action's name.
    pub name: PrefixedName,
    /// `None` when there are no parentheses.
    pub arguments: Option<Vec<Argument>>,
    /// The whole reference.
    pub span: Span,
}

/// One entry of an `entries` list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Whether `const` is in front of it.
    pub is_const: bool,
    /// `priority = ...`.
    pub priority: Option<Expression>,
    /// Its key.
    pub keyset: KeysetExpression,
    /// Its action.
    pub action: ActionRef,
    /// Behind it.
    pub annotations: Vec<Annotation>,
    /// The whole entry.
    pub span: Span,
}
