//! Objects by their names, which are the second argument of nearly every function.

use agent::visit::Site;
use pipeline::{EntryId, Pipeline, Table};
use thrift::{Struct, Value};

use crate::codes::{Thrown, table};

/// The number of the argument that names the object.
pub const NAME: i16 = 2;

/// The pipeline, or what is thrown where there is no program.
pub fn pipeline<'a>(site: &'a mut Site<'_>, thrown: Thrown) -> Result<&'a mut Pipeline, Thrown> {
    site.pipeline_mut().ok_or(thrown)
}

/// The number of the object that the arguments name.
pub fn object(
    site: &Site<'_>,
    arguments: &Struct,
    thrown: Thrown,
    look_up: impl Fn(&Pipeline, &str) -> Option<usize>,
) -> Result<usize, Thrown> {
    let pipeline = site.pipeline().ok_or(thrown)?;
    look_up(pipeline, arguments.text(NAME)).ok_or(thrown)
}

/// The table that the arguments name.
pub fn table_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    object(site, arguments, table::INVALID_NAME, Pipeline::table_index)
}

/// The same, of a table whose entries have actions of their own.
pub fn direct_table_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    let found = table_of(site, arguments)?;
    match loaded(site, found)?.profile() {
        None => Ok(found),
        Some(_) => Err(table::WRONG_TYPE),
    }
}

pub fn loaded<'a>(site: &'a Site<'_>, table: usize) -> Result<&'a Table, Thrown> {
    site.pipeline().map(|pipeline| pipeline.table(table)).ok_or(table::INVALID_NAME)
}

/// The entry whose handle is the argument of this number.
pub fn entry_of(
    site: &Site<'_>,
    table: usize,
    arguments: &Struct,
    number: i16,
) -> Result<EntryId, Thrown> {
    let (of, handle) = (loaded(site, table)?, arguments.i32(number).cast_unsigned());
    let id = of.id_of_handle(handle);
    of.entry(id).map_err(|_| table::INVALID_HANDLE)?;
    if of.handle(id) == handle { Ok(id) } else { Err(table::EXPIRED_HANDLE) }
}

/// The clients' handle of an entry.
pub fn handle_value(of: &Table, id: EntryId) -> Value {
    Value::I32(of.handle(id).cast_signed())
}

/// An index of an array with this many cells.
pub fn index(given: i32, size: usize, thrown: Thrown) -> Result<u64, Thrown> {
    let index = usize::try_from(given).ok().filter(|index| *index < size);
    index.map(|index| index as u64).ok_or(thrown)
}
