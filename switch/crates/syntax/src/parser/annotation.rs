//! `@name`, `@name(...)`, `@name[...]`, `@pragma`.

use super::Parser;
use crate::token::Token;
use crate::tree::{Annotation, AnnotationBody, AnnotationToken, KeyValue, Name};

impl Parser<'_> {
    /// Any number of annotations.
    pub(super) fn opt_annotations(&mut self) -> Option<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.at("@") {
            annotations.push(self.annotation()?);
        }
        Some(annotations)
    }

    /// One annotation; `@pragma` goes to the end of its line.
    fn annotation(&mut self) -> Option<Annotation> {
        let start = self.expect("@")?;
        if self.at("pragma") {
            return self.pragma();
        }
        // Keywords may name annotations (`@default`): any word will do.
        let name = match self.opt_name() {
            Some(name) => name,
            None if self.peek().text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let token = self.bump();
                Name { text: token.text.clone(), span: token.span }
            }
            None => self.name()?,
        };
        let body = if self.at("(") {
            self.annotation_body()?
        } else if self.eat("[") {
            let body = self.structured_annotation_body()?;
            self.expect("]")?;
            body
        } else {
            AnnotationBody::Empty
        };
        Some(Annotation { name, body, span: start.to(self.last_span()) })
    }

    /// `@pragma name anything` up to the end of the line.
    fn pragma(&mut self) -> Option<Annotation> {
        let start = self.bump().span;
        let name = self.name()?;
        let mut tokens = Vec::new();
        while !self.peek().starts_line && !self.is_end() {
            tokens.push(annotation_token(self.bump()));
        }
        let body = AnnotationBody::Unstructured { tokens, expressions: None };
        Some(Annotation { name, body, span: start.to(self.last_span()) })
    }

    /// The part behind the name.
    fn annotation_body(&mut self) -> Option<AnnotationBody> {
        let Some(close) = self.closing(0) else {
            self.expected("the `)` that ends the annotation");
            return None;
        };
        let end = self.at + close;
        let tokens = (1..close).map(|ahead| annotation_token(self.token(ahead))).collect();
        self.bump();
        let expressions = self.attempt(|parser| {
            let list = parser.comma_list(")", |parser| parser.expression())?;
            (parser.at == end).then_some(list)
        });
        self.at = end + 1;
        Some(AnnotationBody::Unstructured { tokens, expressions })
    }

    /// `[values]` or `[key = value, ...]`, not mixed.
    fn structured_annotation_body(&mut self) -> Option<AnnotationBody> {
        if self.at_name() && self.token(1).is("=") {
            let pairs = self.comma_list("]", |parser| parser.kv_pair())?;
            return Some(AnnotationBody::KeyValues(pairs));
        }
        Some(AnnotationBody::List(self.comma_list("]", |parser| parser.expression())?))
    }

    /// `name = expression`.
    pub(super) fn kv_pair(&mut self) -> Option<KeyValue> {
        let key = self.name()?;
        self.expect("=")?;
        Some(KeyValue { key, value: self.expression()? })
    }
}

/// A token as the annotation keeps it.
fn annotation_token(token: &Token) -> AnnotationToken {
    AnnotationToken { text: token.text.clone(), span: token.span }
}
