//! The pipeline's work for a PSA program.

use units::{ClassId, PortId, Time};

use super::{PORT_CPU, PORT_RECIRCULATE, Psa};
use crate::action::{Machine, Routine};
use crate::fate::{CloneRequest, EgressEnd, IngressEnd, InstanceType};
use crate::known::Queueing;
use crate::native::{Compiled, Native};
use crate::observe::{Event, Observe};
use crate::packet::{Body, Packet};
use crate::parser::Parser;
use crate::pipeline::Pipeline;
use crate::place::Slot;
use crate::program::Program;

/// The upper bits of the 32 bits of a special port.
const SPECIAL: u32 = 0xffff_0000;

/// A port as PSA numbers it.
fn wide(port: PortId, cpu_port: PortId) -> u64 {
    match port {
        port if port == cpu_port => u64::from(SPECIAL | u32::from(PORT_CPU.0)),
        PORT_RECIRCULATE => u64::from(SPECIAL | u32::from(port.0)),
        port => port.0.into(),
    }
}

/// A port of PSA as the switch numbers it; one that no switch has if there is none.
fn narrow(port: u64, cpu_port: PortId) -> PortId {
    match (port as u32 & SPECIAL, PortId(port as u16)) {
        (SPECIAL, PORT_CPU) => cpu_port,
        (SPECIAL, PORT_RECIRCULATE) => PORT_RECIRCULATE,
        (0, PORT_CPU | PORT_RECIRCULATE) | (1.., _) => PortId(u16::MAX),
        (0, port) => port,
    }
}

/// PSA's `packet_path` in ingress.
fn path_in(kind: InstanceType) -> u64 {
    match kind {
        InstanceType::Resubmitted => 5,
        InstanceType::Recirculated => 6,
        _ => 0,
    }
}

/// The same in egress. A copy from the mirror of drops counts as a clone.
fn path_out(kind: InstanceType) -> u64 {
    match kind {
        InstanceType::Replicated => 2,
        InstanceType::IngressClone => 3,
        InstanceType::EgressClone | InstanceType::Dropped => 4,
        _ => 1,
    }
}

fn store(slot: Option<Slot>, area: &mut [u8], value: u64) {
    if let Some(slot) = slot {
        slot.store(area, value);
    }
}

/// One of the two parsers, and its machine code.
pub(crate) type Parsing = (fn(&Program) -> Option<&Parser>, fn(&Compiled) -> Option<&dyn Native>);

impl Psa {
    fn egress_parser_of(program: &Program) -> Option<&Parser> {
        program.psa.as_ref()?.egress_parser.as_ref()
    }

    fn ingress_deparser_of(program: &Program) -> Option<&Routine> {
        program.psa.as_ref()?.ingress_deparser.as_ref()
    }
}

/// [`Pipeline::ingress`] and the others for such a program.
impl Pipeline {
    /// Whether what goes to a port begins again at ingress, behind egress, and waits in no queue.
    #[inline]
    pub fn recirculates_at(&self, port: PortId) -> bool {
        if self.program.is_v1model {
            return false;
        }
        match &self.program.tofino {
            Some(tofino) => tofino.recirculates_at(port),
            None => port == PORT_RECIRCULATE,
        }
    }

    /// Ingress and what the deparser behind it computes; the headers stay where they are until the
    /// packet [leaves](Pipeline::leave_ingress).
    pub(crate) fn psa_ingress<O: Observe>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        observer: &mut O,
    ) -> IngressEnd {
        let Some(psa) = &self.program.psa else { return IngressEnd::default() };
        let slots = psa.ingress;
        let port = match packet.kind {
            InstanceType::Recirculated => wide(PORT_RECIRCULATE, psa.cpu_port),
            _ => wide(packet.ingress_port(), psa.cpu_port),
        };
        let path = path_in(packet.kind);
        let area = &mut packet.area;
        for (slot, value) in [
            (slots.parser_port, port),
            (slots.port, port),
            (slots.parser_path, path),
            (slots.path, path),
            (slots.timestamp, now.whole_us()),
        ] {
            store(slot, area, value);
        }
        let parser: Parsing = (|program| program.parser.as_ref(), Compiled::code::<O>);
        let error = self.parse_by(parser, packet, now, observer);
        let area = &mut packet.area;
        store(slots.error, area, error);
        for slot in [slots.class, slots.clone, slots.resubmit, slots.group] {
            slot.store(area, 0);
        }
        slots.drop.store(area, 1);
        observer.event(|| Event::Control { name: "ingress".to_owned() });
        self.externs.begin_block();
        self.control(self.program.ingress, packet, now, observer);
        self.run_deparser(Psa::ingress_deparser_of, packet, now, observer);
        let Some(psa) = &self.program.psa else { return IngressEnd::default() };
        let requests = std::mem::take(&mut packet.requests);
        let says = |slot: Slot| slot.load(&packet.area);
        let drops = says(slots.drop) != 0;
        let clones = says(slots.clone) != 0;
        let goes = |slot: Slot| if drops { 0 } else { says(slot) };
        IngressEnd {
            clone: clones.then(|| CloneRequest {
                session: says(slots.session) as u32,
                field_list: psa.ways.clone_i2e,
            }),
            digest: requests.digest,
            resubmit: if goes(slots.resubmit) != 0 { psa.ways.resubmit } else { 0 },
            multicast_group: goes(slots.group) as u32,
            more_copies: None,
            egress_port: (!drops).then(|| narrow(says(slots.egress_port), psa.cpu_port)),
            class: ClassId(says(slots.class) as u8),
            stopped: requests.stopped,
        }
    }

    /// The last step of a packet in front of the queues: its headers become bytes again. Of a program
    /// for v1model they do so when it leaves the switch.
    pub fn leave_ingress(&mut self, packet: &mut Packet) {
        if self.program.is_v1model {
            return;
        }
        if self.program.tofino.is_some() {
            return self.tofino_leave_ingress(packet);
        }
        let Some(psa) = &self.program.psa else { return };
        packet.keep_seal_of_payload();
        psa.emitted.deparse(&self.program.layout, self.compiled.ingress_headers(), packet);
        self.enter_egress(packet, psa.ways.normal);
    }

    /// Egress will parse the deparsed bytes.
    fn enter_egress(&self, packet: &mut Packet, kept: Option<u32>) {
        packet.start_at_headers();
        match kept {
            Some(list) => self.clear_but(packet, list),
            None => self.clear_headers(packet),
        }
    }

    /// Egress from its parser on, and what its deparser computes.
    pub(crate) fn psa_egress<O: Observe>(
        &mut self,
        packet: &mut Packet,
        queueing: &Queueing,
        now: Time,
        observer: &mut O,
    ) -> EgressEnd {
        let Some(psa) = &self.program.psa else { return EgressEnd::default() };
        let slots = psa.egress;
        let (port, path) = (wide(packet.egress_port(), psa.cpu_port), path_out(packet.kind));
        let rid = packet.rid.into();
        let area = &mut packet.area;
        for (slot, value) in [
            (slots.parser_port, port),
            (slots.port, port),
            (slots.deparser_port, port),
            (slots.parser_path, path),
            (slots.path, path),
            (slots.instance, rid),
            (slots.class, queueing.class.0.into()),
            (slots.timestamp, now.whole_us()),
        ] {
            store(slot, area, value);
        }
        let parser: Parsing = (Psa::egress_parser_of, Compiled::egress_parser::<O>);
        let error = self.parse_by(parser, packet, now, observer);
        let area = &mut packet.area;
        store(slots.error, area, error);
        slots.clone.store(area, 0);
        slots.drop.store(area, 0);
        observer.event(|| Event::Control { name: "egress".to_owned() });
        self.externs.begin_block();
        self.control(self.program.egress, packet, now, observer);
        self.run_deparser(|program| program.deparser.as_ref(), packet, now, observer);
        let Some(psa) = &self.program.psa else { return EgressEnd::default() };
        let says = |slot: Slot| slot.load(&packet.area);
        let drops = says(slots.drop) != 0;
        let recirculates = !drops && packet.egress_port() == PORT_RECIRCULATE;
        EgressEnd {
            clone: (says(slots.clone) != 0).then(|| CloneRequest {
                session: says(slots.session) as u32,
                field_list: psa.ways.clone_e2e,
            }),
            recirculate: if recirculates { psa.ways.recirculate } else { 0 },
            is_dropped: drops,
            stopped: packet.requests.stopped,
        }
    }

    /// A clone of a packet as egress lets it leave, in front of the egress parser again.
    pub(crate) fn psa_clone_from_egress(&mut self, packet: &Packet, list: u32) -> Packet {
        let mut clone = self.copy(packet);
        clone.keep_seal_of_payload();
        self.program.emitted.deparse(&self.program.layout, None, &mut clone);
        self.enter_egress(&mut clone, Some(list));
        clone
    }

    /// One of the two parsers; returns the error it ends with.
    pub(crate) fn parse_by<O: Observe>(
        &mut self,
        (parser, native): Parsing,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) -> u64 {
        let Pipeline { program, externs, compiled, .. } = self;
        externs.begin_block();
        let Some(parser) = parser(program) else { return 0 };
        parser.parse(program, native(compiled), externs, packet, now, observer).into()
    }

    /// The computations of one of the two deparsers.
    pub(crate) fn run_deparser<O: Observe>(
        &mut self,
        which: fn(&Program) -> Option<&Routine>,
        packet: &mut Body,
        now: Time,
        observer: &mut O,
    ) {
        let Pipeline { program, externs, .. } = self;
        externs.begin_block();
        if let Some(routine) = which(program) {
            Machine::new(program, externs, packet, now, observer).run_routine(routine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_the_same_number_on_both_sides_but_for_the_special_ones() {
        let (wide, narrow) = (|port| wide(port, PORT_CPU), |port| narrow(port, PORT_CPU));
        assert_eq!((narrow(3), wide(PortId(3))), (PortId(3), 3));
        assert_eq!((narrow(0xffff_fffa), wide(PORT_RECIRCULATE)), (PORT_RECIRCULATE, 0xffff_fffa));
        assert_eq!((narrow(0xffff_fffd), wide(PORT_CPU)), (PORT_CPU, 0xffff_fffd));
        // Nobody's: neither cut to 16 bits nor taken for a special one.
        assert_eq!(narrow(0x1_0003), PortId(u16::MAX));
        assert_eq!(narrow(0xfffa), PortId(u16::MAX));
    }

    #[test]
    fn the_controllers_port_has_two_names_one_of_them_psas() {
        let cpu = PortId(510);
        assert_eq!([narrow(0xffff_fffd, cpu), narrow(510, cpu)], [cpu; 2]);
        assert_eq!(wide(cpu, cpu), 0xffff_fffd);
    }
}
