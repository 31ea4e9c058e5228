//! Frames that are dealt with soon, asked for before they are.
//!
//! The frames of a long list have left the processor's caches by the time they are needed. They are
//! prefetched several at a time, which takes as long as one.

use units::{Distance, HasLength};

const AT_ONCE: usize = 8;

/// The number of frames already prefetched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead(usize);

impl Ahead {
    /// The first of `waiting` will be dealt with next.
    #[inline]
    pub fn approach<'a, P: HasLength + 'a>(&mut self, mut waiting: impl Iterator<Item = &'a P>) {
        if self.0 > 0 {
            self.0 -= 1;
            return;
        }
        self.0 = AT_ONCE - 1;
        waiting.by_ref().take(AT_ONCE).for_each(|packet| packet.approach(Distance::Near));
        waiting.take(AT_ONCE).for_each(|packet| packet.approach(Distance::Far));
    }
}
