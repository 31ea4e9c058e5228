//! What the compiler's command line is made of: files for the compiler, its messages for people.
//! A library so that tests and other programs can use the pieces; `main.rs` has the arguments.

pub mod files;
pub mod render;
