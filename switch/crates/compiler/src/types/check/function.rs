//! Functions, actions and their parameters.
//!
//! Before: the declaration. After: a function or action whose parameters are variables and whose
//! body is checked. A generic function is checked once with types that are equal to nothing else,
//! so that it is right for all types or wrong for all; after that one function is made for each
//! list of types it is called with.

use std::collections::BTreeSet;

use super::scope::{Binding, FunctionBinding};
use super::template::{Template, rigid_variables};
use super::type_ref::is_block;
use super::{Body, BodyKind, Checker};
use crate::types::tree::{
    Action, Block, Expression, Function, Id, LocalDeclaration, Statement, StatementKind, Type,
    Variable, VariableKind,
};
use syntax::tree::{self as ast, Direction, Name};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// Arguments can be named: each parameter needs a name of its own.
    pub(super) fn check_parameter_names(&mut self, parameters: &'a [ast::Parameter]) {
        let names: Vec<&Name> = parameters.iter().map(|parameter| &parameter.name).collect();
        self.check_distinct("parameter", &names);
    }

    /// Declares parameters as variables in the innermost scope.
    pub(super) fn parameters(
        &mut self,
        parameters: &'a [ast::Parameter],
        is_constructor: bool,
    ) -> Vec<Id<Variable>> {
        self.check_parameter_names(parameters);
        let mut ids = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let ty = self.type_ref(&parameter.type_ref);
            self.check_direction(parameter, &ty, is_constructor);
            let kind = if is_constructor {
                VariableKind::ConstructorParameter
            } else {
                VariableKind::Parameter(parameter.direction)
            };
            let default = parameter.default.as_ref().map(|value| self.default_of(value, &ty));
            if super::template::is_optional(parameter) {
                let title = format!("parameter `{}` cannot be optional", parameter.name.text);
                self.report(
                    Diagnostic::error("parameter", parameter.span, title)
                        .hint("only externs and packages have optional parameters"),
                );
            }
            let annotations = self.annotations(&parameter.annotations);
            let name = parameter.name.clone();
            let variable = Variable { annotations, name, ty, kind, span: parameter.span };
            let id = self.program.variables.push(variable);
            if let Some(default) = default {
                self.defaults.insert(id, default);
            }
            ids.push(id);
        }
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (ast::Parameter { name, .. }, id) in parameters.iter().zip(&ids) {
            // Names that occur twice among the parameters are reported above.
            if seen.insert(&name.text) {
                self.declare(name, Binding::Variable(*id));
            }
        }
        ids
    }

    /// The default value of a parameter.
    fn default_of(&mut self, value: &'a ast::Expression, ty: &Type) -> Expression {
        let value = self.expression_of(value, ty);
        if value.ty != Type::Wrong && !self.is_compile_time(&value) {
            let title = "a default value must be known at compile time";
            self.error("constant", value.span, title);
        }
        value
    }

    /// A direction is about copying values: objects and numbers without a width cannot be copied.
    pub(super) fn check_direction(
        &mut self,
        parameter: &ast::Parameter,
        ty: &Type,
        is_constructor: bool,
    ) {
        let name = &parameter.name.text;
        let has_direction = parameter.direction != Direction::None;
        if is_constructor && has_direction {
            let title = format!("constructor parameter `{name}` cannot have a direction");
            self.error("parameter", parameter.span, title);
        }
        let is_object = matches!(
            ty,
            Type::Extern(_)
                | Type::Parser(_)
                | Type::Control(_)
                | Type::Package(_)
                | Type::ParserType(..)
                | Type::ControlType(..)
        );
        if has_direction && (is_object || matches!(ty, Type::Integer | Type::String)) {
            let title =
                format!("parameter `{name}` of type `{}` cannot have a direction", self.show(ty));
            self.report(
                Diagnostic::error("parameter", parameter.span, title).hint(
                    "objects and compile-time values are passed without `in`, `out`, `inout`",
                ),
            );
        }
        if parameter.default.is_some()
            && matches!(parameter.direction, Direction::Out | Direction::InOut)
        {
            let title = format!("`out` parameter `{name}` cannot have a default value");
            self.error("parameter", parameter.span, title);
        }
    }

    /// An action; what it adds to the declarations around it.
    pub(super) fn action(
        &mut self,
        declaration: &'a ast::ActionDeclaration,
    ) -> Option<LocalDeclaration> {
        let annotations = self.annotations(&declaration.annotations);
        self.scopes.push();
        let parameters = self.parameters(&declaration.parameters, false);
        self.check_action_parameters(&declaration.parameters);
        self.check_action_types(&parameters);
        let body = Body { kind: BodyKind::Action, ..Body::default() };
        let body = self.body(body, &declaration.body);
        self.scopes.pop();
        let action = Action {
            annotations,
            name: declaration.name.clone(),
            parameters,
            body,
            span: declaration.span,
        };
        let id = self.program.actions.push(action);
        self.declare(&declaration.name, Binding::Action(id));
        Some(LocalDeclaration::Action(id))
    }

    /// Parsers and controls are given to constructors, not to `apply`.
    pub(super) fn check_apply_parameters(&mut self, parameters: &[Id<Variable>]) {
        for id in parameters {
            let variable = &self.program.variables[*id];
            let (ty, span) = (variable.ty.clone(), variable.span);
            self.check_apply_type(&ty, span);
        }
    }

    /// Blocks are put together when the program is compiled, not passed when it runs.
    pub(super) fn check_apply_type(&mut self, ty: &Type, span: Span) {
        if is_block(ty) {
            let title = format!("`apply` cannot have a parameter of type `{}`", self.show(ty));
            self.report(
                Diagnostic::error("parameter", span, title)
                    .hint("make it a parameter of the constructor"),
            );
        }
    }

    /// The control plane can give values only.
    fn check_action_types(&mut self, parameters: &[Id<Variable>]) {
        for id in parameters {
            let variable = &self.program.variables[*id];
            let (ty, span) = (variable.ty.clone(), variable.span);
            // Structs are values, too; the back end says that this switch cannot be given one.
            let is_value = !matches!(
                ty,
                Type::Integer | Type::String | Type::Extern(_) | Type::Control(_) | Type::Parser(_)
            );
            if !is_value {
                let title = format!(
                    "the control plane cannot give a parameter of type `{}`",
                    self.show(&ty)
                );
                self.error("parameter", span, title);
            }
        }
    }

    /// The control plane's parameters come last.
    fn check_action_parameters(&mut self, parameters: &[ast::Parameter]) {
        let mut had_none = false;
        for parameter in parameters {
            if parameter.direction == Direction::None {
                had_none = true;
            } else if had_none {
                let title = format!(
                    "parameter `{}` has a direction, but stands behind one without",
                    parameter.name.text
                );
                self.report(
                    Diagnostic::error("parameter", parameter.span, title)
                        .hint("parameters that the control plane gives come last"),
                );
            }
        }
    }

    /// Checks a body in its surroundings.
    pub(super) fn body(&mut self, body: Body, block: &'a ast::BlockStatement) -> Block {
        let outer = std::mem::replace(&mut self.body, body);
        let outer_prelude = std::mem::take(&mut self.prelude);
        let checked = self.block(block);
        self.prelude = outer_prelude;
        self.body = outer;
        checked
    }

    /// A function of the top level; several may have one name.
    pub(super) fn function_declaration(&mut self, declaration: &'a ast::FunctionDeclaration) {
        let prototype = &declaration.prototype;
        if prototype.type_parameters.is_empty() {
            let function = self.function(declaration, Vec::new(), None);
            let id = self.program.functions.push(function);
            self.declare_function(&prototype.name, FunctionBinding::Plain(id));
            return;
        }
        // Once with unknown types, for the errors in it.
        let errors = self.error_count();
        let rigid = rigid_variables(&prototype.type_parameters);
        self.with_type_parameters(&prototype.type_parameters, &rigid, |checker| {
            checker.function(declaration, Vec::new(), None)
        });
        self.templates.list.push(Template::Function(declaration));
        let index = self.templates.list.len() - 1;
        if self.error_count() > errors {
            self.functions_wrong.push(index);
        }
        self.declare_function(&prototype.name, FunctionBinding::Generic(index));
    }

    /// A function with a body; its type parameters, if any, are bound around it.
    pub(super) fn function(
        &mut self,
        declaration: &'a ast::FunctionDeclaration,
        type_arguments: Vec<Type>,
        this: Option<Type>,
    ) -> Function {
        let prototype = &declaration.prototype;
        let errors = self.error_count();
        let type_parameters: Vec<&Name> = prototype.type_parameters.iter().collect();
        self.check_distinct("type parameter", &type_parameters);
        let annotations = self.annotations(&declaration.annotations);
        let return_type = self.return_type(&prototype.return_type);
        self.scopes.push();
        let parameters = self.parameters(&prototype.parameters, false);
        let kind = BodyKind::Function;
        let body = Body { kind, return_type: Some(return_type.clone()), this, loop_depth: 0 };
        let body = self.body(body, &declaration.body);
        self.scopes.pop();
        let is_value = !matches!(return_type, Type::Void | Type::Wrong);
        // A `return` that is wrong is missing from the body.
        let is_sound = self.error_count() == errors;
        if is_value && is_sound && !block_returns(&body) {
            let title = format!("`{}` can end without returning a value", prototype.name.text);
            self.report(
                Diagnostic::error("return", prototype.name.span, title)
                    .hint("add `return` at its end"),
            );
        }
        Function {
            annotations,
            name: prototype.name.clone(),
            type_arguments,
            parameters,
            return_type,
            body,
            span: prototype.span,
        }
    }

    /// The instance of a generic function for these types.
    pub(super) fn function_instance(
        &mut self,
        index: usize,
        declaration: &'a ast::FunctionDeclaration,
        types: &[Type],
    ) -> Option<Id<Function>> {
        let known =
            self.function_instances.iter().find(|(of, with, _)| *of == index && with == types);
        if let Some((_, _, id)) = known {
            return Some(*id);
        }
        // Its mistakes are reported; they would be the same with these types.
        if self.functions_wrong.contains(&index) {
            return None;
        }
        // Functions cannot recurse; a generic one would be made for ever.
        if self.functions_in_progress.contains(&index) {
            let name = &declaration.prototype.name;
            self.error("recursion", name.span, format!("function `{}` calls itself", name.text));
            return None;
        }
        self.functions_in_progress.push(index);
        let names = &declaration.prototype.type_parameters;
        let outer = std::mem::take(&mut self.prelude);
        let function = self.with_type_parameters(names, types, |checker| {
            checker.function(declaration, types.to_vec(), None)
        });
        self.prelude = outer;
        self.functions_in_progress.pop();
        let id = self.program.functions.push(function);
        self.function_instances.push((index, types.to_vec(), id));
        Some(id)
    }
}

/// Whether every way through the block ends in `return` or `exit`.
fn block_returns(block: &Block) -> bool {
    block.statements.iter().any(statement_returns)
}

/// Whether no way leads past the statement.
fn statement_returns(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Exit => true,
        StatementKind::Block(block) => block_returns(block),
        StatementKind::If { links, otherwise } => {
            let thens = links.iter().map(|link| &link.then);
            thens.chain(otherwise).all(block_returns) && otherwise.is_some()
        }
        StatementKind::Switch(switch) => {
            let has_default = switch
                .cases
                .iter()
                .flat_map(|case| &case.labels)
                .any(|label| matches!(label, crate::types::tree::SwitchLabel::Default));
            has_default && switch.cases.iter().all(|case| block_returns(&case.body))
        }
        _ => false,
    }
}
