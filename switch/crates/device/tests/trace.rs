//! The records of traced packets, and that tracing changes nothing.

use crate::rig;

use device::{DropReason, Pattern, TraceEvent, TraceFilter, TraceRecord};
use pipeline::{Event, InstanceType};
use rig::{Said, device, frame, order, poll};
use units::{PortId, Rate, Time};

/// Everything recorded of frames that are handed in at time zero and then polled until the end.
fn records(filters: Vec<TraceFilter>, frames: &[Vec<u8>]) -> (Vec<TraceRecord>, Vec<Said>) {
    let mut device = device(Rate::from_bps(8_000_000));
    device.trace(filters);
    for frame in frames {
        device.handle_frame(Time::ZERO, PortId(1), frame);
    }
    let said = poll(&mut device, Time::MAX);
    (std::iter::from_fn(|| device.poll_trace()).collect(), said)
}

/// The life of a packet without the steps of the program, as one word a record.
fn life(records: &[TraceRecord], packet: u64) -> Vec<&'static str> {
    let of_packet = records.iter().filter(|record| record.packet == packet);
    let words = of_packet.filter_map(|record| match record.event {
        TraceEvent::Copied { .. } => Some("copied"),
        TraceEvent::Departed { .. } => Some("departed"),
        TraceEvent::Digest { .. } => Some("digest"),
        TraceEvent::Dropped(_) => Some("dropped"),
        TraceEvent::Program(_) => None,
        TraceEvent::Queued { .. } => Some("queued"),
        TraceEvent::Received { .. } => Some("received"),
        TraceEvent::Recirculated => Some("recirculated"),
        TraceEvent::Replicated { .. } => Some("replicated"),
        TraceEvent::Resubmitted => Some("resubmitted"),
        TraceEvent::Transmitted { .. } => Some("transmitted"),
    });
    words.collect()
}

#[test]
fn a_forwarded_packet_is_followed_from_port_to_port() {
    let (records, _) = records(vec![TraceFilter::default()], &[frame(order::FORWARD, 2, 1, 1000)]);
    assert_eq!(life(&records, 1), ["received", "queued", "departed", "transmitted"]);
    // Both controls of the program and the parser before them reported their steps.
    let controls: Vec<&str> = records
        .iter()
        .filter_map(|record| match &record.event {
            TraceEvent::Program(Event::Control { name }) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(controls, ["ingress", "egress"]);
    let sent = records.last().expect("there are records");
    let bytes = frame(order::FORWARD, 2, 1, 1000);
    assert_eq!(sent.event, TraceEvent::Transmitted { port: PortId(2), frame: bytes });
}

#[test]
fn a_copy_has_a_number_of_its_own_and_names_its_original() {
    let (records, _) =
        records(vec![TraceFilter::default()], &[frame(order::MULTICAST, rig::GROUP, 0, 100)]);
    assert_eq!(life(&records, 1), ["received", "replicated"]);
    for copy in 2..=4 {
        assert_eq!(life(&records, copy), ["copied", "queued", "departed", "transmitted"]);
    }
    let kind = InstanceType::Replicated;
    let copied = TraceEvent::Copied { from: 1, kind };
    assert_eq!(records.iter().filter(|record| record.event == copied).count(), 3);
}

#[test]
fn resubmission_and_recirculation_keep_the_number_and_a_drop_ends_it() {
    let orders = [order::RESUBMIT_ONCE, order::RECIRCULATE_ONCE, order::DROP_IN_EGRESS];
    let frames = orders.map(|order| frame(order, 2, 0, 100));
    let (records, _) = records(vec![TraceFilter::default()], &frames);
    let through = ["queued", "departed", "transmitted"];
    assert_eq!(life(&records, 1), [&["received", "resubmitted"][..], &through].concat());
    let back = ["received", "queued", "departed", "recirculated"];
    assert_eq!(life(&records, 2), [&back[..], &through].concat());
    assert_eq!(life(&records, 3), ["received", "queued", "departed", "dropped"]);
    let reason = DropReason::EgressProgram;
    let last = records.iter().rfind(|record| record.packet == 3).map(|record| &record.event);
    assert_eq!(last, Some(&TraceEvent::Dropped(reason)));
}

#[test]
fn only_frames_that_a_filter_takes_are_followed_and_the_output_is_the_same() {
    let frames = [
        frame(order::FORWARD, 2, 0, 100),
        frame(order::CLONE, 2, 0, 200),
        frame(order::DIGEST, 3, 1, 300),
    ];
    let pattern = Pattern { offset: 0, value: vec![order::CLONE], mask: vec![] };
    let filter = TraceFilter { patterns: vec![pattern], ..TraceFilter::default() };
    let (some, said) = records(vec![filter], &frames);
    assert_eq!(
        some.iter().filter(|record| life(&[(*record).clone()], 2) == ["received"]).count(),
        1
    );
    // The first frame, which no filter takes, has a number, too.
    assert_eq!(life(&some, 3), ["copied", "queued", "departed", "transmitted"]);
    let (none, untraced) = records(vec![], &frames);
    assert!(none.is_empty());
    assert_eq!(said, untraced);
}
