//! From the syntax tree to the typed tree: names, types, constants, semantic checks.

mod check;
pub mod constant;
// As in the tree.
#[allow(missing_docs)]
pub mod index;
mod lint;
// What a name says by itself carries no comment.
#[allow(missing_docs)]
pub mod tree;

pub use check::{check, check_with_index};
pub use lint::lint;
