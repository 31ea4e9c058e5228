//! Assignments of fields of up to 64 bits: most of the work of actions.
//!
//! A move is a load, an operation and a store, all resolved. Where it goes to a metadata field,
//! which has its window to itself, the store does not read what was there. The moves that end an
//! action are one step ([`super::Step::Finish`]): nothing can jump between them, so they are run
//! one after the other without going back to the list.

use crate::expression::Short;
use crate::place::{Cell, Slot};

/// The value for a field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub(crate) enum Move {
    /// The value of a field, itself or another, and a constant.
    Add {
        to: Cell,
        from: Cell,
        by: u64,
    },
    AddToSlot {
        to: Slot,
        from: Cell,
        by: u64,
    },
    Const {
        to: Cell,
        value: u64,
    },
    ConstToSlot {
        to: Slot,
        value: u64,
    },
    /// A parameter of the action.
    Param {
        to: Cell,
        param: u32,
    },
    ParamToSlot {
        to: Slot,
        param: u32,
    },
}

impl Move {
    /// Into a field, which may be a slot.
    pub fn new(to: Cell, slot: Option<Slot>, what: Short) -> Move {
        match (what, slot) {
            (Short::Add { from, by }, None) => Move::Add { to, from, by },
            (Short::Add { from, by }, Some(to)) => Move::AddToSlot { to, from, by },
            (Short::Const(value), None) => Move::Const { to, value },
            (Short::Const(value), Some(to)) => Move::ConstToSlot { to, value },
            (Short::Copy(from), None) => Move::Add { to, from, by: 0 },
            (Short::Copy(from), Some(to)) => Move::AddToSlot { to, from, by: 0 },
            (Short::Param(param), None) => Move::Param { to, param },
            (Short::Param(param), Some(to)) => Move::ParamToSlot { to, param },
        }
    }

    #[inline(always)]
    pub fn run(&self, area: &mut [u8], params: &[u64]) {
        match *self {
            Move::Add { to, from, by } => {
                let value = from.load(area).wrapping_add(by);
                to.store(area, value);
            }
            Move::AddToSlot { to, from, by } => {
                let value = from.load(area).wrapping_add(by);
                to.store(area, value);
            }
            Move::Const { to, value } => to.store(area, value),
            Move::ConstToSlot { to, value } => to.store(area, value),
            Move::Param { to, param } => to.store(area, params[param as usize]),
            Move::ParamToSlot { to, param } => to.store(area, params[param as usize]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of 13 bits at bit 3 of byte 8 and a slot of 13 bits at byte 16: the same moves give
    /// both the same value, and leave alone what is beside the field.
    #[test]
    fn a_slot_holds_what_a_cell_holds() {
        let to = Cell::new(8, 48, 13);
        let slot = Slot { offset: 16, mask: 0x1fff };
        let from = Cell::new(0, 32, 32);
        let moves = [
            Short::Add { from, by: 3 },
            Short::Add { from, by: 3u64.wrapping_neg() },
            Short::Const(0x1_5555),
            Short::Copy(from),
            Short::Param(1),
        ];
        // 0x12345678 + 3 ends in 0x167b; the low 13 bits of each value are what is kept.
        let expected = [0x167b, 0x1675, 0x1555, 0x1678, 0x1001];
        for (what, expected) in moves.into_iter().zip(expected) {
            let mut area = [0xff; 32];
            area[..4].copy_from_slice(&0x1234_5678u32.to_be_bytes());
            let params = [7, 0xffff_1001];
            Move::new(to, None, what).run(&mut area, &params);
            Move::new(to, Some(slot), what).run(&mut area, &params);
            assert_eq!(to.load(&area), expected, "{what:?}");
            assert_eq!(slot.load(&area), expected, "{what:?}");
            assert_eq!((area[8] & 0xe0, area[10]), (0xe0, 0xff), "{what:?}");
        }
    }
}
