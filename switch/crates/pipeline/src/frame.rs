//! A frame: bytes on a wire or at a port, before the parser and after the deparser.
//!
//! It owns its memory, with room in front of the bytes. Becoming a packet and a frame again moves
//! the memory and copies nothing, so a long line full of frames costs one copy each, the one from
//! the port.

use units::{Bytes, HasLength};

/// Room in front of a frame, so that added headers need not move it.
pub(crate) const HEADROOM: usize = 128;

/// The bytes of one frame.
///
/// ```text
///   memory:  [ room | bytes of the frame ]
///                    ^start
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub(crate) memory: Vec<u8>,
    pub(crate) start: usize,
}

impl Frame {
    /// A frame of these bytes in memory of its own.
    pub fn new(bytes: &[u8]) -> Frame {
        Frame::within(Vec::new(), bytes)
    }

    /// A frame of these bytes in memory that has been used before.
    pub(crate) fn within(mut memory: Vec<u8>, bytes: &[u8]) -> Frame {
        // What stands in the room in front is never read: it is written over or left out.
        if memory.len() < HEADROOM {
            memory.reserve(HEADROOM + bytes.len());
            memory.resize(HEADROOM, 0);
        }
        memory.truncate(HEADROOM);
        memory.extend_from_slice(bytes);
        Frame { memory, start: HEADROOM }
    }

    /// What goes over the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    /// What goes over the wire, to be changed in place.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }

    /// Turns over one bit, counted from the first of the frame; beyond the end there is none.
    pub fn flip_bit(&mut self, bit: u64) {
        let place = usize::try_from(bit / 8).ok();
        if let Some(byte) = place.and_then(|place| self.bytes_mut().get_mut(place)) {
            *byte ^= 0x80 >> (bit % 8);
        }
    }
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl HasLength for Frame {
    fn length(&self) -> Bytes {
        Bytes(self.bytes().len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_count_from_the_first_byte_and_its_highest_bit() {
        let mut frame = Frame::new(&[0, 0, 0]);
        frame.flip_bit(0);
        frame.flip_bit(15);
        frame.flip_bit(24);
        assert_eq!(frame.bytes(), [0x80, 0x01, 0]);
        assert_eq!(frame.length(), Bytes(3));
    }
}
