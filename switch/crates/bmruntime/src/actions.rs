//! Actions and their data.

use bits::Int;
use pipeline::{EntryAction, Pipeline};
use thrift::{Struct, Type, Value};

use crate::codes::{Thrown, table};

/// BmActionEntryType.
const NONE: i32 = 0;
const ACTION_DATA: i32 = 1;
const MEMBER: i32 = 2;
const GROUP: i32 = 3;

/// The call of an action that the arguments at these numbers describe: its name and its data.
pub fn action_of(
    pipeline: &Pipeline,
    table: usize,
    arguments: &Struct,
    name: i16,
) -> Result<EntryAction, Thrown> {
    let found = pipeline.action_index(table, arguments.text(name));
    let action = found.ok_or(table::INVALID_ACTION_NAME)?;
    let data = data_of(pipeline, action, arguments.list(name + 1))?;
    Ok(EntryAction::Action { action, data })
}

/// Data for an action: a value a parameter, of which the bits count that the parameter has.
pub fn data_of(pipeline: &Pipeline, action: usize, given: &[Value]) -> Result<Vec<Int>, Thrown> {
    let params = pipeline.action(action).params;
    if given.len() != params.len() {
        return Err(table::BAD_ACTION_DATA);
    }
    let value = |(value, (_, width)): (&Value, &(String, u32))| match value {
        Value::Binary(bytes) => Ok(Int::from_be_bytes(bytes).truncate(*width as usize)),
        _ => Err(table::BAD_ACTION_DATA),
    };
    given.iter().zip(params).map(value).collect()
}

/// Data as the original hands it out: as few bytes as each value needs, and one for 0.
pub fn data_value(pipeline: &Pipeline, action: usize, data: &[Int]) -> Value {
    let params = pipeline.action(action).params;
    let value = |(value, (_, width)): (&Int, &(String, u32))| {
        let value = value.truncate(*width as usize);
        bytes(&value, value.bit_length().max(1) as u32)
    };
    Value::List(Type::Binary, data.iter().zip(params).map(value).collect())
}

/// An entry's action, as BmActionEntry.
pub fn action_entry(pipeline: &Pipeline, entry: Option<&EntryAction>) -> Value {
    let of = |kind: i32| Struct::default().with(1, Value::I32(kind));
    let id = |id: u32| Value::I32(id.cast_signed());
    Value::Struct(match entry {
        None => of(NONE),
        Some(EntryAction::Action { action, data }) => of(ACTION_DATA)
            .with(2, Value::text(pipeline.action(*action).name))
            .with(3, data_value(pipeline, *action, data)),
        Some(EntryAction::Member(member)) => of(MEMBER).with(4, id(*member)),
        Some(EntryAction::Group(group)) => of(GROUP).with(5, id(*group)),
    })
}

/// A value in as many bytes as its width needs.
pub fn bytes(value: &Int, width: u32) -> Value {
    let mut bytes = vec![0; width.div_ceil(8) as usize];
    value.truncate(width as usize).write_be_bytes(&mut bytes);
    Value::Binary(bytes)
}
