//! Reading and writing fields: the window of eight bytes that holds one is cut to what is needed.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use pipeline::native::{Cell, Gather, Slot, Target};

use super::Emitter;

/// Some whole bytes of a window that hold all bits of a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// From the window's first byte.
    pub first: u32,
    /// How many: 1, 2, 4 or 8.
    pub bytes: u32,
}

impl Part {
    /// The fewest bytes with the bits of a mask, which has some. They start an even number of bytes
    /// from the window's start unless it is one byte.
    pub fn of(mask: u64) -> Part {
        let first = mask.leading_zeros() / 8;
        let last = 7 - mask.trailing_zeros() / 8;
        let bytes = (last - first + 1).next_power_of_two();
        Part { first: first.min(8 - bytes), bytes }
    }

    /// How far its lowest bit is from the window's.
    pub fn shift(self) -> u32 {
        8 * (8 - self.first - self.bytes)
    }

    pub fn kind(self) -> Type {
        match self.bytes {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        }
    }
}

impl Emitter<'_> {
    /// Bits of a window, turned to their position; all other bits are zero.
    pub fn gather(&mut self, gather: Gather) -> Value {
        let Gather { offset, rotation, mask } = gather;
        if mask == 0 {
            return self.number(0);
        }
        let in_window = mask.rotate_left(rotation);
        let (from, to) = (in_window.trailing_zeros(), mask.trailing_zeros());
        if in_window >> from != mask >> to {
            // The bits part when they are turned.
            let window = self.big_endian(Part { first: 0, bytes: 8 }, offset);
            let turned = self.builder.ins().rotr_imm_s(window, i64::from(rotation));
            return self.masked(turned, mask);
        }
        let part = Part::of(in_window);
        let value = self.big_endian(part, offset);
        // The lowest bit is at `from` in the window, less that in the part, and goes to `to`.
        let from = from - part.shift();
        let shifted = match from >= to {
            true => self.shift_right(value, from - to),
            false => self.builder.ins().ishl_imm_s(value, i64::from(to - from)),
        };
        // The bits around the field: above them nothing where they end the part, and below them
        // nothing where they start it or were shifted to the end of the number.
        let above = in_window.leading_zeros() != part.first * 8;
        let below = from > 0 && to > 0;
        let holes = (mask >> to).wrapping_add(1) & mask >> to != 0;
        if above || below || holes { self.masked(shifted, mask) } else { shifted }
    }

    /// A field's value.
    pub fn field(&mut self, cell: Cell) -> Value {
        let (offset, rotation) = (cell.offset, u32::from(cell.shift));
        self.gather(Gather { offset, rotation, mask: cell.mask >> cell.shift })
    }

    /// Writes the low bits of a number to a field.
    pub fn assign(&mut self, to: Target, value: Value) {
        match to {
            Target::Cell(cell) => self.assign_cell(cell, value),
            Target::Slot(Slot { offset, mask }) => {
                let value = self.masked(value, mask);
                self.store_big_endian(value, Part { first: 0, bytes: 8 }, offset);
            }
        }
    }

    fn assign_cell(&mut self, cell: Cell, value: Value) {
        let Cell { offset, shift, mask, .. } = cell;
        if mask == 0 {
            return;
        }
        let part = Part::of(mask);
        let ones = mask >> mask.trailing_zeros();
        let whole_bytes = shift % 8 == 0 && (ones.count_ones().is_multiple_of(8));
        if whole_bytes {
            return self.store_bytes(cell, value);
        }
        // The bits that differ, and of these the field's.
        let before = self.big_endian(part, offset);
        let moved =
            self.builder.ins().ishl_imm_s(value, i64::from(u32::from(shift) - part.shift()));
        let differ = self.builder.ins().bxor(before, moved);
        let differ = self.masked(differ, mask >> part.shift());
        let after = self.builder.ins().bxor(before, differ);
        self.store_big_endian(after, part, offset);
    }

    /// Writes a field of whole bytes, the widest parts first: six bytes are four and two.
    fn store_bytes(&mut self, cell: Cell, value: Value) {
        let mut first = cell.mask.leading_zeros() / 8;
        let mut rest = cell.mask.count_ones() / 8;
        while rest > 0 {
            let bytes = 1 << rest.ilog2();
            let part = self.shift_right(value, 8 * (rest - bytes));
            self.store_big_endian(part, Part { first, bytes }, cell.offset);
            (first, rest) = (first + bytes, rest - bytes);
        }
    }

    /// A part of the window at an offset, its first byte the highest.
    fn big_endian(&mut self, part: Part, offset: u32) -> Value {
        let value = self.load(part.kind(), offset + part.first);
        let swapped = if part.bytes == 1 { value } else { self.builder.ins().bswap(value) };
        if part.bytes == 8 { swapped } else { self.builder.ins().uextend(types::I64, swapped) }
    }

    /// Writes the low bytes of a number to a part of the window at an offset.
    fn store_big_endian(&mut self, value: Value, part: Part, offset: u32) {
        let cut = match part.bytes {
            8 => value,
            _ => self.builder.ins().ireduce(part.kind(), value),
        };
        let swapped = if part.bytes == 1 { cut } else { self.builder.ins().bswap(cut) };
        self.store(swapped, offset + part.first);
    }

    /// A number's bits in a mask.
    pub fn masked(&mut self, value: Value, mask: u64) -> Value {
        match mask {
            u64::MAX => value,
            _ => self.builder.ins().band_imm_s(value, mask as i64),
        }
    }

    fn shift_right(&mut self, value: Value, count: u32) -> Value {
        match count {
            0 => value,
            _ => self.builder.ins().ushr_imm_s(value, i64::from(count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn a_part_is_the_fewest_bytes_that_hold_the_bits() {
        let part = |first, bytes| Part { first, bytes };
        assert_eq!(Part::of(0x01), part(7, 1), "a validity byte ends its window");
        assert_eq!(Part::of(0xff << 56), part(0, 1));
        assert_eq!(Part::of(0x1fff << 48), part(0, 2));
        // Three bytes take four, which must not start before the window or end behind it.
        assert_eq!(Part::of(0xff_ffff), part(4, 4));
        assert_eq!(Part::of(0xff_ffff << 40), part(0, 4));
        assert_eq!(Part::of(u64::MAX), part(0, 8));
    }
}
