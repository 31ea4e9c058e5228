//! Meters: of entries, and arrays. The interface has rates in units a microsecond, with fractions.
//!
//! bmv2 keeps the meters of a table's entries as an array, too: their handles are its indexes, and what
//! all of it is set to holds for entries that are added later.

use agent::visit::Site;
use pipeline::{EntryId, Meter, MeterConfig, MeterRate, Pipeline};
use thrift::{Struct, Type, Value};

use crate::codes::{Thrown, meter, of_entries, table};
use crate::found::{NAME, entry_of, index, loaded, object, pipeline, table_of};
use crate::job::{Outcome, Run, Walk};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_mt_set_meter_rates", Run::Once(set_of_entry)),
    ("bm_mt_get_meter_rates", Run::Once(get_of_entry)),
    ("bm_meter_array_set_rates", Run::Walk(set_all)),
    ("bm_meter_set_rates", Run::Once(set)),
    ("bm_meter_get_rates", Run::Once(get)),
];

/// Millionths a second that are one a microsecond.
const MILLIONTHS_PER_S: f64 = 1e12;

/// Two rates, the second no lower than the first.
fn config_of(arguments: &Struct, number: i16) -> Result<MeterConfig, Thrown> {
    let rate = |value: &Value| match value {
        Value::Struct(rate) => Ok((rate.double(1), rate.i32(2))),
        _ => Err(meter::BAD_RATES),
    };
    let rates: Vec<_> = arguments.list(number).iter().map(rate).collect::<Result<_, _>>()?;
    let [(committed, committed_burst), (peak, peak_burst)] = rates[..] else {
        return Err(meter::BAD_RATES);
    };
    // Also what is not a number.
    if !(0.0 <= committed && committed <= peak && peak <= 1e12) {
        return Err(meter::INVALID_RATE);
    }
    let burst = |burst: i32| u64::try_from(burst).map_err(|_| meter::INVALID_BURST);
    let rate =
        |per_us: f64| MeterRate::from_millionths((per_us * MILLIONTHS_PER_S).round() as u128);
    Ok(MeterConfig {
        committed_rate: rate(committed),
        committed_burst: burst(committed_burst)?,
        peak_rate: rate(peak),
        peak_burst: burst(peak_burst)?,
        excess_burst: None,
    })
}

/// A list of BmMeterRateConfig; empty for a meter without a configuration.
fn rates_value(config: Option<MeterConfig>) -> Value {
    let rate = |rate: MeterRate, burst: u64| {
        let burst = i32::try_from(burst).unwrap_or(i32::MAX);
        let rate = Value::Double(rate.millionths() as f64 / MILLIONTHS_PER_S);
        Value::Struct(Struct::default().with(1, rate).with(2, Value::I32(burst)))
    };
    let rates = config.map(|config| {
        vec![
            rate(config.committed_rate, config.committed_burst),
            rate(config.peak_rate, config.peak_burst),
        ]
    });
    Value::List(Type::Struct, rates.unwrap_or_default())
}

/// The meter of the entry that the arguments mean.
fn meter_of_entry<'a>(site: &'a mut Site<'_>, arguments: &Struct) -> Result<&'a mut Meter, Thrown> {
    let table = table_of(site, arguments)?;
    if loaded(site, table)?.meter_unit().is_none() {
        return Err(table::METERS_DISABLED);
    }
    let id: EntryId = entry_of(site, table, arguments, 3)?;
    let found = pipeline(site, table::INVALID_NAME)?.table_mut(table).meter(id);
    found.map_err(|error| of_entries(&error))?.ok_or(table::METERS_DISABLED)
}

fn set_of_entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let config = config_of(arguments, 4).map_err(|_| table::INVALID_METER_OPERATION)?;
    let now = site.now();
    meter_of_entry(site, arguments)?.configure(Some(config), now);
    Ok(None)
}

fn get_of_entry(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let config = meter_of_entry(site, arguments)?.config();
    Ok(Some(rates_value(config)))
}

fn array_of(site: &Site<'_>, arguments: &Struct) -> Result<usize, Thrown> {
    object(site, arguments, meter::INVALID_NAME, Pipeline::meter_index)
}

/// The table whose direct meters the arguments name.
fn table_of_meters(site: &Site<'_>, arguments: &Struct) -> Option<usize> {
    site.pipeline()?.table_of_meters(arguments.text(NAME))
}

/// The cell that the arguments mean.
fn cell_of<'a>(site: &'a mut Site<'_>, arguments: &Struct) -> Result<&'a mut Meter, Thrown> {
    if let Some(table) = table_of_meters(site, arguments) {
        let id = entry_of(site, table, arguments, 3).map_err(|_| meter::INVALID_INDEX)?;
        let found = pipeline(site, meter::INVALID_NAME)?.table_mut(table).meter(id);
        return found.ok().flatten().ok_or(meter::INVALID_INDEX);
    }
    let array = array_of(site, arguments)?;
    let cells = &mut pipeline(site, meter::INVALID_NAME)?.meters_mut(array).meters;
    let at = index(arguments.i32(3), cells.len(), meter::INVALID_INDEX)?;
    Ok(&mut cells[at as usize])
}

fn set(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let now = site.now();
    let cell = cell_of(site, arguments)?;
    cell.configure(Some(config_of(arguments, 4)?), now);
    Ok(None)
}

fn get(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let config = cell_of(site, arguments)?.config();
    Ok(Some(rates_value(config)))
}

fn set_all(site: &mut Site<'_>, arguments: &Struct) -> Result<Walk, Thrown> {
    if let Some(table) = table_of_meters(site, arguments) {
        return set_all_of_entries(site, table, config_of(arguments, 3)?);
    }
    let array = array_of(site, arguments)?;
    let config = config_of(arguments, 3)?;
    let count = pipeline(site, meter::INVALID_NAME)?.meters(array).meters.len() as u64;
    Ok(Walk::each(0..count, move |site, at| {
        let now = site.now();
        let cells = &mut pipeline(site, meter::INVALID_NAME)?.meters_mut(array).meters;
        cells[at as usize].configure(Some(config), now);
        Ok(())
    }))
}

/// Those of entries that there are, one by one, and of those that will be added.
fn set_all_of_entries(
    site: &mut Site<'_>,
    table: usize,
    config: MeterConfig,
) -> Result<Walk, Thrown> {
    let loaded = pipeline(site, meter::INVALID_NAME)?.table_mut(table);
    loaded.set_new_meters(Some(config));
    let numbers = u64::from(loaded.entry_numbers());
    Ok(Walk::each(0..numbers, move |site, at| {
        let now = site.now();
        let loaded = pipeline(site, meter::INVALID_NAME)?.table_mut(table);
        if let Ok(Some(found)) = loaded.meter(EntryId(at as u32)) {
            found.configure(Some(config), now);
        }
        Ok(())
    }))
}
