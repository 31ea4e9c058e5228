//! Tables as a program applies them: which fields of a packet make the key, and where a meter's
//! colour goes. Entries and what finds them are crate `tables`.

mod key;
mod load;

use tables::{NONE, Table};

pub(crate) use key::KeyFields;
pub(crate) use load::TableLoader;

use crate::place::Cell;

/// A table of the program.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub table: Table,
    pub key: KeyFields,
    /// Where the colour of the table's meter goes.
    pub color: Option<Cell>,
    /// Tofino's direct registers, if it has any.
    pub registers: Option<DirectRegisters>,
}

/// Registers with a cell for each entry.
#[derive(Clone, Debug)]
pub(crate) struct DirectRegisters {
    /// Where the number of the entry goes; [`NONE`] after a miss.
    pub number: Cell,
    /// Their arrays.
    pub arrays: Vec<usize>,
}

impl Applied {
    /// The entry that a packet hits, or [`NONE`]. `scratch` is room for two keys.
    #[inline]
    pub fn find(&self, area: &[u8], scratch: &mut [u64]) -> u32 {
        if self.key.is_one_limb {
            return self.table.find_one(self.key.build_one(area));
        }
        self.find_long(area, scratch)
    }

    /// [`Self::find`] with the key at hand, if it is one limb.
    #[inline(always)]
    pub fn find_keyed(&self, key: u64, area: &[u8], scratch: &mut [u64]) -> u32 {
        if self.key.is_one_limb { self.table.find_one(key) } else { self.find_long(area, scratch) }
    }

    fn find_long(&self, area: &[u8], scratch: &mut [u64]) -> u32 {
        if self.table.is_empty() {
            return NONE;
        }
        let shape = self.table.shape();
        let (key, rest) = scratch.split_at_mut(shape.limbs());
        self.key.build(shape, area, key);
        self.table.find(key, &mut rest[..key.len()])
    }
}
