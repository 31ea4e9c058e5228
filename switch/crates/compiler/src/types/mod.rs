//! From the syntax tree to the typed tree: names, types, constants, semantic checks.

pub mod tree;
