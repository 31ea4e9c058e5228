//! The loaded pipeline and the way of a packet through it.
//!
//! # The plan of the hot path, in order of cost
//!
//! 1. `receive`: the headers of a fresh packet are copied into place (a few hundred bytes), then
//!    the frame, once.
//! 2. Parse: per state, copy the header's bytes to its place and pick the next state by comparing
//!    a key of up to eight bytes. No field is taken apart, and states that do nothing else (nearly
//!    all) run in a loop of their own, `Parser::plain_states`.
//! 3. The control is one list of steps (`action`), which one loop runs, `Machine::run`. A
//!    condition on fields is a step for each of its range tests (`expression::decision`); a table
//!    gathers its key, mostly one word, from the fields' windows, asks its index (one hash probe, or
//!    up to four trie loads), and the loop goes on at the steps of the entry's action. The
//!    assignments that end an action are one step (`action::moves`): each is one load, one
//!    operation, one store, and a metadata field is stored without being read.
//! 4. Header checksums are sums of a few masked windows (`calculation::Words`), wanted or not by
//!    the validity of their header.
//! 5. Deparse: each run of valid headers that lie together is copied in front of the payload, which
//!    never moves.
//!
//! With a compiler and without an observer, machine code does all of this but the look-ups in
//! tables and the parts that only the interpreter knows, for which it calls: `native` has the
//! division.
//!
//! Loading decides all of this: an operation with a short form takes it there, one without runs as
//! a tree (`expression::Number`, `Condition`) or with numbers of any width (`expression::Wide`).
//! Bits that a store would cut off are not computed, and a field that the switch writes and the
//! program never refers to is not written.
//!
//! Nothing on this way allocates, hashes a name or looks at a string. Packets come from a pool and
//! go back to it ([`Pipeline::recycle`]).

use bits::Int;
use frames::{Frame, Pool};
use units::memory::Budget;
use units::{ClassId, DropReason, PortId, Time};

use crate::action::Machine;
use crate::externs::Externs;
use crate::fate::{EgressEnd, IngressEnd, InstanceType};
use crate::known::Queueing;
use crate::memory::Memory;
use crate::native::{self, Compile, Compiled, Source};
use crate::observe::{Event, Observe, Unobserved};
use crate::packet::{Body, Packet};
use crate::place::Slot;
use crate::profile::Chosen;
use crate::program::Program;
use crate::replication::Replication;
use crate::table::Applied;

/// How to load a program.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// `egress_spec` with this value drops the packet.
    pub drop_port: PortId,
    /// The port of the controller, which programs of PSA call `PSA_PORT_CPU`.
    pub cpu_port: Option<PortId>,
    /// Seed of the program's random numbers.
    pub seed: u64,
    /// Compiles the program to machine code. Without it, and where it fails, the program is
    /// interpreted, with the same results.
    pub compile: Option<Compile>,
    /// The budget for the program, its arrays and its entries.
    pub memory: Budget,
}

impl Default for Config {
    /// Port 511, as v1model and simple_switch have it.
    fn default() -> Config {
        Config {
            drop_port: PortId(511),
            cpu_port: None,
            seed: 0,
            compile: None,
            memory: Budget::UNLIMITED,
        }
    }
}

/// A loaded program with its tables and state. See the crate's documentation for how to drive it.
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub(crate) program: Program,
    pub(crate) externs: Externs,
    pub(crate) tables: Vec<Applied>,
    pub(crate) profiles: Vec<Chosen>,
    /// The machine code, as far as there is any.
    pub(crate) compiled: Compiled,
    /// Multicast groups and clone sessions.
    pub replication: Replication,
    /// Headers and metadata of a packet that nothing has touched.
    pub(crate) fresh: Box<[u8]>,
    /// Room for two keys.
    pub(crate) key_scratch: Vec<u64>,
    /// Packets to be used again.
    pub(crate) spare: Vec<Packet>,
    pub(crate) memory: Memory,
}

/// Packets kept for reuse.
const SPARE_MAX: usize = 4096;

impl Pipeline {
    /// A pipeline of a loaded program, its tables still empty.
    pub(crate) fn assemble(
        program: Program,
        externs: Externs,
        tables: Vec<Applied>,
        profiles: Vec<Chosen>,
        memory: Memory,
    ) -> Pipeline {
        let key_limbs = tables.iter().map(|it| it.table.shape().limbs()).max().unwrap_or(0);
        Pipeline {
            fresh: fresh_area(&program.layout),
            program,
            externs,
            tables,
            profiles,
            compiled: Compiled::default(),
            replication: Replication::default(),
            key_scratch: vec![0; 2 * key_limbs],
            spare: Vec::new(),
            memory,
        }
    }

    /// A packet for a frame received on `port`, whose memory it takes over. The memory that it had
    /// before goes to the pool.
    pub fn receive(&mut self, frames: &mut Pool, port: PortId, frame: Frame, now: Time) -> Packet {
        let mut packet = self.spare_packet();
        frames.recycle(packet.receive(port, frame));
        self.clear(&mut packet);
        let known = &self.program.known;
        store(known.ingress_port, &mut packet.area, port.0.into());
        let length = packet.length_register.into();
        store(known.packet_length, &mut packet.area, length);
        if let Some(timestamp) = known.ingress_global_timestamp {
            timestamp.store(&mut packet.area, now.whole_us());
        }
        if let Some(exact) = known.ingress_time_ns {
            exact.store(&mut packet.area, now.whole_ns());
        }
        packet
    }

    /// Tells a packet that goes to the mirror of drops why, and from which queue, it was dropped.
    pub fn tell_of_drop(
        &self,
        packet: &mut Packet,
        reason: DropReason,
        port: PortId,
        class: ClassId,
    ) {
        let dropped = &self.program.known.dropped;
        store(dropped.reason, &mut packet.area, reason.number().into());
        store(dropped.port, &mut packet.area, port.0.into());
        store(dropped.class, &mut packet.area, class.0.into());
    }

    /// Gives a packet back that is done with, for its memory to be used again.
    pub fn recycle(&mut self, packet: Packet) {
        self.keep(packet);
    }

    /// A packet with a frame of no meaning, and without cleared headers.
    fn spare_packet(&mut self) -> Packet {
        self.spare.pop().unwrap_or_else(|| Packet::new(self.program.layout.size))
    }

    /// Turns a deparsed packet into the frame to send; the rest of it is done with.
    pub fn transmit(&mut self, frames: &mut Pool, mut packet: Packet) -> Frame {
        let frame = packet.take_frame(frames.spare());
        self.keep(packet);
        frame
    }

    fn keep(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX && packet.area.len() == self.program.layout.size {
            self.spare.push(packet);
        }
    }

    /// Whether ingress reads the queues, so that it runs with [`crate::Reading`] around it.
    #[inline]
    pub fn reads_queues(&self) -> bool {
        self.program.reads_queues
    }

    /// Parses the packet and runs ingress; [`crate::after_ingress`] decides what follows.
    pub fn ingress(&mut self, packet: &mut Packet, now: Time) -> IngressEnd {
        self.ingress_observed(packet, now, &mut Unobserved)
    }

    /// [`Self::ingress`], every step reported.
    pub fn ingress_observed<O: Observe>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        observer: &mut O,
    ) -> IngressEnd {
        if !self.program.is_v1model {
            return match self.program.tofino {
                Some(_) => self.tofino_ingress(packet, now, observer),
                None => self.psa_ingress(packet, now, observer),
            };
        }
        self.parse(packet, now, observer);
        observer.event(|| Event::Control { name: "ingress".to_owned() });
        self.control(self.program.ingress, packet, now, observer);
        let requests = std::mem::take(&mut packet.requests);
        let known = &self.program.known;
        let load = |slot: Slot| slot.load(&packet.area);
        let egress_spec = PortId(load(known.egress_spec) as u16);
        IngressEnd {
            clone: requests.clone,
            digest: requests.digest,
            resubmit: requests.resubmit,
            multicast_group: known.mcast_grp.map_or(0, load) as u32,
            more_copies: None,
            egress_port: (egress_spec != self.program.drop_port).then_some(egress_spec),
            class: ClassId(known.priority.map_or(0, load) as u8),
            stopped: requests.stopped,
        }
    }

    /// Sends a packet towards a port: sets what v1model says of a packet between the controls.
    pub fn dispatch(&mut self, packet: &mut Packet, port: PortId, kind: InstanceType, rid: u16) {
        packet.egress_port = port;
        (packet.kind, packet.rid) = (kind, rid);
        let known = &self.program.known;
        store(known.instance_type, &mut packet.area, kind as u64);
        if let Some(cell) = known.egress_rid
            && kind != InstanceType::Normal
        {
            cell.store(&mut packet.area, rid.into());
        }
    }

    /// The drop precedence that ingress gave the packet: 0 green, 1 yellow, 2 red.
    #[inline]
    pub fn drop_precedence(&self, packet: &Packet) -> u8 {
        let load = |slot: Slot| slot.load(&packet.area).min(2) as u8;
        self.program.known.drop_precedence.map_or(0, load)
    }

    /// Runs egress. Pass the result to [`crate::after_egress`]; a packet that goes on is
    /// [deparsed](Pipeline::deparse) next.
    pub fn egress(&mut self, packet: &mut Packet, queueing: &Queueing, now: Time) -> EgressEnd {
        self.egress_observed(packet, queueing, now, &mut Unobserved)
    }

    /// [`Self::egress`], every step reported.
    pub fn egress_observed<O: Observe>(
        &mut self,
        packet: &mut Packet,
        queueing: &Queueing,
        now: Time,
        observer: &mut O,
    ) -> EgressEnd {
        if !self.program.is_v1model {
            return match self.program.tofino {
                Some(_) => self.tofino_egress(packet, queueing, now, observer),
                None => self.psa_egress(packet, queueing, now, observer),
            };
        }
        let program = &self.program;
        let known = &program.known;
        let packet = &mut **packet;
        let area = &mut packet.area;
        if let Some(timestamp) = known.egress_global_timestamp {
            timestamp.store(area, now.whole_us());
        }
        known.store_queueing(area, queueing);
        store(known.egress_port, area, packet.egress_port.0.into());
        // Anything but the drop port; simple_switch takes the next number.
        known.egress_spec.store(area, u64::from(program.drop_port.0) + 1);
        store(known.packet_length, area, packet.length_register.into());
        observer.event(|| Event::Control { name: "egress".to_owned() });
        self.control(self.program.egress, packet, now, observer);
        let known = &self.program.known;
        let drop_port = u64::from(self.program.drop_port.0);
        EgressEnd {
            clone: packet.requests.clone,
            recirculate: packet.requests.recirculate,
            is_dropped: known.egress_spec.load(&packet.area) == drop_port,
            stopped: packet.requests.stopped,
        }
    }

    /// Updates checksums and puts the headers back in front of the payload: the last step of a
    /// packet that egress did not drop, and after its clone was made.
    pub fn deparse(&mut self, packet: &mut Packet, now: Time) {
        self.deparse_observed(packet, now, &mut Unobserved);
    }

    /// [`Self::deparse`], every step reported.
    pub fn deparse_observed<O: Observe>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        observer: &mut O,
    ) {
        let Pipeline { program, externs, compiled, .. } = self;
        packet.keep_seal_of_payload();
        match compiled.updates::<O>(&packet.area) {
            Some(native) => native.update(&mut packet.area),
            None => {
                for checksum in &program.updated {
                    checksum.update(program, externs, packet, now, observer);
                }
            }
        }
        // In other architectures the deparser decides what a clone carries, so it ran before.
        if let (Some(routine), true) = (&program.deparser, program.is_v1model) {
            Machine::new(program, externs, packet, now, observer).run_routine(routine);
        }
        if O::ENABLED {
            for emission in &program.emitted.order {
                if crate::expression::is_valid(&program.layout, &packet.area, emission.header) {
                    let header = program.layout.headers[emission.header as usize].name.clone();
                    observer.event(|| Event::Emitted { header });
                }
            }
        }
        program.emitted.deparse(&program.layout, compiled.headers::<O>(), packet);
    }

    /// A clone of the packet as it was received, parsed again, with the fields of a list kept.
    pub fn clone_from_ingress(&mut self, packet: &Packet, field_list: u32, now: Time) -> Packet {
        if self.program.tofino.is_some() {
            return self.tofino_mirror_from_ingress(packet);
        }
        let mut clone = self.spare_packet();
        clone.receive_again(packet);
        self.clear(&mut clone);
        if self.program.psa.is_some() {
            self.keep_fields(packet, &mut clone, field_list, InstanceType::IngressClone);
            return clone;
        }
        // The parser may look at the port; everything else it sees is zero.
        let port = packet.ingress_port.0.into();
        store(self.program.known.ingress_port, &mut clone.area, port);
        self.parse(&mut clone, now, &mut Unobserved);
        self.clear_metadata(&mut clone);
        self.keep_fields(packet, &mut clone, field_list, InstanceType::IngressClone);
        clone
    }

    /// A clone of the packet as egress left it, with the fields of a list kept.
    pub fn clone_from_egress(&mut self, packet: &Packet, field_list: u32) -> Packet {
        if self.program.psa.is_some() {
            return self.psa_clone_from_egress(packet, field_list);
        }
        if self.program.tofino.is_some() {
            return self.tofino_mirror_from_egress(packet);
        }
        let mut clone = self.copy(packet);
        self.clear_metadata(&mut clone);
        self.keep_fields(packet, &mut clone, field_list, InstanceType::EgressClone);
        clone
    }

    /// A copy of a packet, headers included: for replication.
    pub fn copy(&mut self, packet: &Packet) -> Packet {
        let mut copy = self.spare_packet();
        copy.copy_from(packet);
        copy
    }

    /// Makes a packet ready for ingress again, as it was received.
    pub fn resubmit(&mut self, packet: &mut Packet, field_list: u32) {
        if self.program.tofino.is_some() {
            return self.tofino_resubmit(packet);
        }
        packet.at = packet.start;
        let length = packet.received().len();
        self.start_over(packet, field_list, InstanceType::Resubmitted, length);
    }

    /// Makes a deparsed packet ready for ingress again.
    pub fn recirculate(&mut self, packet: &mut Packet, field_list: u32) {
        packet.start_at_headers();
        let length = packet.bytes().len();
        self.start_over(packet, field_list, InstanceType::Recirculated, length);
    }

    /// The values of a digest list, or `None` if there is no such list.
    pub fn digest(&self, packet: &Packet, list: u32) -> Option<Vec<Int>> {
        let list = self.program.digests.iter().find(|candidate| candidate.id == list)?;
        Some(list.fields.iter().map(|place| place.load(&packet.area)).collect())
    }

    pub(crate) fn start_over(
        &mut self,
        packet: &mut Packet,
        list: u32,
        kind: InstanceType,
        length: usize,
    ) {
        self.clear_but(packet, list);
        (packet.kind, packet.rid) = (kind, 0);
        let known = &self.program.known;
        store(known.instance_type, &mut packet.area, kind as u64);
        store(known.packet_length, &mut packet.area, length as u64);
        packet.length_register = length as u32;
        packet.requests = Default::default();
    }

    fn keep_fields(&self, from: &Packet, to: &mut Packet, list: u32, kind: InstanceType) {
        for place in self.program.field_lists.get(&list).into_iter().flatten() {
            place.store(&mut to.area, &place.load(&from.area));
        }
        store(self.program.known.instance_type, &mut to.area, kind as u64);
    }

    /// Headers and metadata as of a packet that nothing has touched, but for the fields of a list.
    pub(crate) fn clear_but(&self, packet: &mut Packet, list: u32) {
        // The preserved fields are copied aside first: clearing must not reach them.
        let places = self.program.field_lists.get(&list).map_or(&[][..], Vec::as_slice);
        let kept: Vec<Int> = places.iter().map(|place| place.load(&packet.area)).collect();
        self.clear(packet);
        for (place, value) in places.iter().zip(&kept) {
            place.store(&mut packet.area, value);
        }
    }

    /// Headers as of a packet that nothing has touched.
    pub(crate) fn clear_headers(&self, packet: &mut Packet) {
        let metadata = self.program.layout.metadata_bytes.clone();
        let (fresh, area) = (&self.fresh, &mut packet.area);
        area[..metadata.start].copy_from_slice(&fresh[..metadata.start]);
        area[metadata.end..].copy_from_slice(&fresh[metadata.end..]);
    }

    fn clear(&self, packet: &mut Packet) {
        packet.area.copy_from_slice(&self.fresh);
    }

    fn clear_metadata(&self, packet: &mut Packet) {
        packet.area[self.program.layout.metadata_bytes.clone()].fill(0);
    }

    /// Runs the parser and verifies checksums.
    fn parse<O: Observe>(&mut self, packet: &mut Body, now: Time, observer: &mut O) {
        let Pipeline { program, externs, compiled, .. } = self;
        let Some(parser) = &program.parser else { return };
        let error = parser.parse(program, compiled.code::<O>(), externs, packet, now, observer);
        let mut wrong = false;
        match compiled.verifies::<O>(&packet.area) {
            Some(native) => wrong = native.is_wrong(&packet.area),
            None => {
                for checksum in &program.verified {
                    wrong |= checksum.is_wrong(program, externs, packet, now, observer);
                }
            }
        }
        let known = &program.known;
        store(known.parser_error, &mut packet.area, error.into());
        store(known.checksum_error, &mut packet.area, wrong.into());
    }

    #[inline]
    pub(crate) fn control<O: Observe>(
        &mut self,
        start: u32,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) {
        // The parser was stopped half-way.
        if packet.requests.stopped.is_some() {
            return;
        }
        let Pipeline { program, externs, tables, profiles, compiled, key_scratch, .. } = self;
        let mut machine = Machine::new(program, externs, packet, now, observer);
        machine.tables = tables;
        machine.profiles = profiles;
        machine.key_scratch = key_scratch;
        match compiled.code::<O>() {
            Some(native) => machine.run_native(native, start),
            None => machine.run(start),
        }
    }
}

/// Machine code.
impl Pipeline {
    /// The program for a compiler to machine code.
    pub fn source(&self) -> Source {
        native::source(&self.program, &self.tables, &self.profiles)
    }

    /// The parts of a PSA program between its controls, likewise.
    pub fn source_between(&self) -> Option<Source> {
        native::source_between(&self.program, &self.tables, &self.profiles)
    }

    pub(crate) fn compile(&mut self, compile: Compile) {
        self.compiled = Compiled::new(compile, &self.program, &self.tables, &self.profiles);
    }

    /// Whether the program runs as machine code.
    pub fn is_native(&self) -> bool {
        self.compiled.is_native()
    }

    /// Why the program is interpreted although a compiler was handed in.
    pub fn native_failure(&self) -> Option<&str> {
        self.compiled.failure()
    }
}

/// Stores a value where the program has, and looks at, the field.
#[inline(always)]
fn store(slot: Option<Slot>, area: &mut [u8], value: u64) {
    if let Some(slot) = slot {
        slot.store(area, value);
    }
}

/// The area of a packet that nothing has touched: all zero but the validity of metadata.
fn fresh_area(layout: &crate::layout::Layout) -> Box<[u8]> {
    let mut area = vec![0; layout.size];
    for valid in &layout.metadata_valid {
        area[*valid as usize] = 1;
    }
    area.into()
}
