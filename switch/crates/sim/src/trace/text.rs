//! Events as indented text.

use device::{TraceEvent, TraceRecord};
use pipeline::Event;

use super::{digits, hex};

/// The life of a packet and its copies. Each one's events are under its number.
pub fn render(records: &[TraceRecord]) -> String {
    let (mut text, mut subject) = (String::new(), None);
    for TraceRecord { packet, event, .. } in records {
        let begins = matches!(event, TraceEvent::Received { .. } | TraceEvent::Copied { .. });
        if !begins && subject != Some(packet) {
            text.push_str(&format!("packet {packet}, continued\n"));
        }
        subject = Some(packet);
        text.push_str(&record(*packet, event));
        text.push('\n');
    }
    text
}

fn record(packet: u64, event: &TraceEvent) -> String {
    match event {
        TraceEvent::Copied { from, kind } => {
            format!("packet {packet}, {} of packet {from}", super::kind(*kind))
        }
        TraceEvent::Departed { port, queueing } => {
            let before = queueing.depth_packets_at_enqueue;
            let after = queueing.depth_packets_at_dequeue;
            format!("  leaves the queue of port {port}: {before} packets before it, {after} after")
        }
        TraceEvent::Digest { list } => format!("  digest {list} to the control plane"),
        TraceEvent::Dropped(reason) => format!("  dropped: {}", reason.sentence()),
        TraceEvent::Program(event) => line(event),
        TraceEvent::Queued { port, class } => format!("  queued for port {port}, class {class}"),
        TraceEvent::Received { port, frame, .. } => {
            format!("packet {packet}, port {port}, {} bytes: {}", frame.len(), digits(frame))
        }
        TraceEvent::Recirculated => "  recirculated".to_owned(),
        TraceEvent::Replicated { group } => format!("  replicated to multicast group {group}"),
        TraceEvent::Resubmitted => "  resubmitted".to_owned(),
        TraceEvent::Transmitted { port, frame } => {
            format!("  leaves port {port}, {} bytes: {}", frame.len(), digits(frame))
        }
    }
}

fn line(event: &Event) -> String {
    match event {
        Event::Action { name, data } => {
            let data: Vec<String> =
                data.iter().map(|(name, value)| format!("{name} = {}", hex(value))).collect();
            format!("      action {name}({})", data.join(", "))
        }
        Event::AssertionFailed { what } => format!("      assertion failed: {what}"),
        Event::Checksum { name, verified, computed, found } => {
            let verdict = match (verified, computed == found) {
                (true, true) => "is right",
                (true, false) => "is WRONG",
                (false, true) => "stays",
                (false, false) => "is updated",
            };
            format!("    checksum {name} {verdict}: computed {computed:#06x}, found {found:#06x}")
        }
        Event::Condition { name, holds } => format!("    condition {name}: {holds}"),
        Event::Control { name } => format!("  {name}"),
        Event::Emitted { header } => format!("    emit {header}"),
        Event::Extracted { header, length } => format!("      extract {header}, {length} bytes"),
        Event::FieldChanged { field, before, after } => {
            format!("        {field}: {} -> {}", hex(before), hex(after))
        }
        Event::Log { text } => format!("      log: {text}"),
        Event::ParserDone { error, parsed } => format!("    {parsed} bytes parsed, {error}"),
        Event::ParserState { name } => format!("    parser state {name}"),
        Event::Primitive { source: None } => "      a primitive".to_owned(),
        Event::Primitive { source: Some(at) } => {
            format!("      {}:{}: {}", at.filename, at.line, at.source_fragment)
        }
        Event::QueueRead { function, inputs, outputs } => {
            let list = |named: &[(String, u64)]| {
                let named = named.iter().map(|(name, value)| format!("{name} = {value}"));
                named.collect::<Vec<_>>().join(", ")
            };
            format!("      {function}({}): {}", list(inputs), list(outputs))
        }
        Event::Table { table, key, entry, .. } => {
            let key: Vec<String> =
                key.iter().map(|(name, value)| format!("{name} = {}", hex(value))).collect();
            let found = entry.map_or("miss".to_owned(), |entry| format!("hit, entry {entry}"));
            format!("    table {table} [{}]: {found}", key.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use bits::Int;

    use super::*;

    #[test]
    fn a_table_shows_its_key_and_what_it_found() {
        let event = Event::Table {
            table: "routes".to_owned(),
            key: vec![("dst".to_owned(), Int::from(0x0a00_0001u32))],
            entry: Some(3),
            handle: 3,
            matches: Vec::new(),
            priority: 0,
        };
        assert_eq!(line(&event), "    table routes [dst = 0x0a000001]: hit, entry 3");
    }
}
