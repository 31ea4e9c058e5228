//! A page by frames alone, as its worker drives it: a network is built, programmed and watched.

use std::time::Duration;

use messages::google::rpc;
use messages::p4::v1 as p4;
use messages::vitrine::v1;
use page::frames::{CALL, CANCEL, DONE, END, MESSAGE, REFUSED, SEND, frame, read};
use page::{Page, compiling};
use prost::Message;
use serde_json::json;

const WIRE: &str = include_str!("../../stage/tests/rig/wire.p4");

/// A page and what it has told, by the number of the call.
#[derive(Default)]
struct Rig {
    page: Page,
    told: Vec<(u8, u32, Vec<u8>)>,
    last: u32,
}

impl Rig {
    fn open(&mut self, method: &str, request: &impl Message) -> u32 {
        self.last += 1;
        let method_length = u8::try_from(method.len()).unwrap();
        let named = [&[2][..], b"s1", &[method_length], method.as_bytes()].concat();
        self.page.take(&frame(CALL, self.last, &named));
        self.page.take(&frame(SEND, self.last, &request.encode_to_vec()));
        self.last
    }

    /// Works until nothing is left to be done.
    fn settle(&mut self) {
        for _ in 0..1_000_000 {
            let next = self.page.work(Duration::ZERO);
            while let Some(frame) = self.page.next_frame() {
                let (kind, number, rest) = read(&frame).expect("a frame");
                self.told.push((kind, number, rest.to_vec()));
            }
            if next == stage::Next::Idle {
                return;
            }
        }
        panic!("it comes to no end");
    }

    fn of(&self, number: u32) -> Vec<(u8, &[u8])> {
        let told = self.told.iter().filter(|(_, of, _)| *of == number);
        told.map(|(kind, _, rest)| (*kind, rest.as_slice())).collect()
    }

    /// A call with one answer.
    fn ask<A: Message + Default>(&mut self, method: &str, request: &impl Message) -> A {
        let number = self.open(method, request);
        self.page.take(&frame(DONE, number, &[]));
        self.settle();
        match self.of(number)[..] {
            [(MESSAGE, answer), (END, [])] => A::decode(answer).expect("a message"),
            ref other => panic!("{method}: {other:?}"),
        }
    }

    fn refusal(&mut self, method: &str, request: &impl Message) -> rpc::Status {
        let number = self.open(method, request);
        self.settle();
        match self.of(number)[..] {
            [(REFUSED, status)] => rpc::Status::decode(status).expect("a status"),
            ref other => panic!("{method}: {other:?}"),
        }
    }
}

fn topology() -> v1::Topology {
    let config = v1::PortConfig { rate_bps: Some(10_000_000), ..Default::default() };
    let ports = [1, 2].map(|port| v1::PortChange { port, config: Some(config.clone()) });
    let host = |number: u32| v1::HostConfig {
        name: format!("h{number}"),
        mac: format!("02:00:00:00:00:0{number}"),
        addresses: vec![format!("10.0.0.{number}/24")],
        ..Default::default()
    };
    let cable = |number: u32| v1::CableConfig {
        one: Some(v1::CableEnd { node: format!("h{number}"), port: None }),
        other: Some(v1::CableEnd { node: "s1".into(), port: Some(number) }),
        mtu_bytes: 0,
    };
    let router = v1::RouterConfig {
        name: "s1".into(),
        device_id: 1,
        ports: ports.to_vec(),
        ..Default::default()
    };
    let (hosts, cables) = (vec![host(1), host(2)], vec![cable(1), cable(2)]);
    v1::Topology { hosts, routers: vec![router], cables }
}

fn program() -> p4::ForwardingPipelineConfig {
    let request = json!({"main": "wire.p4", "files": {"wire.p4": WIRE}}).to_string();
    let config = compiling::compile(request.as_bytes()).config.expect("it compiles");
    p4::ForwardingPipelineConfig::decode(config.as_slice()).expect("a message")
}

/// Two hosts at a piece of wire; and the call that is its controller.
fn wire() -> (Rig, u32) {
    let mut rig = Rig::default();
    let build = v1::BuildRequest { topology: Some(topology()), seed: 1 };
    rig.ask::<v1::BuildResponse>("/vitrine.v1.World/Build", &build);
    let election_id = Some(p4::Uint128 { high: 0, low: 1 });
    let bid = p4::MasterArbitrationUpdate { device_id: 1, election_id, ..Default::default() };
    let update = Some(p4::stream_message_request::Update::Arbitration(bid));
    let controller =
        rig.open("/p4.v1.P4Runtime/StreamChannel", &p4::StreamMessageRequest { update });
    let load = p4::SetForwardingPipelineConfigRequest {
        device_id: 1,
        election_id,
        action: p4::set_forwarding_pipeline_config_request::Action::VerifyAndCommit.into(),
        config: Some(program()),
        ..Default::default()
    };
    rig.ask::<p4::SetForwardingPipelineConfigResponse>(
        "/p4.v1.P4Runtime/SetForwardingPipelineConfig",
        &load,
    );
    (rig, controller)
}

#[test]
fn a_ping_crosses_a_router_that_was_compiled_and_programmed_here() {
    let (mut rig, controller) = wire();
    let watch = v1::WatchRequest { device_id: 1, packets: true, ..Default::default() };
    let watch = rig.open("/vitrine.v1.Router/Watch", &watch);
    let ping = v1::Ping { to: "h2".into(), count: 3, ..Default::default() };
    let app = Some(v1::App { kind: Some(v1::app::Kind::Ping(ping)) });
    let start = v1::StartRequest { host: "h1".into(), app };
    let started: v1::StartResponse = rig.ask("/vitrine.v1.World/Start", &start);
    let until = Some(v1::advance_request::Until::SpanPs(5_000_000_000_000));
    let advance = v1::AdvanceRequest { until, stops: Vec::new() };
    let stood: v1::AdvanceResponse = rig.ask("/vitrine.v1.World/Advance", &advance);
    assert_eq!(stood.time_ps, 5_000_000_000_000);

    let look = v1::LookRequest { apps: true, ..Default::default() };
    let seen: v1::LookResponse = rig.ask("/vitrine.v1.World/Look", &look);
    let report = seen.apps.iter().find(|each| each.app == started.app).expect("it was started");
    let Some(v1::app_report::Kind::Ping(ping)) = &report.kind else { panic!("{report:?}") };
    assert_eq!(ping.echoes.len(), 3);

    let events: usize = rig
        .of(watch)
        .iter()
        .map(|(_, message)| v1::WatchResponse::decode(*message).expect("a message").events.len())
        .sum();
    // Three echoes and their answers, and ARP before them: each comes in and goes out.
    assert!(events >= 2 * (3 + 3), "{events} events");
    // The controller has its notice of being primary, and its call goes on.
    assert!(matches!(rig.of(controller)[..], [(MESSAGE, _)]), "{:?}", rig.of(controller));
}

#[test]
fn a_call_that_is_let_go_is_told_nothing_more() {
    let (mut rig, controller) = wire();
    rig.page.take(&frame(CANCEL, controller, &[]));
    rig.settle();
    let before = rig.of(controller).len();
    // Nobody is primary any more, so the same election id may not write.
    let write = p4::WriteRequest {
        device_id: 1,
        election_id: Some(p4::Uint128 { high: 0, low: 1 }),
        ..Default::default()
    };
    let refused = rig.refusal("/p4.v1.P4Runtime/Write", &write);
    assert_eq!(refused.code, 7, "PERMISSION_DENIED: {}", refused.message);
    assert_eq!(rig.of(controller).len(), before);
}

#[test]
fn a_controller_that_hangs_up_is_told_the_end() {
    let (mut rig, controller) = wire();
    rig.page.take(&frame(DONE, controller, &[]));
    rig.settle();
    assert!(matches!(rig.of(controller)[..], [(MESSAGE, _), (END, [])]));
}

#[test]
fn what_cannot_be_done_is_refused_with_a_sentence() {
    let mut rig = Rig::default();
    let nothing = v1::LookRequest::default();
    for method in ["/vitrine.v1.World/Fly", "/a.B/C", "no method"] {
        assert_eq!(rig.refusal(method, &nothing).code, 12, "UNIMPLEMENTED: {method}");
    }
    let early = rig.refusal("/vitrine.v1.World/Look", &nothing);
    assert!(early.message.starts_with("there is no network yet"), "{}", early.message);
    // A problem for each mistake, as over gRPC.
    let mut topology = topology();
    topology.cables.push(v1::CableConfig::default());
    let build = v1::BuildRequest { topology: Some(topology), seed: 1 };
    let refused = rig.refusal("/vitrine.v1.World/Build", &build);
    assert!(refused.details[0].type_url.ends_with("/vitrine.v1.Problem"), "{refused:?}");
    // Bytes that are no frame, or of no call, are ignored.
    rig.page.take(&[]);
    rig.page.take(&[SEND]);
    rig.page.take(&frame(SEND, 99, b"x"));
    rig.page.take(&frame(200, 1, b"x"));
    rig.settle();
}
