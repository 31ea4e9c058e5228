//! From the syntax tree to the typed tree: names, types, constants, semantic checks.

mod check;
pub mod constant;
pub mod index;
mod lint;
pub mod tree;

pub use check::{check, check_with_index};
pub use lint::lint;
