//! `bit<N>` and `int<N>` at any width.
//!
//! * [`Int`] is a whole number without bounds: what P4 calls `int`, and what the standard switch
//!   computes with. Fixed-width types appear only where a number is stored: [`Int::truncate`]
//!   wraps to `bit<N>`, [`Int::wrap_signed`] to `int<N>`, and the `saturate_*` pair clamps.
//! * [`canonical`] and [`from_canonical`] convert to and from P4Runtime's byte strings: big-endian,
//!   no leading zero byte.
//!
//! Numbers of up to 320 bits live in place; only wider ones touch the heap. Fast paths for fields
//! of up to 64 bits belong to those who need them (`pipeline`), not here.

mod bytes;
mod divide;
mod int;
mod text;

pub use bytes::{ValueError, canonical, from_canonical};
pub use int::Int;
pub use text::ParseIntError;

/// How many bytes `width_bits` bits occupy.
pub const fn byte_count(width_bits: usize) -> usize {
    width_bits.div_ceil(8)
}

/// The lowest `width_bits` bits set; all of them from 64 upward.
pub const fn mask64(width_bits: usize) -> u64 {
    if width_bits >= 64 { u64::MAX } else { (1 << width_bits) - 1 }
}
