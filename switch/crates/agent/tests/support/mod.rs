//! A switch without threads, clock or runtime: the test polls the calls of controllers, and drives
//! agent and device between two polls.
#![allow(dead_code, reason = "every test binary uses its own part of this file")]

pub mod offer;

use std::collections::BTreeMap;
use std::ops::Range;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agent::devices::Opened;
use agent::discard::Discard;
use agent::exchange::exchange;
use agent::front::{Front, Stream};
use agent::reports::Reporter;
use agent::{Agent, DataPlane, Load};
use compiler::{Options, SourceError, SourceProvider, compile};
use device::{Device, Output};
use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use messages::p4::v1::update::Type;
use messages::p4::v1::write_request::Atomicity;
use messages::vitrine::v1;
use p4info::Message as _;
use p4runtime::config::Config;
use p4runtime::details::Room;
use p4runtime::netdev::NetdevCounters;
use prost::Message as _;
use prost::bytes::Bytes;
use traffic::PortConfig;
use units::memory::{Budget, Owner};
use units::{PortId, Span, Time};

pub const DEVICE_ID: u64 = 3;

/// A call of a controller, whose answer the test does not look at.
pub type Call = Pin<Box<dyn Future<Output = ()>>>;

/// A future that is not ready when it is first asked, such as one that waits for a thread.
pub async fn pause() {
    let mut asked = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut asked, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// A program that sends IPv4 to one port; the port's number is its cookie, too.
#[derive(Clone)]
pub struct Program {
    pub config: Arc<p4::ForwardingPipelineConfig>,
}

impl Program {
    pub fn forwarding_to(port: u64) -> Program {
        let mut options = Options::default();
        options.preprocessor.include_directories = vec!["include".to_owned()];
        let output = compile(&Files { port }, "everything.p4", &options);
        assert!(output.program.is_some(), "{:?}", output.diagnostics);
        let info = output.p4info.expect("a program comes with its P4Info").to_bytes();
        let config = p4::ForwardingPipelineConfig {
            p4info: Some(P4Info::decode(info.as_slice()).expect("both crates read P4Info")),
            p4_device_config: bmv2::write(&output.program.expect("checked above")).into(),
            cookie: Some(p4::forwarding_pipeline_config::Cookie { cookie: port }),
        };
        Program { config: Arc::new(config) }
    }

    /// Ready to be put in force.
    pub fn loaded(&self, settings: &pipeline::Config) -> Load {
        let message = p4::ForwardingPipelineConfig::clone(&self.config);
        let config = Arc::new(Config::new(Some(message)).expect("it fits"));
        Load::new(config, settings).expect("it loads")
    }

    fn info(&self) -> &P4Info {
        self.config.p4info.as_ref().expect("it was set")
    }

    pub fn table(&self, name: &str) -> u32 {
        let tables = self.info().tables.iter().filter_map(|table| table.preamble.as_ref());
        tables.into_iter().find(|it| it.name == name).expect("the program has it").id
    }

    /// The one digest that it has.
    pub fn digest(&self) -> u32 {
        self.info().digests[0].preamble.as_ref().expect("the compiler sets it").id
    }

    pub fn action(&self, name: &str) -> u32 {
        let actions = self.info().actions.iter().filter_map(|action| action.preamble.as_ref());
        actions.into_iter().find(|it| it.name == name).expect("the program has it").id
    }
}

struct Files {
    port: u64,
}

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let everything = include_str!("../../../service/tests/support/everything.p4");
        Ok(match path.rsplit('/').next() {
            Some("everything.p4") => {
                everything.replace("0x0800: forward(1)", &format!("0x0800: forward({})", self.port))
            }
            Some("core.p4") => include_str!("../../../../../p4src/include/core.p4").to_owned(),
            Some("v1model.p4") => {
                include_str!("../../../../../p4src/include/v1model.p4").to_owned()
            }
            _ => return Err(SourceError::NotFound),
        })
    }
}

/// A switch with ports 1 to 3 that runs the old program, and its primary controller.
pub struct Rig {
    pub new: Program,
    device: Device,
    attached: BTreeMap<PortId, String>,
    agent: Agent,
    front: Arc<Front>,
    now: Time,
    stream: Stream,
}

impl Rig {
    pub fn start(old: &Program, new: &Program) -> Rig {
        Rig::start_with(old, new, Budget::UNLIMITED)
    }

    /// One whose programs and entries come out of this memory.
    pub fn start_with(old: &Program, new: &Program, memory: Budget) -> Rig {
        let settings = pipeline::Config { memory, ..pipeline::Config::default() };
        Rig::running(old.loaded(&settings), new, settings)
    }

    /// One that runs what was loaded before, with the same settings.
    pub fn running(load: Load, new: &Program, settings: pipeline::Config) -> Rig {
        let (plane, inbox) = exchange(Arc::new(|| ()));
        let (reporter, _reports) = Reporter::new();
        let (discard, _freed_at_once) = Discard::new();
        let lost = reporter.lost_count();
        let agent = Agent::new(inbox, reporter, discard);
        let front = Arc::new(Front::new(DEVICE_ID, agent.published(), plane, lost));
        let mut device = Device::new(settings);
        let ports = (1..=3).map(|port| (PortId(port), PortConfig::strict(None, 1))).collect();
        let config = traffic::Config { ports, ..traffic::Config::default() };
        device.configure(Time::ZERO, config).expect("ports of one kind");
        let attached = (1..=3).map(|port| (PortId(port), format!("veth{port}"))).collect();
        let (stream, _answers) = Stream::open(&front, 1);
        let now = Time::ZERO;
        let mut rig = Rig { new: new.clone(), device, attached, agent, front, now, stream };
        rig.become_primary();
        let (agent, mut plane) = rig.parts();
        agent.adopt(&mut plane, load);
        rig
    }

    fn become_primary(&mut self) {
        let bid = p4::MasterArbitrationUpdate {
            device_id: DEVICE_ID,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            ..Default::default()
        };
        let update = p4::stream_message_request::Update::Arbitration(bid);
        let heard = pin!(self.stream.hear(p4::StreamMessageRequest { update: Some(update) }));
        let Poll::Ready(heard) = heard.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("arbitration waits for nobody");
        };
        heard.expect("nobody else is primary");
    }

    pub fn front(&self) -> Arc<Front> {
        Arc::clone(&self.front)
    }

    fn parts(&mut self) -> (&mut Agent, Plane<'_>) {
        let Rig { device, attached, agent, now, .. } = self;
        (agent, Plane { device, attached, now: *now })
    }

    /// Does something with the device, and tells the watchers what happened to it by now.
    pub fn drive(&mut self, act: impl FnOnce(&mut Device, Time)) {
        act(&mut self.device, self.now);
        self.release();
        let (agent, mut plane) = self.parts();
        agent.handle_events(&mut plane);
    }

    /// Time passes.
    pub fn wait(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(at) = self.agent.next_sample(until) {
            self.now = at;
            self.release();
            let (agent, mut plane) = self.parts();
            agent.sample(&mut plane);
        }
        self.now = until;
        self.drive(|_, _| {});
    }

    /// Time passes, and the machine serves nothing until it has.
    pub fn oversleep(&mut self, span: Span) {
        self.agent.handle_overrun(self.now + span, span);
        self.wait(span);
    }

    /// Lets everything due by now leave.
    fn release(&mut self) {
        while let Some(output) = self.device.poll_output(self.now) {
            if let Output::Transmit { frame, .. } = output {
                self.device.recycle(frame);
            }
        }
    }

    /// How long nothing wants to be called if nothing happens.
    pub fn idle_span(&self) -> Option<Span> {
        self.agent.next_due().map(|due| due.since(self.now))
    }

    fn work(&mut self) -> bool {
        let (agent, mut plane) = self.parts();
        let more = agent.work(&mut plane, 1);
        agent.handle_events(&mut plane);
        more
    }

    /// Carries a call out to its end.
    pub fn complete(&mut self, call: Call) {
        assert!(self.poll_and_drop(call, usize::MAX), "it is answered");
    }

    /// Polls a call this often, a step of the data plane after each, then drops it. Returns whether
    /// it was answered. Requests that it has left to the data plane are carried out.
    pub fn poll_and_drop(&mut self, mut call: Call, polls: usize) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let mut answered = false;
        for _ in 0..polls {
            if call.as_mut().poll(&mut context).is_ready() {
                answered = true;
                break;
            }
            self.work();
        }
        drop(call);
        while self.work() {}
        answered
    }

    pub fn config_request(
        &self,
        action: Action,
        program: &Program,
    ) -> p4::SetForwardingPipelineConfigRequest {
        let config = Some(p4::ForwardingPipelineConfig::clone(&program.config));
        p4::SetForwardingPipelineConfigRequest {
            config,
            action: action.into(),
            ..self.commit_request()
        }
    }

    pub fn commit_request(&self) -> p4::SetForwardingPipelineConfigRequest {
        p4::SetForwardingPipelineConfigRequest {
            device_id: DEVICE_ID,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            action: Action::Commit.into(),
            ..Default::default()
        }
    }

    pub fn read_request(&self) -> p4::ReadRequest {
        let table_id = self.new.table("ingress.exact_table");
        let all = Entity::TableEntry(p4::TableEntry { table_id, ..Default::default() });
        let entities = vec![p4::Entity { entity: Some(all) }];
        p4::ReadRequest { device_id: DEVICE_ID, entities, ..Default::default() }
    }

    /// Writes entries for the destinations with these numbers.
    pub fn write_entries(&self, kind: Type, numbers: Range<u32>, atomicity: Atomicity) -> Call {
        let updates = numbers.map(|number| self.update(kind, number)).collect();
        let request = p4::WriteRequest {
            device_id: DEVICE_ID,
            election_id: Some(p4::Uint128 { high: 0, low: 1 }),
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        };
        let front = self.front();
        Box::pin(async move {
            front.write(request, Room::USUAL).await.unwrap();
        })
    }

    pub fn update(&self, kind: Type, number: u32) -> p4::Update {
        let value = Bytes::copy_from_slice(&(number + 1).to_be_bytes());
        let exact = p4::field_match::Exact { value: bits_of(value) };
        let field_match_type = Some(p4::field_match::FieldMatchType::Exact(exact));
        let drop = p4::Action { action_id: self.new.action("ingress.drop"), params: Vec::new() };
        let entry = p4::TableEntry {
            table_id: self.new.table("ingress.exact_table"),
            r#match: vec![p4::FieldMatch { field_id: 1, field_match_type }],
            action: Some(p4::TableAction { r#type: Some(p4::table_action::Type::Action(drop)) }),
            ..Default::default()
        };
        let entity = Some(p4::Entity { entity: Some(Entity::TableEntry(entry)) });
        p4::Update { r#type: kind.into(), entity }
    }

    /// Packets, reads, writes, GetForwardingPipelineConfig and Describe see one and the same switch.
    pub fn check_agreement(&mut self) {
        self.check_program();
        // Writes and reads go to the saved program, or to that in force; in either case they work.
        self.complete(self.write_entries(Type::Insert, 100..101, Atomicity::ContinueOnError));
        let (front, request) = (self.front(), self.read_request());
        self.complete(Box::pin(async move {
            let found = front.read(request, Room::USUAL, &Owner::default()).await.unwrap();
            let entries = found.flat_map(|message| message.entities);
            let tables = entries.filter(|it| matches!(it.entity, Some(Entity::TableEntry(_))));
            assert!(tables.count() >= 1, "what was written is read");
        }));
        let is_saved = self.agent.published().now().saved.is_some();
        let (front, request) = (self.front(), self.commit_request());
        self.complete(Box::pin(async move {
            let nothing_to_load = |_| async { panic!("COMMIT brings no program") };
            let committed = front.set_config(request, nothing_to_load).await;
            assert_eq!(committed.is_ok(), is_saved, "{committed:?}");
        }));
        self.check_program();
        self.check_ports();
        self.check_nobody_is_told();
    }

    /// The cookie tells by which port packets leave.
    fn check_program(&mut self) {
        let request =
            p4::GetForwardingPipelineConfigRequest { device_id: DEVICE_ID, ..Default::default() };
        let config = self.front.get_config(&request).unwrap().config.unwrap();
        let port = config.cookie.unwrap().cookie;
        let frame = [&[0xff; 6][..], &[0xee; 6], &[0x08, 0x00], &[0; 46]].concat();
        self.device.handle_frame(self.now, PortId(1), &frame);
        self.now += Span::from_ms(1);
        let mut left_by = Vec::new();
        while let Some(output) = self.device.poll_output(self.now) {
            let Output::Transmit { port, frame, .. } = output else { continue };
            left_by.push(u64::from(port.0));
            self.device.recycle(frame);
        }
        assert_eq!(left_by, [port], "the program in force says by which port packets leave");
    }

    fn check_ports(&mut self) {
        let front = self.front();
        let ports: Vec<_> = self.device.traffic().config().ports.keys().copied().collect();
        let attached: Vec<_> = self.attached.keys().copied().collect();
        assert_eq!(ports, attached, "each port has its network device");
        self.complete(Box::pin(async move {
            let described = front.describe(&v1::DescribeRequest::default()).await.unwrap();
            let ports = ports.iter().map(|port| u32::from(port.0));
            assert!(described.ports.iter().map(|port| port.port).eq(ports));
        }));
    }

    /// One client is traced for at a time, so another can begin where the first has gone.
    fn check_nobody_is_told(&mut self) {
        self.work();
        let front = self.front();
        self.complete(Box::pin(async move {
            let request =
                v1::TraceRequest { filters: vec![v1::TraceFilter::default()], device_id: 0 };
            drop(front.trace(&request).await.unwrap());
        }));
    }
}

/// In the shortest form.
pub fn bits_of(value: Bytes) -> Bytes {
    let zeros = value.iter().take_while(|byte| **byte == 0).count();
    value.slice(zeros..)
}

/// The device as the agent sees it.
pub struct Plane<'a> {
    pub device: &'a mut Device,
    pub attached: &'a mut BTreeMap<PortId, String>,
    pub now: Time,
}

impl DataPlane for Plane<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn device(&mut self) -> &mut Device {
        self.device
    }

    fn packet_out(&mut self, _frame: Vec<u8>) {}

    fn new_port(&self) -> PortConfig {
        PortConfig::strict(None, 1)
    }

    fn netdev_of(&self, port: PortId) -> Option<String> {
        self.attached.get(&port).cloned()
    }

    fn netdev_counters(&mut self, _port: PortId) -> Option<NetdevCounters> {
        None
    }

    fn attach(&mut self, port: PortId, _opened: Opened) {
        self.attached.insert(port, format!("veth{port}"));
    }

    fn detach(&mut self, port: PortId) -> Option<Opened> {
        self.attached.remove(&port).map(|name| Opened(Box::new(name)))
    }

    fn epoch_offset_ns(&self) -> i64 {
        0
    }
}
