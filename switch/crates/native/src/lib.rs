//! The pipeline's program as machine code of the processor it runs on.
//!
//! `pipeline` describes a program in a few words, [`pipeline::native::Source`]; here they become
//! five functions: the controls, the parser's states, the checksums verified and updated, and the
//! headers put back onto the wire. All offsets, masks and constants are in the instructions, so a
//! field is read in two or three of them, and no step tests its own kind.
//!
//! ```text
//!   pipeline ── control(area, start) ──▶ machine ── leave(point, key) ───▶ interpreter: tables,
//!            ◀───────── done ─────────── code    ◀── (point, parameters) ─ hashes, stacks, wide
//!                                                                          numbers ...
//! ```
//!
//! Machine code calls nothing but the interpreter, allocates nothing and returns after a bounded
//! number of instructions; its memory accesses are to offsets that were checked when it was made.
//! `code` is the only file with `unsafe`: it maps the memory and makes the calls.
//!
//! To use it, hand [`compile`] to the pipeline: `Config { compile: Some(native::compile), .. }`.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod code;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod emit;

use std::sync::Arc;

use pipeline::native::{Native, Source};

/// Compiles a program for this processor. An error says why that cannot be.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn compile(source: &Source) -> Result<Arc<dyn Native>, String> {
    Ok(Arc::new(emit::program(source)?))
}

/// Compiles a program for this processor. An error says why that cannot be.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn compile(_source: &Source) -> Result<Arc<dyn Native>, String> {
    Err(format!(
        "there is machine code for Linux on x86_64 and aarch64, not for {} on {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    ))
}
