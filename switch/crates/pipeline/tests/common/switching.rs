//! A whole switch without queues: the driving loop of the crate's documentation, run to its end.
//!
//! For tests, STF and traces. Copies leave in the order simple_switch enqueues them.

use std::collections::VecDeque;

use bits::Int;
use frames::{Frame, Pool};
use pipeline::{
    CloneRequest, EgressWay, FRAME_LENGTH_MAX, IngressWay, InstanceType, Observe, Packet, Pipeline,
    Queueing, after_egress, after_ingress,
};
use units::{DropReason, PortId, Time};

/// How often one frame may pass through ingress: programs that resubmit for ever end here.
const PASSES_MAX: usize = 64;
/// How many copies one frame may become.
const COPIES_MAX: usize = 4096;

/// The result of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A digest for the control plane.
    Digest {
        /// Its list.
        list: u32,
        /// Its values.
        values: Vec<Int>,
    },
    /// A packet ended inside the switch.
    Drop(DropReason),
    /// A frame left.
    Transmit {
        /// The port.
        port: PortId,
        /// Its bytes.
        frame: Vec<u8>,
    },
}

/// Work still to do.
enum Stage {
    Ingress(Packet),
    Egress(Packet),
}

/// Runs one frame through the switch until nothing is left of it inside.
pub fn run_to_completion<O: Observe>(
    pipeline: &mut Pipeline,
    port: PortId,
    frame: &[u8],
    now: Time,
    observer: &mut O,
) -> Vec<Output> {
    let mut outputs = Vec::new();
    if frame.len() > FRAME_LENGTH_MAX {
        return vec![Output::Drop(DropReason::TooLong)];
    }
    let packet = pipeline.receive(&mut Pool::default(), port, Frame::new(frame), now);
    let mut work = VecDeque::from([Stage::Ingress(packet)]);
    let (mut passes, mut copies) = (0, 0);
    while let Some(stage) = work.pop_front() {
        match stage {
            Stage::Ingress(packet) if passes < PASSES_MAX => {
                passes += 1;
                ingress(pipeline, packet, now, observer, &mut work, &mut outputs);
            }
            Stage::Egress(packet) if copies < COPIES_MAX => {
                copies += 1;
                egress(pipeline, packet, now, observer, &mut work, &mut outputs);
            }
            Stage::Ingress(packet) | Stage::Egress(packet) => {
                outputs.push(Output::Drop(DropReason::TooManyPasses));
                pipeline.recycle(packet);
            }
        }
    }
    outputs
}

fn ingress<O: Observe>(
    pipeline: &mut Pipeline,
    mut packet: Packet,
    now: Time,
    observer: &mut O,
    work: &mut VecDeque<Stage>,
    outputs: &mut Vec<Output>,
) {
    let end = pipeline.ingress_observed(&mut packet, now, observer);
    let fate = after_ingress(&end);
    if let Some(request) = fate.clone
        && pipeline.replication.session(request.session).is_some()
    {
        let clone = pipeline.clone_from_ingress(&packet, request.field_list, now);
        send_clones(pipeline, clone, request, InstanceType::IngressClone, work);
    }
    if let Some(list) = fate.digest
        && let Some(values) = pipeline.digest(&packet, list)
    {
        outputs.push(Output::Digest { list, values });
    }
    match fate.way {
        IngressWay::Drop(reason) => {
            outputs.push(Output::Drop(reason));
            pipeline.recycle(packet);
        }
        IngressWay::Resubmit { field_list } => {
            pipeline.resubmit(&mut packet, field_list);
            work.push_back(Stage::Ingress(packet));
        }
        IngressWay::Multicast { group, .. } => {
            let mut replicas = Vec::new();
            pipeline.replication.replicate(group, &mut replicas);
            if replicas.is_empty() {
                outputs.push(Output::Drop(DropReason::NoReplica));
            }
            pipeline.leave_ingress(&mut packet);
            for replica in replicas {
                let mut copy = pipeline.copy(&packet);
                pipeline.dispatch(&mut copy, replica.port, InstanceType::Replicated, replica.rid);
                work.push_back(Stage::Egress(copy));
            }
            pipeline.recycle(packet);
        }
        IngressWay::Unicast { port, .. } => {
            pipeline.leave_ingress(&mut packet);
            pipeline.dispatch(&mut packet, port, InstanceType::Normal, 0);
            work.push_back(Stage::Egress(packet));
        }
    }
}

fn egress<O: Observe>(
    pipeline: &mut Pipeline,
    mut packet: Packet,
    now: Time,
    observer: &mut O,
    work: &mut VecDeque<Stage>,
    outputs: &mut Vec<Output>,
) {
    let queueing = Queueing { enqueued: now, departed: now, ..Queueing::default() };
    let end = pipeline.egress_observed(&mut packet, &queueing, now, observer);
    let fate = after_egress(&end);
    if let Some(request) = fate.clone
        && pipeline.replication.session(request.session).is_some()
    {
        let clone = pipeline.clone_from_egress(&packet, request.field_list);
        send_clones(pipeline, clone, request, InstanceType::EgressClone, work);
    }
    match fate.way {
        EgressWay::Drop(reason) => {
            outputs.push(Output::Drop(reason));
            pipeline.recycle(packet);
        }
        EgressWay::Recirculate { field_list } => {
            pipeline.deparse_observed(&mut packet, now, observer);
            pipeline.recirculate(&mut packet, field_list);
            work.push_back(Stage::Ingress(packet));
        }
        EgressWay::Transmit => {
            pipeline.deparse_observed(&mut packet, now, observer);
            let (port, frame) = (packet.egress_port(), packet.bytes().to_vec());
            outputs.push(Output::Transmit { port, frame });
            pipeline.recycle(packet);
        }
    }
}

/// Sends a clone to everywhere its session says.
fn send_clones(
    pipeline: &mut Pipeline,
    clone: Packet,
    request: CloneRequest,
    kind: InstanceType,
    work: &mut VecDeque<Stage>,
) {
    let Some(session) = pipeline.replication.session(request.session).cloned() else { return };
    let mut replicas = Vec::new();
    pipeline.replication.replicate_clone(&session, &mut replicas);
    for replica in replicas {
        let mut copy = pipeline.copy(&clone);
        copy.cut(session.length_bytes_max);
        pipeline.dispatch(&mut copy, replica.port, kind, replica.rid);
        work.push_back(Stage::Egress(copy));
    }
    pipeline.recycle(clone);
}
