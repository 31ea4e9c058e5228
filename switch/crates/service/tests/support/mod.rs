//! A whole switch in this process: the compiled program, the device, the server on a free loopback
//! port, and a thread that drives device and agent as the live switch does.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub mod by_hand;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agent::devices::{NoDevices, Opened};
use agent::exchange::Wake;
use agent::{Agent, DataPlane};
use compiler::{Options, SourceError, SourceProvider, compile};
use device::{Device, Output};
use messages::p4::config::v1::P4Info;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::stream_message_request::Update as ToSwitch;
use messages::p4::v1::stream_message_response::Update as FromSwitch;
use messages::p4::v1::update::Type;
use p4info::Message as _;
use p4runtime::netdev::NetdevCounters;
use prost::Message as _;
use prost::bytes::Bytes;
use service::address::Address;
use service::server::{self, Duties, Server, ServerConfig};
use service::stubs::p4::p4_runtime_client::P4RuntimeClient;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use traffic::PortConfig;
use units::{PortId, Rate, Span, Time};

pub const DEVICE_ID: u64 = 3;
pub const CPU_PORT: PortId = PortId(510);
/// The deadline of a test for an event that must come: on a busy machine, much longer than it
/// takes.
pub const PATIENCE: Duration = Duration::from_secs(60);
pub const EPOCH_OFFSET_NS: i64 = 1_800_000_000_000_000_000;

/// The program of all tests here, compiled once per call.
pub fn program() -> (P4Info, Bytes) {
    compiled("everything.p4")
}

/// A program with tables for a million entries.
pub fn large_program() -> (P4Info, Bytes) {
    compiled("large.p4")
}

/// A program that begins with entries which controllers may change.
pub fn entries_program() -> (P4Info, Bytes) {
    compiled("entries.p4")
}

/// A program of PSA with one of each thing that a controller of such a program sees.
pub fn psa_program() -> (P4Info, Bytes) {
    compiled("psa.p4")
}

/// A program whose types controllers write in another way than the data plane.
pub fn names_program() -> (P4Info, Bytes) {
    compiled("names.p4")
}

fn compiled(name: &str) -> (P4Info, Bytes) {
    let mut options = Options::default();
    options.preprocessor.include_directories = vec!["include".to_owned()];
    let output = compile(&Files, name, &options);
    assert!(output.program.is_some(), "{:?}", output.diagnostics);
    let info = output.p4info.expect("a program comes with its P4Info").to_bytes();
    let info = P4Info::decode(info.as_slice()).expect("both crates read P4Info");
    (info, bmv2::write(&output.program.unwrap()).into())
}

struct Files;

impl SourceProvider for Files {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let text = match path.rsplit('/').next() {
            Some("everything.p4") => include_str!("everything.p4"),
            Some("entries.p4") => include_str!("entries.p4"),
            Some("large.p4") => include_str!("large.p4"),
            Some("names.p4") => include_str!("names.p4"),
            // The architecture's file has the name of the program.
            Some("psa.p4") if path.contains("include") => {
                include_str!("../../../../../p4src/include/psa.p4")
            }
            Some("psa.p4") => include_str!("psa.p4"),
            Some("core.p4") => include_str!("../../../../../p4src/include/core.p4"),
            Some("v1model.p4") => include_str!("../../../../../p4src/include/v1model.p4"),
            _ => return Err(SourceError::NotFound),
        };
        Ok(text.to_owned())
    }
}

/// A frame that comes in, or asks the thread to do something else.
enum Input {
    Frame(PortId, Vec<u8>),
    Link(PortId, bool),
    Woken,
}

/// A server on a free port of loopback, and the end of it that a data plane drives.
pub fn serve(wake: Wake) -> (Server, Agent) {
    server::start(server_config(), wake).unwrap()
}

/// How a server is started that has nothing of its own.
pub fn server_config() -> ServerConfig {
    ServerConfig {
        address: "127.0.0.1:0".parse().unwrap(),
        device_id: DEVICE_ID,
        pipeline: pipeline::Config { cpu_port: Some(CPU_PORT), ..pipeline::Config::default() },
        tls: None,
        devices: Arc::new(NoDevices),
        duties: Duties::NONE,
        thrift_port: None,
        notifications: None,
        events: None,
        dialect: p4runtime::Dialect::Specification,
    }
}

/// Ends a server. It waits for its threads, which a thread that runs async tests must not do.
pub fn stop(server: Option<Server>) {
    std::thread::spawn(move || drop(server)).join().unwrap();
}

/// A running switch with ports 1 to 3 and the CPU port.
pub struct Switch {
    pub server: Option<Server>,
    input: Sender<Input>,
    /// Frames that left, with their ports.
    pub sent: Receiver<(PortId, Vec<u8>)>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Switch {
    pub fn start() -> Switch {
        Switch::start_as(server_config())
    }

    pub fn start_as(config: ServerConfig) -> Switch {
        let (input, inputs) = channel();
        let waker = Mutex::new(input.clone());
        let wake = Arc::new(move || {
            // The thread may be gone already when the last streams close.
            let _gone = waker.lock().unwrap().send(Input::Woken);
        });
        let (server, agent) = server::start(config, wake).unwrap();
        let (sender, sent) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || drive(agent, &inputs, &sender, &stopped));
        Switch { server: Some(server), input, sent, stop, thread: Some(thread) }
    }

    /// A frame comes in.
    pub fn receive(&self, port: u16, frame: &[u8]) {
        self.input.send(Input::Frame(PortId(port), frame.to_vec())).unwrap();
    }

    /// The next frame that is sent, and by which port.
    pub fn next_sent(&self) -> (PortId, Vec<u8>) {
        self.sent.recv_timeout(PATIENCE).expect("the switch sends nothing")
    }

    /// A port goes up or down.
    pub fn set_port_up(&self, port: u16, up: bool) {
        self.input.send(Input::Link(PortId(port), up)).unwrap();
    }

    pub async fn channel(&self) -> Channel {
        channel_to(tcp_address(self.server.as_ref().unwrap())).await
    }

    pub async fn client(&self) -> P4RuntimeClient<Channel> {
        P4RuntimeClient::new(self.channel().await).max_decoding_message_size(64 << 20)
    }

    /// A controller that is primary with election id `low`.
    pub async fn controller(&self, low: u64) -> Controller {
        let mut controller = self.stream("").await;
        let standing = controller.bid(Some(low)).await.unwrap();
        assert_eq!(standing.status.unwrap().code, Code::Ok as i32);
        controller
    }

    /// A controller with an open stream that has said nothing yet.
    pub async fn stream(&self, role: &str) -> Controller {
        stream_over(self.client().await, role).await
    }
}

/// Where a server listens that listens on TCP.
pub fn tcp_address(server: &Server) -> SocketAddr {
    match server.address() {
        Address::Tcp(address) => *address,
        Address::Unix(path) => panic!("it listens at {}", path.display()),
    }
}

pub async fn channel_to(address: SocketAddr) -> Channel {
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}"));
    endpoint.unwrap().connect().await.unwrap()
}

/// A controller with an open stream that has said nothing yet.
pub async fn stream_over(mut client: P4RuntimeClient<Channel>, role: &str) -> Controller {
    let (sender, receiver) = mpsc::channel(64);
    let answers = client.stream_channel(ReceiverStream::new(receiver)).await.unwrap();
    let (answers, role) = (answers.into_inner(), role.to_owned());
    Controller { client, sender, answers, role, election_id: None }
}

impl Drop for Switch {
    fn drop(&mut self) {
        stop(self.server.take());
        self.stop.store(true, Ordering::Relaxed);
        let _gone = self.input.send(Input::Woken);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The device with its clock, as the agent sees it.
pub struct Plane<'a> {
    pub device: &'a mut Device,
    pub now: Time,
}

impl DataPlane for Plane<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn device(&mut self) -> &mut Device {
        self.device
    }

    fn packet_out(&mut self, frame: Vec<u8>) {
        self.device.handle_frame(self.now, CPU_PORT, &frame);
    }

    fn new_port(&self) -> PortConfig {
        PortConfig::strict(None, 1)
    }

    fn netdev_of(&self, _port: PortId) -> Option<String> {
        None
    }

    fn netdev_counters(&mut self, _port: PortId) -> Option<NetdevCounters> {
        None
    }

    fn attach(&mut self, port: PortId, _opened: Opened) {
        panic!("no device can be opened for port {port} here");
    }

    fn detach(&mut self, _port: PortId) -> Option<Opened> {
        None
    }

    fn epoch_offset_ns(&self) -> i64 {
        EPOCH_OFFSET_NS
    }
}

fn drive(
    mut agent: Agent,
    inputs: &Receiver<Input>,
    sent: &Sender<(PortId, Vec<u8>)>,
    stop: &AtomicBool,
) {
    let started = Instant::now();
    let now = || Time::ZERO + Span::from_ns(started.elapsed().as_nanos() as u64);
    let mut device = Device::new(pipeline::Config::default());
    let port = || PortConfig::strict(Rate::from_bps(1_000_000_000), 2);
    let cpu = PortConfig::strict(None, 2);
    let ports = [(PortId(1), port()), (PortId(2), port()), (PortId(3), port()), (CPU_PORT, cpu)];
    let config = traffic::Config { ports: ports.into(), ..traffic::Config::default() };
    device.configure(Time::ZERO, config).unwrap();
    let mut more = false;
    while !stop.load(Ordering::Relaxed) {
        // Short enough for the agent's and the device's own deadlines in these tests.
        let wait = if more { Duration::ZERO } else { Duration::from_millis(1) };
        let mut came_in = None;
        match inputs.recv_timeout(wait) {
            Ok(input @ (Input::Frame(..) | Input::Link(..))) => came_in = Some(input),
            Ok(Input::Woken) | Err(_) => {}
        }
        let now = now();
        while let Some(at) = agent.next_sample(now) {
            release(&mut device, &mut agent, at, sent);
            agent.sample(&mut Plane { device: &mut device, now: at });
        }
        release(&mut device, &mut agent, now, sent);
        match came_in {
            Some(Input::Frame(port, frame)) => device.handle_frame(now, port, &frame),
            Some(Input::Link(port, up)) => device.set_port_up(now, port, up),
            Some(Input::Woken) | None => {}
        }
        more = agent.work(&mut Plane { device: &mut device, now }, 100);
        agent.handle_time(now);
        release(&mut device, &mut agent, now, sent);
        agent.handle_events(&mut Plane { device: &mut device, now });
    }
}

/// Takes what is due by `now` out of the device.
fn release(device: &mut Device, agent: &mut Agent, now: Time, sent: &Sender<(PortId, Vec<u8>)>) {
    while let Some(output) = device.poll_output(now) {
        match output {
            Output::Digest { at, list, values } => agent.handle_digest(at, list, values),
            Output::Transmit { port: CPU_PORT, frame, .. } => {
                agent.handle_packet_in(frame.bytes().to_vec());
                device.recycle(frame);
            }
            Output::Transmit { port, frame, .. } => {
                // A test may have ended without looking at what was sent.
                let _nobody_looks = sent.send((port, frame.bytes().to_vec()));
                device.recycle(frame);
            }
        }
    }
}

/// A controller: a stream and calls.
pub struct Controller {
    pub client: P4RuntimeClient<Channel>,
    pub sender: mpsc::Sender<p4::StreamMessageRequest>,
    pub answers: Streaming<p4::StreamMessageResponse>,
    pub role: String,
    pub election_id: Option<p4::Uint128>,
}

impl Controller {
    /// Sends an arbitration update and waits for the answer to it.
    pub async fn bid(&mut self, low: Option<u64>) -> Result<p4::MasterArbitrationUpdate, Status> {
        self.election_id = low.map(|low| p4::Uint128 { high: 0, low });
        let role = p4::Role { name: self.role.clone(), ..Default::default() };
        let update = p4::MasterArbitrationUpdate {
            device_id: DEVICE_ID,
            role: (!self.role.is_empty()).then_some(role),
            election_id: self.election_id,
            status: None,
        };
        self.say(ToSwitch::Arbitration(update)).await;
        match self.hear().await? {
            FromSwitch::Arbitration(update) => Ok(update),
            other => panic!("expected an arbitration update, got {other:?}"),
        }
    }

    pub async fn say(&self, update: ToSwitch) {
        self.sender.send(p4::StreamMessageRequest { update: Some(update) }).await.unwrap();
    }

    /// The next message of the stream.
    pub async fn hear(&mut self) -> Result<FromSwitch, Status> {
        let next = tokio::time::timeout(PATIENCE, self.answers.next()).await;
        let message = next.expect("the switch says nothing").expect("the stream has ended")?;
        Ok(message.update.expect("a message of the stream has something in it"))
    }

    /// Puts the test program in force.
    pub async fn load(&mut self) -> P4Info {
        self.load_program(program()).await
    }

    /// Puts a program in force.
    pub async fn load_program(&mut self, (info, json): (P4Info, Bytes)) -> P4Info {
        self.set_config(3, Some(config(&info, json))).await.unwrap();
        info
    }

    pub async fn set_config(
        &mut self,
        action: i32,
        config: Option<p4::ForwardingPipelineConfig>,
    ) -> Result<(), Status> {
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id: DEVICE_ID,
            role: self.role.clone(),
            election_id: self.election_id,
            action,
            config,
            ..Default::default()
        };
        self.client.set_forwarding_pipeline_config(request).await.map(|_| ())
    }

    pub async fn write(&mut self, updates: Vec<p4::Update>) -> Result<(), Status> {
        self.write_with(updates, 0).await
    }

    pub async fn write_with(
        &mut self,
        updates: Vec<p4::Update>,
        atomicity: i32,
    ) -> Result<(), Status> {
        let request = p4::WriteRequest {
            device_id: DEVICE_ID,
            role: self.role.clone(),
            election_id: self.election_id,
            updates,
            atomicity,
            ..Default::default()
        };
        self.client.write(request).await.map(|_| ())
    }

    /// The code and message that a write of one update is refused with.
    pub async fn refused(&mut self, update: p4::Update) -> (Code, String) {
        let status = self.write(vec![update]).await.expect_err("this update must be refused");
        let errors = errors_of(&status);
        assert_eq!(errors.len(), 1, "one error per update");
        (Code::from_i32(errors[0].canonical_code), errors[0].message.clone())
    }

    pub async fn read(&mut self, entity: Entity) -> Result<Vec<Entity>, Status> {
        let entities = vec![p4::Entity { entity: Some(entity) }];
        let role = self.role.clone();
        let request = p4::ReadRequest { device_id: DEVICE_ID, role, entities };
        let mut answers = self.client.read(request).await?.into_inner();
        let mut found = Vec::new();
        while let Some(answer) = answers.next().await {
            found.extend(answer?.entities.into_iter().filter_map(|entity| entity.entity));
        }
        Ok(found)
    }

    /// The entries that a query finds.
    pub async fn read_tables(&mut self, query: p4::TableEntry) -> Vec<p4::TableEntry> {
        let found = self.read(Entity::TableEntry(query)).await.unwrap();
        let entry = |entity| match entity {
            Entity::TableEntry(entry) => entry,
            other => panic!("a read of tables finds entries, not {other:?}"),
        };
        found.into_iter().map(entry).collect()
    }
}

pub fn update(kind: Type, entity: Entity) -> p4::Update {
    p4::Update { r#type: kind.into(), entity: Some(p4::Entity { entity: Some(entity) }) }
}

pub fn config(info: &P4Info, json: Bytes) -> p4::ForwardingPipelineConfig {
    p4::ForwardingPipelineConfig {
        p4info: Some(info.clone()),
        p4_device_config: json,
        cookie: Some(p4::forwarding_pipeline_config::Cookie { cookie: 42 }),
    }
}

/// An update that adds a clone session with one copy to each of the ports.
pub fn clone_session(session_id: u32, ports: &[u16]) -> p4::Update {
    use p4::packet_replication_engine_entry::Type as Kind;
    let replicas = ports.iter().map(|port| p4::Replica {
        backup_replicas: Vec::new(),
        instance: 1,
        port_kind: Some(p4::replica::PortKind::Port(port.to_be_bytes().to_vec().into())),
    });
    let session =
        p4::CloneSessionEntry { session_id, replicas: replicas.collect(), ..Default::default() };
    let entry = p4::PacketReplicationEngineEntry { r#type: Some(Kind::CloneSessionEntry(session)) };
    update(Type::Insert, Entity::PacketReplicationEngineEntry(entry))
}

/// The `p4.v1.Error`s in the details of a status.
pub fn errors_of(status: &Status) -> Vec<p4::Error> {
    let details = messages::google::rpc::Status::decode(status.details()).unwrap();
    assert_eq!(details.code, status.code() as i32);
    let error = |any: &prost_types::Any| p4::Error::decode(any.value.as_slice()).unwrap();
    details.details.iter().map(error).collect()
}

/// Ids by name out of P4Info.
pub struct Ids<'a>(pub &'a P4Info);

impl Ids<'_> {
    pub fn table(&self, name: &str) -> u32 {
        let tables = self.0.tables.iter().filter_map(|table| table.preamble.as_ref());
        id_of(tables, name)
    }

    pub fn action(&self, name: &str) -> u32 {
        let actions = self.0.actions.iter().filter_map(|action| action.preamble.as_ref());
        id_of(actions, name)
    }
}

pub fn id_of<'a>(
    mut preambles: impl Iterator<Item = &'a messages::p4::config::v1::Preamble>,
    name: &str,
) -> u32 {
    let found = preambles.find(|it| it.name == name || it.name == format!("ingress.{name}"));
    found.unwrap_or_else(|| panic!("P4Info has no {name}")).id
}
