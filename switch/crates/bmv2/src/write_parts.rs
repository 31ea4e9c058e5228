//! Parts of all kinds of objects: lists, optional members, references to fields, places in the
//! source, and expressions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::expression::{BINARY_OPERATORS, UNARY_OPERATORS};
use crate::{Expression, FieldRef, SourceInfo};

/// Widths of all fixed-width fields, for the constants whose text must have the field's length.
pub(crate) type FieldWidths = BTreeMap<FieldRef, u32>;

pub(crate) fn list<T>(items: &[T], item: impl FnMut(&T) -> Value) -> Value {
    Value::Array(items.iter().map(item).collect())
}

/// Sets a member that is written only when it is there.
pub(crate) fn set(value: &mut Value, key: &str, member: Option<Value>) {
    if let (Value::Object(members), Some(member)) = (value, member) {
        members.insert(key.to_owned(), member);
    }
}

pub(crate) fn with_source_info(mut value: Value, info: &Option<SourceInfo>) -> Value {
    let info = info.as_ref().map(|info| {
        json!({
            "filename": info.filename, "line": info.line, "column": info.column,
            "source_fragment": info.source_fragment,
        })
    });
    set(&mut value, "source_info", info);
    value
}

pub(crate) fn typed(kind: &str, value: Value) -> Value {
    json!({ "type": kind, "value": value })
}

pub(crate) fn field_ref(field: &FieldRef) -> Value {
    json!([field.header, field.field])
}

pub(crate) fn hex_bytes(bytes: &[u8]) -> Value {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Value::String(format!("0x{digits}"))
}

/// A "type value object".
pub(crate) fn expression(node: &Expression) -> Value {
    let operation = |op: &str, left: Value, right: Value| {
        typed("expression", json!({ "op": op, "left": left, "right": right }))
    };
    match node {
        Expression::AccessField { header, field } => {
            operation("access_field", expression(header), json!(field))
        }
        Expression::AccessUnionHeader { union, member } => {
            operation("access_union_header", expression(union), json!(member))
        }
        Expression::Binary { operator, left, right } => {
            let named = BINARY_OPERATORS.iter().find(|(_, candidate)| candidate == operator);
            let name = named.expect("every operator has a name").0;
            operation(name, expression(left), expression(right))
        }
        Expression::Bool(value) => typed("bool", json!(value)),
        Expression::Conditional { condition, if_true, if_false } => {
            let mut members = Map::new();
            members.insert("op".to_owned(), json!("?"));
            members.insert("left".to_owned(), expression(if_true));
            members.insert("right".to_owned(), expression(if_false));
            members.insert("cond".to_owned(), expression(condition));
            typed("expression", Value::Object(members))
        }
        Expression::Field(field) => typed("field", field_ref(field)),
        Expression::Header(name) => typed("header", json!(name)),
        Expression::HeaderStack(name) => typed("header_stack", json!(name)),
        Expression::HeaderUnion(name) => typed("header_union", json!(name)),
        Expression::HeaderUnionStack(name) => typed("header_union_stack", json!(name)),
        Expression::Hex(value) => {
            typed("hexstr", json!(value.to_hex(bits::byte_count(value.bit_length()))))
        }
        Expression::Local(index) => typed("local", json!(index)),
        Expression::Register { array, index } => {
            typed("register", json!([array, expression(index)]))
        }
        Expression::StackField { stack, field } => typed("stack_field", json!([stack, field])),
        Expression::Unary { operator, operand } => {
            let named = UNARY_OPERATORS.iter().find(|(_, candidate)| candidate == operator);
            let name = named.expect("every operator has a name").0;
            operation(name, Value::Null, expression(operand))
        }
    }
}
