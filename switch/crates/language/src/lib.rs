//! Answers to editors' questions about a P4 program, for a language server and a web page.
//!
//! ```text
//!   Sources  -> Study::of -> diagnostics, meaning, definition, uses, outline
//!            -> complete     what could stand at a place
//!            -> rename       the changes that give a thing another name
//!   a text   -> format       the same tokens, laid out
//! ```
//!
//! One engine answers all of it: the compiler. Its checker writes down what every name stands for, and
//! for completion it is shown the text with a name at the cursor that nothing can have, and says what
//! else it would have known there. So nothing here has an opinion of its own about P4, and programs that
//! are being typed are answered as far as the parser gets with them.
//!
//! Places are bytes of a file, as in `syntax`; [`place`] turns them into what editors count in.

mod comment;
mod complete;
mod format;
mod meaning;
pub mod place;
mod rename;
mod study;
mod surroundings;
mod words;

pub use complete::{Completion, Completions, complete};
pub use format::format;
pub use meaning::Meaning;
pub use rename::{Change, rename};
pub use study::{Sources, Study, plain};
