//! A watcher of every step knows where each packet is, and how it ended.

use crate::rig;

use std::collections::{BTreeMap, BTreeSet};

use device::{Device, DropReason, Event, PacketStep, PacketStepKind, Watching};
use proptest::collection::vec;
use proptest::prelude::*;
use rig::{device, frame, order, poll};
use traffic::{
    ArbiterConfig, BufferConfig, InputConfig, InputQueueing, Limit, Step, StepKind, Tally,
};
use units::{Bytes, ClassId, PortId, Rate, Span, Time};

const IN: PortId = PortId(1);
const RATE: Rate = Rate::from_mbps(100);

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn follow(device: &mut Device, head_size: usize) {
    let traffic = traffic::Watching { packets: true, ..Default::default() };
    device.watch(Watching { traffic, head_size, ..Watching::default() });
}

fn events(device: &mut Device) -> Vec<Event> {
    std::iter::from_fn(|| device.poll_event()).collect()
}

/// A router with an input stage, a small shared buffer and small queues.
fn crossbar_router() -> Device {
    let mut device = device(Some(RATE));
    let mut config = device.traffic().config().clone();
    let arbiter = ArbiterConfig::Islip { iterations: 2 };
    config.input = Some(InputConfig::new(InputQueueing::Voq, RATE, arbiter));
    config.input.as_mut().expect("just set").voq_limit = Limit::packets(4);
    config.buffer = Some(BufferConfig { size: Bytes(9000) });
    for port in config.ports.values_mut() {
        port.queues[0].limit = Limit::packets(5);
    }
    device.configure(Time::ZERO, config).expect("valid");
    device
}

/// A packet's steps in words.
fn lives(events: &[Event]) -> BTreeMap<u64, Vec<String>> {
    let mut lives: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for event in events {
        let (number, word) = match event {
            Event::Packet(PacketStep { number, kind, .. }) => (
                number,
                match kind {
                    PacketStepKind::Copied { from, .. } => format!("copied from {from}"),
                    PacketStepKind::Dropped { reason, .. } => reason.name().to_owned(),
                    PacketStepKind::Received { .. } => "received".to_owned(),
                    PacketStepKind::Recirculated { .. } => "recirculated".to_owned(),
                    PacketStepKind::Replicated { group } => format!("replicated by {group}"),
                    PacketStepKind::Transmitted { output, .. } => {
                        format!("transmitted by {output}")
                    }
                },
            ),
            Event::Step(Step { number, output, kind, .. }) => (
                number,
                match kind {
                    StepKind::Crossing { .. } => "crossing".to_owned(),
                    StepKind::Departed { .. } => "departed".to_owned(),
                    StepKind::Dropped { reason, .. } => reason.name().to_owned(),
                    StepKind::Filed => "filed".to_owned(),
                    StepKind::Queued { .. } => format!("queued at {output}"),
                },
            ),
            other => panic!("not asked for: {other:?}"),
        };
        lives.entry(*number).or_default().push(word);
    }
    lives
}

/// The lives of the packets that one order of port 1 causes in an output-queued router.
fn lives_of(what: u8, port: u8) -> Vec<(u64, String)> {
    let mut device = device(Some(RATE));
    follow(&mut device, 0);
    device.handle_frame(us(0), IN, &frame(what, port, 0, 1500));
    poll(&mut device, us(10_000));
    let lives = lives(&events(&mut device));
    lives.into_iter().map(|(number, words)| (number, words.join(", "))).collect()
}

#[test]
fn whatever_the_program_orders_a_packet_has_one_beginning_and_one_end() {
    let (straight, back) = ("queued at 2, departed", "queued at 2, departed, transmitted by 2");
    let cases: [(u8, Vec<String>); 8] = [
        (order::FORWARD, vec![format!("received, {back}")]),
        (order::DROP, vec!["received, ingress_program".to_owned()]),
        (order::DROP_IN_EGRESS, vec![format!("received, {straight}, egress_program")]),
        (order::RESUBMIT_ONCE, vec![format!("received, {back}")]),
        (order::RECIRCULATE_ONCE, vec![format!("received, {straight}, recirculated, {back}")]),
        (order::RESUBMIT_FOREVER, vec!["received, too_many_passes".to_owned()]),
        (
            order::CLONE,
            vec![
                format!("received, {back}"),
                "copied from 1, queued at 3, departed, transmitted by 3".to_owned(),
            ],
        ),
        (
            order::CLONE_IN_EGRESS,
            vec![
                format!("received, {back}"),
                "copied from 1, queued at 3, departed, transmitted by 3".to_owned(),
            ],
        ),
    ];
    for (what, expected) in cases {
        let numbered: Vec<(u64, String)> = (1..).zip(expected).collect();
        assert_eq!(lives_of(what, 2), numbered, "order {what}");
    }
    let mut expected = vec![(1, "received, replicated by 1".to_owned())];
    for port in 1..=3 {
        let copy = format!("copied from 1, queued at {port}, departed, transmitted by {port}");
        expected.push((port + 1, copy));
    }
    assert_eq!(lives_of(order::MULTICAST, rig::GROUP), expected);
    assert_eq!(lives_of(order::FORWARD, 9), [(1, "received, unknown_port".to_owned())]);
}

/// 1500 bytes take 120 us over the crossbar and on the line. Two frames come for one output: the
/// first crosses and leaves at once, the second when the first is through.
#[test]
fn a_packet_is_followed_through_the_crossbar_with_exact_instants_and_its_first_bytes() {
    let mut device = crossbar_router();
    follow(&mut device, 3);
    for input in [1, 2] {
        device.handle_frame(us(0), PortId(input), &frame(order::FORWARD, 3, 0, 1500));
    }
    poll(&mut device, us(10_000));
    let events = events(&mut device);
    let way = "received, filed, crossing, queued at 3, departed, transmitted by 3";
    for life in lives(&events).into_values() {
        assert_eq!(life.join(", "), way);
    }
    let instants = |number: u64| {
        let of_packet = events.iter().filter(move |event| match event {
            Event::Packet(step) => step.number == number,
            Event::Step(step) => step.number == number,
            _ => false,
        });
        of_packet.map(|event| event.at().whole_us()).collect::<Vec<_>>()
    };
    assert_eq!(instants(1), [0, 0, 0, 0, 0, 0]);
    assert_eq!(instants(2), [0, 0, 120, 120, 120, 120]);
    let head = vec![order::FORWARD, 3, 0];
    let kind = PacketStepKind::Received { length: Bytes(1500), head };
    let received = PacketStep { at: us(0), number: 1, input: IN, kind };
    assert_eq!(events[0], Event::Packet(received));
    let kind =
        PacketStepKind::Transmitted { output: PortId(3), length: Bytes(1500), until: us(240) };
    let transmitted = PacketStep { at: us(120), number: 2, input: PortId(2), kind };
    assert_eq!(events.last(), Some(&Event::Packet(transmitted)));
}

#[test]
fn a_packet_that_waits_in_a_queue_that_goes_ends_there() {
    let mut device = device(Some(RATE));
    follow(&mut device, 0);
    for _ in 0..2 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    poll(&mut device, us(0));
    let mut config = device.traffic().config().clone();
    config.ports.remove(&PortId(2));
    device.configure(us(1), config).expect("valid");
    poll(&mut device, us(1));
    let lives = lives(&events(&mut device));
    assert_eq!(lives[&2], ["received", "queued at 2", "queue_removed"]);
}

/// Where a packet waits: its input, if it waits there, and the queue it is in or for.
type Place = (Option<PortId>, PortId, ClassId);

/// A watcher's knowledge of packets.
#[derive(Default)]
struct Known {
    /// Of each packet that has not ended; none between two queues.
    places: BTreeMap<u64, Option<Place>>,
    ended: BTreeSet<u64>,
    received: u64,
    transmitted: u64,
    dropped: BTreeMap<DropReason, u64>,
}

impl Known {
    fn at_the_beginning(device: &Device) -> Known {
        let place = |it: &device::Inside| (it.is_filed.then_some(it.input), it.queue.0, it.queue.1);
        let places = device.inside(0).map(|inside| (inside.number, Some(place(&inside))));
        Known { places: places.collect(), ..Known::default() }
    }

    fn learn(&mut self, event: &Event) {
        match event {
            Event::Packet(step) => self.learn_outside(step),
            Event::Step(step) => self.learn_inside(step),
            other => panic!("not asked for: {other:?}"),
        }
    }

    fn learn_outside(&mut self, PacketStep { number, kind, .. }: &PacketStep) {
        match kind {
            PacketStepKind::Copied { from, .. } => {
                assert!(from < number && !self.ended.contains(from));
                self.begin(*number);
            }
            PacketStepKind::Received { .. } => {
                self.received += 1;
                self.begin(*number);
            }
            PacketStepKind::Recirculated { .. } => assert_eq!(self.places[number], None),
            PacketStepKind::Dropped { reason, .. } => self.drop(*number, *reason),
            PacketStepKind::Replicated { .. } => self.end(*number),
            PacketStepKind::Transmitted { .. } => {
                self.transmitted += 1;
                self.end(*number);
            }
        }
    }

    fn learn_inside(&mut self, step: &Step) {
        let Step { number, input, output, class, .. } = *step;
        let place = match step.kind {
            StepKind::Crossing { .. } | StepKind::Departed { .. } => None,
            StepKind::Dropped { reason, .. } => {
                return self.drop(number, reason);
            }
            StepKind::Filed => Some((Some(input), output, class)),
            StepKind::Queued { .. } => Some((None, output, class)),
        };
        let known = self.places.insert(number, place);
        assert!(known.is_some(), "it begins with {step:?}");
    }

    fn begin(&mut self, number: u64) {
        assert_eq!(self.places.insert(number, None), None, "packet {number} begins twice");
    }

    fn drop(&mut self, number: u64, reason: DropReason) {
        *self.dropped.entry(reason).or_default() += 1;
        self.end(number);
    }

    fn end(&mut self, number: u64) {
        assert!(self.places.remove(&number).is_some(), "packet {number} is not there");
        assert!(self.ended.insert(number), "packet {number} ends twice");
    }

    fn check(&self, device: &Device) {
        let depth = |place: Place| {
            let there = self.places.values().filter(|known| **known == Some(place));
            there.count() as u64
        };
        for queue in device.traffic().queues() {
            assert_eq!(depth((None, queue.port, queue.class)), queue.depth.packets, "{queue:?}");
        }
        for voq in device.traffic().voqs() {
            let place = (Some(voq.input), voq.output, voq.class);
            assert_eq!(depth(place), voq.depth.packets, "{voq:?}");
        }
        assert_eq!(self.places.len() as u64, device.traffic().held().packets, "nothing beside");
    }
}

/// Frames at random instants, up to 60 us apart: more than three ports can take.
fn frames() -> impl Strategy<Value = Vec<(u64, u16, Vec<u8>)>> {
    let what = prop_oneof![4 => Just(order::FORWARD), 2 => order::FORWARD..=order::SHORTEN];
    let sent = (0..60u64, 1..=3u16, what, 1..=4u8, 0..=1u8, 64..1500usize);
    vec(
        sent.prop_map(|(wait, input, what, port, class, size)| {
            (wait, input, frame(what, port, class, size))
        }),
        1..80,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Through virtual output queues and iSLIP into a shared buffer, with copies, resubmission,
    /// recirculation and drops: one watches from the beginning, one comes when packets are inside.
    #[test]
    fn the_steps_of_packets_alone_tell_what_describe_tells(
        frames in frames(), late in 0..80usize
    ) {
        let mut device = crossbar_router();
        follow(&mut device, 0);
        let mut known = vec![Known::default()];
        let mut now = Time::ZERO;
        for (index, (wait, input, frame)) in frames.iter().enumerate() {
            if index == late {
                known.push(Known::at_the_beginning(&device));
            }
            now += Span::from_us(*wait);
            poll(&mut device, now);
            device.handle_frame(now, PortId(*input), frame);
            for event in events(&mut device) {
                known.iter_mut().for_each(|known| known.learn(&event));
            }
            known.iter().for_each(|known| known.check(&device));
        }
        poll(&mut device, now + Span::from_ms(100));
        for event in events(&mut device) {
            known.iter_mut().for_each(|known| known.learn(&event));
        }
        prop_assert_eq!(device.take_lost_event_count(), 0);
        known.iter().for_each(|known| assert!(known.places.is_empty(), "{:?}", known.places));
        let all = &known[0];
        let books = |count: fn(&device::PortBooks) -> &Tally| -> u64 {
            device.books().ports().map(|(_, books)| count(books).packets).sum()
        };
        prop_assert_eq!(all.received, books(|books| &books.received));
        prop_assert_eq!(all.transmitted, books(|books| &books.transmitted));
        for (reason, count) in &all.dropped {
            prop_assert_eq!(*count, device.books().dropped(*reason).packets, "{:?}", reason);
        }
        let dropped: u64 = device.books().ports()
            .flat_map(|(_, books)| books.dropped.values().map(|tally| tally.packets))
            .sum();
        prop_assert_eq!(dropped, all.dropped.values().sum::<u64>());
    }
}
