//! The switch's time, in microseconds.

use agent::visit::Site;
use thrift::{Struct, Value};
use units::Time;

use crate::job::{Outcome, Run};

pub const FUNCTIONS: &[(&str, Run)] = &[
    ("get_time_elapsed_us", Run::Once(elapsed)),
    ("get_time_since_epoch_us", Run::Once(since_epoch)),
];

/// Since the switch began: what packets have as their timestamps.
fn elapsed(site: &mut Site<'_>, _: &Struct) -> Outcome {
    Ok(Some(Value::I64(elapsed_us(site))))
}

fn since_epoch(site: &mut Site<'_>, _: &Struct) -> Outcome {
    Ok(Some(Value::I64(site.epoch_offset_ns() / 1000 + elapsed_us(site))))
}

fn elapsed_us(site: &Site<'_>) -> i64 {
    i64::try_from(site.now().since(Time::ZERO).whole_us()).unwrap_or(i64::MAX)
}
