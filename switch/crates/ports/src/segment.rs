//! Super-packets into the frames that a wire would have carried.
//!
//! The kernel's own segmentation, field by field:
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
use std::ops::Range;

use wire::tcp::{self, Flags};
use wire::{Field, Protocol, Sum, WireError, ipv4, udp, vlan};

use crate::headers::{IPV4_OWN_WORDS, Layout, Transport, ip_header, words};
use crate::offload::{ChecksumTask, GsoKind, Offload};
use crate::tail::{Note, Tail};
use crate::tunnel::Tunnel;

/// RFC 9260 appendix A: CRC-32C.
const SCTP_CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);

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

impl From<WireError> for SegmentError {
    fn from(error: WireError) -> SegmentError {
        match error {
            WireError::Truncated => SegmentError::Truncated,
            WireError::Malformed => SegmentError::UnexpectedHeaders,
        }
    }
}

/// Turns one received packet into frames, each handed to `emit` in order.
pub fn split(
    packet: &mut [u8],
    offload: Offload,
    emit: impl FnMut(&Piece<'_>),
) -> Result<(), SegmentError> {
    split_some(packet, offload, 0..usize::MAX, emit).map(drop)
}

/// The same with only those of its frames whose numbers are in `range`: a sender chooses how small
/// the pieces are, and 65,000 frames are too many for one turn. Returns the number to go on with if
/// some are left.
pub fn split_some(
    packet: &mut [u8],
    offload: Offload,
    range: Range<usize>,
    mut emit: impl FnMut(&Piece<'_>),
) -> Result<Option<usize>, SegmentError> {
    match offload.gso {
        None => {
            if let Some(task) = offload.checksum {
                finish_checksum(packet, task)?;
            }
            emit(&Piece::whole(packet, None));
            Ok(None)
        }
        Some((_, 0)) => Err(SegmentError::ZeroPieceSize),
        Some((kind, piece_size)) => {
            let (tunnel, layout) = match (find_headers(packet, offload.checksum), offload.checksum)
            {
                (Ok(found), _) => found,
                (Err(WireError::Malformed), Some(task)) => {
                    let tail = unsplit(packet, kind, piece_size, task)?;
                    emit(&Piece::whole(packet, Some(tail)));
                    return Ok(None);
                }
                (Err(error), _) => return Err(error.into()),
            };
            if !kind.fits(&layout) {
                return Err(SegmentError::UnexpectedHeaders);
            }
            let (head, payloads) = packet.split_at(layout.payload_at);
            let common = CommonSums::of(&layout, head);
            let row = Row { layout, common, tunnel };
            let piece_size = usize::from(piece_size);
            let count = payloads.len().div_ceil(piece_size).max(1);
            let end = range.end.min(count);
            for number in range.start..end {
                let from = number * piece_size;
                let payload = &payloads[from..payloads.len().min(from + piece_size)];
                let sum = Sum::of(payload);
                let is_last = number + 1 == count;
                let place = Place { row: &row, number, payload_offset: from, is_last, sum };
                emit(&Piece { head, payload, place: Some(place), unsplit: None });
            }
            Ok((end < count).then_some(end))
        }
    }
}

/// A frame that has not been put together yet: two [`parts`](Piece::parts), to be copied one behind
/// the other to where it is to be, and [finished](Piece::finish) there.
pub struct Piece<'a> {
    /// The super-packet's headers; of a packet that is no super-packet, all of it.
    head: &'a [u8],
    payload: &'a [u8],
    /// The place that makes the headers those of the piece.
    place: Option<Place<'a>>,
    /// The known facts about a super-packet that stays one.
    unsplit: Option<Tail>,
}

/// The common part of all pieces of a super-packet.
struct Row {
    layout: Layout,
    common: CommonSums,
    tunnel: Option<Tunnel>,
}

/// Which frame of a super-packet is being made.
struct Place<'a> {
    row: &'a Row,
    number: usize,
    /// Where its payload begins in that of the super-packet.
    payload_offset: usize,
    is_last: bool,
    /// The sum of its payload.
    sum: Sum,
}

impl<'a> Piece<'a> {
    /// A packet that is a frame as it is.
    fn whole(packet: &'a [u8], unsplit: Option<Tail>) -> Piece<'a> {
        Piece { head: packet, payload: &[], place: None, unsplit }
    }

    /// The frame's length in bytes.
    pub fn length_bytes(&self) -> usize {
        self.head.len() + self.payload.len()
    }

    /// The parts to be joined.
    pub fn parts(&self) -> [&'a [u8]; 2] {
        [self.head, self.payload]
    }

    /// The known facts about the frame's end: the payload of a piece has been summed, and need not
    /// be again.
    #[inline]
    pub fn tail(&self) -> Option<Tail> {
        match &self.place {
            Some(Place { sum, .. }) => {
                Some(Tail { length_bytes: self.payload.len() as u32, note: Note::Sum(*sum) })
            }
            None => self.unsplit,
        }
    }

    /// Makes the parts, put together, the frame.
    pub fn finish(&self, frame: &mut [u8]) {
        let Some(place) = &self.place else { return };
        place.write_headers(self.head, frame);
        if let Some(tunnel) = &place.row.tunnel {
            tunnel.write_layers(frame, place.number);
        }
    }

    pub fn to_vec(&self) -> Vec<u8> {
        let mut frame = self.parts().concat();
        self.finish(&mut frame);
        frame
    }
}

/// The innermost headers, and what lies in front of them if that is more than Ethernet.
fn find_headers(
    packet: &[u8],
    task: Option<ChecksumTask>,
) -> Result<(Option<Tunnel>, Layout), WireError> {
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

/// The facts about a super-packet that stays whole that sending it on requires.
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
        let crc = SCTP_CHECKSUM.checksum(&packet[start..]);
        packet[field..field + 4].copy_from_slice(&crc.to_le_bytes());
        return Ok(());
    }
    // The field already holds the pseudo-header's sum, so summing over it includes that. For TCP 0 and
    // 0xffff are the same number, so the rule for UDP, as which the hardware sums, serves both.
    let checksum = udp::checksum(Sum::of(&packet[start..]));
    Field::<u16>::at(field).set(packet, checksum);
    Ok(())
}

/// Whether the header at `start`, directly behind IP, is SCTP's.
fn is_sctp(packet: &[u8], start: usize) -> bool {
    vlan::skip(packet)
        .and_then(|(ether_type, ip_at)| ip_header(packet, ether_type, ip_at))
        .is_ok_and(|(_, protocol, next)| protocol == Protocol::SCTP && next == start)
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

impl Place<'_> {
    /// Turns the super-packet's headers, at the start of the frame, into those of the piece.
    ///
    /// They are written there, and read as `head`, where they were received. Bytes just written in
    /// pieces of one size and read in pieces of another have to be put away first, and with them
    /// all that was written before, the last frame included: that takes longer than all else here.
    fn write_headers(&self, head: &[u8], frame: &mut [u8]) {
        let Row { layout, common, .. } = self.row;
        let (ip, transport) = (layout.ip_at, layout.transport_at);
        layout.write_lengths(frame, frame.len());
        if !layout.ipv6 {
            let length = (frame.len() - ip) as u16;
            let first = ipv4::IDENTIFICATION.get(&head[ip..]);
            let identification = first.wrapping_add(self.number as u16);
            let header = &mut frame[ip..];
            ipv4::IDENTIFICATION.set(header, identification);
            let sum = common.ip.add(length).add(identification);
            ipv4::HDR_CHECKSUM.set(header, sum.checksum());
        }
        let length = (frame.len() - transport) as u16;
        let (head, header) = (&head[transport..], &mut frame[transport..]);
        let sum = common.transport.add(length).join(self.sum);
        match layout.transport {
            Transport::Tcp => {
                let own = self.write_tcp_header(head, header);
                tcp::CHECKSUM.set(header, sum.join(own).checksum());
            }
            Transport::Udp => udp::CHECKSUM.set(header, udp::checksum(sum.add(length))),
        }
    }

    /// Returns the sum of the header's own words.
    fn write_tcp_header(&self, head: &[u8], header: &mut [u8]) -> Sum {
        let number = tcp::SEQ_NUMBER.get(head) + self.payload_offset as u32;
        tcp::SEQ_NUMBER.set(header, number);
        let mut flags = tcp::LOW_FLAGS.get(head);
        if self.number > 0 {
            flags &= !Flags::CWR.low();
        }
        if !self.is_last {
            flags &= !Flags::FIN.union(Flags::PSH).low();
        }
        tcp::LOW_FLAGS.set(header, flags);
        let offset_flags = u16::from_be_bytes([tcp::DATA_OFFSET.get(head), flags]);
        Sum::from_word((number.0 >> 16) as u16).add(number.0 as u16).add(offset_flags)
    }
}

/// The sums over what the headers of all pieces have in common, so that of each piece only the words
/// that are its own need be added.
struct CommonSums {
    /// Of the IPv4 header.
    ip: Sum,
    /// Of pseudo-header and transport header, without the length in the former.
    transport: Sum,
}

impl CommonSums {
    /// Those of the super-packet whose headers these are.
    fn of(layout: &Layout, head: &[u8]) -> CommonSums {
        let (ip, transport) = (
            &head[layout.ip_at..layout.transport_at],
            &head[layout.transport_at..layout.payload_at],
        );
        let without = |sum: Sum, header: &[u8], own: &[usize], checksum: Field<u16>| {
            words(header, own).fold(sum, Sum::remove).remove(checksum.get(header))
        };
        let transport_sum = layout.pseudo_header_sum(head, 0).then(transport);
        let own_words = layout.transport.own_words();
        CommonSums {
            // IPv6 has no checksum of its header, so this sum is not used.
            ip: without(Sum::of(ip), ip, &IPV4_OWN_WORDS, ipv4::HDR_CHECKSUM),
            transport: without(transport_sum, transport, own_words, layout.transport.checksum()),
        }
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
