//! The state machine.

use std::collections::{BTreeSet, VecDeque};

use frames::{Frame, Pool, Seal};
use pipeline::{Config, FRAME_LENGTH_MAX, Pipeline, Replica};
use traffic::{ConfigError, Manager};
use units::{Bytes, ClassId, DropReason, HasLength, PortId, Time};

use crate::books::Books;
use crate::budget::{Budget, Budgets};
use crate::capture::{Fate, Recorder};
use crate::fate::{Output, Queued};
use crate::lines::{Arrivals, Cables};
use crate::link::Change;
use crate::memory::PacketMemory;
use crate::programs::Programs;
use crate::trace::{Identity, TraceEvent, TraceFilter, TraceRecord, Tracer};
use crate::watch::{Drop, Event, EventLog, PacketStepKind};

/// One switch.
///
/// # Driving contract
///
/// The device has no clock. Its driver, in virtual time or late behind a real clock, does this and
/// nothing else:
///
/// 1. Let `t` be the earlier of [`next_due`](Device::next_due) and your own next input. When the
///    real clock is late, `t` lies in the past: that is fine.
/// 2. Call [`poll_output(t)`](Device::poll_output) until it returns `None`. Each transmission
///    carries its exact instant; its frame is given back with [`recycle`](Device::recycle).
/// 3. Hand in **all** your inputs of instant `t`: [`handle_frame`](Device::handle_frame) in the
///    order of ports, then what the controller wants ([`install`](Device::install),
///    [`configure`](Device::configure), [`pipeline_mut`](Device::pipeline_mut)).
/// 4. Go to 1.
///
/// Instants never go backwards, over all calls together. A frame that comes out of a receive line
/// at `t` counts as arrived before those that are handed in at `t`.
pub struct Device {
    pub(crate) config: Config,
    pub(crate) programs: Programs,
    pub(crate) traffic: Manager<Queued>,
    pub(crate) cables: Cables,
    pub(crate) books: Books,
    pub(crate) outputs: VecDeque<Output>,
    /// Memory of frames to be used again, whatever program is loaded.
    pub(crate) frames: Pool,
    /// Where copies go; kept so that it need not be allocated again.
    pub(crate) replicas: Vec<Replica>,
    pub(crate) tracer: Tracer,
    /// How many packets there have been: the number of the last.
    pub(crate) packet_count: u64,
    pub(crate) budgets: Budgets,
    /// The ports that are down; see `links.rs`.
    pub(crate) down: BTreeSet<PortId>,
    pub(crate) log: EventLog,
    /// The clone session that drops are sent to; see `mirror.rs`.
    pub(crate) drop_mirror: Option<u32>,
    /// See `memory.rs`.
    pub(crate) memory: PacketMemory,
    pub(crate) recorder: Recorder,
}

impl Device {
    /// A device without program and without ports: what comes in is dropped and counted. Programs
    /// for it are to be loaded with the same `config`; its seed also serves the traffic manager.
    pub fn new(config: Config) -> Device {
        Device {
            config,
            programs: Programs::default(),
            traffic: Manager::new(config.seed),
            cables: Cables::new(config.seed),
            books: Books::default(),
            outputs: VecDeque::new(),
            frames: Pool::default(),
            replicas: Vec::new(),
            tracer: Tracer::default(),
            packet_count: 0,
            budgets: Budgets::default(),
            down: BTreeSet::new(),
            log: EventLog::default(),
            drop_mirror: None,
            memory: PacketMemory::default(),
            recorder: Recorder::default(),
        }
    }

    /// The neighbour at `port` hands over a frame. It reaches the router when the receive line has
    /// carried it; see [`PortConfig::link`](traffic::PortConfig::link). A packet-out is a frame that
    /// comes in by the CPU port.
    pub fn handle_frame(&mut self, now: Time, port: PortId, bytes: &[u8]) {
        self.handle_sealed_frame(now, port, bytes, None);
    }

    /// [`handle_frame`](Device::handle_frame) with a note about the frame's last bytes, which comes
    /// out with [`Output::Transmit`] if these are still the same.
    pub fn handle_sealed_frame(
        &mut self,
        now: Time,
        port: PortId,
        bytes: &[u8],
        seal: Option<Seal>,
    ) {
        self.handle_parts(now, port, [bytes, &[]], |_| {}, seal);
    }

    /// The same with a frame whose memory the device takes over, perhaps one that another device has
    /// transmitted: nothing is copied.
    pub fn handle_owned_frame(&mut self, now: Time, port: PortId, frame: Frame) {
        self.begin_receiving(now, port, frame);
    }

    /// The same with a frame of two parts, one behind the other, which `finish` changes where they
    /// are put together.
    pub fn handle_parts(
        &mut self,
        now: Time,
        port: PortId,
        parts: [&[u8]; 2],
        finish: impl FnOnce(&mut [u8]),
        seal: Option<Seal>,
    ) {
        let mut frame = self.frames.frame_of(parts);
        finish(frame.bytes_mut());
        frame.set_seal(seal);
        self.handle_owned_frame(now, port, frame);
    }

    /// A frame has arrived.
    pub(crate) fn accept(&mut self, now: Time, port: PortId, frame: Frame, arrivals: Arrivals) {
        let identity = self.note_received(now, port, &frame);
        let length = frame.length();
        if let Err(reason) = self.check_port(port) {
            return self.drop_frame(now, identity, port, frame, reason);
        }
        if length > Bytes(FRAME_LENGTH_MAX as u64) {
            return self.drop_frame(now, identity, port, frame, DropReason::TooLong);
        }
        let Some(program) = self.programs.current() else {
            return self.drop_frame(now, identity, port, frame, DropReason::NoProgram);
        };
        program.packets += 1;
        let packet = program.pipeline.receive(&mut self.frames, port, frame, now);
        let (generation, budget) = (program.generation, Budget::NEW);
        let queued = Queued { packet, generation, budget, identity, from_mirror: false };
        self.run_ingress(now, queued, arrivals);
    }

    /// Counts a frame that has arrived and informs captures and watchers.
    pub(crate) fn note_received(&mut self, now: Time, port: PortId, frame: &Frame) -> Identity {
        let length = frame.length();
        self.books.count_received(port, length);
        let number = self.next_number();
        let is_followed = self.tracer.receive(now, number, port, frame.bytes());
        self.recorder.note(now, port, Fate::Received, frame.bytes());
        if self.log.follows_packets() {
            let head = self.log.head_of(frame.bytes());
            self.log.note_packet(now, number, port, PacketStepKind::Received { length, head });
        }
        Identity { number, is_followed }
    }

    /// The events until `now`, in order.
    pub fn poll_output(&mut self, now: Time) -> Option<Output> {
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return Some(output);
            }
            // One instant at a time: what egress sends back (clones, recirculated packets) is
            // handed in at the instant of its departure, however late we are called. So is what
            // comes out of a line, and departures of an instant come before arrivals.
            let (traffic, cables) = (self.traffic.next_due(), self.cables.next_due());
            match (traffic, cables) {
                (Some(due), _) if due <= now && cables.is_none_or(|other| due <= other) => {
                    self.poll_traffic(due);
                }
                (_, Some(due)) if due <= now => self.poll_cables(due, now),
                _ => return None,
            }
        }
    }

    fn poll_traffic(&mut self, due: Time) {
        let output = self.traffic.poll_output(due);
        self.take_steps();
        match output {
            Some(traffic::Output::Depart(departure)) => {
                self.memory.give_back(departure.output, departure.packet.length());
                self.run_egress(departure);
            }
            Some(traffic::Output::Drop(dropped)) => {
                self.memory.give_back(dropped.output, dropped.packet.length());
                self.drop_in_traffic(dropped);
            }
            None => {}
        }
    }

    /// When `poll_output` will have something, if nothing is handed in before.
    pub fn next_due(&self) -> Option<Time> {
        if let Some(Output::Digest { at, .. } | Output::Transmit { at, .. }) = self.outputs.front()
        {
            return Some(*at);
        }
        match (self.traffic.next_due(), self.cables.next_due()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Takes back a frame that was transmitted, for its memory to be used again. It need not have
    /// come from this device.
    pub fn recycle(&mut self, frame: Frame) {
        self.frames.recycle(frame);
    }

    /// Gives another pool the memory of frames that ended here, if there is much of it: for a
    /// driver that hands in frames of that pool.
    #[inline]
    pub fn share_frames(&mut self, pool: &mut Pool) {
        self.frames.share(pool);
    }

    /// Takes the frame out of a deparsed packet, which is done with.
    pub(crate) fn take_frame(&mut self, queued: Queued) -> Frame {
        let Queued { packet, generation, budget, .. } = queued;
        self.budgets.release(budget);
        let frame = self.programs.of(generation).pipeline.transmit(&mut self.frames, packet);
        self.programs.release(generation);
        frame
    }

    /// A packet is done with.
    pub(crate) fn recycle_packet(&mut self, queued: Queued) {
        let Queued { packet, generation, budget, .. } = queued;
        self.budgets.release(budget);
        self.programs.of(generation).pipeline.recycle(packet);
        self.programs.release(generation);
    }

    /// Follows the frames that come in from now on and that one of the filters takes, step by
    /// step; an empty list ends that. See [`TraceFilter`] and [`TraceRecord`].
    pub fn trace(&mut self, filters: Vec<TraceFilter>) {
        self.tracer.arm(filters);
    }

    /// Whether frames are followed.
    pub fn is_tracing(&self) -> bool {
        self.tracer.is_armed()
    }

    /// The next step that was recorded of a packet that is followed.
    pub fn poll_trace(&mut self) -> Option<TraceRecord> {
        self.tracer.poll()
    }

    /// How many steps were not recorded because too many waited to be taken.
    pub fn trace_lost(&self) -> u64 {
        self.tracer.lost()
    }

    /// Puts a program in force. Packets in the switch stay with the program that parsed them.
    pub fn install(&mut self, pipeline: Box<Pipeline>) {
        self.programs.install(pipeline);
    }

    /// A program that was replaced and that no packet needs any more. Freeing a full one takes
    /// long, so a driver in a hurry does it elsewhere.
    pub fn poll_retired(&mut self) -> Option<Box<Pipeline>> {
        self.programs.poll_done()
    }

    /// The program in force, to read from.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.programs.current_pipeline()
    }

    /// The program in force, for tables and state.
    pub fn pipeline_mut(&mut self) -> Option<&mut Pipeline> {
        self.programs.current().map(|loaded| &mut *loaded.pipeline)
    }

    /// How to load a program for this device: its drop port and its seed.
    pub fn program_config(&self) -> Config {
        self.config
    }

    /// Changes ports and queues at `now`, or refuses and changes nothing. Ports that stay keep their
    /// cables.
    pub fn configure(&mut self, now: Time, config: traffic::Config) -> Result<(), ConfigError> {
        self.change(now, traffic::Change::between(self.traffic.config(), config).into())
    }

    /// Changes what `change` names at `now`, or refuses it and changes nothing.
    pub fn change(&mut self, now: Time, change: Change) -> Result<(), ConfigError> {
        self.check(&change)?;
        self.apply(now, change);
        Ok(())
    }

    /// Whether the change is possible; the error names the first place that is wrong.
    pub fn check(&self, change: &Change) -> Result<(), ConfigError> {
        change.traffic.check(self.traffic.config())?;
        change.links.iter().try_for_each(|(port, link)| link.check(&format!("port {port}")))
    }

    /// Changes what `change` names at `now`. It is a [checked](Device::check) change, or a part of
    /// one: what a part leaves the shared buffer short of is made good by the others.
    pub fn apply(&mut self, now: Time, change: Change) {
        let Change { traffic, links } = change;
        let ports: BTreeSet<PortId> = traffic.ports.keys().chain(links.keys()).copied().collect();
        links.into_iter().for_each(|(port, link)| self.cables.set_link(port, link));
        self.traffic.apply(now, traffic);
        self.take_steps();
        for port in ports {
            self.follow_port(now, port);
        }
    }

    /// The traffic manager, to read from: configuration, queues, counters.
    pub fn traffic(&self) -> &Manager<Queued> {
        &self.traffic
    }

    /// The counters of every packet's fate.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Whether every packet is accounted for: in the device, in its traffic manager and on every
    /// line.
    pub fn balance(&self) -> bool {
        self.books_balance() && self.traffic.balance() && self.cables.balance()
    }

    /// The same without what is to be known of each output port: see [`Device::port_balances`].
    pub fn whole_balances(&self) -> bool {
        self.books_balance() && self.traffic.whole_balances() && self.cables.balance()
    }

    /// Whether every packet is accounted for that came to the queues of a port.
    pub fn port_balances(&self, port: PortId) -> bool {
        self.traffic.port_balances(port)
    }

    fn books_balance(&self) -> bool {
        self.books.balance(self.traffic.held().packets) && self.memory_balances()
    }

    /// The number of another packet.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.packet_count += 1;
        self.packet_count
    }

    /// Ends a packet; `queue` is the one it was for or came from, if that was decided.
    pub(crate) fn drop_packet(
        &mut self,
        at: Time,
        queued: Queued,
        reason: DropReason,
        queue: Option<(PortId, ClassId)>,
    ) {
        if self.log.follows_packets() {
            let (number, input) = (queued.identity.number, queued.packet.ingress_port());
            self.log.note_packet(at, number, input, PacketStepKind::Dropped { reason, queue });
        }
        self.end_packet(at, queued, reason, queue);
    }

    /// The same for a packet whose end has already been reported to the watcher.
    fn end_packet(
        &mut self,
        at: Time,
        queued: Queued,
        reason: DropReason,
        queue: Option<(PortId, ClassId)>,
    ) {
        self.tracer.note(queued.identity, at, || TraceEvent::Dropped(reason));
        let (input, length) = (queued.packet.ingress_port(), queued.length());
        self.books.count_drop(input, reason, length);
        let fate = Fate::Dropped { reason, queue };
        self.recorder.note(at, input, fate, queued.packet.received());
        if self.log.watching.drops {
            let head = self.log.head_of(queued.packet.received());
            self.log.note(Event::Dropped(Drop { at, reason, input, queue, length, head }));
        }
        self.recycle_packet(queued);
    }

    /// Ends a frame that has not become a packet.
    pub(crate) fn drop_frame(
        &mut self,
        at: Time,
        identity: Identity,
        input: PortId,
        frame: Frame,
        reason: DropReason,
    ) {
        self.tracer.note(identity, at, || TraceEvent::Dropped(reason));
        if self.log.follows_packets() {
            let kind = PacketStepKind::Dropped { reason, queue: None };
            self.log.note_packet(at, identity.number, input, kind);
        }
        let length = frame.length();
        self.books.count_drop(input, reason, length);
        self.recorder.note(at, input, Fate::Dropped { reason, queue: None }, frame.bytes());
        if self.log.watching.drops {
            let head = self.log.head_of(frame.bytes());
            let drop = Drop { at, reason, input, queue: None, length, head };
            self.log.note(Event::Dropped(drop));
        }
        self.recycle(frame);
    }

    pub(crate) fn drop_in_traffic(&mut self, dropped: traffic::Dropped<Queued>) {
        let traffic::Dropped { mut packet, output, class, at, reason, .. } = dropped;
        self.mirror_drop(at, &mut packet, (output, class), reason);
        self.end_packet(at, packet, reason, Some((output, class)));
    }
}
