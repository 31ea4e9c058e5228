//! Keys from a packet's fields.

use tables::{KeyPart, KeyShape};

use crate::place::{Cell, Gather, Place};

/// Where a packet has the parts of a table's key.
#[derive(Clone, Debug)]
pub(crate) struct KeyFields {
    /// The field of each part of the key's shape.
    pub places: Box<[Place]>,
    /// The parts in their short form, if all of them have one; else empty.
    cells: Box<[CellPart]>,
    /// Whether a key is one limb of cells: [`Self::build_one`] builds it without memory.
    pub is_one_limb: bool,
}

/// A part of up to 64 bits in one window: its cell, already masked, and the limb it goes to.
#[derive(Clone, Copy, Debug)]
struct CellPart {
    cell: Gather,
    limb: u32,
}

impl KeyFields {
    pub fn new(shape: &KeyShape, places: Vec<Place>) -> KeyFields {
        let parts = shape.parts().iter().zip(&places);
        let cells: Option<Vec<CellPart>> =
            parts.map(|(part, place)| CellPart::new(part, *place)).collect();
        let is_one_limb = shape.limbs() == 1 && cells.is_some();
        KeyFields { places: places.into(), cells: cells.unwrap_or_default().into(), is_one_limb }
    }

    /// Builds a packet's key of one limb.
    #[inline(always)]
    pub fn build_one(&self, area: &[u8]) -> u64 {
        match &*self.cells {
            [part] => part.cell.load(area),
            parts => parts.iter().fold(0, |key, part| key | part.cell.load(area)),
        }
    }

    /// The parts of a key of one limb, to be combined by `or`.
    pub fn one_limb(&self) -> Option<impl Iterator<Item = Gather>> {
        self.is_one_limb.then(|| self.cells.iter().map(|part| part.cell))
    }

    /// Builds a packet's key.
    #[inline]
    pub fn build(&self, shape: &KeyShape, area: &[u8], key: &mut [u64]) {
        key.fill(0);
        if self.cells.is_empty() {
            return self.build_wide(shape, area, key);
        }
        for part in &self.cells {
            key[part.limb as usize] |= part.cell.load(area);
        }
    }

    fn build_wide(&self, shape: &KeyShape, area: &[u8], key: &mut [u64]) {
        for (part, place) in shape.parts().iter().zip(&self.places) {
            match place {
                Place::Cell(cell) => {
                    let value = cell.load(area) & part.mask.low_u64();
                    key[part.limb()] |= value << part.position();
                }
                Place::Bits(bits) if !part.is_prefix() => {
                    for limb in 0..part.width.div_ceil(64) {
                        let mask = part.mask.limb(limb as usize);
                        key[part.limb() + limb as usize] = bits.load_limb(area, limb) & mask;
                    }
                }
                Place::Bits(_) | Place::Variable(_) => part.put(&place.load(area), key),
            }
        }
    }
}

impl CellPart {
    /// The short form, if the part has one.
    fn new(part: &KeyPart, place: Place) -> Option<CellPart> {
        let Place::Cell(cell) = place else { return None };
        let masked = Cell { mask: cell.mask & part.mask.low_u64() << cell.shift, ..cell };
        Some(CellPart { cell: Gather::new(masked, part.position()), limb: part.limb() as u32 })
    }
}
