//! Values of counters and meters, wherever they are: in arrays or beside table entries.

use messages::p4::v1 as p4;

use crate::index::MeterType;
use crate::refusal::Refusal;

/// A counter's value; a program that counts only one unit leaves the other 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterValue {
    pub packets: u64,
    pub bytes: u64,
}

/// The rates of a meter (RFC 2698, or RFC 2697), in the meter's unit (bytes or packets) a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterRates {
    /// Committed information rate.
    pub committed_rate: u64,
    /// Committed burst size.
    pub committed_burst: u64,
    /// Peak information rate.
    pub peak_rate: u64,
    /// Peak burst size.
    pub peak_burst: u64,
    /// Excess burst size, of meters with one rate and three colours.
    pub excess_burst: Option<u64>,
}

/// Neighbouring cells of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRange {
    /// The first of them.
    pub first: u64,
    pub count: u64,
}

impl CellRange {
    pub fn one(at: u64) -> Self {
        Self { first: at, count: 1 }
    }

    pub fn indexes(self) -> std::ops::Range<u64> {
        self.first..self.first + self.count
    }

    /// Takes the first cells away and returns them.
    pub fn split_off_first(&mut self, count: u64) -> Self {
        let count = count.min(self.count);
        let first = Self { first: self.first, count };
        *self = Self { first: self.first + count, count: self.count - count };
        first
    }
}

/// A counter's new value; INVALID_ARGUMENT if it is negative.
pub fn counter_of(data: &p4::CounterData) -> Result<CounterValue, Refusal> {
    Ok(CounterValue {
        packets: unsigned("packet_count", data.packet_count)?,
        bytes: unsigned("byte_count", data.byte_count)?,
    })
}

/// The message for a counter's value.
pub fn counter_message(value: &CounterValue) -> p4::CounterData {
    p4::CounterData {
        byte_count: value.bytes.cast_signed(),
        packet_count: value.packets.cast_signed(),
    }
}

/// A meter's configuration. Of its numbers those of the meter's type must be given, and be related as
/// the specification says.
pub fn meter_of(config: &p4::MeterConfig, kind: MeterType) -> Result<MeterRates, Refusal> {
    let excess_burst = unsigned("eburst", config.eburst)?;
    let rates = MeterRates {
        committed_rate: unsigned("cir", config.cir)?,
        committed_burst: unsigned("cburst", config.cburst)?,
        peak_rate: unsigned("pir", config.pir)?,
        peak_burst: unsigned("pburst", config.pburst)?,
        excess_burst: (kind == MeterType::SingleRateThreeColor).then_some(excess_burst),
    };
    if excess_burst != 0 && kind != MeterType::SingleRateThreeColor {
        return Err(Refusal::invalid(format!(
            "eburst is set, but the meter has {}: leave it 0",
            kind.words()
        )));
    }
    let one_rate = (rates.committed_rate, rates.committed_burst);
    if kind != MeterType::TwoRateThreeColor && one_rate != (rates.peak_rate, rates.peak_burst) {
        return Err(Refusal::invalid(format!(
            "the meter has {}: pir must be cir, {}, and pburst must be cburst, {}",
            kind.words(),
            rates.committed_rate,
            rates.committed_burst
        )));
    }
    if rates.committed_rate > rates.peak_rate {
        return Err(Refusal::invalid(format!(
            "cir {} is above pir {}: the committed rate is at most the peak rate",
            rates.committed_rate, rates.peak_rate
        )));
    }
    Ok(rates)
}

/// The message for a meter's configuration.
pub fn meter_message(rates: &MeterRates) -> p4::MeterConfig {
    p4::MeterConfig {
        cir: rates.committed_rate.cast_signed(),
        cburst: rates.committed_burst.cast_signed(),
        pir: rates.peak_rate.cast_signed(),
        pburst: rates.peak_burst.cast_signed(),
        eburst: rates.excess_burst.unwrap_or_default().cast_signed(),
    }
}

/// This switch counts no packets per colour; the specification wants to hear so.
pub fn no_meter_counters() -> Refusal {
    Refusal::unimplemented("meters of this switch have no counters per colour; leave them unset")
}

/// Which cells of an array a write is for: one, or all if the index is unset.
pub fn range_of(index: Option<&p4::Index>, size: u64) -> Result<CellRange, Refusal> {
    let at = index_of(index, size)?;
    Ok(at.map_or(CellRange { first: 0, count: size }, CellRange::one))
}

/// Which cells of an array are meant: one, or all if the index is unset.
pub fn index_of(index: Option<&p4::Index>, size: u64) -> Result<Option<u64>, Refusal> {
    let Some(p4::Index { index }) = index else { return Ok(None) };
    let at = u64::try_from(*index)
        .map_err(|_| Refusal::invalid(format!("index {index} is negative")))?;
    if at >= size {
        return Err(Refusal::out_of_range(format!(
            "index {at} is outside the array, which has {size} cells (0 to {})",
            size.saturating_sub(1)
        )));
    }
    Ok(Some(at))
}

fn unsigned(name: &str, value: i64) -> Result<u64, Refusal> {
    u64::try_from(value).map_err(|_| Refusal::invalid(format!("{name} {value} is negative")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification, at `MeterSpec.Type`: which numbers of a configuration go together.
    #[test]
    fn a_meter_takes_what_its_type_has_and_gives_it_back() {
        let config = |[cir, cburst, pir, pburst, eburst]: [i64; 5]| p4::MeterConfig {
            cir,
            cburst,
            pir,
            pburst,
            eburst,
        };
        let (one, two) = (MeterType::SingleRateTwoColor, MeterType::TwoRateThreeColor);
        let three = MeterType::SingleRateThreeColor;
        for (kind, numbers) in [
            (one, [5, 6, 5, 6, 0]),
            (three, [5, 6, 5, 6, 0]),
            (three, [5, 6, 5, 6, 7]),
            (two, [5, 6, 7, 8, 0]),
            (two, [5, 6, 5, 6, 0]),
        ] {
            let rates = meter_of(&config(numbers), kind);
            let again = rates.map(|rates| meter_message(&rates));
            assert_eq!(again, Ok(config(numbers)), "{kind:?}");
        }
        for (kind, numbers, said) in [
            (one, [5, 6, 7, 6, 0], "pir must be cir, 5"),
            (one, [5, 6, 5, 8, 0], "pburst must be cburst, 6"),
            (one, [5, 6, 5, 6, 7], "eburst is set"),
            (three, [5, 6, 7, 8, 9], "pir must be cir, 5"),
            (two, [5, 6, 7, 8, 9], "eburst is set"),
            (two, [7, 6, 5, 8, 0], "cir 7 is above pir 5"),
        ] {
            let refusal = meter_of(&config(numbers), kind).expect_err(said);
            assert!(refusal.message.contains(said), "{kind:?}: {}", refusal.message);
        }
    }
}
