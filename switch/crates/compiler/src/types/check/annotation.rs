//! Annotations with their values.
//!
//! Before: annotations as written. After: annotations whose values are known where they can be; the
//! contents of an annotation that P4 does not know stay tokens, for its readers. The
//! specification's rules are checked: a structured annotation occurs once at a thing, its values
//! are constants, and the annotations it defines have the form it gives them.

use super::Checker;
use super::scope::Binding;
use crate::types::tree::{Annotation, AnnotationBody, AnnotationValue, ExpressionKind, Value};
use syntax::Diagnostic;
use syntax::suggest::nearest;
use syntax::tree as ast;

/// Annotations that mean something to P4, P4Runtime or simple_switch. Others are for other tools; one
/// that is nearly the same is a slip of the pen.
const KNOWN: [&str; 22] = [
    "atomic",
    "brief",
    "controller_header",
    "defaultonly",
    "deprecated",
    "description",
    "field_list",
    "hidden",
    "id",
    "match",
    "max_group_size",
    "max_member_weight",
    "name",
    "noSideEffects",
    "noWarn",
    "optional",
    "p4runtime_translation",
    "pkginfo",
    "priority",
    "pure",
    "tableonly",
    "unroll",
];

impl<'a> Checker<'a, '_> {
    /// All annotations of one thing.
    pub(super) fn annotations(&mut self, written: &'a [ast::Annotation]) -> Vec<Annotation> {
        let mut annotations = Vec::with_capacity(written.len());
        for annotation in written {
            let body = self.annotation_body(&annotation.body);
            let (name, span) = (annotation.name.clone(), annotation.span);
            let known = Annotation { name, body, span };
            self.check_known(&known);
            self.check_spelling(&known);
            let is_structured = |body: &AnnotationBody| {
                matches!(body, AnnotationBody::List(_) | AnnotationBody::KeyValues(_))
            };
            let twin = annotations.iter().find(|other: &&Annotation| {
                other.name.text == known.name.text
                    && (is_structured(&other.body) || is_structured(&known.body))
            });
            if let Some(first) = twin.map(|twin| twin.span) {
                self.report_twice("annotation", &known.name, first);
            }
            annotations.push(known);
        }
        annotations
    }

    /// The form of the specification's own annotations.
    fn check_known(&mut self, annotation: &Annotation) {
        let AnnotationBody::Unstructured { tokens, values } = &annotation.body else { return };
        let is_text = matches!(values.as_slice(), [AnnotationValue::Value(Value::Text(_))]);
        match &*annotation.name.text {
            name @ ("name" | "deprecated") if !is_text && !tokens.is_empty() => {
                let title = format!("@{name} must have one string");
                self.error("annotation", annotation.span, title);
            }
            "match" if !matches!(values.as_slice(), [AnnotationValue::Name(_)]) => {
                let title = "@match must have a match kind";
                self.error("annotation", annotation.span, title);
            }
            _ => {}
        }
    }

    /// Warns of a name that is nearly one with a meaning.
    fn check_spelling(&mut self, annotation: &Annotation) {
        let name = &*annotation.name.text;
        if KNOWN.contains(&name) {
            return;
        }
        if let Some(similar) = nearest(name, KNOWN.into_iter()) {
            let title = format!("the annotation @{name} has no meaning");
            let diagnostic = Diagnostic::warning("annotation", annotation.span, title);
            self.report(diagnostic.hint(format!("is @{similar} meant?")));
        }
    }

    /// The part behind the name: nothing, `(tokens)`, `[values]` or `[key = value]`.
    fn annotation_body(&mut self, body: &'a ast::AnnotationBody) -> AnnotationBody {
        match body {
            ast::AnnotationBody::Empty => AnnotationBody::Empty,
            ast::AnnotationBody::KeyValues(pairs) => AnnotationBody::KeyValues({
                let keys: Vec<&ast::Name> = pairs.iter().map(|pair| &pair.key).collect();
                self.check_distinct("annotation key", &keys);
                pairs
                    .iter()
                    .filter_map(|pair| {
                        Some((pair.key.clone(), self.required_annotation_value(&pair.value)?))
                    })
                    .collect()
            }),
            ast::AnnotationBody::List(list) => AnnotationBody::List(
                list.iter().filter_map(|value| self.required_annotation_value(value)).collect(),
            ),
            ast::AnnotationBody::Unstructured { tokens, expressions } => {
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
    fn required_annotation_value(&mut self, value: &'a ast::Expression) -> Option<AnnotationValue> {
        let known = self.annotation_value(value);
        if matches!(known, Some(AnnotationValue::Value(_))) {
            return known;
        }
        let title = "the values of this annotation must be constants";
        self.error("annotation", value.span, title);
        None
    }

    /// A constant, or a name that is none; everything else is only tokens.
    fn annotation_value(&mut self, value: &'a ast::Expression) -> Option<AnnotationValue> {
        if let ast::ExpressionKind::Name(name) = &value.kind {
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
