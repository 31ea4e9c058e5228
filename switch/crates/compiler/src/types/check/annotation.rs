//! Annotations with their values.

use super::Checker;
use super::scope::Binding;
use crate::syntax::tree as syntax;
use crate::types::tree::{Annotation, AnnotationBody, AnnotationValue, ExpressionKind};

impl<'a> Checker<'a, '_> {
    pub(super) fn annotations(&mut self, written: &'a [syntax::Annotation]) -> Vec<Annotation> {
        written
            .iter()
            .map(|annotation| Annotation {
                name: annotation.name.clone(),
                body: self.annotation_body(&annotation.body),
                span: annotation.span,
            })
            .collect()
    }

    fn annotation_body(&mut self, body: &'a syntax::AnnotationBody) -> AnnotationBody {
        match body {
            syntax::AnnotationBody::Empty => AnnotationBody::Empty,
            syntax::AnnotationBody::KeyValues(pairs) => AnnotationBody::KeyValues(
                pairs
                    .iter()
                    .filter_map(|pair| {
                        Some((pair.key.clone(), self.required_annotation_value(&pair.value)?))
                    })
                    .collect(),
            ),
            syntax::AnnotationBody::List(list) => AnnotationBody::List(
                list.iter().filter_map(|value| self.required_annotation_value(value)).collect(),
            ),
            syntax::AnnotationBody::Unstructured { tokens, expressions } => {
                let values = expressions.iter().flatten();
                let values: Option<Vec<AnnotationValue>> =
                    values.map(|value| self.annotation_value(value)).collect();
                AnnotationBody::Unstructured {
                    tokens: tokens.iter().map(|token| token.text.clone()).collect(),
                    values: values.unwrap_or_default(),
                }
            }
        }
    }

    /// In a structured annotation every value must be a constant.
    fn required_annotation_value(
        &mut self,
        value: &'a syntax::Expression,
    ) -> Option<AnnotationValue> {
        let known = self.annotation_value(value);
        if matches!(known, Some(AnnotationValue::Value(_))) {
            return known;
        }
        let title = "the values of this annotation must be constants";
        self.error("annotation", value.span, title);
        None
    }

    /// A constant, or a name that is none; everything else is only tokens.
    fn annotation_value(&mut self, value: &'a syntax::Expression) -> Option<AnnotationValue> {
        if let syntax::ExpressionKind::Name(name) = &value.kind {
            let binding = self.scopes.find(&name.name.text, name.is_global);
            if !matches!(binding, Some(Binding::Constant(_))) {
                return Some(AnnotationValue::Name(name.name.text.clone()));
            }
        }
        let found = self.quietly(|checker| checker.expression(value, None))?;
        match found.kind {
            ExpressionKind::Constant(value) => Some(AnnotationValue::Value(value)),
            _ => None,
        }
    }
}
