//! Any bytes as everything that strangers send. Each module here offers them to one part of the kit,
//! which has to read or refuse them; a panic is a defect, and so is what takes too long or too much.
//!
//! Two ask: the fuzzers (`switch/fuzz`, `make fuzz`), which look for new bytes, and
//! `tests/corpus.rs`, which offers in every `make test` what is kept of those:
//!
//! ```text
//!   corpus/NAME   what takes all the ways through the code that fuzzers have found; `make corpus`
//!                 writes it anew, as small as it gets
//!   broke/NAME    what once broke something; each stays for good, under a line that says what
//! ```
//!
//! Both are text, an input a line, as [`spelling`] says.

pub mod json;
pub mod messages;
pub mod p4info;
pub mod packets;
pub mod source;
pub mod spelling;
pub mod stf;
pub mod super_packets;
pub mod thrift;
pub mod world;

// The drivers of the crates' own tests.
#[path = "../../stage/tests/rig/mod.rs"]
mod rig;
#[path = "../../agent/tests/support/mod.rs"]
mod support;
#[path = "../../pipeline/tests/common/switching.rs"]
mod switching;
