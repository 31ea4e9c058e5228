//! UDP (RFC 768).
//!
//! ```text
//!    0          2          4        6          8
//!   +----------+----------+--------+----------+
//!   | src_port | dst_port | length | checksum |
//!   +----------+----------+--------+----------+
//! ```

use crate::{Field, Sum, WireError};

pub const SRC_PORT: Field<u16> = Field::at(0);
pub const DST_PORT: Field<u16> = Field::at(2);
pub const LENGTH: Field<u16> = Field::at(4);
pub const CHECKSUM: Field<u16> = Field::at(6);
pub const HEADER_SIZE_BYTES: usize = 8;

/// The field for a sum over pseudo-header, header and payload: 0 would say that there is none, and
/// means the same as 0xffff.
#[inline]
pub const fn checksum(sum: Sum) -> u16 {
    match sum.checksum() {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// A view of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<B> {
    bytes: B,
}

accessors!(Datagram {
    src_port, set_src_port: u16 = SRC_PORT;
    dst_port, set_dst_port: u16 = DST_PORT;
    length, set_length: u16 = LENGTH;
    checksum, set_checksum: u16 = CHECKSUM;
});

impl<B: AsRef<[u8]>> Datagram<B> {
    /// Refuses what ends before its header or its stated length does.
    pub fn new_checked(bytes: B) -> Result<Datagram<B>, WireError> {
        let length = usize::from(LENGTH.get_checked(bytes.as_ref())?);
        match () {
            () if bytes.as_ref().len() < length.max(HEADER_SIZE_BYTES) => Err(WireError::Truncated),
            () if length < HEADER_SIZE_BYTES => Err(WireError::Malformed),
            () => Ok(Datagram { bytes }),
        }
    }

    pub fn payload(&self) -> &[u8] {
        &self.as_bytes()[HEADER_SIZE_BYTES..usize::from(self.length())]
    }

    /// Whether the checksum is right or, as IPv4 allows, absent.
    pub fn is_checksum_right(&self, pseudo_header: Sum) -> bool {
        let bytes = &self.as_bytes()[..usize::from(self.length())];
        self.checksum() == 0 || pseudo_header.then(bytes).is_right()
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Datagram<B> {
    /// Writes the checksum of header and payload.
    pub fn fill_checksum(&mut self, pseudo_header: Sum) {
        self.set_checksum(0);
        let sum = pseudo_header.then(&self.as_bytes()[..usize::from(self.length())]);
        self.set_checksum(checksum(sum));
    }
}
