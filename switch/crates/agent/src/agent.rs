//! [`Agent`]: carries out requests between packets.
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
//! the serializability which the specification requires.

use std::collections::BTreeSet;
use std::sync::Arc;

use p4runtime::config::Config;
use p4runtime::report::Report;
use p4runtime::watch::Start;
use p4runtime::{Code, Refusal};
use pipeline::Pipeline;
use traffic::Histogram;
use units::{PortId, Span, Time};

use super::carried;
use super::configure::ConfigureJob;
use super::describe::DescribeJob;
use super::discard::Discard;
use super::exchange::{Inbox, Reply, reply};
use super::feed::Feed;
use super::forwarding::{Forwarding, Load};
use super::idle::{self, Sweep};
use super::learning::Learner;
use super::look::View;
use super::plane::DataPlane;
use super::ports;
use super::programs::{Programs, Published, no_program};
use super::read::ReadJob;
use super::reconcile::Reconcile;
use super::reports::Reporter;
use super::request::Request;
use super::slice::{SLICE_STEPS_MAX, STEPS_BETWEEN_LOOKS};
use super::target::Target;
use super::trace::Tracing;
use super::visit::{Site, Visit};
use super::watch::Watchers;
use super::watched_ports::Refresh;
use super::write::WriteJob;

/// A frame from a controller goes through the program, which takes as long as this many steps.
const PACKET_OUT_STEPS: usize = 4;

/// The data plane's side of requests; the module's documentation says how to drive it.
#[derive(Debug)]
pub struct Agent {
    inbox: Inbox<Request>,
    reporter: Reporter,
    /// The program in force and its state.
    active: Option<Forwarding>,
    /// The program saved for COMMIT, with its pipeline.
    saved: Option<(Forwarding, Box<Pipeline>)>,
    /// Both, as others see them.
    published: Published,
    /// The request under way, if it takes more than one step.
    job: Option<Job>,
    /// When to look for idle entries again.
    next_sweep: Time,
    /// The ports that were down when groups were put together.
    down: BTreeSet<PortId>,
    watchers: Watchers,
    tracing: Tracing,
    lags: Histogram,
    discard: Discard,
    /// The receiver of digests besides controllers.
    learner: Option<Box<dyn Learner>>,
}

/// A request under way.
#[derive(Debug)]
enum Job {
    Configure(Box<ConfigureJob>),
    Describe(Box<DescribeJob>),
    Read(ReadJob),
    Reconcile(Box<Reconcile>),
    Refresh(Refresh),
    Sweep(Sweep),
    Visit(Box<dyn Visit>),
    Write(WriteJob),
}

impl Agent {
    /// An agent without a program yet. The given parts have other ends: the inbox that of callers,
    /// the reporter that of controllers' streams, `discard` that of the thread that frees.
    pub fn new(inbox: Inbox<Request>, reporter: Reporter, discard: Discard) -> Self {
        Self {
            inbox,
            reporter,
            active: None,
            saved: None,
            published: Published::default(),
            job: None,
            next_sweep: Time::ZERO,
            down: BTreeSet::new(),
            watchers: Watchers::default(),
            tracing: Tracing::default(),
            lags: Histogram::default(),
            discard,
            learner: None,
        }
    }

    /// Where it can be seen which programs there are.
    pub fn published(&self) -> Published {
        self.published.clone()
    }

    /// Carries out at most about `budget` steps of the waiting requests. `true`: there is more to
    /// do, call again as soon as the waiting packets have been served.
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
                Some(Job::Visit(visit)) => self.go_on_visiting(plane, visit, &mut left),
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

    /// Carries out a slice of the waiting requests: [`SLICE_STEPS_MAX`] steps, fewer if `is_over`
    /// says that the time is up. The duration of a step is not known before: the memory for an
    /// entry may have to come from the kernel first. `true`: there is more to do.
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
        let Some(active) = &self.active else { return };
        self.reporter.report(&active.config, Report::PacketIn { frame });
    }

    /// The program has sent a message of the digest whose list has this id in BMv2 JSON.
    pub fn handle_digest(&mut self, now: Time, list_id: u32, message: Vec<bits::Int>) {
        let Some(active) = &mut self.active else { return };
        if let Some(learner) = &mut self.learner
            && let Some(learned) = active.learning.handle_message(now, list_id, message.clone())
        {
            learner.learn(learned);
        }
        if let Some(list) = active.handle_digest(now, list_id, message) {
            self.reporter.report(&active.config, Report::Digest(list));
        }
    }

    /// Time has passed: sends lists of digests that have waited long enough.
    pub fn handle_time(&mut self, now: Time) {
        let Some(active) = &mut self.active else { return };
        while let Some(list) = active.ledger.digests.poll_list(now) {
            self.reporter.report(&active.config, Report::Digest(list));
        }
        if let Some(learner) = &mut self.learner {
            while let Some(learned) = active.learning.poll(now) {
                learner.learn(learned);
            }
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
        let now = plane.now();
        self.watchers.handle_events(plane.device(), now);
        self.tracing.hand_over(plane.device());
    }

    /// Sends all events until now, including samples held back to be sent together.
    pub fn tell_all(&mut self) {
        self.watchers.tell_all();
    }

    /// The feeds of watchers and tracers.
    pub fn feeds(&self) -> impl Iterator<Item = &Arc<Feed>> {
        self.watchers.feeds().chain(self.tracing.feed())
    }

    /// At the instant `at` of the clock the model was `lag` behind it.
    pub fn handle_overrun(&mut self, at: Time, lag: Span) {
        self.lags.record(lag);
        self.watchers.handle_overrun(at, lag);
    }

    /// When [`Self::handle_time`], [`Self::work`], [`Self::sample`] or [`Self::handle_events`] want to
    /// be called, if nothing happens before.
    pub fn next_due(&self) -> Option<Time> {
        let ledger = self.active.as_ref().map(|active| &active.ledger);
        let digests = ledger.and_then(|ledger| ledger.digests.next_due());
        let learning = self.active.as_ref().filter(|_| self.learner.is_some());
        let learned = learning.and_then(|active| active.learning.next_due());
        let sweep = ledger.filter(|ledger| ledger.has_timeouts()).map(|_| self.next_sweep);
        [digests, learned, sweep, self.watchers.next_due()].into_iter().flatten().min()
    }

    fn begin(&mut self, plane: &mut impl DataPlane, request: Request, left: &mut usize) {
        match request {
            Request::Write { config, changes, awaited, atomicity, reply: slot } => {
                if let Err(refusal) = self.check_config(&config) {
                    self.discard.take((config, changes));
                    return reply(slot, Err(refusal));
                }
                let ports = self.watchable(plane, awaited);
                self.job = Some(Job::Write(WriteJob::new(changes, atomicity, ports, slot)));
            }
            Request::Read { config, queries, role, memory, reply: slot } => {
                if let Err(refusal) = self.check_config(&config) {
                    self.discard.take((config, queries));
                    return reply(slot, Err(refusal));
                }
                self.job = Some(Job::Read(ReadJob::new(queries, role, memory, slot)));
            }
            Request::AddPort { port, device, settings, opened, reply: slot } => {
                reply(slot, ports::add(plane, port, &device, *settings, opened));
            }
            Request::RemovePort { port, reply: slot } => {
                if let Err(nobody_waits) = slot.send(ports::remove(plane, port)) {
                    self.discard.take(nobody_waits);
                }
            }
            Request::PacketOut { frame } => {
                *left = left.saturating_sub(PACKET_OUT_STEPS);
                plane.packet_out(frame);
            }
            Request::DigestAck { digest_id, list_id } => {
                if let Some(active) = &mut self.active {
                    active.ledger.digests.handle_ack(digest_id, list_id);
                }
            }
            Request::Settle { reply: slot } => reply(slot, ()),
            Request::Commit { load, reply: slot } => reply(slot, self.commit(plane, load)),
            Request::Save { load, reply: slot } => reply(slot, self.save(plane, load)),
            Request::Reconcile { load, reply: slot } => self.begin_reconciling(plane, load, slot),
            Request::Describe { ports, reply: slot } => {
                let job = DescribeJob::new(plane, ports, self.lags.clone(), slot, left);
                self.job = Some(Job::Describe(Box::new(job)));
            }
            Request::Trace { filters, feed, reply: slot } => {
                reply(slot, self.tracing.begin(plane.device(), filters, feed));
            }
            Request::Visit { visit } => self.job = Some(Job::Visit(visit)),
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

    /// The ports that choices may watch: those that there are, and `awaited` ones, which count as down.
    fn watchable(
        &mut self,
        plane: &mut impl DataPlane,
        awaited: BTreeSet<PortId>,
    ) -> BTreeSet<PortId> {
        let now = plane.now();
        let present = plane.device().traffic().config().ports.keys();
        let mut ports: BTreeSet<PortId> = present.copied().collect();
        for port in awaited {
            if ports.insert(port) {
                // Adding the port sets it up, which puts the groups together anew.
                plane.device().set_port_up(now, port, false);
                self.down.insert(port);
            }
        }
        ports
    }

    /// Requests that were translated with another configuration than the current one mean ids
    /// that may no longer exist.
    fn check_config(&self, config: &Arc<Config>) -> Result<(), Refusal> {
        let current = self.saved.as_ref().map(|(saved, _)| saved).or(self.active.as_ref());
        if current.is_some_and(|current| Arc::ptr_eq(&current.config, config)) {
            return Ok(());
        }
        Err(Refusal::new(
            Code::Aborted,
            "the program was replaced while this request was on its way; send it again",
        ))
    }

    fn go_on_writing(&mut self, plane: &mut impl DataPlane, job: WriteJob, left: &mut usize) {
        let (now, discard) = (plane.now(), self.discard.clone());
        let Some(mut target) = self.target(plane, now) else {
            return job.refuse(no_program(), &discard);
        };
        let rest = job.go_on(&mut target, left, &discard);
        if rest.is_none() {
            target.settle_memory();
        }
        self.job = rest.map(Job::Write);
    }

    /// The program that reads and writes refer to: the saved one if there is one, else the one in
    /// force.
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

    fn go_on_reading(&mut self, plane: &mut impl DataPlane, job: ReadJob, left: &mut usize) {
        let (now, discard) = (plane.now(), self.discard.clone());
        let Some(target) = self.target(plane, now) else { return job.refuse(no_program()) };
        self.job = job.go_on(target, left, &discard).map(Job::Read);
    }

    fn go_on_visiting(
        &mut self,
        plane: &mut impl DataPlane,
        mut visit: Box<dyn Visit>,
        left: &mut usize,
    ) {
        let (now, epoch_offset_ns) = (plane.now(), plane.epoch_offset_ns());
        let before = *left;
        let target = self.target(plane, now);
        let mut site = Site { target, now, epoch_offset_ns, learner: None };
        let is_done = visit.go_on(&mut site, left);
        if is_done && let Some(target) = &mut site.target {
            target.settle_memory();
        }
        if let Some(learner) = site.learner.take() {
            self.learner = Some(learner);
        }
        // A visit that takes no steps off would never let packets pass.
        *left = (*left).min(before.saturating_sub(1));
        if !is_done {
            self.job = Some(Job::Visit(visit));
        }
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
            Some(load) => self.succeed(plane, load)?,
            None => self.saved.take().ok_or_else(|| {
                Refusal::not_found("no configuration is saved; use VERIFY_AND_SAVE first")
            })?,
        };
        self.put_in_force(plane, forwarding, pipeline);
        Ok(())
    }

    fn save(&mut self, plane: &mut impl DataPlane, load: Load) -> Result<(), Refusal> {
        let parts = self.succeed(plane, load)?;
        if let Some(before) = self.saved.replace(parts) {
            self.discard.take(before);
        }
        self.publish();
        Ok(())
    }

    /// A program with the state that it takes over from the one in force.
    fn succeed(
        &self,
        plane: &mut impl DataPlane,
        load: Load,
    ) -> Result<(Forwarding, Box<Pipeline>), Refusal> {
        let pipeline = plane.device().pipeline();
        carried::succeed(load, self.active.as_ref().zip(pipeline))
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
        mut pipeline: Box<Pipeline>,
    ) {
        pipeline.settle_memory(forwarding.ledger.size_bytes());
        plane.device().install(pipeline);
        // At once: the next program may be put in force before the next slice.
        self.discard_retired(plane);
        // The device gives up the pipelines that go with them when their last packet is gone.
        let before = (self.active.replace(forwarding), self.saved.take());
        self.discard.take(before);
        self.publish();
        // While it was saved, ports may have changed.
        self.job = Some(Job::Refresh(Refresh::default()));
    }

    /// Publishes the programs; to be called after every change of them, before any client learns of
    /// it.
    fn publish(&self) {
        let config = |forwarding: &Forwarding| Arc::clone(&forwarding.config);
        let programs = Programs {
            in_force: self.active.as_ref().map(config),
            saved: self.saved.as_ref().map(|(forwarding, _)| config(forwarding)),
        };
        self.discard.take(self.published.publish(programs));
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
        if let Err(refusal) = load.take_names(&forwarding.config) {
            return reply(slot, Err(refusal));
        }
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
