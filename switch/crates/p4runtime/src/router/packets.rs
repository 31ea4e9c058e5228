//! The messages about each packet's way through the router.

use device::{DropReason, Inside, PacketStep, PacketStepKind};
use messages::vitrine::v1;
use traffic::StepKind;
use units::{ClassId, PortId};
use v1::packet_event::Step;

use super::parts::queue_message;
use super::reasons;
use crate::watch::QueueId;

/// A packet that was there before the watch.
pub fn inside_message(inside: Inside) -> v1::PacketEvent {
    use v1::packet_inside::Place;
    let (output, class) = inside.queue;
    let place = match inside.is_filed {
        true => Place::Filed(input_queue_message(inside.input, output, class)),
        false => Place::Queued(queue_message(inside.queue)),
    };
    let step = Step::Inside(v1::PacketInside {
        input: inside.input.0.into(),
        length_bytes: inside.length.count(),
        head: inside.head.into(),
        since_ps: inside.since.ps(),
        place: Some(place),
    });
    v1::PacketEvent { packet: inside.number, step: Some(step) }
}

/// A step in the traffic manager.
pub fn traffic_step(step: &traffic::Step) -> v1::PacketEvent {
    let queue = (step.output, step.class);
    let from = || input_queue_message(step.input, step.output, step.class);
    let kind = match step.kind {
        StepKind::Crossing { until } => {
            Step::Crossing(v1::PacketCrossing { from: Some(from()), until_ps: until.ps() })
        }
        StepKind::Departed { marked, .. } => {
            Step::Departed(v1::PacketDeparted { queue: Some(queue_message(queue)), marked })
        }
        StepKind::Dropped { reason, .. } => Step::Dropped(dropped_message(reason, Some(queue))),
        StepKind::Filed => Step::Filed(from()),
        StepKind::Queued { .. } => Step::Queued(queue_message(queue)),
    };
    v1::PacketEvent { packet: step.number, step: Some(kind) }
}

/// A step before or behind it.
pub fn device_step(step: PacketStep) -> v1::PacketEvent {
    let kind = match step.kind {
        PacketStepKind::Copied { from, kind, length, head, .. } => Step::Copied(v1::PacketCopied {
            from,
            instance_type: kind as u32,
            length_bytes: length.count(),
            head: head.into(),
        }),
        PacketStepKind::Dropped { reason, queue } => Step::Dropped(dropped_message(reason, queue)),
        PacketStepKind::Received { length, head } => Step::Received(v1::PacketReceived {
            port: step.input.0.into(),
            length_bytes: length.count(),
            head: head.into(),
        }),
        PacketStepKind::Recirculated { length, head, .. } => {
            let (length_bytes, head) = (length.count(), head.into());
            Step::Recirculated(v1::PacketRecirculated { length_bytes, head })
        }
        PacketStepKind::Replicated { group } => Step::ReplicatedBy(group),
        PacketStepKind::Transmitted { output, length, until } => {
            Step::Transmitted(v1::PacketTransmitted {
                port: output.0.into(),
                length_bytes: length.count(),
                until_ps: until.ps(),
            })
        }
    };
    v1::PacketEvent { packet: step.number, step: Some(kind) }
}

fn dropped_message(reason: DropReason, queue: Option<QueueId>) -> v1::PacketDropped {
    let reason = reasons::message(reason).into();
    v1::PacketDropped { reason, queue: queue.map(queue_message) }
}

pub fn input_queue_message(input: PortId, output: PortId, class: ClassId) -> v1::InputQueueRef {
    v1::InputQueueRef { input: input.0.into(), output: output.0.into(), class: class.0.into() }
}
