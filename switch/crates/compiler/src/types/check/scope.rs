//! Scopes: what names mean here and now.

use super::{BodyKind, Checker};
use crate::types::tree::{
    Action, Constant, ExternFunction, Function, Id, Instance, Table, Text, Type, ValueSet,
    Variable, VariableKind,
};
use std::collections::BTreeMap;
use syntax::tree::Name;
use syntax::{Diagnostic, Span};

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Action(Id<Action>),
    Constant(Id<Constant>),
    /// A type with parameters, or an extern, package, parser or control type: index of its
    /// template.
    Template(usize),
    /// Functions of this name, distinguished by their parameters.
    Functions(Vec<FunctionBinding>),
    Instance(Id<Instance>),
    Table(Id<Table>),
    Type(Type),
    ValueSet(Id<ValueSet>),
    Variable(Id<Variable>),
}

/// A function that can be called.
#[derive(Clone, Copy, Debug)]
pub(super) enum FunctionBinding {
    Extern(Id<ExternFunction>),
    /// With type parameters: index of its template.
    Generic(usize),
    Plain(Id<Function>),
}

/// A scope's names, with the place of each declaration.
type Scope = BTreeMap<Text, (Binding, Span)>;

/// The scopes around a place, innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    top: Scope,
    inner: Vec<Scope>,
}

impl Scopes {
    /// Enters a scope.
    pub fn push(&mut self) {
        self.inner.push(Scope::new());
    }

    /// Leaves the innermost scope.
    pub fn pop(&mut self) {
        self.inner.pop();
    }

    /// Leaves all inner scopes for a while: what a top-level declaration sees.
    pub fn take_inner(&mut self) -> Vec<BTreeMap<Text, (Binding, Span)>> {
        std::mem::take(&mut self.inner)
    }

    /// Back to where [`Scopes::take_inner`] was called.
    pub fn restore_inner(&mut self, inner: Vec<BTreeMap<Text, (Binding, Span)>>) {
        self.inner = inner;
    }

    /// The meaning of a name here: innermost scope first. A name with a dot in front is looked up
    /// at the top level only.
    pub fn find(&self, name: &str, is_global: bool) -> Option<&Binding> {
        self.find_declared(name, is_global).map(|(binding, _)| binding)
    }

    /// The same, and where it is declared.
    pub fn find_declared(&self, name: &str, is_global: bool) -> Option<&(Binding, Span)> {
        let inner = self.inner.iter().rev().filter(|_| !is_global);
        inner.chain([&self.top]).find_map(|scope| scope.get(name))
    }

    /// All that can be seen, each name once, with its declaration's place.
    pub fn visible(&self) -> Vec<(&Text, &Binding, Span)> {
        let mut seen = BTreeMap::new();
        for scope in self.inner.iter().rev().chain([&self.top]) {
            for (name, (binding, span)) in scope {
                seen.entry(name).or_insert((binding, *span));
            }
        }
        seen.into_iter().map(|(name, (binding, span))| (name, binding, span)).collect()
    }

    /// The innermost scope's entry under this name.
    pub fn find_here(&self, name: &str) -> Option<&(Binding, Span)> {
        self.inner.last().unwrap_or(&self.top).get(name)
    }

    /// The top level's entry under this name, and its place.
    pub fn find_top(&self, name: &str) -> Option<&(Binding, Span)> {
        self.top.get(name)
    }

    /// Whether no scope but the top level is open.
    pub fn is_top(&self) -> bool {
        self.inner.is_empty()
    }

    /// All names that can be seen, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.inner.iter().rev().chain([&self.top]).flat_map(|scope| scope.keys())
    }

    /// Binds a name in the innermost scope, whatever it meant.
    pub fn insert(&mut self, name: &Text, binding: Binding, span: Span) {
        self.inner.last_mut().unwrap_or(&mut self.top).insert(name.clone(), (binding, span));
    }
}

impl Checker<'_, '_> {
    /// Gives `name` a meaning in the innermost scope; a second one is an error.
    pub(super) fn declare(&mut self, name: &Name, binding: Binding) {
        let known = self.scopes.find_here(&name.text).map(|(_, span)| *span);
        if let Some(first) = known {
            let title = format!("`{}` is declared twice", name.text);
            self.report(
                Diagnostic::error("duplicate", name.span, title)
                    .label("declared again here")
                    .related(first, "first declared here")
                    .hint("give one of the two another name"),
            );
            return;
        }
        self.check_shadowing(name, &binding);
        self.note_binding(name, &binding);
        self.scopes.insert(&name.text, binding, name.span);
    }

    /// A variable may hide another, but not a parameter of its surroundings.
    fn check_shadowing(&mut self, name: &Name, binding: &Binding) {
        let Binding::Variable(new) = binding else { return };
        let Some(Binding::Variable(old)) = self.scopes.find(&name.text, false) else { return };
        let (new, old) = (&self.program.variables[*new], &self.program.variables[*old]);
        if new.kind == VariableKind::Local
            && matches!(old.kind, VariableKind::Parameter(_))
            && self.body.kind != BodyKind::Action
        {
            let title = format!("variable `{}` hides a parameter", name.text);
            let first = old.name.span;
            self.report(
                Diagnostic::error("shadow", name.span, title)
                    .related(first, "the parameter")
                    .hint("give the variable another name"),
            );
        }
    }

    /// Adds a function to those of its name.
    pub(super) fn declare_function(&mut self, name: &Name, function: FunctionBinding) {
        let known = self.scopes.find_here(&name.text).cloned();
        match known {
            Some((Binding::Functions(mut list), span)) => {
                self.note_binding(name, &Binding::Functions(vec![function]));
                list.push(function);
                self.scopes.insert(&name.text, Binding::Functions(list), span);
            }
            _ => self.declare(name, Binding::Functions(vec![function])),
        }
    }
}
