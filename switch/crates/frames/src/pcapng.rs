//! Captures in the pcapng format (draft-ietf-opsawg-pcapng), with a switch's knowledge of a packet
//! in the format's own options.
//!
//! One file holds all ports: an interface description each, then an enhanced packet block for every
//! frame that came in, left, or was dropped. Numbers are in the machine's byte order, which the
//! section header tells readers.

use std::io::{self, Write};
use std::time::Duration;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const LINK_TYPE_ETHERNET: u16 = 1;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION_TEXT: u16 = 3;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
const PACKET_QUEUE: u16 = 6;
const PACKET_VERDICT: u16 = 7;

/// Time stamps count nanoseconds.
const RESOLUTION_NANOSECONDS: u8 = 9;
const FLAGS_INBOUND: u32 = 1;
const FLAGS_OUTBOUND: u32 = 2;
/// Verdicts are written in the numbers of XDP, the one kind that readers spell out for switches.
const VERDICT_KIND_XDP: u8 = 2;
const XDP_DROP: u64 = 1;
const XDP_PASS: u64 = 2;
const XDP_TX: u64 = 3;

/// A packet's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended in the switch.
    Dropped,
    /// It came in.
    Received,
    /// It left.
    Transmitted,
}

/// One frame with its metadata.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFrame<'a> {
    /// Since 1970.
    pub at: Duration,
    /// Which of the interfaces, in the order in which they were described.
    pub interface: u32,
    /// The queue of that interface, where it is known.
    pub queue: Option<u32>,
    /// The event.
    pub verdict: Verdict,
    /// In words.
    pub comment: &'a str,
    /// Its bytes, or the first of them.
    pub bytes: &'a [u8],
    /// How many it has.
    pub length: usize,
}

/// Writes one capture.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    /// One block, so that it reaches the file in one piece.
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a capture of these interfaces: name and description of each.
    pub fn new(out: W, application: &str, interfaces: &[(String, String)]) -> io::Result<Self> {
        let mut writer = PcapngWriter { out, block: Vec::new() };
        writer.begin(SECTION_HEADER);
        writer.block.extend(BYTE_ORDER_MAGIC.to_ne_bytes());
        writer.block.extend([1u16.to_ne_bytes(), 0u16.to_ne_bytes()].concat()); // version 1.0
        writer.block.extend(u64::MAX.to_ne_bytes()); // the section's length is not known yet
        writer.option(SECTION_APPLICATION, application.as_bytes());
        writer.end()?;
        for (name, description) in interfaces {
            writer.begin(INTERFACE_DESCRIPTION);
            writer.block.extend([LINK_TYPE_ETHERNET.to_ne_bytes(), [0; 2]].concat());
            writer.block.extend(0u32.to_ne_bytes()); // frames are not cut
            writer.option(INTERFACE_NAME, name.as_bytes());
            writer.option(INTERFACE_DESCRIPTION_TEXT, description.as_bytes());
            writer.option(INTERFACE_RESOLUTION, &[RESOLUTION_NANOSECONDS]);
            writer.end()?;
        }
        Ok(writer)
    }

    /// Appends a frame.
    pub fn write(&mut self, frame: &CapturedFrame<'_>) -> io::Result<()> {
        // 2^64 ns after 1970 is the year 2554.
        let stamp = frame.at.as_nanos() as u64;
        let (kept, length) = (frame.bytes.len() as u32, frame.length as u32);
        self.begin(ENHANCED_PACKET);
        for number in [frame.interface, (stamp >> 32) as u32, stamp as u32, kept, length] {
            self.block.extend(number.to_ne_bytes());
        }
        self.block.extend_from_slice(frame.bytes);
        self.pad();
        let (flags, verdict) = match frame.verdict {
            Verdict::Dropped => (0, XDP_DROP),
            Verdict::Received => (FLAGS_INBOUND, XDP_PASS),
            Verdict::Transmitted => (FLAGS_OUTBOUND, XDP_TX),
        };
        self.option(OPTION_COMMENT, frame.comment.as_bytes());
        self.option(PACKET_FLAGS, &u32::to_ne_bytes(flags));
        if let Some(queue) = frame.queue {
            self.option(PACKET_QUEUE, &queue.to_ne_bytes());
        }
        let mut value = [0; 9];
        value[0] = VERDICT_KIND_XDP;
        value[1..].copy_from_slice(&verdict.to_ne_bytes());
        self.option(PACKET_VERDICT, &value);
        self.end()
    }

    /// Where it is written to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Hands everything to the file.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_ne_bytes());
        self.block.extend([0; 4]); // the length, known at the end
    }

    /// An option of the block; one without a value is left out.
    fn option(&mut self, code: u16, value: &[u8]) {
        if value.is_empty() {
            return;
        }
        // Names and comments are ours and far below 64 KB.
        let length = value.len() as u16;
        self.block.extend([code.to_ne_bytes(), length.to_ne_bytes()].concat());
        self.block.extend_from_slice(value);
        self.pad();
    }

    /// Everything in the format begins at a multiple of four bytes.
    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn end(&mut self) -> io::Result<()> {
        self.block.extend([OPTION_END.to_ne_bytes(), [0; 2]].concat());
        let length = (self.block.len() + 4) as u32;
        self.block.extend(length.to_ne_bytes());
        self.block[4..8].copy_from_slice(&length.to_ne_bytes());
        self.out.write_all(&self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8], at: usize) -> u32 {
        u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// Kind and content of each block, read by their lengths in front, which must be those behind.
    fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
        let mut found = Vec::new();
        while !file.is_empty() {
            let length = number(file, 4) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(number(file, length - 4) as usize, length);
            found.push((number(file, 0), &file[8..length - 4]));
            file = &file[length..];
        }
        found
    }

    /// Code and value of each option.
    fn options(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
        let mut found = Vec::new();
        loop {
            let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
            let (code, length) = (half(0), usize::from(half(2)));
            if code == OPTION_END {
                assert_eq!(bytes.len(), 4);
                return found;
            }
            found.push((code, &bytes[4..4 + length]));
            bytes = &bytes[4 + length.next_multiple_of(4)..];
        }
    }

    #[test]
    fn a_dropped_packet_carries_its_queue_verdict_and_reason() {
        let mut file = Vec::new();
        let ports = [("s1-eth1".to_owned(), "port 1".to_owned())];
        let mut writer = PcapngWriter::new(&mut file, "vitrine", &ports).expect("to memory");
        let frame = CapturedFrame {
            at: Duration::new(3, 5),
            interface: 0,
            queue: Some(7),
            verdict: Verdict::Dropped,
            comment: "dropped: queue_limit",
            bytes: &[1, 2, 3, 4, 5],
            length: 9,
        };
        writer.write(&frame).expect("to memory");
        let blocks = blocks(&file);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE_DESCRIPTION, ENHANCED_PACKET]);
        let interface = options(&blocks[1].1[8..]);
        assert_eq!(interface[0], (INTERFACE_NAME, &b"s1-eth1"[..]));
        let packet = blocks[2].1;
        // 3 s and 5 ns are 3,000,000,005 ns, which fit into the lower half.
        assert_eq!((number(packet, 4), number(packet, 8)), (0, 3_000_000_005));
        assert_eq!((number(packet, 12), number(packet, 16)), (5, 9));
        assert_eq!(packet[20..28], [1, 2, 3, 4, 5, 0, 0, 0]);
        let told = options(&packet[28..]);
        assert_eq!(told[0], (OPTION_COMMENT, &b"dropped: queue_limit"[..]));
        assert_eq!(told[1], (PACKET_FLAGS, &[0; 4][..]));
        assert_eq!(told[2], (PACKET_QUEUE, &7u32.to_ne_bytes()[..]));
        assert_eq!(told[3].0, PACKET_VERDICT);
        assert_eq!(told[3].1, [&[VERDICT_KIND_XDP][..], &XDP_DROP.to_ne_bytes()].concat());
    }
}
