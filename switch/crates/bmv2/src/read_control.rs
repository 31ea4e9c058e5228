//! Actions, controls, tables and checksums.

use crate::node::{Node, ReadError, boolean, count, hex, hex_bytes, integer, text};
use crate::read_parts::{expression, field_ref, flag, id_and_name, source_info};
use crate::{
    Action, ActionCall, ActionProfile, Calculation, CalculationInput, Checksum, Conditional,
    DefaultEntry, DirectRegisters, FieldRef, MatchKey, MatchType, NextTables, Parameter, Pipeline,
    PrimitiveCall, RuntimeData, Selector, Table, TableEntry, TableKey, TableKind,
};

pub(crate) fn action(node: Node<'_>) -> Result<Action, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(Action {
        name,
        id,
        runtime_data: node.list("runtime_data", |data| {
            Ok(RuntimeData {
                name: data.member("name", text)?,
                width_bits: data.member("bitwidth", count)?,
            })
        })?,
        primitives: node.list("primitives", primitive_call)?,
    })
}

pub(crate) fn primitive_call(node: Node<'_>) -> Result<PrimitiveCall, ReadError> {
    Ok(PrimitiveCall {
        operation: node.member("op", text)?,
        parameters: node.list("parameters", parameter)?,
        source_info: source_info(node)?,
    })
}

fn parameter(node: Node<'_>) -> Result<Parameter, ReadError> {
    let kind = node.member("type", text)?;
    node.member("value", |value| match kind.as_str() {
        "calculation" => text(value).map(Parameter::Calculation),
        "counter_array" => text(value).map(Parameter::CounterArray),
        "extern" => text(value).map(Parameter::Extern),
        "field_list" => {
            value.each(|element| element.member("value", field_ref)).map(Parameter::FieldList)
        }
        "meter_array" => text(value).map(Parameter::MeterArray),
        // p4c writes an empty object where a message has no values.
        "parameters_vector" if value.is_object() => Ok(Parameter::Vector(Vec::new())),
        "parameters_vector" => value.each(parameter).map(Parameter::Vector),
        "register_array" => text(value).map(Parameter::RegisterArray),
        "runtime_data" => count(value).map(Parameter::RuntimeData),
        "string" => text(value).map(Parameter::String),
        _ => expression(node).map(Parameter::Expression),
    })
}

pub(crate) fn calculation(node: Node<'_>) -> Result<Calculation, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(Calculation {
        name,
        id,
        source_info: source_info(node)?,
        algorithm: node.member("algo", text)?,
        input: node.list("input", |input| match input.member("type", text)?.as_str() {
            "field" => input.member("value", field_ref).map(CalculationInput::Field),
            "header" => input.member("value", text).map(CalculationInput::Header),
            "hexstr" => Ok(CalculationInput::Constant {
                value: input.member("value", hex)?,
                width_bits: input.member("bitwidth", count)?,
            }),
            "payload" => Ok(CalculationInput::Payload),
            _ => Err(input.error("an input of type field, header, hexstr or payload")),
        })?,
    })
}

pub(crate) fn checksum(node: Node<'_>) -> Result<Checksum, ReadError> {
    let (id, name) = id_and_name(node)?;
    let kind = node.member("type", |kind| match text(kind)? {
        text if text == "generic" || text == "ipv4" => Ok(text),
        _ => Err(kind.error("\"generic\" or \"ipv4\"")),
    })?;
    Ok(Checksum {
        id,
        source_info: source_info(node)?,
        target: node.member("target", field_ref)?,
        calculation: match kind.as_str() {
            "generic" => node.member("calculation", text)?,
            _ => crate::old_checksums::name_for(&name),
        },
        verify: flag(node, "verify", true)?,
        update: flag(node, "update", true)?,
        condition: node.opt_member("if_cond", expression)?,
        name,
    })
}

pub(crate) fn pipeline(node: Node<'_>) -> Result<Pipeline, ReadError> {
    let (id, name) = id_and_name(node)?;
    let mut action_profiles = node.list("action_profiles", action_profile)?;
    action_profiles.extend(node.list("tables", action_profile_of_old_table)?.into_iter().flatten());
    Ok(Pipeline {
        name,
        id,
        source_info: source_info(node)?,
        init_table: node.opt_member("init_table", text)?,
        tables: node.list("tables", table)?,
        action_profiles,
        conditionals: node.list("conditionals", conditional)?,
        action_calls: node.list("action_calls", action_call)?,
    })
}

fn action_profile(node: Node<'_>) -> Result<ActionProfile, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(ActionProfile {
        name,
        id,
        source_info: source_info(node)?,
        size_max: node.opt_member("max_size", count)?.unwrap_or_default(),
        selector: node.opt_member("selector", selector)?,
    })
}

/// The profile that a table of the oldest versions carries itself.
fn action_profile_of_old_table(node: Node<'_>) -> Result<Option<ActionProfile>, ReadError> {
    if node.opt_member("action_profile", text)?.is_some() {
        return Ok(None);
    }
    let name = node.opt_member("act_prof_name", text)?;
    name.map(|name| {
        Ok(ActionProfile {
            name,
            id: node.member("id", count)?,
            source_info: None,
            size_max: node.opt_member("max_size", count)?.unwrap_or_default(),
            selector: node.opt_member("selector", selector)?,
        })
    })
    .transpose()
}

fn selector(node: Node<'_>) -> Result<Selector, ReadError> {
    Ok(Selector {
        algorithm: node.member("algo", text)?,
        input: node.list("input", |input| match input.member("type", text)?.as_str() {
            "field" => input.member("value", field_ref),
            _ => Err(input.error("an input of type field")),
        })?,
    })
}

fn table(node: Node<'_>) -> Result<Table, ReadError> {
    let (id, name) = id_and_name(node)?;
    let profile = || match node.opt_member("act_prof_name", text)? {
        Some(name) => Ok(name),
        None => node.member("action_profile", text),
    };
    let entries = node.opt_member("entries", |entries| entries.each(table_entry))?;
    let size_max = node.opt_member("max_size", count)?;
    let kind = node.member("type", |kind| match text(kind)?.as_str() {
        "indirect" => Ok(TableKind::Indirect { action_profile: profile()? }),
        "indirect_ws" => Ok(TableKind::IndirectWithSelector { action_profile: profile()? }),
        "simple" => Ok(TableKind::Simple),
        _ => Err(kind.error("\"simple\", \"indirect\" or \"indirect_ws\"")),
    })?;
    Ok(Table {
        name,
        id,
        source_info: source_info(node)?,
        key: node.list("key", table_key)?,
        match_type: node.member("match_type", match_type)?,
        kind,
        size_max: size_max.unwrap_or(entries.as_ref().map_or(0, |list| list.len() as u32)),
        with_counters: flag(node, "with_counters", false)?,
        support_timeout: flag(node, "support_timeout", false)?,
        direct_meters: node.opt_member("direct_meters", text)?,
        direct_registers: node.opt_member("direct_registers", direct_registers)?,
        action_ids: node.list("action_ids", count)?,
        actions: node.list("actions", text)?,
        base_default_next: node.opt_member("base_default_next", text)?,
        next_tables: node.member("next_tables", next_tables)?,
        default_entry: node.opt_member("default_entry", default_entry)?,
        entries,
    })
}

fn direct_registers(node: Node<'_>) -> Result<DirectRegisters, ReadError> {
    Ok(DirectRegisters {
        number: node.member("number", field_ref)?,
        arrays: node.list("arrays", text)?,
    })
}

fn match_type(node: Node<'_>) -> Result<MatchType, ReadError> {
    match text(node)?.as_str() {
        "exact" => Ok(MatchType::Exact),
        "lpm" => Ok(MatchType::Lpm),
        "range" => Ok(MatchType::Range),
        "ternary" | "optional" => Ok(MatchType::Ternary),
        "valid" => Ok(MatchType::Valid),
        _ => Err(node.error("a match type: exact, lpm, range, ternary or valid")),
    }
}

fn table_key(node: Node<'_>) -> Result<TableKey, ReadError> {
    let match_type = node.member("match_type", match_type)?;
    Ok(TableKey {
        match_type,
        name: node.opt_member("name", text)?,
        target: match match_type {
            MatchType::Valid => node.opt_member("target", |target| {
                text(target).map(|name| FieldRef::new(name, "$valid$"))
            })?,
            _ => Some(node.member("target", field_ref)?),
        },
        mask: node.opt_member("mask", hex_bytes)?,
    })
}

fn next_tables(node: Node<'_>) -> Result<NextTables, ReadError> {
    let next = |node: Node<'_>| if node.is_null() { Ok(None) } else { text(node).map(Some) };
    let members = node.each_member(|key, value| Ok((key.to_owned(), next(value)?)))?;
    if members.iter().any(|(key, _)| key == "__HIT__" || key == "__MISS__") {
        if members.len() != 2 {
            return Err(node.error("both __HIT__ and __MISS__ and nothing else, or action names"));
        }
        return Ok(NextTables::HitMiss {
            hit: node.member("__HIT__", next)?,
            miss: node.member("__MISS__", next)?,
        });
    }
    Ok(NextTables::ByAction(members))
}

fn default_entry(node: Node<'_>) -> Result<DefaultEntry, ReadError> {
    Ok(DefaultEntry {
        action_id: node.member("action_id", count)?,
        action_const: flag(node, "action_const", false)?,
        action_data: node.list("action_data", hex)?,
        action_entry_const: flag(node, "action_entry_const", false)?,
    })
}

fn table_entry(node: Node<'_>) -> Result<TableEntry, ReadError> {
    let (action_id, action_data) = node.member("action_entry", |entry| {
        Ok((entry.member("action_id", count)?, entry.list("action_data", hex)?))
    })?;
    Ok(TableEntry {
        source_info: source_info(node)?,
        match_key: node.list("match_key", match_key)?,
        action_id,
        action_data,
        priority: node.opt_member("priority", integer)?.unwrap_or_default(),
        is_const: node.opt_member("is_const", boolean)?,
    })
}

fn match_key(node: Node<'_>) -> Result<MatchKey, ReadError> {
    match node.member("match_type", match_type)? {
        MatchType::Exact => Ok(MatchKey::Exact { key: node.member("key", hex)? }),
        MatchType::Lpm => Ok(MatchKey::Lpm {
            key: node.member("key", hex)?,
            prefix_length: node.member("prefix_length", count)?,
        }),
        MatchType::Range => {
            Ok(MatchKey::Range { start: node.member("start", hex)?, end: node.member("end", hex)? })
        }
        MatchType::Ternary => {
            Ok(MatchKey::Ternary { key: node.member("key", hex)?, mask: node.member("mask", hex)? })
        }
        MatchType::Valid => Ok(MatchKey::Valid { key: node.member("key", boolean)? }),
    }
}

fn conditional(node: Node<'_>) -> Result<Conditional, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(Conditional {
        name,
        id,
        source_info: source_info(node)?,
        expression: node.member("expression", expression)?,
        true_next: node.opt_member("true_next", text)?,
        false_next: node.opt_member("false_next", text)?,
    })
}

fn action_call(node: Node<'_>) -> Result<ActionCall, ReadError> {
    let (id, name) = id_and_name(node)?;
    Ok(ActionCall {
        name,
        id,
        source_info: source_info(node)?,
        action_id: node.member("action_id", count)?,
        next_node: node.opt_member("next_node", text)?,
    })
}
