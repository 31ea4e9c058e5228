//! From bytes to values.
//!
//! A [`Reader`] keeps its place: values that are open, such as a list of which a few elements have
//! arrived, wait on a stack for more bytes. So a message costs as much one byte at a time as at once.

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

/// Reads what has a fixed length, or says it in front.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The longest message.
    length_max: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: usize, length_max: usize) -> Self {
        Self { bytes, at, length_max }
    }

    /// How many bytes have been read.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], ProtocolError> {
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
        let taken = self.bytes(N)?;
        Ok(taken.try_into().expect("so many bytes were taken"))
    }

    pub fn u8(&mut self) -> Result<u8, ProtocolError> {
        Ok(self.array::<1>()?[0])
    }

    fn i16(&mut self) -> Result<i16, ProtocolError> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn i32(&mut self) -> Result<i32, ProtocolError> {
        self.array().map(i32::from_be_bytes)
    }

    fn length(&mut self) -> Result<usize, ProtocolError> {
        let length = self.i32()?;
        usize::try_from(length).map_err(|_| ProtocolError::Wrong(format!("{length} is no length")))
    }

    pub fn binary(&mut self) -> Result<&'a [u8], ProtocolError> {
        let length = self.length()?;
        self.bytes(length)
    }

    fn type_number(&mut self) -> Result<Type, ProtocolError> {
        let number = self.u8()?;
        Type::from_number(number).ok_or_else(|| no_type(number))
    }
}

fn no_type(number: u8) -> ProtocolError {
    ProtocolError::Wrong(format!("there is no type {number}"))
}

/// A value of which parts are still to come.
#[derive(Debug)]
enum Open {
    Struct { fields: Struct, field: i16 },
    List { of: Type, values: Vec<Value>, left: usize },
    Map { map: Map, key: Option<Value>, left: usize },
}

/// Reads the fields of one struct, and what is in them.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The innermost is last, the struct itself first.
    open: Vec<Open>,
    /// How many values have been begun.
    count: usize,
}

impl Reader {
    pub fn new() -> Reader {
        Reader { open: vec![Open::Struct { fields: Struct::default(), field: 0 }], count: 0 }
    }

    /// How many values have been read, or begun.
    #[cfg(test)]
    pub fn value_count(&self) -> usize {
        self.count
    }

    /// Reads on where the cursor stands; the struct, when all of it is there. Otherwise the cursor stands
    /// before the first value that is cut off: a number, a text, or the few bytes before a list.
    pub fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<Struct, ProtocolError> {
        loop {
            let mut ahead = *cursor;
            let mut value = self.step(&mut ahead)?;
            *cursor = ahead;
            while let Some(read) = value {
                value = match self.open.last_mut() {
                    None => match read {
                        Value::Struct(fields) => return Ok(fields),
                        _ => unreachable!("the outermost value is a struct"),
                    },
                    Some(open) => {
                        open.take(read);
                        self.close_if_full()
                    }
                };
            }
        }
    }

    /// Reads one value without parts, or the head of one with parts, or the end of a struct. The value
    /// that is whole by that, if one is.
    fn step(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Value>, ProtocolError> {
        let of = match self.open.last_mut().expect("a struct is open until all is read") {
            Open::Struct { field, .. } => {
                let number = cursor.u8()?;
                if number == 0 {
                    return Ok(self.close());
                }
                let of = Type::from_number(number).ok_or_else(|| no_type(number))?;
                *field = cursor.i16()?;
                of
            }
            Open::List { of, .. } => *of,
            Open::Map { map, key: None, .. } => map.types.0,
            Open::Map { map, key: Some(_), .. } => map.types.1,
        };
        Ok(self.begin(of, cursor)?.or_else(|| self.close_if_full()))
    }

    /// Reads a value without parts, or opens one with parts.
    fn begin(&mut self, of: Type, cursor: &mut Cursor<'_>) -> Result<Option<Value>, ProtocolError> {
        if self.open.len() > DEPTH_MAX {
            return Err(ProtocolError::Wrong(format!("values nest at most {DEPTH_MAX} deep")));
        }
        if self.count == VALUE_COUNT_MAX {
            return Err(ProtocolError::Wrong(format!(
                "a message has at most {VALUE_COUNT_MAX} values"
            )));
        }
        let opened = match of {
            Type::Bool => Ok(Value::Bool(cursor.u8()? != 0)),
            Type::I8 => Ok(Value::I8(cursor.u8()?.cast_signed())),
            Type::I16 => Ok(Value::I16(cursor.i16()?)),
            Type::I32 => Ok(Value::I32(cursor.i32()?)),
            Type::I64 => Ok(Value::I64(cursor.array().map(i64::from_be_bytes)?)),
            Type::Double => Ok(Value::Double(cursor.array().map(f64::from_be_bytes)?)),
            Type::Binary => Ok(Value::Binary(cursor.binary()?.to_vec())),
            Type::Struct => Err(Open::Struct { fields: Struct::default(), field: 0 }),
            Type::List | Type::Set => {
                let of = cursor.type_number()?;
                Err(Open::List { of, values: Vec::new(), left: cursor.length()? })
            }
            Type::Map => Err(open_map(cursor)?),
        };
        self.count += 1;
        match opened {
            Ok(value) => Ok(Some(value)),
            Err(open) => {
                self.open.push(open);
                Ok(None)
            }
        }
    }

    /// Closes the innermost value if it is a list or a map that has all of its elements.
    fn close_if_full(&mut self) -> Option<Value> {
        match self.open.last() {
            Some(Open::List { left: 0, .. } | Open::Map { left: 0, .. }) => self.close(),
            _ => None,
        }
    }

    fn close(&mut self) -> Option<Value> {
        self.open.pop().map(|open| match open {
            Open::Struct { fields, .. } => Value::Struct(fields),
            Open::List { of, values, .. } => Value::List(of, values),
            Open::Map { map, .. } => Value::Map(map),
        })
    }
}

impl Open {
    /// Takes the next part.
    fn take(&mut self, value: Value) {
        match self {
            Open::Struct { fields, field } => fields.set(*field, value),
            Open::List { values, left, .. } => {
                values.push(value);
                *left -= 1;
            }
            Open::Map { map, key, left } => match key.take() {
                None => *key = Some(value),
                Some(key) => {
                    map.pairs.push((key, value));
                    *left -= 1;
                }
            },
        }
    }
}

fn open_map(cursor: &mut Cursor<'_>) -> Result<Open, ProtocolError> {
    let (key, value) = (cursor.u8()?, cursor.u8()?);
    let left = cursor.length()?;
    // An empty map may leave its types out.
    let of = |number: u8| match Type::from_number(number) {
        Some(of) => Ok(of),
        None if left == 0 => Ok(Type::Bool),
        None => Err(no_type(number)),
    };
    let map = Map { types: (of(key)?, of(value)?), pairs: Vec::new() };
    Ok(Open::Map { map, key: None, left })
}
