//! Events as JSON, one object a line: `packet` numbers the packet, `event` names what happened,
//! numbers of fields are hexadecimal strings because they have any width.

use device::{TraceEvent, TraceRecord};
use pipeline::Event;
use serde_json::{Value, json};

use super::{digits, hex};

/// The life of a packet and its copies.
pub fn render(records: &[TraceRecord]) -> String {
    let lines = records.iter().map(|TraceRecord { packet, at, event }| {
        let mut line = record(event);
        line["packet"] = json!(packet);
        line["at_ns"] = json!(at.whole_ns());
        format!("{line}\n")
    });
    lines.collect()
}

fn record(event: &TraceEvent) -> Value {
    match event {
        TraceEvent::Copied { from, kind } => {
            json!({ "event": "copied", "from": from, "kind": super::kind(*kind) })
        }
        TraceEvent::Departed { port, queueing } => json!({
            "event": "departed", "port": port.0, "class": queueing.class.0,
            "enq_qdepth": queueing.depth_packets_at_enqueue,
            "deq_qdepth": queueing.depth_packets_at_dequeue,
        }),
        TraceEvent::Digest { list } => json!({ "event": "digest", "list": list }),
        TraceEvent::Dropped(reason) => {
            json!({ "event": "dropped", "reason": reason.name(), "text": reason.sentence() })
        }
        TraceEvent::Program(event) => object(event),
        TraceEvent::Queued { port, class } => {
            json!({ "event": "queued", "port": port.0, "class": class.0 })
        }
        TraceEvent::Received { port, frame, .. } => {
            json!({ "event": "received", "port": port.0, "bytes": digits(frame) })
        }
        TraceEvent::Recirculated => json!({ "event": "recirculated" }),
        TraceEvent::Replicated { group } => json!({ "event": "replicated", "group": group }),
        TraceEvent::Resubmitted => json!({ "event": "resubmitted" }),
        TraceEvent::Transmitted { port, frame } => {
            json!({ "event": "transmitted", "port": port.0, "bytes": digits(frame) })
        }
    }
}

fn object(event: &Event) -> Value {
    match event {
        Event::Action { name, data } => {
            let data: serde_json::Map<String, Value> =
                data.iter().map(|(name, value)| (name.clone(), json!(hex(value)))).collect();
            json!({ "event": "action", "name": name, "data": data })
        }
        Event::AssertionFailed { what } => json!({ "event": "assertion_failed", "what": what }),
        Event::Checksum { name, verified, computed, found } => json!({
            "event": "checksum", "name": name, "verified": verified, "computed": computed,
            "found": found,
        }),
        Event::Condition { name, holds } => {
            json!({ "event": "condition", "name": name, "holds": holds })
        }
        Event::Control { name } => json!({ "event": "control", "name": name }),
        Event::Emitted { header } => json!({ "event": "emitted", "header": header }),
        Event::Extracted { header, length } => {
            json!({ "event": "extracted", "header": header, "length_bytes": length })
        }
        Event::FieldChanged { field, before, after } => json!({
            "event": "field_changed", "field": field, "before": hex(before),
            "after": hex(after),
        }),
        Event::Log { text } => json!({ "event": "log", "text": text }),
        Event::ParserDone { error, parsed } => {
            json!({ "event": "parser_done", "error": error, "parsed_bytes": parsed })
        }
        Event::ParserState { name } => json!({ "event": "parser_state", "name": name }),
        Event::Primitive { source } => json!({
            "event": "primitive",
            "file": source.as_ref().map(|it| &it.filename),
            "line": source.as_ref().map(|it| it.line),
            "text": source.as_ref().map(|it| &it.source_fragment),
        }),
        Event::QueueRead { function, inputs, outputs } => {
            let object = |named: &[(String, u64)]| {
                let named = named.iter().map(|(name, value)| (name.clone(), json!(value)));
                named.collect::<serde_json::Map<String, Value>>()
            };
            json!({
                "event": "queue_read", "function": function, "inputs": object(inputs),
                "outputs": object(outputs),
            })
        }
        Event::Table { table, key, entry, .. } => {
            let key: serde_json::Map<String, Value> =
                key.iter().map(|(name, value)| (name.clone(), json!(hex(value)))).collect();
            json!({ "event": "table", "name": table, "key": key, "entry": entry })
        }
    }
}
