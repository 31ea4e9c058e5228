//! Tables whose entries have actions of their own, and default entries.

use agent::visit::Site;
use pipeline::{Entry, EntryId};
use thrift::{Struct, Value};

use crate::actions::action_of;
use crate::codes::{Thrown, of_default, of_entries, table};
use crate::found::{direct_table_of, entry_of, handle_value, loaded, pipeline, table_of};
use crate::job::{Outcome, Run, Walk};
use crate::keys::{key_of, priority_of};

/// Functions by their names.
pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_mt_get_num_entries", Run::Once(count)),
    ("bm_mt_clear_entries", Run::Walk(clear)),
    ("bm_mt_add_entry", Run::Once(add)),
    ("bm_mt_set_default_action", Run::Once(set_default)),
    ("bm_mt_reset_default_entry", Run::Once(reset_default)),
    ("bm_mt_delete_entry", Run::Once(delete)),
    ("bm_mt_modify_entry", Run::Once(modify)),
    ("bm_mt_set_entry_ttl", Run::Once(set_ttl)),
];

fn count(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = table_of(site, arguments)?;
    let count = loaded(site, table)?.len();
    Ok(Some(Value::I64(i64::try_from(count).unwrap_or(i64::MAX))))
}

/// Removes the entries one by one, after which handles begin again; then, if asked to, puts the
/// default entry of the program back.
fn clear(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let table = table_of(site, arguments)?;
    let (resets_default, numbers) = (arguments.bool(3), loaded(site, table)?.entry_numbers());
    let behind_entries = u64::from(numbers);
    Ok(Walk::each(0..behind_entries + 1, move |site, at| {
        if at == behind_entries {
            pipeline(site, table::INVALID_NAME)?.table_mut(table).forget_generations();
            return match resets_default {
                // A constant default entry is what it was at first.
                true => set_default_entry(site, table, None).or(Ok(())),
                false => Ok(()),
            };
        }
        let id = EntryId(at as u32);
        match loaded(site, table)?.entry(id) {
            Ok(_) => site.delete_entry(table, id).map_err(|error| of_entries(&error)),
            Err(_) => Ok(()),
        }
    }))
}

fn add(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = direct_table_of(site, arguments)?;
    let now = site.now();
    let pipeline = pipeline(site, table::INVALID_NAME)?;
    let of = pipeline.table(table);
    let key = key_of(of, arguments.list(3))?;
    let priority = priority_of(of, arguments, 6);
    let action = action_of(pipeline, table, arguments, 4)?;
    let entry = Entry { key, priority, action, idle_timeout: None };
    let id = pipeline.insert_entry(table, entry, now).map_err(|error| of_entries(&error))?;
    Ok(Some(handle_value(pipeline.table(table), id)))
}

fn set_default(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = direct_table_of(site, arguments)?;
    let action = action_of(pipeline(site, table::INVALID_NAME)?, table, arguments, 3)?;
    set_default_entry(site, table, Some(action)).map(|()| None)
}

fn reset_default(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = direct_table_of(site, arguments)?;
    set_default_entry(site, table, None).map(|()| None)
}

fn set_default_entry(
    site: &mut Site<'_>,
    table: usize,
    action: Option<pipeline::EntryAction>,
) -> Result<(), Thrown> {
    let pipeline = pipeline(site, table::INVALID_NAME)?;
    let done = pipeline.set_default_entry(table, action);
    done.map_err(|error| of_default(pipeline.table(table), &error))
}

fn delete(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = direct_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    site.delete_entry(table, id).map_err(|error| of_entries(&error))?;
    Ok(None)
}

fn modify(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = direct_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    let action = action_of(pipeline(site, table::INVALID_NAME)?, table, arguments, 4)?;
    site.modify_entry(table, id, action).map_err(|error| of_entries(&error))?;
    Ok(None)
}

fn set_ttl(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = direct_table_of(site, arguments)?;
    set_entry_ttl(site, table, arguments)
}

/// Sets the time after which an idle entry is reported, of a table that has such times.
pub fn set_entry_ttl(site: &mut Site<'_>, table: usize, arguments: &Struct) -> Outcome {
    let id = entry_of(site, table, arguments, 3)?;
    if !loaded(site, table)?.has_timeouts() {
        return Err(table::AGEING_DISABLED);
    }
    let timeout_ms = u32::try_from(arguments.i32(4)).unwrap_or(0);
    site.set_idle_timeout(table, id, timeout_ms).map_err(|error| of_entries(&error))?;
    Ok(None)
}
