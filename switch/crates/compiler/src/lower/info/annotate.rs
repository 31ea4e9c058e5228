//! Annotations and documentation, as P4Info carries them.

use p4info::{
    AnnotationBody as Body, Documentation, Expression, ExpressionList, ExpressionValue,
    KeyValuePair, KeyValuePairList, Preamble, Prefix, StructuredAnnotation,
};

use super::super::names;
use super::Writer;
use crate::types::tree::{Annotation, AnnotationBody, AnnotationValue, Value};

impl Writer<'_> {
    /// The preamble of an entity that has been announced.
    pub fn preamble(
        &self,
        prefix: Prefix,
        name: &str,
        annotations: &[Annotation],
        is_own: impl Fn(&str) -> bool,
    ) -> Preamble {
        let (texts, structured) = self.annotations(annotations, is_own);
        Preamble {
            id: self.ids.id(prefix, name),
            name: name.to_owned(),
            alias: self.ids.alias(name),
            annotations: texts,
            doc: documentation(annotations),
            structured_annotations: structured,
            annotation_locations: Vec::new(),
        }
    }

    /// All annotations but those that have a place of their own in P4Info.
    pub fn annotations(
        &self,
        annotations: &[Annotation],
        is_own: impl Fn(&str) -> bool,
    ) -> (Vec<String>, Vec<StructuredAnnotation>) {
        let (mut texts, mut structured) = (Vec::new(), Vec::new());
        for annotation in annotations {
            let name = &*annotation.name.text;
            match &annotation.body {
                AnnotationBody::KeyValues(pairs) => {
                    let kv_pairs = pairs
                        .iter()
                        .map(|(key, value)| KeyValuePair {
                            key: key.text.to_string(),
                            value: Some(self.expression(value)),
                        })
                        .collect();
                    let body = Some(Body::Pairs(KeyValuePairList { kv_pairs }));
                    structured.push(named(name, body));
                }
                AnnotationBody::List(values) => {
                    let expressions = values.iter().map(|value| self.expression(value)).collect();
                    let list = Body::Expressions(ExpressionList { expressions });
                    structured.push(named(name, (!values.is_empty()).then_some(list)));
                }
                AnnotationBody::Empty | AnnotationBody::Unstructured { .. } => {
                    let has_place = matches!(name, "brief" | "description" | "id" | "name");
                    if !has_place && !is_own(name) {
                        texts.push(as_written(annotation));
                    }
                }
            }
        }
        (texts, structured)
    }

    fn expression(&self, value: &AnnotationValue) -> Expression {
        let value = match value {
            AnnotationValue::Name(text) => ExpressionValue::String(text.to_string()),
            AnnotationValue::Value(Value::Bool(truth)) => ExpressionValue::Bool(*truth),
            AnnotationValue::Value(Value::Text(text)) => ExpressionValue::String(text.to_string()),
            AnnotationValue::Value(Value::Integer(number)) => {
                ExpressionValue::Int64(number.to_i64().unwrap_or(i64::MAX))
            }
            AnnotationValue::Value(Value::Enumerator(of, member)) => {
                let member = &self.program.enums[*of].members[*member];
                ExpressionValue::String(member.name.text.to_string())
            }
            AnnotationValue::Value(Value::Error(index)) => {
                ExpressionValue::String(self.program.errors[*index].text.to_string())
            }
            AnnotationValue::Value(Value::MatchKind(index)) => {
                ExpressionValue::String(self.program.match_kinds[*index].text.to_string())
            }
        };
        Expression { value: Some(value) }
    }
}

fn named(name: &str, body: Option<Body>) -> StructuredAnnotation {
    StructuredAnnotation { name: name.to_owned(), body, source_location: None }
}

/// `@name(tokens)`; tokens are parted by spaces where there are several. `::` is two tokens to p4c.
fn as_written(annotation: &Annotation) -> String {
    let name = &annotation.name.text;
    match &annotation.body {
        AnnotationBody::Unstructured { tokens, .. } if !tokens.is_empty() => {
            format!("@{name}({})", written(tokens.iter().map(|token| &**token)))
        }
        _ => format!("@{name}"),
    }
}

fn written<'a>(tokens: impl Iterator<Item = &'a str>) -> String {
    let tokens: Vec<&str> = tokens.map(|token| if token == "::" { ": :" } else { token }).collect();
    tokens.join(" ")
}

/// `@brief` and `@description`.
pub fn documentation(annotations: &[Annotation]) -> Option<Documentation> {
    let [brief, description] =
        ["brief", "description"].map(|name| names::text(annotations, name).map(str::to_owned));
    (brief.is_some() || description.is_some()).then(|| Documentation {
        brief: brief.unwrap_or_default(),
        description: description.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text keeps what it has between its quotes.
    #[test]
    fn two_colons_are_parted_as_p4c_parts_them() {
        assert_eq!(written(["a", "::", "b", ",", "\"c::d\""].into_iter()), "a : : b , \"c::d\"");
    }
}
