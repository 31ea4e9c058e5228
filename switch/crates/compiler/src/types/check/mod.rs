//! The checker: one walk over the syntax tree in the order of the text, which resolves names,
//! finds types, folds constants and builds the typed tree.
//!
//! P4 declares before use, so a name means what the scopes hold at the moment it is read; no second
//! pass is needed. Exceptions are small: parser states, and actions named in a `switch`.
//!
//! Something wrong is reported once and gets the type [`Type::Wrong`], which fits everything, so
//! that no message is caused by another.

mod annotation;
mod argument;
mod call;
mod control;
mod convert;
mod declaration;
mod entries;
mod expression;
mod function;
mod instance;
mod lvalue;
mod member;
mod method;
mod note;
mod operator;
mod parameter;
mod parser;
mod priorities;
mod scope;
mod select;
mod show;
mod statement;
mod switch;
mod table;
mod template;
mod type_ref;
mod unify;

use super::index::Index;
use super::tree::{
    Expression, ExpressionKind, Function, Id, LocalDeclaration, Program, Struct, Text, Type, Value,
    Variable,
};
use crate::architecture::{self, Architecture};
use scope::Scopes;
use std::collections::{BTreeMap, BTreeSet};
use syntax::tree as ast;
use syntax::{Diagnostic, Diagnostics, Span};
use template::Templates;
use unify::Signature;

/// The typed tree of a program. Worth using only if there were no errors.
pub fn check(program: &ast::Program, diagnostics: &mut Diagnostics) -> Program {
    checked(program, diagnostics, None).0
}

/// The same, and what its names stand for.
pub fn check_with_index(program: &ast::Program, diagnostics: &mut Diagnostics) -> (Program, Index) {
    checked(program, diagnostics, Some(Index::default()))
}

fn checked(
    program: &ast::Program,
    diagnostics: &mut Diagnostics,
    index: Option<Index>,
) -> (Program, Index) {
    let mut checker = Checker {
        program: Program::default(),
        scopes: Scopes::default(),
        templates: Templates::default(),
        signature_patterns: BTreeMap::new(),
        defaults: BTreeMap::new(),
        body: Body::default(),
        function_instances: Vec::new(),
        functions_in_progress: Vec::new(),
        functions_wrong: Vec::new(),
        struct_weights: BTreeMap::new(),
        direct_instances: Vec::new(),
        later: Vec::new(),
        prelude: Vec::new(),
        captured: None,
        index,
        diagnostics,
    };
    checker.program.declared_architecture = architecture_of(program);
    for declaration in &program.declarations {
        checker.declaration(declaration);
    }
    checker.find_main();
    let index = checker.take_index();
    (checker.program, index)
}

/// The architecture that a program's packages and types are of.
fn architecture_of(program: &ast::Program) -> Option<&'static Architecture> {
    let names: BTreeSet<&str> = program
        .declarations
        .iter()
        .filter_map(|declaration| match declaration {
            ast::Declaration::Derived(found) => Some(&*found.name.text),
            ast::Declaration::Package(found) => Some(&*found.name.text),
            _ => None,
        })
        .collect();
    architecture::of_declarations(|name| names.contains(name))
}

/// In what kind of body a statement or expression stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BodyKind {
    /// An action's.
    Action,
    /// `apply { ... }` of a control.
    Control,
    /// A function's or method's.
    Function,
    /// A parser's: local declarations and states.
    Parser,
    /// None: declarations.
    #[default]
    Outside,
}

/// The surroundings of statements.
#[derive(Clone, Debug, Default)]
struct Body {
    kind: BodyKind,
    /// The type that `return` must return; `None` where it returns nothing.
    return_type: Option<Type>,
    /// How many loops are around.
    loop_depth: usize,
    /// The type of `this`.
    this: Option<Type>,
}

/// A declaration that the text comes to later.
#[derive(Clone, Debug)]
struct Later {
    name: ast::Name,
    /// Table, action, ...: for people.
    what: &'static str,
}

struct Checker<'a, 'd> {
    program: Program,
    scopes: Scopes,
    templates: Templates<'a>,
    /// The requirements of parser and control types for their parameters.
    signature_patterns: BTreeMap<Text, Signature>,
    /// Default values of parameters of things with a body.
    defaults: BTreeMap<Id<Variable>, Expression>,
    body: Body,
    /// Instances of generic functions: template, type arguments, function.
    function_instances: Vec<(usize, Vec<Type>, Id<Function>)>,
    /// Templates of generic functions whose bodies are being read now.
    functions_in_progress: Vec<usize>,
    /// Templates of generic functions that are wrong for whatever types.
    functions_wrong: Vec<usize>,
    /// How many parts values of each struct have.
    struct_weights: BTreeMap<Id<Struct>, usize>,
    /// Instances made by `Type.apply()` in the declaration being checked.
    direct_instances: Vec<LocalDeclaration>,
    /// The declarations further below in the control being checked.
    later: Vec<Later>,
    /// Statements to run before the one being checked.
    prelude: Vec<super::tree::Statement>,
    /// Where messages go instead of to `diagnostics`, while something is tried out.
    captured: Option<Vec<Diagnostic>>,
    /// The meanings of names, if they are wanted.
    index: Option<Index>,
    diagnostics: &'d mut Diagnostics,
}

impl Checker<'_, '_> {
    /// Reports a diagnostic, or keeps it during a capture.
    fn report(&mut self, diagnostic: Diagnostic) {
        match &mut self.captured {
            Some(captured) => captured.push(diagnostic),
            None => self.diagnostics.push(diagnostic),
        }
    }

    /// An error that needs no more than a title.
    fn error(&mut self, code: &'static str, span: Span, title: impl Into<String>) {
        self.report(Diagnostic::error(code, span, title));
    }

    /// Runs `check` without reporting; `None` if it would have reported something.
    fn quietly<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let (result, messages) = self.capture(check);
        messages.is_empty().then_some(result)
    }

    /// Runs `check` and returns its diagnostics instead of reporting them: for callers that know a
    /// better place or better words. They report the others as they are.
    fn capture<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> (T, Vec<Diagnostic>) {
        let outer = self.captured.replace(Vec::new());
        let result = check(self);
        let messages = std::mem::replace(&mut self.captured, outer).unwrap_or_default();
        (result, messages)
    }

    /// The number of errors until now. Equal before and after a check: it found none.
    fn error_count(&self) -> usize {
        let captured = self.captured.iter().flatten();
        let errors = captured.filter(|found| found.severity == syntax::Severity::Error);
        self.diagnostics.error_count() + errors.count()
    }
}

/// The expression for something that is reported.
fn wrong(span: Span) -> Expression {
    Expression { kind: ExpressionKind::Constant(Value::Bool(false)), ty: Type::Wrong, span }
}

/// A known value.
fn constant(value: Value, ty: Type, span: Span) -> Expression {
    Expression { kind: ExpressionKind::Constant(value), ty, span }
}

/// Whether the expression is a known value, aggregates of known values included.
fn is_constant(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Constant(_) | ExpressionKind::InvalidHeader => true,
        ExpressionKind::Aggregate(parts) => parts.iter().all(is_constant),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
