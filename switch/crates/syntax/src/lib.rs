//! P4-16 from text to syntax tree: preprocessor, lexer, parser.
//!
//! ```text
//! text -- preprocessor (with lexer) --> tokens -- parser --> tree
//! ```
//!
//! No name is resolved and no type is known here; that a program is legal P4 is for the crate
//! `compiler` to say. What both need lives here: where things stand in the source ([`source`]) and
//! what is said about them ([`diagnostic`]).

#![allow(
    missing_docs,
    reason = "a name and a type say enough of most fields; comments are for why"
)]

pub mod diagnostic;
mod directives;
pub mod lexer;
pub mod parser;
pub mod preprocessor;
pub mod source;
pub mod suggest;
pub mod token;
pub mod tree;

pub use diagnostic::{Diagnostic, Diagnostics, Fix, Label, Severity};
pub use source::{FileId, Location, SourceError, SourceMap, SourceProvider, Span};
