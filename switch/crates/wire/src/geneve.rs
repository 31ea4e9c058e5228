//! GENEVE (RFC 8926): any EtherType in UDP, behind options.
//!
//! ```text
//!    0                1       2          4       7          8
//!   +----+-----------+-------+----------+-------+----------+---------
//!   | 0  | opt_len   | flags | protocol | vni   | reserved | options
//!   +----+-----------+-------+----------+-------+----------+---------
//! ```

use crate::{EtherType, Field, WireError};

pub const VERSION_OPT_LEN: Field<u8> = Field::at(0);
pub const PROTOCOL: Field<EtherType> = Field::at(2);
/// Without options.
pub const HEADER_SIZE_BYTES: usize = 8;
pub const PORT: u16 = 6081;

/// The contents of the header that begins here, and where they begin.
pub fn skip(header: &[u8]) -> Result<(EtherType, usize), WireError> {
    let options_size = usize::from(VERSION_OPT_LEN.get_checked(header)? & 0x3f) * 4;
    Ok((PROTOCOL.get_checked(header)?, HEADER_SIZE_BYTES + options_size))
}
