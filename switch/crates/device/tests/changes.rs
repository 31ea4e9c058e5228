//! Changes of ports and cables: at one instant, in how many parts ever.

use crate::rig;

use std::collections::BTreeMap;

use device::{Change, Device, LinkConfig, SenderConfig, SenderRate};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rig::{Said, device, frame, order, poll};
use traffic::{Impairment, Jitter, Loss, PortConfig, Probability};
use units::{PortId, Rate, Span, Time};

#[derive(Clone, Debug)]
enum Step {
    /// Time passes.
    Wait(Span),
    /// A frame comes in at a port and is to leave by another.
    Frame { input: u16, output: u8, class: u8, size: usize },
    /// Ports get other lines and cables.
    Change(BTreeMap<PortId, (PortConfig, LinkConfig)>),
}

/// A cable that does nothing to frames, or delays, loses and doubles some.
fn link() -> impl Strategy<Value = LinkConfig> {
    let way = (0..400u64, any::<bool>()).prop_map(|(delay_us, reorder)| Impairment {
        delay: Span::from_us(delay_us),
        jitter: Jitter { max: Span::from_us(200), reorder },
        loss: Loss::Independent(Probability::ppm(100_000)),
        duplication: Probability::ppm(100_000),
        ..Impairment::default()
    });
    let way = prop_oneof![2 => Just(Impairment::default()), 1 => way];
    let rate = prop_oneof![Just(SenderRate::OfPort), Just(SenderRate::Unlimited)];
    (rate, way.clone(), way).prop_map(|(rate, receive, transmit)| {
        let sender = SenderConfig { rate, ..SenderConfig::default() };
        LinkConfig { sender, receive, transmit }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = (1..500u64).prop_map(|us| Step::Wait(Span::from_us(us)));
    let frame = (1..4u16, 1..4u8, 0..2u8, 64..1500usize)
        .prop_map(|(input, output, class, size)| Step::Frame { input, output, class, size });
    let port = (prop::option::of(10..200u64), link())
        .prop_map(|(mbps, link)| (PortConfig::strict(mbps.map(Rate::from_mbps), 2), link));
    let ports = btree_map((1..4u16).prop_map(PortId), port, 1..4);
    vec(prop_oneof![10 => frame, 10 => wait, 3 => ports.prop_map(Step::Change)], 1..60)
}

/// One of the two routers that are compared.
struct Driver {
    device: Device,
    now: Time,
    /// How many ports change at a time.
    at_a_time: usize,
    said: Vec<Said>,
}

impl Driver {
    fn new(at_a_time: usize) -> Driver {
        let device = device(Some(Rate::from_mbps(100)));
        Driver { device, now: Time::ZERO, at_a_time, said: Vec::new() }
    }

    fn step(&mut self, step: &Step) {
        self.said.extend(poll(&mut self.device, self.now));
        match step {
            Step::Wait(span) => {
                self.now += *span;
                self.said.extend(poll(&mut self.device, self.now));
            }
            Step::Frame { input, output, class, size } => {
                let bytes = frame(order::FORWARD, *output, *class, *size);
                self.device.handle_frame(self.now, PortId(*input), &bytes);
            }
            Step::Change(ports) => {
                let mut change = Change::default();
                for (port, (config, link)) in ports {
                    change.traffic.ports.insert(*port, Some(config.clone()));
                    change.links.insert(*port, link.clone());
                }
                self.device.check(&change).expect("valid");
                while change != Change::default() {
                    let rest = change.split_off(self.at_a_time);
                    self.device.apply(self.now, std::mem::replace(&mut change, rest));
                }
            }
        }
    }

    fn finish(mut self) -> (Vec<Said>, String) {
        while let Some(due) = self.device.next_due() {
            self.said.extend(poll(&mut self.device, due));
        }
        assert!(self.device.balance());
        let lines: Vec<_> = (1..4).map(|port| self.device.lines(PortId(port))).collect();
        let links: Vec<_> = (1..4).map(|port| self.device.link(PortId(port))).collect();
        let (config, books) = (self.device.traffic().config(), self.device.books());
        (self.said, format!("{lines:?} {links:?} {config:?} {books:?}"))
    }
}

proptest! {
    #[test]
    fn the_parts_of_a_change_make_the_change(steps in steps(), at_a_time in 1..3usize) {
        let (mut whole, mut parts) = (Driver::new(usize::MAX), Driver::new(at_a_time));
        for step in &steps {
            whole.step(step);
            parts.step(step);
            prop_assert_eq!(&whole.said, &parts.said, "after {:?}", step);
        }
        prop_assert_eq!(whole.finish(), parts.finish());
    }
}

/// A configuration is compared with the result of the change before it, also on ports without any
/// event since.
#[test]
fn a_configuration_after_a_change_takes_back_what_it_does_not_have() {
    let us = |us| Time::ZERO + Span::from_us(us);
    let mbps = |mbps| Some(Rate::from_mbps(mbps));
    let mut device = device(mbps(10));
    let before = device.traffic().config().clone();
    let ports = (1..=3).map(|port| (PortId(port), Some(PortConfig::strict(mbps(20), 2))));
    let faster = traffic::Change { ports: ports.collect(), ..traffic::Change::default() };
    device.apply(us(10), faster.into());
    device.configure(us(20), before.clone()).expect("valid");
    assert_eq!(device.traffic().config(), &before);
    // 1500 bytes at 10 Mb/s keep the line for 1.2 ms.
    device.handle_frame(us(20), PortId(1), &frame(order::FORWARD, 2, 0, 1500));
    assert_eq!(poll(&mut device, us(20)).len(), 1);
    assert_eq!(device.traffic().port(PortId(2)).unwrap().line_free_at, us(20 + 1200));
}

#[test]
fn a_wrong_cable_changes_nothing() {
    let mut device = device(None);
    let before = device.traffic().config().clone();
    let never_good = Loss::Bursty {
        turns_bad: Probability::ALWAYS,
        turns_good: Probability::NEVER,
        while_good: Probability::NEVER,
        while_bad: Probability::ALWAYS,
    };
    let receive = Impairment { loss: never_good, ..Impairment::default() };
    let mut change = Change::default();
    change.traffic.ports.insert(PortId(1), Some(PortConfig::strict(Some(Rate::from_mbps(1)), 2)));
    change.links.insert(PortId(2), LinkConfig { receive, ..LinkConfig::default() });
    let refused = device.change(Time::ZERO, change).unwrap_err();
    assert_eq!(refused.place, "port 2, receive line, loss");
    assert_eq!(device.traffic().config(), &before);
}
