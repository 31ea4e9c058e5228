//! The entries that a program brings with it, default entries included, put in as a controller would
//! put them.

use tables::{Entry, EntryAction, KeyMatch, TableError};
use units::Time;

use crate::action::action_number;
use crate::error::LoadError;
use crate::pipeline::Pipeline;

/// BMv2's lowest number wins, P4Runtime's highest: one is this less the other.
const PRIORITY_SUM: i32 = i32::MAX;

/// Sets default entries and the entries of the program.
pub(crate) fn fill_tables(
    pipeline: &mut Pipeline,
    source: &bmv2::Program,
) -> Result<(), LoadError> {
    let mut number = 0;
    for name in ["ingress", "egress"] {
        let position = source.pipelines.iter().position(|control| control.name == name);
        let Some(position) = position else { continue };
        for (index, table) in source.pipelines[position].tables.iter().enumerate() {
            let path = format!("/pipelines/{position}/tables/{index}");
            fill_table(pipeline, number, source, table).map_err(|error| error.under(&path))?;
            number += 1;
        }
    }
    Ok(())
}

fn fill_table(
    pipeline: &mut Pipeline,
    number: usize,
    source: &bmv2::Program,
    table: &bmv2::Table,
) -> Result<(), LoadError> {
    let action = |id: u32| action_number(source, id);
    let refused = |error: TableError| LoadError::of_table(&error);
    if let Some(default) = &table.default_entry {
        let under = |error: LoadError| error.under("/default_entry");
        let action = action(default.action_id).map_err(under)?;
        let entry = EntryAction::Action { action, data: default.action_data.clone() };
        pipeline.set_initial_default(number, entry).map_err(|error| under(refused(error)))?;
        let only = default.action_const.then_some(action);
        pipeline.tables[number].table.fix_default(default.action_entry_const, only);
    }
    for (index, entry) in table.entries.iter().flatten().enumerate() {
        let path = format!("/entries/{index}");
        let under = |error: LoadError| error.under(&path);
        let action = action(entry.action_id).map_err(under)?;
        let is_ternary = pipeline.tables[number].table.shape().is_ternary();
        let is_const = entry.is_const;
        let key = entry.match_key.iter().map(|key| match key {
            bmv2::MatchKey::Exact { key } => KeyMatch::Exact(key.clone()),
            bmv2::MatchKey::Lpm { key, prefix_length } => {
                KeyMatch::Lpm { value: key.clone(), length_bits: *prefix_length }
            }
            bmv2::MatchKey::Range { start, end } => {
                KeyMatch::Range { low: start.clone(), high: end.clone() }
            }
            bmv2::MatchKey::Ternary { key, mask } => {
                KeyMatch::Ternary { value: key.clone(), mask: mask.clone() }
            }
            bmv2::MatchKey::Valid { key } => KeyMatch::Exact(u64::from(*key).into()),
        });
        let entry = Entry {
            key: key.collect(),
            priority: if is_ternary { PRIORITY_SUM.saturating_sub(entry.priority) } else { 0 },
            action: EntryAction::Action { action, data: entry.action_data.clone() },
            idle_timeout: None,
        };
        let inserted = pipeline.insert_entry(number, entry, Time::ZERO);
        let id = inserted.map_err(|error| under(refused(error)))?;
        if is_const == Some(true) {
            pipeline.tables[number].table.fix_entry(id);
        }
    }
    // The format has const entries only; what our compiler writes of others is beside each of them.
    let come_and_go =
        |entries: &Vec<bmv2::TableEntry>| entries.iter().any(|entry| entry.is_const.is_some());
    if table.entries.as_ref().is_some_and(|entries| !come_and_go(entries)) {
        pipeline.tables[number].table.fix_entries();
    }
    Ok(())
}
