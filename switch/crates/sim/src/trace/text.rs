//! Events as indented text.

use pipeline::{Event, Output};

use super::{digits, fate, hex};

/// The whole life of a packet.
pub fn render(
    number: usize,
    port: u16,
    bytes: &[u8],
    events: &[Event],
    outputs: &[Output],
) -> String {
    let mut text =
        format!("packet {number}, port {port}, {} bytes: {}\n", bytes.len(), digits(bytes));
    for event in events {
        text.push_str(&line(event));
        text.push('\n');
    }
    for output in outputs {
        text.push_str(&format!("  {}\n", fate(output)));
    }
    text
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
        Event::Table { table, key, entry } => {
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
        };
        assert_eq!(line(&event), "    table routes [dst = 0x0a000001]: hit, entry 3");
    }
}
