//! VXLAN (RFC 7348): an Ethernet frame in UDP.
//!
//! ```text
//!    0       1           4       7          8
//!   +-------+-----------+-------+----------+
//!   | flags | reserved  | vni   | reserved |
//!   +-------+-----------+-------+----------+
//! ```

use crate::Field;

pub const FLAGS: Field<u8> = Field::at(0);
pub const VNI: Field<[u8; 3]> = Field::at(4);
pub const HEADER_SIZE_BYTES: usize = 8;

/// Set where the network identifier is one.
pub const FLAG_VNI: u8 = 0x08;
pub const PORT: u16 = 4789;
/// Linux's default: older than the registered port.
pub const PORT_LINUX: u16 = 8472;

/// Writes the header of a frame in the network `vni`.
pub fn emit(header: &mut [u8], vni: u32) {
    header[..HEADER_SIZE_BYTES].fill(0);
    FLAGS.set(header, FLAG_VNI);
    let [_, network @ ..] = vni.to_be_bytes();
    VNI.set(header, network);
}

/// The network of a frame, if the header names one.
pub fn vni(header: &[u8]) -> Option<u32> {
    let [a, b, c] = VNI.get(header);
    (FLAGS.get(header) & FLAG_VNI != 0).then(|| u32::from_be_bytes([0, a, b, c]))
}
