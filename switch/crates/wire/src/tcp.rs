//! TCP (RFC 9293; ECE and CWR: RFC 3168; AE: RFC 9768). Options are in [`crate::tcp_options`].
//!
//! ```text
//!    0                     2                     4
//!   +---------------------+---------------------+
//!   | src_port            | dst_port            |  0
//!   +---------------------+---------------------+
//!   | seq_number                                |  4
//!   +-------------------------------------------+
//!   | ack_number                                |  8
//!   +--------+------------+---------------------+
//!   | offset | flags      | window              | 12
//!   +--------+------------+---------------------+
//!   | checksum            | urgent_pointer      | 16
//!   +---------------------+---------------------+
//! ```

use core::ops::{BitOr, BitOrAssign};

pub use crate::seq_number::SeqNumber;
use crate::tcp_options::{Options, OptionsError, Settings};
use crate::{Field, Sum, WireError};

pub const SRC_PORT: Field<u16> = Field::at(0);
pub const DST_PORT: Field<u16> = Field::at(2);
pub const SEQ_NUMBER: Field<SeqNumber> = Field::at(4);
pub const ACK_NUMBER: Field<SeqNumber> = Field::at(8);
/// Data offset, reserved bits and all flags.
pub const OFFSET_FLAGS: Field<u16> = Field::at(12);
/// Data offset alone, in the high four bits.
pub const DATA_OFFSET: Field<u8> = Field::at(12);
/// The flags without AE.
pub const LOW_FLAGS: Field<u8> = Field::at(13);
pub const WINDOW: Field<u16> = Field::at(14);
pub const CHECKSUM: Field<u16> = Field::at(16);
pub const URGENT_POINTER: Field<u16> = Field::at(18);

/// Without options.
pub const HEADER_SIZE_BYTES: usize = 20;
pub const HEADER_SIZE_BYTES_MAX: usize = 60;

/// A segment's nine flags, each at its place in [`OFFSET_FLAGS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    pub const NONE: Flags = Flags(0);
    pub const FIN: Flags = Flags(0x001);
    pub const SYN: Flags = Flags(0x002);
    pub const RST: Flags = Flags(0x004);
    pub const PSH: Flags = Flags(0x008);
    pub const ACK: Flags = Flags(0x010);
    pub const URG: Flags = Flags(0x020);
    pub const ECE: Flags = Flags(0x040);
    pub const CWR: Flags = Flags(0x080);
    /// Accurate ECN: with CWR and ECE a counter of three bits.
    pub const AE: Flags = Flags(0x100);

    const MASK: u16 = 0x1ff;

    /// The bits beside the flags are ignored.
    pub const fn from_bits(bits: u16) -> Flags {
        Flags(bits & Flags::MASK)
    }

    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// All but AE, as [`LOW_FLAGS`] holds them.
    pub const fn low(self) -> u8 {
        self.0 as u8
    }

    /// Whether all of `flags` are set.
    pub const fn contains(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    pub const fn union(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    pub const fn without(self, flags: Flags) -> Flags {
        Flags(self.0 & !flags.0)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        self.union(other)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        *self = *self | other;
    }
}

/// The size of the header that begins here, options included.
#[inline]
pub fn header_size(header: &[u8]) -> Result<usize, WireError> {
    let size = usize::from(DATA_OFFSET.get_checked(header)? >> 4) * 4;
    if size < HEADER_SIZE_BYTES { Err(WireError::Malformed) } else { Ok(size) }
}

/// A view of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<B> {
    bytes: B,
}

accessors!(Segment {
    src_port, set_src_port: u16 = SRC_PORT;
    dst_port, set_dst_port: u16 = DST_PORT;
    seq_number, set_seq_number: SeqNumber = SEQ_NUMBER;
    ack_number, set_ack_number: SeqNumber = ACK_NUMBER;
    window, set_window: u16 = WINDOW;
    checksum, set_checksum: u16 = CHECKSUM;
    urgent_pointer, set_urgent_pointer: u16 = URGENT_POINTER;
});

impl<B: AsRef<[u8]>> Segment<B> {
    /// Refuses what ends before its header does, or says that it has less than one.
    pub fn new_checked(bytes: B) -> Result<Segment<B>, WireError> {
        let size = header_size(bytes.as_ref())?;
        if bytes.as_ref().len() < size { Err(WireError::Truncated) } else { Ok(Segment { bytes }) }
    }

    pub fn header_size(&self) -> usize {
        usize::from(DATA_OFFSET.get(self.as_bytes()) >> 4) * 4
    }

    pub fn flags(&self) -> Flags {
        Flags::from_bits(OFFSET_FLAGS.get(self.as_bytes()))
    }

    pub fn options(&self) -> Options<'_> {
        Options::new(&self.as_bytes()[HEADER_SIZE_BYTES..self.header_size()])
    }

    pub fn payload(&self) -> &[u8] {
        &self.as_bytes()[self.header_size()..]
    }

    pub fn is_checksum_right(&self, pseudo_header: Sum) -> bool {
        pseudo_header.then(self.as_bytes()).is_right()
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Segment<B> {
    /// Header size, in whole words of four bytes, and flags share two bytes.
    pub fn set_header_size_and_flags(&mut self, header_size: usize, flags: Flags) {
        let word = ((header_size / 4) as u16) << 12 | flags.to_bits();
        OFFSET_FLAGS.set(self.as_mut_bytes(), word);
    }

    pub fn payload_mut(&mut self) -> &mut [u8] {
        let size = self.header_size();
        &mut self.as_mut_bytes()[size..]
    }

    /// Writes the checksum of header and payload.
    pub fn fill_checksum(&mut self, pseudo_header: Sum) {
        self.set_checksum(0);
        let checksum = pseudo_header.then(self.as_bytes()).checksum();
        self.set_checksum(checksum);
    }
}

/// A segment's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    pub src_port: u16,
    pub dst_port: u16,
    pub seq_number: SeqNumber,
    pub ack_number: SeqNumber,
    pub flags: Flags,
    /// As on the wire: not yet scaled.
    pub window: u16,
    pub urgent_pointer: u16,
    pub options: Settings,
}

impl Repr {
    pub fn parse<B: AsRef<[u8]>>(segment: &Segment<B>) -> Repr {
        Repr {
            src_port: segment.src_port(),
            dst_port: segment.dst_port(),
            seq_number: segment.seq_number(),
            ack_number: segment.ack_number(),
            flags: segment.flags(),
            window: segment.window(),
            urgent_pointer: segment.urgent_pointer(),
            options: Settings::of(segment.options()),
        }
    }

    /// The size of the header; an error if the options do not fit into one.
    pub fn header_size(&self) -> Result<usize, OptionsError> {
        Ok(HEADER_SIZE_BYTES + self.options.size()?)
    }

    /// Writes the header in front of the payload and returns its size. The checksum is zero: it is
    /// [filled](Segment::fill_checksum) when the payload is there.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<usize, OptionsError> {
        let size = self.header_size()?;
        let mut segment = Segment::new_unchecked(&mut *bytes);
        segment.set_src_port(self.src_port);
        segment.set_dst_port(self.dst_port);
        segment.set_seq_number(self.seq_number);
        segment.set_ack_number(self.ack_number);
        segment.set_header_size_and_flags(size, self.flags);
        segment.set_window(self.window);
        segment.set_checksum(0);
        segment.set_urgent_pointer(self.urgent_pointer);
        self.options.emit(&mut bytes[HEADER_SIZE_BYTES..size]);
        Ok(size)
    }
}
