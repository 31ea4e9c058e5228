//! The pipeline of a program for Tofino.

use units::{ClassId, PortId, Time};

use super::Tofino;
use super::front::{Stay, low};
use crate::action::Routine;
use crate::fate::{CloneRequest, EgressEnd, IngressEnd, InstanceType, MoreCopies};
use crate::known::Queueing;
use crate::native::Compiled;
use crate::observe::{Event, Observe};
use crate::packet::Packet;
use crate::parser::Parser;
use crate::pipeline::Pipeline;
use crate::place::Slot;
use crate::program::Program;
use crate::psa::NO_LIST;
use crate::psa::run::Parsing;

/// No port: what a packet has that ingress sends nowhere.
const NOWHERE: u64 = 0x1ff;
/// Bits of `drop_ctl`.
const DROP_PACKET: u64 = 1;
const DROP_COPY_TO_CPU: u64 = 2;
const DROP_MIRROR: u64 = 4;

/// Bits of `parser_err`, by number in `core.p4`.
fn error_bits(error: u64) -> u64 {
    match error {
        0 => 0,
        // PacketTooShort: a part of a header is missing.
        1 => 2,
        // NoMatch, and whatever `verify` says.
        _ => 1,
    }
}

fn store(slot: Option<Slot>, area: &mut [u8], value: u64) {
    if let Some(slot) = slot {
        slot.store(area, value);
    }
}

fn load(slot: Option<Slot>, area: &[u8]) -> u64 {
    slot.map_or(0, |slot| slot.load(area))
}

impl Tofino {
    fn egress_parser_of(program: &Program) -> Option<&Parser> {
        program.tofino.as_ref()?.egress_parser.as_ref()
    }

    fn ingress_deparser_of(program: &Program) -> Option<&Routine> {
        program.tofino.as_ref()?.ingress_deparser.as_ref()
    }

    /// The mirror that a deparser asked for, unless `drop_ctl` forbids it.
    fn mirror(&self, area: &[u8], drop_ctl: u64) -> Option<CloneRequest> {
        let asked = load(self.slots.mirror, area) != 0 && drop_ctl & DROP_MIRROR == 0;
        let session = load(self.slots.mirror_session, area) as u32;
        asked.then_some(CloneRequest { session, field_list: NO_LIST })
    }
}

/// [`Pipeline::ingress`] and the others for such a program.
impl Pipeline {
    pub(crate) fn tofino_ingress<O: Observe>(
        &mut self,
        packet: &mut Packet,
        now: Time,
        observer: &mut O,
    ) -> IngressEnd {
        let Some(tofino) = &self.program.tofino else { return IngressEnd::default() };
        let (chip, slots) = (tofino.chip, tofino.slots);
        if packet.kind == InstanceType::Recirculated {
            packet.ingress_port = packet.egress_port;
        }
        let is_resubmitted = packet.kind == InstanceType::Resubmitted;
        if !is_resubmitted {
            packet.put_zeros_in_front(chip.port_metadata_bytes());
        }
        let front = chip.ingress_front(packet.ingress_port(), is_resubmitted, now);
        packet.put_in_front(front.bytes());
        let area = &mut packet.area;
        store(slots.ingress_timestamp, area, low(now.whole_ns(), 48));
        store(slots.egress_port, area, NOWHERE);
        let parser: Parsing = (|program| program.parser.as_ref(), Compiled::code::<O>);
        let error = error_bits(self.parse_by(parser, packet, now, observer));
        // `known` has the field if the program reads it.
        if error != 0 && self.program.known.parser_error.is_none() {
            return IngressEnd { stopped: packet.requests.stopped, ..IngressEnd::default() };
        }
        store(slots.ingress_error, &mut packet.area, error);
        observer.event(|| Event::Control { name: "ingress".to_owned() });
        self.externs.begin_block();
        self.control(self.program.ingress, packet, now, observer);
        self.run_deparser(Tofino::ingress_deparser_of, packet, now, observer);
        let Some(tofino) = &self.program.tofino else { return IngressEnd::default() };
        let requests = std::mem::take(&mut packet.requests);
        let area = &packet.area;
        let drop_ctl = load(slots.ingress_drop, area);
        let goes = drop_ctl & DROP_PACKET == 0;
        let resubmits = goes && load(slots.resubmit, area) != 0;
        let port = load(slots.egress_port, area);
        let port = (goes && port != NOWHERE).then_some(PortId(port as u16));
        let groups = slots.groups.map(|group| if goes { load(group, area) as u32 } else { 0 });
        let copied = drop_ctl & DROP_COPY_TO_CPU == 0 && load(slots.copy_to_cpu, area) != 0;
        let cpu = tofino.cpu_port.filter(|_| copied);
        let is_single = groups == [0, 0] && cpu.is_none();
        let more = MoreCopies { group: groups[1], ports: [port, cpu] };
        IngressEnd {
            clone: tofino.mirror(area, drop_ctl),
            digest: requests.digest,
            resubmit: if resubmits { NO_LIST } else { 0 },
            multicast_group: groups[0],
            more_copies: (!is_single).then_some(more),
            egress_port: port.filter(|_| is_single),
            class: ClassId(load(slots.queue, area) as u8),
            stopped: requests.stopped,
        }
    }

    /// The headers become bytes; all that is known of the packet besides is whether it passes by
    /// egress.
    pub(crate) fn tofino_leave_ingress(&mut self, packet: &mut Packet) {
        let Some(tofino) = &self.program.tofino else { return };
        let bypass = tofino.slots.bypass_egress;
        let passes_by = load(bypass, &packet.area);
        packet.keep_seal_of_payload();
        tofino.emitted.deparse(&self.program.layout, self.compiled.ingress_headers(), packet);
        self.start_afresh(packet);
        store(bypass, &mut packet.area, passes_by);
    }

    pub(crate) fn tofino_egress<O: Observe>(
        &mut self,
        packet: &mut Packet,
        queueing: &Queueing,
        now: Time,
        observer: &mut O,
    ) -> EgressEnd {
        let Some(tofino) = &self.program.tofino else { return EgressEnd::default() };
        let (chip, slots) = (tofino.chip, tofino.slots);
        let port = packet.egress_port();
        let recirculate = if chip.recirculates_at(port) { NO_LIST } else { 0 };
        if load(slots.bypass_egress, &packet.area) != 0 {
            return EgressEnd { recirculate, ..EgressEnd::default() };
        }
        // A mirrored packet may be cut.
        packet.start_at_headers();
        let front = chip.egress_front(&Stay {
            port,
            rid: packet.rid,
            queueing,
            is_deflected: packet.kind == InstanceType::Dropped,
            length_bytes: packet.bytes().len(),
        });
        packet.put_in_front(front.bytes());
        store(slots.egress_timestamp, &mut packet.area, low(now.whole_ns(), 48));
        let parser: Parsing = (Tofino::egress_parser_of, Compiled::egress_parser::<O>);
        let error = error_bits(self.parse_by(parser, packet, now, observer));
        store(slots.egress_error, &mut packet.area, error);
        observer.event(|| Event::Control { name: "egress".to_owned() });
        self.externs.begin_block();
        self.control(self.program.egress, packet, now, observer);
        self.run_deparser(|program| program.deparser.as_ref(), packet, now, observer);
        let Some(tofino) = &self.program.tofino else { return EgressEnd::default() };
        let drop_ctl = load(slots.egress_drop, &packet.area);
        EgressEnd {
            clone: tofino.mirror(&packet.area, drop_ctl),
            recirculate,
            is_dropped: drop_ctl & DROP_PACKET != 0,
            stopped: packet.requests.stopped,
        }
    }

    /// The packet as it was received, behind the header that the deparser made for it.
    pub(crate) fn tofino_mirror_from_ingress(&mut self, packet: &Packet) -> Packet {
        let mut mirrored = self.copy(packet);
        mirrored.receive_again(packet);
        if let Some(tofino) = &self.program.tofino {
            tofino.ingress_mirror.deparse(&self.program.layout, None, &mut mirrored);
        }
        self.start_afresh(&mut mirrored);
        mirrored
    }

    /// The packet as it leaves, behind the header that the deparser made for it.
    pub(crate) fn tofino_mirror_from_egress(&mut self, packet: &Packet) -> Packet {
        let mut mirrored = self.copy(packet);
        mirrored.keep_seal_of_payload();
        let layout = &self.program.layout;
        self.program.emitted.deparse(layout, None, &mut mirrored);
        if let Some(tofino) = &self.program.tofino {
            tofino.egress_mirror.deparse(layout, None, &mut mirrored);
        }
        self.start_afresh(&mut mirrored);
        mirrored
    }

    /// The packet as it was received, behind what the deparser sends along in place of port
    /// metadata.
    pub(crate) fn tofino_resubmit(&mut self, packet: &mut Packet) {
        packet.at = packet.start;
        let received_bytes = packet.received().len();
        if let Some(tofino) = &self.program.tofino {
            let size = tofino.chip.port_metadata_bytes();
            tofino.resubmit.deparse(&self.program.layout, None, packet);
            packet.fill_up_front(received_bytes, size);
        }
        self.start_over(packet, NO_LIST, InstanceType::Resubmitted, received_bytes);
    }

    /// The deparsed bytes are all that the next parser sees.
    fn start_afresh(&self, packet: &mut Packet) {
        packet.start_at_headers();
        self.clear_but(packet, NO_LIST);
    }
}
