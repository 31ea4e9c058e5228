//! Parsers, deparsers, actions, controls, tables and checksums.

use bits::{Int, byte_count};
use serde_json::{Map, Value, json};

use crate::write_parts::{
    FieldWidths, expression, field_ref, hex_bytes, list, set, typed, with_source_info,
};
use crate::{
    Action, Calculation, CalculationInput, Checksum, Deparser, ExtractTarget, Lookahead, MatchKey,
    MatchType, NextTables, Parameter, ParseState, Parser, ParserOperation, Pipeline, PrimitiveCall,
    Selector, SetSource, Table, TableEntry, TableKey, TableKind, Transition, TransitionKey,
    TransitionMatch,
};

pub(crate) fn parser(parser: &Parser) -> Value {
    json!({
        "name": parser.name, "id": parser.id, "init_state": parser.init_state,
        "parse_states": list(&parser.parse_states, parse_state),
    })
}

fn parse_state(state: &ParseState) -> Value {
    json!({
        "name": state.name, "id": state.id,
        "parser_ops": list(&state.operations, operation),
        "transitions": list(&state.transitions, transition),
        "transition_key": list(&state.transition_key, transition_key),
    })
}

fn operation(operation: &ParserOperation) -> Value {
    // Outside of expressions the format wraps what is not a plain field or constant once more.
    let (name, parameters) = match operation {
        ParserOperation::Advance { width_bits } => ("advance", json!([argument(width_bits)])),
        ParserOperation::Extract(target) => ("extract", json!([extract_target(target)])),
        ParserOperation::ExtractVariable { target, width_bits } => (
            "extract_VL",
            json!([extract_target(target), typed("expression", expression(width_bits))]),
        ),
        ParserOperation::Primitive(call) => ("primitive", json!([primitive_call(call)])),
        ParserOperation::Set { target, source } => {
            let source = match source {
                SetSource::Expression(value) => argument(value),
                SetSource::Lookahead(bits) => typed("lookahead", lookahead(bits)),
            };
            ("set", json!([typed("field", field_ref(target)), source]))
        }
        ParserOperation::Verify { condition, error } => {
            ("verify", json!([expression(condition), expression(error)]))
        }
    };
    json!({ "parameters": parameters, "op": name })
}

/// An expression as an argument: operations are wrapped once more, as p4c does.
fn argument(value: &crate::Expression) -> Value {
    use crate::Expression;
    let wraps = matches!(
        value,
        Expression::AccessField { .. }
            | Expression::AccessUnionHeader { .. }
            | Expression::Binary { .. }
            | Expression::Bool(_)
            | Expression::Conditional { .. }
            | Expression::Local(_)
            | Expression::StackField { .. }
            | Expression::Unary { .. }
    );
    if wraps { typed("expression", expression(value)) } else { expression(value) }
}

fn extract_target(target: &ExtractTarget) -> Value {
    match target {
        ExtractTarget::Header(name) => typed("regular", json!(name)),
        ExtractTarget::Stack(name) => typed("stack", json!(name)),
        ExtractTarget::UnionStack { stack, member } => typed("union_stack", json!([stack, member])),
    }
}

fn lookahead(bits: &Lookahead) -> Value {
    json!([bits.offset_bits, bits.width_bits])
}

fn transition_key(key: &TransitionKey) -> Value {
    match key {
        TransitionKey::Field(field) => typed("field", field_ref(field)),
        TransitionKey::Lookahead(bits) => typed("lookahead", lookahead(bits)),
        TransitionKey::StackField { stack, field } => typed("stack_field", json!([stack, field])),
        TransitionKey::UnionStackField { stack, member, field } => {
            typed("union_stack_field", json!([stack, member, field]))
        }
    }
}

fn transition(transition: &Transition) -> Value {
    let mask_value = |mask: &Option<Vec<u8>>| mask.as_deref().map_or(Value::Null, hex_bytes);
    let (kind, value, mask) = match &transition.matches {
        TransitionMatch::Default => ("default", Value::Null, Value::Null),
        TransitionMatch::Value { value, mask } => ("hexstr", hex_bytes(value), mask_value(mask)),
        TransitionMatch::ValueSet { name, mask } => ("parse_vset", json!(name), mask_value(mask)),
    };
    json!({ "type": kind, "value": value, "mask": mask, "next_state": transition.next_state })
}

pub(crate) fn deparser(deparser: &Deparser) -> Value {
    let value = json!({
        "name": deparser.name, "id": deparser.id, "order": deparser.order,
        "primitives": list(&deparser.primitives, primitive_call),
    });
    with_source_info(value, &deparser.source_info)
}

pub(crate) fn action(action: &Action) -> Value {
    json!({
        "name": action.name, "id": action.id,
        "runtime_data": list(&action.runtime_data, |data| {
            json!({ "name": data.name, "bitwidth": data.width_bits })
        }),
        "primitives": list(&action.primitives, primitive_call),
    })
}

fn primitive_call(call: &PrimitiveCall) -> Value {
    let value = json!({ "op": call.operation, "parameters": list(&call.parameters, parameter) });
    with_source_info(value, &call.source_info)
}

fn parameter(value: &Parameter) -> Value {
    match value {
        Parameter::Calculation(name) => typed("calculation", json!(name)),
        Parameter::CounterArray(name) => typed("counter_array", json!(name)),
        Parameter::Expression(value) => argument(value),
        Parameter::Extern(name) => typed("extern", json!(name)),
        Parameter::FieldList(fields) => {
            typed("field_list", list(fields, |field| typed("field", field_ref(field))))
        }
        Parameter::MeterArray(name) => typed("meter_array", json!(name)),
        Parameter::RegisterArray(name) => typed("register_array", json!(name)),
        Parameter::RuntimeData(index) => typed("runtime_data", json!(index)),
        Parameter::String(text) => typed("string", json!(text)),
        Parameter::Vector(values) => typed("parameters_vector", list(values, parameter)),
    }
}

pub(crate) fn calculation(calculation: &Calculation) -> Value {
    let input = list(&calculation.input, |input| match input {
        CalculationInput::Constant { value, width_bits } => json!({
            "type": "hexstr", "value": value.to_hex(byte_count(*width_bits as usize)),
            "bitwidth": width_bits,
        }),
        CalculationInput::Field(field) => typed("field", field_ref(field)),
        CalculationInput::Header(name) => typed("header", json!(name)),
        CalculationInput::Payload => typed("payload", Value::Null),
    });
    let value = json!({
        "name": calculation.name, "id": calculation.id, "algo": calculation.algorithm,
        "input": input,
    });
    with_source_info(value, &calculation.source_info)
}

pub(crate) fn checksum(checksum: &Checksum) -> Value {
    let mut value = json!({
        "name": checksum.name, "id": checksum.id, "target": field_ref(&checksum.target),
        "type": "generic", "calculation": checksum.calculation,
    });
    set(&mut value, "verify", Some(json!(checksum.verify)));
    set(&mut value, "update", Some(json!(checksum.update)));
    set(&mut value, "if_cond", checksum.condition.as_ref().map(expression));
    with_source_info(value, &checksum.source_info)
}

pub(crate) fn pipeline(control: &Pipeline, widths: &FieldWidths) -> Value {
    let mut value = json!({
        "name": control.name, "id": control.id, "init_table": control.init_table,
        "tables": list(&control.tables, |each| table(each, widths)),
        "action_profiles": list(&control.action_profiles, |profile| {
            let mut value =
                json!({ "name": profile.name, "id": profile.id, "max_size": profile.size_max });
            set(&mut value, "selector", profile.selector.as_ref().map(selector));
            with_source_info(value, &profile.source_info)
        }),
        "conditionals": list(&control.conditionals, |conditional| with_source_info(json!({
            "name": conditional.name, "id": conditional.id,
            "expression": expression(&conditional.expression),
            "false_next": conditional.false_next, "true_next": conditional.true_next,
        }), &conditional.source_info)),
    });
    if !control.action_calls.is_empty() {
        let calls = list(&control.action_calls, |call| {
            let value = json!({
                "name": call.name, "id": call.id, "action_id": call.action_id,
                "next_node": call.next_node,
            });
            with_source_info(value, &call.source_info)
        });
        set(&mut value, "action_calls", Some(calls));
    }
    with_source_info(value, &control.source_info)
}

fn selector(selector: &Selector) -> Value {
    json!({
        "algo": selector.algorithm,
        "input": list(&selector.input, |field| typed("field", field_ref(field))),
    })
}

fn match_type(kind: MatchType) -> &'static str {
    match kind {
        MatchType::Exact => "exact",
        MatchType::Lpm => "lpm",
        MatchType::Range => "range",
        MatchType::Ternary => "ternary",
        MatchType::Valid => "valid",
    }
}

fn table(table: &Table, widths: &FieldWidths) -> Value {
    let (kind, action_profile) = match &table.kind {
        TableKind::Indirect { action_profile } => ("indirect", Some(action_profile)),
        TableKind::IndirectWithSelector { action_profile } => ("indirect_ws", Some(action_profile)),
        TableKind::Simple => ("simple", None),
    };
    let next_tables: Map<String, Value> = match &table.next_tables {
        NextTables::ByAction(actions) => {
            actions.iter().map(|(action, next)| (action.clone(), json!(next))).collect()
        }
        NextTables::HitMiss { hit, miss } => {
            [("__HIT__".to_owned(), json!(hit)), ("__MISS__".to_owned(), json!(miss))]
                .into_iter()
                .collect()
        }
    };
    let mut value = json!({
        "name": table.name, "id": table.id, "key": list(&table.key, table_key),
        "match_type": match_type(table.match_type), "type": kind, "max_size": table.size_max,
        "with_counters": table.with_counters, "support_timeout": table.support_timeout,
        "direct_meters": table.direct_meters, "action_ids": table.action_ids,
        "actions": table.actions, "base_default_next": table.base_default_next,
        "next_tables": next_tables,
    });
    let direct = table.direct_registers.as_ref();
    let direct = direct.map(|it| json!({"number": field_ref(&it.number), "arrays": it.arrays}));
    set(&mut value, "direct_registers", direct);
    set(&mut value, "action_profile", action_profile.map(|name| json!(name)));
    let default_entry = table.default_entry.as_ref().map(|entry| {
        json!({
            "action_id": entry.action_id, "action_const": entry.action_const,
            "action_data": action_data(&entry.action_data),
            "action_entry_const": entry.action_entry_const,
        })
    });
    set(&mut value, "default_entry", default_entry);
    let entries = table
        .entries
        .as_ref()
        .map(|entries| list(entries, |entry| table_entry(entry, &table.key, widths)));
    set(&mut value, "entries", entries);
    with_source_info(value, &table.source_info)
}

fn table_key(key: &TableKey) -> Value {
    let target = key.target.as_ref().map(|target| match key.match_type {
        MatchType::Valid => json!(target.header),
        _ => field_ref(target),
    });
    let mut value = json!({ "match_type": match_type(key.match_type) });
    set(&mut value, "name", key.name.as_ref().map(|name| json!(name)));
    set(&mut value, "target", target);
    set(&mut value, "mask", Some(key.mask.as_deref().map_or(Value::Null, hex_bytes)));
    value
}

fn action_data(data: &[Int]) -> Value {
    list(data, |value| json!(value.to_hex(byte_count(value.bit_length()))))
}

fn table_entry(entry: &TableEntry, keys: &[TableKey], widths: &FieldWidths) -> Value {
    let width_of = |index: usize| {
        let target = keys.get(index).and_then(|key| key.target.as_ref());
        target.and_then(|target| widths.get(target)).copied().unwrap_or_default() as usize
    };
    let match_key: Vec<Value> = entry
        .match_key
        .iter()
        .enumerate()
        .map(|(index, key)| match_key(key, byte_count(width_of(index))))
        .collect();
    let mut value = json!({
        "match_key": match_key,
        "action_entry": { "action_id": entry.action_id, "action_data": action_data(&entry.action_data) },
        "priority": entry.priority,
    });
    set(&mut value, "is_const", entry.is_const.map(Value::Bool));
    with_source_info(value, &entry.source_info)
}

fn match_key(key: &MatchKey, length: usize) -> Value {
    match key {
        MatchKey::Exact { key } => json!({ "match_type": "exact", "key": key.to_hex(length) }),
        MatchKey::Lpm { key, prefix_length } => json!({
            "match_type": "lpm", "key": key.to_hex(length), "prefix_length": prefix_length,
        }),
        MatchKey::Range { start, end } => json!({
            "match_type": "range", "start": start.to_hex(length), "end": end.to_hex(length),
        }),
        MatchKey::Ternary { key, mask } => json!({
            "match_type": "ternary", "key": key.to_hex(length), "mask": mask.to_hex(length),
        }),
        MatchKey::Valid { key } => json!({ "match_type": "valid", "key": key }),
    }
}
