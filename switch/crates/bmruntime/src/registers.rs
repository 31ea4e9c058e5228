//! Registers. Their values are 64 bits in the interface; of wider ones those at the low end.

use agent::visit::Site;
use bits::Int;
use pipeline::{Pipeline, RegisterArray};
use thrift::{Struct, Type, Value};

use crate::codes::{Thrown, register};
use crate::found::{index, object, pipeline};
use crate::job::{Outcome, Run, Walk};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_register_read", Run::Once(read)),
    ("bm_register_read_all", Run::Walk(read_all)),
    ("bm_register_write", Run::Once(write)),
    ("bm_register_write_range", Run::Walk(write_range)),
    ("bm_register_reset", Run::Walk(reset)),
];

fn array_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    object(site, arguments, register::INVALID_NAME, Pipeline::register_index)
}

fn cells<'a>(site: &'a mut Site<'_>, array: usize) -> Result<&'a mut RegisterArray, Thrown> {
    Ok(pipeline(site, register::INVALID_NAME)?.registers_mut(array))
}

fn read(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let array = array_of(site, arguments)?;
    let cells = cells(site, array)?;
    let at = index(arguments.i32(3), cells.size(), register::INVALID_INDEX)?;
    Ok(cells.read(at).map(|value| value_of(&value)))
}

fn read_all(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let array = array_of(site, arguments)?;
    let count = cells(site, array)?.size() as u64;
    Ok(Walk::list(0..count, Type::I64, move |site, at| {
        Ok(cells(site, array)?.read(at).map(|value| value_of(&value)))
    }))
}

fn write(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let array = array_of(site, arguments)?;
    let cells = cells(site, array)?;
    let at = index(arguments.i32(3), cells.size(), register::INVALID_INDEX)?;
    put(cells, at, arguments.i64(4));
    Ok(None)
}

/// All registers from the first index on, up to the second and without it.
fn write_range(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let array = array_of(site, arguments)?;
    let size = cells(site, array)?.size();
    let given = [3, 4].map(|number| usize::try_from(arguments.i32(number)).ok());
    let [Some(first), Some(end)] = given else { return Err(register::INVALID_INDEX) };
    if first > end || end > size {
        return Err(register::INVALID_INDEX);
    }
    Ok(fill(array, first as u64..end as u64, arguments.i64(5)))
}

fn reset(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    let array = array_of(site, arguments)?;
    let size = cells(site, array)?.size() as u64;
    Ok(fill(array, 0..size, 0))
}

fn fill(array: usize, range: std::ops::Range<u64>, value: i64) -> Walk {
    Walk::each(range, move |site, at| {
        put(cells(site, array)?, at, value);
        Ok(())
    })
}

/// Registers hold bits; the sign of an int<N> is its highest.
fn put(cells: &mut RegisterArray, at: u64, value: i64) {
    let value = Int::from(value).truncate(cells.width_bits() as usize);
    // The caller has checked that it is there.
    let _there = cells.write(at, &value);
}

fn value_of(value: &Int) -> Value {
    Value::I64(value.low_u64().cast_signed())
}
