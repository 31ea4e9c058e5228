//! [`Program`] to JSON text, members in the order p4c writes them, so that two compilers' outputs
//! can be compared side by side.

use serde_json::{Value, json};

use crate::write_control::{action, calculation, checksum, deparser, parser, pipeline};
use crate::write_parts::{FieldWidths, expression, field_ref, list, set, typed, with_source_info};
use crate::{
    CounterArray, ExternAttribute, FieldList, FieldListElement, FieldRef, FieldType, FieldWidth,
    Header, HeaderType, HeaderUnion, MeterArray, MeterUnit, ParseValueSet, Program, RegisterArray,
};

/// Writes a program as JSON text.
pub fn write(program: &Program) -> String {
    let widths = field_widths(program);
    let value = json!({
        "header_types": list(&program.header_types, header_type),
        "headers": list(&program.headers, header),
        "header_stacks": list(&program.header_stacks, |stack| json!({
            "name": stack.name, "id": stack.id, "header_type": stack.header_type,
            "size": stack.header_ids.len(), "header_ids": stack.header_ids,
        })),
        "header_union_types": list(&program.header_union_types, |union| json!({
            "name": union.name, "id": union.id, "headers": list(&union.headers, |pair| json!(pair)),
        })),
        "header_unions": list(&program.header_unions, header_union),
        "header_union_stacks": list(&program.header_union_stacks, |stack| json!({
            "name": stack.name, "id": stack.id, "union_type": stack.union_type,
            "size": stack.header_union_ids.len(), "header_union_ids": stack.header_union_ids,
        })),
        "field_lists": list(&program.field_lists, field_list),
        "errors": list(&program.errors, |pair| json!(pair)),
        "enums": list(&program.enums, |enumeration| json!({
            "name": enumeration.name, "entries": list(&enumeration.entries, |pair| json!(pair)),
        })),
        "parsers": list(&program.parsers, parser),
        "parse_vsets": list(&program.parse_vsets, parse_value_set),
        "deparsers": list(&program.deparsers, deparser),
        "meter_arrays": list(&program.meter_arrays, meter_array),
        "counter_arrays": list(&program.counter_arrays, counter_array),
        "register_arrays": list(&program.register_arrays, register_array),
        "calculations": list(&program.calculations, calculation),
        "learn_lists": list(&program.learn_lists, field_list),
        "actions": list(&program.actions, action),
        "pipelines": list(&program.pipelines, |control| pipeline(control, &widths)),
        "checksums": list(&program.checksums, checksum),
        "force_arith": list(&program.force_arith, field_ref),
        "extern_instances": list(&program.extern_instances, |instance| with_source_info(json!({
            "name": instance.name, "id": instance.id, "type": instance.extern_type,
            "attribute_values": list(&instance.attributes, extern_attribute),
        }), &instance.source_info)),
        "field_aliases": list(&program.field_aliases, |alias| {
            json!([alias.alias, field_ref(&alias.field)])
        }),
        "program": program.program,
        "__meta__": { "version": [program.version.0, program.version.1], "compiler": program.compiler },
    });
    let mut text = format!("{:#}", without_missing(value));
    text.push('\n');
    text
}

fn field_widths(program: &Program) -> FieldWidths {
    let mut widths = FieldWidths::new();
    for header in &program.headers {
        let types = program.header_types.iter().find(|kind| kind.name == header.header_type);
        for field in types.iter().flat_map(|kind| &kind.fields) {
            if let FieldWidth::Bits(bits) = field.width {
                widths.insert(FieldRef::new(&header.name, &field.name), bits);
            }
        }
        widths.insert(FieldRef::new(&header.name, "$valid$"), 1);
    }
    widths
}

/// Drops the top-level members that are null: they are optional ones that are absent.
fn without_missing(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.into_iter().filter(|(_, member)| !member.is_null()).collect())
        }
        other => other,
    }
}

fn header_type(kind: &HeaderType) -> Value {
    let mut value = json!({
        "name": kind.name, "id": kind.id, "fields": list(&kind.fields, field_type),
    });
    set(&mut value, "length_exp", kind.length_expression.as_ref().map(expression));
    set(&mut value, "max_length", kind.length_bytes_max.map(|length| json!(length)));
    value
}

fn field_type(field: &FieldType) -> Value {
    let width = match field.width {
        FieldWidth::Bits(bits) => json!(bits),
        FieldWidth::Variable => json!("*"),
    };
    match field.saturating {
        false => json!([field.name, width, field.signed]),
        true => json!([field.name, width, field.signed, true]),
    }
}

fn header(header: &Header) -> Value {
    let mut value = json!({
        "name": header.name, "id": header.id, "header_type": header.header_type,
        "metadata": header.metadata,
    });
    set(&mut value, "pi_omit", header.pi_omit.map(Value::Bool));
    value
}

fn header_union(union: &HeaderUnion) -> Value {
    let mut value = json!({
        "name": union.name, "id": union.id, "union_type": union.union_type,
        "header_ids": union.header_ids,
    });
    set(&mut value, "pi_omit", union.pi_omit.map(Value::Bool));
    value
}

fn field_list(fields: &FieldList) -> Value {
    let elements = list(&fields.elements, |element| match element {
        FieldListElement::Constant { value, width_bits } => json!({
            "type": "hexstr", "value": value.to_hex(bits::byte_count(*width_bits as usize)),
            "bitwidth": width_bits,
        }),
        FieldListElement::Field(field) => typed("field", field_ref(field)),
    });
    let value = json!({ "id": fields.id, "name": fields.name, "elements": elements });
    with_source_info(value, &fields.source_info)
}

fn parse_value_set(set_: &ParseValueSet) -> Value {
    let mut value = json!({
        "name": set_.name, "id": set_.id, "compressed_bitwidth": set_.width_bits,
    });
    set(&mut value, "max_size", set_.size_max.map(|size| json!(size)));
    value
}

fn meter_array(array: &MeterArray) -> Value {
    let unit = match array.unit {
        MeterUnit::Bytes => "bytes",
        MeterUnit::Packets => "packets",
    };
    let mut value = json!({
        "name": array.name, "id": array.id, "is_direct": array.is_direct, "size": array.size,
        "rate_count": array.rate_count, "type": unit,
    });
    set(&mut value, "binding", array.binding.as_ref().map(|name| json!(name)));
    set(&mut value, "result_target", array.result_target.as_ref().map(field_ref));
    with_source_info(value, &array.source_info)
}

fn counter_array(array: &CounterArray) -> Value {
    let mut value = json!({ "name": array.name, "id": array.id, "is_direct": array.is_direct });
    set(&mut value, "size", array.size.map(|size| json!(size)));
    set(&mut value, "binding", array.binding.as_ref().map(|name| json!(name)));
    with_source_info(value, &array.source_info)
}

fn register_array(array: &RegisterArray) -> Value {
    let mut value = json!({
        "name": array.name, "id": array.id, "size": array.size, "bitwidth": array.width_bits,
    });
    let initial = array.initial_value.as_ref();
    set(&mut value, "initial_value", initial.map(|initial| json!(initial.to_hex(1))));
    with_source_info(value, &array.source_info)
}

fn extern_attribute((name, attribute): &(String, ExternAttribute)) -> Value {
    let (kind, value) = match attribute {
        ExternAttribute::Expression(value) => ("expression", expression(value)),
        ExternAttribute::Hex(value) => ("hexstr", json!(value.to_hex(1))),
        ExternAttribute::String(text) => ("string", json!(text)),
    };
    json!({ "name": name, "type": kind, "value": value })
}
