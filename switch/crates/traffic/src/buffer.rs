//! The shared buffer in action: how much of it is taken, and who may take more.

use units::Bytes;

use crate::config::{BufferConfig, BufferShare};

/// The books of the shared part; what a queue holds within its guaranteed minimum is not in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedBuffer {
    /// The shared part: all but the guaranteed minima.
    size: Bytes,
    used: Bytes,
}

impl SharedBuffer {
    pub fn new(config: BufferConfig, minima: Bytes, used: Bytes) -> SharedBuffer {
        SharedBuffer { size: Bytes(config.size.count().saturating_sub(minima.count())), used }
    }

    /// Whether a queue that holds `held` may take `length` more.
    #[inline]
    pub fn admits(&self, share: &BufferShare, held: Bytes, length: Bytes) -> bool {
        let before = beyond_minimum(share, held);
        let after = beyond_minimum(share, held + length);
        if after == Bytes::ZERO {
            return true;
        }
        let free = self.size.count().saturating_sub(self.used.count());
        (after - before).count() <= free
            && share.alpha.is_none_or(|alpha| after.count() <= alpha.of(free))
    }

    /// A queue went from `before` to `after` bytes.
    #[inline]
    pub fn account(&mut self, share: &BufferShare, before: Bytes, after: Bytes) {
        self.used += beyond_minimum(share, after);
        self.used -= beyond_minimum(share, before);
    }
}

/// What of `held` is in the shared part.
#[inline]
pub(crate) fn beyond_minimum(share: &BufferShare, held: Bytes) -> Bytes {
    Bytes(held.count().saturating_sub(share.minimum.count()))
}
