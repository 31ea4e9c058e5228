//! What the compiler's command line is made of: arguments, files for the compiler, its messages for
//! people. A library so that tests and other programs can use the pieces.

pub mod arguments;
pub mod files;
pub mod render;
pub mod run;
