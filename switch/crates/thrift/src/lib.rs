//! Thrift's binary protocol (thrift-binary-protocol.md of Apache Thrift): calls in, replies out.
//!
//! No code is generated from an interface here: a struct is its fields by number ([`Struct`]), and
//! the server of an interface takes out the fields that it knows. Unknown ones are skipped, as
//! Thrift requires.
//!
//! Messages follow each other on the stream without anything between them, so that only a message
//! itself says where it ends. A [`CallReader`] is given what has arrived and says whether a whole
//! message is there; it reads no value twice. Everything is bounded: the length of a message, how many
//! values it has, and how deep they nest.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

pub mod message;
mod read;
mod value;
mod write;

pub use message::{ApplicationError, ApplicationErrorKind, Call, CallReader, Reply};
pub use read::ProtocolError;
pub use value::{Map, Struct, Type, Value};
