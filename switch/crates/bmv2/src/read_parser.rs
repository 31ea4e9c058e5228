//! Parsers and deparsers.

use crate::node::{Node, ReadError, count, hex_bytes, text};
use crate::read_control::primitive_call;
use crate::read_parts::{expression, field_ref, id_and_name, name_pair, source_info};
use crate::{
    Deparser, Expression, ExtractTarget, Lookahead, ParseState, Parser, ParserOperation, SetSource,
    Transition, TransitionKey, TransitionMatch,
};

pub(crate) fn parser(node: Node<'_>) -> Result<Parser, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(Parser {
        name,
        id,
        init_state: node.opt_member("init_state", text)?,
        parse_states: node.list("parse_states", parse_state)?,
    })
}

pub(crate) fn deparser(node: Node<'_>) -> Result<Deparser, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(Deparser {
        name,
        id,
        source_info: source_info(node)?,
        order: node.list("order", text)?,
        primitives: node.list("primitives", primitive_call)?,
    })
}

fn parse_state(node: Node<'_>) -> Result<ParseState, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(ParseState {
        name,
        id,
        operations: node.list("parser_ops", operation)?,
        transition_key: node.list("transition_key", transition_key)?,
        transitions: node.list("transitions", transition)?,
    })
}

fn operation(node: Node<'_>) -> Result<ParserOperation, ReadError> {
    let name = node.member("op", text)?;
    node.member("parameters", |parameters| {
        let count_expected =
            if matches!(name.as_str(), "extract_VL" | "set" | "verify") { 2 } else { 1 };
        if parameters.length() != count_expected {
            return Err(parameters.error(format!("an array of {count_expected} elements")));
        }
        match name.as_str() {
            "advance" => {
                Ok(ParserOperation::Advance { width_bits: parameters.element(0, expression)? })
            }
            "extract" => parameters.element(0, extract_target).map(ParserOperation::Extract),
            "extract_VL" => Ok(ParserOperation::ExtractVariable {
                target: parameters.element(0, extract_target)?,
                width_bits: parameters.element(1, expression)?,
            }),
            "primitive" => parameters.element(0, primitive_call).map(ParserOperation::Primitive),
            "set" => Ok(ParserOperation::Set {
                target: parameters.element(0, |target| {
                    match target.member("type", text)?.as_str() {
                        "field" => target.member("value", field_ref),
                        _ => Err(target.error("a field to set")),
                    }
                })?,
                source: parameters.element(1, set_source)?,
            }),
            // The older form of `advance`, in bytes.
            "shift" => Ok(ParserOperation::Advance {
                width_bits: Expression::Hex((8 * u64::from(parameters.element(0, count)?)).into()),
            }),
            "verify" => Ok(ParserOperation::Verify {
                condition: parameters.element(0, expression)?,
                error: parameters.element(1, |error| match error.is_object() {
                    true => expression(error),
                    false => count(error).map(|code| Expression::Hex(code.into())),
                })?,
            }),
            _ => Err(node.error(
                "a parser operation: advance, extract, extract_VL, primitive, set, shift or verify",
            )),
        }
    })
}

fn extract_target(node: Node<'_>) -> Result<ExtractTarget, ReadError> {
    let kind = node.member("type", text)?;
    node.member("value", |value| match kind.as_str() {
        "regular" => text(value).map(ExtractTarget::Header),
        "stack" => text(value).map(ExtractTarget::Stack),
        "union_stack" => {
            let (stack, member) = name_pair(value)?;
            Ok(ExtractTarget::UnionStack { stack, member })
        }
        _ => Err(node.error("a target of type regular, stack or union_stack")),
    })
}

fn set_source(node: Node<'_>) -> Result<SetSource, ReadError> {
    match node.member("type", text)?.as_str() {
        "lookahead" => node.member("value", lookahead).map(SetSource::Lookahead),
        _ => expression(node).map(SetSource::Expression),
    }
}

fn lookahead(node: Node<'_>) -> Result<Lookahead, ReadError> {
    Ok(Lookahead { offset_bits: node.element(0, count)?, width_bits: node.element(1, count)? })
}

fn transition_key(node: Node<'_>) -> Result<TransitionKey, ReadError> {
    let kind = node.member("type", text)?;
    node.member("value", |value| match kind.as_str() {
        "field" => field_ref(value).map(TransitionKey::Field),
        "lookahead" => lookahead(value).map(TransitionKey::Lookahead),
        "stack_field" => {
            let (stack, field) = name_pair(value)?;
            Ok(TransitionKey::StackField { stack, field })
        }
        "union_stack_field" => Ok(TransitionKey::UnionStackField {
            stack: value.element(0, text)?,
            member: value.element(1, text)?,
            field: value.element(2, text)?,
        }),
        _ => Err(node.error("a key of type field, lookahead, stack_field or union_stack_field")),
    })
}

fn transition(node: Node<'_>) -> Result<Transition, ReadError> {
    let mask = node.opt_member("mask", hex_bytes)?;
    let kind = node.opt_member("type", text)?.unwrap_or_else(|| "hexstr".to_owned());
    let is_old_default =
        node.opt_member("value", |value| Ok(text(value).is_ok_and(|text| text == "default")))?;
    let matches = match kind.as_str() {
        "default" => TransitionMatch::Default,
        "hexstr" if is_old_default == Some(true) => TransitionMatch::Default,
        "hexstr" => TransitionMatch::Value { value: node.member("value", hex_bytes)?, mask },
        "parse_vset" => TransitionMatch::ValueSet { name: node.member("value", text)?, mask },
        _ => return Err(node.error("a transition of type default, hexstr or parse_vset")),
    };
    Ok(Transition { matches, next_state: node.opt_member("next_state", text)? })
}
