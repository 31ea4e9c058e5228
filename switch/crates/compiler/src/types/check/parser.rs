//! Parsers: locals and states. States may be used before they are declared.
//!
//! Before: the declaration. After: a [`Parser`] with its states in the order of the text and every
//! transition resolved to a state, `accept` or `reject`; a state without `transition` rejects. Some way
//! leads from `start` to an end.

use super::scope::Binding;
use super::{Body, BodyKind, Checker};
use crate::types::index::Kind;
use crate::types::tree::{
    LocalDeclaration, Parser, State, StateTarget, Transition, Type, ValueSet,
};
use syntax::suggest::nearest;
use syntax::tree::{self as ast, Name, ParserLocalElement, StateExpression};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// Two scopes, as in a control.
    pub(super) fn parser(&mut self, declaration: &'a ast::ParserDeclaration) {
        let signature = &declaration.signature;
        let annotations = self.annotations(&signature.annotations);
        self.scopes.push();
        self.declare_type_variables(&signature.type_parameters);
        let parameters = self.parameters(&signature.parameters, false);
        let constructor_parameters = self.parameters(&declaration.constructor_parameters, true);
        self.check_apply_parameters(&parameters);
        let outer = std::mem::take(&mut self.direct_instances);
        self.scopes.push();
        let mut locals = self.parser_locals(&declaration.locals);
        self.check_state_names(declaration);
        for state in &declaration.states {
            self.note_part(Kind::State, &state.name, None, state.span);
        }
        let names: Vec<&Name> = declaration.states.iter().map(|state| &state.name).collect();
        let errors = self.error_count();
        let states: Vec<State> =
            declaration.states.iter().map(|state| self.state(state, &names)).collect();
        // A state or case that is wrong may be the missing end.
        if self.error_count() == errors {
            self.check_ends(&states, declaration.span);
        }
        self.scopes.pop();
        self.scopes.pop();
        locals.append(&mut self.direct_instances);
        self.direct_instances = outer;
        let id = self.program.parsers.push(Parser {
            annotations,
            name: signature.name.clone(),
            parameters,
            constructor_parameters,
            locals,
            states,
            span: declaration.span,
        });
        self.declare(&signature.name, Binding::Type(Type::Parser(id)));
    }

    /// States have names of their own, and one of them is `start`.
    fn check_state_names(&mut self, declaration: &'a ast::ParserDeclaration) {
        let names: Vec<&Name> = declaration.states.iter().map(|state| &state.name).collect();
        self.check_distinct("state", &names);
        for name in &names {
            if matches!(&*name.text, "accept" | "reject") {
                let title = format!("state `{}` exists already in every parser", name.text);
                self.error("state", name.span, title);
            }
        }
        let is_special = |name: &&Name| matches!(&*name.text, "start" | "accept" | "reject");
        if !names.is_empty() && !names.iter().any(is_special) {
            let parser = &declaration.signature.name;
            let title = format!("parser `{}` has no state `start`", parser.text);
            self.report(
                Diagnostic::error("state", parser.span, title)
                    .hint("a parser begins at `state start { ... }`"),
            );
        }
    }

    /// Constants leave nothing behind.
    fn parser_locals(&mut self, list: &'a [ParserLocalElement]) -> Vec<LocalDeclaration> {
        let mut locals = Vec::with_capacity(list.len());
        for local in list {
            let made = match local {
                ParserLocalElement::Constant(constant) => {
                    self.constant_declaration(constant);
                    None
                }
                ParserLocalElement::Instantiation(instance) => {
                    self.instantiation(instance).map(LocalDeclaration::Instance)
                }
                ParserLocalElement::ValueSet(set) => Some(self.value_set(set)),
                ParserLocalElement::Variable(variable) => {
                    Some(self.local_variable(variable, BodyKind::Parser))
                }
            };
            locals.extend(made);
        }
        locals
    }

    /// A set that the control plane fills; a case of a `select` can name it.
    fn value_set(&mut self, declaration: &'a ast::ValueSetDeclaration) -> LocalDeclaration {
        let annotations = self.annotations(&declaration.annotations);
        let element = self.type_ref(&declaration.type_ref);
        if matches!(element, Type::Integer | Type::String | Type::Extern(_)) {
            let title =
                format!("a value set cannot have members of type `{}`", self.show(&element));
            self.error("type", declaration.type_ref.span, title);
        }
        let size = self.expression(&declaration.size, Some(&Type::Integer));
        if size.ty != Type::Wrong && !self.is_compile_time(&size) {
            self.error("constant", size.span, "the size of a value set must be a constant");
        }
        let id = self.program.value_sets.push(ValueSet {
            annotations,
            name: declaration.name.clone(),
            element,
            size,
            span: declaration.span,
        });
        self.declare(&declaration.name, Binding::ValueSet(id));
        LocalDeclaration::ValueSet(id)
    }

    /// A parser that can only go round is a mistake: it never accepts or rejects.
    fn check_ends(&mut self, states: &[State], span: Span) {
        let mut open = vec![StateTarget::State(
            states.iter().position(|state| &*state.name.text == "start").unwrap_or(0),
        )];
        let mut seen = vec![false; states.len()];
        while let Some(target) = open.pop() {
            let StateTarget::State(at) = target else { return };
            let (Some(state), Some(seen)) = (states.get(at), seen.get_mut(at)) else { return };
            if std::mem::replace(seen, true) {
                continue;
            }
            match &state.transition {
                Transition::Direct(next) => open.push(*next),
                Transition::Select(select) => {
                    open.extend(select.cases.iter().map(|case| case.target));
                }
            }
        }
        self.report(
            Diagnostic::error("state", span, "this parser never reaches `accept` or `reject`")
                .hint("one of its states needs `transition accept;`"),
        );
    }

    /// One state: its statements in a scope of their own, then where it goes.
    fn state(&mut self, state: &'a ast::ParserState, names: &[&Name]) -> State {
        let annotations = self.annotations(&state.annotations);
        let body = Body { kind: BodyKind::Parser, ..Body::default() };
        let outer = std::mem::replace(&mut self.body, body);
        self.scopes.push();
        let mut statements = self.statements(&state.statements);
        let outer_prelude = std::mem::take(&mut self.prelude);
        let transition = match &state.transition {
            None => {
                self.report_no_transition(&state.name);
                Transition::Direct(StateTarget::Reject)
            }
            Some(StateExpression::Name(name)) => Transition::Direct(self.state_target(name, names)),
            Some(StateExpression::Select(select)) => Transition::Select(self.select(select, names)),
        };
        statements.append(&mut self.prelude);
        self.prelude = outer_prelude;
        self.scopes.pop();
        self.body = outer;
        State { annotations, name: state.name.clone(), statements, transition, span: state.span }
    }

    /// A state without a transition rejects, which hardly anybody wants.
    fn report_no_transition(&mut self, state: &Name) {
        let title =
            format!("state `{}` has no transition, so the parser rejects there", state.text);
        self.report(
            Diagnostic::warning("parser-transition", state.span, title)
                .hint("end it with `transition accept;`, or with `transition` and the next state"),
        );
    }

    /// The state that a name means; states may be named before they are declared.
    pub(super) fn state_target(&mut self, name: &Name, names: &[&Name]) -> StateTarget {
        match &*name.text {
            "accept" => return StateTarget::Accept,
            "reject" => return StateTarget::Reject,
            _ => {}
        }
        if self.is_asked(name) {
            self.offer_states(names);
        }
        match names.iter().position(|known| known.text == name.text) {
            Some(at) => {
                self.note_use(name.span, names[at].span);
                StateTarget::State(at)
            }
            None => {
                let title = format!("this parser has no state `{}`", name.text);
                let mut diagnostic = Diagnostic::error("unknown-name", name.span, title);
                let known = names.iter().map(|known| &*known.text).chain(["accept", "reject"]);
                if !self.diagnostics.is_full()
                    && let Some(similar) = nearest(&name.text, known)
                {
                    diagnostic =
                        diagnostic.hint(format!("is `{similar}` meant?")).fix(name.span, similar);
                }
                self.report(diagnostic);
                StateTarget::Reject
            }
        }
    }
}
