//! Programs read the queues at the instant of an arrival; every number here is computed by hand.
//!
//! All lines carry a byte in a microsecond (8 Mb/s). Frames that wait have 1000 bytes.

use crate::rig::{self, Said, poll};

use device::{Change, Device, LinkConfig, SenderConfig, SenderRate, TraceEvent, TraceFilter};
use pipeline::{Config, Event};
use traffic::{
    ArbiterConfig, BufferConfig, BufferShare, InputConfig, InputQueueing, Limit, PortConfig,
};
use units::{Bytes, PortId, Rate, Span, Time};

const RATE: Rate = Rate::from_mbps(8);

/// The numbers of `queue_reads.p4`.
const FORWARD: u8 = 0;
const QUEUE_DEPTH: u8 = 1;
const VOQ_DEPTH: u8 = 2;
const BUFFER_USE: u8 = 3;
const PORT_RATE: u8 = 4;
const IN_ACTION: u8 = 5;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A device with ports 1 to 4 of two classes each. Frames arrive when they are handed over.
fn device() -> Device {
    let sender = SenderConfig { rate: SenderRate::Unlimited, ..SenderConfig::default() };
    let mut device = Device::new(Config::default());
    let mut change = Change::default();
    for port in (1..=4).map(PortId) {
        change.traffic.ports.insert(port, Some(PortConfig::strict(Some(RATE), 2)));
        change.links.insert(port, LinkConfig { sender, ..LinkConfig::default() });
    }
    device.change(Time::ZERO, change).expect("valid");
    device.install(Box::new(rig::load("queue_reads.p4")));
    device
}

/// A frame that leaves by `out` and makes this read on its way.
fn frame(what: u8, out: u8, about: [u8; 3], size: usize) -> Vec<u8> {
    let mut bytes = vec![what, out];
    bytes.extend(about);
    bytes.resize(size, 0);
    bytes
}

/// Three frames of 1000 bytes come in by port 1 for port 2. One is on the line then.
fn fill(device: &mut Device, now: Time) {
    for _ in 0..3 {
        device.handle_frame(now, PortId(1), &frame(FORWARD, 2, [0; 3], 1000));
    }
}

/// The results for a packet of 17 bytes that comes in by port 4 and leaves by it, at `now`.
fn told(device: &mut Device, now: Time, what: u8, about: [u8; 3]) -> (u64, u32) {
    let _earlier = poll(device, now);
    device.handle_frame(now, PortId(4), &frame(what, 4, about, 17));
    let said = poll(device, now + Span::from_us(20));
    let answer = said.iter().find_map(|said| match said {
        Said::Sent { port: PortId(4), frame, .. } => Some(frame.clone()),
        _ => None,
    });
    let bytes = answer.expect("an idle port sends at once");
    let first = u64::from_be_bytes(bytes[5..13].try_into().expect("8 bytes"));
    (first, u32::from_be_bytes(bytes[13..17].try_into().expect("4 bytes")))
}

#[test]
fn an_output_queue_is_read_without_the_packet_on_the_line() {
    let mut device = device();
    fill(&mut device, us(0));
    // The first frame is on the line until 1000 us, two wait.
    assert_eq!(told(&mut device, us(500), QUEUE_DEPTH, [0, 2, 0]), (2, 2000));
    // At 1000 us the second departs before the question arrives.
    assert_eq!(told(&mut device, us(1000), QUEUE_DEPTH, [0, 2, 0]), (1, 1000));
    assert_eq!(told(&mut device, us(2500), QUEUE_DEPTH, [0, 2, 0]), (0, 0));
}

#[test]
fn a_packet_does_not_count_itself_and_counts_those_before_it_at_the_same_instant() {
    let mut device = device();
    fill(&mut device, us(0));
    let _sent = poll(&mut device, us(0));
    // Two questions for the queue that they will wait in: the second finds the first.
    for _ in 0..2 {
        device.handle_frame(us(100), PortId(4), &frame(QUEUE_DEPTH, 2, [0, 2, 0], 500));
    }
    let answers: Vec<Vec<u8>> = poll(&mut device, us(9_000))
        .into_iter()
        .filter_map(|said| match said {
            Said::Sent { frame, .. } if frame.len() == 500 => Some(frame[5..17].to_vec()),
            _ => None,
        })
        .collect();
    // Two packets of 1000 bytes wait; then another of 500.
    assert_eq!(answers[0], [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 7, 208]);
    assert_eq!(answers[1], [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 9, 196]);
}

#[test]
fn a_queue_that_does_not_exist_is_empty() {
    let mut device = device();
    fill(&mut device, us(0));
    let missing = [[0, 2, 1], [0, 2, 7], [0, 9, 0], [0, 255, 255]];
    for (at, about) in (500..).step_by(20).zip(missing) {
        assert_eq!(told(&mut device, us(at), QUEUE_DEPTH, about), (0, 0), "{about:?}");
    }
    // An output-queued router has no virtual output queues.
    assert_eq!(told(&mut device, us(600), VOQ_DEPTH, [1, 2, 0]), (0, 0));
}

#[test]
fn an_action_reads_like_the_control_that_calls_it() {
    let mut device = device();
    for _ in 0..3 {
        device.handle_frame(us(0), PortId(1), &frame(FORWARD, 4, [0; 3], 1000));
    }
    let _sent = poll(&mut device, us(0));
    // Two wait for port 4, by which the question comes in. It leaves by port 3.
    device.handle_frame(us(10), PortId(4), &frame(IN_ACTION, 3, [0; 3], 17));
    let said = poll(&mut device, us(10));
    let [Said::Sent { frame, .. }] = said.as_slice() else { panic!("one answer: {said:?}") };
    assert_eq!(frame[5..17], [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 7, 208]);
}

#[test]
fn a_virtual_output_queue_is_read_by_its_input() {
    let mut device = device();
    let mut config = device.traffic().config().clone();
    let arbiter = ArbiterConfig::Islip { iterations: 1 };
    config.input = Some(InputConfig::new(InputQueueing::Voq, RATE, arbiter));
    device.configure(Time::ZERO, config).expect("valid");
    fill(&mut device, us(0));
    for _ in 0..2 {
        device.handle_frame(us(0), PortId(3), &frame(FORWARD, 2, [0; 3], 1000));
    }
    // One packet is granted at 0 and goes through to the line; the crossbar is as fast as the line,
    // so the next is granted at 1000 us.
    let waiting = |device: &mut Device, now: u64| {
        [1, 3].map(|input| told(device, us(now + u64::from(input)), VOQ_DEPTH, [input, 2, 0]))
    };
    assert_eq!(waiting(&mut device, 500), [(2, 2000), (2, 2000)]);
    assert_eq!(told(&mut device, us(600), QUEUE_DEPTH, [0, 2, 0]), (0, 0));
    // The second grant goes to the other input.
    assert_eq!(waiting(&mut device, 1500), [(2, 2000), (1, 1000)]);
    // Packets for another output or class wait in other queues.
    assert_eq!(told(&mut device, us(1600), VOQ_DEPTH, [1, 3, 0]), (0, 0));
    assert_eq!(told(&mut device, us(1620), VOQ_DEPTH, [1, 2, 1]), (0, 0));
    assert_eq!(told(&mut device, us(1640), VOQ_DEPTH, [77, 2, 0]), (0, 0));
    // Without a shared buffer, its use is what waits in the whole router: 2000 + 1000 bytes.
    assert_eq!(told(&mut device, us(1660), BUFFER_USE, [0; 3]), (3000, 0));
}

#[test]
fn the_shared_buffer_is_read_without_what_queues_have_reserved() {
    let mut device = device();
    let mut config = device.traffic().config().clone();
    config.buffer = Some(BufferConfig { size: Bytes(10_000) });
    for port in config.ports.values_mut() {
        // Eight queues reserve 500 bytes each: 6000 of the buffer's bytes are shared.
        for queue in &mut port.queues {
            queue.limit = Limit::NONE;
            queue.share = BufferShare { minimum: Bytes(500), ..BufferShare::default() };
        }
    }
    device.configure(Time::ZERO, config).expect("valid");
    assert_eq!(told(&mut device, us(0), BUFFER_USE, [0; 3]), (0, 6000));
    fill(&mut device, us(100));
    // 2000 bytes wait, 500 of them in the queue's own part.
    assert_eq!(told(&mut device, us(600), BUFFER_USE, [0; 3]), (1500, 6000));
    // From 1100 us on 1000 bytes wait.
    assert_eq!(told(&mut device, us(1100), BUFFER_USE, [0; 3]), (500, 6000));
}

#[test]
fn a_port_tells_its_rate_and_how_busy_it_was() {
    let mut device = device();
    let mut config = device.traffic().config().clone();
    config.ports.get_mut(&PortId(2)).expect("it is there").utilisation_window = Span::from_ms(4);
    config.ports.get_mut(&PortId(3)).expect("it is there").line_rate = None;
    device.configure(Time::ZERO, config).expect("valid");
    fill(&mut device, us(0));
    // Three frames take 3 of the window's 4 ms; in the first window nothing is known yet.
    assert_eq!(told(&mut device, us(3900), PORT_RATE, [0, 2, 0]), (8_000_000, 0));
    assert_eq!(told(&mut device, us(4000), PORT_RATE, [0, 2, 0]), (8_000_000, 7500));
    assert_eq!(told(&mut device, us(4100), PORT_RATE, [0, 3, 0]), (0, 0));
    assert_eq!(told(&mut device, us(4200), PORT_RATE, [0, 99, 0]), (0, 0));
}

#[test]
fn a_followed_packet_reads_the_same_and_the_read_is_recorded() {
    let mut device = device();
    fill(&mut device, us(0));
    let _sent = poll(&mut device, us(0));
    device.trace(vec![TraceFilter::default()]);
    assert_eq!(told(&mut device, us(500), QUEUE_DEPTH, [0, 2, 0]), (2, 2000));
    let records = std::iter::from_fn(|| device.poll_trace());
    let reads: Vec<(Time, Event)> = records
        .filter_map(|record| match record.event {
            TraceEvent::Program(event @ Event::QueueRead { .. }) => Some((record.at, event)),
            _ => None,
        })
        .collect();
    let named = |names: [&str; 2], values: [u64; 2]| {
        names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value)).collect()
    };
    let read = Event::QueueRead {
        function: "queue_depth".to_owned(),
        inputs: named(["port", "class"], [2, 0]),
        outputs: named(["packets", "bytes"], [2, 2000]),
    };
    assert_eq!(reads, [(us(500), read)]);
}
