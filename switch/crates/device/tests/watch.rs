//! A device's events of single packets for a watcher.

use crate::rig;

use device::{Device, DropReason, Event, Watching};
use rig::{device, frame, order, poll};
use units::{Bytes, ClassId, PortId, Rate, Span, Time};

const IN: PortId = PortId(1);

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn events(device: &mut Device) -> Vec<Event> {
    std::iter::from_fn(|| device.poll_event()).collect()
}

/// The reported depths of a queue: instant, packets that wait then.
fn depths(events: &[Event]) -> Vec<(Time, u64)> {
    let step = |event: &Event| match event {
        Event::Step(step) => Some((step.at, step.depth()?.packets)),
        _ => None,
    };
    events.iter().filter_map(step).collect()
}

#[test]
fn nothing_is_recorded_unless_somebody_watches() {
    let mut device = device(None);
    device.handle_frame(Time::ZERO, IN, &frame(order::DROP, 2, 0, 100));
    device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 0, 100));
    poll(&mut device, Time::ZERO);
    assert_eq!(events(&mut device), []);
}

/// 1500 bytes at 100 Mb/s take 120 us. Three frames come at 0 and are polled late: the queue of (2,
/// 0) still changes at the exact instants, and there are no events of (2, 1).
#[test]
fn a_watched_queue_tells_every_change_of_its_depth_at_its_exact_instant() {
    let mut device = device(Some(Rate::from_mbps(100)));
    let queues = [(PortId(2), ClassId(0))].into();
    let traffic = traffic::Watching { queues, ..Default::default() };
    device.watch(Watching { traffic, ..Watching::default() });
    for class in [0, 0, 1, 0] {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, class, 1500));
    }
    poll(&mut device, us(10_000));
    // Class 1 is the higher and goes first, although it came third.
    assert_eq!(
        depths(&events(&mut device)),
        [(us(0), 1), (us(0), 2), (us(0), 3), (us(120), 2), (us(240), 1), (us(360), 0)]
    );
}

#[test]
fn a_drop_is_told_with_its_reason_its_queue_and_its_first_bytes() {
    let mut device = device(Some(Rate::from_mbps(1)));
    device.watch(Watching { drops: true, head_size: 4, ..Watching::default() });
    device.handle_frame(us(5), IN, &frame(order::DROP_IN_EGRESS, 2, 1, 100));
    device.handle_frame(us(5), PortId(3), &frame(order::FORWARD, 9, 0, 64));
    poll(&mut device, us(5));
    let told: Vec<_> = events(&mut device)
        .into_iter()
        .map(|event| match event {
            Event::Dropped(drop) => {
                (drop.reason.name(), drop.input, drop.queue, drop.length, drop.head)
            }
            other => panic!("only drops are watched: {other:?}"),
        })
        .collect();
    let queue = |port, class| Some((PortId(port), ClassId(class)));
    let unknown =
        ("unknown_port", PortId(3), queue(9, 0), Bytes(64), vec![order::FORWARD, 9, 0, 0]);
    let egress =
        ("egress_program", IN, queue(2, 1), Bytes(100), vec![order::DROP_IN_EGRESS, 2, 1, 0]);
    // The first waits for its departure, the second is refused on the spot.
    assert_eq!(told, [unknown, egress]);
}

#[test]
fn a_port_that_changes_is_told_once() {
    let mut device = device(None);
    for up in [true, false, false, true] {
        device.set_port_up(us(1), PortId(2), up);
    }
    let port = |up| Event::Port { at: us(1), port: PortId(2), up };
    assert_eq!(events(&mut device), [port(false), port(true)]);
    assert!(device.port_is_up(PortId(2)));
}

/// The list takes 2^16 events; what comes after is counted, and nothing that waits is lost.
#[test]
fn what_finds_no_room_is_counted() {
    let mut device = device(None);
    device.watch(Watching { drops: true, ..Watching::default() });
    for _ in 0..(1 << 16) + 3 {
        device.handle_frame(us(1), IN, &frame(order::DROP, 2, 0, 64));
    }
    assert_eq!(device.take_lost_event_count(), 3);
    assert_eq!(events(&mut device).len(), 1 << 16);
    assert_eq!(device.take_lost_event_count(), 0);
    assert_eq!(device.books().dropped(DropReason::IngressProgram).packets, (1 << 16) + 3);
}
