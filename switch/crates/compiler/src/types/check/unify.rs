//! Inference of type arguments: which types make the parameters fit the arguments.

use super::Checker;
use super::parameter::Parameter;
use super::template::Template;
use crate::types::tree::{Direction, Id, ParameterInfo, Text, Type, Variable, VariableKind};
use std::collections::BTreeMap;
use syntax::{Diagnostic, Span};

/// The type parameters of one call and what is known of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Solution {
    types: BTreeMap<Text, Option<Type>>,
}

impl Solution {
    /// Nothing is known yet.
    pub fn new(names: &[Text]) -> Solution {
        Solution { types: names.iter().map(|name| (name.clone(), None)).collect() }
    }

    /// Fixes a parameter to a written type argument; `_` leaves it open.
    pub fn set(&mut self, name: &Text, ty: Type) {
        if ty != Type::Variable("_".into()) {
            self.types.insert(name.clone(), Some(ty));
        }
    }

    /// Any type fits a parameter from now on.
    pub fn leave_open(&mut self, name: &Text) {
        self.types.insert(name.clone(), Some(Type::Variable("_".into())));
    }

    /// The type found for a type parameter.
    pub fn get(&self, name: &Text) -> Option<&Type> {
        self.types.get(name)?.as_ref()
    }

    /// Whether nothing is to be solved.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Learns that a parameter is `actual`, unless something better is known.
    fn bind(&mut self, name: &Text, actual: &Type) {
        let known = self.types.get(name).cloned().flatten();
        let better = match known {
            None => true,
            // A literal takes the width that another argument requires.
            Some(Type::Integer) => matches!(actual, Type::Bit(_) | Type::Int(_)),
            // A literal list or struct takes the type of a variable.
            Some(Type::Tuple(_) | Type::Record(_)) => matches!(actual, Type::Struct(_)),
            Some(Type::Wrong) => true,
            Some(_) => false,
        };
        if better && *actual != Type::Void {
            self.types.insert(name.clone(), Some(actual.clone()));
        }
    }
}

impl Checker<'_, '_> {
    /// Learns what the variables in `pattern` must be for `actual` to fit. Whether it really fits
    /// is checked when they are known.
    pub(super) fn unify(&self, pattern: &Type, actual: &Type, solution: &mut Solution) {
        match (pattern, actual) {
            (Type::Variable(name), _) if solution.types.contains_key(name) => {
                solution.bind(name, actual);
            }
            (Type::Tuple(left), Type::Tuple(right)) => {
                left.iter().zip(right).for_each(|(l, r)| self.unify(l, r, solution));
            }
            (Type::List(left), Type::List(right)) => self.unify(left, right, solution),
            (Type::List(left), Type::Tuple(right)) => {
                right.iter().for_each(|element| self.unify(left, element, solution));
            }
            (Type::Stack(left, _), Type::Stack(right, _)) => self.unify(left, right, solution),
            (Type::ControlType(name, arguments), Type::Control(id)) => {
                let parameters = &self.program.controls[*id].parameters;
                self.unify_signature(name, arguments, parameters, solution);
            }
            (Type::ParserType(name, arguments), Type::Parser(id)) => {
                let parameters = &self.program.parsers[*id].parameters;
                self.unify_signature(name, arguments, parameters, solution);
            }
            (Type::ControlType(l, left), Type::ControlType(r, right))
            | (Type::ParserType(l, left), Type::ParserType(r, right))
                if l == r =>
            {
                left.iter().zip(right).for_each(|(l, r)| self.unify(l, r, solution));
            }
            (Type::Struct(id), Type::Tuple(elements)) => {
                for (field, element) in self.program.structs[*id].fields.iter().zip(elements) {
                    self.unify(&field.ty, element, solution);
                }
            }
            (Type::Struct(id), Type::Record(given)) => {
                for field in &self.program.structs[*id].fields {
                    if let Some((_, ty)) = given.iter().find(|(name, _)| *name == field.name.text) {
                        self.unify(&field.ty, ty, solution);
                    }
                }
            }
            (Type::Struct(_), Type::Struct(_))
            | (Type::Extern(_), Type::Extern(_))
            | (Type::Package(_), Type::Package(_)) => {
                let (left, right) = (self.templates.origin(pattern), self.templates.origin(actual));
                if let (Some((l, left)), Some((r, right))) = (left, right)
                    && l == r
                {
                    left.iter().zip(right).for_each(|(l, r)| self.unify(l, r, solution));
                }
            }
            _ => {}
        }
    }

    /// Learns from the parameters of a control or parser what its type must be.
    fn unify_signature(
        &self,
        name: &str,
        arguments: &[Type],
        actual: &[Id<Variable>],
        solution: &mut Solution,
    ) {
        let Some(patterns) = self.signature_patterns.get(name) else { return };
        for (info, variable) in patterns.1.iter().zip(actual) {
            let pattern = &info.ty;
            let actual = &self.program.variables[*variable].ty;
            // A parameter of the type is one of its variables or a type over them.
            if let Type::Variable(own) = pattern
                && let Some(at) = patterns.0.iter().position(|name| name == own)
            {
                if let Some(argument) = arguments.get(at) {
                    self.unify(argument, actual, solution);
                }
            } else {
                self.unify(pattern, actual, solution);
            }
        }
    }

    /// `ty` with the solved variables replaced.
    pub(super) fn substitute(&mut self, ty: &Type, solution: &Solution, span: Span) -> Type {
        if solution.is_empty() {
            return ty.clone();
        }
        let list = |checker: &mut Self, types: &[Type]| -> Vec<Type> {
            types.iter().map(|ty| checker.substitute(ty, solution, span)).collect()
        };
        match ty {
            Type::Variable(name) => solution.get(name).cloned().unwrap_or_else(|| ty.clone()),
            Type::Tuple(elements) => Type::Tuple(list(self, elements)),
            Type::List(element) => Type::List(Box::new(self.substitute(element, solution, span))),
            Type::Stack(element, size) => {
                Type::Stack(Box::new(self.substitute(element, solution, span)), *size)
            }
            Type::ControlType(name, arguments) => {
                Type::ControlType(name.clone(), list(self, arguments))
            }
            Type::ParserType(name, arguments) => {
                Type::ParserType(name.clone(), list(self, arguments))
            }
            Type::Struct(_) | Type::Extern(_) | Type::Package(_) => {
                let origin = self.templates.origin(ty).map(|(of, with)| (of, with.to_vec()));
                match origin {
                    Some((index, arguments)) if !arguments.is_empty() => {
                        let arguments = list(self, &arguments);
                        self.instantiate(index, &arguments, span)
                    }
                    _ => ty.clone(),
                }
            }
            _ => ty.clone(),
        }
    }

    /// Whether a variable is left in `ty`.
    pub(super) fn has_variables(&self, ty: &Type, solution: &Solution) -> bool {
        let any = |types: &[Type]| types.iter().any(|ty| self.has_variables(ty, solution));
        match ty {
            Type::Variable(name) => &**name == "_" || solution.types.contains_key(name),
            Type::Tuple(elements) => any(elements),
            Type::List(element) | Type::Stack(element, _) => self.has_variables(element, solution),
            Type::ControlType(_, arguments) | Type::ParserType(_, arguments) => any(arguments),
            Type::Struct(_) | Type::Extern(_) | Type::Package(_) => {
                self.templates.origin(ty).is_some_and(|(_, arguments)| any(arguments))
            }
            _ => false,
        }
    }

    /// The parameters of `apply` of a parser or control type.
    pub(super) fn signature_parameters(
        &mut self,
        name: &Text,
        arguments: &[Type],
        span: Span,
    ) -> Vec<Parameter> {
        let Some((names, patterns)) = self.signature_patterns.get(name).cloned() else {
            return Vec::new();
        };
        let mut solution = Solution::new(&names);
        names.iter().zip(arguments).for_each(|(name, ty)| solution.set(name, ty.clone()));
        patterns
            .into_iter()
            .map(|info| Parameter {
                ty: self.substitute(&info.ty, &solution, span),
                name: info.name.text,
                direction: info.direction,
                is_optional: info.is_optional,
                default: None,
                span,
                declared: Span::NONE,
                is_constant: false,
            })
            .collect()
    }

    /// The misfit between a control or parser and its type.
    pub(super) fn signature_misfit(
        &mut self,
        name: &Text,
        arguments: &[Type],
        actual: &[Id<Variable>],
        span: Span,
    ) -> Option<Misfit> {
        let (names, patterns) = self.signature_patterns.get(name).cloned()?;
        let mut solution = Solution::new(&names);
        names.iter().zip(arguments).for_each(|(name, ty)| solution.set(name, ty.clone()));
        let left_out = patterns.get(actual.len()..);
        if !left_out.is_some_and(|infos| infos.iter().all(|info| info.is_optional)) {
            let wanted: Vec<String> = patterns
                .iter()
                .map(|info| {
                    let ty = self.substitute(&info.ty, &solution, span);
                    let (direction, name) = (direction_prefix(info.direction), &info.name.text);
                    format!("{direction}{} {name}", self.show(&ty))
                })
                .collect();
            return Some(Misfit::Count { given: actual.len(), wanted });
        }
        for (info, variable) in patterns.iter().zip(actual) {
            let direction = &info.direction;
            let wanted = self.substitute(&info.ty, &solution, span);
            let found = &self.program.variables[*variable];
            let is_same_way = found.kind == VariableKind::Parameter(*direction);
            let fits = is_same_way
                && (found.ty == wanted
                    || found.ty == Type::Wrong
                    || matches!(wanted, Type::Variable(_)));
            if !fits {
                let wanted = format!("{}{}", direction_prefix(*direction), self.show(&wanted));
                return Some(Misfit::Parameter { span: found.span, wanted });
            }
        }
        None
    }

    /// Adds to the message that a block does not fit its place what about its parameters does not.
    pub(super) fn explain_misfit(
        &mut self,
        message: Diagnostic,
        found: &Type,
        wanted: &Type,
    ) -> Diagnostic {
        let (name, arguments, parameters, declared) = match (found, wanted) {
            (Type::Control(id), Type::ControlType(name, arguments)) => {
                let control = &self.program.controls[*id];
                (name, arguments, control.parameters.clone(), control.name.span)
            }
            (Type::Parser(id), Type::ParserType(name, arguments)) => {
                let parser = &self.program.parsers[*id];
                (name, arguments, parser.parameters.clone(), parser.name.span)
            }
            _ => return message,
        };
        match self.signature_misfit(name, arguments, &parameters, message.primary.span) {
            Some(Misfit::Count { given, wanted }) => message
                .related(declared, format!("it has {given} parameters"))
                .hint(format!("`{name}` has {}: {}", wanted.len(), wanted.join(", "))),
            Some(Misfit::Parameter { span, wanted }) => {
                message.related(span, format!("`{name}` has `{wanted}` in this place"))
            }
            None => message,
        }
    }

    /// Keeps the requirements of a parser or control type.
    pub(super) fn remember_signature(&mut self, template: Template<'_>, patterns: Signature) {
        self.signature_patterns.insert(template.name().text.clone(), patterns);
    }
}

/// Why a control or parser is not of a control or parser type.
pub(super) enum Misfit {
    /// It has another number of parameters.
    Count {
        /// How many.
        given: usize,
        /// The parameters of the type.
        wanted: Vec<String>,
    },
    /// A parameter differs.
    Parameter {
        /// Which.
        span: Span,
        /// Direction and type that the type has there.
        wanted: String,
    },
}

/// The direction as written in front of a type.
fn direction_prefix(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in ",
        Direction::InOut => "inout ",
        Direction::None => "",
        Direction::Out => "out ",
    }
}

/// Type parameters; name, direction and type of each parameter.
pub(super) type Signature = (Vec<Text>, Vec<ParameterInfo>);
