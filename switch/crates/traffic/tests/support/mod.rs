//! Shared by the tests of this crate: a driver that keeps the driving contract, and short names.
#![allow(dead_code, reason = "every test binary uses its own part of this file")]

pub mod replay;

use traffic::{Arrival, Config, Departure, Dropped, Manager, Output, PortConfig, Verdict};
use units::{Bytes, ClassId, HasLength, PortId, Span, Time};

/// A packet that knows who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub id: u64,
    pub length: u64,
}

impl HasLength for Packet {
    fn length(&self) -> Bytes {
        Bytes(self.length)
    }
}

pub fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A manager with one configured port, number 1.
pub fn one_port(config: PortConfig) -> Manager<Packet> {
    let mut manager = Manager::new(1);
    let ports = [(PortId(1), config)].into();
    manager
        .configure(Time::ZERO, Config { ports, ..Config::default() })
        .expect("the test's configuration is valid");
    manager
}

/// Changes the configuration of port 1 at `now`.
pub fn edit_port(manager: &mut Manager<Packet>, now: Time, edit: impl FnOnce(&mut PortConfig)) {
    let mut config = manager.config().clone();
    edit(config.ports.get_mut(&PortId(1)).expect("port 1 is configured"));
    manager.configure(now, config).expect("the test's configuration is valid");
}

/// A packet from port 0 for `class` of port 1.
pub fn arrival(id: u64, length: u64, class: u8) -> Arrival<Packet> {
    Arrival::new(Packet { id, length }, PortId(0), PortId(1), ClassId(class))
}

/// Hands a packet in that must be held.
pub fn send(manager: &mut Manager<Packet>, now: Time, id: u64, length: u64, class: u8) {
    let verdict = manager.handle_packet(now, arrival(id, length, class));
    assert_eq!(verdict, Verdict::Held, "packet {id} at {now}");
}

/// Everything that leaves by `now`; nothing may be dropped.
pub fn departures(manager: &mut Manager<Packet>, now: Time) -> Vec<Departure<Packet>> {
    let (departed, dropped) = outputs(manager, now);
    assert_eq!(dropped, [], "nothing is dropped");
    departed
}

/// Everything that comes out by `now`, departures and drops.
pub fn outputs(
    manager: &mut Manager<Packet>,
    now: Time,
) -> (Vec<Departure<Packet>>, Vec<Dropped<Packet>>) {
    let (mut departed, mut dropped) = (Vec::new(), Vec::new());
    while let Some(output) = manager.poll_output(now) {
        match output {
            Output::Depart(departure) => departed.push(departure),
            Output::Drop(drop) => dropped.push(drop),
        }
    }
    (departed, dropped)
}

/// `(id, microseconds)` of each departure; every instant must be a whole microsecond.
pub fn instants(departures: &[Departure<Packet>]) -> Vec<(u64, u64)> {
    departures
        .iter()
        .map(|departure| {
            assert_eq!(departure.at.ps() % 1_000_000, 0, "{departure:?}");
            (departure.packet.id, departure.at.whole_us())
        })
        .collect()
}
