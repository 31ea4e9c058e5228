//! From a packet at the parser to packets in queues.

use pipeline::{
    CloneRequest, IngressWay, InstanceType, MoreCopies, Packet, Pipeline, Reading, Replica,
    after_ingress,
};
use traffic::{Arrival, Departure, Residence, Verdict};
use units::{ClassId, DropReason, HasLength, Time};

use crate::device::Device;
use crate::ecn;
use crate::fate::{Output, Queued};
use crate::lines::Arrivals;
use crate::queues::At;
use crate::trace::{Identity, TraceEvent};
use crate::watch::PacketStepKind;

impl Device {
    /// Runs ingress on the packet until it is in a queue, replicated or dropped. The order of
    /// events is that of [`after_ingress`].
    pub(crate) fn run_ingress(&mut self, now: Time, mut queued: Queued, mut arrivals: Arrivals) {
        loop {
            if !self.budgets.take(&mut queued.budget) {
                return self.drop_packet(now, queued, DropReason::TooManyPasses, None);
            }
            let pipeline = &mut self.programs.of(queued.generation).pipeline;
            let end = match queued.identity {
                Identity { number, is_followed: true } => {
                    let queues = At { now, traffic: &self.traffic };
                    let watch = &mut self.tracer.watch(number, now).with(&queues);
                    pipeline.ingress_observed(&mut queued.packet, now, watch)
                }
                _ if pipeline.reads_queues() => {
                    let queues = At { now, traffic: &self.traffic };
                    pipeline.ingress_observed(&mut queued.packet, now, &mut Reading(&queues))
                }
                _ => pipeline.ingress(&mut queued.packet, now),
            };
            let fate = after_ingress(&end);
            if let Some(request) = fate.clone {
                arrivals = Arrivals::Several;
                self.clone_in_ingress(now, &mut queued, request);
            }
            if let Some(list) = fate.digest {
                self.tracer.note(queued.identity, now, || TraceEvent::Digest { list });
                let pipeline = &self.programs.of(queued.generation).pipeline;
                let values = pipeline.digest(&queued.packet, list);
                self.outputs.extend(values.map(|values| Output::Digest { at: now, list, values }));
            }
            match fate.way {
                IngressWay::Drop(reason) => {
                    return self.drop_packet(now, queued, reason, None);
                }
                IngressWay::Multicast { group, more } => {
                    self.leave_ingress(&mut queued);
                    return self.multicast(now, queued, (group, more), end.class);
                }
                IngressWay::Resubmit { field_list } => {
                    let pipeline = &mut self.programs.of(queued.generation).pipeline;
                    pipeline.resubmit(&mut queued.packet, field_list);
                    self.tracer.note(queued.identity, now, || TraceEvent::Resubmitted);
                }
                IngressWay::Unicast { port, class } => {
                    self.leave_ingress(&mut queued);
                    let copy = Replica { port, rid: 0 };
                    return self.dispatch(now, queued, copy, class, InstanceType::Normal, arrivals);
                }
            }
        }
    }

    /// The packet goes on to egress, with headers or as bytes.
    fn leave_ingress(&mut self, queued: &mut Queued) {
        self.programs.of(queued.generation).pipeline.leave_ingress(&mut queued.packet);
    }

    /// Hands a packet to the queue of its port and class; one that comes alone to an idle port is
    /// through it already.
    pub(crate) fn dispatch(
        &mut self,
        now: Time,
        mut queued: Queued,
        to: Replica,
        class: ClassId,
        kind: InstanceType,
        arrivals: Arrivals,
    ) {
        if self.programs.of(queued.generation).pipeline.recirculates_at(to.port) {
            return self.pass_around(now, queued, to, class, kind);
        }
        let fits =
            self.check_port(to.port).and_then(|()| self.check_memory(to.port, queued.length()));
        if let Err(reason) = fits {
            return self.drop_packet(now, queued, reason, Some((to.port, class)));
        }
        // The descendants of a mirrored drop are from the mirror, too.
        queued.from_mirror |= kind == InstanceType::Dropped;
        let pipeline = &mut self.programs.of(queued.generation).pipeline;
        pipeline.dispatch(&mut queued.packet, to.port, kind, to.rid);
        let arrival = Arrival {
            input: queued.packet.ingress_port(),
            output: to.port,
            class,
            ecn: ecn::of(queued.packet.received()),
            precedence: pipeline.drop_precedence(&queued.packet),
            rank: queued.packet.rank(),
            number: queued.identity.number,
            packet: queued,
        };
        let identity = arrival.packet.identity;
        self.tracer.note(identity, now, || TraceEvent::Queued { port: to.port, class });
        let arrival = match arrivals {
            Arrivals::One => match self.traffic.pass_packet(now, arrival) {
                Ok(departure) => return self.run_egress(departure),
                Err(arrival) => arrival,
            },
            Arrivals::Several => arrival,
        };
        let length = arrival.packet.length();
        let verdict = self.traffic.handle_packet(now, arrival);
        self.take_steps();
        match verdict {
            Verdict::Held => self.memory.take(to.port, length),
            Verdict::Dropped(dropped) => self.drop_in_traffic(dropped),
        }
    }

    /// A packet for the port from which it comes back to ingress: there is no line behind it, and so
    /// no queue.
    fn pass_around(
        &mut self,
        now: Time,
        mut queued: Queued,
        to: Replica,
        class: ClassId,
        kind: InstanceType,
    ) {
        let pipeline = &mut self.programs.of(queued.generation).pipeline;
        pipeline.dispatch(&mut queued.packet, to.port, kind, to.rid);
        let residence = Residence { arrived_at: now, enqueued_at: now, ..Residence::default() };
        self.run_egress(Departure {
            input: queued.packet.ingress_port(),
            output: to.port,
            class,
            at: now,
            line_free_at: now,
            residence,
            utilisation_basis_points: 0,
            packet: queued,
        });
    }

    /// A copy of the packet to each member of the group, and further ones; the packet itself is gone.
    fn multicast(
        &mut self,
        now: Time,
        mut queued: Queued,
        (group, more): (u32, MoreCopies),
        class: ClassId,
    ) {
        let mut replicas = std::mem::take(&mut self.replicas);
        replicas.clear();
        let replication = &self.programs.of(queued.generation).pipeline.replication;
        replication.replicate(group, &mut replicas);
        replication.replicate(more.group, &mut replicas);
        replicas.extend(more.ports.into_iter().flatten().map(|port| Replica { port, rid: 0 }));
        if replicas.is_empty() {
            self.drop_packet(now, queued, DropReason::NoReplica, None);
        } else {
            self.books.count_copies(replicas.len(), true);
            for replica in &replicas {
                let copy = self.copy(&mut queued, |pipeline, original| pipeline.copy(original));
                self.dispatch_copy(now, copy, *replica, class, InstanceType::Replicated);
            }
            self.tracer.note(queued.identity, now, || TraceEvent::Replicated { group });
            if self.log.follows_packets() {
                let (number, input) = (queued.identity.number, queued.packet.ingress_port());
                self.log.note_packet(now, number, input, PacketStepKind::Replicated { group });
            }
            self.recycle_packet(queued);
        }
        self.replicas = replicas;
    }

    fn clone_in_ingress(&mut self, now: Time, queued: &mut Queued, request: CloneRequest) {
        let list = request.field_list;
        let make = |pipeline: &mut Pipeline, original: &Packet| {
            pipeline.clone_from_ingress(original, list, now)
        };
        self.send_clones(now, queued, request, InstanceType::IngressClone, make);
    }

    /// A clone to everywhere its session says; to an unknown session, nowhere.
    pub(crate) fn send_clones(
        &mut self,
        now: Time,
        original: &mut Queued,
        request: CloneRequest,
        kind: InstanceType,
        make: impl FnOnce(&mut Pipeline, &Packet) -> Packet,
    ) {
        let mut replicas = std::mem::take(&mut self.replicas);
        replicas.clear();
        let pipeline = &self.programs.of(original.generation).pipeline;
        let session = pipeline.replication.session(request.session).cloned();
        if let Some(session) = session {
            pipeline.replication.replicate_clone(&session, &mut replicas);
            self.books.count_copies(replicas.len(), false);
            let mut clone = self.copy(original, make);
            for replica in &replicas {
                let mut copy = self.copy(&mut clone, |pipeline, clone| pipeline.copy(clone));
                copy.packet.cut(session.length_bytes_max);
                self.dispatch_copy(now, copy, *replica, session.class, kind);
            }
            self.recycle_packet(clone);
        }
        self.replicas = replicas;
    }

    /// Hands a copy to its queue, if its original and the other copies have left it a step.
    fn dispatch_copy(
        &mut self,
        now: Time,
        mut copy: Queued,
        to: Replica,
        class: ClassId,
        kind: InstanceType,
    ) {
        let from = copy.identity.number;
        copy.identity.number = self.next_number();
        self.tracer.note(copy.identity, now, || TraceEvent::Copied { from, kind });
        if self.log.follows_packets() {
            let (number, input) = (copy.identity.number, copy.packet.ingress_port());
            let (output, length) = (to.port, copy.length());
            let head = self.log.head_of(copy.packet.received());
            let kind = PacketStepKind::Copied { from, kind, output, length, head };
            self.log.note_packet(now, number, input, kind);
        }
        if self.budgets.take(&mut copy.budget) {
            self.dispatch(now, copy, to, class, kind, Arrivals::Several);
        } else {
            self.drop_packet(now, copy, DropReason::TooManyCopies, Some((to.port, class)));
        }
    }

    /// Another packet of the same program, with the same budget.
    fn copy(
        &mut self,
        original: &mut Queued,
        make: impl FnOnce(&mut Pipeline, &Packet) -> Packet,
    ) -> Queued {
        let program = self.programs.of(original.generation);
        program.packets += 1;
        let packet = make(&mut program.pipeline, &original.packet);
        let budget = self.budgets.share(&mut original.budget);
        let (generation, identity) = (original.generation, original.identity);
        Queued { packet, generation, budget, identity, from_mirror: original.from_mirror }
    }
}
