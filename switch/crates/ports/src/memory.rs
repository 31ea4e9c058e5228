//! Memory for a process with a thread that must not wait for it.
//!
//! That thread takes and gives back memory for controllers. Now and then the C library's allocator
//! tidies up small pieces that were given back, and hands large pieces to the kernel: either takes
//! milliseconds, and no packet moves meanwhile. mimalloc gives back to other threads without a
//! lock, tidies up a page at a time, and has a setting that leaves the kernel alone: another thread
//! gives back unused memory, [`give_back`]. `make bench-control` shows the difference.

use std::ffi::{c_int, c_long};

pub use mimalloc::MiMalloc as Allocator;

/// mimalloc.h: after how many milliseconds unused memory goes back to the kernel, on the next
/// thread that passes; -1: never, and it is not remembered which memory that is.
const PURGE_DELAY: c_int = 15;

/// Longer than any switch runs, so that no thread ever does it in passing.
const FOREVER_MS: c_long = 100 * 365 * 24 * 3600 * 1000;

unsafe extern "C" {
    /// mimalloc.h; of the library that [`Allocator`] is.
    safe fn mi_option_set(option: c_int, value: c_long);
    safe fn mi_collect(force: bool);
}

/// Keeps memory from the kernel for later use, until [`give_back`]. Giving back a large table's
/// memory takes up to 20 ms, at once, on the thread that does so.
pub fn keep() {
    mi_option_set(PURGE_DELAY, FOREVER_MS);
}

/// Gives unused memory back to the kernel: on a thread that may take its time.
pub fn give_back() {
    mi_collect(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        safe fn mi_option_get(option: c_int) -> c_long;
    }

    /// The number of the option is right: its delay is the one that the library documents, until it
    /// is set.
    #[test]
    fn memory_goes_back_to_the_kernel_until_it_is_to_be_kept() {
        assert_eq!(mi_option_get(PURGE_DELAY), 1000);
        keep();
        assert_eq!(mi_option_get(PURGE_DELAY), FOREVER_MS);
    }
}
