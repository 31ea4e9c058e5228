//! GRE (RFC 2784, key: RFC 2890): any EtherType in IP.
//!
//! ```text
//!    0       2          4          8
//!   +-------+----------+----------+----------
//!   | flags | protocol | key, if flagged | ...
//!   +-------+----------+----------+----------
//! ```

use crate::{EtherType, Field, WireError};

pub const FLAGS: Field<u16> = Field::at(0);
pub const PROTOCOL: Field<EtherType> = Field::at(2);
pub const KEY: Field<u32> = Field::at(4);
/// Without checksum, key and sequence number.
pub const HEADER_SIZE_BYTES: usize = 4;

pub const FLAG_KEY: u16 = 0x2000;

/// The contents of the header that begins here, and where they begin. A header with a checksum or a
/// sequence number, which would differ from packet to packet of a flow, is malformed.
pub fn skip(header: &[u8]) -> Result<(EtherType, usize), WireError> {
    let size = match FLAGS.get_checked(header)? {
        0 => HEADER_SIZE_BYTES,
        FLAG_KEY => KEY.end(),
        _ => return Err(WireError::Malformed),
    };
    Ok((PROTOCOL.get_checked(header)?, size))
}
