//! A JSON value that knows where it is, so that every complaint about it can say so.

use std::fmt;

use bits::Int;
use serde_json::{Map, Value};

/// Why JSON was refused: where, what was expected, what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// A JSON pointer: `/pipelines/0/tables/3/key`. Empty for the whole text.
    pub path: String,
    /// The expected value.
    pub expected: String,
    /// The value found.
    pub found: String,
}

impl ReadError {
    /// The same complaint about the place `path`.
    pub(crate) fn at(self, path: String) -> ReadError {
        ReadError { path, ..self }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "BMv2 JSON, at {place}: expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for ReadError {}

/// The steps from the root; kept on the stack, and written out only for an error.
#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a Step<'a>, &'a str),
    Index(&'a Step<'a>, usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Root => Ok(()),
            Step::Key(parent, key) => {
                write!(f, "{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Step::Index(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

/// A value and its place.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    step: Step<'a>,
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value) -> Node<'a> {
        Node { value, step: Step::Root }
    }

    /// The complaint that `expected` is not what is here.
    pub(crate) fn error(&self, expected: impl Into<String>) -> ReadError {
        ReadError {
            path: self.step.to_string(),
            expected: expected.into(),
            found: describe(self.value),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub(crate) fn is_object(&self) -> bool {
        self.value.is_object()
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, ReadError> {
        self.value.as_object().ok_or_else(|| self.error("an object"))
    }

    /// The member `key`, which must be there.
    pub(crate) fn member<T>(
        &self,
        key: &str,
        read: impl FnOnce(Node<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        match self.object()?.get(key) {
            Some(value) => read(Node { value, step: Step::Key(&self.step, key) }),
            None => Err(ReadError {
                path: self.step.to_string(),
                expected: format!("a member \"{key}\""),
                found: describe(self.value),
            }),
        }
    }

    /// The member `key`, if it is there and not null.
    pub(crate) fn opt_member<T>(
        &self,
        key: &str,
        read: impl FnOnce(Node<'_>) -> Result<T, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        match self.object()?.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(Node { value, step: Step::Key(&self.step, key) }).map(Some),
        }
    }

    /// All members, in the order of the text.
    pub(crate) fn each_member<T>(
        &self,
        mut read: impl FnMut(&str, Node<'_>) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        self.object()?
            .iter()
            .map(|(key, value)| read(key, Node { value, step: Step::Key(&self.step, key) }))
            .collect()
    }

    /// All elements of an array.
    pub(crate) fn each<T>(
        &self,
        mut read: impl FnMut(Node<'_>) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        let elements = self.value.as_array().ok_or_else(|| self.error("an array"))?;
        elements
            .iter()
            .enumerate()
            .map(|(index, value)| read(Node { value, step: Step::Index(&self.step, index) }))
            .collect()
    }

    /// All elements of the array `key`; none where the member is missing.
    pub(crate) fn list<T>(
        &self,
        key: &str,
        read: impl FnMut(Node<'_>) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        Ok(self.opt_member(key, |node| node.each(read))?.unwrap_or_default())
    }

    /// How many elements an array has; 0 for anything else.
    pub(crate) fn length(&self) -> usize {
        self.value.as_array().map_or(0, Vec::len)
    }

    /// Element `index` of an array, which must be there.
    pub(crate) fn element<T>(
        &self,
        index: usize,
        read: impl FnOnce(Node<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        match self.value.as_array().and_then(|elements| elements.get(index)) {
            Some(value) => read(Node { value, step: Step::Index(&self.step, index) }),
            None => Err(self.error(format!("an array with at least {} elements", index + 1))),
        }
    }
}

/// A string.
pub(crate) fn text(node: Node<'_>) -> Result<String, ReadError> {
    node.value.as_str().map(str::to_owned).ok_or_else(|| node.error("a string"))
}

/// A truth value.
pub(crate) fn boolean(node: Node<'_>) -> Result<bool, ReadError> {
    // p4c writes 0 for the sign of a `bool` field, and the standard switch converts numbers.
    let number = node.value.as_u64().filter(|number| *number < 2).map(|number| number == 1);
    node.value.as_bool().or(number).ok_or_else(|| node.error("true or false"))
}

/// An id, a width, a size.
pub(crate) fn count(node: Node<'_>) -> Result<u32, ReadError> {
    let number = node.value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| node.error("a whole number from 0 to 4294967295"))
}

/// A priority.
pub(crate) fn integer(node: Node<'_>) -> Result<i32, ReadError> {
    let number = node.value.as_i64().and_then(|number| i32::try_from(number).ok());
    number.ok_or_else(|| node.error("a whole number of 32 bits"))
}

/// The most digits of a number: twice as many as the widest type of P4 programs that are compiled
/// here, so that arithmetic on numbers takes microseconds for any input.
const HEX_DIGITS_MAX: usize = 1 << 15;

/// A `hexstr` as a number.
pub(crate) fn hex(node: Node<'_>) -> Result<Int, ReadError> {
    if node.value.as_str().is_some_and(|text| text.len() > HEX_DIGITS_MAX) {
        return Err(node.error(format!("a number of at most {HEX_DIGITS_MAX} hexadecimal digits")));
    }
    let number = node.value.as_str().and_then(|text| Int::from_hex(text).ok());
    number.ok_or_else(|| node.error("a string of hexadecimal digits"))
}

/// A `hexstr`, or a bare number, as p4c writes two of those that it gives psa_switch's meters.
pub(crate) fn hex_or_number(node: Node<'_>) -> Result<Int, ReadError> {
    node.value.as_u64().map(Int::from).map_or_else(|| hex(node), Ok)
}

/// A `hexstr` as bytes: its length counts.
pub(crate) fn hex_bytes(node: Node<'_>) -> Result<Vec<u8>, ReadError> {
    let expected = "a string of hexadecimal digits";
    let text = node.value.as_str().ok_or_else(|| node.error(expected))?;
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_owned() };
    padded
        .as_bytes()
        .chunks(2)
        .map(|pair| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let byte = digit(pair[0])? << 4 | digit(pair[1])?;
            u8::try_from(byte).ok()
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| node.error(expected))
}

/// A value in few words: what a person would look for at the place.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => {
            let shown: String = text.chars().take(40).collect();
            format!("the string {shown:?}{}", if shown.len() < text.len() { "..." } else { "" })
        }
        Value::Array(elements) => format!("an array of {} elements", elements.len()),
        Value::Object(members) => {
            let keys: Vec<&str> = members.keys().map(String::as_str).take(6).collect();
            format!("an object with the members {}", keys.join(", "))
        }
    }
}
