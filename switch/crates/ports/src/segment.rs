//! Super-packets into the frames that a wire would have carried.
//!
//! What the kernel's own segmentation does, field by field:
//!
//! | field | in piece number i |
//! |---|---|
//! | IPv4 total length, IPv6 payload length, UDP length | that of the piece |
//! | IPv4 identification | the super-packet's + i |
//! | TCP sequence number | the super-packet's + i x gso_size |
//! | TCP FIN, PSH | only in the last piece |
//! | TCP CWR | only in the first piece |
//! | checksums | computed over the piece |
//!
//! VLAN tags stay in front of every piece. A super-packet whose headers do not lie where its
//! [`Offload`] says is refused, never guessed at.

use crate::checksum;
use crate::offload::{ChecksumTask, GsoKind, Offload};

/// Why a received packet cannot become frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentError {
    /// Shorter than the headers it must have.
    Truncated,
    /// Not the protocol that its offload header names (a tunnel, say).
    UnexpectedHeaders,
    /// A piece size of zero.
    ZeroPieceSize,
    /// The checksum to finish lies outside the packet.
    ChecksumOutside,
}

const ETHERNET_SIZE_BYTES: usize = 14;
const ETHERTYPE_AT: usize = 12;
const VLAN_TAG_SIZE_BYTES: usize = 4;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPES_VLAN: [u16; 2] = [0x8100, 0x88a8];
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;

/// Turns one received packet into frames, each handed to `emit` in order.
///
/// `packet` is changed in place where its checksum must be finished; the frames of a super-packet
/// are built in `scratch`, which is cleared first and can be reused without allocating.
pub fn split(
    packet: &mut [u8],
    offload: Offload,
    scratch: &mut Vec<u8>,
    mut emit: impl FnMut(&[u8]),
) -> Result<(), SegmentError> {
    match offload.gso {
        None => {
            if let Some(task) = offload.checksum {
                finish_checksum(packet, task)?;
            }
            emit(packet);
            Ok(())
        }
        Some((_, 0)) => Err(SegmentError::ZeroPieceSize),
        Some((kind, piece_size)) => {
            let layout = Layout::of(packet, kind)?;
            let payload_size = packet.len() - layout.payload_at;
            let pieces = payload_size.div_ceil(piece_size.into()).max(1);
            for piece in 0..pieces {
                layout.build(packet, piece, pieces, piece_size.into(), scratch);
                emit(scratch);
            }
            Ok(())
        }
    }
}

/// Sums what the hardware would have summed and stores the result.
fn finish_checksum(packet: &mut [u8], task: ChecksumTask) -> Result<(), SegmentError> {
    let start = usize::from(task.start);
    let field = start + usize::from(task.offset);
    if field + 2 > packet.len() {
        return Err(SegmentError::ChecksumOutside);
    }
    // The field already holds the pseudo-header's sum, so summing over it includes that.
    let mut value = checksum::finish(checksum::sum(0, &packet[start..]));
    // A UDP checksum of zero would mean "none" (RFC 768): the hardware sends ones instead. For TCP
    // both spell the same number, so one rule serves.
    if value == 0 {
        value = 0xffff;
    }
    put_word(packet, field, value);
    Ok(())
}

/// Where the headers of a super-packet lie.
struct Layout {
    kind: GsoKind,
    ipv6: bool,
    ip_at: usize,
    transport_at: usize,
    payload_at: usize,
}

impl Layout {
    fn of(packet: &[u8], kind: GsoKind) -> Result<Layout, SegmentError> {
        let (ether_type, ip_at) = skip_vlan_tags(packet)?;
        let (protocol, transport_at) = match ether_type {
            ETHERTYPE_IPV4 => {
                let header_size = usize::from(byte(packet, ip_at)? & 0xf) * 4;
                if header_size < 20 {
                    return Err(SegmentError::UnexpectedHeaders);
                }
                (byte(packet, ip_at + 9)?, ip_at + header_size)
            }
            ETHERTYPE_IPV6 => (byte(packet, ip_at + 6)?, ip_at + 40),
            _ => return Err(SegmentError::UnexpectedHeaders),
        };
        let expected = match kind {
            GsoKind::Tcp4 => ether_type == ETHERTYPE_IPV4 && protocol == PROTOCOL_TCP,
            GsoKind::Tcp6 => ether_type == ETHERTYPE_IPV6 && protocol == PROTOCOL_TCP,
            GsoKind::Udp => protocol == PROTOCOL_UDP,
        };
        if !expected {
            return Err(SegmentError::UnexpectedHeaders);
        }
        let transport_size = match kind {
            GsoKind::Tcp4 | GsoKind::Tcp6 => {
                let size = usize::from(byte(packet, transport_at + 12)? >> 4) * 4;
                if size < 20 {
                    return Err(SegmentError::UnexpectedHeaders);
                }
                size
            }
            GsoKind::Udp => 8,
        };
        let payload_at = transport_at + transport_size;
        if payload_at > packet.len() {
            return Err(SegmentError::Truncated);
        }
        let ipv6 = ether_type == ETHERTYPE_IPV6;
        Ok(Layout { kind, ipv6, ip_at, transport_at, payload_at })
    }

    /// Writes piece number `piece` of `pieces` into `frame`.
    fn build(
        &self,
        packet: &[u8],
        piece: usize,
        pieces: usize,
        piece_size: usize,
        frame: &mut Vec<u8>,
    ) {
        let payload = &packet[self.payload_at..];
        let from = piece * piece_size;
        let to = (from + piece_size).min(payload.len());
        frame.clear();
        frame.extend_from_slice(&packet[..self.payload_at]);
        frame.extend_from_slice(&payload[from..to]);

        self.write_ip_header(frame, piece);
        match self.kind {
            GsoKind::Tcp4 | GsoKind::Tcp6 => {
                self.write_tcp_header(frame, from, piece == 0, piece + 1 == pieces);
            }
            GsoKind::Udp => {
                let length = (frame.len() - self.transport_at) as u16;
                put_word(frame, self.transport_at + 4, length);
            }
        }
        self.write_transport_checksum(frame);
    }

    fn write_ip_header(&self, frame: &mut [u8], piece: usize) {
        let ip = self.ip_at;
        if self.ipv6 {
            put_word(frame, ip + 4, (frame.len() - ip - 40) as u16);
        } else {
            put_word(frame, ip + 2, (frame.len() - ip) as u16);
            let identification = word(frame, ip + 4).wrapping_add(piece as u16);
            put_word(frame, ip + 4, identification);
            put_word(frame, ip + 10, 0);
            let sum = checksum::sum(0, &frame[ip..self.transport_at]);
            put_word(frame, ip + 10, checksum::finish(sum));
        }
    }

    fn write_tcp_header(&self, frame: &mut [u8], payload_offset: usize, first: bool, last: bool) {
        let tcp = self.transport_at;
        let number = [frame[tcp + 4], frame[tcp + 5], frame[tcp + 6], frame[tcp + 7]];
        let number = u32::from_be_bytes(number).wrapping_add(payload_offset as u32);
        frame[tcp + 4..tcp + 8].copy_from_slice(&number.to_be_bytes());
        if !first {
            frame[tcp + 13] &= !TCP_CWR;
        }
        if !last {
            frame[tcp + 13] &= !(TCP_FIN | TCP_PSH);
        }
    }

    fn write_transport_checksum(&self, frame: &mut [u8]) {
        let (field, protocol) = match self.kind {
            GsoKind::Tcp4 | GsoKind::Tcp6 => (self.transport_at + 16, PROTOCOL_TCP),
            GsoKind::Udp => (self.transport_at + 6, PROTOCOL_UDP),
        };
        put_word(frame, field, 0);
        let addresses = match self.ipv6 {
            true => self.ip_at + 8..self.ip_at + 40,
            false => self.ip_at + 12..self.ip_at + 20,
        };
        let length = (frame.len() - self.transport_at) as u16;
        let pseudo_header =
            checksum::sum(checksum::add(protocol.into(), length), &frame[addresses]);
        let value = checksum::finish(checksum::sum(pseudo_header, &frame[self.transport_at..]));
        let value = if value == 0 && self.kind == GsoKind::Udp { 0xffff } else { value };
        put_word(frame, field, value);
    }
}

/// The EtherType behind up to two VLAN tags, and where the header it names begins.
fn skip_vlan_tags(packet: &[u8]) -> Result<(u16, usize), SegmentError> {
    let mut at = ETHERTYPE_AT;
    for _ in 0..=2 {
        let ether_type = u16::from_be_bytes([byte(packet, at)?, byte(packet, at + 1)?]);
        if !ETHERTYPES_VLAN.contains(&ether_type) {
            return Ok((ether_type, at + ETHERNET_SIZE_BYTES - ETHERTYPE_AT));
        }
        at += VLAN_TAG_SIZE_BYTES;
    }
    Err(SegmentError::UnexpectedHeaders)
}

fn byte(packet: &[u8], at: usize) -> Result<u8, SegmentError> {
    packet.get(at).copied().ok_or(SegmentError::Truncated)
}

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

fn put_word(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
