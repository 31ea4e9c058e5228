//! Calls of functions whose declarations say that they are deprecated.

use super::visit::{self, Node};
use crate::types::tree::{
    Annotation, AnnotationBody, AnnotationValue, Call, Callee, Program, Value,
};
use syntax::{Diagnostic, Diagnostics};

/// Calls of extern functions with `@deprecated`, with the words of the annotation as the hint.
pub(super) fn calls(program: &Program, diagnostics: &mut Diagnostics) {
    visit::program(program, &mut |node| {
        let Node::Call(Call { callee: Callee::ExternFunction(id), span, .. }) = node else {
            return;
        };
        let function = &program.extern_functions[*id];
        let mut annotations = function.annotations.iter();
        let Some(found) = annotations.find(|found| &*found.name.text == "deprecated") else {
            return;
        };
        let title = format!("`{}` is deprecated", function.name.text);
        let warning = Diagnostic::warning("deprecated", *span, title);
        diagnostics.push(match text(found) {
            Some(advice) => warning.hint(advice),
            None => warning,
        });
    });
}

/// The text of the annotation.
fn text(annotation: &Annotation) -> Option<String> {
    match &annotation.body {
        AnnotationBody::Unstructured { values, .. } => match values.as_slice() {
            [AnnotationValue::Value(Value::Text(text))] => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    }
}
