//! From text to the syntax tree: preprocessor, lexer, parser.

pub mod tree;
