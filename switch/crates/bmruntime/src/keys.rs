//! Keys of entries: BmMatchParam and ours.

use bits::Int;
use bmv2::MatchType;
use pipeline::{KeyMatch, Table};
use thrift::{Struct, Type, Value};

use crate::actions::bytes;
use crate::codes::{Thrown, table};

/// BmMatchParamType; the field that holds the parameter is the next number but one.
const EXACT: i32 = 0;
const LPM: i32 = 1;
const TERNARY: i32 = 2;
const VALID: i32 = 3;
const RANGE: i32 = 4;

/// Of two entries the one with the lower number wins there, the one with the higher here: one is this
/// less the other.
const PRIORITY_SUM: i32 = i32::MAX;

/// The value for an entry without a priority.
const NO_PRIORITY: i32 = -1;

/// The key of an entry of this table.
pub fn key_of(of: &Table, given: &[Value]) -> Result<Vec<KeyMatch>, Thrown> {
    if given.len() != of.shape().parts().len() {
        return Err(table::BAD_MATCH_KEY);
    }
    let part = |((_, match_type, width), given): ((&str, MatchType, u32), &Value)| match given {
        Value::Struct(given) => part_of(match_type, width, given).ok_or(table::BAD_MATCH_KEY),
        _ => Err(table::BAD_MATCH_KEY),
    };
    of.keys().zip(given).map(part).collect()
}

/// One part of a key; `None` if it is of another type or length than the table's.
fn part_of(match_type: MatchType, width: u32, given: &Struct) -> Option<KeyMatch> {
    let kind = given.i32(1);
    let field = i16::try_from(kind).ok()?.checked_add(2)?;
    let param = given.structure(field)?;
    let number = |field: i16| {
        let bytes = param.bytes(field);
        let fits = bytes.len() == width.div_ceil(8) as usize;
        fits.then(|| Int::from_be_bytes(bytes))
    };
    Some(match (match_type, kind) {
        (MatchType::Exact, EXACT) => KeyMatch::Exact(number(1)?),
        (MatchType::Lpm, LPM) => {
            let length_bits = u32::try_from(param.i32(2)).ok()?;
            KeyMatch::Lpm { value: number(1)?, length_bits }
        }
        (MatchType::Ternary, TERNARY) => {
            let mask = number(2)?;
            KeyMatch::Ternary { value: &number(1)? & &mask, mask }
        }
        (MatchType::Valid, VALID) => KeyMatch::Exact(u64::from(param.bool(1)).into()),
        (MatchType::Range, RANGE) => KeyMatch::Range { low: number(1)?, high: number(2)? },
        _ => return None,
    })
}

/// The priority of an entry that is to be added, from the options in the argument of this number.
pub fn priority_of(of: &Table, arguments: &Struct, options: i16) -> i32 {
    let given = arguments.structure(options).map_or(0, |options| options.i32(1));
    if of.shape().is_ternary() { PRIORITY_SUM.saturating_sub(given.max(0)) } else { 0 }
}

/// BmAddEntryOptions of an entry.
pub fn options_value(of: &Table, priority: i32) -> Value {
    let is_ternary = of.shape().is_ternary();
    let number = if is_ternary { PRIORITY_SUM.saturating_sub(priority) } else { NO_PRIORITY };
    Value::Struct(Struct::default().with(1, Value::I32(number)))
}

/// The key of an entry as a list of BmMatchParam.
pub fn key_value(of: &Table, key: &[KeyMatch]) -> Value {
    let parts = of.keys().zip(key).map(|((_, match_type, width), part)| {
        let (kind, param) = param_of(match_type, width, part);
        let field = kind as i16 + 2;
        Value::Struct(Struct::default().with(1, Value::I32(kind)).with(field, Value::Struct(param)))
    });
    Value::List(Type::Struct, parts.collect())
}

/// One part; where P4Runtime leaves a part out, it is written out.
fn param_of(match_type: MatchType, width: u32, part: &KeyMatch) -> (i32, Struct) {
    let all = &Int::one().shift_left(width as usize) - &Int::one();
    let zero = Int::zero();
    let pair = |first: &Int, second: &Int| {
        Struct::default().with(1, bytes(first, width)).with(2, bytes(second, width))
    };
    match (match_type, part) {
        (MatchType::Valid, part) => {
            let truth = matches!(part, KeyMatch::Exact(value) if !value.is_zero());
            (VALID, Struct::default().with(1, Value::Bool(truth)))
        }
        (MatchType::Exact, KeyMatch::Exact(value)) => {
            (EXACT, Struct::default().with(1, bytes(value, width)))
        }
        (MatchType::Exact, _) => (EXACT, Struct::default().with(1, bytes(&zero, width))),
        (MatchType::Lpm, KeyMatch::Lpm { value, length_bits }) => {
            let length = Value::I32(length_bits.cast_signed());
            (LPM, Struct::default().with(1, bytes(value, width)).with(2, length))
        }
        (MatchType::Lpm, _) => {
            (LPM, Struct::default().with(1, bytes(&zero, width)).with(2, Value::I32(0)))
        }
        (MatchType::Range, KeyMatch::Range { low, high }) => (RANGE, pair(low, high)),
        (MatchType::Range, _) => (RANGE, pair(&zero, &all)),
        (MatchType::Ternary, KeyMatch::Ternary { value, mask }) => (TERNARY, pair(value, mask)),
        (MatchType::Ternary, KeyMatch::Exact(value)) => (TERNARY, pair(value, &all)),
        (MatchType::Ternary, _) => (TERNARY, pair(&zero, &zero)),
    }
}
