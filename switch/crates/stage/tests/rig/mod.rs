//! A world without threads or gRPC: the test polls the calls of its clients, and works in between.

#![allow(dead_code, reason = "each file of tests uses its own part of this")]

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use agent::Load;
use agent::feed::FeedStream;
use agent::front::{Fronts, Stream};
use compiler::{Options, SourceError, SourceProvider, compile};
use futures_util::Stream as _;
use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::vitrine::v1;
use p4info::Message as _;
use p4runtime::Refusal;
use p4runtime::details::Room;
use p4runtime::router::watch::batch_message;
use prost::Message as _;
use stage::{Front, Next, Runner, SpoutStream, Stage};

pub struct Rig {
    pub stage: Stage,
    pub world: Front,
    pub fronts: Arc<Fronts>,
    /// The reading of the real clock.
    pub clock: Duration,
    streams: Vec<Stream>,
    /// How many controllers have bid to be primary; each bids more than those before.
    bids: u64,
}

impl Rig {
    /// Nothing was built yet.
    pub fn empty() -> Rig {
        Rig::with(None)
    }

    /// The same, with a runner of classes.
    pub fn with(runner: Runner) -> Rig {
        let (stage, world, fronts) = Stage::new(Arc::new(|| ()), None, runner);
        Rig { stage, world, fronts, clock: Duration::ZERO, streams: Vec::new(), bids: 0 }
    }

    /// Two hosts at a piece of wire, each port of 10 Mb/s.
    pub fn wire(seed: u64) -> Rig {
        Rig::wire_with(None, seed)
    }

    /// The same, with a runner of classes.
    pub fn wire_with(runner: Runner, seed: u64) -> Rig {
        let mut rig = Rig::with(runner);
        rig.build(v1::BuildRequest { topology: Some(wire_topology()), seed }).expect("it fits");
        rig.load(1);
        rig
    }

    pub fn build(&mut self, request: v1::BuildRequest) -> Result<(), p4runtime::Status> {
        let world = self.world.clone();
        self.complete(async move { world.build(request, Room::USUAL).await.map(drop) })
    }

    /// Polls a call to its end, and works between two polls.
    pub fn complete<T>(&mut self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..1_000_000 {
            if let Poll::Ready(done) = call.as_mut().poll(&mut context) {
                return done;
            }
            self.work();
        }
        panic!("it is not answered");
    }

    pub fn work(&mut self) -> Next {
        self.stage.work(self.clock)
    }

    pub fn start(&mut self, host: &str, kind: v1::app::Kind) -> u64 {
        let app = Some(v1::App { kind: Some(kind) });
        let (world, host) = (self.world.clone(), host.to_owned());
        let request = v1::StartRequest { host, app };
        self.complete(async move { world.start(request).await }).expect("it can be").app
    }

    pub fn advance(&mut self, request: v1::AdvanceRequest) -> Result<v1::AdvanceResponse, Refusal> {
        let world = self.world.clone();
        self.complete(async move { world.advance(request).await })
    }

    pub fn advance_ms(&mut self, ms: u64) {
        let until = Some(v1::advance_request::Until::SpanPs(ms * 1_000_000_000));
        self.advance(v1::AdvanceRequest { until, stops: Vec::new() }).expect("it stands");
    }

    pub fn look(&mut self) -> v1::LookResponse {
        let world = self.world.clone();
        let request =
            v1::LookRequest { connections: true, apps: true, topology: true, ..Default::default() };
        self.complete(async move { world.look(request).await }).expect("there is a network")
    }

    pub fn fault(&mut self, kind: v1::fault_request::Kind) {
        let world = self.world.clone();
        let request = v1::FaultRequest { kind: Some(kind) };
        self.complete(async move { world.fault(request).await }).expect("it can be");
    }

    pub fn inject(
        &mut self,
        at: v1::CableEnd,
        frames: &[&[u8]],
    ) -> Result<v1::InjectResponse, Refusal> {
        let world = self.world.clone();
        let frames = frames.iter().map(|frame| frame.to_vec().into()).collect();
        let request = v1::InjectRequest { at: Some(at), frames };
        self.complete(async move { world.inject(request).await })
    }

    pub fn invite(&mut self, request: v1::InviteRequest) -> Result<v1::InviteResponse, Refusal> {
        let world = self.world.clone();
        self.complete(async move { world.invite(request).await })
    }

    /// The events of the first router from now on.
    pub fn watch(&mut self, request: v1::WatchRequest) -> FeedStream {
        let front = self.fronts.named(1).unwrap().front;
        self.complete(async move { front.watch(&request).await }).unwrap().1
    }

    pub fn watch_hosts(
        &mut self,
        request: v1::WatchHostsRequest,
    ) -> SpoutStream<v1::WatchHostsResponse> {
        let world = self.world.clone();
        self.complete(async move { world.watch_hosts(request).await }).expect("it can be")
    }

    pub fn capture(&mut self, ports: Vec<v1::CableEnd>) -> SpoutStream<v1::CaptureResponse> {
        let world = self.world.clone();
        let request = v1::CaptureRequest { ports, frame_bytes_max: 0 };
        self.complete(async move { world.capture(request).await }).expect("it can be")
    }

    /// Loads the piece of wire into a router, as its primary.
    pub fn load(&mut self, device_id: u64) {
        let call = self.loading(device_id);
        self.complete(call).expect("it loads");
    }

    /// The same, by a client that goes away after `looks` looks at the call, if it takes longer;
    /// returns whether it did.
    pub fn load_in_part(&mut self, device_id: u64, looks: u64) -> bool {
        let mut call = pin!(self.loading(device_id));
        let mut context = Context::from_waker(Waker::noop());
        let is_done = (0..looks).any(|_| {
            let polled = call.as_mut().poll(&mut context);
            self.work();
            polled.is_ready()
        });
        self.streams.pop();
        !is_done
    }

    /// A new primary of the router, and the call by which it loads the piece of wire.
    fn loading(
        &mut self,
        device_id: u64,
    ) -> impl Future<Output = Result<(), p4runtime::Status>> + use<> {
        let served = self.fronts.named(device_id).expect("it was built");
        let (stream, _) = Stream::open(&served.front, 1);
        self.bids += 1;
        let election_id = Some(p4::Uint128 { high: 0, low: self.bids });
        let bid = p4::MasterArbitrationUpdate { device_id, election_id, ..Default::default() };
        let update = Some(p4::stream_message_request::Update::Arbitration(bid));
        self.complete(stream.hear(p4::StreamMessageRequest { update })).expect("it is primary");
        self.streams.push(stream);
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id,
            election_id,
            action: p4::set_forwarding_pipeline_config_request::Action::VerifyAndCommit.into(),
            config: Some(wire_program()),
            ..Default::default()
        };
        let front = Arc::clone(&served.front);
        let load = move |config| async move { Load::new(config, &served.pipeline) };
        async move { front.set_config(request, load).await.map(drop) }
    }

    /// One of the controllers goes away, if there is one.
    pub fn forsake(&mut self, place: usize) {
        if !self.streams.is_empty() {
            self.streams.swap_remove(place % self.streams.len());
        }
    }
}

/// Whether who reads was woken.
#[derive(Debug, Default)]
pub struct Woken(pub AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A router's messages until now.
pub fn told(feed: &mut FeedStream) -> Vec<v1::WatchResponse> {
    told_before(feed, Waker::noop())
}

/// A router's messages until now; `waker` will learn of more.
pub fn told_before(feed: &mut FeedStream, waker: &Waker) -> Vec<v1::WatchResponse> {
    let mut context = Context::from_waker(waker);
    let mut messages = Vec::new();
    while let Poll::Ready(Some(batch)) = Pin::new(&mut *feed).poll_next(&mut context) {
        messages.push(batch_message(batch.expect("nobody ends it")));
    }
    messages
}

/// The messages of a stream until now; its end, if it has ended.
pub fn drained<M: prost::Message>(stream: &mut SpoutStream<M>) -> (Vec<M>, Option<Refusal>) {
    let mut context = Context::from_waker(Waker::noop());
    let mut messages = Vec::new();
    loop {
        match Pin::new(&mut *stream).poll_next(&mut context) {
            Poll::Ready(Some(Ok(message))) => messages.push(message),
            Poll::Ready(Some(Err(refusal))) => return (messages, Some(refusal)),
            Poll::Ready(None) | Poll::Pending => return (messages, None),
        }
    }
}

pub fn host(number: u32) -> v1::HostConfig {
    v1::HostConfig {
        name: format!("h{number}"),
        mac: format!("02:00:00:00:00:0{number}"),
        addresses: vec![format!("10.0.0.{number}/24")],
        ..Default::default()
    }
}

pub fn end(node: &str, port: Option<u32>) -> v1::CableEnd {
    v1::CableEnd { node: node.to_owned(), port }
}

pub fn wire_topology() -> v1::Topology {
    let config = v1::PortConfig { rate_bps: Some(10_000_000), ..Default::default() };
    let ports = [1, 2].map(|port| v1::PortChange { port, config: Some(config.clone()) });
    let router = v1::RouterConfig {
        name: "s1".to_owned(),
        device_id: 1,
        ports: ports.to_vec(),
        ..Default::default()
    };
    let cable = |number: u32| v1::CableConfig {
        one: Some(end(&format!("h{number}"), None)),
        other: Some(end("s1", Some(number))),
        mtu_bytes: 0,
    };
    v1::Topology {
        hosts: vec![host(1), host(2)],
        routers: vec![router],
        cables: vec![cable(1), cable(2)],
    }
}

fn wire_program() -> p4::ForwardingPipelineConfig {
    static PROGRAM: OnceLock<p4::ForwardingPipelineConfig> = OnceLock::new();
    PROGRAM.get_or_init(compiled_wire).clone()
}

fn compiled_wire() -> p4::ForwardingPipelineConfig {
    let mut options = Options::default();
    options.preprocessor.include_directories = vec!["include".to_owned()];
    let output = compile(&Files, "wire.p4", &options);
    assert!(output.program.is_some(), "{:?}", output.diagnostics);
    let info = output.p4info.expect("a program comes with its P4Info").to_bytes();
    p4::ForwardingPipelineConfig {
        p4info: Some(P4Info::decode(info.as_slice()).expect("both crates read P4Info")),
        p4_device_config: bmv2::write(&output.program.expect("checked above")).into(),
        cookie: None,
    }
}

struct Files;

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        Ok(match path.rsplit('/').next() {
            Some("wire.p4") => include_str!("wire.p4").to_owned(),
            Some("core.p4") => include_str!("../../../../../p4src/include/core.p4").to_owned(),
            Some("v1model.p4") => {
                include_str!("../../../../../p4src/include/v1model.p4").to_owned()
            }
            _ => return Err(SourceError::NotFound),
        })
    }
}
