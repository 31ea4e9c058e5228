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

use wire::tcp::{self, Flags, SeqNumber};
use wire::{Sum, ethernet, ipv4, ipv6, udp, vlan};

use crate::headers::{IPV4_OWN_WORDS, Layout, Transport, words};
use crate::offload::{ChecksumTask, GsoKind, HEADER_SIZE_BYTES, Offload};
use crate::tail::Tail;

/// The longest headers: Ethernet, all VLAN tags, IPv4 and TCP with all options.
const HEAD_SIZE_BYTES_MAX: usize = ethernet::HEADER_SIZE_BYTES
    + vlan::TAG_COUNT_MAX * vlan::TAG_SIZE_BYTES
    + ipv4::HEADER_SIZE_BYTES_MAX
    + tcp::HEADER_SIZE_BYTES_MAX;
/// The kernel splits a UDP super-packet into at most this many (`UDP_MAX_SEGMENTS` of old kernels).
const DATAGRAM_COUNT_MAX: usize = 64;

/// Those that only the last frame may have.
const LAST_FLAGS: u8 = Flags::FIN.union(Flags::PSH).low();
/// That which only the first frame may have.
const FIRST_FLAGS: u8 = Flags::CWR.low();
/// Segments with any other flag mean more than their bytes, and travel alone.
const PLAIN_FLAGS: u8 = Flags::ACK.union(Flags::ECE).low() | FIRST_FLAGS | LAST_FLAGS;

/// A frame and what is known of its end.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub bytes: &'a [u8],
    /// Saves reading the payload again.
    pub tail: Option<Tail>,
}

/// Which super-packets the kernel takes. All, until it refuses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merging {
    pub tcp: bool,
    pub udp: bool,
}

impl Merging {
    pub const ALL: Merging = Merging { tcp: true, udp: true };

    pub fn allows(self, packet: &SuperPacket) -> bool {
        if packet.is_udp() { self.udp } else { self.tcp }
    }
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
    /// The sum of the first frame's own words, once its checksums are known to be right.
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
            let flags = self.layout.transport_at + tcp::LOW_FLAGS.start();
            self.head[flags] |= frame[flags] & LAST_FLAGS;
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

    /// Writes the headers of the whole. Returns them behind the virtio-net header that describes
    /// the work left to the splitter: the transport checksum is, as the kernel's own TCP leaves it,
    /// that of the pseudo-header only.
    pub fn finish(&mut self) -> ([u8; HEADER_SIZE_BYTES], &[u8]) {
        let layout = &self.layout;
        let head = &mut self.head[..layout.payload_at];
        layout.write_lengths(head, self.length);
        layout.write_ip_checksum(head);
        let pseudo_header = layout.pseudo_header_sum(head, self.length - layout.transport_at);
        let checksum = layout.transport.checksum();
        checksum.set(&mut head[layout.transport_at..], pseudo_header.word());
        let kind = match (layout.transport, layout.ipv6) {
            (Transport::Tcp, false) => GsoKind::Tcp4,
            (Transport::Tcp, true) => GsoKind::Tcp6,
            (Transport::Udp, _) => GsoKind::Udp,
        };
        let task =
            ChecksumTask { start: layout.transport_at as u16, offset: checksum.start() as u16 };
        // A payload is shorter than its IP packet, whose length is a word.
        let offload = Offload { checksum: Some(task), gso: Some((kind, self.piece_size as u16)) };
        let reduced = layout.transport == Transport::Tcp
            && tcp::LOW_FLAGS.get(&head[layout.transport_at..]) & FIRST_FLAGS != 0;
        (offload.write(layout.payload_at as u16, reduced), head)
    }

    /// Whether the headers of `frame` are those of the first, one piece further on.
    fn continues(&self, frame: &[u8]) -> bool {
        let Layout { ipv6, ip_at, transport_at, payload_at, .. } = self.layout;
        // Whether the headers agree between two offsets from where one of them begins.
        let same = |at: usize, from: usize, to: usize| {
            self.head[at + from..at + to] == frame[at + from..at + to]
        };
        let number = self.count as u16;
        let ip_size = transport_at - ip_at;
        let ip_continues = match ipv6 {
            true => {
                same(0, 0, ip_at + ipv6::PAYLOAD_LEN.start())
                    && same(ip_at, ipv6::PAYLOAD_LEN.end(), ip_size)
            }
            false => {
                let [first, own] = [&self.head[ip_at..], &frame[ip_at..]]
                    .map(|header| ipv4::IDENTIFICATION.get(header));
                same(0, 0, ip_at + ipv4::TOTAL_LEN.start())
                    && own == first.wrapping_add(number)
                    && same(ip_at, ipv4::IDENTIFICATION.end(), ipv4::HDR_CHECKSUM.start())
                    && same(ip_at, ipv4::HDR_CHECKSUM.end(), ip_size)
            }
        };
        if !ip_continues || self.layout.stated_ip_length(frame) != frame.len() - ip_at {
            return false;
        }
        let same = |from: usize, to: usize| same(transport_at, from, to);
        let (head, frame) = (&self.head[transport_at..], &frame[transport_at..]);
        match self.layout.transport {
            Transport::Tcp => {
                let offset = (self.count * self.piece_size) as u32;
                let first: SeqNumber = tcp::SEQ_NUMBER.get(head);
                let [head_flags, flags] = [head, frame].map(|header| tcp::LOW_FLAGS.get(header));
                tcp::SEQ_NUMBER.get(frame) == first + offset
                    && same(0, tcp::SEQ_NUMBER.start())
                    && same(tcp::SEQ_NUMBER.end(), tcp::LOW_FLAGS.start())
                    && flags & !LAST_FLAGS == head_flags & !FIRST_FLAGS
                    && same(tcp::LOW_FLAGS.end(), tcp::CHECKSUM.start())
                    && same(tcp::CHECKSUM.end(), payload_at - transport_at)
            }
            Transport::Udp => same(0, udp::LENGTH.start()) && is_plain_datagram(frame),
        }
    }
}

impl Layout {
    /// Whether a packet of this many bytes fits its own header.
    fn fits(&self, length: usize) -> bool {
        length - self.ip_at <= ipv4::PACKET_SIZE_BYTES_MAX
    }
}

/// Whether the frame is one of a kind that is split: whole, unpadded and without special meaning.
fn is_plain(layout: &Layout, frame: &[u8]) -> bool {
    let (ip, transport) = (&frame[layout.ip_at..], &frame[layout.transport_at..]);
    let is_fragment = !layout.ipv6 && ipv4::FLAGS_FRAG_OFFSET.get(ip) & ipv4::FRAGMENT_MASK != 0;
    let transport_is_plain = match layout.transport {
        Transport::Tcp => {
            let flags = tcp::LOW_FLAGS.get(transport);
            flags & !PLAIN_FLAGS == 0 && flags & Flags::ACK.low() != 0
        }
        Transport::Udp => is_plain_datagram(transport),
    };
    transport_is_plain && !is_fragment && layout.stated_ip_length(frame) == ip.len()
}

/// Whether a datagram is unpadded and has a checksum: where there is none, the pieces would get one.
fn is_plain_datagram(datagram: &[u8]) -> bool {
    usize::from(udp::LENGTH.get(datagram)) == datagram.len() && udp::CHECKSUM.get(datagram) != 0
}

/// Whether the frame can only be the last of a super-packet.
fn ends_the_row(layout: &Layout, frame: &[u8]) -> bool {
    layout.transport == Transport::Tcp
        && tcp::LOW_FLAGS.get(&frame[layout.transport_at..]) & LAST_FLAGS != 0
}

/// The sums over what is a frame's own in its row: the words in which the headers differ, checksums
/// included, and the payload. Frames of a row are right if one of them is and these sums agree.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct OwnSums {
    ip: Sum,
    transport: Sum,
}

impl OwnSums {
    fn of(layout: &Layout, frame: Known<'_>) -> OwnSums {
        let (bytes, transport) = (frame.bytes, &frame.bytes[layout.transport_at..]);
        // Two spellings of zero are the same sum.
        let spelled = |sum: Sum| if sum.is_right() { Sum::ZERO } else { sum };
        let ip = match layout.ipv6 {
            true => Sum::ZERO,
            false => {
                let header = &bytes[layout.ip_at..];
                let sum = Sum::from_word(ipv4::HDR_CHECKSUM.get(header));
                words(header, &IPV4_OWN_WORDS).fold(sum, Sum::add)
            }
        };
        // The pseudo-header has the length, too.
        let sum = frame.payload_sum(layout).add(transport.len() as u16);
        let sum = sum.add(layout.transport.checksum().get(transport));
        let transport = words(transport, layout.transport.own_words()).fold(sum, Sum::add);
        OwnSums { ip: spelled(ip), transport: spelled(transport) }
    }
}

impl Known<'_> {
    fn payload_sum(&self, layout: &Layout) -> Sum {
        let payload = &self.bytes[layout.payload_at..];
        let known = self.tail.and_then(|tail| tail.sum_of(payload.len()));
        known.unwrap_or_else(|| Sum::of(payload))
    }
}

/// Whether checksums of zero are spelled as splitting would spell them. A right checksum makes the
/// sum of everything all ones; for IPv4 and TCP that leaves two spellings of zero, of which 0xffff
/// is never written.
fn spells_zero_alike(layout: &Layout, frame: &[u8]) -> bool {
    let ip_does = layout.ipv6 || ipv4::HDR_CHECKSUM.get(&frame[layout.ip_at..]) != 0xffff;
    ip_does
        && (layout.transport != Transport::Tcp
            || tcp::CHECKSUM.get(&frame[layout.transport_at..]) != 0xffff)
}

/// Whether the checksums are those that splitting would write.
fn checksums_are_right(layout: &Layout, frame: Known<'_>) -> bool {
    let (bytes, transport) = (frame.bytes, layout.transport_at);
    let headers = &bytes[transport..layout.payload_at];
    let ip_is_right = layout.ipv6 || Sum::of(&bytes[layout.ip_at..transport]).is_right();
    let pseudo_header = layout.pseudo_header_sum(bytes, bytes.len() - transport);
    let sum = pseudo_header.join(frame.payload_sum(layout)).then(headers);
    ip_is_right && spells_zero_alike(layout, bytes) && sum.is_right()
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
