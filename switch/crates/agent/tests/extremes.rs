//! Numbers of a Configure as large or small as their fields: each is refused or carried out, packets
//! go on, and every one is accounted for.
//!
//! Every valid change below is offered again with one of its numbers replaced, whatever that number
//! means. A number is found in the bytes of the message, so a new field is covered once a change
//! sets it.

use crate::support;

use std::sync::OnceLock;

use agent::Load;
use messages::vitrine::v1;
use prost::Message as _;
use support::offer::offer;
use support::{Program, Rig};
use units::{PortId, Span};
use v1::aqm::Kind as Aqm;
use v1::shaper::Kind as Shaper;

const CONFIGURE: u8 = 4;
const DESCRIBE: u8 = 5;

/// The numbers that replace a valid one.
const EXTREMES: [u64; 6] = [0, 1, u32::MAX as u64, 1 << 61, 1 << 63, u64::MAX];

/// A field of an encoded message.
enum Field {
    Number { key: u64, value: u64 },
    Message { key: u64, fields: Vec<Field> },
    Bytes { key: u64, bytes: Vec<u8> },
}

/// The fields of a message; none if the bytes are no message of numbers, messages and texts.
fn fields_of(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = prost::encoding::decode_varint(&mut bytes).ok()?;
        let value = prost::encoding::decode_varint(&mut bytes).ok()?;
        fields.push(match key & 7 {
            0 => Field::Number { key, value },
            2 => {
                let (inside, rest) = bytes.split_at_checked(usize::try_from(value).ok()?)?;
                bytes = rest;
                match fields_of(inside) {
                    Some(fields) => Field::Message { key, fields },
                    None => Field::Bytes { key, bytes: inside.to_vec() },
                }
            }
            _ => return None,
        });
    }
    Some(fields)
}

fn encode(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        let (key, inside) = match field {
            Field::Number { key, value } => {
                prost::encoding::encode_varint(*key, &mut out);
                prost::encoding::encode_varint(*value, &mut out);
                continue;
            }
            Field::Message { key, fields } => (*key, encode(fields)),
            Field::Bytes { key, bytes } => (*key, bytes.clone()),
        };
        prost::encoding::encode_varint(key, &mut out);
        prost::encoding::encode_varint(inside.len() as u64, &mut out);
        out.extend(inside);
    }
    out
}

/// The numbers of a message, in its order.
fn numbers(fields: &mut [Field]) -> Vec<&mut u64> {
    let mut found = Vec::new();
    for field in fields {
        match field {
            Field::Number { value, .. } => found.push(value),
            Field::Message { fields, .. } => found.extend(numbers(fields)),
            Field::Bytes { .. } => {}
        }
    }
    found
}

fn ratio() -> Option<v1::Ratio> {
    Some(v1::Ratio { over: 1, under: 2 })
}

fn limit() -> Option<v1::Limit> {
    Some(v1::Limit { packets: 20, bytes: 20_000 })
}

fn shaper(kind: Shaper) -> Option<v1::Shaper> {
    Some(v1::Shaper { kind: Some(kind) })
}

fn bits() -> Shaper {
    Shaper::Bits(v1::BitShaper { rate_bps: 5_000_000, burst_bytes: 3000 })
}

fn packets() -> Shaper {
    let (rate_pps, burst_packets) = (100, 2);
    Shaper::Packets(v1::PacketShaper { rate_pps, burst_packets, catches_up: true })
}

/// Two queues, and a rate for those who need one.
fn port(scheduler: v1::Scheduler, queue: v1::QueueConfig) -> v1::PortConfig {
    v1::PortConfig {
        rate_bps: Some(10_000_000),
        overhead_bytes: Some(24),
        limit: limit(),
        shaper: shaper(bits()),
        scheduler: Some(scheduler),
        queue_count: Some(2),
        queues: vec![queue],
        utilisation_window_ns: Some(1_000_000),
        link: None,
    }
}

fn group(discipline: v1::Discipline) -> v1::Scheduler {
    let members = [(0, 1), (1, 3)].map(|(class, weight)| v1::Member { class, weight });
    let (discipline, quantum_bytes) = (discipline.into(), 1514);
    let group = v1::Group { discipline, quantum_bytes, members: members.to_vec() };
    v1::Scheduler { groups: vec![group], hierarchy: None }
}

fn hierarchy() -> v1::Scheduler {
    let node = |name: &str, rate_bps| v1::Node {
        name: name.to_owned(),
        rate_bps,
        ceil_bps: 8_000_000,
        burst_bytes: 1514,
        ceil_burst_bytes: 1514,
        ..Default::default()
    };
    let leaf = |class| v1::Node {
        leaf: Some(v1::Leaf { class, priority: 1, quantum_bytes: 1514 }),
        ..node("leaf", 1_000_000)
    };
    let root = v1::Node { children: vec![leaf(0), leaf(1)], ..node("root", 4_000_000) };
    v1::Scheduler { groups: Vec::new(), hierarchy: Some(root) }
}

fn queue(aqm: Aqm, shaper: Option<v1::Shaper>) -> v1::QueueConfig {
    v1::QueueConfig {
        class: 0,
        limit: limit(),
        shaper,
        aqm: Some(v1::Aqm { kind: Some(aqm) }),
        share: Some(v1::BufferShare { alpha: ratio(), minimum_bytes: 1000 }),
        order: v1::QueueOrder::Arrival.into(),
    }
}

/// Each method of queue management with all its parameters.
fn aqms() -> [Aqm; 5] {
    let (target_ns, update_ns, ecn) = (Some(100_000), Some(20_000), Some(true));
    let (alpha, beta) = (ratio(), ratio());
    [
        Aqm::Codel(v1::Codel { target_ns, interval_ns: Some(200_000), mtu_bytes: Some(1514), ecn }),
        Aqm::Dualpi2(v1::Dualpi2 {
            l4s_class: Some(1),
            target_ns,
            update_ns,
            alpha,
            beta,
            coupling: Some(v1::Ratio { over: 2, under: 1 }),
            l4s_min_ns: Some(800),
            l4s_range_ns: Some(400),
            l4s_queue_packets: Some(1),
        }),
        Aqm::EcnStep(v1::EcnStep { threshold: limit() }),
        Aqm::Pie(v1::Pie {
            target_ns,
            update_ns,
            burst_ns: Some(100_000),
            alpha,
            beta,
            ecn_below_ppm: Some(100_000),
            mean_packet_bytes: Some(1000),
            ecn,
        }),
        Aqm::Red(v1::Red {
            in_bytes: true,
            profiles: vec![v1::RedProfile { min: 100, max: 3000, max_ppm: 100_000 }],
            weight_ppm: Some(500_000),
            gentle: Some(true),
            mean_packet_bytes: Some(1000),
            ecn,
        }),
    ]
}

fn link() -> v1::Link {
    let line = v1::Line {
        delay_ns: 10_000,
        jitter: Some(v1::Jitter { max_ns: 5000, reorder: true }),
        loss: Some(v1::Loss { kind: Some(v1::loss::Kind::IndependentPpb(1000)) }),
        corruption_ppb: 1000,
        duplication_ppb: 1000,
        stalls: Some(v1::Stalls { share_ppb: 1000, max_ns: 10_000 }),
    };
    let sender = v1::Sender { rate_bps: Some(50_000_000), backlog: limit() };
    v1::Link { sender: Some(sender), receive: Some(line), transmit: Some(line) }
}

/// Changes that the switch takes; together they set every number there is.
fn changes() -> Vec<v1::ConfigureRequest> {
    use v1::Discipline::{Drr, Wfq, Wrr};
    let shapers = [None, shaper(bits()), shaper(packets())];
    let schedulers = [group(Drr), group(Wfq), group(Wrr), hierarchy()];
    let mut ports: Vec<v1::PortConfig> = aqms()
        .into_iter()
        .zip(shapers.into_iter().cycle())
        .zip(schedulers.into_iter().cycle())
        .map(|((aqm, shaper), scheduler)| port(scheduler, queue(aqm, shaper)))
        .collect();
    // Two classes that are held back on their own, so that turns are passed over.
    let held = |class| v1::QueueConfig {
        class,
        shaper: shaper(bits()),
        share: Some(v1::BufferShare { alpha: None, minimum_bytes: 1000 }),
        ..Default::default()
    };
    let both = v1::PortConfig { queues: vec![held(0), held(1)], ..port(group(Drr), held(0)) };
    ports.extend([both, v1::PortConfig { link: Some(link()), ..Default::default() }]);
    let change = |config| v1::ConfigureRequest {
        ports: vec![v1::PortChange { port: 1, config: Some(config) }],
        ..Default::default()
    };
    let input = |queueing: v1::InputQueueing| v1::InputStage {
        queueing: queueing.into(),
        limit: limit(),
        voq_limit: limit(),
        rate_bps: 20_000_000,
        speedup: Some(v1::Ratio { over: 2, under: 1 }),
        arbiter: v1::Arbiter::Islip.into(),
        iterations: 2,
        lossy: true,
    };
    let whole = |queueing| v1::ConfigureRequest {
        buffer: Some(v1::Buffer { size_bytes: 100_000 }),
        input: Some(input(queueing)),
        ..Default::default()
    };
    let stages = [v1::InputQueueing::Fifo, v1::InputQueueing::Voq].map(whole);
    ports.into_iter().map(change).chain(stages).collect()
}

/// A switch with a buffer that its queues share.
fn rig() -> Rig {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    thread_local! {
        static LOAD: Load =
            PROGRAM.get_or_init(|| Program::forwarding_to(1)).loaded(&pipeline::Config::default());
    }
    let program = PROGRAM.get_or_init(|| Program::forwarding_to(1));
    let mut rig =
        LOAD.with(|load| Rig::running(load.clone(), program, pipeline::Config::default()));
    let buffer = Some(v1::Buffer { size_bytes: 100_000 });
    let request = v1::ConfigureRequest { buffer, ..Default::default() };
    assert!(offer(&mut rig, CONFIGURE, &request.encode_to_vec()));
    rig
}

/// Frames of both classes, slower and faster than the port; then a look.
fn check(rig: &mut Rig) {
    let frame =
        |length: usize| [&[0xff; 6][..], &[0xee; 6], &[0x08, 0x00], &vec![0x45; length]].concat();
    for round in 0..12 {
        rig.drive(|device, now| {
            for length in [46, 1400, 700] {
                device.handle_frame(now, PortId(1 + round % 3), &frame(length));
            }
            assert!(device.balance());
        });
        rig.wait(Span::from_us(if round < 6 { 50 } else { 5000 }));
    }
    let request = v1::DescribeRequest::default().encode_to_vec();
    assert!(offer(rig, DESCRIBE, &request));
    rig.drive(|device, _| assert!(device.balance()));
}

#[test]
fn packets_go_on_whatever_numbers_a_change_has() {
    for (which, change) in changes().into_iter().enumerate() {
        let bytes = change.encode_to_vec();
        let mut rig = rig();
        assert!(offer(&mut rig, CONFIGURE, &bytes));
        check(&mut rig);
        let count = numbers(&mut fields_of(&bytes).expect("a message")).len();
        assert!(count > 3, "change {which} has {count} numbers");
        for (number, extreme) in (0..count).flat_map(|n| EXTREMES.map(|extreme| (n, extreme))) {
            let mut fields = fields_of(&bytes).expect("a message");
            *numbers(&mut fields)[number] = extreme;
            let mut rig = self::rig();
            eprintln!("change {which}, its number {number} as {extreme}");
            offer(&mut rig, CONFIGURE, &encode(&fields));
            check(&mut rig);
            // And back: what is owed under the extreme number is converted.
            offer(&mut rig, CONFIGURE, &bytes);
            check(&mut rig);
        }
    }
}
