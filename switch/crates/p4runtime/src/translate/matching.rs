//! Match keys: `FieldMatch` lists to and from one [`KeyMatch`] per field of the table.
//!
//! The rules are the specification's section "Match Format". A field that may be anything is left
//! out of a message; inside, it has a part that matches everything, so that a key always has as
//! many parts as the table has fields. Each kind of field has one form: an exact one `Exact`, an
//! optional one `Exact` or `Any`, the others that of their name.

use bits::Int;
use messages::p4::v1 as p4;
use messages::p4::v1::field_match::{self, FieldMatchType};
use pipeline::KeyMatch;
use prost::bytes::Bytes;

use crate::index::names::{Names, Translation};
use crate::index::shape::hex;
use crate::index::{Field, MatchKind};
use crate::refusal::Refusal;

/// The key that a message gives; INVALID_ARGUMENT if it breaks a rule.
pub fn key_of(fields: &[Field], matches: &[p4::FieldMatch]) -> Result<Vec<KeyMatch>, Refusal> {
    for (idx, given) in matches.iter().enumerate() {
        if !fields.iter().any(|field| field.id == given.field_id) {
            return Err(Refusal::invalid(format!(
                "match field id {} is not in the key, which has {}",
                given.field_id,
                describe(fields)
            )));
        }
        if matches[..idx].iter().any(|earlier| earlier.field_id == given.field_id) {
            let id = given.field_id;
            return Err(Refusal::invalid(format!("match field id {id} is given twice")));
        }
    }
    let part = |field: &Field| {
        let given = matches.iter().find(|given| given.field_id == field.id);
        part_of(field, given)
            .map_err(|refusal| refusal.within(format!("match field {}", field.name)))
    };
    fields.iter().map(part).collect()
}

/// The message for a key; what matches everything is left out.
pub fn key_message(fields: &[Field], key: &[KeyMatch]) -> Vec<p4::FieldMatch> {
    let parts = fields.iter().zip(key);
    let given = parts.filter(|(field, part)| !matches_everything(field, part));
    given
        .map(|(field, part)| p4::FieldMatch {
            field_id: field.id,
            field_match_type: part_message(field, part),
        })
        .collect()
}

fn part_of(field: &Field, given: Option<&p4::FieldMatch>) -> Result<KeyMatch, Refusal> {
    let Some(given) = given else { return everything(field) };
    let given = given.field_match_type.as_ref().ok_or_else(|| {
        Refusal::invalid("it has no match in it; leave the field out to match everything")
    })?;
    match (field.kind, given) {
        (MatchKind::Exact, FieldMatchType::Exact(exact)) => {
            Ok(KeyMatch::Exact(value_of(field, &exact.value)?))
        }
        (MatchKind::Lpm | MatchKind::Range | MatchKind::Ternary, _)
            if names_of(field).is_some() =>
        {
            Err(Refusal::invalid(
                "its type is translated to a string, which has no bits to match: declare it exact \
                 or optional",
            ))
        }
        (MatchKind::Lpm, FieldMatchType::Lpm(lpm)) => lpm_of(field, lpm),
        (MatchKind::Optional, FieldMatchType::Optional(optional)) => {
            Ok(KeyMatch::Exact(value_of(field, &optional.value)?))
        }
        (MatchKind::Range, FieldMatchType::Range(range)) => range_of(field, range),
        (MatchKind::Ternary, FieldMatchType::Ternary(ternary)) => ternary_of(field, ternary),
        _ => Err(Refusal::invalid(format!(
            "it is declared {}, so the match must be of that kind",
            kind_name(field.kind)
        ))),
    }
}

fn lpm_of(field: &Field, lpm: &field_match::Lpm) -> Result<KeyMatch, Refusal> {
    let value = value_of(field, &lpm.value)?;
    let prefix_len = usize::try_from(lpm.prefix_len)
        .ok()
        .filter(|len| (1..=field.width_bits).contains(len))
        .ok_or_else(|| {
            Refusal::invalid(format!(
                "prefix length {} is not between 1 and {}; leave the field out to match everything",
                lpm.prefix_len, field.width_bits
            ))
        })?;
    let behind_bits = field.width_bits - prefix_len;
    if !value.truncate(behind_bits).is_zero() {
        return Err(Refusal::invalid(format!(
            "{}/{prefix_len} has ones behind the prefix; the last {behind_bits} bits must be 0",
            hex(&lpm.value)
        )));
    }
    // Not above the field's width, which is an i32 in P4Info.
    Ok(KeyMatch::Lpm { value, length_bits: prefix_len as u32 })
}

fn ternary_of(field: &Field, ternary: &field_match::Ternary) -> Result<KeyMatch, Refusal> {
    let value = value_of(field, &ternary.value)?;
    let mask = value_of(field, &ternary.mask)?;
    if mask.is_zero() {
        return Err(Refusal::invalid("the mask is 0; leave the field out to match everything"));
    }
    if &value & &mask != value {
        return Err(Refusal::invalid(format!(
            "{} has ones where the mask {} has none",
            hex(&ternary.value),
            hex(&ternary.mask)
        )));
    }
    Ok(KeyMatch::Ternary { value, mask })
}

fn range_of(field: &Field, range: &field_match::Range) -> Result<KeyMatch, Refusal> {
    let low = value_of(field, &range.low)?;
    let high = value_of(field, &range.high)?;
    if low > high {
        return Err(Refusal::invalid(format!(
            "the range's low end {} is above its high end {}",
            hex(&range.low),
            hex(&range.high)
        )));
    }
    let part = KeyMatch::Range { low, high };
    if matches_everything(field, &part) {
        return Err(Refusal::invalid("the range is the whole field; leave the field out instead"));
    }
    Ok(part)
}

/// The value of a byte string, INVALID_ARGUMENT if it is none of the field's width.
fn value_of(field: &Field, bytes: &[u8]) -> Result<Int, Refusal> {
    if let Some(names) = names_of(field) {
        return names.number_of(bytes);
    }
    bits::from_canonical(bytes, field.width_bits)
        .map_err(|error| Refusal::invalid(format!("{}: {error}", hex(bytes))))
}

fn names_of(field: &Field) -> Option<&Names> {
    Translation::names(field.translation.as_ref())
}

/// The part for a field that a message leaves out.
fn everything(field: &Field) -> Result<KeyMatch, Refusal> {
    match field.kind {
        MatchKind::Exact => Err(Refusal::invalid("it is exact and must be given")),
        MatchKind::Lpm => Ok(KeyMatch::Lpm { value: Int::zero(), length_bits: 0 }),
        MatchKind::Optional => Ok(KeyMatch::Any),
        MatchKind::Range => Ok(KeyMatch::Range { low: Int::zero(), high: largest(field) }),
        MatchKind::Ternary => Ok(KeyMatch::Ternary { value: Int::zero(), mask: Int::zero() }),
    }
}

fn matches_everything(field: &Field, part: &KeyMatch) -> bool {
    match part {
        KeyMatch::Any => true,
        KeyMatch::Exact(_) => false,
        KeyMatch::Lpm { length_bits, .. } => *length_bits == 0,
        KeyMatch::Range { low, high } => low.is_zero() && *high == largest(field),
        KeyMatch::Ternary { mask, .. } => mask.is_zero(),
    }
}

fn largest(field: &Field) -> Int {
    &Int::one().shift_left(field.width_bits) - &Int::one()
}

/// `None` for a part that messages omit.
fn part_message(field: &Field, part: &KeyMatch) -> Option<FieldMatchType> {
    let bytes = |value: &Int| match names_of(field) {
        Some(names) => names.bytes_of(value),
        None => Bytes::from(bits::canonical(value)),
    };
    Some(match part {
        KeyMatch::Any => return None,
        KeyMatch::Exact(value) if field.kind == MatchKind::Optional => {
            FieldMatchType::Optional(field_match::Optional { value: bytes(value) })
        }
        KeyMatch::Exact(value) => FieldMatchType::Exact(field_match::Exact { value: bytes(value) }),
        KeyMatch::Lpm { value, length_bits } => FieldMatchType::Lpm(field_match::Lpm {
            value: bytes(value),
            prefix_len: length_bits.cast_signed(),
        }),
        KeyMatch::Range { low, high } => {
            FieldMatchType::Range(field_match::Range { low: bytes(low), high: bytes(high) })
        }
        KeyMatch::Ternary { value, mask } => {
            FieldMatchType::Ternary(field_match::Ternary { value: bytes(value), mask: bytes(mask) })
        }
    })
}

/// A part of an entry's key in the one form that its field has. Entries of the program itself may be
/// written in others.
pub fn canonical(field: &Field, found: &KeyMatch) -> KeyMatch {
    let (value, mask) = match found {
        KeyMatch::Any => (Int::zero(), Int::zero()),
        KeyMatch::Exact(value) => (value.clone(), largest(field)),
        KeyMatch::Lpm { value, length_bits } => {
            let behind_bits = field.width_bits.saturating_sub(*length_bits as usize);
            (value.clone(), largest(field).shift_right(behind_bits).shift_left(behind_bits))
        }
        KeyMatch::Ternary { value, mask } => (value.clone(), mask.clone()),
        KeyMatch::Range { .. } => return found.clone(),
    };
    let value = &value & &mask;
    match field.kind {
        MatchKind::Exact => KeyMatch::Exact(value),
        MatchKind::Lpm => {
            let length_bits = match found {
                KeyMatch::Lpm { length_bits, .. } => *length_bits,
                KeyMatch::Any => 0,
                _ => field.width_bits as u32,
            };
            KeyMatch::Lpm { value, length_bits }
        }
        MatchKind::Optional if mask.is_zero() => KeyMatch::Any,
        MatchKind::Optional => KeyMatch::Exact(value),
        MatchKind::Range if mask.is_zero() => KeyMatch::Range { low: value, high: largest(field) },
        MatchKind::Range => KeyMatch::Range { low: value.clone(), high: value },
        MatchKind::Ternary => KeyMatch::Ternary { value, mask },
    }
}

fn kind_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Optional => "optional",
        MatchKind::Range => "range",
        MatchKind::Ternary => "ternary",
    }
}

fn describe(fields: &[Field]) -> String {
    let fields: Vec<_> =
        fields.iter().map(|field| format!("{} (id {})", field.name, field.id)).collect();
    if fields.is_empty() { "no fields".to_owned() } else { fields.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: MatchKind) -> Field {
        Field { id: 1, name: "f".to_owned(), width_bits: 12, translation: None, kind }
    }

    fn b(bytes: &'static [u8]) -> Bytes {
        Bytes::from_static(bytes)
    }

    fn exact(value: &'static [u8]) -> FieldMatchType {
        FieldMatchType::Exact(field_match::Exact { value: b(value) })
    }

    fn lpm(value: &'static [u8], prefix_len: i32) -> FieldMatchType {
        FieldMatchType::Lpm(field_match::Lpm { value: b(value), prefix_len })
    }

    fn ternary(value: &'static [u8], mask: &'static [u8]) -> FieldMatchType {
        FieldMatchType::Ternary(field_match::Ternary { value: b(value), mask: b(mask) })
    }

    fn range(low: &'static [u8], high: &'static [u8]) -> FieldMatchType {
        FieldMatchType::Range(field_match::Range { low: b(low), high: b(high) })
    }

    fn optional(value: &'static [u8]) -> FieldMatchType {
        FieldMatchType::Optional(field_match::Optional { value: b(value) })
    }

    fn one(given: FieldMatchType) -> Vec<p4::FieldMatch> {
        vec![p4::FieldMatch { field_id: 1, field_match_type: Some(given) }]
    }

    #[test]
    fn every_kind_comes_back_as_it_was_sent() {
        let cases = [
            (MatchKind::Exact, exact(b"\x0a\xbc")),
            (MatchKind::Exact, exact(b"\x00")),
            // 0xab0/8 of 12 bits: the last four bits are behind the prefix.
            (MatchKind::Lpm, lpm(b"\x0a\xb0", 8)),
            (MatchKind::Ternary, ternary(b"\x01", b"\x0f\x01")),
            (MatchKind::Range, range(b"\x00", b"\x0f\xfe")),
            (MatchKind::Optional, optional(b"\x05")),
        ];
        for (kind, given) in cases {
            let fields = [field(kind)];
            let sent = one(given);
            let key = key_of(&fields, &sent).unwrap();
            assert_eq!(key_message(&fields, &key), sent);
        }
    }

    #[test]
    fn a_longer_byte_string_is_the_same_value_and_is_read_back_short() {
        let fields = [field(MatchKind::Exact)];
        let key = key_of(&fields, &one(exact(b"\x00\x00\x63"))).unwrap();
        assert_eq!(key_message(&fields, &key), one(exact(b"\x63")));
    }

    #[test]
    fn a_field_left_out_matches_everything_and_is_left_out_when_read() {
        for kind in [MatchKind::Lpm, MatchKind::Ternary, MatchKind::Range, MatchKind::Optional] {
            let fields = [field(kind)];
            let key = key_of(&fields, &[]).unwrap();
            assert_eq!(key_message(&fields, &key), []);
        }
        let refusal = key_of(&[field(MatchKind::Exact)], &[]).unwrap_err();
        assert_eq!(refusal.message, "match field f: it is exact and must be given");
    }

    #[test]
    fn each_rule_of_the_specification_refuses_what_breaks_it() {
        let cases = [
            (MatchKind::Exact, exact(b""), "empty"),
            (MatchKind::Exact, exact(b"\x10\x63"), "13 bits"),
            (MatchKind::Exact, lpm(b"\x01", 12), "declared exact"),
            (MatchKind::Lpm, lpm(b"\x00", 0), "prefix length 0"),
            (MatchKind::Lpm, lpm(b"\x00", 13), "prefix length 13"),
            (MatchKind::Lpm, lpm(b"\x00", -1), "prefix length -1"),
            (MatchKind::Lpm, lpm(b"\x01", 8), "behind the prefix"),
            (MatchKind::Ternary, ternary(b"\x00", b"\x00"), "mask is 0"),
            (MatchKind::Ternary, ternary(b"\x03", b"\x01"), "ones where the mask"),
            (MatchKind::Range, range(b"\x05", b"\x04"), "above its high end"),
            (MatchKind::Range, range(b"\x00", b"\x0f\xff"), "whole field"),
            (MatchKind::Optional, optional(b""), "empty"),
        ];
        for (kind, given, expected) in cases {
            let refusal = key_of(&[field(kind)], &one(given.clone())).unwrap_err();
            assert_eq!(refusal.code, crate::code::Code::InvalidArgument, "{given:?}");
            assert!(refusal.message.contains(expected), "{given:?}: {}", refusal.message);
        }
    }

    #[test]
    fn unknown_doubled_and_empty_fields_are_refused() {
        let fields = [field(MatchKind::Ternary)];
        let mut sent = one(ternary(b"\x01", b"\x01"));
        sent.push(sent[0].clone());
        assert!(key_of(&fields, &sent).unwrap_err().message.contains("given twice"));
        sent[1].field_id = 2;
        assert!(key_of(&fields, &sent).unwrap_err().message.contains("id 2 is not in the key"));
        sent.truncate(1);
        sent[0].field_match_type = None;
        assert!(key_of(&fields, &sent).unwrap_err().message.contains("no match in it"));
    }
}
