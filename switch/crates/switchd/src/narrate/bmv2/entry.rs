//! Keys and entries of tables as simple_switch dumps them.
//!
//! ```text
//!   Dumping entry 0
//!   Match key:
//!   * hdr.ipv4.dst_addr   : LPM       0a000200/24
//!   Action entry: ingress.forward - 80000000222,2,
//! ```

use std::fmt::Write;

use bits::Int;
use bmv2::MatchType;
use pipeline::{EntryAction, KeyMatch, Pipeline, Table};

/// Values of keys, each in a line; as wide as their fields where the table is known.
pub fn key(values: &[(String, Int)], of: Option<&Table>) -> String {
    let widths = of.into_iter().flat_map(Table::keys).map(|(_, _, width)| width);
    let lines = values
        .iter()
        .zip(widths.chain(std::iter::repeat(0)))
        .map(|((name, value), width)| format!("* {name:<20}: {}\n", digits(value, width)));
    lines.collect()
}

/// An action and its data.
pub fn action<'a>(name: &str, data: impl Iterator<Item = &'a Int>) -> String {
    let data: String = data.map(|value| hex_digits(value, 0) + ",").collect();
    format!("{name} - {data}")
}

/// The entry with this handle, if it is there still; `matches` is what it asks of each key.
pub fn dump(
    pipeline: &Pipeline,
    of: &Table,
    handle: u32,
    values: &[(String, Int)],
    matches: &[KeyMatch],
) -> Option<String> {
    let entry = of.entry(of.id_of_handle(handle)).ok()?;
    let mut text = format!("Dumping entry {handle}\nMatch key:\n");
    for (((name, _), (_, match_type, width)), asked) in values.iter().zip(of.keys()).zip(matches) {
        let (kind, asked) = param(match_type, width, asked);
        let _infallible = writeln!(text, "* {name:<20}: {kind:<10}{asked}");
    }
    if of.shape().is_ternary() {
        let _infallible = writeln!(text, "Priority: {}", i32::MAX.saturating_sub(entry.priority));
    }
    let _infallible = match &entry.action {
        EntryAction::Action { action: number, data } => {
            writeln!(text, "Action entry: {}", action(pipeline.action(*number).name, data.iter()))
        }
        EntryAction::Group(id) => writeln!(text, "Index: group({id})"),
        EntryAction::Member(id) => writeln!(text, "Index: member({id})"),
    };
    Some(text)
}

/// The kind of a part of a key and its match; parts that P4Runtime omits are written out.
fn param(match_type: MatchType, width: u32, asked: &KeyMatch) -> (&'static str, String) {
    let all = &Int::one().shift_left(width as usize) - &Int::one();
    let zero = Int::zero();
    let in_full = |value: &Int| digits(value, width);
    let between = |first: &Int, by: &str, second: &Int| {
        format!("{} {by} {}", in_full(first), in_full(second))
    };
    match (match_type, asked) {
        (MatchType::Lpm, KeyMatch::Lpm { value, length_bits }) => {
            ("LPM", format!("{}/{length_bits}", in_full(value)))
        }
        (MatchType::Lpm, _) => ("LPM", format!("{}/0", in_full(&zero))),
        (MatchType::Ternary, KeyMatch::Ternary { value, mask }) => {
            ("TERNARY", between(value, "&&&", mask))
        }
        (MatchType::Ternary, KeyMatch::Exact(value)) => ("TERNARY", between(value, "&&&", &all)),
        (MatchType::Ternary, _) => ("TERNARY", between(&zero, "&&&", &zero)),
        (MatchType::Range, KeyMatch::Range { low, high }) => ("RANGE", between(low, "->", high)),
        (MatchType::Range, _) => ("RANGE", between(&zero, "->", &all)),
        (kind, KeyMatch::Exact(value)) => {
            (if kind == MatchType::Valid { "VALID" } else { "EXACT" }, in_full(value))
        }
        _ => ("EXACT", in_full(&zero)),
    }
}

/// A number in whole bytes of its field.
fn digits(value: &Int, width: u32) -> String {
    hex_digits(value, width.div_ceil(8) as usize * 2)
}

/// At least this many digits.
pub fn hex_digits(value: &Int, count: usize) -> String {
    format!("{value:0count$x}")
}
