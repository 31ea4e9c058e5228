//! The virtual world and the compiler in a web page: bytes in, bytes out.
//!
//! A page's worker owns this module and carries the same frames to it that a socket carries to the
//! glass's server, so the page above cannot tell the two apart. Programs are interpreted.
//!
//! ```text
//!   frames of the page -> frames -> Page -> calls -> agent::front, stage::Front -> Stage
//!   P4 texts           -> compiling -> messages about them, and the program for a router
//!   places in them     -> editing   -> completions, meaning, declaration
//!   packet tests       -> testing   -> differences from the expectation
//!   bytes of a packet  -> dissecting -> its headers, and the possible next ones
//! ```
//!
//! ```text
//!   exports.rs    the functions that the worker calls; bytes lie in two buffers
//!   frames.rs     frames to calls and messages, and back
//!   page.rs       Page: the calls that are under way, and time
//!   calls.rs      a method's name to what answers it
//!   texts.rs      the texts of a program, and places in them
//!   compiling.rs  texts to a forwarding configuration and diagnostics
//!   editing.rs    what an editor asks of texts
//!   testing.rs    packet tests, run on a program
//!   dissecting.rs a packet as the program's parser sees it
//! ```

mod calls;
pub mod compiling;
pub mod dissecting;
pub mod editing;
#[cfg(target_arch = "wasm32")]
mod exports;
pub mod frames;
mod page;
pub mod testing;
mod texts;

pub use page::Page;
