//! The events that a client wants to watch, and their messages.

use std::collections::BTreeSet;

use device::{DropReason, Event};
use messages::vitrine::v1;
use traffic::{Step, StepKind};
use units::{ClassId, PortId, Span, Time};
use v1::event::Kind;

use super::counters::{self, Snapshot};
use super::parts::{depth_message, port_of, queue_message};
use super::{arbitration, flows, packets, reasons, states};
use crate::refusal::Refusal;
use crate::watch::{Filter, Item, Level, QueueId, Start, Threshold};

/// Time between samples at the most.
const INTERVAL_MS_MAX: u32 = 1000;
/// Thresholds, and queues, of one request.
const QUEUE_COUNT_MAX: usize = 256;
/// Samples of one message: some seconds of them.
const TOGETHER_MAX: u32 = 4096;
/// The most bytes of a packet that are sent.
const HEAD_SIZE_MAX: u32 = 256;

/// The filter of a request.
pub fn filter_of(request: &v1::WatchRequest) -> Result<Filter, Refusal> {
    at_most("thresholds", request.thresholds.len(), QUEUE_COUNT_MAX)?;
    at_most("queues", request.queues.len(), QUEUE_COUNT_MAX)?;
    at_most("head_bytes", request.head_bytes as usize, HEAD_SIZE_MAX as usize)?;
    at_most("interval_ms", request.interval_ms as usize, INTERVAL_MS_MAX as usize)?;
    at_most("samples_together", request.samples_together as usize, TOGETHER_MAX as usize)?;
    let interval = Span::from_ms(request.interval_ms.into());
    let queues = request.queues.iter().map(|queue| queue_of(queue.port, queue.class));
    let filter = Filter {
        interval: Some(interval).filter(|interval| *interval > Span::ZERO),
        ports: ports_of(&request.ports)?,
        drops: request.drops.as_ref().map(reasons_of).transpose()?,
        marks: request.marks,
        thresholds: request.thresholds.iter().map(threshold_of).collect::<Result<_, _>>()?,
        queues: queues.collect::<Result<_, _>>()?,
        crossings: request.crossings,
        packets: request.packets,
        arbitrations: request.arbitrations,
        links: request.links,
        overruns: request.overruns,
        head_size: request.head_bytes as usize,
        together: request.samples_together as usize,
        flows: request.flows,
    };
    if !filter.asks_for_something() {
        return Err(Refusal::invalid(
            "the request asks for nothing: set interval_ms (1 to 1000) for samples, or a kind of \
             event such as drops or queues",
        ));
    }
    let is_alone = filter.interval.is_some() && !filter.flows && !filter.asks_for_events();
    if filter.together > 0 && !is_alone {
        return Err(Refusal::invalid(
            "samples_together is for samples alone: set interval_ms, and ask for events and flows \
             in a Watch of its own",
        ));
    }
    if filter.flows && filter.interval.is_none() {
        return Err(Refusal::invalid("flows are told with samples: set interval_ms"));
    }
    Ok(filter)
}

/// Numbers of ports.
pub fn ports_of(ports: &[u32]) -> Result<Vec<PortId>, Refusal> {
    let ports: Result<BTreeSet<PortId>, Refusal> = ports.iter().map(|it| port_of(*it)).collect();
    Ok(ports?.into_iter().collect())
}

fn at_most(what: &str, found: usize, most: usize) -> Result<(), Refusal> {
    if found <= most {
        return Ok(());
    }
    Err(Refusal::invalid(format!("{what}: {found} is more than the {most} that are possible")))
}

fn queue_of(port: u32, class: u32) -> Result<QueueId, Refusal> {
    let class = u8::try_from(class)
        .map_err(|_| Refusal::invalid(format!("class {class}: classes are 0 to 7")))?;
    Ok((port_of(port)?, ClassId(class)))
}

fn threshold_of(threshold: &v1::Threshold) -> Result<Threshold, Refusal> {
    let queue = queue_of(threshold.port, threshold.class)?;
    let level = match (threshold.packets, threshold.bytes) {
        (packets @ 1.., 0) => Level::Packets(packets),
        (0, bytes @ 1..) => Level::Bytes(bytes),
        _ => {
            let (port, class) = queue;
            return Err(Refusal::invalid(format!(
                "the threshold of queue {class} at port {port} needs either packets or bytes"
            )));
        }
    };
    Ok(Threshold { queue, level })
}

fn reasons_of(drops: &v1::DropFilter) -> Result<BTreeSet<DropReason>, Refusal> {
    let reason = |number: &i32| {
        let known = reasons::of(*number);
        known.ok_or_else(|| Refusal::invalid(format!("drop reason {number} is not known")))
    };
    drops.reasons.iter().map(reason).collect()
}

/// The first message of a stream.
pub fn start_message(start: &Start) -> v1::WatchResponse {
    let queues = start.queues.iter().map(|((port, class), depth)| v1::QueueDepth {
        port: port.0.into(),
        class: class.0.into(),
        held: Some(depth_message(*depth)),
    });
    let start = v1::WatchStart {
        time_ps: start.time.ps(),
        epoch_offset_ns: start.epoch_offset_ns,
        queues: queues.collect(),
    };
    v1::WatchResponse { start: Some(start), ..Default::default() }
}

/// The message of one batch of a feed.
pub fn batch_message(batch: Vec<Item>) -> v1::WatchResponse {
    let mut message = v1::WatchResponse::default();
    for item in batch {
        let (at, kind) = match item {
            Item::Lost(count) => {
                message.lost_events += count;
                continue;
            }
            Item::Columns(columns) => {
                message.columns = Some(columns.message());
                continue;
            }
            Item::Sample { snapshot, missed } => {
                message.sample = Some(sample_message(&snapshot, missed));
                continue;
            }
            Item::Crossing { step, until } => {
                (step.at, Kind::Crossing(crossing_message(&step, until)))
            }
            Item::Event(event) => (event.at(), event_kind(event)),
            Item::Inside { at, packet } => (at, Kind::Packet(packets::inside_message(*packet))),
            Item::Queue(step) => (step.at, Kind::Queue(queue_event(&step))),
            Item::CompleteUntil(at) => {
                message.complete_until_ps = at.ps();
                continue;
            }
            // Steps are a trace's.
            Item::Step(_) => continue,
            Item::Overrun { at, lag } => (at, Kind::Overrun(v1::OverrunEvent { lag_ps: lag.ps() })),
            Item::Threshold { at, index, above, depth } => {
                let held = Some(depth_message(depth));
                (at, Kind::Threshold(v1::ThresholdEvent { threshold: index, above, held }))
            }
        };
        message.events.push(v1::Event { time_ps: at.ps(), kind: Some(kind) });
    }
    message
}

fn sample_message(snapshot: &Snapshot, missed: u64) -> v1::Sample {
    let ports = snapshot.ports.iter().map(|port| v1::PortSample {
        port: port.port.0.into(),
        counters: Some(counters::port_message(port)),
    });
    v1::Sample {
        time_ps: snapshot.time.ps(),
        missed,
        ports: ports.collect(),
        inputs: snapshot.inputs.iter().map(counters::input_message).collect(),
        transfers: snapshot.transfers.iter().map(counters::transfer_message).collect(),
        shared_buffer: snapshot.buffer.map(states::buffer_message),
        flows: snapshot.flows.iter().map(flows::message).collect(),
    }
}

fn event_kind(event: Event) -> Kind {
    match event {
        Event::Dropped(drop) => Kind::Drop(v1::DropEvent {
            reason: reasons::message(drop.reason).into(),
            input: drop.input.0.into(),
            queue: drop.queue.map(queue_message),
            length_bytes: drop.length.count(),
            head: drop.head.into(),
        }),
        Event::Marked { port, class, length, head, .. } => Kind::Mark(v1::MarkEvent {
            queue: Some(queue_message((port, class))),
            length_bytes: length.count(),
            head: head.into(),
        }),
        Event::Port { port, up, .. } => Kind::Link(v1::LinkEvent { port: port.0.into(), up }),
        Event::Arbitration(it) => Kind::Arbitration(arbitration::message(&it)),
        Event::Packet(step) => Kind::Packet(packets::device_step(step)),
        Event::Step(step) => Kind::Packet(packets::traffic_step(&step)),
    }
}

/// A step that has changed the depth of an output queue.
fn queue_event(step: &Step) -> v1::QueueEvent {
    use v1::queue_event::Change;
    let change = match step.kind {
        StepKind::Departed { .. } => Change::Departed,
        StepKind::Dropped { .. } => Change::Dropped,
        StepKind::Queued { .. } => Change::Enqueued,
        StepKind::Crossing { .. } | StepKind::Filed => Change::Unspecified,
    };
    v1::QueueEvent {
        queue: Some(queue_message((step.output, step.class))),
        change: change.into(),
        length_bytes: step.length.count(),
        held: step.depth().map(depth_message),
    }
}

fn crossing_message(step: &Step, until: Time) -> v1::CrossingEvent {
    v1::CrossingEvent {
        input: step.input.0.into(),
        output: step.output.0.into(),
        class: step.class.0.into(),
        length_bytes: step.length.count(),
        until_ps: until.ps(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::Depth;
    use units::Bytes;

    #[test]
    fn a_request_that_asks_for_nothing_or_the_impossible_is_refused_with_a_sentence() {
        let refused = |request| filter_of(&request).unwrap_err().message;
        let nothing = v1::WatchRequest::default();
        assert!(refused(nothing).contains("asks for nothing"));
        let slow = v1::WatchRequest { interval_ms: 1001, ..Default::default() };
        assert_eq!(refused(slow), "interval_ms: 1001 is more than the 1000 that are possible");
        let together = v1::WatchRequest { samples_together: 9, marks: true, ..Default::default() };
        assert!(refused(together).contains("for samples alone"));
        let flows = v1::WatchRequest { flows: true, links: true, ..Default::default() };
        assert!(refused(flows).contains("set interval_ms"));
        let both = v1::Threshold { port: 1, class: 2, packets: 3, bytes: 4 };
        let both = v1::WatchRequest { thresholds: vec![both], ..Default::default() };
        assert_eq!(
            refused(both),
            "the threshold of queue 2 at port 1 needs either packets or bytes"
        );
        let unknown = v1::DropFilter { reasons: vec![99] };
        let unknown = v1::WatchRequest { drops: Some(unknown), ..Default::default() };
        assert_eq!(refused(unknown), "drop reason 99 is not known");
    }

    #[test]
    fn a_batch_becomes_one_message_with_its_loss_its_events_and_its_sample() {
        let at = units::Time::from_ps(7);
        let depth = Depth { packets: 2, bytes: Bytes(300) };
        let threshold = Item::Threshold { at, index: 1, above: true, depth };
        let sample = Item::Sample { snapshot: Box::default(), missed: 3 };
        let message = batch_message(vec![Item::Lost(5), threshold, sample]);
        assert_eq!(message.lost_events, 5);
        assert_eq!(message.sample.unwrap().missed, 3);
        let held = Some(v1::Tally { packets: 2, bytes: 300 });
        let kind = Kind::Threshold(v1::ThresholdEvent { threshold: 1, above: true, held });
        assert_eq!(message.events, [v1::Event { time_ps: 7, kind: Some(kind) }]);
    }
}
