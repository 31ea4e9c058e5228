//! The syntax tree: what the user wrote, production by production, nothing resolved.
//!
//! Types are named after the productions of the specification's grammar (P4-16 v1.2.5, appendix
//! "P4 grammar"). Every node carries its [`Span`]. The tree can always be built: where the text is
//! wrong, the parser reports it and leaves the piece out or puts [`ExpressionKind::Missing`].

mod annotation;
mod declaration;
mod expression;
mod statement;
mod table;
mod type_ref;

use crate::Span;
use std::rc::Rc;

pub use annotation::{Annotation, AnnotationBody, AnnotationToken};
pub use declaration::{
    ActionDeclaration, ConstantDeclaration, ControlDeclaration, ControlLocalDeclaration,
    Declaration, DerivedKind, DerivedTypeDeclaration, Direction, EnumDeclaration, Enumerator,
    ExternDeclaration, FunctionDeclaration, FunctionPrototype, Instantiation, MethodKind,
    MethodPrototype, ObjDeclaration, PackageTypeDeclaration, Parameter, ParserDeclaration,
    ParserLocalElement, Signature, StructField, TypedefDeclaration, ValueSetDeclaration,
    VariableDeclaration,
};
pub use expression::{
    Argument, ArgumentValue, BinaryOperator, Expression, ExpressionKind, IntegerLiteral, KeyValue,
    UnaryOperator,
};
pub use statement::{
    BlockStatement, ConditionalLink, ForCollection, ForInStatement, ForStatement, KeysetElement,
    KeysetExpression, ParserState, SelectCase, SelectExpression, StateExpression, Statement,
    StatementKind, SwitchCase, SwitchLabel,
};
pub use table::{
    ActionListElement, ActionRef, Entry, KeyElement, TableDeclaration, TableProperty,
    TablePropertyKind,
};
pub use type_ref::{TypeKind, TypeRef};

/// A name as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: Rc<str>,
    pub span: Span,
}

/// A name that may start with a dot, which means "at the top level".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixedName {
    /// Whether it starts with a dot.
    pub is_global: bool,
    /// The name after the dot.
    pub name: Name,
}

/// A whole program: the main file with everything it includes.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// In the order of the text.
    pub declarations: Vec<Declaration>,
}
