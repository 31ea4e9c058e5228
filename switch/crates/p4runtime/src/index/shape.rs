//! [`Shape`]: the P4 type of a register's cell or a digest's message.
//!
//! The pipeline stores and reports plain numbers. A shape says how a list of numbers becomes the
//! nested `P4Data` that controllers see, and back: [`Shape::encode`] and [`Shape::decode`] walk
//! the type depth first, one number for each leaf.

use std::sync::Arc;

use bits::Int;
use config::p4_bitstring_like_type_spec::TypeSpec as BitsSpec;
use config::p4_data_type_spec::TypeSpec;
use messages::p4::config::v1 as config;
use messages::p4::v1 as p4;
use p4::p4_data::Data;
use prost::bytes::Bytes;

use super::names::{Names, Translation, Translations};
use crate::refusal::Refusal;

/// How deep types may be nested; P4 has no recursive types, but a P4Info may be wrong.
const DEPTH_MAX: usize = 32;

/// A P4 type as the control plane sees it. New types are resolved to what they stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `bit<width>`.
    Bits(usize),
    /// `bool`.
    Bool,
    /// `enum` without values, or `error`: the number is the position of the name.
    Choice {
        /// The names in order.
        names: Vec<String>,
        /// Whether it is `error`, which has a message of its own.
        is_error: bool,
    },
    /// A header that is always valid: its fields.
    Header(Vec<Shape>),
    /// `int<width>`.
    Int(usize),
    /// A type that controllers write as strings.
    Names(Arc<Names>),
    /// `enum bit<width>`.
    SerializableEnum(usize),
    /// A struct: its members.
    Struct(Vec<Shape>),
    /// A tuple: its members.
    Tuple(Vec<Shape>),
}

/// Where types are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Types<'a> {
    /// P4Info's description of them.
    pub info: &'a config::P4TypeInfo,
    /// Those that are translated.
    pub translations: &'a Translations,
}

impl Shape {
    /// The shape of a type of P4Info.
    pub fn new(spec: Option<&config::P4DataTypeSpec>, types: Types<'_>) -> Result<Self, Refusal> {
        Self::at_depth(spec, types, 0)
    }

    fn at_depth(
        spec: Option<&config::P4DataTypeSpec>,
        types: Types<'_>,
        depth: usize,
    ) -> Result<Self, Refusal> {
        if depth > DEPTH_MAX {
            return Err(Refusal::invalid(format!("types are nested deeper than {DEPTH_MAX}")));
        }
        let Types { info, translations } = types;
        let inner = |spec: Option<&_>| Self::at_depth(spec, types, depth + 1);
        let spec = spec.and_then(|spec| spec.type_spec.as_ref());
        match spec.ok_or_else(|| Refusal::invalid("a type is missing"))? {
            TypeSpec::Bitstring(bits) => Self::bitstring(Some(bits)),
            TypeSpec::Bool(_) => Ok(Self::Bool),
            TypeSpec::Tuple(tuple) => {
                let members = tuple.members.iter().map(|member| inner(Some(member)));
                members.collect::<Result<_, _>>().map(Self::Tuple)
            }
            TypeSpec::Struct(named) => {
                let members = &named_type(&info.structs, named)?.members;
                let members = members.iter().map(|member| inner(member.type_spec.as_ref()));
                members.collect::<Result<_, _>>().map(Self::Struct)
            }
            TypeSpec::Header(named) => {
                let members = &named_type(&info.headers, named)?.members;
                let members = members.iter().map(|it| Self::bitstring(it.type_spec.as_ref()));
                members.collect::<Result<_, _>>().map(Self::Header)
            }
            TypeSpec::Enum(named) => {
                let members = &named_type(&info.enums, named)?.members;
                let names = members.iter().map(|member| member.name.clone()).collect();
                Ok(Self::Choice { names, is_error: false })
            }
            TypeSpec::Error(_) => {
                let names = info.error.clone().unwrap_or_default().members;
                Ok(Self::Choice { names, is_error: true })
            }
            TypeSpec::SerializableEnum(named) => {
                let underlying = named_type(&info.serializable_enums, named)?.underlying_type;
                Ok(Self::SerializableEnum(width(underlying.map_or(0, |bits| bits.bitwidth))?))
            }
            TypeSpec::NewType(named) => {
                if let Some(Translation::Names(names)) = translations.get(&named.name) {
                    return Ok(Self::Names(Arc::clone(names)));
                }
                let new = named_type(&info.new_types, named)?;
                match stands_for(named, new)? {
                    StandsFor::Type(original) => inner(Some(original)),
                    StandsFor::Bits(width_bits) => Ok(Self::Bits(width_bits)),
                }
            }
            TypeSpec::HeaderUnion(_) => Err(unsupported("a header union")),
            TypeSpec::HeaderStack(_) => Err(unsupported("a header stack")),
            TypeSpec::HeaderUnionStack(_) => Err(unsupported("a stack of header unions")),
        }
    }

    fn bitstring(spec: Option<&config::P4BitstringLikeTypeSpec>) -> Result<Self, Refusal> {
        match spec.and_then(|spec| spec.type_spec.as_ref()) {
            Some(BitsSpec::Bit(bit)) => Ok(Self::Bits(width(bit.bitwidth)?)),
            Some(BitsSpec::Int(int)) => Ok(Self::Int(width(int.bitwidth)?)),
            Some(BitsSpec::Varbit(_)) => Err(unsupported("varbit")),
            None => Err(Refusal::invalid("a type is missing")),
        }
    }

    /// How many numbers it takes.
    pub fn leaf_count(&self) -> usize {
        match self {
            Self::Header(members) | Self::Struct(members) | Self::Tuple(members) => {
                members.iter().map(Self::leaf_count).sum()
            }
            _ => 1,
        }
    }

    /// The numbers as `P4Data`; takes [`Self::leaf_count`] of them from the iterator.
    pub fn encode<'a>(&self, leaves: &mut impl Iterator<Item = &'a Int>) -> p4::P4Data {
        let data = match self {
            Self::Struct(members) => Data::Struct(encode_all(members, leaves)),
            Self::Tuple(members) => Data::Tuple(encode_all(members, leaves)),
            Self::Header(members) => {
                let bitstrings = members.iter().map(|it| it.encode_leaf(&next(leaves))).collect();
                Data::Header(p4::P4Header { is_valid: true, bitstrings })
            }
            Self::Bool => Data::Bool(!next(leaves).is_zero()),
            Self::Choice { names, is_error } => {
                let value = next(leaves);
                let name = value.to_u64().and_then(|idx| names.get(usize::try_from(idx).ok()?));
                let name = name.cloned().unwrap_or_default();
                if *is_error { Data::Error(name) } else { Data::Enum(name) }
            }
            Self::SerializableEnum(_) => Data::EnumValue(self.encode_leaf(&next(leaves))),
            Self::Bits(_) | Self::Int(_) | Self::Names(_) => {
                Data::Bitstring(self.encode_leaf(&next(leaves)))
            }
        };
        p4::P4Data { data: Some(data) }
    }

    fn encode_leaf(&self, value: &Int) -> Bytes {
        match self {
            Self::Int(width_bits) => signed_bytes(&value.wrap_signed(*width_bits)).into(),
            Self::Names(names) => names.bytes_of(value),
            _ => bits::canonical(value).into(),
        }
    }

    /// The numbers in a `P4Data`, appended to `leaves`; refused where it is not of this shape.
    pub fn decode(&self, data: &p4::P4Data, leaves: &mut Vec<Int>) -> Result<(), Refusal> {
        let data = data.data.as_ref().ok_or_else(|| Refusal::invalid("the data is unset"))?;
        match (self, data) {
            (Self::Bits(_) | Self::Int(_) | Self::Names(_), Data::Bitstring(bytes))
            | (Self::SerializableEnum(_), Data::EnumValue(bytes)) => {
                leaves.push(self.decode_leaf(bytes)?);
                Ok(())
            }
            (Self::Bool, Data::Bool(value)) => {
                leaves.push(Int::from(u64::from(*value)));
                Ok(())
            }
            (Self::Choice { names, is_error: false }, Data::Enum(name))
            | (Self::Choice { names, is_error: true }, Data::Error(name)) => {
                let idx = names.iter().position(|known| known == name).ok_or_else(|| {
                    Refusal::invalid(format!("{name:?} is none of {}", names.join(", ")))
                })?;
                leaves.push(Int::from(idx as u64));
                Ok(())
            }
            (Self::Struct(members), Data::Struct(given))
            | (Self::Tuple(members), Data::Tuple(given)) => {
                check_count(members.len(), given.members.len())?;
                let mut pairs = members.iter().zip(&given.members);
                pairs.try_for_each(|(member, data)| member.decode(data, leaves))
            }
            (Self::Header(members), Data::Header(given)) if given.is_valid => {
                check_count(members.len(), given.bitstrings.len())?;
                for (member, bytes) in members.iter().zip(&given.bitstrings) {
                    leaves.push(member.decode_leaf(bytes)?);
                }
                Ok(())
            }
            _ => Err(Refusal::invalid(format!("the data is not of the declared type {self:?}"))),
        }
    }

    fn decode_leaf(&self, bytes: &[u8]) -> Result<Int, Refusal> {
        let (width_bits, value) = match self {
            Self::Names(names) => return names.number_of(bytes),
            Self::Int(width_bits) => (*width_bits, signed_from_bytes(bytes, *width_bits)),
            Self::Bits(width_bits) | Self::SerializableEnum(width_bits) => {
                (*width_bits, bits::from_canonical(bytes, *width_bits).ok())
            }
            _ => (0, None),
        };
        value.ok_or_else(|| {
            Refusal::out_of_range(format!(
                "the byte string {} is no value of {width_bits} bits",
                hex(bytes)
            ))
        })
    }
}

/// Bytes as people read them in messages: `0x0a00`, or `(empty)`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "(empty)".to_owned();
    }
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

fn encode_all<'a>(
    members: &[Shape],
    leaves: &mut impl Iterator<Item = &'a Int>,
) -> p4::P4StructLike {
    p4::P4StructLike { members: members.iter().map(|member| member.encode(leaves)).collect() }
}

/// The next number; the pipeline gives as many as the shape has leaves, checked at load.
fn next<'a>(leaves: &mut impl Iterator<Item = &'a Int>) -> Int {
    leaves.next().cloned().unwrap_or_else(Int::zero)
}

fn check_count(expected: usize, found: usize) -> Result<(), Refusal> {
    if expected == found {
        return Ok(());
    }
    Err(Refusal::invalid(format!("the type has {expected} members, the data {found}")))
}

/// The controller's view of a P4 `type` (a new name for an old type).
enum StandsFor<'a> {
    Type(&'a config::P4DataTypeSpec),
    Bits(usize),
}

fn stands_for<'a>(
    named: &config::P4NamedType,
    new: &'a config::P4NewTypeSpec,
) -> Result<StandsFor<'a>, Refusal> {
    use config::p4_new_type_spec::Representation;
    use config::p4_new_type_translation::SdnType;
    match &new.representation {
        Some(Representation::OriginalType(original)) => Ok(StandsFor::Type(original)),
        Some(Representation::TranslatedType(translated)) => match translated.sdn_type {
            Some(SdnType::SdnBitwidth(bitwidth)) => Ok(StandsFor::Bits(width(bitwidth)?)),
            _ => Err(Refusal::invalid(format!("type {} is translated to nothing", named.name))),
        },
        None => Err(Refusal::invalid(format!("type {} stands for nothing", named.name))),
    }
}

fn named_type<'a, T>(
    types: &'a std::collections::BTreeMap<String, T>,
    named: &config::P4NamedType,
) -> Result<&'a T, Refusal> {
    types.get(&named.name).ok_or_else(|| {
        Refusal::invalid(format!("type {} is used but not described in type_info", named.name))
    })
}

fn width(bitwidth: i32) -> Result<usize, Refusal> {
    usize::try_from(bitwidth)
        .ok()
        .filter(|width_bits| *width_bits > 0)
        .ok_or_else(|| Refusal::invalid(format!("a type has width {bitwidth}")))
}

fn unsupported(what: &str) -> Refusal {
    Refusal::unimplemented(format!("{what} cannot be carried to the controller by this switch"))
}

/// The shortest two's complement form.
fn signed_bytes(value: &Int) -> Vec<u8> {
    let mut len = 1;
    while value.wrap_signed(8 * len) != *value {
        len += 1;
    }
    let mut bytes = vec![0; len];
    value.write_be_bytes(&mut bytes);
    bytes
}

/// The number in a two's complement byte string of any length, if it fits `int<width_bits>`.
fn signed_from_bytes(bytes: &[u8], width_bits: usize) -> Option<Int> {
    if bytes.is_empty() {
        return None;
    }
    let value = Int::from_be_bytes(bytes).wrap_signed(8 * bytes.len());
    (value.wrap_signed(width_bits) == value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits_of(bytes: &'static [u8]) -> p4::P4Data {
        p4::P4Data { data: Some(Data::Bitstring(Bytes::from_static(bytes))) }
    }

    fn decoded(shape: &Shape, data: &p4::P4Data) -> Result<Vec<Int>, Refusal> {
        let mut leaves = Vec::new();
        shape.decode(data, &mut leaves).map(|()| leaves)
    }

    /// The specification's tables "Examples of Valid/Invalid Bytestring Encoding", int rows.
    #[test]
    fn signed_byte_strings_follow_the_specification() {
        let valid: [(usize, &'static [u8], i64); 6] = [
            (8, b"\x63", 99),
            (8, b"\x9d", -99),
            (8, b"\xff\x9d", -99),
            (12, b"\xfd\x1d", -739),
            (16, b"\x00\x00", 0),
            (16, b"\x00", 0),
        ];
        for (width_bits, bytes, value) in valid {
            let leaves = decoded(&Shape::Int(width_bits), &bits_of(bytes));
            assert_eq!(leaves, Ok(vec![Int::from(value)]));
        }
        let invalid: [(usize, &'static [u8]); 3] = [(8, b"\x00\x9d"), (12, b"\x8d\x1d"), (16, b"")];
        for (width_bits, bytes) in invalid {
            let refusal = decoded(&Shape::Int(width_bits), &bits_of(bytes)).unwrap_err();
            assert_eq!(refusal.code, crate::code::Code::OutOfRange);
        }
    }

    #[test]
    fn signed_numbers_are_sent_in_the_shortest_form() {
        let sent = |value: i64| Shape::Int(16).encode(&mut [Int::from(value)].iter());
        assert_eq!(sent(-99), bits_of(b"\x9d"));
        assert_eq!(sent(0), bits_of(b"\x00"));
        // 128 needs nine bits with its sign.
        assert_eq!(sent(128), bits_of(b"\x00\x80"));
    }

    #[test]
    fn a_struct_is_walked_depth_first_both_ways() {
        let shape = Shape::Struct(vec![
            Shape::Bits(48),
            Shape::Tuple(vec![Shape::Bool, Shape::Int(8)]),
            Shape::Choice { names: vec!["ipv4".into(), "other".into()], is_error: false },
        ]);
        let leaves = [Int::from(0xa), Int::from(1), Int::from(-2), Int::from(1)];
        assert_eq!(shape.leaf_count(), 4);
        let data = shape.encode(&mut leaves.iter());
        assert_eq!(decoded(&shape, &data), Ok(leaves.to_vec()));
    }

    #[test]
    fn data_of_another_type_is_refused() {
        let refusal = decoded(&Shape::Bool, &bits_of(b"\x01")).unwrap_err();
        assert_eq!(refusal.code, crate::code::Code::InvalidArgument);
        let two = Shape::Struct(vec![Shape::Bits(8), Shape::Bits(8)]);
        let one = p4::P4StructLike { members: vec![bits_of(b"\x01")] };
        let refusal = decoded(&two, &p4::P4Data { data: Some(Data::Struct(one)) }).unwrap_err();
        assert_eq!(refusal.message, "the type has 2 members, the data 1");
    }
}
