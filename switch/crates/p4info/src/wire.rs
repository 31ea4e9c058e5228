//! The binary form of protobuf: varints, tags and length-delimited payloads.
//!
//! Decoding never panics and never allocates more than the input is long; a message of a newer
//! schema decodes with its unknown fields skipped.

use std::fmt;

/// Why bytes are not the message they were said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// A string field holds bytes that are not UTF-8.
    NotUtf8,
    /// Messages are nested deeper than any schema here allows.
    TooDeep,
    /// The input ends inside a field.
    Truncated,
    /// A tag names a wire type that does not exist, or one that does not fit the field.
    WrongWireType,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecodeError::NotUtf8 => "a string field is not UTF-8",
            DecodeError::TooDeep => "messages are nested too deeply",
            DecodeError::Truncated => "the message ends inside a field",
            DecodeError::WrongWireType => "a field has the wrong wire type",
        })
    }
}

impl std::error::Error for DecodeError {}

/// One field as it stands on the wire, before the schema says what it means.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Integers, booleans and enumerations.
    Varint(u64),
    /// Strings, bytes, messages and packed repeated integers.
    Bytes(&'a [u8]),
    /// Fixed-width values; no field of P4Info has this form, so they are only skipped.
    Fixed,
}

impl<'a> Value<'a> {
    pub fn varint(self) -> Result<u64, DecodeError> {
        match self {
            Value::Varint(value) => Ok(value),
            _ => Err(DecodeError::WrongWireType),
        }
    }

    pub fn bytes(self) -> Result<&'a [u8], DecodeError> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(DecodeError::WrongWireType),
        }
    }
}

const WIRE_VARINT: u32 = 0;
const WIRE_FIXED64: u32 = 1;
const WIRE_BYTES: u32 = 2;
const WIRE_FIXED32: u32 = 5;

/// Takes fields off the front of a message.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// The next field's number and value, or `None` at the end of the message.
    pub fn field(&mut self) -> Result<Option<(u32, Value<'a>)>, DecodeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| DecodeError::WrongWireType)?;
        let value = match (tag & 7) as u32 {
            WIRE_VARINT => Value::Varint(self.varint()?),
            WIRE_BYTES => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            WIRE_FIXED64 => self.take(8).map(|_| Value::Fixed)?,
            WIRE_FIXED32 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(DecodeError::WrongWireType),
        };
        Ok(Some((number, value)))
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Seven bits a byte, least significant first; the top bit says that more follow.
    pub fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(DecodeError::Truncated)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::Truncated)
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], DecodeError> {
        let length = usize::try_from(length).map_err(|_| DecodeError::Truncated)?;
        if length > self.rest.len() {
            return Err(DecodeError::Truncated);
        }
        let (head, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(head)
    }
}

pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub fn put_varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number << 3 | WIRE_VARINT));
    put_varint(out, value);
}

pub fn put_bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number << 3 | WIRE_BYTES));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_spends_seven_bits_a_byte() {
        // 300 = 0b10_0101100: the low seven bits 0x2c with the "more" bit, then 2.
        let mut out = Vec::new();
        put_varint(&mut out, 300);
        assert_eq!(out, [0xac, 0x02]);
        assert_eq!(Reader::new(&out).varint(), Ok(300));
    }

    #[test]
    fn a_length_beyond_the_input_is_an_error_not_an_allocation() {
        // Field 1, length-delimited, announces 2^32 bytes and brings one.
        let bytes = [0x0a, 0x80, 0x80, 0x80, 0x80, 0x10, 0x00];
        assert_eq!(Reader::new(&bytes).field().err(), Some(DecodeError::Truncated));
    }
}
