//! Priorities of the entries in a program (specification, "Initial entries" and "Entry priority").
//!
//! Before: a table with its keys, entries and properties. After: either every priority that the
//! switch will be given is known to exist, or it is reported why not. Numbers stay as written;
//! the back end turns them into the switch's order.

use super::Checker;
use crate::types::tree::{
    Entries, Entry, Expression, ExpressionKind, Key, MatchKind, PropertyValue, Table, Value,
};
use bits::Int;
use syntax::Diagnostic;

impl Checker<'_, '_> {
    /// Priorities stand where they mean something, the first entry has one, and none that follows
    /// from it leaves the numbers that P4Runtime has.
    pub(super) fn check_priorities(&mut self, table: &Table) {
        let Some(entries) = &table.entries else { return };
        let Some(prioritised) = entries.list.iter().find(|entry| entry.priority.is_some()) else {
            return;
        };
        if entries.is_const {
            let title = "entries that are `const` have no priorities: the first that fits counts";
            self.report(
                Diagnostic::error("table", prioritised.span, title)
                    .hint("remove the priority, or the `const` in front of `entries`"),
            );
            return;
        }
        let has_one_fit =
            |key: &Key| matches!(key.known_match_kind(), Some(MatchKind::Exact | MatchKind::Lpm));
        let is_ordered = !table.keys.iter().all(has_one_fit);
        if !is_ordered {
            let title = "entries of this table have no priorities: its keys are exact or lpm";
            self.report(
                Diagnostic::error("table", table.keys_span, title)
                    .related(prioritised.span, "this entry has one")
                    .hint("at most one exact entry fits a packet, and the longest prefix wins"),
            );
            return;
        }
        if let Some(first) = entries.list.first().filter(|first| first.priority.is_none()) {
            self.report(
                Diagnostic::error("table", first.span, "the first entry needs a priority")
                    .related(prioritised.span, "because this one has one")
                    .hint(
                        "write `priority = ...:` in front of it; those behind it may leave it out",
                    ),
            );
            return;
        }
        self.check_numbers(table, entries);
    }

    /// The numbers that entries have or get.
    fn check_numbers(&mut self, table: &Table, entries: &Entries) {
        let largest_wins = match property(table, "largest_priority_wins") {
            Some(ExpressionKind::Constant(Value::Bool(wins))) => *wins,
            _ => true,
        };
        let delta = match property(table, "priority_delta") {
            Some(ExpressionKind::Constant(Value::Integer(delta))) => delta.clone(),
            _ => Int::one(),
        };
        let mut seen: Vec<(Int, &Entry)> = Vec::new();
        for entry in &entries.list {
            let previous = seen.last().map(|(priority, _)| priority);
            let next = match (&entry.priority, previous) {
                (Some(written), _) => written.clone(),
                (None, Some(previous)) if largest_wins => previous - &delta,
                (None, previous) => &previous.cloned().unwrap_or_default() + &delta,
            };
            if next <= Int::zero() || next > Int::from(i32::MAX) {
                self.report_overflow(table, entry, &next);
                return;
            }
            if let Some((_, twin)) = seen.iter().find(|(known, _)| *known == next) {
                let title = format!("two entries have the priority {next}");
                self.report(
                    Diagnostic::warning("same-priority", entry.span, title)
                        .related(twin.span, "the other one")
                        .hint("if a packet fits both, it is not defined which of them counts"),
                );
            }
            seen.push((next, entry));
        }
    }

    /// Counting down or up from a written priority has left the possible ones.
    fn report_overflow(&mut self, table: &Table, entry: &Entry, priority: &Int) {
        let title = format!("the entries of `{}` run out of priorities", table.name.text);
        let label = format!("this entry would have the priority {priority}");
        self.report(
            Diagnostic::error("table", table.name.span, title)
                .related(entry.span, label)
                .hint(format!("priorities are 1 to {}; see `priority_delta`", i32::MAX)),
        );
    }
}

/// The value of a property that is an expression.
fn property<'t>(table: &'t Table, name: &str) -> Option<&'t ExpressionKind> {
    let found = table.properties.iter().find(|property| &*property.name.text == name)?;
    match &found.value {
        PropertyValue::Expression(Expression { kind, .. }) => Some(kind),
        PropertyValue::List(_) => None,
    }
}
