//! The entries of a program as a `p4.v1.WriteRequest` in protobuf's text form, for controllers that
//! write them themselves (`--p4runtime-entries-files`).
//!
//! Keys and data come from the BMv2 JSON, ids and kinds from the P4Info of the same compilation.

use std::fmt::{LowerHex, Write};

use bmv2::{MatchKey, TableEntry};
use p4info::{MatchField, MatchType, P4Info, Table};

/// Lines of text, the deeper ones further in.
struct Text {
    text: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        let _infallible = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    fn message(&mut self, name: &str, inside: impl FnOnce(&mut Text)) {
        self.line(&format!("{name} {{"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.line("}");
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        let escaped: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        self.line(&format!("{name}: \"{escaped}\""));
    }
}

/// The request that inserts all entries that the program gives its tables.
pub fn write_request(program: &bmv2::Program, info: &P4Info) -> String {
    let mut text = Text {
        text: "# proto-file: p4/v1/p4runtime.proto\n# proto-message: p4.v1.WriteRequest\n\n"
            .to_owned(),
        depth: 0,
    };
    for table in program.pipelines.iter().flat_map(|control| &control.tables) {
        let named = |it: &&Table| it.preamble.as_ref().is_some_and(|it| it.name == table.name);
        let Some(found) = info.tables.iter().find(named) else { continue };
        let entries = table.entries.as_deref().unwrap_or_default();
        let last = entries.iter().map(|entry| entry.priority).max().unwrap_or(0);
        for entry in entries {
            text.message("updates", |text| {
                text.line("type: INSERT");
                text.message("entity", |text| {
                    text.message("table_entry", |text| {
                        write_entry(text, program, info, found, entry, last);
                    });
                });
            });
        }
    }
    text.text
}

fn write_entry(
    text: &mut Text,
    program: &bmv2::Program,
    info: &P4Info,
    table: &Table,
    entry: &TableEntry,
    last: i32,
) {
    let id = table.preamble.as_ref().map_or(0, |preamble| preamble.id);
    text.line(&format!("table_id: {id}"));
    for (field, key) in table.match_fields.iter().zip(&entry.match_key) {
        write_match(text, field, key);
    }
    let action = program.actions.iter().find(|action| action.id == entry.action_id);
    let action = action.and_then(|action| {
        let named = |name: &str| *name == action.name;
        info.actions.iter().find(|it| it.preamble.as_ref().is_some_and(|it| named(&it.name)))
    });
    if let Some(action) = action {
        text.message("action", |text| {
            text.message("action", |text| {
                let id = action.preamble.as_ref().map_or(0, |preamble| preamble.id);
                text.line(&format!("action_id: {id}"));
                for (param, value) in action.params.iter().zip(&entry.action_data) {
                    text.message("params", |text| {
                        text.line(&format!("param_id: {}", param.id));
                        text.bytes("value", &bytes_of(value));
                    });
                }
            });
        });
    }
    let ordered = |field: &MatchField| {
        matches!(field.match_type, MatchType::Ternary | MatchType::Range | MatchType::Optional)
    };
    if table.match_fields.iter().any(ordered) {
        // BMv2's lowest number wins, P4Runtime's highest. Const entries have their order only.
        let sum = if entry.is_const.is_some() { i32::MAX } else { last.saturating_add(1) };
        text.line(&format!("priority: {}", sum.saturating_sub(entry.priority)));
    }
    if entry.is_const.unwrap_or(true) {
        text.line("is_const: true");
    }
}

/// A field of the key; one that matches anything is left out.
fn write_match(text: &mut Text, field: &MatchField, key: &MatchKey) {
    let width = u32::try_from(field.bitwidth).unwrap_or(0);
    let mut message = |kind: &str, numbers: &[(&str, Vec<u8>)], prefix_length: Option<u32>| {
        text.message("match", |text| {
            text.line(&format!("field_id: {}", field.id));
            text.message(kind, |text| {
                numbers.iter().for_each(|(name, bytes)| text.bytes(name, bytes));
                if let Some(length) = prefix_length {
                    text.line(&format!("prefix_len: {length}"));
                }
            });
        });
    };
    match key {
        MatchKey::Exact { key } => message("exact", &[("value", bytes_of(key))], None),
        MatchKey::Lpm { prefix_length: 0, .. } => {}
        MatchKey::Lpm { key, prefix_length } => {
            message("lpm", &[("value", bytes_of(key))], Some(*prefix_length));
        }
        MatchKey::Range { start, end } => {
            let ones: u32 = bytes_of(end).iter().map(|byte| byte.count_ones()).sum();
            let is_all = start.is_zero() && ones == width;
            if !is_all {
                message("range", &[("low", bytes_of(start)), ("high", bytes_of(end))], None);
            }
        }
        MatchKey::Ternary { mask, .. } if mask.is_zero() => {}
        MatchKey::Ternary { key, .. } if field.match_type == MatchType::Optional => {
            message("optional", &[("value", bytes_of(key))], None);
        }
        MatchKey::Ternary { key, mask } => {
            message("ternary", &[("value", bytes_of(key)), ("mask", bytes_of(mask))], None);
        }
        MatchKey::Valid { key } => message("exact", &[("value", vec![u8::from(*key)])], None),
    }
}

/// The shortest byte string of a number.
fn bytes_of(number: &impl LowerHex) -> Vec<u8> {
    let mut digits = format!("{number:x}");
    if !digits.len().is_multiple_of(2) {
        digits.insert(0, '0');
    }
    let pairs = (0..digits.len() / 2).filter_map(|pair| digits.get(2 * pair..2 * pair + 2));
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_in_as_few_bytes_as_it_needs() {
        assert_eq!(bytes_of(&0x0a0b_u64), [0x0a, 0x0b]);
        assert_eq!(bytes_of(&0x100_u64), [1, 0]);
        assert_eq!(bytes_of(&0_u64), [0]);
    }
}
