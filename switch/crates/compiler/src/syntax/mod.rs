//! From text to the syntax tree: preprocessor, lexer, parser.

pub mod lexer;
pub mod parser;
pub mod preprocessor;
pub mod token;
pub mod tree;
