//! A note about a frame's last bytes crosses the switch exactly as long as these bytes do.

use crate::rig;

use device::{Device, LinkConfig, Output, Seal, SenderConfig, SenderRate};
use rig::order;
use traffic::{Impairment, Probability};
use units::{PortId, Time};

const SEAL: Seal = Seal { length_bytes: 80, value: 0x1234_5678_9abc };

/// The seals of all frames that leave because of one that comes in with this seal and such an order.
fn seals_behind(mut device: Device, what: u8, seal: Seal) -> Vec<Option<Seal>> {
    let to = if what == order::MULTICAST { rig::GROUP } else { 2 };
    let frame = rig::frame(what, to, 0, 100);
    device.handle_sealed_frame(Time::ZERO, PortId(1), &frame, Some(seal));
    let mut seals = Vec::new();
    while let Some(output) = device.poll_output(Time::ZERO) {
        if let Output::Transmit { frame, .. } = output {
            seals.push(frame.seal());
            device.recycle(frame);
        }
    }
    assert!(device.balance());
    seals
}

fn after(what: u8) -> Vec<Option<Seal>> {
    seals_behind(rig::device(None), what, SEAL)
}

#[test]
fn a_note_leaves_with_its_frame_and_with_every_copy() {
    assert_eq!(after(order::FORWARD), [Some(SEAL)]);
    assert_eq!(after(order::RESUBMIT_ONCE), [Some(SEAL)]);
    assert_eq!(after(order::RECIRCULATE_ONCE), [Some(SEAL)]);
    assert_eq!(after(order::MULTICAST), [Some(SEAL); 3]);
    assert_eq!(after(order::CLONE), [Some(SEAL); 2]);
}

#[test]
fn a_note_about_bytes_that_the_program_has_parsed_is_lost() {
    // The program takes the first 12 bytes apart, so only the last 88 of 100 are as they were.
    let seal = |length_bytes| Seal { length_bytes, ..SEAL };
    let kept = seals_behind(rig::device(None), order::FORWARD, seal(88));
    assert_eq!(kept, [Some(seal(88))]);
    assert_eq!(seals_behind(rig::device(None), order::FORWARD, seal(89)), [None]);
}

#[test]
fn a_note_about_bytes_that_a_cable_has_damaged_is_lost() {
    let sender = SenderConfig { rate: SenderRate::Unlimited, ..SenderConfig::default() };
    let receive = Impairment { corruption: Probability::ALWAYS, ..Impairment::default() };
    let link = LinkConfig { sender, receive, ..LinkConfig::default() };
    let damaged = rig::device_with(None, link.clone());
    // Whatever the damage made of the order, no frame claims to be whole.
    assert!(seals_behind(damaged, order::FORWARD, SEAL).iter().all(Option::is_none));
}

#[test]
fn the_note_of_the_frame_before_is_not_that_of_the_next() {
    let mut device = rig::device(None);
    let frame = rig::frame(order::FORWARD, 2, 0, 100);
    for seal in [Some(SEAL), None] {
        device.handle_sealed_frame(Time::ZERO, PortId(1), &frame, seal);
        let Some(Output::Transmit { frame, .. }) = device.poll_output(Time::ZERO) else {
            panic!("the frame leaves at once");
        };
        assert_eq!(frame.seal(), seal);
        device.recycle(frame);
    }
}
