//! Arrays of counters, meters and registers: what outlives a packet.

use bits::Int;
use tables::{Counter, Meter, MeterUnit};

use crate::error::LoadError;

/// Cells of one counter, meter or register array.
const ARRAY_SIZE_MAX: u64 = 1 << 26;

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

/// An array of meters.
#[derive(Clone, Debug)]
pub struct MeterArray {
    pub unit: MeterUnit,
    pub meters: Vec<Meter>,
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
    use super::*;

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
