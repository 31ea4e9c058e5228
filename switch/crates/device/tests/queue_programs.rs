//! The programs of `p4src/queues`: DRILL, congestion-aware ECMP and AIFO between ports whose lines
//! carry a byte in a microsecond (8 Mb/s).

use std::fs;
use std::path::Path;

use bits::Int;
use compiler::{Options, SourceError, SourceProvider, compile};
use device::{Change, Device, DropReason, LinkConfig, SenderConfig, SenderRate};
use pipeline::{Config, Entry, EntryAction, KeyMatch, Pipeline};
use traffic::{Limit, PortConfig, QueueOrder};
use units::{PortId, Rate, Span, Time};

use crate::rig::{Said, poll};

const IN: PortId = PortId(1);
const PATHS: [u16; 2] = [2, 3];
const GROUP: u32 = 1;

struct Files;

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        fs::read_to_string(path).map_err(|_| SourceError::NotFound)
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// The program with routes: 10.1.0.0/16 by port 2, 10.9.0.0/16 by a group of ports 2 and 3.
fn program(name: &str) -> Pipeline {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
    let mut options = Options::default();
    options.preprocessor.include_directories.push(format!("{}/include", root.display()));
    let main = format!("{}/queues/{name}.p4", root.display());
    let output = compile(&Files, &main, &options);
    let program = output.program.unwrap_or_else(|| panic!("{:?}", output.diagnostics));
    let mut pipeline = Pipeline::new(&program, &Config::default()).expect("loads");
    let hop = |port: u16| [u64::from(port), 1, 2];
    route(&mut pipeline, 0x0a01_0000, "set_next_hop", &hop(2));
    route(&mut pipeline, 0x0a09_0000, "set_next_hop_group", &[GROUP.into()]);
    let group = KeyMatch::Exact(Int::from(GROUP));
    if find(&pipeline, "path_groups").is_some() {
        add(&mut pipeline, "path_groups", vec![group.clone()], "has_paths", &[2]);
        for (path, port) in PATHS.into_iter().enumerate() {
            let key = vec![group.clone(), KeyMatch::Exact(Int::from(path as u64))];
            add(&mut pipeline, "paths", key, "take_path", &[port.into(), 1, 2, 0]);
        }
    }
    pipeline
}

fn route(pipeline: &mut Pipeline, prefix: u32, action: &str, data: &[u64]) {
    let key = vec![KeyMatch::Lpm { value: Int::from(prefix), length_bits: 16 }];
    add(pipeline, "ipv4_routes", key, action, data);
}

fn find(pipeline: &Pipeline, table: &str) -> Option<usize> {
    let suffix = format!(".{table}");
    pipeline.tables().position(|candidate| candidate.name().ends_with(&suffix))
}

fn add(pipeline: &mut Pipeline, table: &str, key: Vec<KeyMatch>, action: &str, data: &[u64]) {
    let table = find(pipeline, table).expect("the table is there");
    let suffix = format!(".{action}");
    let is_meant = |index: &usize| pipeline.action(*index).name.ends_with(&suffix);
    let action = pipeline.table(table).action_indexes().find(is_meant);
    let action = action.expect("the action is there");
    let data = data.iter().map(|value| Int::from(*value)).collect();
    let action = EntryAction::Action { action, data };
    let entry = Entry { key, priority: 0, action, idle_timeout: None };
    let _id = pipeline.insert_entry(table, entry, Time::ZERO).expect("valid");
}

/// A device with ports 1 to 3, whose queues hold this many packets.
fn device(name: &str, limit: Limit) -> Device {
    device_of_classes(name, limit, 1)
}

/// The same with this many queues at each port, served by strict priority.
fn device_of_classes(name: &str, limit: Limit, class_count: usize) -> Device {
    let sender = SenderConfig { rate: SenderRate::Unlimited, ..SenderConfig::default() };
    let mut device = Device::new(Config::default());
    let mut change = Change::default();
    for port in (1..=3).map(PortId) {
        let mut config = PortConfig::strict(Some(Rate::from_mbps(8)), class_count);
        config.queues.iter_mut().for_each(|queue| queue.limit = limit);
        change.traffic.ports.insert(port, Some(config));
        change.links.insert(port, LinkConfig { sender, ..LinkConfig::default() });
    }
    device.change(Time::ZERO, change).expect("valid");
    device.install(Box::new(program(name)));
    device
}

/// A UDP datagram of 1000 bytes to 10.`net`.0.1 with a right checksum.
fn datagram(net: u8, source: u16, dscp: u8) -> Vec<u8> {
    let mut bytes = vec![0; 1000];
    bytes[12] = 8;
    bytes[14..24].copy_from_slice(&[0x45, dscp << 2, 0x03, 0xda, 0, 0, 0, 0, 64, 17]);
    bytes[26..34].copy_from_slice(&[10, 0, 0, 1, 10, net, 0, 1]);
    let words = bytes[14..34].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let checksum = !(sum as u16);
    bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
    let [high, low] = source.to_be_bytes();
    bytes[34..42].copy_from_slice(&[high, low, 0, 80, 0x03, 0xc6, 0, 0]);
    bytes
}

/// Packets that wait at the ports of the two paths.
fn waiting(device: &Device) -> [u64; 2] {
    PATHS.map(|port| device.traffic().port(PortId(port)).expect("configured").depth.packets)
}

#[test]
fn drill_spreads_the_packets_of_one_flow_by_the_length_of_the_queues() {
    let mut device = device("drill", Limit::NONE);
    // 20 packets of other traffic are in the way of path 0. One of them is on the line.
    for _ in 0..20 {
        device.handle_frame(us(0), IN, &datagram(1, 9, 0));
    }
    let _sent = poll(&mut device, us(0));
    assert_eq!(waiting(&device), [19, 0]);
    for _ in 0..20 {
        device.handle_frame(us(10), IN, &datagram(9, 7, 0));
    }
    let _sent = poll(&mut device, us(10));
    // A packet looks at both queues, or at one of them twice: most of the 20 find the shorter one,
    // which holds no more than the other at the end. ECMP would have sent all one way.
    let [first, second] = waiting(&device);
    assert_eq!(first + second, 38, "39 wait but the one that path 1 has on its line");
    assert!((12..=19).contains(&second) && first <= 26, "{first} and {second} packets");
    // 20 more than double what waits: from here on the two stay together.
    for _ in 0..200 {
        device.handle_frame(us(20), IN, &datagram(9, 7, 0));
    }
    let [first, second] = waiting(&device);
    assert_eq!(first + second, 238);
    assert!(first.abs_diff(second) <= 6, "{first} and {second} packets");
    assert!(device.balance());
}

/// The port that a flow's packet leaves by, once the packets before it have left.
fn port_taken(device: &mut Device, now: Time, source: u16) -> u16 {
    let _earlier = poll(device, now);
    let sent = |device: &Device| {
        PATHS.map(|port| {
            let depth = device.traffic().port(PortId(port)).expect("configured").depth.packets;
            depth + device.books().port(PortId(port)).transmitted.packets
        })
    };
    let before = sent(device);
    device.handle_frame(now, IN, &datagram(9, source, 0));
    let _sent = poll(device, now);
    let after = sent(device);
    let taken = (0..2).find(|path| after[*path] > before[*path]);
    PATHS[taken.expect("the packet is on its way")]
}

#[test]
fn congestion_aware_ecmp_moves_a_flow_after_a_pause_and_only_to_a_shorter_queue() {
    let mut device = device("congestion_aware", Limit::NONE);
    let flows: Vec<u16> = (1..=16).collect();
    // Twice, so that the port of every path is known. Packets come 2 ms apart: nothing waits.
    let mut now = us(0);
    let mut quiet = Vec::new();
    for _ in 0..2 {
        quiet.clear();
        for flow in &flows {
            now += Span::from_ms(2);
            quiet.push(port_taken(&mut device, now, *flow));
        }
    }
    // 100 packets, that is 100 ms, are in the way at port 2.
    now += Span::from_ms(2);
    let last = *flows.last().expect("there are flows");
    let last_port = port_taken(&mut device, now, last);
    for _ in 0..100 {
        device.handle_frame(now, IN, &datagram(1, 9, 0));
    }
    // A flowlet goes on as it began: this packet follows by 100 us.
    assert_eq!(port_taken(&mut device, now + Span::from_us(100), last), last_port);
    // The others have paused for longer than 500 us.
    now += Span::from_us(200);
    let full: Vec<u16> =
        flows[..15].iter().map(|flow| port_taken(&mut device, now, *flow)).collect();
    let moved = full.iter().zip(&quiet).filter(|(now, before)| now != before).count();
    assert!(moved > 0, "of {quiet:?} some flows had both paths to choose from: {full:?}");
    for (flow, (now, before)) in full.iter().zip(&quiet).enumerate() {
        assert!(now == before || *now == 3, "flow {flow} moved to the long queue");
    }
    assert!(device.balance());
}

#[test]
fn aifo_drops_a_packet_whose_rank_the_queue_has_no_room_for() {
    let mut device = device("aifo", Limit::packets(64));
    let dropped = |device: &Device| device.books().dropped(DropReason::IngressProgram).packets;
    // One packet goes onto the line, 39 wait. The window, at first eight ranks of 0, holds eight
    // ranks of 10 after eight packets, which the burst allowance of 8 packets has let in.
    for _ in 0..40 {
        device.handle_frame(us(0), IN, &datagram(1, 9, 10));
        let _sent = poll(&mut device, us(0));
    }
    assert_eq!((waiting(&device)[0], dropped(&device)), (39, 0));
    // Rank 20: eight lower ranks, 7 * 8 * 64 = 3584 > 64 * (64 - 39) = 1600.
    device.handle_frame(us(1), IN, &datagram(1, 9, 20));
    assert_eq!((waiting(&device)[0], dropped(&device)), (39, 1));
    // Rank 5: no lower rank. Rank 10: one lower, 448 <= 64 * (64 - 40) = 1536.
    device.handle_frame(us(2), IN, &datagram(1, 9, 5));
    device.handle_frame(us(3), IN, &datagram(1, 9, 10));
    assert_eq!((waiting(&device)[0], dropped(&device)), (41, 1));
    // At 39 ms the line has sent 39 packets: two wait, and rank 20 is within the burst allowance.
    let said = poll(&mut device, us(39_000));
    assert_eq!(said.iter().filter(|said| matches!(said, Said::Sent { .. })).count(), 39);
    assert_eq!(waiting(&device)[0], 2);
    device.handle_frame(us(39_000), IN, &datagram(1, 9, 20));
    assert_eq!((waiting(&device)[0], dropped(&device)), (3, 1));
    assert!(device.balance());
}

/// A device whose queues are ordered by rank.
fn ranked_device(name: &str) -> Device {
    let mut device = device(name, Limit::packets(64));
    let mut config = device.traffic().config().clone();
    for port in config.ports.values_mut() {
        port.queues[0].order = QueueOrder::Rank;
    }
    device.configure(Time::ZERO, config).expect("valid");
    device
}

/// When packets left, in microseconds, and the source port and DSCP of each.
fn sent(said: &[Said]) -> Vec<(u64, u16, u8)> {
    let of = |said: &Said| match said {
        Said::Sent { at, frame, .. } => {
            Some((at.whole_us(), u16::from_be_bytes([frame[34], frame[35]]), frame[15] >> 2))
        }
        Said::Digest { .. } => None,
    };
    said.iter().filter_map(of).collect()
}

#[test]
fn the_earliest_deadline_leaves_first() {
    let mut device = ranked_device("edf");
    let mut said = Vec::new();
    // Deadlines: 100,000, 100,010, 10,020, 1030 and 10,040 us. The first is on the line at once.
    for (at, dscp) in [(0, 0), (10, 0), (20, 34), (30, 46), (40, 34)] {
        device.handle_frame(us(at), IN, &datagram(1, at as u16, dscp));
        said.extend(poll(&mut device, us(at)));
    }
    said.extend(poll(&mut device, us(9_000)));
    let expected = [(0, 0, 0), (1000, 30, 46), (2000, 20, 34), (3000, 40, 34), (4000, 10, 0)];
    assert_eq!(sent(&said), expected);
}

#[test]
fn start_time_fair_queueing_lets_a_late_flow_have_its_share() {
    let mut device = ranked_device("stfq");
    // Flow 1 sends six packets of 1000 bytes: starts 0, 1000, ... 5000. The first leaves at once.
    for _ in 0..6 {
        device.handle_frame(us(0), IN, &datagram(1, 1, 0));
    }
    let mut said = poll(&mut device, us(0));
    // Flow 2 begins at the virtual time 0: starts 0, 1000, 2000.
    for _ in 0..3 {
        device.handle_frame(us(1), IN, &datagram(1, 2, 0));
    }
    said.extend(poll(&mut device, us(20_000)));
    let flows: Vec<u16> = sent(&said).iter().map(|(_, flow, _)| *flow).collect();
    assert_eq!(flows, [1, 2, 1, 2, 1, 2, 1, 1, 1]);
    assert!(device.balance());
}

/// The DSCPs, which are the ranks, in the order in which SP-PIFO sends packets that arrive at once.
fn sent_by_sp_pifo(ranks: &[u8]) -> Vec<u8> {
    let mut device = device_of_classes("sp_pifo", Limit::packets(64), 8);
    let mut said = Vec::new();
    for (source, rank) in (0..).zip(ranks) {
        device.handle_frame(us(0), IN, &datagram(1, source, *rank));
        // The first packet is on the line before the second one comes.
        said.extend(poll(&mut device, us(0)));
    }
    said.extend(poll(&mut device, us(100_000)));
    assert!(device.balance());
    sent(&said).iter().map(|(_, _, rank)| *rank).collect()
}

#[test]
fn sp_pifo_raises_the_bound_of_the_class_that_takes_a_packet() {
    // Classes 0, 1, 0, 1, 2, 2: 10 waits behind 15, the one inversion.
    assert_eq!(sent_by_sp_pifo(&[40, 10, 50, 20, 5, 15]), [40, 5, 15, 10, 20, 50]);
}

#[test]
fn sp_pifo_lowers_all_bounds_by_what_the_most_urgent_class_has_missed() {
    // One class a packet, up to class 7 for the rank 14. The rank 7 is 7 below that bound, so all
    // bounds fall by 7: class 0 takes 56 now, and class 1 takes 50. With the bounds before they would
    // have gone to the classes 1 and 2.
    let ranks = [63, 56, 49, 42, 35, 28, 21, 14, 7, 56, 50];
    assert_eq!(sent_by_sp_pifo(&ranks), [63, 14, 7, 21, 28, 35, 42, 49, 56, 50, 56]);
}
