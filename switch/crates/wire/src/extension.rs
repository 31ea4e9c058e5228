//! IPv6's extension headers (RFC 8200 section 4): what may stand between the header and what a packet
//! carries.
//!
//! ```text
//!    0          1        2
//!   +----------+--------+------------------------
//!   | next_hdr | length | ...      length: units of 8 bytes behind the first
//!   +----------+--------+------------------------
//! ```

use crate::{Field, Protocol, WireError};

pub const NEXT_HDR: Field<Protocol> = Field::at(0);
pub const LENGTH: Field<u8> = Field::at(1);
/// Of a fragment header: offset in units of 8 bytes, two reserved bits, "more fragments".
pub const FRAGMENT_OFFSET: Field<u16> = Field::at(2);
pub const FRAGMENT_IDENTIFICATION: Field<u32> = Field::at(4);
pub const FRAGMENT_SIZE_BYTES: usize = 8;

/// Whether the protocol is a header that says how long it is and is the same in every packet of a
/// flow: one that can be stepped over.
pub const fn can_be_skipped(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::HOP_BY_HOP | Protocol::ROUTING | Protocol::DESTINATION_OPTIONS)
}

/// The protocol and place of the header behind the extension header that begins here.
#[inline]
pub fn skip(header: &[u8]) -> Result<(Protocol, usize), WireError> {
    let size = (usize::from(LENGTH.get_checked(header)?) + 1) * 8;
    Ok((NEXT_HDR.get(header), size))
}
