//! Values of the control plane in the pipeline's form, and back.

use bits::Int;
use p4runtime::index::{Field, MatchKind};
use p4runtime::translate::cells::{CounterValue, MeterRates};
use p4runtime::translate::matching::canonical;
use p4runtime::translate::table::EntryKey;
use p4runtime::{Code, Refusal};
use pipeline::{KeyMatch, MeterRate, TableError, ValueSetMember};

/// Priorities came from an i32.
pub(super) fn priority_of(key: &EntryKey) -> i32 {
    key.priority.cast_signed()
}

pub(super) fn counter_of(value: CounterValue) -> pipeline::Counter {
    pipeline::Counter { packets: value.packets, bytes: value.bytes }
}

pub(super) fn meter_config(rates: MeterRates) -> pipeline::MeterConfig {
    pipeline::MeterConfig {
        committed_rate: MeterRate::per_s(rates.committed_rate),
        committed_burst: rates.committed_burst,
        peak_rate: MeterRate::per_s(rates.peak_rate),
        peak_burst: rates.peak_burst,
        excess_burst: rates.excess_burst,
    }
}

pub(super) fn counter_value(counter: pipeline::Counter) -> CounterValue {
    CounterValue { packets: counter.packets, bytes: counter.bytes }
}

pub(super) fn meter_rates(config: pipeline::MeterConfig) -> MeterRates {
    MeterRates {
        committed_rate: config.committed_rate.whole_per_s(),
        committed_burst: config.committed_burst,
        peak_rate: config.peak_rate.whole_per_s(),
        peak_burst: config.peak_burst,
        excess_burst: config.excess_burst,
    }
}

/// Members of a value set as the pipeline wants them: all fields as one number, the first in the
/// highest bits, and the bits of them that count.
pub(super) fn value_set_members(
    fields: &[Field],
    members: &[Vec<KeyMatch>],
) -> Result<Vec<ValueSetMember>, Refusal> {
    members.iter().map(|member| member_of(fields, member)).collect()
}

fn member_of(fields: &[Field], parts: &[KeyMatch]) -> Result<ValueSetMember, Refusal> {
    let ones = |width_bits: usize| &Int::one().shift_left(width_bits) - &Int::one();
    let (mut value, mut mask, mut width_bits) = (Int::zero(), Int::zero(), 0);
    for (field, part) in fields.iter().zip(parts) {
        let all = ones(field.width_bits);
        let (of_field, counts) = match part {
            KeyMatch::Any => (Int::zero(), Int::zero()),
            KeyMatch::Exact(value) => (value.clone(), all),
            KeyMatch::Lpm { value, length_bits } => {
                let behind_bits = field.width_bits.saturating_sub(*length_bits as usize);
                (value.clone(), all.shift_right(behind_bits).shift_left(behind_bits))
            }
            KeyMatch::Range { low, high } if low == high => (low.clone(), all),
            KeyMatch::Range { low, high } if low.is_zero() && *high == all => {
                (Int::zero(), Int::zero())
            }
            KeyMatch::Range { .. } => {
                return Err(Refusal::unimplemented(format!(
                    "{}: value sets of this switch compare with values and masks; write a range as \
                     several members with masks",
                    field.name
                )));
            }
            KeyMatch::Ternary { value, mask } => (value.clone(), mask.clone()),
        };
        value = &value.shift_left(field.width_bits) | &of_field;
        mask = &mask.shift_left(field.width_bits) | &counts;
        width_bits += field.width_bits;
    }
    let mask = (mask != ones(width_bits)).then_some(mask);
    Ok(ValueSetMember { value, mask })
}

/// A member as it is read back.
pub(super) fn value_set_member(fields: &[Field], member: &ValueSetMember) -> Vec<KeyMatch> {
    let mut below_bits: usize = fields.iter().map(|field| field.width_bits).sum();
    let part = |field: &Field| {
        below_bits -= field.width_bits;
        let cut_out = |number: &Int| number.shift_right(below_bits).truncate(field.width_bits);
        let value = cut_out(&member.value);
        let found = match (member.mask.as_ref().map(cut_out), field.kind) {
            (None, _) => KeyMatch::Exact(value),
            (Some(mask), MatchKind::Lpm) => {
                let ones = (0..field.width_bits).filter(|bit| mask.bit(*bit)).count();
                KeyMatch::Lpm { value, length_bits: ones as u32 }
            }
            (Some(mask), _) => KeyMatch::Ternary { value, mask },
        };
        canonical(field, &found)
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
        TableError::Full { .. } | TableError::Memory(_) => Code::ResourceExhausted,
        TableError::InUse { .. } => Code::FailedPrecondition,
        TableError::NotFound { .. } => Code::NotFound,
    };
    Refusal::new(code, error.to_string())
}
