//! A port's knowledge of the end of a frame on its arrival, which saves work when it leaves.
//!
//! A switch changes the beginning of most frames and the end of few. So facts about the end are
//! worth keeping: splitting a super-packet sums every payload, and merging would have to sum it
//! once more. The carrier of a frame from one port to another carries its tail along, and drops it
//! when one of those bytes has changed or is not the last any more.

use wire::Sum;
use wire::tcp::{self, Flags};

use crate::offload::{ChecksumTask, GsoKind, HEADER_SIZE_BYTES, Offload};

/// Something known of the last bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// How many bytes at the end of the frame it is about.
    pub length_bytes: u32,
    pub note: Note,
}

/// The facts about a frame's last bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// They are the payload of TCP or UDP, and this is their ones' complement sum.
    Sum(Sum),
    /// They are the transport header and the payload of a super-packet behind headers that are not
    /// understood. It is one frame for the switch, longer than any on a wire.
    Unsplit {
        /// The kind of super-packet.
        kind: GsoKind,
        /// Payload of a piece in bytes.
        piece_size: u16,
        /// Where the unfinished checksum is, from the first of these bytes.
        checksum_offset: u16,
    },
}

const KIND_SUM: u8 = 0;
const KIND_TCP4: u8 = 1;
const KIND_TCP6: u8 = 2;
const KIND_UDP: u8 = 3;

impl Note {
    /// As a number, for carriers that do not look inside.
    pub fn to_bits(self) -> u64 {
        let pack = |kind: u8, high: u16, low: u16| {
            u64::from(kind) << 32 | u64::from(high) << 16 | u64::from(low)
        };
        match self {
            Note::Sum(sum) => pack(KIND_SUM, 0, sum.word()),
            Note::Unsplit { kind, piece_size, checksum_offset } => {
                let kind = match kind {
                    GsoKind::Tcp4 => KIND_TCP4,
                    GsoKind::Tcp6 => KIND_TCP6,
                    GsoKind::Udp => KIND_UDP,
                };
                pack(kind, piece_size, checksum_offset)
            }
        }
    }

    /// Reads what [`Note::to_bits`] has written; any other number says nothing.
    pub fn from_bits(bits: u64) -> Option<Note> {
        let (high, low) = ((bits >> 16) as u16, bits as u16);
        let kind = match (bits >> 32) as u8 {
            KIND_SUM => return Some(Note::Sum(Sum::from_word(low))),
            KIND_TCP4 => GsoKind::Tcp4,
            KIND_TCP6 => GsoKind::Tcp6,
            KIND_UDP => GsoKind::Udp,
            _ => return None,
        };
        Some(Note::Unsplit { kind, piece_size: high, checksum_offset: low })
    }
}

impl Tail {
    /// The sum of the last `length` bytes, if that is known.
    pub(crate) fn sum_of(&self, length: usize) -> Option<Sum> {
        match self.note {
            Note::Sum(sum) if self.length_bytes as usize == length => Some(sum),
            _ => None,
        }
    }

    /// The virtio-net header with which a super-packet that was not split goes on as one. None for
    /// any other frame.
    pub(crate) fn header_of(&self, frame: &[u8]) -> Option<[u8; HEADER_SIZE_BYTES]> {
        let Note::Unsplit { kind, piece_size, checksum_offset: offset } = self.note else {
            return None;
        };
        let start = u16::try_from(frame.len().checked_sub(self.length_bytes as usize)?).ok()?;
        let offload = Offload {
            checksum: Some(ChecksumTask { start, offset }),
            gso: Some((kind, piece_size)),
        };
        let flags = tcp::LOW_FLAGS.get_checked(&frame[usize::from(start)..]);
        let reduced =
            kind != GsoKind::Udp && flags.is_ok_and(|flags| flags & Flags::CWR.low() != 0);
        // Where the headers end is a hint of how much lies together in memory; the checksum's field
        // is always part of them.
        Some(offload.write(start + offset + 2, reduced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_survives_as_a_number() {
        let unsplit = |kind| Note::Unsplit { kind, piece_size: 1448, checksum_offset: 16 };
        let kinds = [GsoKind::Tcp4, GsoKind::Tcp6, GsoKind::Udp].map(unsplit);
        for note in kinds.into_iter().chain([0, 0xffff].map(|word| Note::Sum(Sum::from_word(word))))
        {
            assert_eq!(Note::from_bits(note.to_bits()), Some(note));
        }
        assert_eq!(Note::from_bits(9 << 32), None);
    }

    #[test]
    fn a_sum_is_that_of_its_bytes_and_of_no_others() {
        let tail = Tail { length_bytes: 100, note: Note::Sum(Sum::from_word(7)) };
        assert_eq!((tail.sum_of(100), tail.sum_of(88)), (Some(Sum::from_word(7)), None));
        assert_eq!(tail.header_of(&[0; 200]), None);
    }

    #[test]
    fn a_header_in_front_moves_the_checksum_of_an_unsplit_super_packet() {
        let note = Note::Unsplit { kind: GsoKind::Tcp4, piece_size: 1448, checksum_offset: 16 };
        let tail = Tail { length_bytes: 3000, note };
        for head_size in [58, 62] {
            let header = tail.header_of(&vec![0; head_size + 3000]).expect("unsplit");
            let offload = Offload::read(&header).expect("a kind we know");
            let task = ChecksumTask { start: head_size as u16, offset: 16 };
            assert_eq!(offload.checksum, Some(task));
            assert_eq!(offload.gso, Some((GsoKind::Tcp4, 1448)));
        }
        assert_eq!(tail.header_of(&[0; 2999]), None, "the frame is shorter than its own end");
    }
}
