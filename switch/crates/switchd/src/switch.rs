//! The loop of the data-plane thread: the driving contract of `device::Device` behind a real clock.
//!
//! Once a wake:
//!
//! 1. read the clock; everything below happens at that instant;
//! 2. release what was due by then, each transmission with its exact instant in the model, and stop
//!    at the instants of requested samples;
//! 3. bring ports up and down with their network devices;
//! 4. take at most one batch of packets, and a bounded number of frames, from every waiting port, and
//!    release what each received packet made due before the next, while its frames are in the
//!    processor's cache;
//! 5. carry out at most a slice of the controllers' requests;
//! 6. release what that made due, notify watchers, and give the kernel all frames together;
//! 7. sleep until the next due instant, the next frame or the next request.
//!
//! On a fast line something is due every microsecond. Waking each time would cost more than the
//! frame; so where several frames have just left, those that become due within
//! some tens of microseconds leave together, too. A frame that travels alone never waits for others:
//! for its instant the loop waits awake, as far as it can afford that.
//!
//! A netdev that has no room for more frames stalls its port: packets stay in the port's queues,
//! where they can be seen, until the kernel says that there is room.
//!
//! How late a wake comes changes when frames reach the netdev, never what happens in the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::devices::Opened;
use agent::{Agent, DataPlane, Load, SLICE_SPAN};
use device::{Device, Output, Seal};
use p4runtime::netdev::NetdevCounters;
use ports::{Piece, Poller, ReceiveBatch};
use service::server::Server;
use smallvec::SmallVec;
use traffic::PortConfig;
use units::{PortId, Span, Time};

use crate::clock::Clock;
use crate::error::SwitchError;
use crate::netdevs::{Netdevs, Room};
use crate::opener::OpenedPort;
use crate::precedence::PrecedenceKeeper;
use crate::precise_sleep::PreciseSleep;
use crate::tap::Tap;

/// An event due this soon is waited for awake: to be put to sleep and woken takes longer.
const AWAKE_SPAN: Span = Span::from_us(5);

/// A model that lags the clock by more than this is overrun: the machine is too slow for it.
const LAG_MAX: Span = Span::from_ms(1);

/// Frames that one port brings in at a turn: a host that has its super-packets cut into single
/// bytes stops no other for longer than these take, about a millisecond. Eight full super-packets
/// of TCP are 360.
pub const FRAMES_PER_TURN_MAX: usize = 1024;

/// How long a device that is there and could not be opened is left alone.
const RETRY_INTERVAL: Span = Span::from_secs(1);

/// How often an overrun is reported at the most.
const OVERRUN_REPORT_INTERVAL: Span = Span::from_secs(1);

/// A running switch.
pub struct Switch {
    core: Core,
    /// Where received packets lie until their frames are in the device.
    batch: ReceiveBatch,
    /// Serves as long as it lives.
    server: Server,
    poller: Poller,
    stop: Arc<AtomicBool>,
    overrun: Overrun,
    sleep: PreciseSleep,
    precedence: PrecedenceKeeper,
    /// When a device that could not be opened is tried again.
    retry_at: Option<Time>,
}

/// The parts that packets pass, and their observers.
pub struct Core {
    /// The router.
    pub device: Device,
    /// The network devices of its ports.
    pub netdevs: Netdevs,
    /// Carries out what controllers want.
    pub agent: Agent,
    /// The display of packets.
    pub tap: Tap,
    /// The instant of now.
    pub clock: Clock,
    /// The port of packet-in and packet-out.
    pub cpu_port: Option<PortId>,
    /// How a port is configured that is added later.
    pub new_port: PortConfig,
}

/// How often, and how far at the worst, the model lagged since the last report.
#[derive(Default)]
struct Overrun {
    count: u64,
    worst: Span,
    reported_at: Time,
}

impl Switch {
    /// Wires the parts together.
    pub fn new(
        mut core: Core,
        server: Server,
        mut poller: Poller,
        stop: Arc<AtomicBool>,
        precedence: PrecedenceKeeper,
    ) -> Switch {
        poller.watch(&core.netdevs.descriptors());
        core.tap.begin(&mut core.device);
        let (batch, overrun) = (ReceiveBatch::new(), Overrun::default());
        let (sleep, retry_at) = (PreciseSleep::default(), None);
        Switch { core, batch, server, poller, stop, overrun, sleep, precedence, retry_at }
    }

    /// Puts the program of the command line in force.
    pub fn adopt(&mut self, program: Load) {
        let (agent, mut plane) = self.core.parts(Time::ZERO);
        agent.adopt(&mut plane, program);
    }

    /// Runs until a signal says stop.
    pub fn run(mut self) -> Result<(), SwitchError> {
        // Changes between opening the devices and their first news.
        self.core.follow_netdevs(self.core.clock.now(), &mut self.poller);
        let mut turn = Span::ZERO;
        while !self.stop.load(Ordering::Relaxed) {
            let now = self.core.clock.now();
            self.precedence.follow(now);
            self.note_overrun(now, turn);
            self.core.take_samples(now);
            self.core.release(now);
            self.core.resume(now, |link| self.poller.has_room(link));
            let is_due = self.retry_at.is_some_and(|at| at <= now);
            if is_due || self.poller.is_ready(self.core.netdevs.news_position()) {
                self.core.follow_netdevs(now, &mut self.poller);
                let retries = self.core.netdevs.are_unusable();
                self.retry_at = retries.then(|| now + RETRY_INTERVAL);
            }
            self.receive(now);
            let more = self.core.serve_control(now);
            if self.core.netdevs.take_changed() {
                // A device that has come may be down, or have changed since it was opened.
                self.core.follow_netdevs(now, &mut self.poller);
            }
            self.core.release(now);
            self.core.tell_watchers(now);
            self.core.flush(now);
            for (link, stalled) in self.core.netdevs.stalls().enumerate() {
                self.poller.want_room(link, stalled);
            }
            let more = more || self.core.netdevs.are_unfinished();
            let timeout = if more { Some(Duration::ZERO) } else { self.time_to_next_due(now) };
            turn = self.core.clock.now().since(now);
            self.poller
                .wait(timeout)
                .map_err(|error| SwitchError::new(format!("cannot wait for frames: {error}")))?;
        }
        self.core.report();
        drop(self.server);
        self.core.tap.end();
        Ok(())
    }

    /// Takes what has arrived into the device, of each port at most a batch of packets and
    /// [`FRAMES_PER_TURN_MAX`] frames; what is more comes first in its next turn.
    fn receive(&mut self, now: Time) {
        let Switch { core, batch, poller, .. } = self;
        for link in core.netdevs.next_round() {
            let mut budget = FRAMES_PER_TURN_MAX;
            let is_unfinished = core.receive_unfinished(now, link, &mut budget);
            if is_unfinished || !poller.is_ready(link) {
                continue;
            }
            core.netdevs.receive(link, batch);
            for packet in batch.packets() {
                let Core { netdevs, device, tap, .. } = core;
                netdevs.split(link, packet, &mut budget, |port, piece, seal| {
                    take_in(device, tap, now, port, piece, seal);
                });
                core.release(now);
            }
        }
    }

    /// `turn` is the duration of the last turn: for this long nothing else was served, even where
    /// nothing was due.
    fn note_overrun(&mut self, now: Time, turn: Span) {
        let lag = self.core.device.next_due().map_or(Span::ZERO, |due| now.since(due)).max(turn);
        if lag > LAG_MAX {
            self.core.agent.handle_overrun(now, lag);
            self.overrun.note(lag);
        }
        self.overrun.report(now);
    }

    /// How long to sleep after a wake at `woken`; without anything due, until something arrives.
    fn time_to_next_due(&mut self, woken: Time) -> Option<Duration> {
        let Core { device, agent, netdevs, clock, .. } = &self.core;
        let (gathering, gathered) = netdevs.gathers_until(woken);
        // Packets that become due while frames are gathered leave with them.
        let frames = device.next_due().map(|due| due.max(gathering.unwrap_or(due)));
        let others = [gathered, agent.next_due(), self.retry_at];
        let due = others.into_iter().chain([frames]).flatten().min()?;
        let now = clock.now();
        let span = due.since(now);
        Some(match () {
            () if span < AWAKE_SPAN => Duration::ZERO,
            // A frame that travels alone has an instant to keep.
            () if frames == Some(due) && gathering.is_none() => self.sleep.sleep_for(now, span),
            () => Duration::from_nanos(span.whole_ns()),
        })
    }
}

/// A frame that has come in by `port`.
fn take_in(
    device: &mut Device,
    tap: &mut Tap,
    now: Time,
    port: PortId,
    piece: &Piece<'_>,
    seal: Option<Seal>,
) {
    let finish = |frame: &mut [u8]| {
        piece.finish(frame);
        tap.received(port, frame);
    };
    device.handle_parts(now, port, piece.parts(), finish, seal);
}

impl Core {
    /// Takes in what was too much for the last turn of a link. Says whether it still is.
    fn receive_unfinished(&mut self, now: Time, link: usize, budget: &mut usize) -> bool {
        let Core { netdevs, device, tap, .. } = self;
        let before = *budget;
        let is_unfinished = netdevs.split_unfinished(link, budget, |port, piece, seal| {
            take_in(device, tap, now, port, piece, seal);
        });
        if *budget < before {
            self.release(now);
        }
        is_unfinished
    }

    /// Hands on everything that was due by `now`.
    fn release(&mut self, now: Time) {
        while let Some(output) = self.device.poll_output(now) {
            match output {
                Output::Digest { at, list, values } => self.agent.handle_digest(at, list, values),
                Output::Transmit { port, frame, .. } if Some(port) == self.cpu_port => {
                    self.agent.handle_packet_in(frame.bytes().to_vec());
                    self.device.recycle(frame);
                }
                Output::Transmit { at, port, frame } => {
                    self.tap.sent(port, frame.bytes());
                    let device = &mut self.device;
                    match self.netdevs.send(now, port, frame, |frame| device.recycle(frame)) {
                        Ok(Room::More) => {}
                        Ok(Room::Full) => device.set_port_stalled(at, port, true),
                        Err(frame) => {
                            tracing::debug!(port = port.0, "no netdev is behind this port");
                            self.device.recycle(frame);
                        }
                    }
                }
            }
        }
        self.tap.record(&mut self.device);
    }

    /// The last words: what became of all packets.
    fn report(&mut self) {
        let held = self.device.traffic().held().packets;
        tracing::info!(accounted_for = self.device.balance(), held, "stopping");
        for (port, netdev) in self.netdevs.counters() {
            let books = self.device.books().port(port);
            let dropped: u64 = books.dropped.values().map(|tally| tally.packets).sum();
            let (received, transmitted) = (books.received.packets, books.transmitted.packets);
            tracing::info!(port = port.0, received, dropped, transmitted, ?netdev, "port");
        }
    }

    /// Brings ports up and down with their network devices.
    fn follow_netdevs(&mut self, now: Time, poller: &mut Poller) {
        let Core { netdevs, device, .. } = self;
        netdevs.follow(|port, up| device.set_port_up(now, port, up));
        poller.watch(&netdevs.descriptors());
        // Frames for a device that is gone wait for nothing.
        self.resume(now, |_| true);
    }

    /// Resumes stalled ports whose sockets have room again.
    fn resume(&mut self, now: Time, has_room: impl Fn(usize) -> bool) {
        let Core { netdevs, device, .. } = self;
        let stalled = netdevs.stalls().enumerate().filter(|(_, stalled)| *stalled);
        let stalled: SmallVec<[usize; 4]> = stalled.map(|(link, _)| link).collect();
        for link in stalled.into_iter().filter(|link| has_room(*link)) {
            if let Some(port) = netdevs.resume(now, link, |frame| device.recycle(frame)) {
                device.set_port_stalled(now, port, false);
            }
        }
    }

    /// Returns whether there is more to do.
    fn serve_control(&mut self, now: Time) -> bool {
        self.agent.handle_time(now);
        let (agent, mut plane) = self.parts(now);
        let clock = plane.clock;
        let began = clock.now();
        agent.work_a_slice(&mut plane, || clock.now().since(began) > SLICE_SPAN)
    }

    /// Samples show the model at their exact instants, so each is taken when everything due by then
    /// has happened and nothing later has.
    fn take_samples(&mut self, now: Time) {
        while let Some(at) = self.agent.next_sample(now) {
            self.release(at);
            let (agent, mut plane) = self.parts(at);
            agent.sample(&mut plane);
        }
    }

    fn tell_watchers(&mut self, now: Time) {
        let (agent, mut plane) = self.parts(now);
        agent.handle_events(&mut plane);
    }

    /// The agent, and the device as it sees it at `now`.
    fn parts(&mut self, now: Time) -> (&mut Agent, Plane<'_>) {
        let Core { device, netdevs, agent, tap, clock, cpu_port, new_port, .. } = self;
        (agent, Plane { device, netdevs, tap, now, cpu_port: *cpu_port, new_port, clock })
    }

    fn flush(&mut self, now: Time) {
        let Core { netdevs, device, .. } = self;
        let mut stalled = SmallVec::<[PortId; 4]>::new();
        netdevs.flush(now, |frame| device.recycle(frame), |port| stalled.push(port));
        for port in stalled {
            device.set_port_stalled(now, port, true);
        }
    }
}

impl Overrun {
    fn note(&mut self, lag: Span) {
        self.count += 1;
        self.worst = self.worst.max(lag);
    }

    /// Writes what was noted into the log, now and then.
    fn report(&mut self, now: Time) {
        if self.count > 0 && now.since(self.reported_at) > OVERRUN_REPORT_INTERVAL {
            tracing::warn!(count = self.count, worst = %self.worst, "the model lagged the clock");
            *self = Overrun { reported_at: now, ..Overrun::default() };
        }
    }
}

/// The device at one instant, as the control plane sees it.
pub struct Plane<'a> {
    /// The device.
    device: &'a mut Device,
    /// The network devices of its ports.
    netdevs: &'a mut Netdevs,
    /// The display of packets.
    tap: &'a mut Tap,
    /// The instant.
    now: Time,
    /// Where a packet-out comes in.
    cpu_port: Option<PortId>,
    /// How a port is configured at first.
    new_port: &'a PortConfig,
    /// The clock of its instants.
    clock: &'a Clock,
}

impl DataPlane for Plane<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn device(&mut self) -> &mut Device {
        self.device
    }

    fn packet_out(&mut self, frame: Vec<u8>) {
        match self.cpu_port {
            Some(port) => self.device.handle_frame(self.now, port, &frame),
            None => tracing::warn!("a packet-out is lost: start the switch with --cpu-port"),
        }
    }

    fn new_port(&self) -> PortConfig {
        self.new_port.clone()
    }

    fn netdev_of(&self, port: PortId) -> Option<String> {
        self.netdevs.name_of(port).map(str::to_owned)
    }

    fn netdev_counters(&mut self, port: PortId) -> Option<NetdevCounters> {
        self.netdevs.counters_of(port)
    }

    fn attach(&mut self, port: PortId, opened: Opened) {
        // Nothing else opens devices for this data plane.
        let Ok(opened) = opened.0.downcast::<OpenedPort>() else { return };
        let OpenedPort { socket, capture } = *opened;
        tracing::info!("port {port} is {}", socket.netdev().name());
        self.netdevs.add(port, socket);
        self.tap.add(port, capture);
    }

    fn detach(&mut self, port: PortId) -> Option<Opened> {
        let Plane { device, netdevs, tap, .. } = self;
        let socket = netdevs.remove(port, |frame| device.recycle(frame));
        tap.remove(port);
        tracing::info!("port {port} is removed");
        socket.map(|socket| Opened(Box::new(socket)))
    }

    fn epoch_offset_ns(&self) -> i64 {
        self.clock.epoch_offset_ns()
    }
}
