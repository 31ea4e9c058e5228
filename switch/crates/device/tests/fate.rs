//! Whatever a program orders, every packet is accounted for and leaves at its exact instant.

use crate::rig;

use device::{Device, DropReason};
use proptest::prelude::*;
use rig::{Said, device, frame, order, poll};
use units::{PortId, Rate, Span, Time};

const IN: PortId = PortId(1);

/// Port and instant of each departure.
fn departures(said: &[Said]) -> Vec<(u16, Time)> {
    let sent = |said: &Said| match said {
        Said::Sent { at, port, .. } => Some((port.0, *at)),
        Said::Digest { .. } => None,
    };
    said.iter().filter_map(sent).collect()
}

fn dropped(device: &Device, reason: DropReason) -> u64 {
    device.books().dropped(reason).packets
}

/// 1500 bytes at 100 Mb/s take 120 us, so three packets that arrive together leave at 0, 120 and
/// 240 us. The second finds one packet in the queue if the first has not left yet: it has, at 0,
/// for departures of an instant come before arrivals of the next. The third finds the second.
#[test]
fn packets_leave_one_transmission_time_apart_and_egress_is_told_the_depths() {
    let mut device = device(Some(Rate::from_mbps(100)));
    let us = |us| Time::ZERO + Span::from_us(us);
    device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    let mut said = poll(&mut device, us(1));
    for _ in 0..2 {
        device.handle_frame(us(1), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    // However late it is polled: the instants are those of the line.
    said.extend(poll(&mut device, us(5_000)));
    assert_eq!(departures(&said), [(2, us(0)), (2, us(120)), (2, us(240))]);

    let told = |index: usize| match &said[index] {
        Said::Sent { frame, .. } => {
            let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
            // enq_qdepth, deq_qdepth, deq_timedelta in us
            (word(4), word(6), u32::from(word(8)) << 16 | u32::from(word(10)))
        }
        Said::Digest { .. } => panic!("no digest was ordered"),
    };
    assert_eq!(told(0), (0, 0, 0));
    assert_eq!(told(1), (0, 1, 119));
    assert_eq!(told(2), (1, 0, 239));
    assert!(device.balance());
}

/// Egress removes 40 of 1540 bytes, so the line is free after 1500 bytes: 120 us, not 123.2.
#[test]
fn the_line_carries_what_egress_made_of_the_packet() {
    let mut device = device(Some(Rate::from_mbps(100)));
    for _ in 0..2 {
        device.handle_frame(Time::ZERO, IN, &frame(order::SHORTEN, 2, 0, 1540));
    }
    let said = poll(&mut device, Time::ZERO + Span::from_ms(1));
    let second = Time::ZERO + Span::from_us(120);
    assert_eq!(departures(&said), [(2, Time::ZERO), (2, second)]);
}

/// The default window is 10 ms. 33 frames of 1250 bytes at 100 Mb/s take 3.3 ms of the first one,
/// a frame of 213 bytes 17.04 us: together 33.1704 % of it. The second window has one frame of
/// 100 bytes, 8 us or 0.08 %.
#[test]
fn a_program_reads_the_utilisation_of_the_line_in_hundredths_of_a_percent() {
    let mut device = device(Some(Rate::from_mbps(100)));
    for size in [1250; 33].into_iter().chain([213]) {
        device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 0, size));
    }
    let ms = |ms| Time::ZERO + Span::from_ms(ms);
    assert_eq!(poll(&mut device, ms(10)).len(), 34);
    for (at, told) in [(ms(11), 3317u16), (ms(25), 8)] {
        device.handle_frame(at, IN, &frame(order::TELL_UTILISATION, 2, 0, 100));
        let said = poll(&mut device, at);
        let [Said::Sent { frame, .. }] = &said[..] else { panic!("one packet: {said:?}") };
        assert_eq!(u16::from_be_bytes([frame[4], frame[5]]), told, "at {at:?}");
    }
}

#[test]
fn each_order_ends_where_v1model_says() {
    /// Its name, the order, the port in it, the ports that get a packet, and why one is dropped.
    type Case = (&'static str, u8, u8, &'static [u16], Option<DropReason>);
    let cases: [Case; 11] = [
        ("forward", order::FORWARD, 2, &[2], None),
        ("drop", order::DROP, 2, &[], Some(DropReason::IngressProgram)),
        ("multicast", order::MULTICAST, rig::GROUP, &[1, 2, 3], None),
        ("multicast to nobody", order::MULTICAST, 2, &[], Some(DropReason::NoReplica)),
        ("clone", order::CLONE, 2, &[3, 2], None),
        ("resubmit", order::RESUBMIT_ONCE, 2, &[2], None),
        ("recirculate", order::RECIRCULATE_ONCE, 2, &[2], None),
        ("drop in egress", order::DROP_IN_EGRESS, 2, &[], Some(DropReason::EgressProgram)),
        ("clone in egress", order::CLONE_IN_EGRESS, 2, &[2, 3], None),
        ("resubmit for ever", order::RESUBMIT_FOREVER, 2, &[], Some(DropReason::TooManyPasses)),
        ("no such port", order::FORWARD, 9, &[], Some(DropReason::UnknownPort)),
    ];
    for (name, what, port, ports, reason) in cases {
        let mut device = device(None);
        device.handle_frame(Time::ZERO, IN, &frame(what, port, 0, 100));
        let said = poll(&mut device, Time::ZERO);
        let found: Vec<u16> = departures(&said).iter().map(|(port, _)| *port).collect();
        // Ports of one instant leave in any order that the schedulers like.
        let sorted = |mut ports: Vec<u16>| {
            ports.sort_unstable();
            ports
        };
        assert_eq!(sorted(found), sorted(ports.to_vec()), "{name}");
        assert_eq!(
            reason.map_or(0, |reason| dropped(&device, reason)),
            u64::from(reason.is_some()),
            "{name}"
        );
        assert!(device.balance(), "{name}: {:?}", device.books());
    }
}

#[test]
fn a_digest_is_said_once_and_the_packet_goes_on() {
    let mut device = device(None);
    device.handle_frame(Time::ZERO, IN, &frame(order::DIGEST, 2, 0, 64));
    let said = poll(&mut device, Time::ZERO);
    assert!(matches!(said[0], Said::Digest { .. }), "{said:?}");
    assert_eq!(departures(&said), [(2, Time::ZERO)]);
}

#[test]
fn without_a_program_everything_is_dropped_and_counted() {
    let mut device = Device::new(pipeline::Config::default());
    device.handle_frame(Time::ZERO, IN, &[1, 2, 3]);
    assert_eq!(dropped(&device, DropReason::NoProgram), 1);
    assert!(device.balance());
}

/// Ten packets wait at 1 Mb/s when a new program comes: the old one still runs their egress.
#[test]
fn a_new_program_loses_no_packet_of_the_old_one() {
    let mut device = device(Some(Rate::from_mbps(1)));
    for _ in 0..10 {
        device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 0, 125));
    }
    device.install(rig::pipeline());
    device.install(rig::pipeline());
    device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 0, 125));
    // 125 bytes at 1 Mb/s take 1 ms.
    let said = poll(&mut device, Time::ZERO + Span::from_ms(20));
    let instants: Vec<Time> = departures(&said).iter().map(|(_, at)| *at).collect();
    let expected: Vec<Time> = (0..11).map(|ms| Time::ZERO + Span::from_ms(ms)).collect();
    assert_eq!(instants, expected);
    assert!(device.balance());
}

/// 4096 steps for a frame: one is the pass through ingress, each of the others a clone. Original
/// and clones depart at one instant, and each of them makes a clone: the last one's is refused.
#[test]
fn a_program_that_clones_every_packet_in_egress_ends_at_one_instant() {
    let mut device = device(None);
    device.handle_frame(Time::ZERO, IN, &frame(order::CLONE_FOREVER, 2, 0, 100));
    let said = poll(&mut device, Time::ZERO);
    assert_eq!(departures(&said).len(), 4096);
    assert_eq!(dropped(&device, DropReason::TooManyCopies), 1);
    assert!(device.balance(), "{:?}", device.books());
    // The next frame starts with steps of its own.
    device.handle_frame(Time::ZERO, IN, &frame(order::MULTICAST, rig::GROUP, 0, 100));
    assert_eq!(poll(&mut device, Time::ZERO).len(), 3);
}

/// Each pass makes three copies and each copy another pass, so the frame would become more and more.
/// It ends: of 4096 steps every round takes one for the pass and three for the copies, and what then
/// still waits finds none.
#[test]
fn a_program_that_multiplies_packets_in_a_circle_ends() {
    let mut device = device(None);
    device.handle_frame(Time::ZERO, IN, &frame(order::MULTIPLY, rig::GROUP, 0, 100));
    assert!(poll(&mut device, Time::ZERO).is_empty());
    assert_eq!(device.traffic().held().packets, 0);
    assert_eq!(device.traffic().totals().offered.packets, 3 * 4096 / 4);
    assert!(dropped(&device, DropReason::TooManyPasses) > 0);
    assert!(device.balance(), "{:?}", device.books());
}

/// 100 bytes at 1 Mb/s take 0.8 ms: the first packet is on the line, the second waits and the third
/// comes when port 2 is down.
#[test]
fn a_port_that_is_down_loses_what_is_for_it_and_lets_nothing_in() {
    let mut device = device(Some(Rate::from_mbps(1)));
    let us = |us| Time::ZERO + Span::from_us(us);
    for _ in 0..2 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 100));
    }
    assert_eq!(poll(&mut device, us(1)).len(), 1);
    device.set_port_up(us(1), PortId(2), false);
    device.handle_frame(us(2), IN, &frame(order::FORWARD, 2, 0, 100));
    device.handle_frame(us(2), PortId(2), &frame(order::FORWARD, 3, 0, 100));
    assert_eq!(dropped(&device, DropReason::PortDown), 2);
    assert!(poll(&mut device, us(1_000)).is_empty(), "what waited is lost in its time");
    assert_eq!(dropped(&device, DropReason::PortDown), 3);
    device.set_port_up(us(2_000), PortId(2), true);
    device.handle_frame(us(2_000), IN, &frame(order::FORWARD, 2, 0, 100));
    assert_eq!(departures(&poll(&mut device, us(2_000))), [(2, us(2_000))]);
    assert!(device.balance());
}

/// Frames as (instant in us since the one before, order, port, class, size).
fn frames() -> impl Strategy<Value = Vec<(u64, u8, u8, u8, usize)>> {
    let one = (0u64..200, 0..order::COUNT, 0u8..5, 0u8..4, 0usize..1600);
    proptest::collection::vec(one, 1..80)
}

/// Runs the frames and checks the books after every step; says what the device said.
fn run(rate: Option<Rate>, frames: &[(u64, u8, u8, u8, usize)]) -> Vec<Said> {
    let mut device = device(rate);
    let mut now = Time::ZERO;
    let mut said = Vec::new();
    for (wait, what, port, class, size) in frames {
        now += Span::from_us(*wait);
        said.extend(poll(&mut device, now));
        device.handle_frame(now, IN, &frame(*what, *port, *class, *size));
        assert!(device.balance(), "after order {what}: {:?}", device.books());
    }
    // 80 frames of 4096 clones with 1600 bytes at 1 Mb/s take 4200 s.
    said.extend(poll(&mut device, now + Span::from_secs(10_000)));
    assert_eq!(device.traffic().held().packets, 0, "three hours empty every queue");
    assert!(device.balance());
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_books_balance_whatever_is_ordered_and_time_never_goes_back(
        frames in frames(), mbps in proptest::option::of(1u64..2000),
    ) {
        let said = run(mbps.map(Rate::from_mbps), &frames);
        prop_assert!(said.is_sorted_by_key(Said::at));
        prop_assert_eq!(run(mbps.map(Rate::from_mbps), &frames), said, "same inputs, same bytes out");
    }
}
