//! Classes that decide for routers and hosts: who may, and what happens when one does wrong.

use crate::rig;

use hosts::CongestionOutside;
use messages::vitrine::v1;
use p4runtime::Code;
use rig::{Rig, wire_topology};
use stage::Deciders;
use traffic::outside::{AqmOutside, AqmQuestion, AqmVerdict, ArbiterOutside, SchedulerOutside};
use units::Rate;
use v1::invite_request::{Part, Queue};

/// An AQM that drops nothing, and does not know what to do with the third packet.
struct Puzzled(u32);

impl AqmOutside for Puzzled {
    fn decide(&mut self, question: &AqmQuestion) -> Result<AqmVerdict, String> {
        self.0 += u32::from(question.waited.is_some());
        if self.0 == 3 { Err("it is puzzled".to_owned()) } else { Ok(AqmVerdict::Pass) }
    }
}

/// Knows one class.
struct OneClass;

impl Deciders for OneClass {
    fn arbiter(
        &mut self,
        _class: &str,
        _ports: usize,
        _iterations: u8,
        _seed: u64,
    ) -> Result<Box<dyn ArbiterOutside>, String> {
        Err("there is no such arbiter".to_owned())
    }

    fn scheduler(
        &mut self,
        _class: &str,
        _weights: &[u32],
        _rate: Rate,
    ) -> Result<Box<dyn SchedulerOutside>, String> {
        Err("there is no such scheduler".to_owned())
    }

    fn aqm(&mut self, _class: &str, rate: Rate, _seed: u64) -> Result<Box<dyn AqmOutside>, String> {
        assert_eq!(rate.bps(), 10_000_000);
        Ok(Box::new(Puzzled(0)))
    }

    fn congestion(
        &mut self,
        _class: &str,
        _seed: u64,
    ) -> Result<Box<dyn CongestionOutside>, String> {
        Err("there is no such congestion control".to_owned())
    }
}

fn invitation(part: Part) -> v1::InviteRequest {
    let decider = "my.py:Mine".to_owned();
    v1::InviteRequest { device_id: 1, decider, part: Some(part), compared: false }
}

fn aqm(port: u32, class: u32) -> v1::InviteRequest {
    invitation(Part::Aqm(Queue { port, class }))
}

fn for_ms(ms: u64) -> v1::AdvanceRequest {
    let until = Some(v1::advance_request::Until::SpanPs(ms * 1_000_000_000));
    v1::AdvanceRequest { until, stops: Vec::new() }
}

#[test]
fn a_class_that_does_wrong_brings_the_world_to_a_stand_until_it_is_built_anew() {
    let mut rig = Rig::wire_with(Some(Box::new(OneClass)), 1);
    // Requests of h1 and what it asks before them leave by port 2.
    rig.invite(aqm(2, 0)).expect("there is such a queue");
    let ping = v1::Ping { to: "h2".to_owned(), interval_ns: 1_000_000, ..Default::default() };
    rig.start("h1", v1::app::Kind::Ping(ping));
    let told = rig.advance(for_ms(1000)).expect_err("the third packet");
    assert_eq!(told.code, Code::Aborted);
    for words in ["router s1, my.py:Mine: decision ", " ns: it is puzzled; asked was: a packet of"]
    {
        assert!(told.message.contains(words), "{}", told.message);
    }
    let stood = rig.look().time_ps;
    assert!(stood < 10_000_000_000, "it stands where it happened: {stood}");
    let again = rig.advance(for_ms(1)).expect_err("it does not go on");
    assert_eq!(again.message, told.message);
    let topology = Some(wire_topology());
    rig.build(v1::BuildRequest { topology, seed: 1 }).expect("it fits");
    rig.advance(for_ms(1)).expect("nobody decides there");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let mut rig = Rig::wire_with(Some(Box::new(OneClass)), 1);
    for (request, words) in [
        (aqm(3, 0), "s1 has no port 3"),
        (aqm(2, 9), "port 2 of s1 has no class 9"),
        (invitation(Part::Arbiter(true)), "s1 has no crossbar"),
        (invitation(Part::Scheduler(1)), "my.py:Mine: there is no such scheduler"),
        (v1::InviteRequest { device_id: 7, ..aqm(1, 0) }, "there is no device 7"),
        (v1::InviteRequest { part: None, ..aqm(1, 0) }, "does not say whose place"),
    ] {
        let refused = rig.invite(request).expect_err(words);
        assert!(refused.message.contains(words), "{}", refused.message);
    }
    let refused = Rig::wire(1).invite(aqm(2, 0)).expect_err("nobody runs classes");
    assert!(refused.message.contains("--classes FOLDER"), "{}", refused.message);
}

#[test]
fn a_host_that_names_a_class_which_is_not_there_is_a_mistake_of_the_topology() {
    let mut topology = wire_topology();
    let congestion_control = Some("my.py:Mine".to_owned());
    topology.hosts[0].tcp = Some(v1::TcpConfig { congestion_control, ..Default::default() });
    let request = v1::BuildRequest { topology: Some(topology), seed: 1 };
    let refused = Rig::with(Some(Box::new(OneClass))).build(request).expect_err("there is none");
    assert_eq!(refused.code, Code::InvalidArgument);
    assert!(refused.message.contains("there is no such congestion control"), "{refused:?}");
}
