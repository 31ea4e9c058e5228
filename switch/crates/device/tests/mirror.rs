//! Packets that queues drop go to the mirror of drops, with their fate.

use crate::rig;

use rig::{Said, device, frame, order, poll};
use traffic::{DropReason, Limit, PortConfig};
use units::{PortId, Rate, Span, Time};

const IN: PortId = PortId(1);
/// Where clone session 1 leads.
const MIRROR: PortId = PortId(3);

/// The contents of a frame: instance type, reason of its drop, port, class.
fn told(frame: &[u8]) -> [u8; 4] {
    [frame[3], frame[5], frame[6], frame[7]]
}

fn frames_at(said: &[Said], wanted: PortId) -> Vec<&[u8]> {
    let sent = said.iter().filter_map(|said| match said {
        Said::Sent { port, frame, .. } if *port == wanted => Some(frame.as_slice()),
        _ => None,
    });
    sent.collect()
}

/// Port 2 holds two packets; of four that come at one instant the last two are dropped.
#[test]
fn a_packet_that_its_queue_drops_reaches_the_mirror_with_reason_port_and_class() {
    let mut device = device(None);
    let mut config = device.traffic().config().clone();
    let mut port = PortConfig::strict(Some(Rate::from_mbps(1)), 2);
    port.queues[1].limit = Limit { packets: Some(2), bytes: None };
    config.ports.insert(PortId(2), port);
    device.configure(Time::ZERO, config).expect("valid");
    device.mirror_drops(Some(1));
    for _ in 0..4 {
        device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 1, 100));
    }
    let said = poll(&mut device, Time::ZERO + Span::from_secs(1));
    let queue_limit = DropReason::QueueLimit.number();
    let mirrored: Vec<_> = frames_at(&said, MIRROR).into_iter().map(told).collect();
    assert_eq!(mirrored, [[7, queue_limit, 2, 1]; 2]);
    assert_eq!(frames_at(&said, PortId(2)).len(), 2);
    assert!(device.balance());
}

#[test]
fn without_a_mirror_nothing_is_copied() {
    let mut device = device(None);
    device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 9, 0, 100));
    assert_eq!(poll(&mut device, Time::ZERO), []);
    // An undefined session leads nowhere.
    device.mirror_drops(Some(77));
    device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 9, 0, 100));
    assert_eq!(poll(&mut device, Time::ZERO), []);
    assert!(device.balance());
}

#[test]
fn a_drop_of_the_mirror_itself_goes_nowhere() {
    let mut device = device(None);
    let mut config = device.traffic().config().clone();
    let mut port = PortConfig::strict(Some(Rate::from_mbps(1)), 2);
    port.queues[0].limit = Limit { packets: Some(2), bytes: None };
    config.ports.insert(MIRROR, port);
    device.configure(Time::ZERO, config).expect("valid");
    device.mirror_drops(Some(1));
    // Class 5 is none of port 2's. Of ten mirrored drops the mirror's port takes two.
    for _ in 0..10 {
        device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 5, 100));
    }
    let said = poll(&mut device, Time::ZERO + Span::from_secs(1));
    assert_eq!(frames_at(&said, MIRROR).len(), 2);
    assert!(device.balance());
}

/// The copy that reports a drop is sent back into ingress, which sends it to the same missing
/// class: that drop is its own, and reporting it would go on until the frame's steps are used up.
#[test]
fn what_comes_of_a_mirrored_drop_is_not_mirrored_either() {
    let mut device = device(None);
    device.mirror_drops(Some(1));
    device.handle_frame(Time::ZERO, IN, &frame(order::RECIRCULATE_ONCE, 2, 5, 100));
    assert_eq!(poll(&mut device, Time::ZERO), []);
    let bad_class = DropReason::BadClass;
    assert_eq!(device.books().dropped(bad_class).packets, 2);
    assert!(device.balance());
}
