//! Arithmetic as BMv2 expressions: numbers there have no width, so every operation that could
//! leave the range of its type is followed by the operation that brings it back.
//!
//! Constants are computed here, so that constructor parameters and folded loops leave none of
//! their arithmetic to the switch.

use bits::Int;
use bmv2::{BinaryOperator as Operator, Expression};

use super::storage::Leaf;
use super::value::{binary, hex};
use crate::types::tree::BinaryOperator;

/// A number's type: `bit<width>` or `int<width>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub width: u32,
    /// `int`.
    pub is_signed: bool,
}

/// Shift counts above this are not handed to the switch: it would compute a number of that many
/// bits before cutting it down.
const SHIFT_WIDTH_MAX: u32 = 8;

impl Range {
    /// The range of a field's values.
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

    /// A constant, brought into range.
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

/// An operation on constants; `None` where it has no result.
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

/// By a constant number of bits.
fn shift_left(number: Expression, count: u32) -> Expression {
    match number {
        Expression::Hex(number) => Expression::Hex(number.shift_left(count as usize)),
        number if count == 0 => number,
        number => binary(Operator::ShiftLeft, number, hex(u64::from(count))),
    }
}

/// By a constant number of bits.
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED: Range = Range { width: 8, is_signed: true };
    const UNSIGNED: Range = Range { width: 8, is_signed: false };

    /// The switch's result, with `field` for every field.
    fn evaluate(expression: &Expression, field: &Int) -> Int {
        let value = |expression: &Expression| evaluate(expression, field);
        match expression {
            Expression::Binary { operator, left, right } => {
                let (left, right) = (value(left), value(right));
                let count = right.to_u64().unwrap_or(0) as usize;
                match operator {
                    Operator::GreaterOrEqual => Int::from(u32::from(left >= right)),
                    Operator::SaturateSigned => left.saturate_signed(count),
                    Operator::SaturateUnsigned => left.saturate_unsigned(count),
                    Operator::ShiftLeft => left.shift_left(count),
                    Operator::ShiftRight => left.shift_right(count),
                    Operator::WrapSigned => left.wrap_signed(count),
                    operator => compute(*operator, &left, &right).expect("an operator on numbers"),
                }
            }
            Expression::Conditional { condition, if_true, if_false } => {
                value(if value(condition).is_zero() { if_false } else { if_true })
            }
            Expression::Field(_) => field.clone(),
            Expression::Hex(number) => number.clone(),
            other => panic!("{other:?} is no number"),
        }
    }

    /// `field operator right`, once computed by the switch and once while compiling.
    fn both(operator: BinaryOperator, left: i32, right: i32, range: Range) -> [Int; 2] {
        let (left, right) = (Int::from(left), Int::from(right));
        let field = Expression::Field(bmv2::FieldRef::new("h", "f"));
        let constant = |number: &Int| Expression::Hex(number.clone());
        [field, constant(&left)].map(|operand| {
            let whole = arithmetic(operator, (operand, range), (constant(&right), range), range);
            evaluate(&whole, &left)
        })
    }

    fn check(operator: BinaryOperator, left: i32, right: i32, range: Range, result: i32) {
        assert_eq!(both(operator, left, right, range), [Int::from(result), Int::from(result)]);
    }

    #[test]
    fn unsigned_sums_and_differences_wrap() {
        // 200 + 100 = 300 = 256 + 44; 5 - 7 = -2 = 254 - 256.
        check(BinaryOperator::Add, 200, 100, UNSIGNED, 44);
        check(BinaryOperator::Subtract, 5, 7, UNSIGNED, 254);
    }

    #[test]
    fn signed_sums_wrap_to_the_other_end() {
        // 127 + 1 = 128 = -128 + 256.
        check(BinaryOperator::Add, 127, 1, SIGNED, -128);
    }

    #[test]
    fn saturating_sums_stop_at_the_ends() {
        check(BinaryOperator::AddSaturating, 200, 100, UNSIGNED, 255);
        check(BinaryOperator::SubtractSaturating, 5, 7, UNSIGNED, 0);
        check(BinaryOperator::AddSaturating, 100, 100, SIGNED, 127);
        check(BinaryOperator::SubtractSaturating, -100, 100, SIGNED, -128);
    }

    #[test]
    fn a_shift_beyond_the_width_leaves_nothing_or_the_sign() {
        check(BinaryOperator::ShiftLeft, 3, 9, UNSIGNED, 0);
        check(BinaryOperator::ShiftRight, 200, 9, UNSIGNED, 0);
        check(BinaryOperator::ShiftRight, -100, 9, SIGNED, -1);
        // 3 << 7 = 384 = 256 + 128.
        check(BinaryOperator::ShiftLeft, 3, 7, UNSIGNED, 128);
    }

    #[test]
    fn a_shift_by_a_wide_value_is_bounded_before_it_is_made() {
        let wide = Range { width: 32, is_signed: false };
        let count = Expression::Field(bmv2::FieldRef::new("h", "f"));
        let left = (hex(1), UNSIGNED);
        let whole = arithmetic(BinaryOperator::ShiftLeft, left, (count, wide), UNSIGNED);
        assert_eq!(evaluate(&whole, &Int::from(4_000_000_000u32)), Int::zero());
        assert_eq!(evaluate(&whole, &Int::from(3)), Int::from(8));
    }

    #[test]
    fn concatenation_takes_the_bits_of_signed_numbers() {
        // -1 as 8 bits is 0xff: 0xff ++ 0x01 = 0xff01.
        let result = Range { width: 16, is_signed: false };
        let field = Expression::Field(bmv2::FieldRef::new("h", "f"));
        let whole = arithmetic(BinaryOperator::Concat, (field, SIGNED), (hex(1), UNSIGNED), result);
        assert_eq!(evaluate(&whole, &Int::from(-1)), Int::from(0xff01));
    }

    #[test]
    fn a_slice_as_a_place_keeps_the_other_bits() {
        // 0xab with bits 7..4 replaced by 0xc is 0xcb.
        let field = Expression::Field(bmv2::FieldRef::new("h", "f"));
        let whole = splice(field, hex(0xc), 7, 4, UNSIGNED);
        assert_eq!(evaluate(&whole, &Int::from(0xab)), Int::from(0xcb));
    }

    #[test]
    fn a_moving_slice_as_a_place_keeps_the_other_bits() {
        // 0xab with the 4 bits from bit 2 on (0b1010) replaced by 0b0101: 0b10_0101_11 = 0x97.
        let field = Expression::Field(bmv2::FieldRef::new("h", "f"));
        let whole = splice_from(field, hex(0b0101), (hex(2), UNSIGNED), 4, UNSIGNED);
        assert_eq!(evaluate(&whole, &Int::from(0xab)), Int::from(0x97));
    }

    #[test]
    fn casts_keep_the_low_bits() {
        // -1 of int<8> as bit<16> is sign-extended first: 0xffff. 0x1ff as int<8> is -1.
        let wide = Range { width: 16, is_signed: false };
        assert_eq!(cast(Expression::Hex(Int::from(-1)), SIGNED, wide), hex(0xffff));
        assert_eq!(cast(hex(0x1ff), wide, SIGNED), Expression::Hex(Int::from(-1)));
    }
}
