//! Events as JSON, one object a line: `packet` numbers the packet, `event` names what happened,
//! numbers of fields are hexadecimal strings because they have any width.

use pipeline::{Event, Output};
use serde_json::{Value, json};

use super::{digits, hex};

/// The whole life of a packet.
pub fn render(
    number: usize,
    port: u16,
    bytes: &[u8],
    events: &[Event],
    outputs: &[Output],
) -> String {
    let received = json!({ "event": "received", "port": port, "bytes": digits(bytes) });
    let events = events.iter().map(object);
    let lines = std::iter::once(received).chain(events).chain(outputs.iter().map(output));
    let numbered = lines.map(|mut line| {
        line["packet"] = json!(number);
        format!("{line}\n")
    });
    numbered.collect()
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
        Event::Table { table, key, entry } => {
            let key: serde_json::Map<String, Value> =
                key.iter().map(|(name, value)| (name.clone(), json!(hex(value)))).collect();
            json!({ "event": "table", "name": table, "key": key, "entry": entry })
        }
    }
}

fn output(output: &Output) -> Value {
    match output {
        Output::Digest { list, values } => {
            let values: Vec<String> = values.iter().map(hex).collect();
            json!({ "event": "digest", "list": list, "values": values })
        }
        Output::Drop(reason) => json!({ "event": "dropped", "reason": reason.sentence() }),
        Output::Transmit { port, frame } => {
            json!({ "event": "transmitted", "port": port.0, "bytes": digits(frame) })
        }
    }
}
