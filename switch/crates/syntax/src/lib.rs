//! P4-16 from text to syntax tree: preprocessor, lexer, parser.
//!
//! ```text
//! text -- preprocessor (with lexer) --> tokens -- parser --> tree
//! ```
//!
//! No name is resolved and no type is known here; the crate `compiler` checks that a program is
//! legal P4. Things that both need live here: places in the source ([`source`]) and messages about
//! them ([`diagnostic`]).

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
