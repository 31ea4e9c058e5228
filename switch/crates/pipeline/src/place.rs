//! Where a field lives in a packet's headers, and how to read and write it there.
//!
//! All headers and metadata of a packet are one array of bytes. A header keeps its fields packed
//! as on the wire, so extracting and emitting it are copies of bytes, and a program pays only for
//! the fields it touches. A metadata field has eight bytes of its own.
//!
//! ```text
//!        ┌──────────┬─────────────────┬─────────────────────┬────────────────────┬──────┐
//!        │ validity │ fill of stacks  │ metadata: 8 bytes   │ headers, packed as │ 8 B  │
//!        │ 1 B each │ 1 B each        │ a field, big-endian │ on the wire        │ rest │
//!        └──────────┴─────────────────┴─────────────────────┴────────────────────┴──────┘
//! ```
//!
//! A field of up to 64 bits that fits a window of eight bytes is a [`Cell`]: read the window,
//! swap, shift, mask. That is nearly every field there is. The rest are [`Bits`].

use bits::{Int, mask64};

/// A field inside one window of eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Where the window starts.
    pub offset: u32,
    /// How far the field's lowest bit is from the window's.
    pub shift: u8,
    /// Bits of the field, 1 to 64; 0 for a field without bits.
    pub width: u8,
    /// The field's bits in the window.
    pub mask: u64,
}

/// A metadata field that has its window to itself: written without reading what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where the window starts.
    pub offset: u32,
    /// The field's bits, which are the window's lowest.
    pub mask: u64,
}

/// A cell on its way into a number made of several: turned to its position and masked there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// Where the window starts.
    pub offset: u32,
    /// How far the window is turned to the right.
    pub rotation: u32,
    /// The cell's bits, in the window so turned.
    pub mask: u64,
}

/// Some bits of eight bytes, left where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked {
    pub offset: u32,
    pub mask: u64,
}

/// A field of any width at any bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    /// The byte with the first bit.
    pub offset: u32,
    /// Which bit of that byte, from the most significant.
    pub bit: u8,
    pub width: u32,
}

/// A `varbit` field: its length in bits is in a cell, its bytes start at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The length in bits, always whole bytes.
    pub length: Cell,
    pub offset: u32,
    /// Room in bytes.
    pub size: u32,
}

/// Where a field lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In one window.
    Cell(Cell),
    /// Anywhere.
    Bits(Bits),
    /// Of variable length.
    Variable(Variable),
}

impl Cell {
    /// A field that is the low `width` bits of the eight bytes at `offset`.
    pub(crate) fn low(offset: u32, width: u8) -> Cell {
        Cell::new(offset, 0, width)
    }

    /// A field whose lowest bit is `shift` bits from that of the eight bytes at `offset`.
    pub(crate) fn new(offset: u32, shift: u8, width: u8) -> Cell {
        Cell { offset, shift, width, mask: mask64(width.into()) << shift }
    }

    #[inline(always)]
    pub(crate) fn load(self, area: &[u8]) -> u64 {
        (window(area, self.offset) & self.mask) >> self.shift
    }

    /// The field's value with its sign.
    #[inline(always)]
    pub(crate) fn load_signed(self, area: &[u8]) -> u64 {
        let unused = 64 - u32::from(self.width);
        ((self.load(area) << unused) as i64 >> unused) as u64
    }

    /// Stores the low bits of `value`.
    #[inline(always)]
    pub(crate) fn store(self, area: &mut [u8], value: u64) {
        let window = window_mut(area, self.offset);
        let before = u64::from_be_bytes(*window);
        // The bits that differ, and of these the field's.
        *window = (before ^ ((before ^ value << self.shift) & self.mask)).to_be_bytes();
    }

    /// The same field of a header that starts `base` later.
    #[inline(always)]
    pub(crate) fn at(self, base: u32) -> Cell {
        Cell { offset: self.offset + base, ..self }
    }
}

/// Eight bytes of the area as a number. One comparison guards the access.
#[inline(always)]
fn window(area: &[u8], offset: u32) -> u64 {
    let start = offset as usize;
    u64::from_be_bytes(area[start..start + 8].try_into().expect("eight bytes"))
}

#[inline(always)]
fn window_mut(area: &mut [u8], offset: u32) -> &mut [u8; 8] {
    let start = offset as usize;
    (&mut area[start..start + 8]).try_into().expect("eight bytes")
}

impl Slot {
    #[inline(always)]
    pub(crate) fn load(self, area: &[u8]) -> u64 {
        window(area, self.offset)
    }

    /// Stores the low bits of `value`.
    #[inline(always)]
    pub(crate) fn store(self, area: &mut [u8], value: u64) {
        *window_mut(area, self.offset) = (value & self.mask).to_be_bytes();
    }
}

impl Masked {
    #[inline(always)]
    pub(crate) fn load(self, area: &[u8]) -> u64 {
        window(area, self.offset) & self.mask
    }
}

impl Gather {
    /// Takes a cell to a position.
    pub(crate) fn new(cell: Cell, position: u8) -> Gather {
        let rotation = u32::from(cell.shift).wrapping_sub(position.into()) % 64;
        Gather { offset: cell.offset, rotation, mask: cell.mask.rotate_right(rotation) }
    }

    /// The cell's value at its position, all other bits zero.
    #[inline(always)]
    pub(crate) fn load(self, area: &[u8]) -> u64 {
        window(area, self.offset).rotate_right(self.rotation) & self.mask
    }
}

impl Bits {
    /// The field's value, without sign.
    pub fn load(self, area: &[u8]) -> Int {
        if self.bit == 0 && self.width.is_multiple_of(8) {
            let start = self.offset as usize;
            return Int::from_be_bytes(&area[start..start + self.width as usize / 8]);
        }
        let mut limbs = vec![0; self.width.div_ceil(64) as usize + 1];
        for index in 0..self.width {
            let from_low = (self.width - 1 - index) as usize;
            limbs[from_low / 64] |= self.bit_at(area, index) << (from_low % 64);
        }
        Int::from_limbs(&limbs)
    }

    /// Stores the low bits of `value`.
    pub fn store(self, area: &mut [u8], value: &Int) {
        if self.bit == 0 && self.width.is_multiple_of(8) {
            let start = self.offset as usize;
            return value.write_be_bytes(&mut area[start..start + self.width as usize / 8]);
        }
        for index in 0..self.width {
            let set = value.bit((self.width - 1 - index) as usize);
            let position = self.offset as usize * 8 + self.bit as usize + index as usize;
            let mask = 0x80 >> (position % 8);
            if set {
                area[position / 8] |= mask;
            } else {
                area[position / 8] &= !mask;
            }
        }
    }

    /// The 64 bits that start `at` bits before the field's end; bits outside the field are zero.
    pub fn load_limb(self, area: &[u8], limb: u32) -> u64 {
        let low = limb * 64;
        let width = (self.width - low).min(64);
        let first = self.width - low - width;
        if self.bit == 0 && width == 64 && first.is_multiple_of(8) {
            return Cell::low(self.offset + first / 8, 64).load(area);
        }
        (first..first + width).fold(0, |value, index| value << 1 | self.bit_at(area, index))
    }

    /// The same field of a header that starts `base` later.
    pub fn at(self, base: u32) -> Bits {
        Bits { offset: self.offset + base, ..self }
    }

    fn bit_at(self, area: &[u8], index: u32) -> u64 {
        let position = self.offset as usize * 8 + self.bit as usize + index as usize;
        u64::from(area[position / 8] >> (7 - position % 8) & 1)
    }
}

impl Variable {
    /// The bytes in use.
    pub fn bytes(self, area: &[u8]) -> &[u8] {
        let length = (self.length.load(area) as usize / 8).min(self.size as usize);
        &area[self.offset as usize..self.offset as usize + length]
    }

    /// The same field of a header that starts `base` later.
    pub fn at(self, base: u32) -> Variable {
        Variable { length: self.length.at(base), offset: self.offset + base, ..self }
    }
}

impl Place {
    /// The place of `width` bits that start `first_bit` bits after byte `offset`.
    pub fn packed(offset: u32, first_bit: u32, width: u32) -> Place {
        let (offset, bit) = (offset + first_bit / 8, (first_bit % 8) as u8);
        if u32::from(bit) + width <= 64 {
            let shift = if width == 0 { 0 } else { 64 - bit - width as u8 };
            Place::Cell(Cell::new(offset, shift, width as u8))
        } else {
            Place::Bits(Bits { offset, bit, width })
        }
    }

    /// The same field of a header that starts `base` later.
    pub fn at(self, base: u32) -> Place {
        match self {
            Place::Cell(cell) => Place::Cell(cell.at(base)),
            Place::Bits(bits) => Place::Bits(bits.at(base)),
            Place::Variable(variable) => Place::Variable(variable.at(base)),
        }
    }

    /// First bit in the area and number of bits; none for a field of variable length.
    pub fn bit_range(self) -> Option<(usize, usize)> {
        match self {
            Place::Cell(cell) => {
                let end = cell.offset as usize * 8 + 64 - cell.shift as usize;
                Some((end - cell.width as usize, cell.width.into()))
            }
            Place::Bits(bits) => {
                Some((bits.offset as usize * 8 + bits.bit as usize, bits.width as usize))
            }
            Place::Variable(_) => None,
        }
    }

    /// Bits of the field; of a variable one, the most it can have.
    pub fn width(self) -> u32 {
        match self {
            Place::Cell(cell) => cell.width.into(),
            Place::Bits(bits) => bits.width,
            Place::Variable(variable) => variable.size * 8,
        }
    }

    /// The field's value, without sign.
    pub fn load(self, area: &[u8]) -> Int {
        match self {
            Place::Cell(cell) => Int::from(cell.load(area)),
            Place::Bits(bits) => bits.load(area),
            Place::Variable(variable) => Int::from_be_bytes(variable.bytes(area)),
        }
    }

    /// Stores the low bits of `value`; a variable field keeps its length.
    pub fn store(self, area: &mut [u8], value: &Int) {
        match self {
            Place::Cell(cell) => cell.store(area, value.low_u64()),
            Place::Bits(bits) => bits.store(area, value),
            Place::Variable(variable) => {
                let length = variable.bytes(area).len();
                let start = variable.offset as usize;
                value.write_be_bytes(&mut area[start..start + length]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the place, what is stored is what is read, and nothing beside it changes.
        #[test]
        fn a_field_holds_its_value_and_disturbs_no_other(
            first in 0u32..40, width in 1u32..150, value: u128, fill: u8,
        ) {
            let place = Place::packed(3, first, width);
            let mut area = vec![fill; 40];
            let stored = Int::from(value).truncate(width as usize);
            place.store(&mut area, &stored);
            prop_assert_eq!(place.load(&area), stored);
            let outside = |index: usize| {
                let start = 24 + first as usize;
                index < start || index >= start + width as usize
            };
            for index in (0..area.len() * 8).filter(|index| outside(*index)) {
                prop_assert_eq!(area[index / 8] >> (7 - index % 8) & 1, fill >> (7 - index % 8) & 1);
            }
        }
    }

    proptest! {
        /// `Gather` is load, then shift.
        #[test]
        fn a_gathered_cell_is_its_value_at_its_position(
            first in 0u32..20, width in 1u32..45, free in 0u32..64, bytes: [u8; 16],
        ) {
            let Place::Cell(cell) = Place::packed(2, first, width) else { panic!("a window") };
            let position = (free % (65 - width)) as u8;
            let gathered = Gather::new(cell, position).load(&bytes);
            prop_assert_eq!(gathered, cell.load(&bytes) << position);
        }
    }

    #[test]
    fn a_signed_field_reads_with_its_sign() {
        // 13 bits at bit 3 of byte 3: all ones are -1.
        let Place::Cell(cell) = Place::packed(3, 3, 13) else { panic!("13 bits fit a window") };
        let mut area = vec![0; 16];
        cell.store(&mut area, u64::MAX);
        assert_eq!(cell.load(&area), (1 << 13) - 1);
        assert_eq!(cell.load_signed(&area) as i64, -1);
        assert_eq!(area[3..6], [0x1f, 0xff, 0]);
    }
}
