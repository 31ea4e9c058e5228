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
    pub(crate) seal: Option<Seal>,
}

/// What somebody noted about the last bytes of a frame, for somebody who gets it later: the sum of
/// its payload, say, which need not be computed again as long as the payload is the same.
///
/// It is carried through the switch unread, and lost as soon as one of those bytes may have changed
/// or is not where it was from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// How many bytes it covers.
    pub length_bytes: u32,
    /// The note.
    pub value: u64,
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
        Frame { memory, start: HEADROOM, seal: None }
    }

    /// What goes over the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }

    /// What goes over the wire, to be changed in place. Breaks the seal.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.seal = None;
        &mut self.memory[self.start..]
    }

    /// The bytes in front of what is sealed, to be changed in place; without a seal, all.
    pub fn head_mut(&mut self) -> &mut [u8] {
        let sealed = self.seal.map_or(0, |seal| seal.length_bytes as usize);
        let end = self.memory.len().saturating_sub(sealed).max(self.start);
        &mut self.memory[self.start..end]
    }

    /// What is noted about the frame's last bytes.
    pub fn seal(&self) -> Option<Seal> {
        self.seal
    }

    /// Notes something about the frame's last bytes, or nothing.
    pub fn set_seal(&mut self, seal: Option<Seal>) {
        self.seal = seal.filter(|seal| seal.length_bytes as usize <= self.bytes().len());
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

    #[test]
    fn a_seal_holds_while_only_the_bytes_in_front_of_it_change() {
        let mut frame = Frame::new(&[1, 2, 3, 4]);
        let seal = Seal { length_bytes: 3, value: 9 };
        frame.set_seal(Some(seal));
        assert_eq!(frame.head_mut(), [1]);
        assert_eq!(frame.seal(), Some(seal));
        frame.flip_bit(0);
        assert_eq!(frame.seal(), None);
        frame.set_seal(Some(Seal { length_bytes: 5, value: 9 }));
        assert_eq!(frame.seal(), None, "there are not so many bytes");
    }
}
