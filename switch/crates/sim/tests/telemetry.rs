//! INT tells the truth, in virtual time: three routers, every value of every packet, exact.
//!
//! tests/live holds the same against real routers and the kernel's TCP; here nothing depends on a
//! machine, so the same bursts meet in the same queues every time.

mod int;

use std::collections::BTreeMap;

use device::Fate;
use int::network::{COLLECTOR, FORWARD, Handed, Network, Router};
use int::report::{DropReport, Hop, Report, UDP_PAYLOAD, packet_number};
use units::{PortId, Span, Time};

const WINDOW_PS: u64 = 10_000_000_000;
/// A byte at 100 Mb/s.
const PS_PER_BYTE: u64 = 80_000;
const PS_PER_NS: u64 = 1000;
/// h1's number `k` is `k`, h3's is this and `k`.
const OF_H3: u64 = 1 << 32;

/// Bursts of h1 through all routers and of h3 through two, of frames of all lengths; both hand a
/// burst over at once and their lines space it.
fn bursts() -> Vec<Handed> {
    let mut handed = Vec::new();
    for burst in 0..12_u64 {
        for k in 0..25_u64 {
            let number = burst * 25 + k;
            let size = 60 + (number * 397 % 1200) as usize;
            // The bursts of h3 come 0 to 2.2 ms behind those of h1, more each time.
            let at = Time::ZERO + Span::from_us(1_000 + 9_000 * burst);
            let later = at + Span::from_us(200 * burst);
            handed.push(Handed { at, router: 0, port: PortId(1), frame: frame(number, size) });
            let frame = frame(OF_H3 | number, size);
            handed.push(Handed { at: later, router: 1, port: PortId(3), frame });
        }
    }
    handed
}

/// A UDP datagram over IPv4 with a number in front of its payload, without a UDP checksum.
fn frame(number: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend([0x08, 0x00, 0x45, 0xb9]);
    let length = (size - 14) as u16;
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = checksum(&bytes[14..34]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes.extend([0x13, 0x88, 0x13, 0x89]);
    bytes.extend((length - 20).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(number.to_be_bytes());
    bytes.resize(size, b'.');
    bytes
}

/// RFC 1071, over whole words.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

/// A router's own records of the packets that it forwarded, by number.
fn lives(router: &Router) -> BTreeMap<u64, Hop> {
    let mut arrived = BTreeMap::new();
    let mut busy: BTreeMap<u64, u64> = BTreeMap::new();
    let mut lives = BTreeMap::new();
    for seen in &router.seen {
        let at_ps = seen.at.since(Time::ZERO).ps();
        match seen.fate {
            Fate::Received => {
                arrived.insert(packet_number(&seen.bytes), at_ps);
            }
            Fate::Transmitted { port: FORWARD, class } => {
                let number = packet_number(&seen.bytes);
                let (occupancy_bytes, buffer_bytes) = router.depths[&(FORWARD, seen.at)];
                let (ingress_ns, egress_ns) = (arrived[&number] / PS_PER_NS, at_ps / PS_PER_NS);
                let window = (at_ps / WINDOW_PS).checked_sub(1);
                let busy_ps = window.and_then(|last| busy.get(&last)).copied().unwrap_or(0);
                let hop = Hop {
                    node: router.node,
                    ingress_port: seen.input.0.into(),
                    egress_port: FORWARD.0.into(),
                    latency_ns: egress_ns - ingress_ns,
                    queue: class.0.into(),
                    occupancy_bytes,
                    ingress_ns,
                    egress_ns,
                    ingress_interface: seen.input.0.into(),
                    egress_interface: FORWARD.0.into(),
                    utilisation: busy_ps * 10_000 / WINDOW_PS,
                    buffer_bytes,
                };
                assert_eq!(lives.insert(number, hop), None);
                keep_busy(&mut busy, at_ps, seen.bytes.len() as u64 * PS_PER_BYTE);
            }
            Fate::Transmitted { .. } | Fate::Dropped { .. } => {}
        }
    }
    lives
}

/// Books a frame's time on the line in the windows it falls into.
fn keep_busy(busy: &mut BTreeMap<u64, u64>, mut at_ps: u64, span_ps: u64) {
    let end_ps = at_ps + span_ps;
    while at_ps < end_ps {
        let window = at_ps / WINDOW_PS;
        let until_ps = end_ps.min((window + 1) * WINDOW_PS);
        *busy.entry(window).or_default() += until_ps - at_ps;
        at_ps = until_ps;
    }
}

/// A router's own records of the packets that its queues dropped.
fn drops(router: &Router) -> Vec<DropReport> {
    let mut arrived = BTreeMap::new();
    let mut drops = Vec::new();
    for seen in &router.seen {
        let number = packet_number(&seen.bytes);
        match seen.fate {
            Fate::Received => {
                arrived.insert(number, seen.at);
            }
            Fate::Dropped { reason, queue: Some((port, class)) } if reason.is_of_queues() => {
                drops.push(DropReport {
                    node: router.node,
                    ingress_port: seen.input.0.into(),
                    egress_port: port.0.into(),
                    ingress_ns: arrived[&number].since(Time::ZERO).ps() / PS_PER_NS,
                    queue: class.0.into(),
                    reason: reason.number().into(),
                });
            }
            Fate::Transmitted { .. } => {}
            Fate::Dropped { .. } => panic!("only queues drop here: {:?}", seen.fate),
        }
    }
    drops
}

/// One run, and its reports in the order of their sequence numbers.
fn run() -> (Network, Vec<Report>) {
    let mut network = Network::new();
    network.run(bursts());
    let reports = network.reports.iter().map(|arrived| int::report::decode(arrived).1);
    let reports = reports.collect();
    (network, reports)
}

#[test]
fn every_value_of_every_hop_is_what_the_router_recorded() {
    let (network, reports) = run();
    let lives: Vec<_> = network.routers.iter().map(lives).collect();
    let mut told = BTreeMap::new();
    for report in &reports {
        let Report::Tracked { packet, hops } = report else { continue };
        // h1's packets cross all three, h3's the last two.
        let way = if *packet < OF_H3 { &lives[..] } else { &lives[1..] };
        let truth: Vec<Hop> = way.iter().map(|lives| lives[packet]).collect();
        assert_eq!(*hops, truth, "packet {packet}");
        assert_eq!(told.insert(*packet, ()), None, "packet {packet} is reported twice");
    }
    // No packet that left is missing.
    assert!(told.keys().eq(lives[2].keys()));
    // Equal to nothing is no equality: packets waited, at s2 behind many.
    let deepest = lives[1].values().map(|hop| hop.occupancy_bytes).max();
    assert!(deepest > Some(5_000), "{deepest:?}");
    assert!(lives[1].values().any(|hop| hop.utilisation > 0));
}

#[test]
fn every_drop_of_a_queue_is_reported_once_with_its_queue_and_reason() {
    let (network, reports) = run();
    let mut told: Vec<DropReport> = Vec::new();
    told.extend(reports.iter().filter_map(|report| match report {
        Report::Dropped(dropped) => Some(*dropped),
        Report::Tracked { .. } => None,
    }));
    let mut truth: Vec<DropReport> = network.routers.iter().flat_map(drops).collect();
    told.sort_unstable();
    truth.sort_unstable();
    assert!(!truth.is_empty(), "the bursts overflow a queue");
    assert_eq!(told, truth);
}

#[test]
fn behind_the_sink_a_frame_is_what_its_host_sent() {
    let (network, _) = run();
    let sent: BTreeMap<u64, Vec<u8>> =
        bursts().into_iter().map(|handed| (packet_number(&handed.frame), handed.frame)).collect();
    for arrived in &network.delivered {
        let number = packet_number(arrived);
        let mut expected = sent[&number].clone();
        // A router writes the addresses of the next link and takes one from the hop limit.
        expected[..12].copy_from_slice(&arrived[..12]);
        expected[22] -= if number < OF_H3 { 3 } else { 2 };
        expected[24..26].fill(0);
        let sum = checksum(&expected[14..34]);
        expected[24..26].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(*arrived, expected, "packet {number}");
        assert!(arrived.len() >= UDP_PAYLOAD + 8);
    }
    let drops: usize = network.routers.iter().map(|router| drops(router).len()).sum();
    assert_eq!(network.delivered.len() + drops, sent.len());
}

#[test]
fn every_node_counts_its_reports_without_a_gap() {
    let (network, _) = run();
    for router in &network.routers {
        let of_node = network.reports.iter().filter(|arrived| {
            let node = &arrived[UDP_PAYLOAD + 4..UDP_PAYLOAD + 8];
            node == router.node.to_be_bytes()
        });
        let sequences: Vec<u64> = of_node.map(|arrived| int::report::decode(arrived).0).collect();
        assert!(sequences.iter().copied().eq(0..sequences.len() as u64), "node {}", router.node);
        let transmitted = router
            .seen
            .iter()
            .filter(|seen| matches!(seen.fate, Fate::Transmitted { port: COLLECTOR, .. }));
        assert_eq!(transmitted.count(), sequences.len());
    }
}
