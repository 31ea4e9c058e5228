//! Reading tables.

use agent::visit::Site;
use pipeline::{EntryId, Pipeline};
use thrift::{Struct, Type, Value};
use units::Time;

use crate::actions::action_entry;
use crate::codes::{Thrown, of_entries, table};
use crate::found::{entry_of, handle_value, loaded, table_of};
use crate::job::{Outcome, Run, Walk};
use crate::keys::{key_of, key_value, options_value, priority_of};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_mt_get_entries", Run::Walk(entries)),
    ("bm_mt_get_entry", Run::Once(entry)),
    ("bm_mt_get_default_entry", Run::Once(default_entry)),
    ("bm_mt_get_entry_from_key", Run::Once(entry_from_key)),
];

fn entries(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let table = table_of(site, arguments)?;
    let numbers = u64::from(loaded(site, table)?.entry_numbers());
    Ok(Walk::list(0..numbers, Type::Struct, move |site, at| {
        let id = EntryId(at as u32);
        match loaded(site, table)?.entry(id) {
            Ok(_) => described(site, table, id).map(Some),
            Err(_) => Ok(None),
        }
    }))
}

fn entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    described(site, table, id).map(Some)
}

fn default_entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = table_of(site, arguments)?;
    let pipeline = site.pipeline().ok_or(table::INVALID_NAME)?;
    Ok(Some(action_entry(pipeline, pipeline.table(table).default_entry())))
}

/// The entry with this key; without a key, the default entry.
fn entry_from_key(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = table_of(site, arguments)?;
    let pipeline = site.pipeline().ok_or(table::INVALID_NAME)?;
    let (of, given) = (pipeline.table(table), arguments.list(3));
    if given.is_empty() {
        let default = of.default_entry().ok_or(table::NO_DEFAULT_ENTRY)?;
        let action = action_entry(pipeline, Some(default));
        let key = Value::List(Type::Struct, Vec::new());
        let entry = Struct::default().with(1, key).with(2, Value::Struct(Struct::default()));
        return Ok(Some(Value::Struct(entry.with(3, Value::I32(0)).with(4, action))));
    }
    let key = key_of(of, given)?;
    let found = of.find_entry(&key, priority_of(of, arguments, 4));
    let id = found.map_err(|error| match of_entries(&error) {
        table::INVALID_HANDLE => table::BAD_MATCH_KEY,
        other => other,
    })?;
    described(site, table, id).map(Some)
}

/// BmMtEntry.
fn described(site: &Site<'_>, table: usize, id: EntryId) -> Result<Value, Thrown> {
    let pipeline = site.pipeline().ok_or(table::INVALID_NAME)?;
    let of = pipeline.table(table);
    let entry = of.entry(id).map_err(|error| of_entries(&error))?;
    let described = Struct::default()
        .with(1, key_value(of, &entry.key))
        .with(2, options_value(of, entry.priority))
        .with(3, handle_value(of, id))
        .with(4, action_entry(pipeline, Some(&entry.action)));
    Ok(Value::Struct(match life(pipeline, table, id, site.now()) {
        Some(life) => described.with(5, life),
        None => described,
    }))
}

/// BmMtEntryLife of an entry with a time-out.
fn life(pipeline: &Pipeline, table: usize, id: EntryId, now: Time) -> Option<Value> {
    let of = pipeline.table(table);
    let timeout = of.entry(id).ok()?.idle_timeout?;
    let idle = now.since(of.last_hit(id).ok()?);
    let ms = |us: u64| Value::I32(i32::try_from(us / 1000).unwrap_or(i32::MAX));
    let life = Struct::default().with(1, ms(timeout.whole_us())).with(2, ms(idle.whole_us()));
    Some(Value::Struct(life))
}
