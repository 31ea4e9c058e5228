//! Controls.
//!
//! Before: the declaration. After: a [`Control`] with its locals in the order of the text and its body.
//! Its name is declared last: a control cannot contain itself.

use super::scope::Binding;
use super::{Body, BodyKind, Checker, Later};
use crate::types::tree::{Control, Id, LocalDeclaration, Type, Variable};
use syntax::tree::{self as ast, ControlLocalDeclaration};

impl<'a> Checker<'a, '_> {
    /// Two scopes: parameters, and inside of it locals, which may not hide them.
    pub(super) fn control(&mut self, declaration: &'a ast::ControlDeclaration) {
        let signature = &declaration.signature;
        let annotations = self.annotations(&signature.annotations);
        self.scopes.push();
        self.declare_type_variables(&signature.type_parameters);
        let parameters = self.parameters(&signature.parameters, false);
        let constructor_parameters = self.parameters(&declaration.constructor_parameters, true);
        self.check_apply_parameters(&parameters);
        self.check_constructor(&constructor_parameters);
        let outer = std::mem::take(&mut self.direct_instances);
        self.scopes.push();
        let mut locals = self.control_locals(&declaration.locals);
        let body = Body { kind: BodyKind::Control, ..Body::default() };
        let body = self.body(body, &declaration.body);
        self.scopes.pop();
        self.scopes.pop();
        locals.append(&mut self.direct_instances);
        self.direct_instances = outer;
        let id = self.program.controls.push(Control {
            annotations,
            name: signature.name.clone(),
            parameters,
            constructor_parameters,
            locals,
            body,
            span: declaration.span,
        });
        self.declare(&signature.name, Binding::Type(Type::Control(id)));
    }

    /// A control can hold controls and externs, but no parsers or packages.
    fn check_constructor(&mut self, parameters: &[Id<Variable>]) {
        for id in parameters {
            let variable = &self.program.variables[*id];
            let span = variable.span;
            let problem = match variable.ty {
                Type::Parser(_) | Type::ParserType(..) => "a control cannot have a parser in it",
                Type::Package(_) => "a control cannot have a package in it",
                Type::Control(_) => "this is a control, where the type of one is needed",
                _ => continue,
            };
            self.error("parameter", span, problem);
        }
    }

    /// Constants leave nothing behind: their uses are folded.
    fn control_locals(&mut self, list: &'a [ControlLocalDeclaration]) -> Vec<LocalDeclaration> {
        let mut locals = Vec::with_capacity(list.len());
        let outer = std::mem::take(&mut self.later);
        self.later.extend(list.iter().rev().map(later));
        for local in list {
            self.later.pop();
            let made = match local {
                ControlLocalDeclaration::Action(action) => self.action(action),
                ControlLocalDeclaration::Constant(constant) => {
                    self.constant_declaration(constant);
                    None
                }
                ControlLocalDeclaration::Instantiation(instance) => {
                    self.instantiation(instance).map(LocalDeclaration::Instance)
                }
                ControlLocalDeclaration::Table(table) => {
                    Some(LocalDeclaration::Table(self.table(table)))
                }
                ControlLocalDeclaration::Variable(variable) => {
                    Some(self.local_variable(variable, BodyKind::Control))
                }
            };
            locals.extend(made);
        }
        self.later = outer;
        locals
    }

    /// A variable of a control or parser; its value is computed at run time.
    pub(super) fn local_variable(
        &mut self,
        declaration: &'a ast::VariableDeclaration,
        kind: BodyKind,
    ) -> LocalDeclaration {
        let body = Body { kind, ..Body::default() };
        let outer = std::mem::replace(&mut self.body, body);
        let (variable, value) = self.variable(declaration);
        self.body = outer;
        LocalDeclaration::Variable { variable, value }
    }
}

/// The declarations to come from a declaration.
fn later(local: &ControlLocalDeclaration) -> Later {
    let (name, what) = match local {
        ControlLocalDeclaration::Action(action) => (&action.name, "action"),
        ControlLocalDeclaration::Constant(constant) => (&constant.name, "constant"),
        ControlLocalDeclaration::Instantiation(instance) => (&instance.name, "object"),
        ControlLocalDeclaration::Table(table) => (&table.name, "table"),
        ControlLocalDeclaration::Variable(variable) => (&variable.name, "variable"),
    };
    Later { name: name.clone(), what }
}
