//! The integration tests as one program, so that they are linked once.

mod common;
mod externs;
mod forms;
mod robustness;
