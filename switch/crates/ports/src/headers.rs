//! Where the headers of an IPv4 or IPv6 frame with TCP or UDP lie, and its words in them.

use wire::checksum::pseudo_header;
use wire::{EtherType, Field, Protocol, Sum, WireError};
use wire::{ipv4, ipv6, tcp, udp, vlan};

/// The protocol that carries the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Udp,
}

/// Where the IPv4 headers of the pieces of one super-packet differ, besides their checksums.
pub(crate) const IPV4_OWN_WORDS: [usize; 2] =
    [ipv4::TOTAL_LEN.start(), ipv4::IDENTIFICATION.start()];
/// The same of TCP: both halves of the sequence number, and the flags.
const TCP_OWN_WORDS: [usize; 3] =
    [tcp::SEQ_NUMBER.start(), tcp::SEQ_NUMBER.start() + 2, tcp::OFFSET_FLAGS.start()];
const UDP_OWN_WORDS: [usize; 1] = [udp::LENGTH.start()];

impl Transport {
    /// Where the transport headers of the pieces of one super-packet differ, besides their checksums.
    pub fn own_words(self) -> &'static [usize] {
        match self {
            Transport::Tcp => &TCP_OWN_WORDS,
            Transport::Udp => &UDP_OWN_WORDS,
        }
    }

    /// Where the header keeps its checksum.
    pub fn checksum(self) -> Field<u16> {
        match self {
            Transport::Tcp => tcp::CHECKSUM,
            Transport::Udp => udp::CHECKSUM,
        }
    }

    fn protocol(self) -> Protocol {
        match self {
            Transport::Tcp => Protocol::TCP,
            Transport::Udp => Protocol::UDP,
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
    /// Finds the headers behind the VLAN tags.
    pub fn of(frame: &[u8]) -> Result<Layout, WireError> {
        let (ether_type, ip_at) = vlan::skip(frame)?;
        let (ipv6, protocol, transport_at) = ip_header(frame, ether_type, ip_at)?;
        let (transport, transport_size) = transport_header(frame, protocol, transport_at)?;
        let payload_at = transport_at + transport_size;
        if payload_at > frame.len() {
            return Err(WireError::Truncated);
        }
        Ok(Layout { transport, ipv6, ip_at, transport_at, payload_at })
    }

    /// The sum of the pseudo-header for `length` bytes of transport header and payload.
    pub fn pseudo_header_sum(&self, frame: &[u8], length: usize) -> Sum {
        pseudo_header(addresses(frame, self.ip_at, self.ipv6), self.transport.protocol(), length)
    }

    /// The length that the IP header states, from its first byte on.
    pub fn stated_ip_length(&self, frame: &[u8]) -> usize {
        let header = &frame[self.ip_at..];
        match self.ipv6 {
            true => usize::from(ipv6::PAYLOAD_LEN.get(header)) + ipv6::HEADER_SIZE_BYTES,
            false => ipv4::TOTAL_LEN.get(header).into(),
        }
    }

    /// Writes the lengths that belong to a frame of `length` bytes.
    pub fn write_lengths(&self, frame: &mut [u8], length: usize) {
        let (ip_length, transport_length) = (length - self.ip_at, length - self.transport_at);
        let header = &mut frame[self.ip_at..];
        match self.ipv6 {
            true => ipv6::PAYLOAD_LEN.set(header, (ip_length - ipv6::HEADER_SIZE_BYTES) as u16),
            false => ipv4::TOTAL_LEN.set(header, ip_length as u16),
        }
        if self.transport == Transport::Udp {
            udp::LENGTH.set(&mut frame[self.transport_at..], transport_length as u16);
        }
    }

    /// Writes the checksum of the IPv4 header; IPv6 has none.
    pub fn write_ip_checksum(&self, frame: &mut [u8]) {
        if !self.ipv6 {
            ipv4::fill_checksum(&mut frame[self.ip_at..self.transport_at]);
        }
    }
}

/// Source and destination in the IP header that begins `at`.
pub(crate) fn addresses(frame: &[u8], at: usize, ipv6: bool) -> &[u8] {
    let range = if ipv6 { ipv6::ADDRESSES } else { ipv4::ADDRESSES };
    &frame[at..][range]
}

/// Whether the IP header at `at` is IPv6, the protocol behind it, and where that begins.
pub(crate) fn ip_header(
    frame: &[u8],
    ether_type: EtherType,
    at: usize,
) -> Result<(bool, Protocol, usize), WireError> {
    let header = from(frame, at)?;
    match ether_type {
        EtherType::IPV4 => {
            let size = ipv4::header_size(header)?;
            Ok((false, ipv4::PROTOCOL.get_checked(header)?, at + size))
        }
        EtherType::IPV6 => {
            Ok((true, ipv6::NEXT_HDR.get_checked(header)?, at + ipv6::HEADER_SIZE_BYTES))
        }
        _ => Err(WireError::Malformed),
    }
}

/// Which transport header begins at `at`, and its size.
pub(crate) fn transport_header(
    frame: &[u8],
    protocol: Protocol,
    at: usize,
) -> Result<(Transport, usize), WireError> {
    match protocol {
        Protocol::TCP => Ok((Transport::Tcp, tcp::header_size(from(frame, at)?)?)),
        Protocol::UDP => Ok((Transport::Udp, udp::HEADER_SIZE_BYTES)),
        _ => Err(WireError::Malformed),
    }
}

/// The frame from this offset on.
pub(crate) fn from(frame: &[u8], at: usize) -> Result<&[u8], WireError> {
    frame.get(at..).ok_or(WireError::Truncated)
}

/// The words of a header at these offsets.
pub(crate) fn words<'a>(header: &'a [u8], offsets: &'a [usize]) -> impl Iterator<Item = u16> + 'a {
    offsets.iter().map(|offset| Field::<u16>::at(*offset).get(header))
}

/// The two bytes at `at` as a number.
#[cfg(test)]
pub(crate) fn word(frame: &[u8], at: usize) -> u16 {
    Field::at(at).get(frame)
}
