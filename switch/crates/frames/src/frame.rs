//! A frame: bytes on a wire or at a port, before the parser and after the deparser.
//!
//! It owns its memory, with room in front of the bytes. Becoming a packet and a frame again moves
//! the memory and copies nothing, so a long line full of frames costs one copy each, the one from
//! the port.

use std::hint::black_box;

use units::{Bytes, Distance, HasLength};

/// Room in front of a frame, so that added headers need not move it.
pub const HEADROOM: usize = 128;

/// The bytes of one frame.
///
/// ```text
///   memory:  [ room | bytes of the frame ]
///                    ^start
/// ```
///
/// A frame goes from port to line to program to port, so what is moved is a pointer. It is more than
/// fewer bytes: a larger structure that is read as a whole right after its parts were written waits
/// until the processor has put away all that was written before, and that is the frame's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame(Box<Memory>);

/// The target of a [`Frame`]'s pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Memory {
    bytes: Vec<u8>,
    /// Where the frame begins. Inside a packet, the packet knows better.
    start: usize,
    seal: Option<Seal>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { bytes: Vec::new(), start: HEADROOM, seal: None }
    }
}

/// A sender's note on the last bytes of a frame, for its receiver: the sum of its payload, say,
/// which need not be computed again as long as the payload is the same.
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
        let mut frame = Frame::default();
        frame.fill([bytes, &[]]);
        frame
    }

    /// Becomes a frame of these bytes, one part behind the other.
    #[inline]
    pub fn fill(&mut self, parts: [&[u8]; 2]) {
        let Memory { bytes, start, seal } = &mut *self.0;
        // The contents of the room in front are never read: they are written over or left out.
        if bytes.len() < HEADROOM {
            bytes.reserve(HEADROOM + parts[0].len() + parts[1].len());
            bytes.resize(HEADROOM, 0);
        }
        bytes.truncate(HEADROOM);
        parts.into_iter().for_each(|part| bytes.extend_from_slice(part));
        (*start, *seal) = (HEADROOM, None);
    }

    /// Becomes a frame of this many bytes and hands them out to be written over: their contents are
    /// left from before.
    #[inline]
    pub fn blank(&mut self, length: usize) -> &mut [u8] {
        let Memory { bytes, start, seal } = &mut *self.0;
        bytes.resize(HEADROOM + length, 0);
        (*start, *seal) = (HEADROOM, None);
        &mut bytes[HEADROOM..]
    }

    /// Becomes a copy of another frame, in its own memory.
    #[inline]
    pub fn copy_from(&mut self, other: &Frame) {
        self.0.bytes.clone_from(&other.0.bytes);
        (self.0.start, self.0.seal) = (other.0.start, other.0.seal);
    }

    /// Becomes what `write` puts into the memory, which it finds empty. There is no room in front;
    /// a program that adds headers makes some.
    pub fn rewrite<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let Memory { bytes, start, seal } = &mut *self.0;
        bytes.clear();
        (*start, *seal) = (0, None);
        write(bytes)
    }

    /// The bytes on the wire.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes[self.0.start..]
    }

    /// The bytes on the wire, to be changed in place. Breaks the seal.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let Memory { bytes, start, seal } = &mut *self.0;
        *seal = None;
        &mut bytes[*start..]
    }

    /// The bytes in front of the sealed ones, to be changed in place; without a seal, all.
    #[inline]
    pub fn head_mut(&mut self) -> &mut [u8] {
        let Memory { bytes, start, seal } = &mut *self.0;
        let sealed = seal.map_or(0, |seal| seal.length_bytes as usize);
        let end = bytes.len().saturating_sub(sealed).max(*start);
        &mut bytes[*start..end]
    }

    /// The room in front and the bytes behind it, for a program that takes headers off and puts
    /// others there.
    #[inline(always)]
    pub fn memory(&self) -> &[u8] {
        &self.0.bytes
    }

    /// The same, mutable. After a change of sealed bytes call [`Frame::keep_seal_of`].
    #[inline(always)]
    pub fn memory_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0.bytes
    }

    /// Where in its memory the frame begins.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.0.start
    }

    /// Lets the frame begin at another place in its memory.
    #[inline(always)]
    pub fn start_at(&mut self, start: usize) {
        self.0.start = start;
    }

    /// Only the last `length` bytes are still what they were: a seal of more than these is broken.
    #[inline(always)]
    pub fn keep_seal_of(&mut self, length: usize) {
        let seal = &mut self.0.seal;
        *seal = seal.filter(|seal| seal.length_bytes as usize <= length);
    }

    /// The note on the frame's last bytes.
    #[inline]
    pub fn seal(&self) -> Option<Seal> {
        self.0.seal
    }

    /// Notes something about the frame's last bytes, or nothing.
    #[inline]
    pub fn set_seal(&mut self, seal: Option<Seal>) {
        self.0.seal = seal.filter(|seal| seal.length_bytes as usize <= self.bytes().len());
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

    /// Reads one number for nothing, and the processor fetches what lies around it: from far what the
    /// frame points at; from near, where that points to, its headers.
    #[inline(always)]
    fn approach(&self, distance: Distance) {
        let Memory { bytes, start, .. } = &*self.0;
        match distance {
            Distance::Far => _ = black_box(*start),
            Distance::Near => _ = black_box(bytes.get(*start).copied()),
        }
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
    fn a_frame_that_is_written_anew_keeps_nothing_of_before() {
        let mut frame = Frame::new(&[1, 2, 3]);
        frame.set_seal(Some(Seal { length_bytes: 2, value: 9 }));
        frame.rewrite(|bytes| bytes.extend([7, 8]));
        assert_eq!((frame.bytes(), frame.seal()), (&[7, 8][..], None));
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
