//! Arguments: which parameter each belongs to, inference of type arguments, conversion.
//!
//! Before: the parameters of the callee, and the arguments as written. After: one argument for each
//! parameter, in the order of the parameters, converted to its type; defaults are filled in. A
//! first round finds the types of all arguments, because any of them may determine a type
//! parameter; only the second converts.

use super::parameter::Parameter;
use super::unify::Solution;
use super::{Checker, is_constant};
use crate::types::tree::{Argument, Expression, ExpressionKind, Id, Type, Variable, VariableKind};
use syntax::tree::{self as ast, ArgumentValue, Direction};
use syntax::{Diagnostic, Span};

/// The code of messages about which argument is for which parameter.
pub(super) const ARGUMENT: &str = "argument";

impl<'a> Checker<'a, '_> {
    /// The parameters of something with a body. Without a direction they take any value, as if
    /// they were `in`.
    pub(super) fn parameters_of(&self, variables: &[Id<Variable>]) -> Vec<Parameter> {
        let parameter = |id: &Id<Variable>| {
            let variable = &self.program.variables[*id];
            let direction = match variable.kind {
                VariableKind::Parameter(direction) => direction,
                _ => Direction::None,
            };
            let annotations = variable.annotations.iter();
            Parameter {
                name: variable.name.text.clone(),
                direction,
                ty: variable.ty.clone(),
                is_optional: annotations.into_iter().any(|a| &*a.name.text == "optional"),
                default: self.defaults.get(id).cloned(),
                span: variable.span,
                declared: variable.name.span,
                is_constant: false,
            }
        };
        variables.iter().map(parameter).collect()
    }

    /// Whether these arguments could be meant for these parameters: by number and names, as the
    /// specification picks overloads.
    pub(super) fn arguments_fit(parameters: &[Parameter], arguments: &[ast::Argument]) -> bool {
        let mut given = vec![false; parameters.len()];
        for (at, argument) in arguments.iter().enumerate() {
            let slot = match &argument.name {
                Some(name) => parameters.iter().position(|known| known.name == name.text),
                None => Some(at),
            };
            match slot.and_then(|slot| given.get_mut(slot)) {
                Some(slot) if !*slot => *slot = true,
                _ => return false,
            }
        }
        parameters.iter().zip(given).all(|(known, given)| given || known.may_be_missing())
    }

    /// The arguments in the order of the parameters; `None` after a report.
    fn sort_arguments(
        &mut self,
        callee: &str,
        parameters: &[Parameter],
        arguments: &'a [ast::Argument],
        span: Span,
    ) -> Option<Vec<Option<&'a ast::Argument>>> {
        let mut sorted = vec![None; parameters.len()];
        for (at, argument) in arguments.iter().enumerate() {
            let slot = match &argument.name {
                Some(name) => {
                    let slot = parameters.iter().position(|known| known.name == name.text);
                    if let Some(known) = slot.and_then(|slot| parameters.get(slot)) {
                        self.note_use(name.span, known.declared);
                    } else {
                        let title = format!("`{callee}` has no parameter `{}`", name.text);
                        self.error(ARGUMENT, name.span, title);
                        return None;
                    }
                    slot
                }
                None => Some(at),
            };
            match slot.and_then(|slot| sorted.get_mut(slot)) {
                Some(slot) if slot.is_none() => *slot = Some(argument),
                Some(_) => {
                    self.error(ARGUMENT, argument.span, "this parameter has an argument already");
                    return None;
                }
                None => {
                    self.report_count(callee, parameters, arguments.len(), span);
                    return None;
                }
            }
        }
        let missing = parameters
            .iter()
            .zip(&sorted)
            .find(|(parameter, given)| given.is_none() && !parameter.may_be_missing());
        if let Some((parameter, _)) = missing {
            let title = format!("`{callee}` needs an argument for `{}`", parameter.name);
            let declared = parameter.span;
            self.report(
                Diagnostic::error(ARGUMENT, span, title)
                    .related(declared, "the parameter is declared here"),
            );
            return None;
        }
        Some(sorted)
    }

    /// There are more arguments than parameters.
    fn report_count(&mut self, callee: &str, parameters: &[Parameter], given: usize, span: Span) {
        let title = format!(
            "`{callee}` takes {} {}, not {given}",
            parameters.len(),
            if parameters.len() == 1 { "argument" } else { "arguments" },
        );
        let names: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
        let mut diagnostic = Diagnostic::error(ARGUMENT, span, title);
        if !names.is_empty() {
            diagnostic = diagnostic.hint(format!("its parameters are: {}", names.join(", ")));
        }
        self.report(diagnostic);
    }

    /// Checks all arguments and solves for type parameters; one argument for each parameter.
    pub(super) fn arguments(
        &mut self,
        callee: &str,
        parameters: &[Parameter],
        arguments: &'a [ast::Argument],
        solution: &mut Solution,
        span: Span,
    ) -> Option<Vec<Argument>> {
        let sorted = self.sort_arguments(callee, parameters, arguments, span)?;
        let mut values = Vec::with_capacity(sorted.len());
        for (parameter, argument) in parameters.iter().zip(&sorted) {
            let value = argument.map(|argument| match &argument.value {
                ArgumentValue::DontCare => None,
                ArgumentValue::Expression(written) => {
                    let wanted = self.substitute(&parameter.ty, solution, argument.span);
                    let is_open = self.has_variables(&wanted, solution);
                    let expected = Some(&wanted).filter(|_| !is_open);
                    let value = self.expression(written, expected);
                    self.unify(&parameter.ty, &value.ty, solution);
                    Some(value)
                }
            });
            values.push(value);
        }
        if self.report_no_place(callee, parameters, &values) {
            return None;
        }
        let mut finished = Vec::with_capacity(values.len());
        for ((parameter, value), written) in parameters.iter().zip(values).zip(&sorted) {
            let place = written.map_or(span, |argument| argument.span);
            let wanted = self.substitute(&parameter.ty, solution, place);
            finished.push(match value {
                None => match &parameter.default {
                    Some(default) => Argument::Expression(default.clone()),
                    None => Argument::Omitted,
                },
                Some(None) => self.dont_care(parameter, wanted, place)?,
                Some(Some(value)) => self.finish_argument(parameter, value, &wanted)?,
            });
        }
        Some(finished)
    }

    /// Reports a known value as the argument of an `out` parameter, before any type is looked at: the
    /// order of the arguments is what most often is wrong.
    fn report_no_place(
        &mut self,
        callee: &str,
        parameters: &[Parameter],
        values: &[Option<Option<Expression>>],
    ) -> bool {
        let is_written = |parameter: &Parameter| {
            matches!(parameter.direction, Direction::Out | Direction::InOut)
        };
        let mut given = parameters.iter().zip(values).filter_map(|(parameter, value)| {
            let value = value.as_ref()?.as_ref()?;
            (is_written(parameter) && value.ty != Type::Wrong && is_constant(value))
                .then_some((parameter, value.span))
        });
        let Some((parameter, span)) = given.next() else { return false };
        let name = &parameter.name;
        let title =
            format!("`{callee}` writes its `{name}`, so this must be a variable or a field");
        let order: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
        self.report(
            Diagnostic::error("lvalue", span, title)
                .related(parameter.span, "the parameter is declared here")
                .hint(format!("its parameters are: {}", order.join(", "))),
        );
        true
    }

    /// `_` as an argument: the caller does not want what the callee writes.
    fn dont_care(&mut self, parameter: &Parameter, wanted: Type, span: Span) -> Option<Argument> {
        if parameter.direction == Direction::Out || parameter.is_optional {
            return Some(Argument::DontCare(wanted));
        }
        let title = format!("`_` is no value for parameter `{}`", parameter.name);
        self.report(
            Diagnostic::error(ARGUMENT, span, title).hint("only `out` parameters take `_`"),
        );
        None
    }

    /// The argument, fit for its parameter: a place for `out` and `inout`, a value otherwise.
    /// There is no conversion on the way out, so the types of places must be equal.
    fn finish_argument(
        &mut self,
        parameter: &Parameter,
        value: Expression,
        wanted: &Type,
    ) -> Option<Argument> {
        if value.ty == Type::Wrong {
            return None;
        }
        if matches!(parameter.direction, Direction::Out | Direction::InOut) {
            if value.ty != *wanted && *wanted != Type::Wrong {
                self.report_mismatch(&value.ty, wanted, value.span);
                return None;
            }
            return self.require_lvalue(&value).then_some(Argument::Expression(value));
        }
        let is_object = matches!(
            value.ty,
            Type::Extern(_) | Type::Parser(_) | Type::Control(_) | Type::Package(_)
        );
        let value = self.convert(value, wanted);
        if value.ty == Type::Wrong {
            return None;
        }
        if parameter.is_constant && !is_object && !self.is_compile_time(&value) {
            let title =
                format!("the argument for `{}` must be known at compile time", parameter.name);
            self.error("constant", value.span, title);
            return None;
        }
        Some(Argument::Expression(value))
    }

    /// Whether the value is known once the program is instantiated: constructor parameters count,
    /// and directionless parameters of functions without bodies.
    pub(super) fn is_compile_time(&self, value: &Expression) -> bool {
        if is_constant(value) {
            return true;
        }
        match &value.kind {
            ExpressionKind::Variable(id) => {
                let kind = self.program.variables[*id].kind;
                matches!(
                    kind,
                    VariableKind::ConstructorParameter | VariableKind::Parameter(Direction::None)
                )
            }
            ExpressionKind::Aggregate(parts) => parts.iter().all(|part| self.is_compile_time(part)),
            ExpressionKind::Binary { left, right, .. } => {
                self.is_compile_time(left) && self.is_compile_time(right)
            }
            ExpressionKind::Cast(inner)
            | ExpressionKind::Unary { operand: inner, .. }
            | ExpressionKind::Field { base: inner, .. }
            | ExpressionKind::Slice { base: inner, .. } => self.is_compile_time(inner),
            ExpressionKind::Conditional { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().all(|part| self.is_compile_time(part))
            }
            ExpressionKind::Instance(_) => true,
            _ => false,
        }
    }
}
