//! The shared buffer at run time: its occupancy, and how much each queue may still take.

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
        let free = self.free().count();
        (after - before).count() <= free
            && share.alpha.is_none_or(|alpha| after.count() <= alpha.of(free))
    }

    /// How much a queue that holds `held` may hold at this instant: it takes a packet if it holds no
    /// more with it.
    pub fn threshold(&self, share: &BufferShare, held: Bytes) -> Bytes {
        let free = self.free();
        let most = beyond_minimum(share, held).count() + free.count();
        let granted = share.alpha.map_or(u64::MAX, |alpha| alpha.of(free.count()));
        share.minimum + Bytes(most.min(granted))
    }

    /// The size of the shared part.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// The free space of the shared part.
    pub fn free(&self) -> Bytes {
        Bytes(self.size.count().saturating_sub(self.used.count()))
    }

    /// A queue went from `before` to `after` bytes.
    #[inline]
    pub fn account(&mut self, share: &BufferShare, before: Bytes, after: Bytes) {
        self.used += beyond_minimum(share, after);
        self.used -= beyond_minimum(share, before);
    }
}

/// The bytes of `held` that count in the shared part.
#[inline]
pub(crate) fn beyond_minimum(share: &BufferShare, held: Bytes) -> Bytes {
    Bytes(held.count().saturating_sub(share.minimum.count()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Ratio;

    use super::*;

    proptest! {
        /// The number that is shown is the one that decides.
        #[test]
        fn a_queue_takes_a_packet_if_it_holds_no_more_than_its_threshold_with_it(
            (size, others) in (1..9000u64).prop_flat_map(|size| (Just(size), 0..=size)),
            alpha in prop::option::of(1..8u32),
            minimum in 0..2000u64,
            held in 0..3000u64,
            length in 1..1500u64,
        ) {
            let alpha = alpha.and_then(|alpha| Ratio::new(alpha, 4));
            let share = BufferShare { alpha, minimum: Bytes(minimum) };
            let used = Bytes(others) + beyond_minimum(&share, Bytes(held));
            let buffer = SharedBuffer { size: Bytes(size), used };
            let fits = Bytes(held + length) <= buffer.threshold(&share, Bytes(held));
            prop_assert_eq!(buffer.admits(&share, Bytes(held), Bytes(length)), fits);
        }
    }
}
