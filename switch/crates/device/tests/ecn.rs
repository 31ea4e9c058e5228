//! Queue management tells congestion by a mark where the packet's ends understand one.

use crate::rig;

use device::{Device, DropReason};
use rig::{Said, device, frame, order, poll};
use traffic::{AqmConfig, EcnStepConfig, Limit, Probability, RedConfig, RedProfile};
use units::{ClassId, PortId, Rate, Span, Time};

const IN: PortId = PortId(1);
const OUT: PortId = PortId(2);

/// A device whose queues toward `OUT` have this management, at 100 Mb/s.
fn managed(aqm: AqmConfig) -> Device {
    let mut device = device(Some(Rate::from_mbps(100)));
    let mut config = device.traffic().config().clone();
    for queue in &mut config.ports.get_mut(&OUT).expect("port 2").queues {
        queue.aqm = Some(aqm.clone());
        queue.limit = Limit::packets(1000);
    }
    device.configure(Time::ZERO, config).expect("valid");
    device
}

/// Marks or drops about every second packet while one or more wait.
fn red(profiles: &[RedProfile]) -> AqmConfig {
    AqmConfig::Red(RedConfig {
        profiles: profiles.to_vec(),
        weight: Probability::ALWAYS,
        ..RedConfig::default()
    })
}

/// The average never gets there: no packet is marked or dropped.
const NEVER: RedProfile = RedProfile { min: 1000, max: 2000, max_probability: Probability::ALWAYS };

fn half() -> RedProfile {
    RedProfile { min: 0, max: 1000, max_probability: Probability::ppm(500_000) }
}

/// An order to `OUT` that is an IPv4 packet too, with these ECN bits and a checksum of zero.
fn ipv4(class: u8, bits: u8) -> Vec<u8> {
    let mut bytes = frame(order::FORWARD, 2, class, 100);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[14..16].copy_from_slice(&[0x45, bits]);
    bytes
}

/// Sends 500 of these at once; returns how many left with and without CE.
fn burst(device: &mut Device, sent: &[u8]) -> (usize, usize) {
    for _ in 0..500 {
        device.handle_frame(Time::ZERO, IN, sent);
    }
    let said = poll(device, Time::ZERO + Span::from_secs(1));
    let ce = |said: &&Said| matches!(said, Said::Sent { frame, .. } if frame[15] & 3 == 3);
    let marked = said.iter().filter(ce).count();
    assert!(device.balance());
    (marked, said.len() - marked)
}

fn dropped_by_aqm(device: &Device) -> u64 {
    device.books().dropped(DropReason::Aqm).packets
}

#[test]
fn an_ecn_capable_packet_is_marked_where_another_is_dropped() {
    for bits in [0b01, 0b10] {
        let mut device = managed(red(&[half()]));
        let (marked, unmarked) = burst(&mut device, &ipv4(0, bits));
        assert!(marked > 50 && unmarked > 50, "{marked} marked, {unmarked} not");
        assert_eq!((marked + unmarked, dropped_by_aqm(&device)), (500, 0));
        let queue = device.traffic().queue(OUT, ClassId(0)).expect("there is one");
        assert_eq!(queue.counters.marked.packets, marked as u64, "the books say the same");
    }
    let mut device = managed(red(&[half()]));
    let (marked, unmarked) = burst(&mut device, &ipv4(0, 0));
    assert_eq!(marked, 0);
    assert!(dropped_by_aqm(&device) > 50);
    assert_eq!(unmarked as u64 + dropped_by_aqm(&device), 500);
}

#[test]
fn a_step_marks_from_its_threshold_on_and_drops_nobody() {
    let threshold = Limit::packets(10);
    let mut device = managed(AqmConfig::EcnStep(EcnStepConfig { threshold }));
    // Nothing departs while the burst comes in: packets 1 to 10 find 0 to 9 waiting.
    assert_eq!(burst(&mut device, &ipv4(0, 0b10)), (490, 10));
    let mut device = managed(AqmConfig::EcnStep(EcnStepConfig { threshold }));
    assert_eq!(burst(&mut device, &ipv4(0, 0)), (0, 500));
}

/// The program of these tests takes the drop precedence from the class.
#[test]
fn the_drop_precedence_that_ingress_sets_chooses_the_profile() {
    let profiles = [NEVER, half()];
    let mut device = managed(red(&profiles));
    assert_eq!(burst(&mut device, &ipv4(0, 0)), (0, 500), "green");
    let mut device = managed(red(&profiles));
    let (_, unmarked) = burst(&mut device, &ipv4(1, 0));
    assert!(unmarked < 450, "{unmarked} yellow packets got through");
}
