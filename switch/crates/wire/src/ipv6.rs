//! IPv6 (RFC 8200). Headers between this one and the transport's are in [`crate::extension`].
//!
//! ```text
//!    0                                           4
//!   +----+---------------+----------------------+
//!   | 6  | traffic_class | flow_label           |  0
//!   +----+---------------+-----------+----------+
//!   | payload_len         | next_hdr | hop_limit|  4
//!   +---------------------+----------+----------+
//!   | src_addr, 16 bytes                        |  8
//!   +-------------------------------------------+
//!   | dst_addr, 16 bytes                        | 24
//!   +-------------------------------------------+
//! ```

use core::net::Ipv6Addr;
use core::ops::Range;

use crate::checksum::{self, Sum};
use crate::{Ecn, Field, Protocol, WireError};

pub const VERSION_CLASS_LABEL: Field<u32> = Field::at(0);
pub const PAYLOAD_LEN: Field<u16> = Field::at(4);
pub const NEXT_HDR: Field<Protocol> = Field::at(6);
pub const HOP_LIMIT: Field<u8> = Field::at(7);
pub const SRC_ADDR: Field<Ipv6Addr> = Field::at(8);
pub const DST_ADDR: Field<Ipv6Addr> = Field::at(24);
/// Both addresses, which a pseudo-header begins with.
pub const ADDRESSES: Range<usize> = SRC_ADDR.start()..DST_ADDR.end();

pub const HEADER_SIZE_BYTES: usize = 40;

/// The ECN bits lie across the second byte, above the flow label.
const ECN_BYTE: Field<u8> = Field::at(1);
const ECN_SHIFT: u32 = 4;

/// The ECN bits of the header that begins here; needs its first two bytes.
#[inline]
pub fn ecn(header: &[u8]) -> Ecn {
    Ecn::from_bits(ECN_BYTE.get(header) >> ECN_SHIFT)
}

#[inline]
pub fn set_ecn(header: &mut [u8], ecn: Ecn) {
    let others = ECN_BYTE.get(header) & !(0b11 << ECN_SHIFT);
    ECN_BYTE.set(header, others | ecn.to_bits() << ECN_SHIFT);
}

/// A view of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<B> {
    bytes: B,
}

accessors!(Packet {
    payload_len, set_payload_len: u16 = PAYLOAD_LEN;
    next_hdr, set_next_hdr: Protocol = NEXT_HDR;
    hop_limit, set_hop_limit: u8 = HOP_LIMIT;
    src_addr, set_src_addr: Ipv6Addr = SRC_ADDR;
    dst_addr, set_dst_addr: Ipv6Addr = DST_ADDR;
});

impl<B: AsRef<[u8]>> Packet<B> {
    /// Refuses what is no IPv6 or ends before its header or its stated length does.
    pub fn new_checked(bytes: B) -> Result<Packet<B>, WireError> {
        let header = bytes.as_ref();
        if header.first().ok_or(WireError::Truncated)? >> 4 != 6 {
            return Err(WireError::Malformed);
        }
        let payload_len = usize::from(PAYLOAD_LEN.get_checked(header)?);
        match header.len() < HEADER_SIZE_BYTES + payload_len {
            true => Err(WireError::Truncated),
            false => Ok(Packet { bytes }),
        }
    }

    /// DSCP and ECN.
    pub fn traffic_class(&self) -> u8 {
        (VERSION_CLASS_LABEL.get(self.as_bytes()) >> 20) as u8
    }

    pub fn dscp(&self) -> u8 {
        self.traffic_class() >> 2
    }

    pub fn ecn(&self) -> Ecn {
        ecn(self.as_bytes())
    }

    pub fn flow_label(&self) -> u32 {
        VERSION_CLASS_LABEL.get(self.as_bytes()) & 0xf_ffff
    }

    /// The payload, as long as the header says, extension headers included.
    pub fn payload(&self) -> &[u8] {
        let size = usize::from(self.payload_len());
        &self.as_bytes()[HEADER_SIZE_BYTES..HEADER_SIZE_BYTES + size]
    }

    /// The start of a checksum of the layer above.
    pub fn pseudo_header(&self, protocol: Protocol, length: usize) -> Sum {
        checksum::pseudo_header(&self.as_bytes()[ADDRESSES], protocol, length)
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Packet<B> {
    /// Version, traffic class and flow label, which share four bytes.
    pub fn set_class_and_label(&mut self, traffic_class: u8, flow_label: u32) {
        let word = 6 << 28 | u32::from(traffic_class) << 20 | flow_label & 0xf_ffff;
        VERSION_CLASS_LABEL.set(self.as_mut_bytes(), word);
    }

    pub fn payload_mut(&mut self) -> &mut [u8] {
        let size = usize::from(self.payload_len());
        &mut self.as_mut_bytes()[HEADER_SIZE_BYTES..HEADER_SIZE_BYTES + size]
    }
}

/// A header in front of a payload without extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    pub src_addr: Ipv6Addr,
    pub dst_addr: Ipv6Addr,
    pub next_hdr: Protocol,
    pub dscp: u8,
    pub ecn: Ecn,
    /// 20 bits.
    pub flow_label: u32,
    pub hop_limit: u8,
    pub payload_size: usize,
}

impl Repr {
    /// Writes the header in front of the payload.
    pub fn emit(&self, bytes: &mut [u8]) {
        let mut packet = Packet::new_unchecked(&mut bytes[..HEADER_SIZE_BYTES]);
        packet.set_class_and_label(self.dscp << 2 | self.ecn.to_bits(), self.flow_label);
        packet.set_payload_len(self.payload_size as u16);
        packet.set_next_hdr(self.next_hdr);
        packet.set_hop_limit(self.hop_limit);
        packet.set_src_addr(self.src_addr);
        packet.set_dst_addr(self.dst_addr);
    }

    /// The start of a checksum of the payload.
    pub fn pseudo_header(&self) -> Sum {
        let addresses = [self.src_addr.octets(), self.dst_addr.octets()];
        checksum::pseudo_header(addresses.as_flattened(), self.next_hdr, self.payload_size)
    }
}
