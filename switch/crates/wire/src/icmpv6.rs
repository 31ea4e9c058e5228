//! ICMPv6 (RFC 4443) and the two messages of neighbour discovery (RFC 4861) that stand for ARP.
//!
//! ```text
//!    0      1      2          4                 8
//!   +------+------+----------+-----------------+---------
//!   | type | code | checksum | rest, by type   | payload
//!   +------+------+----------+-----------------+---------
//! ```
//!
//! The checksum begins with a pseudo-header, unlike ICMPv4's.

use core::net::Ipv6Addr;

use crate::{Field, MacAddress, Sum, WireError};

pub const TYPE: Field<u8> = Field::at(0);
pub const CODE: Field<u8> = Field::at(1);
pub const CHECKSUM: Field<u16> = Field::at(2);
/// Of an echo.
pub const IDENTIFIER: Field<u16> = Field::at(4);
/// Of an echo.
pub const SEQUENCE: Field<u16> = Field::at(6);
/// Of "packet too big".
pub const MTU: Field<u32> = Field::at(4);
/// Of an advertisement: router, solicited, override, from the highest bit on.
pub const NEIGHBOR_FLAGS: Field<u8> = Field::at(4);
/// Of a solicitation or an advertisement.
pub const TARGET_ADDR: Field<Ipv6Addr> = Field::at(8);
/// The only option that hosts on Ethernet need, in the only place where they put it.
pub const OPTION_TYPE: Field<u8> = Field::at(24);
pub const OPTION_LENGTH: Field<u8> = Field::at(25);
pub const LINK_LAYER_ADDR: Field<MacAddress> = Field::at(26);
pub const HEADER_SIZE_BYTES: usize = 8;
/// A solicitation or an advertisement with a link-layer address.
pub const NEIGHBOR_SIZE_BYTES: usize = 32;

pub const DESTINATION_UNREACHABLE: u8 = 1;
pub const PACKET_TOO_BIG: u8 = 2;
pub const TIME_EXCEEDED: u8 = 3;
pub const ECHO_REQUEST: u8 = 128;
pub const ECHO_REPLY: u8 = 129;
pub const NEIGHBOR_SOLICITATION: u8 = 135;
pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;

/// Code of [`DESTINATION_UNREACHABLE`].
pub const PORT_UNREACHABLE: u8 = 4;

pub const FLAG_SOLICITED: u8 = 0x40;
pub const FLAG_OVERRIDE: u8 = 0x20;

pub const OPTION_SOURCE_ADDRESS: u8 = 1;
pub const OPTION_TARGET_ADDRESS: u8 = 2;

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
    mtu, set_mtu: u32 = MTU;
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

    pub fn is_checksum_right(&self, pseudo_header: Sum) -> bool {
        pseudo_header.then(self.as_bytes()).is_right()
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Message<B> {
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.as_mut_bytes()[HEADER_SIZE_BYTES..]
    }

    /// Writes the checksum of the whole message.
    pub fn fill_checksum(&mut self, pseudo_header: Sum) {
        self.set_checksum(0);
        let checksum = pseudo_header.then(self.as_bytes()).checksum();
        self.set_checksum(checksum);
    }
}

/// The target of neighbour discovery, in a solicitation or an advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbor {
    /// Asked by the station with this address on the link.
    Solicitation {
        target: Ipv6Addr,
        source: MacAddress,
    },
    Advertisement {
        target: Ipv6Addr,
        address: MacAddress,
        solicited: bool,
    },
}

impl Neighbor {
    /// Reads a message whose checksum has been looked at. One without the address on the link, or
    /// with another option in its place, is malformed.
    pub fn parse(message: &[u8]) -> Result<Neighbor, WireError> {
        let message = message.get(..NEIGHBOR_SIZE_BYTES).ok_or(WireError::Truncated)?;
        let target = TARGET_ADDR.get(message);
        let address = LINK_LAYER_ADDR.get(message);
        // Lengths of options count units of eight bytes.
        match (TYPE.get(message), OPTION_TYPE.get(message), OPTION_LENGTH.get(message)) {
            (NEIGHBOR_SOLICITATION, OPTION_SOURCE_ADDRESS, 1) => {
                Ok(Neighbor::Solicitation { target, source: address })
            }
            (NEIGHBOR_ADVERTISEMENT, OPTION_TARGET_ADDRESS, 1) => {
                let solicited = NEIGHBOR_FLAGS.get(message) & FLAG_SOLICITED != 0;
                Ok(Neighbor::Advertisement { target, address, solicited })
            }
            _ => Err(WireError::Malformed),
        }
    }

    /// Writes the [`NEIGHBOR_SIZE_BYTES`] of the message, checksum included.
    pub fn emit(&self, message: &mut [u8], pseudo_header: Sum) {
        let message = &mut message[..NEIGHBOR_SIZE_BYTES];
        message.fill(0);
        let (kind, flags, option, target, address) = match *self {
            Neighbor::Solicitation { target, source } => {
                (NEIGHBOR_SOLICITATION, 0, OPTION_SOURCE_ADDRESS, target, source)
            }
            Neighbor::Advertisement { target, address, solicited } => {
                let flags = FLAG_OVERRIDE | if solicited { FLAG_SOLICITED } else { 0 };
                (NEIGHBOR_ADVERTISEMENT, flags, OPTION_TARGET_ADDRESS, target, address)
            }
        };
        TYPE.set(message, kind);
        NEIGHBOR_FLAGS.set(message, flags);
        TARGET_ADDR.set(message, target);
        OPTION_TYPE.set(message, option);
        OPTION_LENGTH.set(message, 1);
        LINK_LAYER_ADDR.set(message, address);
        Message::new_unchecked(message).fill_checksum(pseudo_header);
    }
}
