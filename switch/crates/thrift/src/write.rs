//! From values to bytes.

use crate::value::{Struct, Value};

pub(crate) fn i32(bytes: &mut Vec<u8>, value: i32) {
    bytes.extend(value.to_be_bytes());
}

/// Bytes with their length in front.
pub(crate) fn binary(bytes: &mut Vec<u8>, value: &[u8]) {
    i32(bytes, length(value.len()));
    bytes.extend_from_slice(value);
}

/// Nothing that is written comes near the end of an i32: what is read is bounded.
fn length(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

pub(crate) fn structure(bytes: &mut Vec<u8>, fields: &Struct) {
    for (number, field) in fields.fields() {
        bytes.push(field.type_of() as u8);
        bytes.extend(number.to_be_bytes());
        value(bytes, field);
    }
    bytes.push(0);
}

fn value(bytes: &mut Vec<u8>, of: &Value) {
    match of {
        Value::Bool(truth) => bytes.push(u8::from(*truth)),
        Value::I8(number) => bytes.push(number.cast_unsigned()),
        Value::I16(number) => bytes.extend(number.to_be_bytes()),
        Value::I32(number) => i32(bytes, *number),
        Value::I64(number) => bytes.extend(number.to_be_bytes()),
        Value::Double(number) => bytes.extend(number.to_be_bytes()),
        Value::Binary(text) => binary(bytes, text),
        Value::Struct(fields) => structure(bytes, fields),
        Value::List(of, values) => {
            bytes.push(*of as u8);
            i32(bytes, length(values.len()));
            values.iter().for_each(|element| value(bytes, element));
        }
        Value::Map(map) => {
            bytes.extend([map.types.0 as u8, map.types.1 as u8]);
            i32(bytes, length(map.pairs.len()));
            for (key, element) in &map.pairs {
                value(bytes, key);
                value(bytes, element);
            }
        }
    }
}
