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
//! VLAN tags stay in front of every piece, and so do tunnels. A super-packet behind headers that are
//! not understood stays whole and goes on as it came; one whose headers contradict its [`Offload`] is
//! refused. Nothing is guessed. [`merge`](crate::merge) is the way back.

use std::fmt;

use crate::checksum;
use crate::headers::{
    IPV4_OWN_WORDS, Layout, LayoutError, PROTOCOL_SCTP, TCP_CWR, TCP_FIN, TCP_FLAGS_AT, TCP_PSH,
    Transport, add_words, double_word, ip_header, put_word, skip_vlan_tags, word,
};
use crate::offload::{ChecksumTask, GsoKind, Offload};
use crate::tail::{Note, Tail};
use crate::tunnel::Tunnel;

/// Why a received packet cannot become frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentError {
    /// Shorter than the headers it must have.
    Truncated,
    /// Not the protocol that its offload header names.
    UnexpectedHeaders,
    /// A piece size of zero.
    ZeroPieceSize,
    /// The checksum to finish lies outside the packet.
    ChecksumOutside,
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SegmentError::Truncated => "shorter than its headers",
            SegmentError::UnexpectedHeaders => "its headers are not those of its kind",
            SegmentError::ZeroPieceSize => "a super-packet with pieces of no size",
            SegmentError::ChecksumOutside => "its checksum lies outside of it",
        })
    }
}

impl std::error::Error for SegmentError {}

impl From<LayoutError> for SegmentError {
    fn from(error: LayoutError) -> SegmentError {
        match error {
            LayoutError::Truncated => SegmentError::Truncated,
            LayoutError::Unknown => SegmentError::UnexpectedHeaders,
        }
    }
}

/// Turns one received packet into frames, each handed to `emit` in order, with what is known of its
/// end: the payload of a piece is summed here, and need not be again.
///
/// Nothing is copied but headers: those of a piece are written in front of its payload, over the
/// end of the piece before, which is done with. So `packet` is garbage afterwards. `scratch` holds
/// the super-packet's headers meanwhile, and can be reused without allocating.
pub fn split(
    packet: &mut [u8],
    offload: Offload,
    scratch: &mut Vec<u8>,
    mut emit: impl FnMut(&[u8], Option<Tail>),
) -> Result<(), SegmentError> {
    match offload.gso {
        None => {
            if let Some(task) = offload.checksum {
                finish_checksum(packet, task)?;
            }
            emit(packet, None);
            Ok(())
        }
        Some((_, 0)) => Err(SegmentError::ZeroPieceSize),
        Some((kind, piece_size)) => {
            let (tunnel, layout) = match (find_headers(packet, offload.checksum), offload.checksum)
            {
                (Ok(found), _) => found,
                (Err(LayoutError::Unknown), Some(task)) => {
                    emit(packet, Some(unsplit(packet, kind, piece_size, task)?));
                    return Ok(());
                }
                (Err(error), _) => return Err(error.into()),
            };
            if !kind.fits(&layout) {
                return Err(SegmentError::UnexpectedHeaders);
            }
            let (head_size, piece_size) = (layout.payload_at, usize::from(piece_size));
            scratch.clear();
            scratch.extend_from_slice(&packet[..head_size]);
            let common = CommonSums::of(&layout, scratch);
            let last = (packet.len() - head_size).div_ceil(piece_size).max(1) - 1;
            for number in 0..=last {
                let from = number * piece_size;
                let to = packet.len().min(from + head_size + piece_size);
                let frame = &mut packet[from..to];
                frame[..head_size].copy_from_slice(scratch);
                let piece = Piece { number, payload_offset: from, is_last: number == last };
                let sum = piece.write_headers(&layout, &common, frame);
                if let Some(tunnel) = &tunnel {
                    tunnel.write_layers(frame, number);
                }
                let length_bytes = (frame.len() - head_size) as u32;
                emit(frame, Some(Tail { length_bytes, note: Note::Sum(sum) }));
            }
            Ok(())
        }
    }
}

/// The innermost headers, and what lies in front of them if that is more than Ethernet.
fn find_headers(
    packet: &[u8],
    task: Option<ChecksumTask>,
) -> Result<(Option<Tunnel>, Layout), LayoutError> {
    let plain = Layout::of(packet);
    match (plain, task) {
        (Ok(layout), None) => Ok((None, layout)),
        (Ok(layout), Some(task)) if layout.transport_at == usize::from(task.start) => {
            Ok((None, layout))
        }
        (Err(error), None) => Err(error),
        (_, Some(task)) => {
            let (tunnel, layout) = Tunnel::of(packet, task.start.into())?;
            Ok((Some(tunnel), layout))
        }
    }
}

/// What must be known of a super-packet that stays whole, for it to be sent on.
fn unsplit(
    packet: &[u8],
    kind: GsoKind,
    piece_size: u16,
    task: ChecksumTask,
) -> Result<Tail, SegmentError> {
    let (start, offset) = (usize::from(task.start), usize::from(task.offset));
    if start + offset + 2 > packet.len() {
        return Err(SegmentError::ChecksumOutside);
    }
    let note = Note::Unsplit { kind, piece_size, checksum_offset: task.offset };
    Ok(Tail { length_bytes: (packet.len() - start) as u32, note })
}

/// Sums what the hardware would have summed and stores the result.
fn finish_checksum(packet: &mut [u8], task: ChecksumTask) -> Result<(), SegmentError> {
    let start = usize::from(task.start);
    let field = start + usize::from(task.offset);
    if field + 2 > packet.len() {
        return Err(SegmentError::ChecksumOutside);
    }
    if is_sctp(packet, start) && field + 4 <= packet.len() {
        // SCTP's checksum is another one, in little-endian order (RFC 9260 section 6.8).
        packet[field..field + 4].fill(0);
        let crc = checksum::crc32c(&packet[start..]);
        packet[field..field + 4].copy_from_slice(&crc.to_le_bytes());
        return Ok(());
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

/// Whether the header at `start`, directly behind IP, is SCTP's.
fn is_sctp(packet: &[u8], start: usize) -> bool {
    skip_vlan_tags(packet, 0)
        .and_then(|(ether_type, ip_at)| ip_header(packet, ether_type, ip_at))
        .is_ok_and(|(_, protocol, next)| protocol == PROTOCOL_SCTP && next == start)
}

impl GsoKind {
    /// Whether the headers are those of this kind of super-packet.
    fn fits(self, layout: &Layout) -> bool {
        match self {
            GsoKind::Tcp4 => layout.transport == Transport::Tcp && !layout.ipv6,
            GsoKind::Tcp6 => layout.transport == Transport::Tcp && layout.ipv6,
            GsoKind::Udp => layout.transport == Transport::Udp,
        }
    }
}

/// Which frame of a super-packet is being made.
struct Piece {
    number: usize,
    /// Where its payload begins in that of the super-packet.
    payload_offset: usize,
    is_last: bool,
}

impl Piece {
    /// Turns the super-packet's headers, at the start of the frame, into those of the piece. Returns
    /// the sum of its payload.
    fn write_headers(&self, layout: &Layout, common: &CommonSums, frame: &mut [u8]) -> u16 {
        let (ip, transport) = (layout.ip_at, layout.transport_at);
        layout.write_lengths(frame, frame.len());
        if !layout.ipv6 {
            let identification = word(frame, ip + 4).wrapping_add(self.number as u16);
            put_word(frame, ip + 4, identification);
            let sum = add_words(common.ip, frame, ip, &IPV4_OWN_WORDS);
            put_word(frame, ip + 10, checksum::finish(sum));
        }
        if layout.transport == Transport::Tcp {
            self.write_tcp_header(transport, frame);
        }
        let payload = checksum::sum(0, &frame[layout.payload_at..]);
        let length = (frame.len() - transport) as u16;
        let own = layout.transport.own_words();
        let headers = add_words(common.transport, frame, transport, own);
        let sum = checksum::add(checksum::add(headers, length), payload);
        let value = match (checksum::finish(sum), layout.transport) {
            // For UDP it would mean "none".
            (0, Transport::Udp) => 0xffff,
            (value, _) => value,
        };
        put_word(frame, transport + layout.checksum_offset(), value);
        payload
    }

    fn write_tcp_header(&self, tcp: usize, frame: &mut [u8]) {
        let number = double_word(frame, tcp + 4).wrapping_add(self.payload_offset as u32);
        frame[tcp + 4..tcp + 8].copy_from_slice(&number.to_be_bytes());
        if self.number > 0 {
            frame[tcp + TCP_FLAGS_AT] &= !TCP_CWR;
        }
        if !self.is_last {
            frame[tcp + TCP_FLAGS_AT] &= !(TCP_FIN | TCP_PSH);
        }
    }
}

/// The sums over what the headers of all pieces have in common, so that of each piece only the words
/// that are its own need be added.
struct CommonSums {
    /// Of the IPv4 header.
    ip: u16,
    /// Of pseudo-header and transport header, without the length in the former.
    transport: u16,
}

impl CommonSums {
    /// Those of the super-packet whose headers these are.
    fn of(layout: &Layout, head: &[u8]) -> CommonSums {
        let (ip_at, at) = (layout.ip_at, layout.transport_at);
        let without = |sum: u16, start: usize, offsets: &[usize]| {
            offsets
                .iter()
                .fold(sum, |sum, offset| checksum::remove(sum, word(head, start + offset)))
        };
        let ip = without(checksum::sum(0, &head[ip_at..at]), ip_at, &IPV4_OWN_WORDS);
        let pseudo_header = layout.pseudo_header_sum(head, 0);
        let transport = checksum::sum(pseudo_header, &head[at..layout.payload_at]);
        let transport = without(transport, at, layout.transport.own_words());
        CommonSums {
            ip: without(ip, ip_at, &[10]),
            transport: without(transport, at, &[layout.checksum_offset()]),
        }
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
