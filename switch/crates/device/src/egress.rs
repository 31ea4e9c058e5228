//! From a departure to a frame on the line.

use pipeline::{EgressWay, InstanceType, Queueing, after_egress};
use traffic::Departure;
use units::{Bytes, HasLength, PortId, Time};

use crate::capture::Fate;
use crate::device::Device;
use crate::ecn;
use crate::fate::Queued;
use crate::lines::Arrivals;
use crate::trace::{Identity, TraceEvent};
use crate::watch::PacketStepKind;

impl Device {
    /// Runs egress on a packet that the scheduler has chosen, at the instant of its departure.
    pub(crate) fn run_egress(&mut self, departure: Departure<Queued>) {
        let queueing = self.queueing(&departure);
        let Departure { packet: mut queued, output: port, class, at, mut line_free_at, .. } =
            departure;
        let marked = departure.residence.marked;
        if marked {
            self.log.note_mark(at, &queued, (port, class));
        }
        if let Err(reason) = self.check_port(port) {
            return self.drop_packet(at, queued, reason, Some((port, class)));
        }
        let length_in_queue = queued.length();
        self.tracer.note(queued.identity, at, || TraceEvent::Departed { port, queueing });
        let pipeline = &mut self.programs.of(queued.generation).pipeline;
        let end = match queued.identity {
            Identity { number, is_followed: true } => {
                let watch = &mut self.tracer.watch(number, at);
                pipeline.egress_observed(&mut queued.packet, &queueing, at, watch)
            }
            _ => pipeline.egress(&mut queued.packet, &queueing, at),
        };
        let fate = after_egress(&end);
        if let Some(request) = fate.clone {
            let (list, kind) = (request.field_list, InstanceType::EgressClone);
            self.send_clones(at, &mut queued, request, kind, |pipeline, original| {
                pipeline.clone_from_egress(original, list)
            });
        }
        match fate.way {
            EgressWay::Drop(reason) => {
                self.drop_packet(at, queued, reason, Some((port, class)));
            }
            EgressWay::Recirculate { field_list } => self.recirculate(at, queued, port, field_list),
            EgressWay::Transmit => {
                self.deparse(&mut queued, at);
                let (identity, input) = (queued.identity, queued.packet.ingress_port());
                let mut frame = self.take_frame(queued);
                if marked {
                    ecn::set_congestion_experienced(frame.head_mut());
                }
                let length = frame.length();
                if length != length_in_queue {
                    line_free_at = self.traffic.settle(port, length);
                }
                self.books.count_transmitted(port, length);
                if self.log.follows_packets() {
                    let (output, until) = (port, line_free_at);
                    let kind = PacketStepKind::Transmitted { output, length, until };
                    self.log.note_packet(at, identity.number, input, kind);
                }
                self.tracer.note(identity, at, || TraceEvent::Transmitted {
                    port,
                    frame: frame.bytes().to_vec(),
                });
                self.recorder.note(at, input, Fate::Transmitted { port, class }, frame.bytes());
                self.begin_transmitting(at, port, frame);
            }
        }
    }

    /// The packet, as it would have left by `port`, begins again at ingress.
    fn recirculate(&mut self, at: Time, mut queued: Queued, port: PortId, field_list: u32) {
        self.deparse(&mut queued, at);
        let pipeline = &mut self.programs.of(queued.generation).pipeline;
        pipeline.recirculate(&mut queued.packet, field_list);
        self.tracer.note(queued.identity, at, || TraceEvent::Recirculated);
        if self.log.follows_packets() {
            let (number, input) = (queued.identity.number, queued.packet.ingress_port());
            let (output, length) = (port, queued.length());
            let head = self.log.head_of(queued.packet.received());
            let kind = PacketStepKind::Recirculated { output, length, head };
            self.log.note_packet(at, number, input, kind);
        }
        self.run_ingress(at, queued, Arrivals::Several);
    }

    /// Puts the headers back in front of the payload.
    fn deparse(&mut self, queued: &mut Queued, at: Time) {
        let pipeline = &mut self.programs.of(queued.generation).pipeline;
        match queued.identity {
            Identity { number, is_followed: true } => {
                let watch = &mut self.tracer.watch(number, at);
                pipeline.deparse_observed(&mut queued.packet, at, watch);
            }
            _ => pipeline.deparse(&mut queued.packet, at),
        }
    }

    /// The queueing metadata for the program.
    fn queueing(&self, departure: &Departure<Queued>) -> Queueing {
        let stay = &departure.residence;
        let queue = self.traffic.queue(departure.output, departure.class);
        let limit = queue.and_then(|queue| queue.config.limit.bytes);
        // Depths above 2^32 packets do not occur: that is more memory than there is.
        let packets = |depth: traffic::Depth| u32::try_from(depth.packets).unwrap_or(u32::MAX);
        Queueing {
            class: departure.class,
            enqueued: stay.enqueued_at,
            departed: departure.at,
            depth_packets_at_enqueue: packets(stay.enqueue_depth),
            depth_packets_at_dequeue: packets(stay.dequeue_depth),
            depth_bytes_at_enqueue: stay.enqueue_depth.bytes.count(),
            depth_bytes_at_dequeue: stay.dequeue_depth.bytes.count(),
            limit_bytes: limit.map_or(0, Bytes::count),
            input_span: departure.input_span(),
            input_depth_packets: packets(stay.input_depth),
            buffer_bytes: self.traffic.held().bytes.count(),
            utilisation_basis_points: departure.utilisation_basis_points.into(),
            verdict: stay.marked.into(),
        }
    }
}
