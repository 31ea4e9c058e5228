//! The bytes of frames, handed on without being copied.
//!
//! A [`Frame`] owns its memory. Port, line, program and queue pass it on as a pointer; its last
//! user gives it to a [`Pool`], from which the next one is made. A pool belongs to a device, and
//! outlives the programs that are loaded into it; a frame may end in another pool than it came
//! from. [`PcapngWriter`] writes captures of them.

mod frame;
mod pcapng;
mod pool;

pub use frame::{Frame, HEADROOM, Seal};
pub use pcapng::{CapturedFrame, PcapngWriter, Verdict};
pub use pool::Pool;
