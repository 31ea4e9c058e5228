//! P4-16 for the v1model architecture, from source text to BMv2 JSON and P4Info.
//!
//! ```text
//! text -- syntax --> syntax tree -- types --> typed tree -- lower --> bmv2 + p4info
//! ```
//!
//! A library without side effects: no file is opened (texts come through a [`SourceProvider`]),
//! nothing is printed (messages are [`Diagnostic`]s), no input makes it panic. The first arrow is a
//! crate of its own, `syntax`.

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

mod architecture;
mod compile;
mod front;
pub mod lower;
pub mod types;

pub use compile::{Options, Output, compile};
pub use front::{Front, Reading, analyse, read};
pub use syntax::preprocessor::{FILE_SIZE_BYTES_MAX, PreprocessorOptions};
pub use syntax::{
    Diagnostic, Fix, Label, Location, Severity, SourceError, SourceMap, SourceProvider, Span,
};
pub use types::index;
