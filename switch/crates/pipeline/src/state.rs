//! Arrays of counters, meters and registers: what outlives a packet.

use bits::Int;
use tables::{Counter, Meter, MeterUnit};

use crate::error::LoadError;
use crate::room::Room;

/// An array of registers of one width.
#[derive(Clone, Debug)]
pub struct RegisterArray {
    width_bits: u32,
    /// Limbs of 64 bits a register, least significant first.
    limbs: usize,
    values: Box<[u64]>,
    /// The initial value of all cells.
    initial: Int,
}

impl RegisterArray {
    /// Where its values are in it: machine code reaches those of up to 64 bits without asking.
    pub const VALUES_OFFSET: usize = std::mem::offset_of!(RegisterArray, values);

    pub(crate) fn new(size: usize, width_bits: u32) -> RegisterArray {
        let limbs = width_bits.div_ceil(64).max(1) as usize;
        RegisterArray {
            width_bits,
            limbs,
            values: vec![0; size * limbs].into(),
            initial: Int::zero(),
        }
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
        Some(Int::from_unsigned_limbs(limbs))
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

    /// The same, all registers at a value.
    fn starting_at(mut self, initial: Int) -> RegisterArray {
        self.initial = initial;
        self.reset();
        self
    }

    /// One register to what it held at first.
    pub(crate) fn reset_cell(&mut self, index: u64) {
        let initial = self.initial.clone();
        let _ = self.write(index, &initial);
    }

    /// All registers to what they held at first.
    pub(crate) fn reset(&mut self) {
        if self.initial.is_zero() {
            return self.values.fill(0);
        }
        let initial = self.initial.clone();
        for index in 0..self.size() {
            let _ = self.write(index as u64, &initial);
        }
    }
}

/// An array of meters.
#[derive(Clone, Debug)]
pub struct MeterArray {
    pub unit: MeterUnit,
    pub meters: Vec<Meter>,
}

/// The cells of the indirect counter arrays; a direct counter lives in its table.
pub(crate) fn load_counters(
    source: &bmv2::Program,
    room: &mut Room,
) -> Result<Vec<Vec<Counter>>, LoadError> {
    let arrays = source.counter_arrays.iter().enumerate().filter(|(_, array)| !array.is_direct);
    arrays
        .map(|(index, array)| {
            let path = format!("/counter_arrays/{index}/size");
            let size = array.size.unwrap_or(0);
            let size = room.take(&path, &array.name, size, size_of::<Counter>())?;
            Ok(vec![Counter::default(); size])
        })
        .collect()
}

pub(crate) fn load_meters(
    source: &bmv2::Program,
    room: &mut Room,
) -> Result<Vec<MeterArray>, LoadError> {
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
            let path = format!("{path}/size");
            let size = room.take(&path, &array.name, size, size_of::<Meter>())?;
            Ok(MeterArray { unit: array.unit.into(), meters: vec![Meter::default(); size] })
        })
        .collect()
}

pub(crate) fn load_registers(
    source: &bmv2::Program,
    room: &mut Room,
) -> Result<Vec<RegisterArray>, LoadError> {
    let arrays = source.register_arrays.iter().enumerate();
    arrays
        .map(|(index, array)| {
            let limbs = array.width_bits.div_ceil(64).max(1) as usize;
            let path = format!("/register_arrays/{index}/size");
            let size = room.take(&path, &array.name, array.size, limbs * size_of::<u64>())?;
            let registers = RegisterArray::new(size, array.width_bits);
            Ok(match &array.initial_value {
                Some(initial) => registers.starting_at(initial.clone()),
                None => registers,
            })
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

    #[test]
    fn a_cell_counts_with_all_its_bytes() {
        // 2^26 registers of 64 bits take 2^29 bytes, which is all there is; of 65 bits, twice that.
        let program = |width_bits| {
            let array = bmv2::RegisterArray { size: 1 << 26, width_bits, ..Default::default() };
            bmv2::Program { register_arrays: vec![array], ..Default::default() }
        };
        let room = || Room::of_arrays(units::memory::Share::default());
        assert!(load_registers(&program(65), &mut room()).is_err());
        assert!(load_registers(&program(64), &mut room()).is_ok());
    }
}
