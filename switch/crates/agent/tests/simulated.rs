//! Several controllers against one switch, in virtual time and from a seed: streams, roles, elections,
//! batches, program changes, ports, packets, and calls whose clients go away. After every step the
//! switch must have done what a model of P4Runtime says (`simulated/model.rs`), and nothing else:
//!
//! * every answer is that of the requests carried out one after the other, in the order in which they
//!   were handed over (linearisable), also where the clients of some have gone;
//! * packets see the states between two requests, or between two updates of a batch that is not
//!   atomic, and never go back to an earlier one;
//! * only primaries change anything, no notice of primary comes before the writes of earlier
//!   primaries have ended, every stream knows its standing, and a packet-in or a list of digests
//!   reaches the primaries of all roles and no others; a digest's message is sent once, until it is acknowledged or its time is over (`simulated/learning.rs`);
//! * a slow reader costs others nothing and misses only messages without room, all of them counted.
//!
//! A seed that fails is printed: `SEED=17 cargo test -p vitrine-agent --test all simulated` runs it
//! alone, `SEEDS=100000 FROM=200` that many, from that one on. `DIGESTS=/tmp/digests` writes a
//! digest of the switch's messages in each history, which `tests/oracles.sh` compares before and
//! after a refactoring.

mod digest;
mod learning;
mod model;
use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use agent::devices::Opened;
use agent::discard::Discard;
use agent::exchange::exchange;
use agent::front::outbox::{OutboxStream, REPORT_SIZE_BYTES_MAX};
use agent::front::{Front, Stream};
use agent::reports::{Reporter, Reports};
use agent::{Agent, Load};
use bits::Int;
use device::{Device, Output};
use futures_util::Stream as _;
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use messages::p4::v1::stream_message_response::Update;
use messages::p4::v1::update::Type;
use messages::p4::v1::write_request::Atomicity;
use messages::vitrine::v1;
use p4runtime::config::Config;
use p4runtime::details::Room;
use p4runtime::{Code, Status};
use prost::bytes::Bytes;
use traffic::PortConfig;
use units::memory::Owner;
use units::{PortId, Span, Time};

use digest::Said;
use model::{Answer, Batch, Change, Does, KEY_COUNT, Loaded, Model, Request, Roles};
use support::{DEVICE_ID, Plane, Program, bits_of};

/// The number of histories in a run of `cargo test`; every seed is another one.
const SEED_COUNT: u64 = 200;
const STEP_COUNT: usize = 300;
const STREAM_COUNT: usize = 5;
const CALL_COUNT_MAX: usize = 12;
/// Of a packet that is large: one and all that is small find room on a stream that is not read, a second
/// does not.
const LARGE_SIZE_BYTES: usize = 5 * REPORT_SIZE_BYTES_MAX / 8;
/// By which the program's digest is known in BMv2 JSON.
const LIST_ID: u32 = 1;
const ROLES: [&str; 2] = ["", "telemetry"];

/// SplitMix64: all that happens is decided by it.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Answer, Status>>>>;

/// A bid that waits for the requests of earlier primaries.
type Bidding = Pin<Box<dyn Future<Output = Result<(), Status>>>>;

/// A call that is open.
struct Call {
    /// Not used again.
    number: usize,
    future: Answering,
    request: Request,
    /// Role and election id; none for a Read, which needs no rights.
    claim: Option<(&'static str, Option<u128>)>,
    /// Set when it has been polled: what must be answered, and the state that is in force then.
    expected: Option<(Answer, usize)>,
}

/// A controller's stream.
struct Open {
    stream: Arc<Stream>,
    answers: OutboxStream,
    /// A bid that is not answered yet.
    bidding: Option<Bidding>,
    /// Writes that were on their way when it bade last.
    before: Vec<usize>,
    told: Option<Code>,
    /// It reads what it is sent now and then, not at once.
    is_slow: bool,
    /// There is a large packet that it has not read.
    has_large: bool,
    /// Each packet's number and length.
    packets: Vec<(u32, usize)>,
    expected_packets: Vec<(u32, usize)>,
    /// Of digests: the number of each, and what it says.
    lists: Vec<(u64, Vec<u8>)>,
    expected_lists: Vec<(u64, Vec<u8>)>,
}

impl Call {
    fn is_write(&self) -> bool {
        matches!(self.request, Request::Write(..) | Request::Learn(_))
    }
}

impl Open {
    fn end(self, result: Result<(), Status>) {
        let Open { stream, bidding, .. } = self;
        drop(bidding);
        Arc::into_inner(stream).expect("nothing else is said on it").end(result);
    }
}

struct Simulation {
    dice: Dice,
    model: Model,
    roles: Roles,
    program: &'static Program,
    front: Arc<Front>,
    agent: Agent,
    reports: Reports,
    device: Device,
    attached: BTreeMap<PortId, String>,
    now: Time,
    /// By a number that is not used again.
    streams: BTreeMap<usize, Open>,
    stream_count: usize,
    calls: Vec<Call>,
    call_count: usize,
    cookie_count: u64,
    packet_count: u32,
    bid_count: usize,
    /// Lists of digests that streams received.
    list_count: usize,
    /// Packets for which a stream had no room.
    lost_count: u64,
    /// Everything that the switch said: answers, messages on streams, and the ways of packets.
    said: Said,
}

/// Programs whose packets leave by port 1, 2 or 3 unless an entry says otherwise; compiled once.
fn program(port: u16) -> &'static Program {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    &PROGRAMS.get_or_init(|| (1..=3).map(Program::forwarding_to).collect())[usize::from(port) - 1]
}

fn config_of(loaded: &Loaded) -> p4::ForwardingPipelineConfig {
    let cookie = p4::forwarding_pipeline_config::Cookie { cookie: loaded.cookie };
    p4::ForwardingPipelineConfig { cookie: Some(cookie), ..(*program(loaded.port).config).clone() }
}

fn load(config: Arc<Config>) -> Result<Load, p4runtime::Refusal> {
    Load::new(config, &pipeline::Config::default())
}

fn id_message(id: Option<u128>) -> Option<p4::Uint128> {
    id.map(|id| p4::Uint128 { high: (id >> 64) as u64, low: id as u64 })
}

fn now_or_never<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for nobody"),
    }
}

impl Simulation {
    fn new(seed: u64) -> Simulation {
        let (plane, inbox) = exchange(Arc::new(|| ()));
        let (reporter, reports) = Reporter::new();
        let (discard, _freed_at_once) = Discard::new();
        let lost = reporter.lost_count();
        let agent = Agent::new(inbox, reporter, discard);
        let front = Arc::new(Front::new(DEVICE_ID, agent.published(), plane, lost));
        let mut device = Device::new(pipeline::Config::default());
        let ports = (1..=3).map(|port| (PortId(port), PortConfig::strict(None, 1))).collect();
        let config = traffic::Config { ports, ..traffic::Config::default() };
        device.configure(Time::ZERO, config).expect("ports of one kind");
        let first = Loaded::new(1, 1);
        let mut simulation = Simulation {
            dice: Dice(seed),
            model: Model::new(first.clone()),
            roles: Roles::default(),
            program: program(1),
            front,
            agent,
            reports,
            device,
            attached: (1..=3).map(|port| (PortId(port), format!("veth{port}"))).collect(),
            now: Time::ZERO,
            streams: BTreeMap::new(),
            stream_count: 0,
            calls: Vec::new(),
            call_count: 0,
            cookie_count: 1,
            packet_count: 0,
            bid_count: 0,
            list_count: 0,
            lost_count: 0,
            said: Said::default(),
        };
        let config = Arc::new(Config::new(Some(config_of(&first))).expect("it fits"));
        let loaded = load(config).expect("it loads");
        let (agent, mut plane) = simulation.parts();
        agent.adopt(&mut plane, loaded);
        simulation
    }

    fn parts(&mut self) -> (&mut Agent, Plane<'_>) {
        let Simulation { agent, device, attached, now, .. } = self;
        (agent, Plane { device, attached, now: *now })
    }

    fn step(&mut self) {
        match self.dice.below(26) {
            0 => self.open_stream(),
            1 => self.close_stream(),
            2..=4 => self.bid(),
            5..=8 => self.begin_call(),
            9..=13 => self.poll_call(),
            14 => self.cancel_call(),
            15..=17 => {
                let steps = 1 + self.dice.below(4);
                self.work(steps);
            }
            18 => self.send_packets(),
            19..=22 => self.report_digest(),
            23 => self.acknowledge(),
            24 => self.read_slowly(),
            _ => self.report_packets(),
        }
        self.check_streams();
    }

    fn work(&mut self, steps: usize) -> bool {
        let (agent, mut plane) = self.parts();
        agent.work(&mut plane, steps)
    }

    fn open_stream(&mut self) {
        if self.streams.len() == STREAM_COUNT {
            return;
        }
        let (stream, answers) = Stream::open(&self.front, self.dice.next() % 3);
        let open = Open {
            stream: Arc::new(stream),
            answers,
            bidding: None,
            before: Vec::new(),
            told: None,
            is_slow: self.dice.below(3) == 0,
            has_large: false,
            packets: Vec::new(),
            expected_packets: Vec::new(),
            lists: Vec::new(),
            expected_lists: Vec::new(),
        };
        self.streams.insert(self.stream_count, open);
        self.stream_count += 1;
    }

    fn any_stream(&mut self) -> Option<usize> {
        let numbers: Vec<usize> = self.streams.keys().copied().collect();
        (!numbers.is_empty()).then(|| self.dice.one_of(&numbers))
    }

    /// A controller goes, orderly or not, and a slow one perhaps with unread messages.
    fn close_stream(&mut self) {
        let Some(number) = self.any_stream() else { return };
        if !self.streams[&number].is_slow || self.dice.below(2) == 0 {
            self.check_stream(number);
        }
        if let Some(open) = self.streams.remove(&number)
            && self.dice.below(2) == 0
        {
            open.end(Ok(()));
        }
        self.roles.close(number);
    }

    fn bid(&mut self) {
        let Some(number) = self.any_stream() else { return };
        if self.streams[&number].bidding.is_some() {
            return;
        }
        let role = self.dice.one_of(&ROLES);
        // Ids grow, as those of controllers that come back do; otherwise none would be high enough
        // soon.
        self.bid_count += 1;
        let id =
            (self.dice.below(8) > 0).then(|| (self.bid_count / 4 + self.dice.below(6)) as u128);
        let expected = self.roles.bid(number, role, id);
        let update = p4::MasterArbitrationUpdate {
            device_id: DEVICE_ID,
            role: (!role.is_empty())
                .then(|| p4::Role { name: role.to_owned(), ..Default::default() }),
            election_id: id_message(id),
            ..Default::default()
        };
        let update = Some(p4::stream_message_request::Update::Arbitration(update));
        let writes = self.calls.iter().filter(|call| call.is_write() && call.expected.is_some());
        let before = writes.map(|call| call.number).collect();
        let open = self.streams.get_mut(&number).expect("it is open");
        let stream = Arc::clone(&open.stream);
        let mut bidding: Bidding =
            Box::pin(async move { stream.hear(p4::StreamMessageRequest { update }).await });
        if expected.is_ok() {
            open.before = before;
        }
        match bidding.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(heard) => assert_eq!(heard.map_err(|status| status.code), expected),
            Poll::Pending => {
                assert_eq!(expected, Ok(()));
                open.bidding = Some(bidding);
            }
        }
        if let Err(code) = expected {
            self.check_stream(number);
            let open = self.streams.remove(&number).expect("it is open");
            open.end(Err(p4runtime::Refusal::new(code, "as the model says").into()));
            self.roles.close(number);
        }
    }

    fn begin_call(&mut self) {
        if self.calls.len() == CALL_COUNT_MAX {
            return;
        }
        let request = self.any_request();
        let claim = match request {
            Request::Read => None,
            _ => Some(self.any_claim()),
        };
        let future = self.future_of(&request, claim.unwrap_or_default());
        self.call_count += 1;
        self.calls.push(Call { number: self.call_count, future, request, claim, expected: None });
    }

    /// Half of them are a primary's, so that histories get somewhere; most of the others belong to
    /// no controller.
    fn any_claim(&mut self) -> (&'static str, Option<u128>) {
        let anybodys = (self.dice.one_of(&ROLES), Some(self.dice.below(6) as u128));
        let leading = self.roles.leading();
        if leading.is_empty() || self.dice.below(2) == 0 {
            anybodys
        } else {
            self.dice.one_of(&leading)
        }
    }

    fn any_request(&mut self) -> Request {
        match self.dice.below(16) {
            0 => Request::Commit,
            1 => Request::CommitNew(self.another_program()),
            2 => Request::Reconcile(self.another_program()),
            3 => Request::Save(self.another_program()),
            4 => Request::AddPort(4 + self.dice.below(2) as u16),
            5 => Request::RemovePort(4 + self.dice.below(2) as u16),
            6..=7 => Request::Read,
            8..=11 => Request::Learn(self.dice.below(4) > 0),
            _ => {
                let batches =
                    [Batch::ContinueOnError, Batch::RollbackOnError, Batch::DataplaneAtomic];
                let batch = self.dice.one_of(&batches);
                let count = 1 + self.dice.below(6);
                Request::Write(batch, (0..count).map(|_| self.any_change()).collect())
            }
        }
    }

    fn any_change(&mut self) -> (usize, Change) {
        let does = self.dice.one_of(&[Does::Drop, Does::Forward(2), Does::Forward(3)]);
        let changes = [Change::Insert(does), Change::Modify(does), Change::Delete];
        (self.dice.below(KEY_COUNT), self.dice.one_of(&changes))
    }

    fn another_program(&mut self) -> Loaded {
        self.cookie_count += 1;
        let port = 1 + self.dice.below(3) as u16;
        Loaded::new(self.cookie_count, port)
    }

    /// The call itself; it may be dropped at any time.
    fn future_of(&self, request: &Request, (role, id): (&'static str, Option<u128>)) -> Answering {
        let (front, program, said) = (Arc::clone(&self.front), self.program, self.said.clone());
        let (role, election_id) = (role.to_owned(), id_message(id));
        let ours = election_id.map(|id| v1::ElectionId { high: id.high, low: id.low });
        let done = |result: Result<(), Status>| result.map(|()| Answer::Done);
        match request.clone() {
            Request::Read => Box::pin(async move {
                let table_id = program.table("ingress.exact_table");
                let all = Entity::TableEntry(p4::TableEntry { table_id, ..Default::default() });
                let entities = vec![p4::Entity { entity: Some(all) }];
                let request =
                    p4::ReadRequest { device_id: DEVICE_ID, entities, ..Default::default() };
                let answer = front.read(request, Room::USUAL, &Owner::default()).await?;
                let answer = answer.inspect(|message| said.take_message(message));
                let found = answer.flat_map(|message| message.entities);
                Ok(Answer::Entries(found.map(|entity| entry_of(program, &entity)).collect()))
            }),
            Request::Write(batch, changes) => {
                let updates = changes.into_iter().map(|it| update_of(program, it)).collect();
                self.write(role, election_id, batch, updates)
            }
            Request::Learn(on) => {
                let updates = vec![learn_update(program, on)];
                self.write(role, election_id, Batch::ContinueOnError, updates)
            }
            Request::AddPort(port) => {
                let (device_id, port) = (DEVICE_ID, port.into());
                let device = format!("veth{port}");
                let request = v1::AddPortRequest {
                    device_id,
                    role,
                    election_id: ours,
                    port,
                    device,
                    ..Default::default()
                };
                let open = |_, _| async { Ok(Opened(Box::new(()))) };
                Box::pin(
                    async move { done(front.add_port(request, Room::USUAL, open).await.map(drop)) },
                )
            }
            Request::RemovePort(port) => {
                let (device_id, port) = (DEVICE_ID, port.into());
                let request = v1::RemovePortRequest { device_id, role, election_id: ours, port };
                Box::pin(async move { done(front.remove_port(request).await.map(drop)) })
            }
            Request::Commit => self.set_config(role, election_id, Action::Commit, None),
            Request::CommitNew(loaded) => {
                self.set_config(role, election_id, Action::VerifyAndCommit, Some(&loaded))
            }
            Request::Reconcile(loaded) => {
                self.set_config(role, election_id, Action::ReconcileAndCommit, Some(&loaded))
            }
            Request::Save(loaded) => {
                self.set_config(role, election_id, Action::VerifyAndSave, Some(&loaded))
            }
        }
    }

    fn write(
        &self,
        role: String,
        election_id: Option<p4::Uint128>,
        batch: Batch,
        updates: Vec<p4::Update>,
    ) -> Answering {
        let front = Arc::clone(&self.front);
        let atomicity = match batch {
            Batch::ContinueOnError => Atomicity::ContinueOnError,
            Batch::RollbackOnError => Atomicity::RollbackOnError,
            Batch::DataplaneAtomic => Atomicity::DataplaneAtomic,
        };
        let request = p4::WriteRequest {
            device_id: DEVICE_ID,
            role,
            election_id,
            updates,
            atomicity: atomicity.into(),
            ..Default::default()
        };
        Box::pin(async move { front.write(request, Room::USUAL).await.map(|_| Answer::Done) })
    }

    fn set_config(
        &self,
        role: String,
        election_id: Option<p4::Uint128>,
        action: Action,
        loaded: Option<&Loaded>,
    ) -> Answering {
        let front = Arc::clone(&self.front);
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id: DEVICE_ID,
            role,
            election_id,
            action: action.into(),
            config: loaded.map(config_of),
            ..Default::default()
        };
        let load = |config| async move { load(config) };
        Box::pin(async move { front.set_config(request, load).await.map(|_| Answer::Done) })
    }

    /// Polls a call for its answer. The first poll hands it over.
    fn poll_call(&mut self) {
        if self.calls.is_empty() {
            return;
        }
        let at = self.dice.below(self.calls.len());
        self.poll_call_at(at);
    }

    /// Whether it is answered; then it is gone.
    fn poll_call_at(&mut self, at: usize) -> bool {
        let made_for = self.agent.published().now().current().map(|config| {
            let reply = config.reply(ResponseType::CookieOnly);
            reply.cookie.unwrap_or_default().cookie
        });
        let made_for = made_for.expect("there is a program from the start");
        let call = &mut self.calls[at];
        if call.expected.is_none() {
            let may = call.claim.map_or(Ok(()), |(role, id)| self.roles.authorize(role, id));
            call.expected = Some(match may {
                Ok(()) => self.model.hand_over(call.request.clone(), made_for),
                Err(code) => (Answer::Refused(code), 0),
            });
        }
        let polled = call.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(answer) = polled else { return false };
        let answer = answer.unwrap_or_else(|status| self.said.refused(&status));
        let call = self.calls.swap_remove(at);
        let (expected, state) = call.expected.expect("it was set above");
        assert_eq!(answer, expected, "{:?} as {:?}", call.request, call.claim);
        self.model.answered(state);
        true
    }

    /// A client goes away. Its handed-over requests are carried out nevertheless.
    fn cancel_call(&mut self) {
        if !self.calls.is_empty() {
            let at = self.dice.below(self.calls.len());
            drop(self.calls.swap_remove(at));
        }
    }

    /// A packet for each host, all at one instant.
    fn send_packets(&mut self) {
        for key in 0..KEY_COUNT {
            let host = [0, 0, 0, 0, 0, key as u8 + 1];
            let frame = [&host[..], &[0xee; 6], &[0x08, 0x00], &[0; 46]].concat();
            self.device.handle_frame(self.now, PortId(1), &frame);
        }
        let mut ways = vec![None; KEY_COUNT];
        while let Some(output) = self.device.poll_output(self.now) {
            let Output::Transmit { port, frame, .. } = output else { continue };
            self.said.take(&port.0.to_be_bytes());
            self.said.take(frame.bytes());
            ways[usize::from(frame.bytes()[5]) - 1] = Some(port.0);
            self.device.recycle(frame);
        }
        self.model.observe_packets(&ways);
        let response_type = ResponseType::CookieOnly.into();
        let request =
            p4::GetForwardingPipelineConfigRequest { device_id: DEVICE_ID, response_type };
        let config = self.front.get_config(&request).expect("it waits for nobody").config;
        let cookie = config.and_then(|config| config.cookie).expect("all programs have one");
        self.model.observe_program(cookie.cookie);
        self.now += Span::from_ms(1);
    }

    /// Frames have left through the CPU port.
    fn report_packets(&mut self) {
        for _ in 0..1 + self.dice.below(3) {
            self.report_packet();
        }
    }

    fn report_packet(&mut self) {
        self.packet_count += 1;
        let is_large = self.dice.below(2) == 0;
        let payload = self.packet_count.to_be_bytes();
        let size_bytes = if is_large { LARGE_SIZE_BYTES } else { payload.len() };
        // Two bytes of the program's packet_in header in front.
        let mut frame = vec![0; 2 + size_bytes];
        frame[1] = 0x80;
        frame[2..][..payload.len()].copy_from_slice(&payload);
        self.agent.handle_packet_in(frame);
        self.tell_reports();
        for (number, open) in &mut self.streams {
            if !self.roles.is_primary(*number) {
                continue;
            }
            if is_large && open.has_large {
                self.lost_count += 1;
                continue;
            }
            open.has_large |= is_large;
            open.expected_packets.push((self.packet_count, size_bytes));
        }
    }

    /// The program has said something of a host. All that was handed over is carried out before, so
    /// that it is known whether anybody is to learn of it.
    fn report_digest(&mut self) {
        while self.work(16) {}
        // Some of them again and again, and others for the first time.
        let host = 1 + self.dice.below(3 + self.packet_count as usize) as u8;
        self.agent.handle_time(self.now);
        let message = vec![Int::from(u64::from(host)), Int::from(1_u64)];
        self.agent.handle_digest(self.now, LIST_ID, message);
        self.tell_reports();
        let lists = self.model.learn(self.now, host);
        for (number, open) in &mut self.streams {
            if self.roles.is_primary(*number) {
                open.expected_lists.extend(lists.iter().cloned());
            }
        }
    }

    /// A primary has acted on one of the lists that there may have been.
    fn acknowledge(&mut self) {
        let Some(number) = self.any_stream() else { return };
        if !self.roles.is_primary(number) || self.streams[&number].bidding.is_some() {
            return;
        }
        let told: Vec<u64> = self.streams[&number].lists.iter().map(|(id, _)| *id).collect();
        let list_id = if told.is_empty() { 1 } else { self.dice.one_of(&told) };
        let ack = p4::DigestListAck { digest_id: self.program.digest(), list_id };
        let update = Some(p4::stream_message_request::Update::DigestAck(ack));
        let heard =
            now_or_never(self.streams[&number].stream.hear(p4::StreamMessageRequest { update }));
        heard.expect("a primary may");
        self.model.acknowledge(list_id);
    }

    fn tell_reports(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(reported)) = Pin::new(&mut self.reports).poll_next(&mut context)
        {
            self.front.tell(&reported, 0);
        }
    }

    fn check_streams(&mut self) {
        for open in self.streams.values_mut() {
            let Some(bidding) = &mut open.bidding else { continue };
            if let Poll::Ready(heard) =
                bidding.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            {
                heard.expect("it is a bid that may be made");
                open.bidding = None;
            }
        }
        let quick = self.streams.iter().filter(|(_, open)| !open.is_slow);
        let numbers: Vec<usize> = quick.map(|(number, _)| *number).collect();
        numbers.into_iter().for_each(|number| self.check_stream(number));
    }

    /// A slow reader takes all that waits for it.
    fn read_slowly(&mut self) {
        let slow = self.streams.iter().filter(|(_, open)| open.is_slow);
        let numbers: Vec<usize> = slow.map(|(number, _)| *number).collect();
        if !numbers.is_empty() {
            let number = self.dice.one_of(&numbers);
            self.check_stream(number);
        }
    }

    /// A stream has received the messages that it should have.
    fn check_stream(&mut self, number: usize) {
        let all_is_told = self.streams.values().all(|open| open.bidding.is_none());
        let Some(open) = self.streams.get_mut(&number) else { return };
        let mut before = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(answer)) = Pin::new(&mut open.answers).poll_next(&mut context) {
            let answer = answer.expect("nobody ends it");
            self.said.take_stream_message(&answer);
            match answer.update {
                Some(Update::Arbitration(update)) => {
                    let status = update.status.expect("it says who is primary");
                    open.told = Some(Code::from_number(status.code));
                    if open.told == Some(Code::Ok) && !open.is_slow {
                        before.append(&mut open.before);
                    }
                }
                Some(Update::Packet(packet)) => {
                    let number = packet.payload.first_chunk().expect("it begins with its number");
                    open.packets.push((u32::from_be_bytes(*number), packet.payload.len()));
                }
                Some(Update::Digest(list)) => {
                    let messages = list.data.iter().map(host_of).collect();
                    open.lists.push((list.list_id, messages));
                    self.list_count += 1;
                }
                other => panic!("nobody asked for {other:?}"),
            }
        }
        open.has_large = false;
        // A slow reader's messages may be of earlier bids, until nothing waits any more.
        if open.is_slow && open.told == Some(Code::Ok) && all_is_told {
            before.append(&mut open.before);
        }
        if all_is_told {
            assert_eq!(open.told, self.roles.standing(number), "stream {number}");
        }
        assert_eq!(open.packets, open.expected_packets, "stream {number}");
        assert_eq!(open.lists, open.expected_lists, "stream {number}");
        for number in before {
            if let Some(at) = self.calls.iter().position(|call| call.number == number) {
                assert!(self.poll_call_at(at), "a primary is told so while a write goes on");
            }
        }
    }

    /// The switch's count of messages that its streams have missed.
    fn lost_reports(&mut self) -> u64 {
        let front = Arc::clone(&self.front);
        let request = v1::DescribeRequest { device_id: DEVICE_ID, ..Default::default() };
        let mut asking = Box::pin(async move { front.describe(&request).await });
        let mut context = Context::from_waker(Waker::noop());
        assert!(asking.as_mut().poll(&mut context).is_pending(), "the data plane is asked");
        while self.work(16) {}
        let Poll::Ready(described) = asking.as_mut().poll(&mut context) else {
            panic!("it is not")
        };
        described.expect("everybody may").lost_reports
    }

    /// Everything that was handed over is carried out, and the switch is as the model says.
    fn end(mut self) {
        while self.work(16) {}
        self.check_streams();
        let numbers: Vec<usize> = self.streams.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.check_stream(number));
        assert!(self.streams.values().all(|open| open.bidding.is_none()));
        for call in std::mem::take(&mut self.calls) {
            let Some((expected, state)) = call.expected else { continue };
            let answer = now_or_never(call.future);
            let answer = answer.unwrap_or_else(|status| self.said.refused(&status));
            assert_eq!(answer, expected, "{:?}", call.request);
            self.model.answered(state);
        }
        self.send_packets();
        assert_eq!(self.lost_reports(), self.lost_count);
        let ports = self.device.traffic().config().ports.keys().map(|port| port.0);
        assert_eq!(ports.collect::<BTreeSet<u16>>(), self.model.ports);
        let attached = self.attached.keys().map(|port| port.0);
        assert_eq!(attached.collect::<BTreeSet<u16>>(), self.model.ports);
        assert!(self.device.balance());
    }
}

/// Switches the program's digest on or off.
fn learn_update(program: &Program, on: bool) -> p4::Update {
    let config = p4::digest_entry::Config {
        max_timeout_ns: learning::TIMEOUT.whole_ns() as i64,
        max_list_size: learning::LIST_SIZE_MAX,
        ack_timeout_ns: learning::ACK_TIMEOUT.whole_ns() as i64,
    };
    let digest = p4::DigestEntry { digest_id: program.digest(), config: on.then_some(config) };
    let entity = Some(p4::Entity { entity: Some(Entity::DigestEntry(digest)) });
    let kind = if on { Type::Insert } else { Type::Delete };
    p4::Update { r#type: kind.into(), entity }
}

/// The host of which a digest's message tells.
fn host_of(message: &p4::P4Data) -> u8 {
    let Some(p4::p4_data::Data::Struct(fields)) = &message.data else { panic!("{message:?}") };
    match &fields.members[0].data {
        Some(p4::p4_data::Data::Bitstring(bytes)) => bytes[0],
        other => panic!("{other:?}"),
    }
}

fn update_of(program: &Program, (key, change): (usize, Change)) -> p4::Update {
    let value = bits_of(Bytes::copy_from_slice(&[key as u8 + 1]));
    let exact = p4::field_match::FieldMatchType::Exact(p4::field_match::Exact { value });
    let (kind, does) = match change {
        Change::Insert(does) => (Type::Insert, Some(does)),
        Change::Modify(does) => (Type::Modify, Some(does)),
        Change::Delete => (Type::Delete, None),
    };
    let entry = p4::TableEntry {
        table_id: program.table("ingress.exact_table"),
        r#match: vec![p4::FieldMatch { field_id: 1, field_match_type: Some(exact) }],
        action: does.map(|does| p4::TableAction {
            r#type: Some(p4::table_action::Type::Action(action_of(program, does))),
        }),
        ..Default::default()
    };
    let entity = Some(p4::Entity { entity: Some(Entity::TableEntry(entry)) });
    p4::Update { r#type: kind.into(), entity }
}

fn action_of(program: &Program, does: Does) -> p4::Action {
    match does {
        Does::Drop => p4::Action { action_id: program.action("ingress.drop"), params: Vec::new() },
        Does::Forward(port) => {
            let value = Bytes::copy_from_slice(&[port as u8]);
            let params = vec![p4::action::Param { param_id: 1, value }];
            p4::Action { action_id: program.action("ingress.forward_and_meter"), params }
        }
    }
}

fn entry_of(program: &Program, entity: &p4::Entity) -> (usize, Does) {
    let Some(Entity::TableEntry(entry)) = &entity.entity else { panic!("{entity:?}") };
    let Some(p4::field_match::FieldMatchType::Exact(exact)) = &entry.r#match[0].field_match_type
    else {
        panic!("{entry:?}")
    };
    let action = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
    let Some(p4::table_action::Type::Action(action)) = action else { panic!("{entry:?}") };
    let does = match action.params.first() {
        Some(param) => Does::Forward(param.value[0].into()),
        None => {
            assert_eq!(action.action_id, program.action("ingress.drop"));
            Does::Drop
        }
    };
    (usize::from(exact.value[0]) - 1, does)
}

/// Returns the number of lists of digests sent, of packets that slow readers missed, and the digest
/// of all messages of the switch.
fn run(seed: u64) -> (usize, u64, String) {
    let mut simulation = Simulation::new(seed);
    (0..STEP_COUNT).for_each(|_| simulation.step());
    let (lists, lost) = (simulation.list_count, simulation.lost_count);
    let said = simulation.said.clone();
    simulation.end();
    (lists, lost, said.line())
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn every_history_is_one_that_the_model_allows() {
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("FROM").unwrap_or(0);
            first..first + number("SEEDS").unwrap_or(SEED_COUNT)
        }
    };
    let (seed_count, mut list_count, mut lost_count) = (seeds.end - seeds.start, 0, 0);
    let mut digests = String::new();
    for seed in seeds {
        // A panic says what is wrong; this says how to see it again.
        let outcome = std::panic::catch_unwind(|| run(seed));
        let Ok((lists, lost, said)) = outcome else {
            panic!("seed {seed}: SEED={seed} runs it alone")
        };
        (list_count, lost_count) = (list_count + lists, lost_count + lost);
        writeln!(digests, "{seed} {said}").expect("a string takes everything");
    }
    if let Ok(file) = std::env::var("DIGESTS") {
        std::fs::write(&file, digests).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    // Histories without digests would prove nothing about digests, and those without losses nothing
    // about slow readers.
    assert!(seed_count < SEED_COUNT || list_count > SEED_COUNT as usize / 5, "{list_count} lists");
    assert!(seed_count < SEED_COUNT || lost_count > SEED_COUNT / 5, "{lost_count} packets missed");
}
