//! ICMP for IPv4 (RFC 792; the next hop's MTU: RFC 1191).
//!
//! ```text
//!    0      1      2          4                 8
//!   +------+------+----------+-----------------+---------
//!   | type | code | checksum | rest, by type   | payload
//!   +------+------+----------+-----------------+---------
//! ```

use crate::{Field, Sum, WireError};

pub const TYPE: Field<u8> = Field::at(0);
pub const CODE: Field<u8> = Field::at(1);
pub const CHECKSUM: Field<u16> = Field::at(2);
/// Of an echo.
pub const IDENTIFIER: Field<u16> = Field::at(4);
/// Of an echo.
pub const SEQUENCE: Field<u16> = Field::at(6);
/// Of "fragmentation needed".
pub const NEXT_HOP_MTU: Field<u16> = Field::at(6);
pub const HEADER_SIZE_BYTES: usize = 8;

pub const ECHO_REPLY: u8 = 0;
pub const DESTINATION_UNREACHABLE: u8 = 3;
pub const ECHO_REQUEST: u8 = 8;
pub const TIME_EXCEEDED: u8 = 11;

/// Codes of [`DESTINATION_UNREACHABLE`].
pub const NET_UNREACHABLE: u8 = 0;
pub const HOST_UNREACHABLE: u8 = 1;
pub const PROTOCOL_UNREACHABLE: u8 = 2;
pub const PORT_UNREACHABLE: u8 = 3;
pub const FRAGMENTATION_NEEDED: u8 = 4;

/// A view of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<B> {
    bytes: B,
}

accessors!(Message {
    kind, set_kind: u8 = TYPE;
    code, set_code: u8 = CODE;
    checksum, set_checksum: u16 = CHECKSUM;
    identifier, set_identifier: u16 = IDENTIFIER;
    sequence, set_sequence: u16 = SEQUENCE;
    next_hop_mtu, set_next_hop_mtu: u16 = NEXT_HOP_MTU;
});

impl<B: AsRef<[u8]>> Message<B> {
    pub fn new_checked(bytes: B) -> Result<Message<B>, WireError> {
        match bytes.as_ref().len() {
            HEADER_SIZE_BYTES.. => Ok(Message { bytes }),
            _ => Err(WireError::Truncated),
        }
    }

    /// The contents of an echo; of an error, the header of the packet it is about and the bytes
    /// behind it.
    pub fn payload(&self) -> &[u8] {
        &self.as_bytes()[HEADER_SIZE_BYTES..]
    }

    pub fn is_checksum_right(&self) -> bool {
        Sum::of(self.as_bytes()).is_right()
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Message<B> {
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.as_mut_bytes()[HEADER_SIZE_BYTES..]
    }

    /// Writes the checksum of the whole message.
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let checksum = Sum::of(self.as_bytes()).checksum();
        self.set_checksum(checksum);
    }
}
