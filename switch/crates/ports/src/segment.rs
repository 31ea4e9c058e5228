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
//! [`Offload`] says is refused, never guessed at. [`merge`](crate::merge) is the way back.

use std::fmt;

use crate::checksum;
use crate::headers::{
    Layout, LayoutError, TCP_CWR, TCP_FIN, TCP_FLAGS_AT, TCP_PSH, Transport, double_word, put_word,
    word,
};
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

/// Turns one received packet into frames, each handed to `emit` in order.
///
/// Nothing is copied but headers: those of a piece are written in front of its payload, over the
/// end of the piece before, which is done with. So `packet` is garbage afterwards. `scratch` holds
/// the super-packet's headers meanwhile, and can be reused without allocating.
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
            let layout = Layout::of(packet)?;
            if !kind.fits(&layout) {
                return Err(SegmentError::UnexpectedHeaders);
            }
            let (head_size, piece_size) = (layout.payload_at, usize::from(piece_size));
            scratch.clear();
            scratch.extend_from_slice(&packet[..head_size]);
            let last = (packet.len() - head_size).div_ceil(piece_size).max(1) - 1;
            for number in 0..=last {
                let from = number * piece_size;
                let to = packet.len().min(from + head_size + piece_size);
                let frame = &mut packet[from..to];
                frame[..head_size].copy_from_slice(scratch);
                let piece = Piece { number, payload_offset: from, is_last: number == last };
                piece.write_headers(&layout, frame);
                emit(frame);
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
    /// Turns the super-packet's headers, at the start of the frame, into those of the piece.
    fn write_headers(&self, layout: &Layout, frame: &mut [u8]) {
        layout.write_lengths(frame, frame.len());
        if !layout.ipv6 {
            let identification = word(frame, layout.ip_at + 4).wrapping_add(self.number as u16);
            put_word(frame, layout.ip_at + 4, identification);
            layout.write_ip_checksum(frame);
        }
        if layout.transport == Transport::Tcp {
            self.write_tcp_header(layout.transport_at, frame);
        }
        write_transport_checksum(layout, frame);
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

fn write_transport_checksum(layout: &Layout, frame: &mut [u8]) {
    let transport = layout.transport_at;
    let field = transport + layout.checksum_offset();
    put_word(frame, field, 0);
    let pseudo_header = layout.pseudo_header_sum(frame, frame.len() - transport);
    let value = checksum::finish(checksum::sum(pseudo_header, &frame[transport..]));
    let value = if value == 0 && layout.transport == Transport::Udp { 0xffff } else { value };
    put_word(frame, field, value);
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
