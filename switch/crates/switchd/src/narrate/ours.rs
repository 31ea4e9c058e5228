//! The life of a packet in our own words.
//!
//! ```text
//!   7: received 98 bytes on port 1
//!   7: parser state start
//!   7: extracted ethernet, 14 bytes
//!   7: table MyIngress.ipv4_lpm: hdr.ipv4.dstAddr = 0x0a000202: hit, entry 1
//!   7: action MyIngress.ipv4_forward(dstAddr = 0x080000000222, port = 0x02)
//!   7: queued for port 2, class 0
//!   7: transmitted 98 bytes on port 2
//! ```

use std::fmt;

use device::TraceEvent;
use pipeline::Event;
use tracing::{debug, error, info, trace};

/// Writes one step of a packet.
pub(super) fn tell(packet: u64, step: &TraceEvent) {
    match step {
        TraceEvent::Copied { from, kind } => debug!("{packet}: a copy of {from} ({kind:?})"),
        TraceEvent::Departed { port, queueing } => debug!(
            "{packet}: departs from port {port}, class {}, after {}; {} packets were before it, {} \
             are behind it",
            queueing.class,
            queueing.departed.since(queueing.enqueued),
            queueing.depth_packets_at_enqueue,
            queueing.depth_packets_at_dequeue,
        ),
        TraceEvent::Digest { list } => debug!("{packet}: a digest of list {list}"),
        TraceEvent::Dropped(reason) => debug!("{packet}: dropped: {}", reason.name()),
        TraceEvent::Program(event) => tell_event(packet, event),
        TraceEvent::Queued { port, class } => {
            debug!("{packet}: queued for port {port}, class {class}");
        }
        TraceEvent::Received { port, frame, .. } => {
            debug!("{packet}: received {} bytes on port {port}", frame.len());
        }
        TraceEvent::Recirculated => debug!("{packet}: recirculated"),
        TraceEvent::Replicated { group } => debug!("{packet}: to all of group {group}"),
        TraceEvent::Resubmitted => debug!("{packet}: resubmitted"),
        TraceEvent::Transmitted { port, frame } => {
            debug!("{packet}: transmitted {} bytes on port {port}", frame.len());
        }
    }
}

fn tell_event(packet: u64, event: &Event) {
    match event {
        Event::Action { name, data } => debug!("{packet}: action {name}({})", Values(data)),
        Event::AssertionFailed { what } => error!("{packet}: assertion failed: {what}"),
        Event::Checksum { name, verified, computed, found } => {
            let done = if *verified { "compared" } else { "written" };
            debug!("{packet}: checksum {name} {done}: {computed:#06x}, the field had {found:#06x}");
        }
        Event::Condition { name, holds } => trace!("{packet}: condition {name} is {holds}"),
        Event::Control { name } => debug!("{packet}: {name} begins"),
        Event::Emitted { header } => trace!("{packet}: emitted {header}"),
        Event::Extracted { header, length } => {
            debug!("{packet}: extracted {header}, {length} bytes");
        }
        Event::FieldChanged { field, before, after } => {
            trace!("{packet}: {field}: {} becomes {}", Hex(before), Hex(after));
        }
        Event::Log { text } => info!("{packet}: {text}"),
        Event::ParserDone { error, parsed } => {
            debug!("{packet}: parser ends after {parsed} bytes: {error}");
        }
        Event::ParserState { name } => debug!("{packet}: parser state {name}"),
        Event::Primitive { source: None } => {}
        Event::Primitive { source: Some(at) } => {
            trace!("{packet}: {}:{}: {}", at.filename, at.line, at.source_fragment);
        }
        Event::QueueRead { function, inputs, outputs } => {
            debug!("{packet}: {function}{inputs:?}: {outputs:?}");
        }
        Event::Table { table, key, entry: Some(entry), .. } => {
            debug!("{packet}: table {table}: {}: hit, entry {entry}", Values(key));
        }
        Event::Table { table, key, entry: None, .. } => {
            debug!("{packet}: table {table}: {}: miss", Values(key));
        }
    }
}

/// `name = 0x01, other = 0x02`.
struct Values<'a>(&'a [(String, bits::Int)]);

impl fmt::Display for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{name} = {}", Hex(value))?;
        }
        Ok(())
    }
}

/// A value in whole bytes.
struct Hex<'a>(&'a bits::Int);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex(bits::byte_count(self.0.bit_length())))
    }
}
