//! Values, as they are on the wire.

use std::collections::BTreeMap;

/// A value of any type that Thrift has.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    Double(f64),
    /// Bytes or text: the wire does not tell them apart.
    Binary(Vec<u8>),
    Struct(Struct),
    /// Lists and sets: the type of the elements, which an empty list has too, and these.
    List(Type, Vec<Value>),
    Map(Map),
}

/// The types, with their numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Type {
    Bool = 2,
    I8 = 3,
    Double = 4,
    I16 = 6,
    I32 = 8,
    I64 = 10,
    Binary = 11,
    Struct = 12,
    Map = 13,
    Set = 14,
    List = 15,
}

/// Keys and values with their types.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    pub types: (Type, Type),
    pub pairs: Vec<(Value, Value)>,
}

/// Fields by their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Struct(BTreeMap<i16, Value>);

impl Type {
    pub(crate) fn from_number(number: u8) -> Option<Type> {
        use Type::*;
        [Bool, I8, Double, I16, I32, I64, Binary, Struct, Map, Set, List]
            .into_iter()
            .find(|of| *of as u8 == number)
    }
}

impl Value {
    pub fn text(text: impl Into<String>) -> Value {
        Value::Binary(text.into().into_bytes())
    }

    pub(crate) fn type_of(&self) -> Type {
        match self {
            Value::Bool(_) => Type::Bool,
            Value::I8(_) => Type::I8,
            Value::I16(_) => Type::I16,
            Value::I32(_) => Type::I32,
            Value::I64(_) => Type::I64,
            Value::Double(_) => Type::Double,
            Value::Binary(_) => Type::Binary,
            Value::Struct(_) => Type::Struct,
            Value::List(..) => Type::List,
            Value::Map(_) => Type::Map,
        }
    }
}

impl Struct {
    /// With one field more.
    #[must_use]
    pub fn with(mut self, number: i16, value: Value) -> Struct {
        self.set(number, value);
        self
    }

    pub fn set(&mut self, number: i16, value: Value) {
        self.0.insert(number, value);
    }

    pub fn fields(&self) -> impl Iterator<Item = (i16, &Value)> {
        self.0.iter().map(|(number, value)| (*number, value))
    }
}

/// Fields as callers set them. A field that is not set has the type's own default, as in programs that
/// Thrift's compiler makes; one of another type counts as not set, for the same reason.
impl Struct {
    pub fn is_set(&self, number: i16) -> bool {
        self.0.contains_key(&number)
    }

    pub fn bool(&self, number: i16) -> bool {
        matches!(self.0.get(&number), Some(Value::Bool(true)))
    }

    pub fn i16(&self, number: i16) -> i16 {
        match self.0.get(&number) {
            Some(Value::I16(value)) => *value,
            _ => 0,
        }
    }

    pub fn i32(&self, number: i16) -> i32 {
        match self.0.get(&number) {
            Some(Value::I32(value)) => *value,
            _ => 0,
        }
    }

    pub fn i64(&self, number: i16) -> i64 {
        match self.0.get(&number) {
            Some(Value::I64(value)) => *value,
            _ => 0,
        }
    }

    pub fn double(&self, number: i16) -> f64 {
        match self.0.get(&number) {
            Some(Value::Double(value)) => *value,
            _ => 0.0,
        }
    }

    pub fn bytes(&self, number: i16) -> &[u8] {
        match self.0.get(&number) {
            Some(Value::Binary(bytes)) => bytes,
            _ => &[],
        }
    }

    /// Text; what is not UTF-8 is no name of anything.
    pub fn text(&self, number: i16) -> &str {
        str::from_utf8(self.bytes(number)).unwrap_or("\u{fffd}")
    }

    pub fn list(&self, number: i16) -> &[Value] {
        match self.0.get(&number) {
            Some(Value::List(_, values)) => values,
            _ => &[],
        }
    }

    pub fn structure(&self, number: i16) -> Option<&Struct> {
        match self.0.get(&number) {
            Some(Value::Struct(inner)) => Some(inner),
            _ => None,
        }
    }
}
