//! Memory of frames that are done with, for those that come.

use crate::frame::Frame;

/// Frames kept: as many as are between two ports at any time, and more.
const SPARE_MAX: usize = 4096;

/// Frames that a pool keeps for itself when it shares.
const SHARED_ABOVE: usize = 64;

/// Frames to be used again.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    spare: Vec<Frame>,
}

impl Pool {
    /// A frame of these bytes, one part behind the other, in memory that was given back.
    #[inline]
    pub fn frame_of(&mut self, parts: [&[u8]; 2]) -> Frame {
        let mut frame = self.spare();
        frame.fill(parts);
        frame
    }

    /// A frame of anything, to be filled or put aside.
    #[inline]
    pub fn spare(&mut self) -> Frame {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives another pool what this one has more than it needs at a time.
    #[inline]
    pub fn share(&mut self, other: &mut Pool) {
        while self.spare.len() > SHARED_ABOVE
            && let Some(frame) = self.spare.pop()
        {
            other.recycle(frame);
        }
    }

    /// Takes a frame that is done with.
    #[inline]
    pub fn recycle(&mut self, frame: Frame) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(frame);
        }
    }
}
