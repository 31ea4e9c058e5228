//! Memory of frames, to be used again.
//!
//! A frame is moved from host to cable to router to host, and is never copied on its way. Where it
//! ends its memory goes back here, and where one begins it comes from here, so that a world in
//! steady state allocates nothing.

use device::Frame;

/// How many memories are kept; beyond that they are freed.
const SPARE_MAX: usize = 1 << 16;

/// The pool of a world.
#[derive(Debug, Default)]
pub struct Frames {
    spare: Vec<Frame>,
}

impl Frames {
    /// A frame of these bytes.
    pub fn frame(&mut self, bytes: &[u8]) -> Frame {
        self.write(|frame| frame.extend_from_slice(bytes))
    }

    /// A frame of what `write` appends; what it finds there is not its own.
    #[inline]
    pub fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Frame {
        let mut frame = self.spare.pop().unwrap_or_else(|| Frame::new(&[]));
        frame.rewrite(write);
        frame
    }

    /// Takes back a frame that is done with.
    #[inline]
    pub fn recycle(&mut self, frame: Frame) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(frame);
        }
    }
}
