//! Parts of all kinds of objects: names, references to fields, places in the source, and
//! expressions.

use crate::expression::{BINARY_OPERATORS, UNARY_OPERATORS};
use crate::node::{Node, ReadError, boolean, count, hex, text};
use crate::{BinaryOperator, Expression, FieldRef, SourceInfo, UnaryOperator};

pub(crate) fn id_and_name(node: Node<'_>) -> Result<(u32, String), ReadError> {
    Ok((node.member("id", count)?, node.member("name", text)?))
}

pub(crate) fn flag(node: Node<'_>, key: &str, default: bool) -> Result<bool, ReadError> {
    Ok(node.opt_member(key, boolean)?.unwrap_or(default))
}

pub(crate) fn source_info(node: Node<'_>) -> Result<Option<SourceInfo>, ReadError> {
    node.opt_member("source_info", |info| {
        Ok(SourceInfo {
            filename: info.opt_member("filename", text)?.unwrap_or_default(),
            line: info.opt_member("line", count)?.unwrap_or_default(),
            column: info.opt_member("column", count)?.unwrap_or_default(),
            source_fragment: info.opt_member("source_fragment", text)?.unwrap_or_default(),
        })
    })
}

/// `["header", "field"]`.
pub(crate) fn field_ref(node: Node<'_>) -> Result<FieldRef, ReadError> {
    if node.length() != 2 {
        return Err(node.error("a header name and a field name"));
    }
    Ok(FieldRef { header: node.element(0, text)?, field: node.element(1, text)? })
}

/// `["stack", "field"]`.
pub(crate) fn name_pair(node: Node<'_>) -> Result<(String, String), ReadError> {
    Ok((node.element(0, text)?, node.element(1, text)?))
}

/// A "type value object" that is an expression.
pub(crate) fn expression(node: Node<'_>) -> Result<Expression, ReadError> {
    let kind = node.member("type", text)?;
    node.member("value", |value| match kind.as_str() {
        "bool" => boolean(value).map(Expression::Bool),
        "expression" if value.object()?.contains_key("op") => operation(value),
        // An expression that only wraps another, as around the arguments of primitives.
        "expression" => expression(value),
        "field" if value.element(0, |header| Ok(header.is_object()))? => computed_validity(value),
        "field" => field_ref(value).map(Expression::Field),
        "header" => text(value).map(Expression::Header),
        "header_stack" => text(value).map(Expression::HeaderStack),
        "header_union" => text(value).map(Expression::HeaderUnion),
        "header_union_stack" => text(value).map(Expression::HeaderUnionStack),
        "hexstr" => hex(value).map(Expression::Hex),
        "local" | "runtime_data" => count(value).map(Expression::Local),
        "register" => Ok(Expression::Register {
            array: value.element(0, text)?,
            index: Box::new(value.element(1, expression)?),
        }),
        "stack_field" => {
            let (stack, field) = name_pair(value)?;
            Ok(Expression::StackField { stack, field })
        }
        _ => Err(node.error(
            "an expression: type bool, expression, field, header, header_stack, header_union, \
             header_union_stack, hexstr, local, register or stack_field",
        )),
    })
}

/// `[{"op": ...}, "$valid$"]`: p4c's way to ask, in a condition, for the validity of an element of
/// a stack at an index. simple_switch refuses it.
fn computed_validity(node: Node<'_>) -> Result<Expression, ReadError> {
    node.element(1, |field| match text(field)?.as_str() {
        "$valid$" => Ok(()),
        _ => Err(field.error("\"$valid$\", for the header is computed")),
    })?;
    let header = node.element(0, operation)?;
    let valid = Expression::Unary { operator: UnaryOperator::Valid, operand: Box::new(header) };
    // A field is a number.
    Ok(Expression::Unary { operator: UnaryOperator::BoolToData, operand: Box::new(valid) })
}

/// `{"op": ..., "left": ..., "right": ...}`.
fn operation(node: Node<'_>) -> Result<Expression, ReadError> {
    let name = node.member("op", text)?;
    let operand = |key: &str| node.member(key, expression).map(Box::new);
    match name.as_str() {
        "?" => {
            return Ok(Expression::Conditional {
                condition: operand("cond")?,
                if_true: operand("left")?,
                if_false: operand("right")?,
            });
        }
        "access_field" => {
            return Ok(Expression::AccessField {
                header: operand("left")?,
                field: node.member("right", count)?,
            });
        }
        "access_union_header" => {
            return Ok(Expression::AccessUnionHeader {
                union: operand("left")?,
                member: node.member("right", count)?,
            });
        }
        _ => {}
    }
    let named = |(candidate, _): &&(&str, BinaryOperator)| *candidate == name;
    let unary_named = |(candidate, _): &&(&str, UnaryOperator)| *candidate == name;
    let left_is_missing = node.opt_member("left", |_| Ok(()))?.is_none();
    if left_is_missing && let Some((_, operator)) = UNARY_OPERATORS.iter().find(unary_named) {
        return Ok(Expression::Unary { operator: *operator, operand: operand("right")? });
    }
    match BINARY_OPERATORS.iter().find(named) {
        Some((_, operator)) => Ok(Expression::Binary {
            operator: *operator,
            left: operand("left")?,
            right: operand("right")?,
        }),
        None => Err(node.error(format!("a known operator instead of \"{name}\""))),
    }
}
