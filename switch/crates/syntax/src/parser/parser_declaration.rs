//! Parsers: states, `select`, key sets, value sets.

use super::Parser;
use crate::tree::{
    Annotation, KeysetElement, KeysetExpression, ParserDeclaration, ParserLocalElement,
    ParserState, SelectCase, SelectExpression, Signature, StateExpression, Statement,
    ValueSetDeclaration,
};
use crate::{Diagnostic, Span};

impl Parser<'_> {
    /// Behind the signature: constructor parameters and `{ ... }`.
    pub(super) fn parser_body(&mut self, signature: Signature) -> Option<ParserDeclaration> {
        let start = signature.span;
        let constructor_parameters = self.opt_constructor_parameters()?;
        self.expect("{")?;
        let (mut locals, mut states) = (Vec::new(), Vec::new());
        self.braced(|parser| {
            let start = parser.span();
            let annotations = parser.opt_annotations()?;
            // `state` may also name a type or variable: a state is `state name {`.
            if parser.at("state") && parser.token(2).is("{") {
                states.push(parser.parser_state(annotations, start)?);
            } else if states.is_empty() {
                locals.push(parser.parser_local_element(annotations, start)?);
            } else {
                parser.expected("`state` or `}`");
                return None;
            }
            Some(())
        })?;
        if states.is_empty() {
            let title = format!("parser `{}` has no states", signature.name.text);
            self.report(
                Diagnostic::error("syntax", signature.name.span, title)
                    .hint("a parser begins at `state start { ... }`"),
            );
        }
        let span = start.to(self.last_span());
        Some(ParserDeclaration { signature, constructor_parameters, locals, states, span })
    }

    /// A constant, instance, value set or variable.
    fn parser_local_element(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<ParserLocalElement> {
        if self.at("const") {
            return Some(ParserLocalElement::Constant(
                self.constant_declaration(annotations, start)?,
            ));
        }
        if self.at("value_set") {
            return Some(ParserLocalElement::ValueSet(
                self.value_set_declaration(annotations, start)?,
            ));
        }
        if self.instantiation_follows() {
            return Some(ParserLocalElement::Instantiation(
                self.instantiation(annotations, start)?,
            ));
        }
        let declaration = self.variable_declaration_without_semicolon(annotations, start)?;
        self.expect(";")?;
        Some(ParserLocalElement::Variable(declaration))
    }

    /// `value_set<type>(size) name;`.
    fn value_set_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<ValueSetDeclaration> {
        self.expect("value_set")?;
        self.expect("<")?;
        let type_ref = self.type_ref()?;
        self.expect(">")?;
        self.expect("(")?;
        let size = self.expression()?;
        self.expect(")")?;
        let name = self.name()?;
        self.expect(";")?;
        let span = start.to(self.last_span());
        Some(ValueSetDeclaration { annotations, type_ref, size, name, span })
    }

    /// `state name { statements transition ... }`.
    fn parser_state(&mut self, annotations: Vec<Annotation>, start: Span) -> Option<ParserState> {
        self.expect("state")?;
        let name = self.name()?;
        let opened = self.expect("{")?;
        self.type_names.push();
        let body = self.parser_state_body();
        self.type_names.pop();
        let (statements, transition) = body?;
        self.close(opened);
        let span = start.to(self.last_span());
        Some(ParserState { annotations, name, statements, transition, span })
    }

    /// Statements, then where it goes; nothing means `reject`.
    fn parser_state_body(&mut self) -> Option<(Vec<Statement>, Option<StateExpression>)> {
        let mut statements = Vec::new();
        while !self.at_close() && !self.at("transition") {
            let before = self.at;
            match self.statement_or_declaration() {
                Some(statement) => statements.push(statement),
                None => self.skip_item(),
            }
            if self.at == before {
                self.bump();
            }
        }
        let transition = if self.eat("transition") { Some(self.state_expression()?) } else { None };
        Some((statements, transition))
    }

    /// A state's name or a `select`.
    fn state_expression(&mut self) -> Option<StateExpression> {
        if self.at("select") {
            return Some(StateExpression::Select(self.select_expression()?));
        }
        let name = self.name()?;
        self.expect(";")?;
        Some(StateExpression::Name(name))
    }

    /// `select (subjects) { keys: state; ... }`.
    fn select_expression(&mut self) -> Option<SelectExpression> {
        let start = self.expect("select")?;
        self.expect("(")?;
        let subjects = self.comma_list(")", |parser| parser.expression())?;
        self.expect(")")?;
        self.expect("{")?;
        let cases = self.braced(|parser| {
            let keyset = parser.keyset_expression()?;
            parser.expect(":")?;
            let state = parser.name()?;
            parser.expect(";")?;
            let span = keyset.span.to(parser.last_span());
            Some(SelectCase { keyset, state, span })
        })?;
        Some(SelectExpression { subjects, cases, span: start.to(self.last_span()) })
    }

    /// `(a, b)` in front of a colon is one element a key; everything else is a single element,
    /// also `(a) &&& b`.
    pub(super) fn keyset_expression(&mut self) -> Option<KeysetExpression> {
        let start = self.span();
        let is_tuple =
            self.at("(") && self.closing(0).is_some_and(|close| self.token(close + 1).is(":"));
        let elements = if is_tuple {
            self.bump();
            let list = self.comma_list(")", |parser| parser.simple_keyset_expression())?;
            self.expect(")")?;
            list
        } else {
            vec![self.simple_keyset_expression()?]
        };
        Some(KeysetExpression { elements, span: start.to(self.last_span()) })
    }

    /// A value, `value &&& mask`, `low .. high`, `default` or `_`.
    fn simple_keyset_expression(&mut self) -> Option<KeysetElement> {
        if self.at("default") {
            return Some(KeysetElement::Default(self.bump().span));
        }
        if self.at("_") {
            return Some(KeysetElement::DontCare(self.bump().span));
        }
        let first = self.expression()?;
        if self.eat("&&&") {
            return Some(KeysetElement::Mask(first, self.expression()?));
        }
        if self.eat("..") {
            return Some(KeysetElement::Range(first, self.expression()?));
        }
        Some(KeysetElement::Value(first))
    }
}
