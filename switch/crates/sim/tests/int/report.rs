//! Telemetry reports and INT stacks as bytes: the parts of the specifications that the test needs.

/// UDP behind Ethernet and IPv4.
pub const UDP_PAYLOAD: usize = 14 + 20 + 8;
const GROUP_BYTES: usize = 8;
const REPORT_BYTES: usize = 12;
const SHIM_BYTES: usize = 4;
const INT_HEADER_BYTES: usize = 12;
const DSCP_INT: u8 = 0x17;
const DROPPED: u8 = 0x80;

/// All instructions but the node id and the checksum complement.
pub const BITMAP: u16 = 0x7f80;
/// The words of a hop: its id, and 11 for the rest.
pub const HOP_WORDS: usize = 12;

/// One node's metadata on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    pub node: u32,
    pub ingress_port: u64,
    pub egress_port: u64,
    pub latency_ns: u64,
    pub queue: u64,
    pub occupancy_bytes: u64,
    pub ingress_ns: u64,
    pub egress_ns: u64,
    pub ingress_interface: u64,
    pub egress_interface: u64,
    pub utilisation: u64,
    pub buffer_bytes: u64,
}

/// A report on a packet that a queue dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DropReport {
    pub node: u32,
    pub ingress_port: u64,
    pub egress_port: u64,
    pub ingress_ns: u64,
    pub queue: u64,
    pub reason: u64,
}

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// On a packet that left the domain: its number, and its hops in the order of its way.
    Tracked { packet: u64, hops: Vec<Hop> },
    /// On a packet that was dropped.
    Dropped(DropReport),
}

/// The number that the test gave the packet in this frame, behind INT if it has INT.
pub fn packet_number(frame: &[u8]) -> u64 {
    let has_int = frame[15] >> 2 == DSCP_INT;
    let int_bytes = if has_int { SHIM_BYTES + 4 * usize::from(frame[UDP_PAYLOAD + 1]) } else { 0 };
    number(&frame[UDP_PAYLOAD + int_bytes..][..8])
}

/// Reads a report's frame, and the sequence number that it has.
pub fn decode(frame: &[u8]) -> (u64, Report) {
    let group = &frame[UDP_PAYLOAD..];
    let sequence = number(&group[..4]) & 0x3f_ffff;
    let node = number(&group[4..8]) as u32;
    let report = &group[GROUP_BYTES..];
    let metadata = &report[REPORT_BYTES..][..4 * usize::from(report[2])];
    if report[3] & DROPPED != 0 {
        // Ports, ingress time, then queue and reason.
        let dropped = DropReport {
            node,
            ingress_port: number(&metadata[..2]),
            egress_port: number(&metadata[2..4]),
            ingress_ns: number(&metadata[4..12]),
            queue: number(&metadata[12..13]),
            reason: number(&metadata[13..14]),
        };
        return (sequence, Report::Dropped(dropped));
    }
    assert_eq!(number(&report[4..6]), u64::from(BITMAP), "the sink tells all of its own");
    let inner = &report[REPORT_BYTES + metadata.len()..];
    let mut hops = stack(inner);
    hops.push(hop(node, metadata));
    (sequence, Report::Tracked { packet: packet_number(inner), hops })
}

/// The hops in a packet's INT stack, the first one first.
fn stack(frame: &[u8]) -> Vec<Hop> {
    if frame[15] >> 2 != DSCP_INT {
        return Vec::new();
    }
    let shim = &frame[UDP_PAYLOAD..];
    let words = usize::from(shim[1]) - INT_HEADER_BYTES / 4;
    let stack = &shim[SHIM_BYTES + INT_HEADER_BYTES..][..4 * words];
    let hops = stack.chunks(4 * HOP_WORDS);
    hops.rev().map(|words| hop(number(&words[..4]) as u32, &words[4..])).collect()
}

/// The values of `BITMAP` in the order of its bits.
fn hop(node: u32, words: &[u8]) -> Hop {
    let value = |from: usize, size: usize| number(&words[from..from + size]);
    assert_eq!(value(40, 1), 0, "there is one buffer, number 0");
    Hop {
        node,
        ingress_port: value(0, 2),
        egress_port: value(2, 2),
        latency_ns: value(4, 4),
        queue: value(8, 1),
        occupancy_bytes: value(9, 3),
        ingress_ns: value(12, 8),
        egress_ns: value(20, 8),
        ingress_interface: value(28, 4),
        egress_interface: value(32, 4),
        utilisation: value(36, 4),
        buffer_bytes: value(41, 3),
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}
