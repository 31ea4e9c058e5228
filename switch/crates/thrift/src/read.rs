//! From bytes to values.

use std::fmt;

use crate::value::{Map, Struct, Type, Value};

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The message goes on: this many bytes are needed before it is worth looking again.
    Incomplete(usize),
    /// It is not Thrift's binary protocol, or beyond a bound.
    Wrong(String),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolError::Incomplete(needed) => write!(f, "{needed} bytes are needed"),
            ProtocolError::Wrong(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for ProtocolError {}

/// Structs in lists in structs: no interface nests deeper.
const DEPTH_MAX: usize = 32;

/// Values of one message. A value takes many times the memory of its bytes; calls have a few, and
/// the longest key or list of arguments some hundreds.
const VALUE_COUNT_MAX: usize = 1 << 16;

/// Reads values one after the other.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The longest message.
    length_max: usize,
    /// How many values have been read.
    count: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], length_max: usize) -> Self {
        Self { bytes, at: 0, length_max, count: 0 }
    }

    /// How many bytes have been read.
    pub fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], ProtocolError> {
        let end = self.at.saturating_add(count);
        if end > self.length_max {
            let max = self.length_max;
            return Err(ProtocolError::Wrong(format!("a message has at most {max} bytes")));
        }
        let taken = self.bytes.get(self.at..end).ok_or(ProtocolError::Incomplete(end))?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("so many bytes were taken"))
    }

    pub fn u8(&mut self) -> Result<u8, ProtocolError> {
        Ok(self.array::<1>()?[0])
    }

    pub fn i16(&mut self) -> Result<i16, ProtocolError> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn i32(&mut self) -> Result<i32, ProtocolError> {
        self.array().map(i32::from_be_bytes)
    }

    /// A length that was read.
    fn length(&mut self) -> Result<usize, ProtocolError> {
        let length = self.i32()?;
        usize::try_from(length).map_err(|_| ProtocolError::Wrong(format!("{length} is no length")))
    }

    pub fn binary(&mut self) -> Result<&'a [u8], ProtocolError> {
        let length = self.length()?;
        self.take(length)
    }

    /// Bytes whose length was read already.
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], ProtocolError> {
        self.take(length)
    }

    fn type_number(&mut self) -> Result<Type, ProtocolError> {
        let number = self.u8()?;
        Type::from_number(number)
            .ok_or_else(|| ProtocolError::Wrong(format!("there is no type {number}")))
    }

    pub fn structure(&mut self, depth: usize) -> Result<Struct, ProtocolError> {
        let mut fields = Struct::default();
        loop {
            let number = self.u8()?;
            if number == 0 {
                return Ok(fields);
            }
            let of = Type::from_number(number)
                .ok_or_else(|| ProtocolError::Wrong(format!("there is no type {number}")))?;
            let field = self.i16()?;
            let value = self.value(of, depth + 1)?;
            fields.set(field, value);
        }
    }

    fn value(&mut self, of: Type, depth: usize) -> Result<Value, ProtocolError> {
        if depth > DEPTH_MAX {
            return Err(ProtocolError::Wrong(format!("values nest at most {DEPTH_MAX} deep")));
        }
        self.count += 1;
        if self.count > VALUE_COUNT_MAX {
            return Err(ProtocolError::Wrong(format!(
                "a message has at most {VALUE_COUNT_MAX} values"
            )));
        }
        Ok(match of {
            Type::Bool => Value::Bool(self.u8()? != 0),
            Type::I8 => Value::I8(self.u8()?.cast_signed()),
            Type::I16 => Value::I16(self.i16()?),
            Type::I32 => Value::I32(self.i32()?),
            Type::I64 => Value::I64(self.array().map(i64::from_be_bytes)?),
            Type::Double => Value::Double(self.array().map(f64::from_be_bytes)?),
            Type::Binary => Value::Binary(self.binary()?.to_vec()),
            Type::Struct => Value::Struct(self.structure(depth)?),
            Type::List | Type::Set => {
                let of = self.type_number()?;
                let count = self.length()?;
                let mut values = Vec::new();
                for _ in 0..count {
                    values.push(self.value(of, depth + 1)?);
                }
                Value::List(of, values)
            }
            Type::Map => self.map(depth)?,
        })
    }

    fn map(&mut self, depth: usize) -> Result<Value, ProtocolError> {
        let (key, value) = (self.u8()?, self.u8()?);
        let count = self.length()?;
        // An empty map may leave its types out.
        let of = |number: u8| match Type::from_number(number) {
            Some(of) => Ok(of),
            None if count == 0 => Ok(Type::Bool),
            None => Err(ProtocolError::Wrong(format!("there is no type {number}"))),
        };
        let types = (of(key)?, of(value)?);
        let mut pairs = Vec::new();
        for _ in 0..count {
            let key = self.value(types.0, depth + 1)?;
            pairs.push((key, self.value(types.1, depth + 1)?));
        }
        Ok(Value::Map(Map { types, pairs }))
    }
}
