//! The loaded pipeline and the way of a packet through it.
//!
//! # The plan of the hot path, in order of cost
//!
//! 1. `receive`: clear the headers (one fill of a few hundred bytes), copy the frame in.
//! 2. Parse: per state, copy the header's bytes to its place and pick the next state by comparing
//!    a key of up to eight bytes. No field is taken apart.
//! 3. Per node of the control: a condition is a small tree of numbers; a table builds its key from
//!    the fields' cells, asks its index (one hash probe, or up to four trie loads), and runs the
//!    entry's action: for most steps one load, one operation, one store.
//! 4. Deparse: checksums, then each valid header's bytes are copied in front of the payload, which
//!    never moves.
//!
//! Nothing on this way allocates, hashes a name or looks at a string. Packets come from a pool and
//! go back to it ([`Pipeline::recycle`]).

use bits::Int;
use units::{ClassId, PortId, Time};

use crate::action::Machine;
use crate::error::LoadError;
use crate::externs::Externs;
use crate::fate::{CloneRequest, EgressEnd, IngressEnd, InstanceType};
use crate::known::Queueing;
use crate::load::{Checksum, Node, Program};
use crate::observe::{Event, Observe, Unobserved};
use crate::packet::Packet;
use crate::profile::ActionProfile;
use crate::replication::Replication;
use crate::table::{END, NONE, Table, Target};

/// How to load a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// `egress_spec` with this value drops the packet.
    pub drop_port: PortId,
    /// Seed of the program's random numbers.
    pub seed: u64,
}

impl Default for Config {
    /// Port 511, as v1model and simple_switch have it.
    fn default() -> Config {
        Config { drop_port: PortId(511), seed: 0 }
    }
}

/// A loaded program with its tables and state. See the crate's documentation for how to drive it.
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub(crate) program: Program,
    pub(crate) externs: Externs,
    pub(crate) tables: Vec<Table>,
    pub(crate) profiles: Vec<ActionProfile>,
    /// Multicast groups and clone sessions.
    pub replication: Replication,
    /// Room for two keys.
    pub(crate) key_scratch: Vec<u64>,
    pub(crate) spare: Vec<Packet>,
}

/// Packets kept for reuse.
const SPARE_MAX: usize = 4096;

impl Pipeline {
    /// Loads BMv2 JSON text.
    pub fn load(json: &[u8], config: &Config) -> Result<Pipeline, LoadError> {
        Pipeline::new(&bmv2::read(json)?, config)
    }

    /// Loads a program.
    pub fn new(program: &bmv2::Program, config: &Config) -> Result<Pipeline, LoadError> {
        crate::load::load(program, config)
    }

    /// A packet for a frame received on `port`.
    pub fn receive(&mut self, port: PortId, frame: &[u8], now: Time) -> Packet {
        let mut packet = self.spare.pop().unwrap_or_else(|| Packet::new(self.program.layout.size));
        packet.receive(port, frame);
        self.clear(&mut packet);
        let known = &self.program.known;
        known.ingress_port.store(&mut packet.area, port.0.into());
        known.packet_length.store(&mut packet.area, frame.len() as u64);
        if let Some(timestamp) = known.ingress_global_timestamp {
            timestamp.store(&mut packet.area, now.whole_us());
        }
        packet
    }

    /// Gives a packet back that is done with, for its memory to be used again.
    pub fn recycle(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX && packet.area.len() == self.program.layout.size {
            self.spare.push(packet);
        }
    }

    /// Parses the packet and runs ingress. What becomes of it: [`crate::after_ingress`].
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
        self.parse(packet, now, observer);
        observer.event(|| Event::Control { name: "ingress".to_owned() });
        self.control(self.program.ingress, packet, now, observer);
        let requests = std::mem::take(&mut packet.requests);
        let known = &self.program.known;
        let load = |cell: crate::place::Cell| cell.load(&packet.area);
        IngressEnd {
            clone: clone_request(requests.clone),
            digest: requests.digest,
            resubmit: requests.resubmit,
            multicast_group: known.mcast_grp.map_or(0, load) as u32,
            egress_spec: PortId(load(known.egress_spec) as u16),
            class: ClassId(known.priority.map_or(0, load) as u8),
            assertion_failed: requests.assertion_failed,
        }
    }

    /// Sends a packet towards a port: sets what v1model says of a packet between the controls.
    pub fn dispatch(&mut self, packet: &mut Packet, port: PortId, kind: InstanceType, rid: u16) {
        packet.egress_port = port;
        let known = &self.program.known;
        known.instance_type.store(&mut packet.area, kind as u64);
        if let Some(cell) = known.egress_rid
            && kind != InstanceType::Normal
        {
            cell.store(&mut packet.area, rid.into());
        }
    }

    /// Runs egress and, unless the packet is dropped, deparses it. What becomes of it:
    /// [`crate::after_egress`].
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
        let program = &self.program;
        let known = &program.known;
        let area = &mut packet.area;
        if let Some(timestamp) = known.egress_global_timestamp {
            timestamp.store(area, now.whole_us());
        }
        known.store_queueing(area, queueing);
        known.egress_port.store(area, packet.egress_port.0.into());
        // Anything but the drop port; simple_switch takes the next number.
        known.egress_spec.store(area, u64::from(program.drop_port.0) + 1);
        known.packet_length.store(area, packet.length_register.into());
        observer.event(|| Event::Control { name: "egress".to_owned() });
        self.control(program.egress, packet, now, observer);
        let known = &self.program.known;
        EgressEnd {
            clone: clone_request(packet.requests.clone),
            recirculate: packet.requests.recirculate,
            egress_spec: PortId(known.egress_spec.load(&packet.area) as u16),
            assertion_failed: packet.requests.assertion_failed,
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
        let Pipeline { program, externs, .. } = self;
        for checksum in &program.updated {
            let mut machine = machine(program, externs, packet, now, observer);
            if machine.applies(checksum) {
                let computed = machine.hash(checksum.calculation);
                let found = checksum.target.load(machine.area);
                checksum.target.store(machine.area, computed);
                let name = || checksum.name.clone();
                machine.observer.event(|| Event::Checksum {
                    name: name(),
                    verified: false,
                    computed,
                    found,
                });
            }
        }
        if !program.deparser_steps.is_empty() {
            machine(program, externs, packet, now, observer).run(&program.deparser_steps, &[]);
        }
        if O::ENABLED {
            for emission in &program.emitted {
                if crate::expression::is_valid(&program.layout, &packet.area, emission.header) {
                    let header = program.layout.headers[emission.header as usize].name.clone();
                    observer.event(|| Event::Emitted { header });
                }
            }
        }
        crate::deparser::deparse(&program.layout, &program.emitted, packet);
    }

    /// A clone of the packet as it was received, parsed again, with the fields of a list kept.
    pub fn clone_from_ingress(&mut self, packet: &Packet, field_list: u32, now: Time) -> Packet {
        let mut clone = self.spare.pop().unwrap_or_else(|| Packet::new(self.program.layout.size));
        clone.receive(packet.ingress_port, packet.received());
        self.clear(&mut clone);
        // The parser may look at the port; everything else it sees is zero.
        let port = packet.ingress_port.0.into();
        self.program.known.ingress_port.store(&mut clone.area, port);
        self.parse(&mut clone, now, &mut Unobserved);
        self.clear_metadata(&mut clone);
        self.keep_fields(packet, &mut clone, field_list, InstanceType::IngressClone);
        clone
    }

    /// A clone of the packet as egress left it, with the fields of a list kept.
    pub fn clone_from_egress(&mut self, packet: &Packet, field_list: u32) -> Packet {
        let mut clone = self.copy(packet);
        self.clear_metadata(&mut clone);
        self.keep_fields(packet, &mut clone, field_list, InstanceType::EgressClone);
        clone
    }

    /// A copy of a packet, headers included: for replication.
    pub fn copy(&mut self, packet: &Packet) -> Packet {
        let mut copy = self.spare.pop().unwrap_or_else(|| Packet::new(self.program.layout.size));
        copy.copy_from(packet);
        copy
    }

    /// Makes a packet ready for ingress again, as it was received.
    pub fn resubmit(&mut self, packet: &mut Packet, field_list: u32) {
        packet.at = packet.start;
        let length = packet.received().len();
        self.start_over(packet, field_list, InstanceType::Resubmitted, length);
    }

    /// Makes a deparsed packet ready for ingress again.
    pub fn recirculate(&mut self, packet: &mut Packet, field_list: u32) {
        let length = packet.bytes().len();
        packet.frame.truncate(packet.at + length);
        packet.start = packet.at;
        packet.truncated_to = usize::MAX;
        packet.ingress_length = length as u32;
        self.start_over(packet, field_list, InstanceType::Recirculated, length);
    }

    /// The values of a digest list, or `None` if there is no such list.
    pub fn digest(&self, packet: &Packet, list: u32) -> Option<Vec<Int>> {
        let list = self.program.digests.iter().find(|candidate| candidate.id == list)?;
        Some(list.fields.iter().map(|place| place.load(&packet.area)).collect())
    }

    fn start_over(&mut self, packet: &mut Packet, list: u32, kind: InstanceType, length: usize) {
        // What is kept is copied aside first: clearing must not reach it.
        let places = self.program.field_lists.get(&list).map_or(&[][..], Vec::as_slice);
        let kept: Vec<Int> = places.iter().map(|place| place.load(&packet.area)).collect();
        packet.area.fill(0);
        mark_metadata_valid(&self.program, &mut packet.area);
        for (place, value) in places.iter().zip(&kept) {
            place.store(&mut packet.area, value);
        }
        let known = &self.program.known;
        known.instance_type.store(&mut packet.area, kind as u64);
        known.packet_length.store(&mut packet.area, length as u64);
        packet.length_register = length as u32;
        packet.requests = Default::default();
    }

    fn keep_fields(&self, from: &Packet, to: &mut Packet, list: u32, kind: InstanceType) {
        for place in self.program.field_lists.get(&list).into_iter().flatten() {
            place.store(&mut to.area, &place.load(&from.area));
        }
        self.program.known.instance_type.store(&mut to.area, kind as u64);
    }

    fn clear(&self, packet: &mut Packet) {
        packet.area.fill(0);
        mark_metadata_valid(&self.program, &mut packet.area);
    }

    fn clear_metadata(&self, packet: &mut Packet) {
        packet.area[self.program.layout.metadata_bytes.clone()].fill(0);
    }

    /// Runs the parser and verifies checksums.
    fn parse<O: Observe>(&mut self, packet: &mut Packet, now: Time, observer: &mut O) {
        let Pipeline { program, externs, .. } = self;
        let Some(parser) = &program.parser else { return };
        let error = parser.parse(program, externs, packet, now, observer);
        let mut wrong = false;
        for checksum in &program.verified {
            let mut machine = machine(program, externs, packet, now, observer);
            let valid = crate::expression::is_valid(&program.layout, machine.area, checksum.header);
            if valid && machine.applies(checksum) {
                let computed = machine.hash(checksum.calculation);
                let found = checksum.target.load(machine.area);
                wrong |= computed != found;
                let name = || checksum.name.clone();
                machine.observer.event(|| Event::Checksum {
                    name: name(),
                    verified: true,
                    computed,
                    found,
                });
            }
        }
        let known = &program.known;
        if let Some(cell) = known.parser_error {
            cell.store(&mut packet.area, error.into());
        }
        if let Some(cell) = known.checksum_error {
            cell.store(&mut packet.area, wrong.into());
        }
    }

    /// Runs the nodes of a control.
    fn control<O: Observe>(
        &mut self,
        start: u32,
        packet: &mut Packet,
        now: Time,
        observer: &mut O,
    ) {
        let Pipeline { program, externs, tables, profiles, key_scratch, .. } = self;
        let program = &*program;
        let mut machine = machine(program, externs, packet, now, observer);
        let mut node = start;
        while node != END && !machine.requests.exit {
            match &program.nodes[node as usize] {
                Node::Table(table) => {
                    let table = &mut tables[*table];
                    let entry = table.find(machine.area, key_scratch);
                    if O::ENABLED {
                        let event = table_event(table, machine.area, entry);
                        machine.observer.event(|| event);
                    }
                    node = if entry == NONE {
                        machine.miss(table)
                    } else {
                        machine.hit(table, entry, profiles)
                    };
                }
                Node::Condition { name, condition, if_true, if_false } => {
                    let holds = condition.holds(&machine.view(&[]));
                    machine.observer.event(|| Event::Condition { name: name.clone(), holds });
                    node = if holds { *if_true } else { *if_false };
                }
                Node::Call { action, next } => {
                    machine.act(*action, &[]);
                    node = *next;
                }
            }
        }
    }
}

fn clone_request(request: Option<(u32, u32)>) -> Option<CloneRequest> {
    request.map(|(session, field_list)| CloneRequest { session, field_list })
}

fn mark_metadata_valid(program: &Program, area: &mut [u8]) {
    for valid in &program.layout.metadata_valid {
        area[*valid as usize] = 1;
    }
}

/// What an action sees of a packet between parsing and deparsing.
#[inline(always)]
fn machine<'a, O: Observe>(
    program: &'a Program,
    externs: &'a mut Externs,
    packet: &'a mut Packet,
    now: Time,
    observer: &'a mut O,
) -> Machine<'a, O> {
    let end = packet.frame.len().min(packet.at.saturating_add(packet.truncated_to));
    Machine {
        program,
        externs,
        area: &mut packet.area,
        requests: &mut packet.requests,
        length_register: &mut packet.length_register,
        truncated_to: &mut packet.truncated_to,
        ingress_length: packet.ingress_length,
        payload: &packet.frame[packet.at..end],
        now,
        observer,
    }
}

fn table_event(table: &Table, area: &[u8], entry: u32) -> Event {
    let parts = table.shape.parts.iter();
    Event::Table {
        table: table.name.clone(),
        key: parts.map(|part| (part.name.clone(), part.place.load(area))).collect(),
        entry: (entry != NONE).then_some(entry),
    }
}

impl<O: Observe> Machine<'_, O> {
    /// Whether a checksum is wanted for this packet.
    fn applies(&self, checksum: &Checksum) -> bool {
        checksum.condition.as_ref().is_none_or(|condition| condition.holds(&self.view(&[])))
    }

    /// Runs the action of the entry that was hit; returns the next node.
    #[inline]
    fn hit(&mut self, table: &mut Table, entry: u32, profiles: &[ActionProfile]) -> u32 {
        table.hit(entry, self.ingress_length, self.now);
        if let Some(meter) = table.meter {
            let amount = meter.unit.amount(self.ingress_length);
            let color = table.meter_mut(entry).color(amount, self.now);
            meter.result.store(self.area, color as u64);
        }
        let (target, data) = table.target(entry);
        self.aim(table, target, data, profiles, 0)
    }

    /// Runs the default action; returns the next node.
    #[inline]
    fn miss(&mut self, table: &Table) -> u32 {
        match table.default.target {
            Some(target) => self.aim(table, target, &table.default.data, &[], 1),
            None => table.miss_next,
        }
    }

    /// Runs what an entry points at; `side` is 0 after a hit, 1 after a miss.
    #[inline]
    fn aim(
        &mut self,
        table: &Table,
        target: Target,
        data: &[u64],
        profiles: &[ActionProfile],
        side: usize,
    ) -> u32 {
        let profile = table.profile.and_then(|profile| profiles.get(profile));
        let member = match (target, profile) {
            (Target::Action(position), _) => {
                let action = table.actions[position as usize];
                self.act(action.action, data);
                return action.next[side];
            }
            (Target::Member(id), Some(profile)) => profile.find_member(id),
            (Target::Group(id), Some(profile)) => {
                let hash = profile.selector.as_ref().map_or(0, |selector| {
                    let Externs { hash_input, hashes, .. } = &mut *self.externs;
                    let layout = &self.program.layout;
                    selector.recipe.gather(layout, self.area, self.payload, hash_input);
                    hashes[selector.hash].of(hash_input)
                });
                profile.select(id, hash)
            }
            _ => None,
        };
        // A group without members is a miss.
        let Some(member) = member else { return table.miss_next };
        self.act(member.action, &member.limbs);
        let listed = table.actions.iter().find(|action| action.action == member.action);
        listed.map_or(table.miss_next, |action| action.next[side])
    }

    /// Runs an action.
    #[inline]
    fn act(&mut self, action: usize, data: &[u64]) {
        let program = self.program;
        let compiled = &program.actions[action];
        if O::ENABLED {
            let before = self.area.to_vec();
            let names = compiled.params.iter().map(|(name, _)| name.clone());
            let data_named = || names.zip(compiled.values(data)).collect();
            self.observer
                .event(|| Event::Action { name: compiled.name.clone(), data: data_named() });
            self.run(&compiled.steps, data);
            self.report_changes(&before);
        } else {
            self.run(&compiled.steps, data);
        }
    }

    /// Reports every field whose value is not what it was.
    fn report_changes(&mut self, before: &[u8]) {
        for header in &self.program.layout.headers {
            let valid = header.valid as usize;
            if before[valid] != self.area[valid] {
                let [old, new] =
                    [before[valid], self.area[valid]].map(|valid| Int::from(u32::from(valid)));
                let field = format!("{}.$valid$", header.name);
                self.observer.event(|| Event::FieldChanged { field, before: old, after: new });
            }
            for field in &self.program.layout.kinds[header.kind].fields {
                let place = field.place.at(header.base);
                let (old, new) = (place.load(before), place.load(self.area));
                if old != new {
                    let field = format!("{}.{}", header.name, field.name);
                    self.observer.event(|| Event::FieldChanged { field, before: old, after: new });
                }
            }
        }
    }
}
