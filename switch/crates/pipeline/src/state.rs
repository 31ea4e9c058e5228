//! Counters, meters and registers: what outlives a packet.

use bits::Int;
use units::Time;

use crate::error::LoadError;

/// Cells of one counter, meter or register array.
const ARRAY_SIZE_MAX: u64 = 1 << 26;

/// How often something happened, and for how many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Packets.
    pub packets: u64,
    /// Their bytes, as received.
    pub bytes: u64,
}

impl Counter {
    /// Counts a packet.
    #[inline]
    pub(crate) fn count(&mut self, length_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(length_bytes);
    }
}

/// An array of registers of one width.
#[derive(Clone, Debug)]
pub struct RegisterArray {
    width_bits: u32,
    /// Limbs of 64 bits a register, least significant first.
    limbs: usize,
    values: Box<[u64]>,
}

impl RegisterArray {
    /// Where its values are in it: machine code reaches those of up to 64 bits without asking.
    pub const VALUES_OFFSET: usize = std::mem::offset_of!(RegisterArray, values);

    pub(crate) fn new(size: usize, width_bits: u32) -> RegisterArray {
        let limbs = width_bits.div_ceil(64).max(1) as usize;
        RegisterArray { width_bits, limbs, values: vec![0; size * limbs].into() }
    }

    /// How many registers there are.
    pub fn size(&self) -> usize {
        self.values.len() / self.limbs
    }

    /// Bits of a register.
    pub fn width_bits(&self) -> u32 {
        self.width_bits
    }

    /// The register's value, if there is one at `index`.
    pub fn read(&self, index: u64) -> Option<Int> {
        let start = usize::try_from(index).ok()?.checked_mul(self.limbs)?;
        let limbs = self.values.get(start..start + self.limbs)?;
        Some(crate::expression::unsigned(limbs))
    }

    /// Sets a register to the low bits of a value; `false` if there is none at `index`.
    #[must_use]
    pub fn write(&mut self, index: u64, value: &Int) -> bool {
        let Some(start) = usize::try_from(index).ok().and_then(|at| at.checked_mul(self.limbs))
        else {
            return false;
        };
        let value = value.truncate(self.width_bits as usize);
        let Some(limbs) = self.values.get_mut(start..start + self.limbs) else { return false };
        for (position, limb) in limbs.iter_mut().enumerate() {
            *limb = value.limb(position);
        }
        true
    }

    /// A register of up to 64 bits, if there is one at `index`.
    #[inline]
    pub(crate) fn read_low(&self, index: u64) -> Option<u64> {
        self.values.get(usize::try_from(index).ok()?).copied()
    }

    /// Sets a register of up to 64 bits, if there is one at `index`.
    #[inline]
    pub(crate) fn write_low(&mut self, index: u64, value: u64) {
        let mask = bits::mask64(self.width_bits as usize);
        let slot = usize::try_from(index).ok().and_then(|at| self.values.get_mut(at));
        if let Some(slot) = slot {
            *slot = value & mask;
        }
    }

    /// All registers to zero.
    pub(crate) fn reset(&mut self) {
        self.values.fill(0);
    }
}

/// The colour a meter gives a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    /// Within the committed rate.
    #[default]
    Green,
    /// Beyond the committed, within the peak rate.
    Yellow,
    /// Beyond the peak rate.
    Red,
}

/// What a meter allows: a token bucket for each of two rates (RFC 2698, colour-blind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterConfig {
    /// Packets or bytes a second, committed.
    pub committed_rate_per_s: u64,
    /// Size of the committed bucket, in packets or bytes.
    pub committed_burst: u64,
    /// Packets or bytes a second, peak.
    pub peak_rate_per_s: u64,
    /// Size of the peak bucket, in packets or bytes.
    pub peak_burst: u64,
}

/// One rate's bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bucket {
    tokens: u64,
    /// Tokens that had been added since the meter's configuration when it was last used.
    added: u64,
}

/// A meter. Without a configuration every packet is green.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    config: Option<MeterConfig>,
    since: Time,
    committed: Bucket,
    peak: Bucket,
}

impl Bucket {
    /// Adds what has accrued, then takes `amount` if there is enough.
    ///
    /// Computed from the start, not from the last packet, so that no fraction of a token is lost.
    /// Time counts in whole microseconds, as in simple_switch.
    fn take(&mut self, elapsed_us: u64, rate_per_s: u64, burst: u64, amount: u64) -> bool {
        let added = u128::from(elapsed_us) * u128::from(rate_per_s) / 1_000_000;
        let added = u64::try_from(added).unwrap_or(u64::MAX);
        let new = added.saturating_sub(self.added);
        self.added = added;
        self.tokens = self.tokens.saturating_add(new).min(burst);
        let enough = self.tokens >= amount;
        if enough {
            self.tokens -= amount;
        }
        enough
    }
}

impl Meter {
    /// Sets what the meter allows, with full buckets; `None` lets everything pass.
    pub fn configure(&mut self, config: Option<MeterConfig>, now: Time) {
        let full = |tokens: u64| Bucket { tokens, added: 0 };
        *self = Meter {
            config,
            since: now,
            committed: full(config.map_or(0, |config| config.committed_burst)),
            peak: full(config.map_or(0, |config| config.peak_burst)),
        };
    }

    /// What the meter allows.
    pub fn config(&self) -> Option<MeterConfig> {
        self.config
    }

    /// The colour of `amount` packets or bytes.
    ///
    /// A packet beyond the peak rate takes no committed tokens, nor adds any (`Meter::execute`).
    pub(crate) fn color(&mut self, amount: u64, now: Time) -> Color {
        let Some(config) = self.config else { return Color::Green };
        let elapsed_us = now.since(self.since).whole_us();
        let MeterConfig { committed_rate_per_s, committed_burst, peak_rate_per_s, peak_burst } =
            config;
        if !self.peak.take(elapsed_us, peak_rate_per_s, peak_burst, amount) {
            Color::Red
        } else if !self.committed.take(elapsed_us, committed_rate_per_s, committed_burst, amount) {
            Color::Yellow
        } else {
            Color::Green
        }
    }
}

/// What an array of meters counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterUnit {
    /// Bytes, as received.
    Bytes,
    /// Packets.
    Packets,
}

/// An array of meters.
#[derive(Clone, Debug)]
pub struct MeterArray {
    /// What it counts.
    pub unit: MeterUnit,
    /// The meters.
    pub meters: Vec<Meter>,
}

impl MeterUnit {
    /// What a packet of this length counts.
    pub(crate) fn amount(self, length_bytes: u32) -> u64 {
        match self {
            MeterUnit::Bytes => length_bytes.into(),
            MeterUnit::Packets => 1,
        }
    }
}

/// The size of an array, if there is memory for so many cells.
fn array_size(path: &str, size: u32) -> Result<usize, LoadError> {
    match u64::from(size) <= ARRAY_SIZE_MAX {
        true => Ok(size as usize),
        false => {
            let message = format!("an array has at most {ARRAY_SIZE_MAX} cells, not {size}");
            Err(LoadError::new(path, message))
        }
    }
}

/// The cells of the indirect counter arrays; a direct counter lives in its table.
pub(crate) fn load_counters(source: &bmv2::Program) -> Result<Vec<Vec<Counter>>, LoadError> {
    let arrays = source.counter_arrays.iter().enumerate().filter(|(_, array)| !array.is_direct);
    arrays
        .map(|(index, array)| {
            let path = format!("/counter_arrays/{index}/size");
            Ok(vec![Counter::default(); array_size(&path, array.size.unwrap_or(0))?])
        })
        .collect()
}

impl From<bmv2::MeterUnit> for MeterUnit {
    fn from(unit: bmv2::MeterUnit) -> MeterUnit {
        match unit {
            bmv2::MeterUnit::Bytes => MeterUnit::Bytes,
            bmv2::MeterUnit::Packets => MeterUnit::Packets,
        }
    }
}

pub(crate) fn load_meters(source: &bmv2::Program) -> Result<Vec<MeterArray>, LoadError> {
    let arrays = source.meter_arrays.iter().enumerate();
    arrays
        .map(|(index, array)| {
            let path = format!("/meter_arrays/{index}");
            if array.rate_count != 2 {
                let message = format!("a meter of v1model has 2 rates, not {}", array.rate_count);
                return Err(LoadError::new(format!("{path}/rate_count"), message));
            }
            // A direct meter lives in its table.
            let size = if array.is_direct { 0 } else { array.size };
            let size = array_size(&format!("{path}/size"), size)?;
            Ok(MeterArray { unit: array.unit.into(), meters: vec![Meter::default(); size] })
        })
        .collect()
}

pub(crate) fn load_registers(source: &bmv2::Program) -> Result<Vec<RegisterArray>, LoadError> {
    let arrays = source.register_arrays.iter().enumerate();
    arrays
        .map(|(index, array)| {
            let limbs = u64::from(array.width_bits.div_ceil(64).max(1));
            let total = u64::from(array.size).saturating_mul(limbs);
            let size = u32::try_from(total).unwrap_or(u32::MAX);
            let _ = array_size(&format!("/register_arrays/{index}/size"), size)?;
            Ok(RegisterArray::new(array.size as usize, array.width_bits))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use units::Span;

    use super::*;

    #[test]
    fn a_meter_colours_by_two_rates() {
        let mut meter = Meter::default();
        assert_eq!(meter.color(1, Time::ZERO), Color::Green);
        let config = MeterConfig {
            committed_rate_per_s: 1_000,
            committed_burst: 2,
            peak_rate_per_s: 2_000,
            peak_burst: 3,
        };
        meter.configure(Some(config), Time::ZERO);
        let colors: Vec<Color> = (0..4).map(|_| meter.color(1, Time::ZERO)).collect();
        // The committed bucket holds two, the peak bucket three.
        assert_eq!(colors, [Color::Green, Color::Green, Color::Yellow, Color::Red]);
        // 1 ms later: one committed and two peak tokens more.
        let later = Time::ZERO + Span::from_ms(1);
        let colors: Vec<Color> = (0..3).map(|_| meter.color(1, later)).collect();
        assert_eq!(colors, [Color::Green, Color::Yellow, Color::Red]);
    }

    #[test]
    fn registers_keep_the_low_bits_and_refuse_indexes_beyond_the_end() {
        let mut wide = RegisterArray::new(2, 100);
        let value = Int::one().shift_left(101);
        assert!(wide.write(1, &(&value + &Int::from(7))));
        assert_eq!(wide.read(1), Some(Int::from(7)));
        assert!(!wide.write(2, &value));
        assert_eq!(wide.read(u64::MAX), None);
    }
}
