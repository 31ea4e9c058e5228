//! The control plane's part of the data-plane thread: carries out requests between packets.
//!
//! # Driving
//!
//! The thread that owns the data plane also owns the [`Agent`] and, in its loop,
//!
//! 1. handles frames and time as ever;
//! 2. calls [`Agent::work`] with a budget: it takes requests out of its inbox and carries out at
//!    most that many steps (one update, one entry read), then returns. A batch that is longer goes
//!    on in the next call, so packets pass between its slices;
//! 3. hands what the device reports to [`Agent::handle_packet_in`] and [`Agent::handle_digest`],
//!    and calls [`Agent::handle_time`] when it is due;
//! 4. takes samples: while [`Agent::next_sample`] says an instant that has come, everything due by
//!    then is polled out of the device, then [`Agent::sample`] is called at that instant; and after
//!    everything else of a wake, [`Agent::handle_events`];
//! 5. wakes up again at [`Agent::next_due`], at once if `work` said that there is more to do, and
//!    whenever the `wake` given to [`exchange::exchange`] is called.
//!
//! Requests are carried out strictly one after the other, in the order in which they came; that is
//! the serializability which the specification asks for.
//!
//! ```text
//!   mod.rs         the requests, and the loop that slices them
//!   forwarding.rs  what the control plane remembers beside a pipeline
//!   configure.rs   a change of the router beside its tables, checked in slices
//!   describe.rs    everything that can be read of the router beside its tables, in slices
//!   write.rs       a batch of changes, in slices
//!   reconcile.rs   a new program with the state of the old one, in slices
//!   apply.rs       one change
//!   replicate.rs   ... to multicast groups and clone sessions
//!   one_shot.rs    ... to entries that bring a group along
//!   undo.rs        the changes that put things back
//!   look.rs        one query
//!   ports.rs       ports that come and go
//!   links.rs       choices that depend on a port
//!   idle.rs        entries that no packet hits
//!   discard.rs     what is freed elsewhere
//!   trace.rs       who is told the steps of packets
//!   watch.rs       who is told of single packets, and gets samples
//! ```

mod apply;
mod configure;
mod describe;
pub mod discard;
pub mod exchange;
pub mod feed;
mod forwarding;
mod idle;
mod links;
mod look;
mod one_shot;
pub mod ports;
mod reconcile;
mod replicate;
pub mod reports;
mod trace;
mod undo;
mod watch;
mod write;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use device::{Books, Device, LinkConfig, TraceFilter};
use messages::p4::v1::write_request;
use messages::vitrine::v1;
use p4runtime::config::Config;
use p4runtime::found::Found;
use p4runtime::netdev::NetdevCounters;
use p4runtime::refusal::Refusal;
use p4runtime::report::Report;
use p4runtime::router::counters::Snapshot;
use p4runtime::router::{Problem, config};
use p4runtime::translate::change::Change;
use p4runtime::translate::query::Query;
use p4runtime::watch::{Filter, Start};
use pipeline::Pipeline;
use traffic::{Depth, Histogram, PortConfig};
use units::{PortId, Span, Time};

use crate::exchange::{Inbox, Reply, reply};
use crate::feed::Feed;
use crate::reports::Reporter;
use apply::Target;
use configure::ConfigureJob;
pub use configure::PORTS_PER_CHANGE;
use describe::DescribeJob;
pub use describe::PORTS_PER_INSTANT;
use discard::Discard;
use forwarding::Forwarding;
pub use forwarding::Load;
use idle::Sweep;
use links::Refresh;
use look::{Cursor, View};
use ports::{NotAdded, Opened};
use reconcile::Reconcile;
use trace::Tracing;
use watch::Watchers;
use write::WriteJob;
pub use write::{ATOMIC_STEPS_MAX, BatchResult, Outcome, check_batch};

/// Steps of control work between two rounds of packets: as a rule some ten microseconds.
pub const SLICE_STEPS_MAX: usize = 16;

/// What a slice may take before it ends with fewer steps: far enough below the 100 us for which packets
/// may wait that the steps under way can be dear ones.
pub const SLICE_SPAN: Span = Span::from_us(30);

/// Steps between two looks at the clock.
pub const STEPS_BETWEEN_LOOKS: usize = 4;

/// A frame from a controller goes through the program, which takes as long as so many steps.
const PACKET_OUT_STEPS: usize = 4;

/// What the agent needs of the device. All of it happens at [`DataPlane::now`].
pub trait DataPlane {
    /// The instant of the data plane.
    fn now(&self) -> Time;
    /// The device.
    fn device(&mut self) -> &mut Device;
    /// A frame from the controller, controller header first, as if it came in on the CPU port.
    fn packet_out(&mut self, frame: Vec<u8>);
    /// How a port is configured that nobody says otherwise of.
    fn new_port(&self) -> PortConfig;
    /// The network device behind a port.
    fn netdev_of(&self, port: PortId) -> Option<String>;
    /// What happened between the router and the network device behind a port, if it has one.
    fn netdev_counters(&mut self, port: PortId) -> Option<NetdevCounters>;
    /// Puts an opened network device behind a port.
    fn attach(&mut self, port: PortId, opened: Opened);
    /// Takes the network device of a port away.
    fn detach(&mut self, port: PortId) -> Option<Opened>;
    /// Nanoseconds since 1970 at the instant zero of the data plane, by the wall clock of now.
    fn epoch_offset_ns(&self) -> i64;
}

/// How the updates of a batch stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// All or none, and no packet sees less than all.
    Atomic,
    /// Each for itself.
    Continue,
    /// All or none, but packets may see some of them.
    Rollback,
}

impl Atomicity {
    /// From the number in a WriteRequest.
    pub fn new(number: i32) -> Result<Self, Refusal> {
        use write_request::Atomicity as Given;
        match Given::try_from(number) {
            Ok(Given::ContinueOnError) => Ok(Self::Continue),
            Ok(Given::RollbackOnError) => Ok(Self::Rollback),
            Ok(Given::DataplaneAtomic) => Ok(Self::Atomic),
            Err(_) => Err(Refusal::invalid(format!("atomicity {number} is not known"))),
        }
    }
}

/// Everything that can be read of the router; `describe.rs` says of which instants.
#[derive(Clone, Debug)]
pub struct Description {
    /// What is configured; of the ports, those asked for.
    pub config: traffic::Config,
    /// The cables at those.
    pub links: BTreeMap<PortId, LinkConfig>,
    /// The clone session that drops are sent to.
    pub drop_mirror: Option<u32>,
    /// The network devices behind ports.
    pub devices: BTreeMap<PortId, String>,
    /// What happened between those and the router.
    pub netdevs: BTreeMap<PortId, NetdevCounters>,
    /// The numbers of some ports, or of all.
    pub snapshot: Snapshot,
    /// What happened to every frame.
    pub books: Books,
    /// What the queues hold.
    pub held: Depth,
    /// Whether the books balance: the device's, and those of every queue of the ports asked for.
    pub balanced: bool,
    /// By how much the model lagged the clock, each time that it was more than a millisecond.
    pub lags: Histogram,
    /// To the wall clock.
    pub epoch_offset_ns: i64,
}

/// What a Read found, in portions, and one result per entity asked for; or none of it was tried.
pub type ReadResult = Result<(Vec<Vec<Found>>, Vec<Result<(), Refusal>>), Refusal>;

/// What was found is kept in portions of about so many: one list would be moved as it grows, for
/// milliseconds where it is long.
const FOUND_PORTION: usize = 1024;

/// What the gRPC side asks of the data plane.
#[derive(Debug)]
pub enum Request {
    /// Puts a port in front of a network device.
    AddPort {
        /// Its number.
        port: PortId,
        /// The device's name.
        device: String,
        /// What is not as for every new port.
        settings: Box<v1::PortConfig>,
        /// The device.
        opened: Opened,
        /// When it came into being, or why not.
        reply: Reply<Result<Time, NotAdded>>,
    },
    /// Puts a program in force: a new one, or the one that is saved. Forwarding state of a new one
    /// is what the program declares; of a saved one, what has been written to it.
    Commit {
        /// The new one.
        load: Option<Load>,
        /// When it is in force.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Changes ports, queues, the shared buffer, the input stage.
    Configure {
        /// What is to change.
        changes: config::Changes,
        /// When it came into force, or what is wrong.
        reply: Reply<Result<Time, Vec<Problem>>>,
    },
    /// Reads configuration and numbers of ports.
    Describe {
        /// None: all.
        ports: Vec<PortId>,
        /// What there is.
        reply: Reply<Box<Description>>,
    },
    /// A controller has acted on a list of digests.
    DigestAck {
        /// P4Info's id.
        digest_id: u32,
        /// The list's number.
        list_id: u64,
    },
    /// A controller sends a frame, controller header first.
    PacketOut {
        /// The bytes.
        frame: Vec<u8>,
    },
    /// Reads forwarding state.
    Read {
        /// The configuration that the queries refer to.
        config: Arc<Config>,
        /// One per entity asked for; those that are wrong already stay so.
        queries: Vec<Result<Query, Refusal>>,
        /// Only entities of this role, if it is not empty.
        role: String,
        /// What was found.
        reply: Reply<ReadResult>,
    },
    /// Puts a program in force with the forwarding state of the one before.
    Reconcile {
        /// The new one.
        load: Load,
        /// When it is in force.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Takes a port away.
    RemovePort {
        /// Its number.
        port: PortId,
        /// When it went, and what was opened for it.
        reply: Reply<Result<(Time, Option<Opened>), Refusal>>,
    },
    /// Keeps a program to be committed; reads and writes go to it from now on.
    Save {
        /// The new one.
        load: Load,
        /// When it is kept.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Tells a client the steps of packets, until it closes the feed.
    Trace {
        /// Which packets.
        filters: Vec<TraceFilter>,
        /// Where it is told.
        feed: Arc<Feed>,
        /// Whether it is.
        reply: Reply<Result<(), Refusal>>,
    },
    /// Tells a client of what it asks for, until it closes the feed.
    Watch {
        /// What it asks for.
        filter: Filter,
        /// Where it is told.
        feed: Arc<Feed>,
        /// From when on.
        reply: Reply<Result<Start, Refusal>>,
    },
    /// Changes forwarding state.
    Write {
        /// The configuration that the changes refer to.
        config: Arc<Config>,
        /// One per update; those that are wrong already stay so.
        changes: Vec<Result<Change, Refusal>>,
        /// How they stand to each other.
        atomicity: Atomicity,
        /// What became of it.
        reply: Reply<BatchResult>,
    },
}

/// The agent; the module's documentation says how to drive it.
#[derive(Debug)]
pub struct Agent {
    inbox: Inbox<Request>,
    reporter: Reporter,
    /// What belongs to the pipeline in force.
    active: Option<Forwarding>,
    /// What is saved to be committed, with its pipeline.
    saved: Option<(Forwarding, Box<Pipeline>)>,
    /// What is being carried out, if it takes more than one step.
    job: Option<Job>,
    /// When to look for idle entries again.
    next_sweep: Time,
    /// The ports that were down when groups were put together.
    down: BTreeSet<PortId>,
    watchers: Watchers,
    tracing: Tracing,
    lags: Histogram,
    discard: Discard,
}

/// What is being carried out.
#[derive(Debug)]
enum Job {
    Configure(Box<ConfigureJob>),
    Describe(Box<DescribeJob>),
    Read(ReadJob),
    Reconcile(Box<Reconcile>),
    Refresh(Refresh),
    Sweep(Sweep),
    Write(WriteJob),
}

#[derive(Debug)]
struct ReadJob {
    queries: VecDeque<Result<Query, Refusal>>,
    role: String,
    /// Where the first of `queries` goes on.
    cursor: Cursor,
    found: Vec<Found>,
    /// The full portions before it.
    portions: Vec<Vec<Found>>,
    results: Vec<Result<(), Refusal>>,
    reply: Reply<ReadResult>,
}

impl Agent {
    /// An agent that has no program yet. The parts that are given have other ends: of the inbox for
    /// those who ask, of the reporter for those who tell controllers, of `discard` for who frees.
    pub fn new(inbox: Inbox<Request>, reporter: Reporter, discard: Discard) -> Self {
        Self {
            inbox,
            reporter,
            active: None,
            saved: None,
            job: None,
            next_sweep: Time::ZERO,
            down: BTreeSet::new(),
            watchers: Watchers::default(),
            tracing: Tracing::default(),
            lags: Histogram::default(),
            discard,
        }
    }

    /// Carries out at most about `budget` steps of what waits. `true`: there is more to do, call
    /// again as soon as the packets that wait have been served.
    #[must_use]
    pub fn work(&mut self, plane: &mut impl DataPlane, budget: usize) -> bool {
        self.discard_retired(plane);
        let mut left = budget;
        while left > 0 {
            match self.job.take() {
                Some(Job::Configure(job)) => {
                    let rest = job.go_on(plane, &mut left, &self.discard);
                    self.job = rest.map(|job| Job::Configure(Box::new(job)));
                }
                Some(Job::Describe(job)) => {
                    let rest = job.go_on(plane, &mut left);
                    self.job = rest.map(|job| Job::Describe(Box::new(job)));
                }
                Some(Job::Write(job)) => self.go_on_writing(plane, job, &mut left),
                Some(Job::Read(job)) => self.go_on_reading(plane, job, &mut left),
                Some(Job::Sweep(job)) => self.go_on_sweeping(plane, job, &mut left),
                Some(Job::Reconcile(job)) => self.go_on_reconciling(plane, job, &mut left),
                Some(Job::Refresh(job)) => self.go_on_refreshing(plane, job, &mut left),
                None if self.down != *plane.device().ports_down() => {
                    self.down.clone_from(plane.device().ports_down());
                    self.job = Some(Job::Refresh(Refresh::default()));
                }
                None if self.sweep_is_due(plane) => self.begin_sweep(plane),
                None => match self.inbox.poll_request() {
                    Some(request) => {
                        left -= 1;
                        self.begin(plane, request, &mut left);
                    }
                    None => return false,
                },
            }
        }
        true
    }

    /// Carries out a slice of what waits: [`SLICE_STEPS_MAX`] steps, fewer where `is_over` says that
    /// it has taken its time. What a step takes is not known before: the memory for an entry may have
    /// to come from the kernel first. `true`: there is more to do.
    #[must_use]
    pub fn work_a_slice(
        &mut self,
        plane: &mut impl DataPlane,
        mut is_over: impl FnMut() -> bool,
    ) -> bool {
        for _ in 0..SLICE_STEPS_MAX / STEPS_BETWEEN_LOOKS {
            if !self.work(plane, STEPS_BETWEEN_LOOKS) {
                return false;
            }
            if is_over() {
                break;
            }
        }
        true
    }

    /// Programs that no packet needs any more are freed elsewhere.
    fn discard_retired(&self, plane: &mut impl DataPlane) {
        while let Some(program) = plane.device().poll_retired() {
            self.discard.take(program);
        }
    }

    /// A frame has left through the CPU port.
    pub fn handle_packet_in(&mut self, frame: Vec<u8>) {
        self.reporter.report(Report::PacketIn { frame });
    }

    /// The program has sent a message of the digest whose list has this id in BMv2 JSON.
    pub fn handle_digest(&mut self, now: Time, list_id: u32, message: Vec<bits::Int>) {
        let Some(active) = &mut self.active else { return };
        if let Some(list) = active.handle_digest(now, list_id, message) {
            self.reporter.report(Report::Digest(list));
        }
    }

    /// Time has passed: sends lists of digests that have waited long enough.
    pub fn handle_time(&mut self, now: Time) {
        let Some(active) = &mut self.active else { return };
        while let Some(list) = active.ledger.digests.poll_list(now) {
            self.reporter.report(Report::Digest(list));
        }
    }

    /// The next instant of which a sample is wanted, if it has come at `now`. Samples that are far
    /// too late are given up, and counted.
    pub fn next_sample(&mut self, now: Time) -> Option<Time> {
        self.watchers.skip_late_samples(now);
        self.watchers.next_sample().filter(|at| *at <= now)
    }

    /// Takes the samples that are due; the device has been polled up to this instant.
    pub fn sample(&mut self, plane: &mut impl DataPlane) {
        let now = plane.now();
        self.watchers.sample(plane.device(), now);
    }

    /// Tells watchers what the device has recorded for them.
    pub fn handle_events(&mut self, plane: &mut impl DataPlane) {
        self.watchers.handle_events(plane.device());
        self.tracing.hand_over(plane.device());
    }

    /// At the instant `at` of the clock the model was `lag` behind it.
    pub fn handle_overrun(&mut self, at: Time, lag: Span) {
        self.lags.record(lag);
        self.watchers.handle_overrun(at, lag);
    }

    /// When [`Self::handle_time`], [`Self::work`] or [`Self::sample`] want to be called, if nothing
    /// happens before.
    pub fn next_due(&self) -> Option<Time> {
        let ledger = self.active.as_ref().map(|active| &active.ledger);
        let digests = ledger.and_then(|ledger| ledger.digests.next_due());
        let sweep = ledger.filter(|ledger| ledger.has_timeouts()).map(|_| self.next_sweep);
        [digests, sweep, self.watchers.next_sample()].into_iter().flatten().min()
    }

    fn begin(&mut self, plane: &mut impl DataPlane, request: Request, left: &mut usize) {
        match request {
            Request::Write { config, changes, atomicity, reply: slot } => {
                if let Err(refusal) = self.check_config(&config) {
                    self.discard.take((config, changes));
                    return reply(slot, Err(refusal));
                }
                let ports = plane.device().traffic().config().ports.keys().copied().collect();
                self.job = Some(Job::Write(WriteJob::new(changes, atomicity, ports, slot)));
            }
            Request::Read { config, queries, role, reply: slot } => {
                if let Err(refusal) = self.check_config(&config) {
                    self.discard.take((config, queries));
                    return reply(slot, Err(refusal));
                }
                self.job = Some(Job::Read(ReadJob {
                    results: Vec::with_capacity(queries.len()),
                    queries: queries.into(),
                    role,
                    cursor: Cursor::default(),
                    found: Vec::new(),
                    portions: Vec::new(),
                    reply: slot,
                }));
            }
            Request::AddPort { port, device, settings, opened, reply: slot } => {
                reply(slot, ports::add(plane, port, &device, *settings, opened));
            }
            Request::RemovePort { port, reply: slot } => reply(slot, ports::remove(plane, port)),
            Request::PacketOut { frame } => {
                *left = left.saturating_sub(PACKET_OUT_STEPS);
                plane.packet_out(frame);
            }
            Request::DigestAck { digest_id, list_id } => {
                if let Some(active) = &mut self.active {
                    active.ledger.digests.handle_ack(digest_id, list_id);
                }
            }
            Request::Commit { load, reply: slot } => reply(slot, self.commit(plane, load)),
            Request::Save { load, reply: slot } => {
                if let Some(before) = self.saved.replace(load.into_parts()) {
                    self.discard.take(before);
                }
                reply(slot, Ok(()));
            }
            Request::Reconcile { load, reply: slot } => self.begin_reconciling(plane, load, slot),
            Request::Describe { ports, reply: slot } => {
                let job = DescribeJob::new(plane, ports, self.lags.clone(), slot, left);
                self.job = Some(Job::Describe(Box::new(job)));
            }
            Request::Trace { filters, feed, reply: slot } => {
                reply(slot, self.tracing.begin(plane.device(), filters, feed));
            }
            Request::Watch { filter, feed, reply: slot } => {
                let (now, epoch_offset_ns) = (plane.now(), plane.epoch_offset_ns());
                let start = self.watchers.add(plane.device(), now, filter, feed);
                reply(slot, start.map(|start| Start { epoch_offset_ns, ..start }));
            }
            Request::Configure { changes, reply: slot } => {
                self.job = Some(Job::Configure(Box::new(ConfigureJob::new(changes, slot))));
            }
        }
    }

    /// Requests that were translated with another configuration than the current one mean ids
    /// that may no longer exist.
    fn check_config(&self, config: &Arc<Config>) -> Result<(), Refusal> {
        let current = self.saved.as_ref().map(|(saved, _)| saved).or(self.active.as_ref());
        if current.is_some_and(|current| Arc::ptr_eq(&current.config, config)) {
            return Ok(());
        }
        Err(Refusal::new(
            p4runtime::Code::Aborted,
            "the program was replaced while this request was on its way; send it again",
        ))
    }

    fn go_on_writing(&mut self, plane: &mut impl DataPlane, job: WriteJob, left: &mut usize) {
        let (now, discard) = (plane.now(), self.discard.clone());
        let Some(mut target) = self.target(plane, now) else {
            return job.refuse(no_program(), &discard);
        };
        self.job = job.go_on(&mut target, left, &discard).map(Job::Write);
    }

    /// What reads and writes refer to: the saved program if there is one, else the one in force.
    fn target<'a>(&'a mut self, plane: &'a mut impl DataPlane, now: Time) -> Option<Target<'a>> {
        let down = &self.down;
        match &mut self.saved {
            Some((forwarding, pipeline)) => Some(Target { forwarding, pipeline, now, down }),
            None => {
                let forwarding = self.active.as_mut()?;
                let pipeline = plane.device().pipeline_mut()?;
                Some(Target { forwarding, pipeline, now, down })
            }
        }
    }

    fn go_on_reading(&mut self, plane: &mut impl DataPlane, mut job: ReadJob, left: &mut usize) {
        let now = plane.now();
        let Some(target) = self.target(plane, now) else {
            return reply(job.reply, Err(no_program()));
        };
        let mut view =
            View { forwarding: target.forwarding, pipeline: target.pipeline, now, role: &job.role };
        while *left > 0 {
            if job.found.len() >= FOUND_PORTION {
                let next = Vec::with_capacity(FOUND_PORTION + SLICE_STEPS_MAX);
                job.portions.push(std::mem::replace(&mut job.found, next));
            }
            let Some(query) = job.queries.front() else {
                job.portions.push(job.found);
                if let Err(nobody_waits) = job.reply.send(Ok((job.portions, job.results))) {
                    self.discard.take(nobody_waits);
                }
                return;
            };
            let step = match query {
                Ok(query) => view.look(query, &mut job.cursor, left, &mut job.found),
                Err(refusal) => Err(refusal.clone()),
            };
            let result = match step {
                Ok(false) => break,
                Ok(true) => Ok(()),
                Err(refusal) => Err(refusal),
            };
            *left = left.saturating_sub(1);
            job.results.push(result);
            job.queries.pop_front();
            job.cursor = Cursor::default();
        }
        self.job = Some(Job::Read(job));
    }

    fn sweep_is_due(&self, plane: &impl DataPlane) -> bool {
        let has_timeouts = self.active.as_ref().is_some_and(|it| it.ledger.has_timeouts());
        has_timeouts && self.next_sweep <= plane.now()
    }

    fn begin_sweep(&mut self, plane: &mut impl DataPlane) {
        let now = plane.now();
        self.next_sweep = now.saturating_add(idle::SWEEP_INTERVAL);
        if let (Some(forwarding), Some(pipeline)) = (&self.active, plane.device().pipeline_mut()) {
            let view = View { forwarding, pipeline, now, role: "" };
            self.job = Some(Job::Sweep(Sweep::new(&view)));
        }
    }

    fn go_on_sweeping(&mut self, plane: &mut impl DataPlane, mut job: Sweep, left: &mut usize) {
        let now = plane.now();
        let (Some(forwarding), Some(pipeline)) = (&self.active, plane.device().pipeline_mut())
        else {
            return;
        };
        let mut view = View { forwarding, pipeline, now, role: "" };
        if !job.go_on(&mut view, left, &mut self.reporter) {
            self.job = Some(Job::Sweep(job));
        }
    }

    /// Groups of the program in force; of a saved one they are put together when it is committed.
    fn go_on_refreshing(&mut self, plane: &mut impl DataPlane, mut job: Refresh, left: &mut usize) {
        let now = plane.now();
        let (Some(forwarding), Some(pipeline)) = (&mut self.active, plane.device().pipeline_mut())
        else {
            return;
        };
        let mut target = Target { forwarding, pipeline, now, down: &self.down };
        if !job.go_on(&mut target, left) {
            self.job = Some(Job::Refresh(job));
        }
    }

    fn commit(&mut self, plane: &mut impl DataPlane, load: Option<Load>) -> Result<(), Refusal> {
        let (forwarding, pipeline) = match load {
            Some(load) => load.into_parts(),
            None => self.saved.take().ok_or_else(|| {
                Refusal::not_found("no configuration is saved; use VERIFY_AND_SAVE first")
            })?,
        };
        self.put_in_force(plane, forwarding, pipeline);
        Ok(())
    }

    /// Puts a program in force that no controller has sent: that of the command line.
    pub fn adopt(&mut self, plane: &mut impl DataPlane, load: Load) {
        let (forwarding, pipeline) = load.into_parts();
        self.put_in_force(plane, forwarding, pipeline);
    }

    fn put_in_force(
        &mut self,
        plane: &mut impl DataPlane,
        forwarding: Forwarding,
        pipeline: Box<Pipeline>,
    ) {
        plane.device().install(pipeline);
        // At once: the next program may be put in force before the next slice.
        self.discard_retired(plane);
        // The device gives up the pipelines that go with them when their last packet is gone.
        let before = (self.active.replace(forwarding), self.saved.take());
        self.discard.take(before);
        // While it was saved, ports may have changed.
        self.job = Some(Job::Refresh(Refresh::default()));
    }

    /// A program that takes over the state of the one in force, if there is one.
    fn begin_reconciling(
        &mut self,
        plane: &mut impl DataPlane,
        load: Load,
        slot: Reply<Result<(), Refusal>>,
    ) {
        let (now, down) = (plane.now(), &self.down);
        let (Some(forwarding), Some(pipeline)) = (&mut self.active, plane.device().pipeline_mut())
        else {
            return reply(slot, self.commit(plane, Some(load)));
        };
        let old = Target { forwarding, pipeline, now, down };
        self.job = Some(Job::Reconcile(Box::new(Reconcile::new(&old, load.into_parts(), slot))));
    }

    fn go_on_reconciling(
        &mut self,
        plane: &mut impl DataPlane,
        mut job: Box<Reconcile>,
        left: &mut usize,
    ) {
        let (now, down) = (plane.now(), &self.down);
        let (Some(forwarding), Some(pipeline)) = (&mut self.active, plane.device().pipeline_mut())
        else {
            return reply(job.give_up(&self.discard), Err(no_program()));
        };
        let mut old = Target { forwarding, pipeline, now, down };
        match job.go_on(&mut old, left) {
            Ok(false) => self.job = Some(Job::Reconcile(job)),
            Ok(true) => {
                let Reconcile { forwarding, pipeline, reply: slot, .. } = *job;
                self.put_in_force(plane, forwarding, pipeline);
                reply(slot, Ok(()));
            }
            Err(refusal) => reply(job.give_up(&self.discard), Err(refusal)),
        }
    }
}

fn no_program() -> Refusal {
    Refusal::precondition("no program is loaded; send one with SetForwardingPipelineConfig first")
}
