//! Numbers that are stored: what the place they go to cuts off need not be computed.
//!
//! A compiler wraps every sum it stores: `ttl = (ttl - 1) & 0xff`. A field of eight bits keeps the
//! low eight bits anyway, and addition, subtraction, multiplication and the bitwise operators never
//! let a higher bit of an operand reach a lower one of the result. So the mask goes, and often what
//! is left has a short form.

use super::Number;
use crate::place::Cell;

/// The effect of a step on the cell it writes, in short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Short {
    Add { from: Cell, by: u64 },
    Const(u64),
    Copy(Cell),
    Param(u32),
}

impl Number {
    /// The same number in its low `width` bits, which are all that matter.
    pub fn low_bits(self, width: u8) -> Number {
        let all = bits::mask64(width.into());
        let pair = |operands: Box<(Number, Number)>| {
            let (left, right) = *operands;
            Box::new((left.low_bits(width), right.low_bits(width)))
        };
        match self {
            Number::Const(value) => Number::Const(value & all),
            Number::And(operands) => match *operands {
                (operand, Number::Const(mask)) | (Number::Const(mask), operand)
                    if mask & all == all =>
                {
                    operand.low_bits(width)
                }
                operands => Number::And(pair(Box::new(operands))),
            },
            Number::Add(operands) => Number::Add(pair(operands)),
            Number::Multiply(operands) => Number::Multiply(pair(operands)),
            Number::Or(operands) => Number::Or(pair(operands)),
            Number::Subtract(operands) => Number::Subtract(pair(operands)),
            Number::Xor(operands) => Number::Xor(pair(operands)),
            Number::Not(operand) => Number::Not(Box::new(operand.low_bits(width))),
            // The sign does not reach the low bits.
            Number::WrapSigned { operand, width: wrapped } if wrapped >= width => {
                operand.low_bits(width)
            }
            Number::CellSigned(cell) if cell.width >= width => Number::Cell(cell),
            other => other,
        }
    }

    /// The short form, if there is one.
    pub fn short(&self) -> Option<Short> {
        match self {
            Number::Cell(cell) => Some(Short::Copy(*cell)),
            Number::Const(value) => Some(Short::Const(*value)),
            Number::Param(param) => Some(Short::Param(*param)),
            Number::Add(operands) => match &**operands {
                (Number::Cell(from), Number::Const(by))
                | (Number::Const(by), Number::Cell(from)) => {
                    Some(Short::Add { from: *from, by: *by })
                }
                _ => None,
            },
            Number::Subtract(operands) => match &**operands {
                (Number::Cell(from), Number::Const(by)) => {
                    Some(Short::Add { from: *from, by: by.wrapping_neg() })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::expression::View;
    use crate::layout::Layout;

    fn number() -> impl Strategy<Value = Number> {
        let cell = Cell::new(0, 48, 16);
        let leaf = prop_oneof![
            any::<u64>().prop_map(Number::Const),
            prop::sample::select(vec![0xff, 0xffff, 0xffff_ffff, 0xf0]).prop_map(Number::Const),
            Just(Number::Cell(cell)),
            Just(Number::CellSigned(cell)),
        ];
        leaf.prop_recursive(4, 24, 2, |inner| {
            let pair = (inner.clone(), inner.clone()).prop_map(Box::new);
            prop_oneof![
                pair.clone().prop_map(Number::Add),
                pair.clone().prop_map(Number::And),
                pair.clone().prop_map(Number::Multiply),
                pair.clone().prop_map(Number::Or),
                pair.clone().prop_map(Number::ShiftLeft),
                pair.clone().prop_map(Number::Subtract),
                pair.prop_map(Number::Xor),
                inner.clone().prop_map(|operand| Number::Not(Box::new(operand))),
                (inner, 1u8..=64).prop_map(|(operand, width)| Number::WrapSigned {
                    operand: Box::new(operand),
                    width,
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_low_bits_stay_the_same(number in number(), width in 1u8..=64, field: u16) {
            let layout = Layout::default();
            let mut area = [0; 10];
            area[..2].copy_from_slice(&field.to_be_bytes());
            let view = View { layout: &layout, area: &area, params: &[], registers: &[] };
            let all = bits::mask64(width.into());
            let simple = number.clone().low_bits(width);
            prop_assert_eq!(simple.value(&view) & all, number.value(&view) & all);
        }
    }
}
