//! JSON to [`Program`]: the text, the version, and the objects without control flow.

use serde::Deserialize;
use serde_json::Value;

use crate::foreign;
use crate::node::{Node, ReadError, boolean, count, hex, hex_or_number, text};
use crate::read_control::{action, calculation, checksum, pipeline};
use crate::read_parser::{deparser, parser};
use crate::read_parts::{expression, field_ref, flag, id_and_name, name_pair, source_info};
use crate::{
    CounterArray, Enum, ExternAttribute, ExternInstance, FieldAlias, FieldList, FieldListElement,
    FieldType, FieldWidth, Header, HeaderStack, HeaderType, HeaderUnion, HeaderUnionStack,
    HeaderUnionType, MeterArray, MeterUnit, ParseValueSet, Program, RegisterArray,
};

/// The oldest version of the format that is read.
pub const VERSION_MIN: (u32, u32) = (2, 0);
/// The newest version of the format that is read.
pub const VERSION_MAX: (u32, u32) = (2, 24);
/// How deep arrays and objects may be nested: far beyond any compiled program, and shallow enough
/// that reading cannot exhaust a thread's stack.
pub const DEPTH_MAX: usize = 600;

/// Reads a program from JSON text.
pub fn read(json: &[u8]) -> Result<Program, ReadError> {
    check_depth(json)?;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    // `check_depth` has bounded it.
    deserializer.disable_recursion_limit();
    let not_json = |error: serde_json::Error| ReadError {
        path: String::new(),
        expected: "JSON".to_owned(),
        found: error.to_string(),
    };
    let value: Value = Deserialize::deserialize(&mut deserializer).map_err(not_json)?;
    deserializer.end().map_err(not_json)?;
    if let Some(found) = foreign::what(&value) {
        let expected = "BMv2 JSON of a program for v1model or PSA".to_owned();
        return Err(ReadError { path: String::new(), expected, found });
    }
    program(Node::root(&value))
}

/// Refuses text nested deeper than [`DEPTH_MAX`] before a recursive reader sees it.
fn check_depth(json: &[u8]) -> Result<(), ReadError> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (offset, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Err(ReadError {
                path: String::new(),
                expected: format!("arrays and objects nested at most {DEPTH_MAX} deep"),
                found: format!("deeper nesting at byte {offset}"),
            });
        }
    }
    Ok(())
}

fn program(node: Node<'_>) -> Result<Program, ReadError> {
    let (version, compiler) = match node.opt_member("__meta__", meta)? {
        Some(meta) => meta,
        // Untagged JSON is accepted, as the standard switch does.
        None => (VERSION_MIN, None),
    };
    let mut program = Program {
        program: node.opt_member("program", text)?,
        version,
        compiler,
        header_types: node.list("header_types", header_type)?,
        headers: node.list("headers", header)?,
        header_stacks: node.list("header_stacks", header_stack)?,
        header_union_types: node.list("header_union_types", header_union_type)?,
        header_unions: node.list("header_unions", header_union)?,
        header_union_stacks: node.list("header_union_stacks", header_union_stack)?,
        field_lists: node.list("field_lists", field_list)?,
        errors: node.list("errors", name_and_number)?,
        enums: node.list("enums", enumeration)?,
        parsers: node.list("parsers", parser)?,
        parse_vsets: node.list("parse_vsets", parse_value_set)?,
        deparsers: node.list("deparsers", deparser)?,
        meter_arrays: node.list("meter_arrays", meter_array)?,
        counter_arrays: node.list("counter_arrays", counter_array)?,
        register_arrays: node.list("register_arrays", register_array)?,
        calculations: node.list("calculations", calculation)?,
        learn_lists: node.list("learn_lists", field_list)?,
        actions: node.list("actions", action)?,
        pipelines: node.list("pipelines", pipeline)?,
        checksums: node.list("checksums", checksum)?,
        force_arith: node.list("force_arith", field_ref)?,
        extern_instances: node.list("extern_instances", extern_instance)?,
        field_aliases: node.list("field_aliases", field_alias)?,
    };
    crate::unions::spell_out(&mut program)?;
    crate::old_checksums::spell_out(&mut program)?;
    Ok(program)
}

fn meta(node: Node<'_>) -> Result<((u32, u32), Option<String>), ReadError> {
    let version = node.opt_member("version", |version| {
        let pair = (version.element(0, count)?, version.element(1, count)?);
        if pair < VERSION_MIN || pair > VERSION_MAX {
            return Err(ReadError {
                found: format!("version {}.{}", pair.0, pair.1),
                ..version.error(format!(
                    "a version from {}.{} to {}.{}",
                    VERSION_MIN.0, VERSION_MIN.1, VERSION_MAX.0, VERSION_MAX.1
                ))
            });
        }
        Ok(pair)
    })?;
    Ok((version.unwrap_or(VERSION_MIN), node.opt_member("compiler", text)?))
}

fn name_and_number(node: Node<'_>) -> Result<(String, u32), ReadError> {
    Ok((node.element(0, text)?, node.element(1, count)?))
}

fn header_type(node: Node<'_>) -> Result<HeaderType, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(HeaderType {
        name,
        id,
        fields: node.list("fields", field_type)?,
        length_expression: node.opt_member("length_exp", expression)?,
        length_bytes_max: node.opt_member("max_length", count)?,
    })
}

fn field_type(node: Node<'_>) -> Result<FieldType, ReadError> {
    let flag_at = |index: usize| match node.length() > index {
        true => node.element(index, boolean),
        false => Ok(false),
    };
    Ok(FieldType {
        name: node.element(0, text)?,
        width: node.element(1, |width| match text(width) {
            Ok(text) if text == "*" => Ok(FieldWidth::Variable),
            _ => match count(width) {
                Ok(bits) => Ok(FieldWidth::Bits(bits)),
                Err(_) => Err(width.error("a number of bits, or \"*\"")),
            },
        })?,
        signed: flag_at(2)?,
        saturating: flag_at(3)?,
    })
}

fn header(node: Node<'_>) -> Result<Header, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(Header {
        name,
        id,
        header_type: node.member("header_type", text)?,
        metadata: flag(node, "metadata", false)?,
        pi_omit: node.opt_member("pi_omit", boolean)?,
    })
}

fn header_stack(node: Node<'_>) -> Result<HeaderStack, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(HeaderStack {
        name,
        id,
        header_type: node.member("header_type", text)?,
        header_ids: node.list("header_ids", count)?,
    })
}

fn header_union_type(node: Node<'_>) -> Result<HeaderUnionType, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(HeaderUnionType { name, id, headers: node.list("headers", name_pair)? })
}

fn header_union(node: Node<'_>) -> Result<HeaderUnion, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(HeaderUnion {
        name,
        id,
        union_type: node.member("union_type", text)?,
        header_ids: node.list("header_ids", count)?,
        pi_omit: node.opt_member("pi_omit", boolean)?,
    })
}

fn header_union_stack(node: Node<'_>) -> Result<HeaderUnionStack, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(HeaderUnionStack {
        name,
        id,
        union_type: node.member("union_type", text)?,
        header_union_ids: node.list("header_union_ids", count)?,
    })
}

fn field_list(node: Node<'_>) -> Result<FieldList, ReadError> {
    Ok(FieldList {
        id: node.member("id", count)?,
        name: node.opt_member("name", text)?.unwrap_or_default(),
        source_info: source_info(node)?,
        elements: node.list("elements", |element| {
            match element.member("type", text)?.as_str() {
                "field" => element.member("value", field_ref).map(FieldListElement::Field),
                "hexstr" => Ok(FieldListElement::Constant {
                    value: element.member("value", hex)?,
                    width_bits: element.member("bitwidth", count)?,
                }),
                _ => Err(element.error("an element of type field or hexstr")),
            }
        })?,
    })
}

fn enumeration(node: Node<'_>) -> Result<Enum, ReadError> {
    Ok(Enum { name: node.member("name", text)?, entries: node.list("entries", name_and_number)? })
}

fn parse_value_set(node: Node<'_>) -> Result<ParseValueSet, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(ParseValueSet {
        name,
        id,
        width_bits: node.member("compressed_bitwidth", count)?,
        size_max: node.opt_member("max_size", count)?,
    })
}

fn meter_array(node: Node<'_>) -> Result<MeterArray, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(MeterArray {
        name,
        id,
        source_info: source_info(node)?,
        size: node.opt_member("size", count)?.unwrap_or_default(),
        rate_count: node.member("rate_count", count)?,
        unit: node.member("type", |unit| match text(unit)?.as_str() {
            "bytes" => Ok(MeterUnit::Bytes),
            "packets" => Ok(MeterUnit::Packets),
            _ => Err(unit.error("\"bytes\" or \"packets\"")),
        })?,
        is_direct: flag(node, "is_direct", false)?,
        binding: node.opt_member("binding", text)?,
        result_target: node.opt_member("result_target", field_ref)?,
    })
}

fn counter_array(node: Node<'_>) -> Result<CounterArray, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(CounterArray {
        name,
        id,
        source_info: source_info(node)?,
        size: node.opt_member("size", count)?,
        is_direct: flag(node, "is_direct", false)?,
        binding: node.opt_member("binding", text)?,
    })
}

fn register_array(node: Node<'_>) -> Result<RegisterArray, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(RegisterArray {
        name,
        id,
        source_info: source_info(node)?,
        size: node.member("size", count)?,
        width_bits: node.member("bitwidth", count)?,
        initial_value: node.opt_member("initial_value", hex)?,
    })
}

fn extern_instance(node: Node<'_>) -> Result<ExternInstance, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(ExternInstance {
        name,
        id,
        extern_type: node.member("type", text)?,
        source_info: source_info(node)?,
        attributes: node.list("attribute_values", |attribute| {
            let value = match attribute.member("type", text)?.as_str() {
                "expression" => {
                    attribute.member("value", expression).map(ExternAttribute::Expression)
                }
                "hexstr" => attribute.member("value", hex_or_number).map(ExternAttribute::Hex),
                "string" => attribute.member("value", text).map(ExternAttribute::String),
                _ => Err(attribute.error("an attribute of type expression, hexstr or string")),
            };
            Ok((attribute.member("name", text)?, value?))
        })?,
    })
}

fn field_alias(node: Node<'_>) -> Result<FieldAlias, ReadError> {
    Ok(FieldAlias { alias: node.element(0, text)?, field: node.element(1, field_ref)? })
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
