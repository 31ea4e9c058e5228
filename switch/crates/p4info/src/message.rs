//! The types of a message's fields, and the macro that makes a message from its table of fields.
//!
//! ```text
//! message! {
//!     /// One line of documentation.
//!     pub struct Preamble {
//!         [1] id: u32,                     an ordinary field: number, name, type
//!         ...
//!         [oneof] kind: Option<Kind>,      a oneof: its numbers are in the enum made by oneof!
//!     }
//! }
//! ```
//! Rows stand in the order of their numbers, because both forms are written in row order.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::json::base64;
use crate::text::Printer;
use crate::wire::{DecodeError, Reader, Value, put_bytes_field, put_varint, put_varint_field};

/// Nesting of the deepest P4Info is about ten; a hostile message must not exhaust the stack.
const DEPTH_MAX: u32 = 64;

/// A protobuf message.
pub trait Message: Default {
    /// Appends the binary form.
    fn encode(&self, out: &mut Vec<u8>);
    /// Prints the fields, one or more lines each.
    fn print(&self, printer: &mut Printer);
    /// The fields that JSON has of it.
    fn json(&self) -> Map<String, Json>;
    /// Takes one field that stood on the wire; unknown numbers are ignored.
    fn merge(&mut self, number: u32, value: Value<'_>, depth: u32) -> Result<(), DecodeError>;

    /// The binary form.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    /// The text form, without the comment lines of a file.
    fn to_text(&self) -> String {
        let mut printer = Printer::default();
        self.print(&mut printer);
        printer.finish()
    }

    /// The JSON form.
    fn to_json(&self) -> String {
        format!("{:#}\n", Json::Object(self.json()))
    }

    /// Reads the binary form.
    fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut message = Self::default();
        merge_bytes(&mut message, bytes, 0)?;
        Ok(message)
    }
}

fn merge_bytes<M: Message>(message: &mut M, bytes: &[u8], depth: u32) -> Result<(), DecodeError> {
    if depth > DEPTH_MAX {
        return Err(DecodeError::TooDeep);
    }
    let mut reader = Reader::new(bytes);
    while let Some((number, value)) = reader.field()? {
        message.merge(number, value, depth)?;
    }
    Ok(())
}

/// A type that can stand in a row of a message's table. Absent values print and encode nothing.
pub trait Field {
    fn encode(&self, number: u32, out: &mut Vec<u8>);
    fn print(&self, name: &str, printer: &mut Printer);
    fn json(&self) -> Option<Json>;
    fn merge(&mut self, value: Value<'_>, depth: u32) -> Result<(), DecodeError>;
}

/// The alternatives of a `oneof`, made by [`oneof!`].
pub trait Oneof: Sized {
    fn encode(&self, out: &mut Vec<u8>);
    fn print(&self, printer: &mut Printer);
    /// The alternative's name in the text form, and its value.
    fn json(&self) -> (&'static str, Json);
    /// The alternative that has this number, if one has.
    fn read(number: u32, value: Value<'_>, depth: u32) -> Result<Option<Self>, DecodeError>;
}

// Zero is not written: proto3 cannot tell it from "not set". Negative values take ten bytes,
// sign-extended to 64 bits, as the format prescribes for int32 and int64.
macro_rules! integer_fields {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn encode(&self, number: u32, out: &mut Vec<u8>) {
                if *self != 0 {
                    put_varint_field(out, number, *self as i64 as u64);
                }
            }

            fn print(&self, name: &str, printer: &mut Printer) {
                if *self != 0 {
                    printer.scalar(name, self);
                }
            }

            /// JSON readers keep no more than 53 bits of a number, so long ones are strings.
            fn json(&self) -> Option<Json> {
                (*self != 0).then(|| match <$type>::BITS {
                    64 => Json::from(self.to_string()),
                    _ => Json::from(*self),
                })
            }

            fn merge(&mut self, value: Value<'_>, _depth: u32) -> Result<(), DecodeError> {
                *self = value.varint()? as $type;
                Ok(())
            }
        }
    )*};
}

integer_fields!(u32, i32, i64);

impl Field for bool {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        if *self {
            put_varint_field(out, number, 1);
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        if *self {
            printer.scalar(name, self);
        }
    }

    fn json(&self) -> Option<Json> {
        self.then_some(Json::Bool(true))
    }

    fn merge(&mut self, value: Value<'_>, _depth: u32) -> Result<(), DecodeError> {
        *self = value.varint()? != 0;
        Ok(())
    }
}

impl Field for String {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        if !self.is_empty() {
            put_bytes_field(out, number, self.as_bytes());
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        if !self.is_empty() {
            printer.bytes(name, self.as_bytes());
        }
    }

    fn json(&self) -> Option<Json> {
        (!self.is_empty()).then(|| Json::from(self.as_str()))
    }

    fn merge(&mut self, value: Value<'_>, _depth: u32) -> Result<(), DecodeError> {
        *self = utf8(value)?;
        Ok(())
    }
}

fn utf8(value: Value<'_>) -> Result<String, DecodeError> {
    let text = std::str::from_utf8(value.bytes()?).map_err(|_| DecodeError::NotUtf8)?;
    Ok(text.to_owned())
}

/// A `bytes` field: the value of a match, an argument or an enumerator, big-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Field for Bytes {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        if !self.0.is_empty() {
            put_bytes_field(out, number, &self.0);
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        if !self.0.is_empty() {
            printer.bytes(name, &self.0);
        }
    }

    fn json(&self) -> Option<Json> {
        (!self.0.is_empty()).then(|| Json::from(base64(&self.0)))
    }

    fn merge(&mut self, value: Value<'_>, _depth: u32) -> Result<(), DecodeError> {
        self.0 = value.bytes()?.to_vec();
        Ok(())
    }
}

impl Field for Vec<String> {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        for text in self {
            put_bytes_field(out, number, text.as_bytes());
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        for text in self {
            printer.bytes(name, text.as_bytes());
        }
    }

    fn json(&self) -> Option<Json> {
        list(self.iter().map(|text| Json::from(text.as_str())))
    }

    fn merge(&mut self, value: Value<'_>, _depth: u32) -> Result<(), DecodeError> {
        self.push(utf8(value)?);
        Ok(())
    }
}

impl Field for Vec<u32> {
    /// Packed: one length-delimited field with all the numbers, as proto3 writes them.
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        if self.is_empty() {
            return;
        }
        let mut packed = Vec::new();
        for &value in self {
            put_varint(&mut packed, u64::from(value));
        }
        put_bytes_field(out, number, &packed);
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        for value in self {
            printer.scalar(name, value);
        }
    }

    fn json(&self) -> Option<Json> {
        list(self.iter().map(|number| Json::from(*number)))
    }

    /// Readers must take the unpacked form too.
    fn merge(&mut self, value: Value<'_>, _depth: u32) -> Result<(), DecodeError> {
        if let Value::Varint(value) = value {
            self.push(value as u32);
            return Ok(());
        }
        let mut reader = Reader::new(value.bytes()?);
        while !reader.is_empty() {
            self.push(reader.varint()? as u32);
        }
        Ok(())
    }
}

/// A list in JSON; nothing where it is empty.
fn list(elements: impl Iterator<Item = Json>) -> Option<Json> {
    let elements: Vec<Json> = elements.collect();
    (!elements.is_empty()).then_some(Json::Array(elements))
}

/// Writes a message field, present even when the message is empty.
pub fn encode_message<M: Message>(message: &M, number: u32, out: &mut Vec<u8>) {
    put_bytes_field(out, number, &message.to_bytes());
}

/// Reads a message that is one alternative of a oneof or one element of a list.
pub fn read_message<M: Message>(value: Value<'_>, depth: u32) -> Result<M, DecodeError> {
    let mut message = M::default();
    merge_bytes(&mut message, value.bytes()?, depth + 1)?;
    Ok(message)
}

impl<M: Message> Field for Option<M> {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        if let Some(message) = self {
            encode_message(message, number, out);
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        if let Some(message) = self {
            printer.message(name, |printer| message.print(printer));
        }
    }

    fn json(&self) -> Option<Json> {
        self.as_ref().map(|message| Json::Object(message.json()))
    }

    fn merge(&mut self, value: Value<'_>, depth: u32) -> Result<(), DecodeError> {
        merge_bytes(self.get_or_insert_default(), value.bytes()?, depth + 1)
    }
}

impl<M: Message> Field for Vec<M> {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        for message in self {
            encode_message(message, number, out);
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        for message in self {
            printer.message(name, |printer| message.print(printer));
        }
    }

    fn json(&self) -> Option<Json> {
        list(self.iter().map(|message| Json::Object(message.json())))
    }

    fn merge(&mut self, value: Value<'_>, depth: u32) -> Result<(), DecodeError> {
        self.push(read_message(value, depth)?);
        Ok(())
    }
}

/// A `map<string, M>` is a repeated message of key (1) and value (2).
impl<M: Message + Clone> Field for BTreeMap<String, M> {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        for (key, message) in self {
            let mut entry = Vec::new();
            put_bytes_field(&mut entry, 1, key.as_bytes());
            encode_message(message, 2, &mut entry);
            put_bytes_field(out, number, &entry);
        }
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        for (key, message) in self {
            printer.message(name, |printer| {
                printer.bytes("key", key.as_bytes());
                printer.message("value", |printer| message.print(printer));
            });
        }
    }

    fn json(&self) -> Option<Json> {
        let entries = self.iter().map(|(key, message)| (key.clone(), message.json().into()));
        (!self.is_empty()).then(|| Json::Object(entries.collect()))
    }

    fn merge(&mut self, value: Value<'_>, depth: u32) -> Result<(), DecodeError> {
        let mut reader = Reader::new(value.bytes()?);
        let mut key = String::new();
        let mut message = M::default();
        while let Some((number, value)) = reader.field()? {
            match number {
                1 => key = utf8(value)?,
                2 => message = read_message(value, depth)?,
                _ => {}
            }
        }
        self.insert(key, message);
        Ok(())
    }
}

/// Makes a struct and its [`Message`] implementation from a table of fields.
macro_rules! message {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* [$number:tt] $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl $crate::message::Message for $name {
            #[allow(unused_variables)]
            fn encode(&self, out: &mut Vec<u8>) {
                $( $crate::message::row!(encode self $number $field out); )*
            }

            #[allow(unused_variables)]
            fn print(&self, printer: &mut $crate::text::Printer) {
                $( $crate::message::row!(print self $number $field printer); )*
            }

            #[allow(unused_mut)]
            fn json(&self) -> serde_json::Map<String, serde_json::Value> {
                let mut fields = serde_json::Map::new();
                $( $crate::message::row!(json self $number $field fields); )*
                fields
            }

            #[allow(unused_variables)]
            fn merge(
                &mut self,
                number: u32,
                value: $crate::wire::Value<'_>,
                depth: u32,
            ) -> Result<(), $crate::wire::DecodeError> {
                $( $crate::message::row!(merge self $number $field number value depth); )*
                Ok(())
            }
        }
    };
}

/// One row of a message's table, in each of the four jobs.
macro_rules! row {
    (encode $self:ident oneof $field:ident $out:ident) => {
        if let Some(one) = &$self.$field {
            $crate::message::Oneof::encode(one, $out);
        }
    };
    (encode $self:ident $number:literal $field:ident $out:ident) => {
        $crate::message::Field::encode(&$self.$field, $number, $out);
    };
    (print $self:ident oneof $field:ident $printer:ident) => {
        if let Some(one) = &$self.$field {
            $crate::message::Oneof::print(one, $printer);
        }
    };
    (print $self:ident $number:literal $field:ident $printer:ident) => {
        let name = stringify!($field);
        $crate::message::Field::print(
            &$self.$field,
            name.strip_prefix("r#").unwrap_or(name),
            $printer,
        );
    };
    (json $self:ident oneof $field:ident $fields:ident) => {
        if let Some(one) = &$self.$field {
            let (name, value) = $crate::message::Oneof::json(one);
            $fields.insert($crate::json::camel_case(name), value);
        }
    };
    (json $self:ident $number:literal $field:ident $fields:ident) => {
        if let Some(value) = $crate::message::Field::json(&$self.$field) {
            let name = stringify!($field);
            let name = name.strip_prefix("r#").unwrap_or(name);
            $fields.insert($crate::json::camel_case(name), value);
        }
    };
    (merge $self:ident oneof $field:ident $found:ident $value:ident $depth:ident) => {
        if let Some(one) = $crate::message::Oneof::read($found, $value, $depth)? {
            $self.$field = Some(one);
        }
    };
    (merge $self:ident $number:literal $field:ident $found:ident $value:ident $depth:ident) => {
        if $found == $number {
            $crate::message::Field::merge(&mut $self.$field, $value, $depth)?;
        }
    };
}

/// Makes the enum of a `oneof` whose alternatives are messages: number, protobuf name, variant.
macro_rules! oneof {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $number:literal $text:literal $variant:ident($type:ty), )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant($type), )*
        }

        impl $crate::message::Oneof for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $( $name::$variant(value) => {
                        $crate::message::Alternative::encode(value, $number, out)
                    } )*
                }
            }

            fn print(&self, printer: &mut $crate::text::Printer) {
                match self {
                    $( $name::$variant(value) => {
                        $crate::message::Alternative::print(value, $text, printer)
                    } )*
                }
            }

            fn json(&self) -> (&'static str, serde_json::Value) {
                match self {
                    $( $name::$variant(value) => {
                        ($text, $crate::message::Alternative::json(value))
                    } )*
                }
            }

            fn read(
                number: u32,
                value: $crate::wire::Value<'_>,
                depth: u32,
            ) -> Result<Option<Self>, $crate::wire::DecodeError> {
                Ok(match number {
                    $( $number => Some($name::$variant(
                        $crate::message::Alternative::read(value, depth)?,
                    )), )*
                    _ => None,
                })
            }
        }
    };
}

/// A value inside a `oneof`: unlike an ordinary field it is written even when it is zero, because
/// its presence is the information.
pub trait Alternative: Sized {
    fn encode(&self, number: u32, out: &mut Vec<u8>);
    fn print(&self, name: &str, printer: &mut Printer);
    fn json(&self) -> Json;
    fn read(value: Value<'_>, depth: u32) -> Result<Self, DecodeError>;
}

impl<M: Message> Alternative for M {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        encode_message(self, number, out);
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        printer.message(name, |printer| Message::print(self, printer));
    }

    fn json(&self) -> Json {
        Json::Object(Message::json(self))
    }

    fn read(value: Value<'_>, depth: u32) -> Result<Self, DecodeError> {
        read_message(value, depth)
    }
}

macro_rules! scalar_alternatives {
    ($($type:ty, $zero:literal);*) => {$(
        impl Alternative for $type {
            fn encode(&self, number: u32, out: &mut Vec<u8>) {
                put_varint_field(out, number, *self as i64 as u64);
            }

            fn print(&self, name: &str, printer: &mut Printer) {
                printer.scalar(name, self);
            }

            fn json(&self) -> Json {
                Field::json(self).unwrap_or(Json::from($zero))
            }

            fn read(value: Value<'_>, _depth: u32) -> Result<Self, DecodeError> {
                let mut read = <$type>::default();
                Field::merge(&mut read, value, 0)?;
                Ok(read)
            }
        }
    )*};
}

// With how JSON writes what the field leaves out.
scalar_alternatives!(bool, false; i32, 0; i64, "0");

impl Alternative for String {
    fn encode(&self, number: u32, out: &mut Vec<u8>) {
        put_bytes_field(out, number, self.as_bytes());
    }

    fn print(&self, name: &str, printer: &mut Printer) {
        printer.bytes(name, self.as_bytes());
    }

    fn json(&self) -> Json {
        Json::from(self.as_str())
    }

    fn read(value: Value<'_>, _depth: u32) -> Result<Self, DecodeError> {
        utf8(value)
    }
}

/// Makes a C-like enum; its first row is the zero that is never written. A number that a newer
/// schema added reads as that zero.
macro_rules! enumeration {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(#[$zero_meta:meta])* 0 $zero_text:literal $zero:ident,
            $( $(#[$variant_meta:meta])* $number:literal $text:literal $variant:ident, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $(#[$zero_meta])*
            #[default]
            $zero = 0,
            $( $(#[$variant_meta])* $variant = $number, )*
        }

        impl $crate::message::Field for $name {
            fn encode(&self, number: u32, out: &mut Vec<u8>) {
                if *self != $name::$zero {
                    $crate::wire::put_varint_field(out, number, *self as u64);
                }
            }

            fn print(&self, name: &str, printer: &mut $crate::text::Printer) {
                match self {
                    $name::$zero => {}
                    $( $name::$variant => printer.scalar(name, $text), )*
                }
            }

            fn json(&self) -> Option<serde_json::Value> {
                match self {
                    $name::$zero => None,
                    $( $name::$variant => Some($text.into()), )*
                }
            }

            fn merge(
                &mut self,
                value: $crate::wire::Value<'_>,
                _depth: u32,
            ) -> Result<(), $crate::wire::DecodeError> {
                *self = match value.varint()? {
                    $( $number => $name::$variant, )*
                    _ => $name::$zero,
                };
                Ok(())
            }
        }
    };
}

pub(crate) use {enumeration, message, oneof, row};
