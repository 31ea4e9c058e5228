//! IPv4 (RFC 791; DSCP: RFC 2474; ECN: RFC 3168).
//!
//! ```text
//!    0          1          2                     4
//!   +----+-----+----------+---------------------+
//!   | 4  | ihl | dscp ecn | total_len           |  0
//!   +----+-----+----------+---------------------+
//!   | identification      | flags frag_offset   |  4
//!   +----------+----------+---------------------+
//!   | ttl      | protocol | hdr_checksum        |  8
//!   +----------+----------+---------------------+
//!   | src_addr                                  | 12
//!   +-------------------------------------------+
//!   | dst_addr                                  | 16
//!   +-------------------------------------------+
//! ```

use core::net::Ipv4Addr;
use core::ops::Range;

use crate::checksum::{self, Sum};
use crate::{Ecn, Field, Protocol, WireError};

pub const VERSION_IHL: Field<u8> = Field::at(0);
/// DSCP and ECN.
pub const TRAFFIC_CLASS: Field<u8> = Field::at(1);
pub const TOTAL_LEN: Field<u16> = Field::at(2);
pub const IDENTIFICATION: Field<u16> = Field::at(4);
pub const FLAGS_FRAG_OFFSET: Field<u16> = Field::at(6);
pub const TTL: Field<u8> = Field::at(8);
pub const PROTOCOL: Field<Protocol> = Field::at(9);
pub const HDR_CHECKSUM: Field<u16> = Field::at(10);
pub const SRC_ADDR: Field<Ipv4Addr> = Field::at(12);
pub const DST_ADDR: Field<Ipv4Addr> = Field::at(16);
/// Both addresses, which a pseudo-header begins with.
pub const ADDRESSES: Range<usize> = SRC_ADDR.start()..DST_ADDR.end();

/// Without options.
pub const HEADER_SIZE_BYTES: usize = 20;
pub const HEADER_SIZE_BYTES_MAX: usize = 60;
/// The longest packet that `total_len` can say.
pub const PACKET_SIZE_BYTES_MAX: usize = 65_535;

pub const DONT_FRAGMENT: u16 = 0x4000;
pub const MORE_FRAGMENTS: u16 = 0x2000;
pub const FRAG_OFFSET_MASK: u16 = 0x1fff;
/// Set in none but whole packets.
pub const FRAGMENT_MASK: u16 = MORE_FRAGMENTS | FRAG_OFFSET_MASK;

/// The size of the header that begins here, options included.
#[inline]
pub fn header_size(header: &[u8]) -> Result<usize, WireError> {
    let version_ihl = VERSION_IHL.get_checked(header)?;
    let size = usize::from(version_ihl & 0xf) * 4;
    if version_ihl >> 4 != 4 || size < HEADER_SIZE_BYTES {
        return Err(WireError::Malformed);
    }
    Ok(size)
}

/// Writes the checksum of a whole header.
pub fn fill_checksum(header: &mut [u8]) {
    HDR_CHECKSUM.set(header, 0);
    HDR_CHECKSUM.set(header, Sum::of(header).checksum());
}

/// Changes the ECN bits, and the checksum by as much: one that was wrong is as wrong as before.
#[inline]
pub fn set_ecn(header: &mut [u8], ecn: Ecn) {
    let before = Field::<u16>::at(0).get(header);
    let after = before & !0b11 | u16::from(ecn.to_bits());
    Field::<u16>::at(0).set(header, after);
    let checksum = checksum::updated(HDR_CHECKSUM.get(header), before, after);
    HDR_CHECKSUM.set(header, checksum);
}

/// A view of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<B> {
    bytes: B,
}

accessors!(Packet {
    traffic_class, set_traffic_class: u8 = TRAFFIC_CLASS;
    total_len, set_total_len: u16 = TOTAL_LEN;
    identification, set_identification: u16 = IDENTIFICATION;
    ttl, set_ttl: u8 = TTL;
    protocol, set_protocol: Protocol = PROTOCOL;
    hdr_checksum, set_hdr_checksum: u16 = HDR_CHECKSUM;
    src_addr, set_src_addr: Ipv4Addr = SRC_ADDR;
    dst_addr, set_dst_addr: Ipv4Addr = DST_ADDR;
});

impl<B: AsRef<[u8]>> Packet<B> {
    /// Refuses what is no IPv4 or ends before its header or its stated length does.
    pub fn new_checked(bytes: B) -> Result<Packet<B>, WireError> {
        let header = bytes.as_ref();
        let size = header_size(header)?;
        let total_len = usize::from(TOTAL_LEN.get_checked(header)?);
        match () {
            () if total_len < size => Err(WireError::Malformed),
            () if total_len > header.len() => Err(WireError::Truncated),
            () => Ok(Packet { bytes }),
        }
    }

    pub fn header_size(&self) -> usize {
        usize::from(VERSION_IHL.get(self.as_bytes()) & 0xf) * 4
    }

    pub fn dscp(&self) -> u8 {
        self.traffic_class() >> 2
    }

    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.traffic_class())
    }

    pub fn dont_fragment(&self) -> bool {
        FLAGS_FRAG_OFFSET.get(self.as_bytes()) & DONT_FRAGMENT != 0
    }

    pub fn more_fragments(&self) -> bool {
        FLAGS_FRAG_OFFSET.get(self.as_bytes()) & MORE_FRAGMENTS != 0
    }

    /// Where the payload belongs in the whole packet, in bytes.
    pub fn frag_offset_bytes(&self) -> usize {
        usize::from(FLAGS_FRAG_OFFSET.get(self.as_bytes()) & FRAG_OFFSET_MASK) * 8
    }

    /// Whether it is a piece of a packet.
    pub fn is_fragment(&self) -> bool {
        FLAGS_FRAG_OFFSET.get(self.as_bytes()) & FRAGMENT_MASK != 0
    }

    pub fn options(&self) -> Options<'_> {
        Options(&self.as_bytes()[HEADER_SIZE_BYTES..self.header_size()])
    }

    pub fn is_checksum_right(&self) -> bool {
        Sum::of(&self.as_bytes()[..self.header_size()]).is_right()
    }

    /// The payload, as long as the header says: padding of the frame is left out.
    pub fn payload(&self) -> &[u8] {
        &self.as_bytes()[self.header_size()..usize::from(self.total_len())]
    }

    /// The start of a checksum of the layer above.
    pub fn pseudo_header(&self, protocol: Protocol, length: usize) -> Sum {
        checksum::pseudo_header(&self.as_bytes()[ADDRESSES], protocol, length)
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Packet<B> {
    pub fn set_dscp(&mut self, dscp: u8) {
        self.set_traffic_class(dscp << 2 | self.traffic_class() & 0b11);
    }

    pub fn set_flags(
        &mut self,
        dont_fragment: bool,
        more_fragments: bool,
        frag_offset_bytes: usize,
    ) {
        let flags = if dont_fragment { DONT_FRAGMENT } else { 0 }
            | if more_fragments { MORE_FRAGMENTS } else { 0 };
        let offset = (frag_offset_bytes / 8) as u16 & FRAG_OFFSET_MASK;
        FLAGS_FRAG_OFFSET.set(self.as_mut_bytes(), flags | offset);
    }

    pub fn fill_checksum(&mut self) {
        let size = self.header_size();
        fill_checksum(&mut self.as_mut_bytes()[..size]);
    }

    pub fn payload_mut(&mut self) -> &mut [u8] {
        let range = self.header_size()..usize::from(self.total_len());
        &mut self.as_mut_bytes()[range]
    }
}

/// A header without options, of a packet that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    pub src_addr: Ipv4Addr,
    pub dst_addr: Ipv4Addr,
    pub protocol: Protocol,
    pub dscp: u8,
    pub ecn: Ecn,
    pub ttl: u8,
    pub identification: u16,
    pub dont_fragment: bool,
    pub payload_size: usize,
}

impl Repr {
    /// Writes the header, with its checksum, in front of the payload.
    pub fn emit(&self, bytes: &mut [u8]) {
        VERSION_IHL.set(bytes, 0x45);
        let mut packet = Packet::new_unchecked(&mut bytes[..HEADER_SIZE_BYTES]);
        packet.set_traffic_class(self.dscp << 2 | self.ecn.to_bits());
        packet.set_total_len((HEADER_SIZE_BYTES + self.payload_size) as u16);
        packet.set_identification(self.identification);
        packet.set_flags(self.dont_fragment, false, 0);
        packet.set_ttl(self.ttl);
        packet.set_protocol(self.protocol);
        packet.set_src_addr(self.src_addr);
        packet.set_dst_addr(self.dst_addr);
        packet.fill_checksum();
    }

    /// The start of a checksum of the payload.
    pub fn pseudo_header(&self) -> Sum {
        let addresses = [self.src_addr.octets(), self.dst_addr.octets()];
        checksum::pseudo_header(addresses.as_flattened(), self.protocol, self.payload_size)
    }
}

/// The options of a header, one after the other; ends at the end-of-list option, and at one whose
/// length is not possible.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a>(&'a [u8]);

/// An option: its kind, copied bit and class included, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpOption<'a> {
    pub kind: u8,
    pub data: &'a [u8],
}

const OPTION_END: u8 = 0;
const OPTION_NO_OPERATION: u8 = 1;

impl<'a> Iterator for Options<'a> {
    type Item = IpOption<'a>;

    fn next(&mut self) -> Option<IpOption<'a>> {
        let kind = *self.0.first()?;
        let size = match kind {
            OPTION_END => return None,
            OPTION_NO_OPERATION => 1,
            _ => usize::from(*self.0.get(1)?),
        };
        let option = self.0.get(..size)?;
        let data = if kind == OPTION_NO_OPERATION { &[] } else { option.get(2..)? };
        self.0 = &self.0[size..];
        Some(IpOption { kind, data })
    }
}
