//! Values of the control plane in the pipeline's form, and back.

use bits::Int;
use p4runtime::index::Field;
use p4runtime::translate::cells::{CounterValue, MeterRates};
use p4runtime::translate::table::EntryKey;
use p4runtime::{Code, Refusal};
use pipeline::{KeyMatch, TableError};

/// Priorities came from an i32.
pub(super) fn priority_of(key: &EntryKey) -> i32 {
    key.priority.cast_signed()
}

pub(super) fn counter_of(value: CounterValue) -> pipeline::Counter {
    pipeline::Counter { packets: value.packets, bytes: value.bytes }
}

pub(super) fn meter_config(rates: MeterRates) -> pipeline::MeterConfig {
    pipeline::MeterConfig {
        committed_rate_per_s: rates.committed_rate,
        committed_burst: rates.committed_burst,
        peak_rate_per_s: rates.peak_rate,
        peak_burst: rates.peak_burst,
        excess_burst: rates.excess_burst,
    }
}

pub(super) fn counter_value(counter: pipeline::Counter) -> CounterValue {
    CounterValue { packets: counter.packets, bytes: counter.bytes }
}

pub(super) fn meter_rates(config: pipeline::MeterConfig) -> MeterRates {
    MeterRates {
        committed_rate: config.committed_rate_per_s,
        committed_burst: config.committed_burst,
        peak_rate: config.peak_rate_per_s,
        peak_burst: config.peak_burst,
        excess_burst: config.excess_burst,
    }
}

/// Members of a value set as the pipeline wants them: all fields as one number, the first in the
/// highest bits. Its value sets hold values only, not masks or ranges.
pub(super) fn value_set_values(
    fields: &[Field],
    members: &[Vec<KeyMatch>],
) -> Result<Vec<Int>, Refusal> {
    let value = |member: &Vec<KeyMatch>| {
        fields.iter().zip(member).try_fold(Int::zero(), |sum, (field, part)| match part {
            KeyMatch::Exact(value) => Ok(&sum.shift_left(field.width_bits) | value),
            _ => Err(Refusal::unimplemented("value sets of this switch match exactly")),
        })
    };
    members.iter().map(value).collect()
}

pub(super) fn value_set_member(fields: &[Field], bytes: &[u8]) -> Vec<KeyMatch> {
    let whole = Int::from_be_bytes(bytes);
    let mut below_bits: usize = fields.iter().map(|field| field.width_bits).sum();
    let part = |field: &Field| {
        below_bits -= field.width_bits;
        KeyMatch::Exact(whole.shift_right(below_bits).truncate(field.width_bits))
    };
    fields.iter().map(part).collect()
}

/// The pipeline's reasons with the codes that the specification gives them.
pub(super) fn refused(error: TableError) -> Refusal {
    let code = match &error {
        TableError::ActionNotInTable { .. } | TableError::Data { .. } | TableError::Key { .. } => {
            Code::InvalidArgument
        }
        TableError::Const { .. } => Code::PermissionDenied,
        TableError::Exists { .. } => Code::AlreadyExists,
        TableError::Full { .. } => Code::ResourceExhausted,
        TableError::InUse { .. } => Code::FailedPrecondition,
        TableError::NotFound { .. } => Code::NotFound,
    };
    Refusal::new(code, error.to_string())
}
