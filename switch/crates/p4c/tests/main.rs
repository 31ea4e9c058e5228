//! The integration tests as one program, so that they are linked once.

mod command_line;
mod diagnostics;
mod garbage;
mod lsp;
mod tools;
