//! Counters: of entries, and arrays.

use agent::visit::Site;
use pipeline::{Counter, EntryId, Pipeline};
use thrift::{Struct, Value};

use crate::codes::{Thrown, counter, of_entries, table};
use crate::found::{entry_of, index, loaded, object, pipeline, table_of};
use crate::job::{Outcome, Run, Walk};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_mt_read_counter", Run::Once(read_of_entry)),
    ("bm_mt_reset_counters", Run::Walk(reset_of_entries)),
    ("bm_mt_write_counter", Run::Once(write_of_entry)),
    ("bm_counter_read", Run::Once(read)),
    ("bm_counter_reset_all", Run::Walk(reset_all)),
    ("bm_counter_write", Run::Once(write)),
];

/// The table that the arguments name, if its entries have counters.
fn counted_table_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    let found = table_of(site, arguments)?;
    match loaded(site, found)?.default_counter() {
        Some(_) => Ok(found),
        None => Err(table::COUNTERS_DISABLED),
    }
}

fn read_of_entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = counted_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    let found = loaded(site, table)?.counter(id).map_err(|error| of_entries(&error))?;
    Ok(found.map(value_of))
}

fn write_of_entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let table = counted_table_of(site, arguments)?;
    let id = entry_of(site, table, arguments, 3)?;
    let value = given(arguments, 4);
    let loaded = pipeline(site, table::INVALID_NAME)?.table_mut(table);
    loaded.set_counter(id, value).map_err(|error| of_entries(&error))?;
    Ok(None)
}

fn reset_of_entries(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let table = counted_table_of(site, arguments)?;
    let numbers = u64::from(loaded(site, table)?.entry_numbers());
    Ok(Walk::each(0..numbers, move |site, at| {
        let loaded = pipeline(site, table::INVALID_NAME)?.table_mut(table);
        // There may be no entry of this number.
        let _absent = loaded.set_counter(EntryId(at as u32), Counter::default());
        Ok(())
    }))
}

fn array_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    object(site, arguments, counter::INVALID_NAME, Pipeline::counter_index)
}

/// The cell that the arguments mean.
fn cell_of<'a>(site: &'a mut Site<'_>, arguments: &Struct) -> Result<&'a mut Counter, Thrown> {
    let array = array_of(site, arguments)?;
    let cells = pipeline(site, counter::INVALID_NAME)?.counters_mut(array);
    let at = index(arguments.i32(3), cells.len(), counter::INVALID_INDEX)?;
    Ok(&mut cells[at as usize])
}

fn read(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let cell = cell_of(site, arguments)?;
    Ok(Some(value_of(*cell)))
}

fn write(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    *cell_of(site, arguments)? = given(arguments, 4);
    Ok(None)
}

fn reset_all(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let array = array_of(site, arguments)?;
    let count = pipeline(site, counter::INVALID_NAME)?.counters(array).len() as u64;
    Ok(Walk::each(0..count, move |site, at| {
        pipeline(site, counter::INVALID_NAME)?.counters_mut(array)[at as usize] =
            Counter::default();
        Ok(())
    }))
}

/// BmCounterValue.
fn value_of(counter: Counter) -> Value {
    let count = |count: u64| Value::I64(count.cast_signed());
    Value::Struct(Struct::default().with(1, count(counter.bytes)).with(2, count(counter.packets)))
}

fn given(arguments: &Struct, number: i16) -> Counter {
    let value = arguments.structure(number);
    let count = |field: i16| value.map_or(0, |value| value.i64(field).cast_unsigned());
    Counter { bytes: count(1), packets: count(2) }
}
