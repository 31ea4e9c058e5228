//! Names that the control plane sees, and the annotations that shape them.

use crate::types::tree::{
    Annotation, AnnotationBody, AnnotationValue, BinaryOperator, Builtin, Callee, Expression,
    ExpressionKind, Program, Struct, Type, Value,
};
use syntax::SourceMap;

/// The annotation of this name, if there is one.
pub fn annotation<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
    annotations.iter().find(|annotation| &*annotation.name.text == name)
}

/// A table's property under the name that v1model gives it. PSA's have names of their own.
pub fn table_property(name: &str) -> &str {
    match name {
        "psa_direct_counter" => "counters",
        "psa_direct_meter" => "meters",
        "psa_idle_timeout" => "support_timeout",
        "psa_implementation" => "implementation",
        other => other,
    }
}

/// The values in an annotation's brackets.
pub fn values(annotation: &Annotation) -> &[AnnotationValue] {
    match &annotation.body {
        AnnotationBody::List(values) | AnnotationBody::Unstructured { values, .. } => values,
        AnnotationBody::Empty | AnnotationBody::KeyValues(_) => &[],
    }
}

/// The string of an annotation such as `@name("x")`.
pub fn text<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a str> {
    match values(annotation(annotations, name)?) {
        [AnnotationValue::Value(Value::Text(text))] => Some(text),
        _ => None,
    }
}

/// The non-negative number of an annotation such as `@id(5)`.
pub fn number(annotations: &[Annotation], name: &str) -> Option<u32> {
    match values(annotation(annotations, name)?) {
        [AnnotationValue::Value(Value::Integer(number))] => number.to_u32(),
        _ => None,
    }
}

/// The control-plane name of a declaration inside `prefix`. `@name` replaces the declared name; a
/// leading dot in it drops the prefix.
pub fn qualified(prefix: &str, annotations: &[Annotation], declared: &str) -> String {
    let local = text(annotations, "name").unwrap_or(declared);
    match local.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if prefix.is_empty() => local.to_owned(),
        None => format!("{prefix}.{local}"),
    }
}

/// The control-plane name of a header or struct type. A generic type has its arguments behind it.
pub fn type_name(declaration: &Struct) -> String {
    qualified("", &declaration.annotations, &declaration.name.text)
}

/// The name of a table key without `@name`: its expression, spelled canonically. `None` for an
/// expression that has no such spelling.
pub fn key_name(program: &Program, sources: &SourceMap, key: &Expression) -> Option<String> {
    let name = |expression| key_name(program, sources, expression);
    match &key.kind {
        ExpressionKind::Binary { operator: BinaryOperator::BitAnd, left, right } => {
            Some(format!("{} & {}", name(left)?, name(right)?))
        }
        ExpressionKind::Call(call) => match &call.callee {
            Callee::Builtin(Builtin::IsValid, base) => Some(format!("{}.$valid$", name(base)?)),
            _ => None,
        },
        // A constant keeps the base it was written in.
        ExpressionKind::Constant(Value::Integer(number)) => {
            let is_hex = sources.text(key.span).to_ascii_lowercase().contains("0x");
            Some(if is_hex { format!("{number:#x}") } else { number.to_string() })
        }
        ExpressionKind::Field { base, field } => {
            let Type::Struct(of) = base.ty else { return None };
            let field = &program.structs[of].fields[*field];
            let field_name = text(&field.annotations, "name").unwrap_or(&field.name.text);
            match field_name.strip_prefix('.') {
                Some(absolute) => Some(absolute.to_owned()),
                None => Some(format!("{}.{field_name}", name(base)?)),
            }
        }
        ExpressionKind::Index { base, index } => Some(format!("{}[{}]", name(base)?, name(index)?)),
        ExpressionKind::Slice { base, high, low } => Some(format!("{}[{high}:{low}]", name(base)?)),
        ExpressionKind::StackLast(base) => Some(format!("{}.last", name(base)?)),
        ExpressionKind::StackLastIndex(base) => Some(format!("{}.lastIndex", name(base)?)),
        ExpressionKind::Variable(variable) => {
            Some(program.variables[*variable].name.text.to_string())
        }
        _ => None,
    }
}
