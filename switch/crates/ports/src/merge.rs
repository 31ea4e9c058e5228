//! Frames that leave together into one super-packet, where no receiver can tell.
//!
//! The rule: a super-packet is made of frames only if [`segment::split`](crate::segment::split)
//! would make exactly these frames of it, every byte the same. So, for each frame but the first:
//!
//! | field | must be |
//! |---|---|
//! | addresses, VLAN tags, TTL, DSCP, ECN, options, ports, acknowledgement, window, timestamps | the same |
//! | lengths | those of the frame, without padding behind it |
//! | IPv4 identification | the one before + 1 |
//! | TCP sequence number | the one before + its payload |
//! | TCP FIN, PSH | only set in the last |
//! | TCP CWR | only set in the first |
//! | payload | as long as the first's, in the last not longer; never empty |
//! | checksums | right |
//!
//! A checksum that is wrong keeps its frame alone, so it arrives wrong. Frames stay in their order:
//! a frame of another flow in between ends the super-packet.

use crate::checksum;
use crate::headers::{
    IPV4_OWN_WORDS, Layout, TCP_CWR, TCP_FIN, TCP_FLAGS_AT, TCP_PSH, Transport, add_words,
    double_word, put_word, word,
};
use crate::offload::{ChecksumTask, GsoKind, HEADER_SIZE_BYTES, Offload};
use crate::tail::Tail;

/// The longest headers: Ethernet, two VLAN tags, IPv4 and TCP with all options.
const HEAD_SIZE_BYTES_MAX: usize = 14 + 8 + 60 + 60;
/// The longest IP packet.
const IP_LENGTH_BYTES_MAX: usize = 65_535;
/// The kernel splits a UDP super-packet into at most this many (`UDP_MAX_SEGMENTS` of old kernels).
const DATAGRAM_COUNT_MAX: usize = 64;

/// Offset of the checksum in an IPv4 header.
const IPV4_CHECKSUM_AT: usize = 10;

const TCP_ACK: u8 = 0x10;
const TCP_ECE: u8 = 0x40;
/// Segments with any other flag mean more than their bytes, and travel alone.
const TCP_FLAGS_PLAIN: u8 = TCP_ACK | TCP_CWR | TCP_ECE | TCP_FIN | TCP_PSH;
/// "More fragments" and the fragment offset of IPv4.
const FRAGMENT_MASK: u16 = 0x3fff;

/// A frame and what is known of its end.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The whole frame.
    pub bytes: &'a [u8],
    /// Saves reading the payload again.
    pub tail: Option<Tail>,
}

/// Frames that may leave as one, collected one by one.
#[derive(Clone)]
pub struct SuperPacket {
    layout: Layout,
    /// The first frame's headers; after [`SuperPacket::finish`], those of the super-packet.
    head: [u8; HEAD_SIZE_BYTES_MAX],
    /// Payload of the first frame in bytes.
    piece_size: usize,
    /// Frame lengths put together, headers counted once.
    length: usize,
    count: usize,
    /// What the first frame's own words sum up to, once its checksums are known to be right.
    own: OwnSums,
    /// Nothing can follow: the last frame is short or carries PSH or FIN, or the first is wrong.
    closed: bool,
}

impl SuperPacket {
    /// Begins with a frame, or not if no other could ever follow it.
    pub fn begin(frame: &[u8]) -> Option<SuperPacket> {
        let layout = Layout::of(frame).ok()?;
        let payload_size = frame.len() - layout.payload_at;
        if payload_size == 0 || !is_plain(&layout, frame) || ends_the_row(&layout, frame) {
            return None;
        }
        let mut head = [0; HEAD_SIZE_BYTES_MAX];
        head[..layout.payload_at].copy_from_slice(&frame[..layout.payload_at]);
        Some(SuperPacket {
            layout,
            head,
            piece_size: payload_size,
            length: frame.len(),
            count: 1,
            own: OwnSums::default(),
            closed: false,
        })
    }

    /// Takes the frame as the next one, or leaves everything as it is. `first` is the frame that
    /// the super-packet began with. The cheap questions come first: most frames that do not
    /// belong are found by a few bytes, and only what will be merged is summed.
    pub fn take(&mut self, first: Known<'_>, next: Known<'_>) -> bool {
        let (at, frame) = (self.layout.payload_at, next.bytes);
        if self.closed || frame.len() <= at || frame.len() > at + self.piece_size {
            return false;
        }
        let length = self.length + frame.len() - at;
        if !self.layout.fits(length) || !self.continues(frame) {
            return false;
        }
        if self.count == 1 {
            self.closed = !checksums_are_right(&self.layout, first);
            if self.closed {
                return false;
            }
            self.own = OwnSums::of(&self.layout, first);
        }
        // All other words are those of the first frame, whose sums are right.
        if !spells_zero_alike(&self.layout, frame) || OwnSums::of(&self.layout, next) != self.own {
            return false;
        }
        self.length = length;
        self.count += 1;
        if self.layout.transport == Transport::Tcp {
            let flags = self.layout.transport_at + TCP_FLAGS_AT;
            self.head[flags] |= frame[flags] & (TCP_FIN | TCP_PSH);
        }
        self.closed = frame.len() < at + self.piece_size
            || ends_the_row(&self.layout, frame)
            || self.layout.transport == Transport::Udp && self.count == DATAGRAM_COUNT_MAX;
        true
    }

    /// Whether another frame as long as the first could follow.
    pub fn has_room(&self) -> bool {
        !self.closed && self.layout.fits(self.length + self.piece_size)
    }

    /// How many frames it holds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many bytes of each frame are headers.
    pub fn head_size(&self) -> usize {
        self.layout.payload_at
    }

    /// Whether it is TCP or UDP: not every kernel takes super-packets of both.
    pub fn is_udp(&self) -> bool {
        self.layout.transport == Transport::Udp
    }

    /// Writes the headers of the whole. Returns them behind the virtio-net header that says what is
    /// left to whoever splits it again: the transport checksum is, as the kernel's own TCP leaves
    /// it, that of the pseudo-header only.
    pub fn finish(&mut self) -> ([u8; HEADER_SIZE_BYTES], &[u8]) {
        let layout = &self.layout;
        let head = &mut self.head[..layout.payload_at];
        layout.write_lengths(head, self.length);
        layout.write_ip_checksum(head);
        let pseudo_header = layout.pseudo_header_sum(head, self.length - layout.transport_at);
        put_word(head, layout.transport_at + layout.checksum_offset(), pseudo_header);
        let kind = match (layout.transport, layout.ipv6) {
            (Transport::Tcp, false) => GsoKind::Tcp4,
            (Transport::Tcp, true) => GsoKind::Tcp6,
            (Transport::Udp, _) => GsoKind::Udp,
        };
        let task = ChecksumTask {
            start: layout.transport_at as u16,
            offset: layout.checksum_offset() as u16,
        };
        // A payload is shorter than its IP packet, whose length is a word.
        let offload = Offload { checksum: Some(task), gso: Some((kind, self.piece_size as u16)) };
        let reduced = layout.transport == Transport::Tcp
            && head[layout.transport_at + TCP_FLAGS_AT] & TCP_CWR != 0;
        (offload.write(layout.payload_at as u16, reduced), head)
    }

    /// Whether the headers of `frame` are those of the first, one piece further on.
    fn continues(&self, frame: &[u8]) -> bool {
        let (ip, transport) = (self.layout.ip_at, self.layout.transport_at);
        let same = |from: usize, to: usize| self.head[from..to] == frame[from..to];
        let number = self.count as u16;
        let ip_continues = match self.layout.ipv6 {
            true => same(0, ip + 4) && same(ip + 6, transport),
            false => {
                same(0, ip + 2)
                    && word(frame, ip + 4) == word(&self.head, ip + 4).wrapping_add(number)
                    && same(ip + 6, ip + 10)
                    && same(ip + 12, transport)
            }
        };
        if !ip_continues || self.layout.stated_ip_length(frame) != frame.len() - ip {
            return false;
        }
        match self.layout.transport {
            Transport::Tcp => {
                let offset = (self.count * self.piece_size) as u32;
                let (flags, head_flags) =
                    (frame[transport + TCP_FLAGS_AT], self.head[transport + TCP_FLAGS_AT]);
                double_word(frame, transport + 4)
                    == double_word(&self.head, transport + 4).wrapping_add(offset)
                    && same(transport, transport + 4)
                    && same(transport + 8, transport + TCP_FLAGS_AT)
                    && flags & !(TCP_FIN | TCP_PSH) == head_flags & !TCP_CWR
                    && same(transport + TCP_FLAGS_AT + 1, transport + 16)
                    && same(transport + 18, self.layout.payload_at)
            }
            Transport::Udp => {
                same(transport, transport + 4)
                    && usize::from(word(frame, transport + 4)) == frame.len() - transport
                    && word(frame, transport + 6) != 0
            }
        }
    }
}

impl Layout {
    /// Whether a packet of so many bytes is not too long for its own header.
    fn fits(&self, length: usize) -> bool {
        length - self.ip_at <= IP_LENGTH_BYTES_MAX
    }
}

/// Whether the frame is one of a kind that is split: whole, unpadded and without special meaning.
fn is_plain(layout: &Layout, frame: &[u8]) -> bool {
    let (ip, transport) = (layout.ip_at, layout.transport_at);
    let is_fragment = !layout.ipv6 && word(frame, ip + 6) & FRAGMENT_MASK != 0;
    let transport_is_plain = match layout.transport {
        Transport::Tcp => {
            let flags = frame[transport + TCP_FLAGS_AT];
            flags & !TCP_FLAGS_PLAIN == 0 && flags & TCP_ACK != 0
        }
        // A checksum of zero means "none" (RFC 768): the pieces would get one.
        Transport::Udp => {
            usize::from(word(frame, transport + 4)) == frame.len() - transport
                && word(frame, transport + 6) != 0
        }
    };
    transport_is_plain && !is_fragment && layout.stated_ip_length(frame) == frame.len() - ip
}

/// Whether the frame can only be the last of a super-packet.
fn ends_the_row(layout: &Layout, frame: &[u8]) -> bool {
    layout.transport == Transport::Tcp
        && frame[layout.transport_at + TCP_FLAGS_AT] & (TCP_FIN | TCP_PSH) != 0
}

/// The sums over what is a frame's own in its row: the words in which the headers differ, checksums
/// included, and the payload. Frames of a row are right if one of them is and these sums agree.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct OwnSums {
    ip: u16,
    transport: u16,
}

impl OwnSums {
    fn of(layout: &Layout, frame: Known<'_>) -> OwnSums {
        let (bytes, at) = (frame.bytes, layout.transport_at);
        // Two spellings of zero are the same sum.
        let spelled = |sum: u16| if sum == 0xffff { 0 } else { sum };
        let ip = match layout.ipv6 {
            true => 0,
            false => {
                let sum = word(bytes, layout.ip_at + IPV4_CHECKSUM_AT);
                add_words(sum, bytes, layout.ip_at, &IPV4_OWN_WORDS)
            }
        };
        // The pseudo-header has the length, too.
        let sum = checksum::add((bytes.len() - at) as u16, frame.payload_sum(layout));
        let sum = checksum::add(sum, word(bytes, at + layout.checksum_offset()));
        let transport = add_words(sum, bytes, at, layout.transport.own_words());
        OwnSums { ip: spelled(ip), transport: spelled(transport) }
    }
}

impl Known<'_> {
    fn payload_sum(&self, layout: &Layout) -> u16 {
        let payload = &self.bytes[layout.payload_at..];
        let known = self.tail.and_then(|tail| tail.sum_of(payload.len()));
        known.unwrap_or_else(|| checksum::sum(0, payload))
    }
}

/// Whether checksums of zero are spelled as splitting would spell them. A right checksum makes the
/// sum of everything all ones; for IPv4 and TCP that leaves two spellings of zero, of which 0xffff
/// is never written.
fn spells_zero_alike(layout: &Layout, frame: &[u8]) -> bool {
    let transport = word(frame, layout.transport_at + layout.checksum_offset());
    (layout.ipv6 || word(frame, layout.ip_at + IPV4_CHECKSUM_AT) != 0xffff)
        && (layout.transport != Transport::Tcp || transport != 0xffff)
}

/// Whether the checksums are those that splitting would write.
fn checksums_are_right(layout: &Layout, frame: Known<'_>) -> bool {
    let (bytes, transport) = (frame.bytes, layout.transport_at);
    let headers = &bytes[transport..layout.payload_at];
    let ip_is_right = layout.ipv6 || checksum::sum(0, &bytes[layout.ip_at..transport]) == 0xffff;
    let pseudo_header = layout.pseudo_header_sum(bytes, bytes.len() - transport);
    let sum = checksum::add(pseudo_header, frame.payload_sum(layout));
    ip_is_right && spells_zero_alike(layout, bytes) && checksum::sum(sum, headers) == 0xffff
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
