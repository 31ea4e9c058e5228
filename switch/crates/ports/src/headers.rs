//! Where the headers of an IPv4 or IPv6 frame with TCP or UDP lie, and its words in them.

use crate::checksum;

pub(crate) const PROTOCOL_TCP: u8 = 6;
pub(crate) const PROTOCOL_UDP: u8 = 17;
pub(crate) const PROTOCOL_SCTP: u8 = 132;

pub(crate) const TCP_FIN: u8 = 0x01;
pub(crate) const TCP_PSH: u8 = 0x08;
pub(crate) const TCP_CWR: u8 = 0x80;

/// Offset of the flags in a TCP header.
pub(crate) const TCP_FLAGS_AT: usize = 13;

const ETHERNET_SIZE_BYTES: usize = 14;
const ETHERTYPE_AT: usize = 12;
const VLAN_TAG_SIZE_BYTES: usize = 4;
const VLAN_TAGS_MAX: usize = 2;
pub(crate) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(crate) const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPES_VLAN: [u16; 2] = [0x8100, 0x88a8];
const IPV6_SIZE_BYTES: usize = 40;
const UDP_SIZE_BYTES: usize = 8;

/// Why a frame has no [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// Shorter than the headers it must have.
    Truncated,
    /// Something else than IPv4 or IPv6 and directly behind it TCP or UDP.
    Unknown,
}

/// The protocol that carries the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Udp,
}

/// Where the IPv4 headers of the pieces of one super-packet differ, besides their checksums: total
/// length and identification.
pub(crate) const IPV4_OWN_WORDS: [usize; 2] = [2, 4];

impl Transport {
    /// Where the transport headers of the pieces of one super-packet differ, besides their checksums.
    /// TCP: both halves of the sequence number, and the flags; UDP: the length.
    pub fn own_words(self) -> &'static [usize] {
        match self {
            Transport::Tcp => &[4, 6, 12],
            Transport::Udp => &[4],
        }
    }
}

/// Offsets of the headers from the frame's first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub transport: Transport,
    pub ipv6: bool,
    pub ip_at: usize,
    pub transport_at: usize,
    pub payload_at: usize,
}

impl Layout {
    /// Finds the headers behind up to two VLAN tags.
    pub fn of(frame: &[u8]) -> Result<Layout, LayoutError> {
        let (ether_type, ip_at) = skip_vlan_tags(frame, 0)?;
        let (ipv6, protocol, transport_at) = ip_header(frame, ether_type, ip_at)?;
        let (transport, transport_size) = transport_header(frame, protocol, transport_at)?;
        let payload_at = transport_at + transport_size;
        if payload_at > frame.len() {
            return Err(LayoutError::Truncated);
        }
        Ok(Layout { transport, ipv6, ip_at, transport_at, payload_at })
    }

    /// The sum of the pseudo-header for `length` bytes of transport header and payload.
    pub fn pseudo_header_sum(&self, frame: &[u8], length: usize) -> u16 {
        let addresses = match self.ipv6 {
            true => self.ip_at + 8..self.ip_at + 40,
            false => self.ip_at + 12..self.ip_at + 20,
        };
        let protocol = match self.transport {
            Transport::Tcp => PROTOCOL_TCP,
            Transport::Udp => PROTOCOL_UDP,
        };
        // A length above 65,535 is no frame's; the cut is the same at both ends of a wire.
        checksum::sum(checksum::add(protocol.into(), length as u16), &frame[addresses])
    }

    /// Where the transport header keeps its checksum, from its own start.
    pub fn checksum_offset(&self) -> usize {
        match self.transport {
            Transport::Tcp => 16,
            Transport::Udp => 6,
        }
    }

    /// The length that the IP header states, from its first byte on.
    pub fn stated_ip_length(&self, frame: &[u8]) -> usize {
        match self.ipv6 {
            true => usize::from(word(frame, self.ip_at + 4)) + IPV6_SIZE_BYTES,
            false => word(frame, self.ip_at + 2).into(),
        }
    }

    /// Writes the lengths that belong to a frame of `length` bytes.
    pub fn write_lengths(&self, frame: &mut [u8], length: usize) {
        match self.ipv6 {
            true => put_word(frame, self.ip_at + 4, (length - self.ip_at - IPV6_SIZE_BYTES) as u16),
            false => put_word(frame, self.ip_at + 2, (length - self.ip_at) as u16),
        }
        if self.transport == Transport::Udp {
            put_word(frame, self.transport_at + 4, (length - self.transport_at) as u16);
        }
    }

    /// Writes the checksum of the IPv4 header; IPv6 has none.
    pub fn write_ip_checksum(&self, frame: &mut [u8]) {
        if !self.ipv6 {
            put_word(frame, self.ip_at + 10, 0);
            let sum = checksum::sum(0, &frame[self.ip_at..self.transport_at]);
            put_word(frame, self.ip_at + 10, checksum::finish(sum));
        }
    }
}

/// Whether the IP header at `at` is IPv6, the protocol behind it, and where that begins.
pub(crate) fn ip_header(
    frame: &[u8],
    ether_type: u16,
    at: usize,
) -> Result<(bool, u8, usize), LayoutError> {
    match ether_type {
        ETHERTYPE_IPV4 => {
            let version_and_size = byte(frame, at)?;
            let header_size = usize::from(version_and_size & 0xf) * 4;
            if version_and_size >> 4 != 4 || header_size < 20 {
                return Err(LayoutError::Unknown);
            }
            Ok((false, byte(frame, at + 9)?, at + header_size))
        }
        ETHERTYPE_IPV6 => Ok((true, byte(frame, at + 6)?, at + IPV6_SIZE_BYTES)),
        _ => Err(LayoutError::Unknown),
    }
}

/// Which transport header begins at `at`, and its size.
pub(crate) fn transport_header(
    frame: &[u8],
    protocol: u8,
    at: usize,
) -> Result<(Transport, usize), LayoutError> {
    match protocol {
        PROTOCOL_TCP => {
            let size = usize::from(byte(frame, at + 12)? >> 4) * 4;
            if size < 20 { Err(LayoutError::Unknown) } else { Ok((Transport::Tcp, size)) }
        }
        PROTOCOL_UDP => Ok((Transport::Udp, UDP_SIZE_BYTES)),
        _ => Err(LayoutError::Unknown),
    }
}

/// The EtherType behind the VLAN tags of the Ethernet header at `start`, and where the header it
/// names begins.
pub(crate) fn skip_vlan_tags(frame: &[u8], start: usize) -> Result<(u16, usize), LayoutError> {
    let mut at = start + ETHERTYPE_AT;
    for _ in 0..=VLAN_TAGS_MAX {
        let ether_type = u16::from_be_bytes([byte(frame, at)?, byte(frame, at + 1)?]);
        if !ETHERTYPES_VLAN.contains(&ether_type) {
            return Ok((ether_type, at + ETHERNET_SIZE_BYTES - ETHERTYPE_AT));
        }
        at += VLAN_TAG_SIZE_BYTES;
    }
    Err(LayoutError::Unknown)
}

pub(crate) fn byte(frame: &[u8], at: usize) -> Result<u8, LayoutError> {
    frame.get(at).copied().ok_or(LayoutError::Truncated)
}

/// The two bytes at `at` as a number.
pub(crate) fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

/// `sum` and the words at these offsets from `start`.
pub(crate) fn add_words(sum: u16, frame: &[u8], start: usize, offsets: &[usize]) -> u16 {
    offsets.iter().fold(sum, |sum, offset| checksum::add(sum, word(frame, start + offset)))
}

/// Writes a number into the two bytes at `at`.
pub(crate) fn put_word(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The four bytes at `at` as a number.
pub(crate) fn double_word(frame: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]])
}
