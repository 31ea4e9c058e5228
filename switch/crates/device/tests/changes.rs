//! Changes of many ports: made at one instant, whenever a port takes them up.

mod rig;

use std::collections::BTreeMap;

use device::Device;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rig::{Said, device, frame, order, poll};
use traffic::{
    Change, Impairment, Jitter, LinkConfig, Loss, PortConfig, Probability, SenderConfig, SenderRate,
};
use units::{PortId, Rate, Span, Time};

#[derive(Clone, Debug)]
enum Step {
    /// Time passes.
    Wait(Span),
    /// A frame comes in at a port and is to leave by another.
    Frame { input: u16, output: u8, class: u8, size: usize },
    /// Ports get other lines and cables.
    Change(BTreeMap<PortId, PortConfig>),
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
    let port = (prop::option::of(10..200u64), link()).prop_map(|(mbps, link)| {
        let rate = mbps.map(Rate::from_mbps);
        PortConfig { link, ..PortConfig::strict(rate, 2) }
    });
    let ports = btree_map((1..4u16).prop_map(PortId), port, 1..4);
    vec(prop_oneof![10 => frame, 10 => wait, 3 => ports.prop_map(Step::Change)], 1..60)
}

/// One of the two routers that are compared.
struct Driver {
    device: Device,
    now: Time,
    /// How many ports take up a change after each step; none: all do at once.
    catching_up: Option<usize>,
    said: Vec<Said>,
}

impl Driver {
    fn new(catching_up: Option<usize>) -> Driver {
        let device = device(Some(Rate::from_mbps(100)));
        Driver { device, now: Time::ZERO, catching_up, said: Vec::new() }
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
                let ports = ports.iter().map(|(port, config)| (*port, Some(config.clone())));
                let change = Change { ports: ports.collect(), ..Change::default() };
                let made = match self.catching_up {
                    Some(_) => self.device.begin_change(self.now, change),
                    None => self.device.change(self.now, change),
                };
                made.expect("valid");
            }
        }
        let _more = self.catching_up.map(|count| self.device.catch_up_some(count));
    }

    fn finish(mut self) -> (Vec<Said>, String) {
        while !self.device.catch_up_some(1) {}
        while let Some(due) = self.device.next_due() {
            self.said.extend(poll(&mut self.device, due));
        }
        assert!(self.device.balance());
        let lines: Vec<_> = (1..4).map(|port| self.device.lines(PortId(port))).collect();
        let (config, books) = (self.device.traffic().config(), self.device.books());
        (self.said, format!("{lines:?} {config:?} {books:?}"))
    }
}

proptest! {
    #[test]
    fn nobody_can_tell_when_a_port_takes_up_a_change(steps in steps(), count in 0..2usize) {
        let (mut prompt, mut late) = (Driver::new(None), Driver::new(Some(count)));
        for step in &steps {
            prompt.step(step);
            late.step(step);
            prop_assert_eq!(&prompt.said, &late.said, "after {:?}", step);
        }
        prop_assert_eq!(prompt.finish(), late.finish());
    }
}

/// The change is dated: a port that takes it up late serialises its next frame at the new rate, and
/// the one before at the old.
#[test]
fn a_port_that_is_behind_sends_as_if_it_were_not() {
    let mut device = device(Some(Rate::from_mbps(100)));
    let us = |us| Time::ZERO + Span::from_us(us);
    let mbps = |mbps| Some(Rate::from_mbps(mbps));
    let send = |device: &mut Device, at| {
        device.handle_frame(at, PortId(1), &frame(order::FORWARD, 2, 0, 1500));
    };
    send(&mut device, us(0));
    send(&mut device, us(0));
    assert_eq!(poll(&mut device, us(10)).len(), 1, "the second waits for the line");
    let ports = (1..=3).map(|port| (PortId(port), Some(PortConfig::strict(mbps(10), 2))));
    let change = Change { ports: ports.collect(), ..Change::default() };
    device.begin_change(us(10), change).expect("valid");
    let rate_of = |device: &Device, port| device.traffic().config().ports[&PortId(port)].line_rate;
    assert_eq!(rate_of(&device, 2), mbps(100), "it is behind");
    // 1500 bytes at 100 Mb/s take 120 us; the second frame leaves then, and keeps the line for 1.2 ms.
    let said = poll(&mut device, us(120));
    assert_eq!(said.iter().map(Said::at).collect::<Vec<_>>(), [us(120)]);
    assert_eq!(rate_of(&device, 2), mbps(10), "its departure asked for it");
    assert_eq!(rate_of(&device, 3), mbps(100), "nothing has happened to it");
    assert_eq!(device.traffic().port(PortId(2)).unwrap().line_free_at, us(120 + 1200));
    assert!(!device.catch_up_some(1));
    assert!(device.catch_up_some(2));
    assert_eq!(rate_of(&device, 3), mbps(10));
}
