//! Arithmetic as BMv2 expressions: numbers there have no width, so every operation that could
//! leave the range of its type is followed by the operation that brings it back.
//!
//! Constants are computed here, so that constructor parameters and folded loops leave none of
//! their arithmetic to the switch.

use bits::Int;
use bmv2::{BinaryOperator as Operator, Expression};
use num_bigint::{BigInt, Sign};

use super::storage::Leaf;
use super::value::{binary, hex};
use crate::types::tree::BinaryOperator;

/// A number's type: `bit<width>` or `int<width>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Bits.
    pub width: u32,
    /// `int`.
    pub is_signed: bool,
}

/// Shift counts above this are not handed to the switch: it would compute a number of that many
/// bits before cutting it down.
const SHIFT_WIDTH_MAX: u32 = 8;

impl Range {
    /// The range of what a field holds.
    pub fn of(leaf: Leaf) -> Range {
        match leaf {
            Leaf::Number { width, is_signed } => Range { width, is_signed },
            leaf => Range { width: leaf.width(), is_signed: false },
        }
    }

    /// `number`, brought into range.
    pub fn wrap(self, number: Expression) -> Expression {
        if let Expression::Hex(number) = number {
            return Expression::Hex(self.wrap_int(&number));
        }
        if self.is_signed {
            return binary(Operator::WrapSigned, number, hex(u64::from(self.width)));
        }
        binary(Operator::BitAnd, number, self.mask())
    }

    fn wrap_int(self, number: &Int) -> Int {
        let width = self.width as usize;
        if self.is_signed { number.wrap_signed(width) } else { number.truncate(width) }
    }

    /// `number`, clamped into range.
    fn saturate(self, number: Expression) -> Expression {
        let width = self.width as usize;
        match (number, self.is_signed) {
            (Expression::Hex(number), true) => Expression::Hex(number.saturate_signed(width)),
            (Expression::Hex(number), false) => Expression::Hex(number.saturate_unsigned(width)),
            (number, true) => binary(Operator::SaturateSigned, number, hex(width as u64)),
            (number, false) => binary(Operator::SaturateUnsigned, number, hex(width as u64)),
        }
    }

    /// As many ones as the width.
    pub fn mask(self) -> Expression {
        Expression::Hex(ones(self.width))
    }
}

/// 2^width - 1.
pub fn ones(width: u32) -> Int {
    &Int::one().shift_left(width as usize) - &Int::one()
}

/// A constant of the typed tree as a constant of the switch.
pub fn int(number: &BigInt) -> Int {
    let (sign, bytes) = number.to_bytes_be();
    let magnitude = Int::from_be_bytes(&bytes);
    if sign == Sign::Minus { -&magnitude } else { magnitude }
}

/// `left operator right` for operators whose result is a number of type `result`; the operands
/// have the types `left_range` and `right_range`.
pub fn arithmetic(
    operator: BinaryOperator,
    (left, left_range): (Expression, Range),
    (right, right_range): (Expression, Range),
    result: Range,
) -> Expression {
    match operator {
        BinaryOperator::Add => result.wrap(apply(Operator::Add, left, right)),
        BinaryOperator::AddSaturating => result.saturate(apply(Operator::Add, left, right)),
        BinaryOperator::BitAnd => apply(Operator::BitAnd, left, right),
        BinaryOperator::BitOr => apply(Operator::BitOr, left, right),
        BinaryOperator::BitXor => apply(Operator::BitXor, left, right),
        BinaryOperator::Concat => {
            let low = as_bits(right, right_range);
            let high = shift_left(as_bits(left, left_range), right_range.width);
            let joined = apply(Operator::BitOr, high, low);
            if result.is_signed { result.wrap(joined) } else { joined }
        }
        BinaryOperator::Divide => apply(Operator::Divide, left, right),
        BinaryOperator::Modulo => apply(Operator::Remainder, left, right),
        BinaryOperator::Multiply => result.wrap(apply(Operator::Multiply, left, right)),
        BinaryOperator::ShiftLeft => {
            let shifted = shift(Operator::ShiftLeft, left, left_range, right, right_range);
            result.wrap(shifted)
        }
        BinaryOperator::ShiftRight => {
            shift(Operator::ShiftRight, left, left_range, right, right_range)
        }
        BinaryOperator::Subtract => result.wrap(apply(Operator::Subtract, left, right)),
        BinaryOperator::SubtractSaturating => {
            result.saturate(apply(Operator::Subtract, left, right))
        }
        BinaryOperator::Equal
        | BinaryOperator::Greater
        | BinaryOperator::GreaterEqual
        | BinaryOperator::Less
        | BinaryOperator::LessEqual
        | BinaryOperator::LogicalAnd
        | BinaryOperator::LogicalOr
        | BinaryOperator::NotEqual => compare(operator, left, right),
    }
}

/// A comparison of two numbers.
pub fn compare(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    let operator = match operator {
        BinaryOperator::NotEqual => Operator::NotEqual,
        BinaryOperator::Greater => Operator::Greater,
        BinaryOperator::GreaterEqual => Operator::GreaterOrEqual,
        BinaryOperator::Less => Operator::Less,
        BinaryOperator::LessEqual => Operator::LessOrEqual,
        _ => Operator::Equal,
    };
    if let (Expression::Hex(left), Expression::Hex(right)) = (&left, &right) {
        return Expression::Bool(match operator {
            Operator::NotEqual => left != right,
            Operator::Greater => left > right,
            Operator::GreaterOrEqual => left >= right,
            Operator::Less => left < right,
            Operator::LessOrEqual => left <= right,
            _ => left == right,
        });
    }
    binary(operator, left, right)
}

/// An operation without regard to any width.
fn apply(operator: Operator, left: Expression, right: Expression) -> Expression {
    if let (Expression::Hex(left), Expression::Hex(right)) = (&left, &right)
        && let Some(number) = compute(operator, left, right)
    {
        return Expression::Hex(number);
    }
    binary(operator, left, right)
}

fn compute(operator: Operator, left: &Int, right: &Int) -> Option<Int> {
    Some(match operator {
        Operator::Add => left + right,
        Operator::BitAnd => left & right,
        Operator::BitOr => left | right,
        Operator::BitXor => left ^ right,
        Operator::Divide => left.divide(right)?.0,
        Operator::Multiply => left * right,
        Operator::Remainder => left.divide(right)?.1,
        Operator::Subtract => left - right,
        _ => return None,
    })
}

/// The bits of a number; those of a negative one as two's complement.
fn as_bits(number: Expression, range: Range) -> Expression {
    if range.is_signed { Range { is_signed: false, ..range }.wrap(number) } else { number }
}

fn shift_left(number: Expression, count: u32) -> Expression {
    match number {
        Expression::Hex(number) => Expression::Hex(number.shift_left(count as usize)),
        number if count == 0 => number,
        number => binary(Operator::ShiftLeft, number, hex(u64::from(count))),
    }
}

fn shift_right(number: Expression, count: u32) -> Expression {
    match number {
        Expression::Hex(number) => Expression::Hex(number.shift_right(count as usize)),
        number if count == 0 => number,
        number => binary(Operator::ShiftRight, number, hex(u64::from(count))),
    }
}

/// A shift by a value. By a constant beyond the width, or by one that could be, the result is
/// known (all zeros, or all sign bits) and said outright.
fn shift(
    operator: Operator,
    left: Expression,
    left_range: Range,
    count: Expression,
    count_range: Range,
) -> Expression {
    let count_max = u64::from(left_range.width);
    if let Expression::Hex(count) = &count {
        let count = count.to_u64().unwrap_or(count_max).min(count_max) as u32;
        return match operator {
            Operator::ShiftLeft => shift_left(left, count),
            _ => shift_right(left, count),
        };
    }
    if count_range.width <= SHIFT_WIDTH_MAX {
        return binary(operator, left, count);
    }
    let beyond = binary(Operator::GreaterOrEqual, count.clone(), hex(count_max));
    let rest = match operator {
        Operator::ShiftRight if left_range.is_signed => {
            binary(operator, left.clone(), hex(count_max))
        }
        _ => hex(0),
    };
    Expression::Conditional {
        condition: Box::new(beyond),
        if_true: Box::new(rest),
        if_false: Box::new(binary(operator, left, count)),
    }
}

/// Bits `low` to `high` of a number.
pub fn slice(number: Expression, high: u32, low: u32) -> Expression {
    let range = Range { width: high - low + 1, is_signed: false };
    range.wrap(shift_right(number, low))
}

/// `old` with bits `low` to `high` replaced by `bits`.
pub fn splice(old: Expression, bits: Expression, high: u32, low: u32, range: Range) -> Expression {
    let hole = ones(high - low + 1).shift_left(low as usize);
    let kept = &ones(range.width) ^ &hole;
    let rest = apply(Operator::BitAnd, as_bits(old, range), Expression::Hex(kept));
    let moved = shift_left(bits, low);
    let joined = apply(Operator::BitOr, rest, moved);
    if range.is_signed { range.wrap(joined) } else { joined }
}

/// `old` with `width` bits from a computed position replaced by `bits`.
pub fn splice_from(
    old: Expression,
    bits: Expression,
    low: (Expression, Range),
    width: u32,
    range: Range,
) -> Expression {
    let unsigned = Range { is_signed: false, ..range };
    let (low, low_range) = low;
    let moved = |number| shift(Operator::ShiftLeft, number, range, low.clone(), low_range);
    let hole = unsigned.wrap(moved(Expression::Hex(ones(width))));
    let kept = apply(Operator::BitXor, unsigned.mask(), hole);
    let rest = apply(Operator::BitAnd, as_bits(old, range), kept);
    let joined = apply(Operator::BitOr, rest, unsigned.wrap(moved(bits)));
    if range.is_signed { range.wrap(joined) } else { joined }
}

/// `-number`.
pub fn negate(number: Expression, range: Range) -> Expression {
    range.wrap(apply(Operator::Subtract, hex(0), number))
}

/// `~number`.
pub fn complement(number: Expression, range: Range) -> Expression {
    if range.is_signed {
        // In two's complement ~n is -1 - n, which never leaves the range.
        return apply(Operator::Subtract, Expression::Hex(Int::from(-1)), number);
    }
    apply(Operator::BitXor, number, range.mask())
}

/// `number` of one type as another.
pub fn cast(number: Expression, from: Range, to: Range) -> Expression {
    let fits = match (from.is_signed, to.is_signed) {
        (false, false) | (true, true) => from.width <= to.width,
        (false, true) => from.width < to.width,
        (true, false) => false,
    };
    if !fits {
        return to.wrap(number);
    }
    number
}
