//! Parser value sets: what a parser compares with.

use agent::visit::Site;
use bits::Int;
use pipeline::{Pipeline, ValueSetMember};
use thrift::{Struct, Type, Value};

use crate::actions::bytes;
use crate::codes::{Thrown, value_set};
use crate::found::{object, pipeline};
use crate::job::{Outcome, Run};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_parse_vset_add", Run::Once(add)),
    ("bm_parse_vset_remove", Run::Once(remove)),
    ("bm_parse_vset_get", Run::Once(get)),
    ("bm_parse_vset_clear", Run::Once(clear)),
];

fn set_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    object(site, arguments, value_set::INVALID_NAME, Pipeline::value_set_index)
}

fn members(site: &Site<'_>, set: usize) -> Vec<ValueSetMember> {
    site.pipeline().map_or(&[][..], |pipeline| pipeline.value_set(set)).to_vec()
}

fn put(site: &mut Site<'_>, set: usize, members: Vec<ValueSetMember>) -> Outcome {
    let pipeline = pipeline(site, value_set::INVALID_NAME)?;
    pipeline.set_value_set(set, members).map_err(|_| value_set::ERROR)?;
    Ok(None)
}

/// A value that is there already stays.
fn add(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let (set, value) = (set_of(site, arguments)?, Int::from_be_bytes(arguments.bytes(3)));
    let (mut members, member) = (members(site, set), ValueSetMember::from(value));
    if !members.contains(&member) {
        members.push(member);
    }
    put(site, set, members)
}

/// A value that is not there is no mistake.
fn remove(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let (set, value) = (set_of(site, arguments)?, Int::from_be_bytes(arguments.bytes(3)));
    let mut members = members(site, set);
    members.retain(|member| member.value != value);
    put(site, set, members)
}

fn get(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let set = set_of(site, arguments)?;
    let width = pipeline(site, value_set::INVALID_NAME)?.value_set_width(set) as u32;
    let values = members(site, set).iter().map(|member| bytes(&member.value, width)).collect();
    Ok(Some(Value::List(Type::Binary, values)))
}

fn clear(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let set = set_of(site, arguments)?;
    put(site, set, Vec::new())
}
