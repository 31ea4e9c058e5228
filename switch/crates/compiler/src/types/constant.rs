//! Arithmetic on known values, exactly as P4 does it at run time: `bit<N>` wraps, `int` is as large
//! as it needs to be. Used by the checker while it builds expressions and by the back end after it
//! has substituted constructor arguments.

use super::tree::{BinaryOperator, Type, UnaryOperator, Value};
use bits::Int;

/// A constant shifted left by more than this is refused: its digits would fill the memory.
pub const SHIFT_MAX: u32 = 1 << 16;

/// A number of more bits is not multiplied or shifted on.
const BIT_COUNT_MAX: usize = 1 << 18;

/// A number of more bits is not divided.
const DIVIDEND_BIT_COUNT_MAX: usize = 1 << 15;

/// Longest string that is put together.
const TEXT_LENGTH_MAX: usize = 1 << 20;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldError {
    /// The values do not fit the operator; the checker has said so.
    Mismatch,
    /// It has no value at all: the reason.
    Undefined(&'static str),
}

/// The value of `value` as `ty` has it: the lowest bits, with a sign for `int<N>`.
pub fn wrap(value: &Int, ty: &Type) -> Int {
    match ty {
        Type::Bit(width) => value.truncate(*width as usize),
        Type::Int(width) => value.wrap_signed(*width as usize),
        _ => value.clone(),
    }
}

/// Whether `value` is a value of `ty` as it is.
pub fn fits(value: &Int, ty: &Type) -> bool {
    wrap(value, ty) == *value
}

/// `operator operand`, of type `ty`.
pub fn unary(operator: UnaryOperator, operand: &Value, ty: &Type) -> Result<Value, FoldError> {
    match (operator, operand) {
        (UnaryOperator::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (UnaryOperator::Negate, Value::Integer(value)) => Ok(Value::Integer(wrap(&-value, ty))),
        (UnaryOperator::Complement, Value::Integer(value)) => Ok(Value::Integer(wrap(&!value, ty))),
        _ => Err(FoldError::Mismatch),
    }
}

/// `left operator right`; `ty` is the type of the result, `left_type` and `right_type` those of the
/// operands (concatenation needs the right one's width, saturation the type).
pub fn binary(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
    right_type: &Type,
    ty: &Type,
) -> Result<Value, FoldError> {
    use BinaryOperator as Op;
    match (left, right) {
        (Value::Bool(l), Value::Bool(r)) => match operator {
            Op::LogicalAnd => Ok(Value::Bool(*l && *r)),
            Op::LogicalOr => Ok(Value::Bool(*l || *r)),
            Op::Equal => Ok(Value::Bool(l == r)),
            Op::NotEqual => Ok(Value::Bool(l != r)),
            _ => Err(FoldError::Mismatch),
        },
        (Value::Integer(l), Value::Integer(r)) => integers(operator, l, r, right_type, ty),
        (Value::Text(l), Value::Text(r)) if operator == Op::Concat => {
            if l.len() + r.len() > TEXT_LENGTH_MAX {
                return Err(FoldError::Undefined("a string that is too long"));
            }
            Ok(Value::Text(format!("{l}{r}").into()))
        }
        _ => match operator {
            Op::Equal => Ok(Value::Bool(left == right)),
            Op::NotEqual => Ok(Value::Bool(left != right)),
            _ => Err(FoldError::Mismatch),
        },
    }
}

fn integers(
    operator: BinaryOperator,
    l: &Int,
    r: &Int,
    right_type: &Type,
    ty: &Type,
) -> Result<Value, FoldError> {
    use BinaryOperator as Op;
    let value = match operator {
        Op::Add => l + r,
        Op::Subtract => l - r,
        Op::Multiply if l.bit_length() + r.bit_length() > BIT_COUNT_MAX => {
            return Err(FoldError::Undefined("a number with too many digits"));
        }
        Op::Multiply => l * r,
        Op::Divide | Op::Modulo => {
            if r.is_zero() {
                return Err(FoldError::Undefined("division by zero"));
            }
            if ty == &Type::Integer && (l.is_negative() || r.is_negative()) {
                return Err(FoldError::Undefined("division of negative numbers"));
            }
            if l.bit_length() > DIVIDEND_BIT_COUNT_MAX {
                return Err(FoldError::Undefined("a number with too many digits"));
            }
            let (quotient, remainder) = l.divide(r).unwrap_or_default();
            if operator == Op::Divide { quotient } else { remainder }
        }
        Op::AddSaturating => saturate(&(l + r), ty),
        Op::SubtractSaturating => saturate(&(l - r), ty),
        Op::BitAnd => l & r,
        Op::BitOr => l | r,
        Op::BitXor => l ^ r,
        Op::ShiftLeft => shift_left(l, r, ty)?,
        Op::ShiftRight => {
            if r.is_negative() {
                return Err(FoldError::Undefined("a shift by a negative number"));
            }
            l.shift_right(r.to_u32().unwrap_or(u32::MAX) as usize)
        }
        Op::Concat => match right_type {
            Type::Bit(width) | Type::Int(width) => {
                let low = wrap(r, &Type::Bit(*width));
                &l.shift_left(*width as usize) + &low
            }
            _ => return Err(FoldError::Mismatch),
        },
        Op::Equal => return Ok(Value::Bool(l == r)),
        Op::NotEqual => return Ok(Value::Bool(l != r)),
        Op::Less => return Ok(Value::Bool(l < r)),
        Op::LessEqual => return Ok(Value::Bool(l <= r)),
        Op::Greater => return Ok(Value::Bool(l > r)),
        Op::GreaterEqual => return Ok(Value::Bool(l >= r)),
        Op::LogicalAnd | Op::LogicalOr => return Err(FoldError::Mismatch),
    };
    Ok(Value::Integer(wrap(&value, ty)))
}

fn shift_left(l: &Int, r: &Int, ty: &Type) -> Result<Int, FoldError> {
    if r.is_negative() {
        return Err(FoldError::Undefined("a shift by a negative number"));
    }
    match (ty, r.to_u32()) {
        (Type::Bit(width) | Type::Int(width), Some(count)) if count >= *width => Ok(Int::zero()),
        (Type::Bit(_) | Type::Int(_), None) => Ok(Int::zero()),
        (_, Some(count)) if count <= SHIFT_MAX && l.bit_length() <= BIT_COUNT_MAX => {
            Ok(l.shift_left(count as usize))
        }
        _ => Err(FoldError::Undefined("a number with too many digits")),
    }
}

/// The nearest value that `ty` has.
fn saturate(value: &Int, ty: &Type) -> Int {
    match ty {
        Type::Bit(width) => value.saturate_unsigned(*width as usize),
        Type::Int(width) => value.saturate_signed(*width as usize),
        _ => value.clone(),
    }
}

/// Bits `high..=low` of `value`.
pub fn slice(value: &Int, high: u32, low: u32) -> Int {
    wrap(&value.shift_right(low as usize), &Type::Bit(high.saturating_sub(low) + 1))
}

/// `value` as `ty`, for casts between numbers and `bool`.
pub fn cast(value: &Value, ty: &Type) -> Result<Value, FoldError> {
    match (value, ty) {
        (Value::Integer(number), Type::Bool) => Ok(Value::Bool(!number.is_zero())),
        (Value::Bool(truth), Type::Bit(_) | Type::Int(_) | Type::Integer) => {
            Ok(Value::Integer(Int::from(u32::from(*truth))))
        }
        (Value::Integer(number), _) => Ok(Value::Integer(wrap(number, ty))),
        (Value::Bool(truth), Type::Bool) => Ok(Value::Bool(*truth)),
        _ => Err(FoldError::Mismatch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(operator: BinaryOperator, l: i64, r: i64, ty: Type) -> Result<Value, FoldError> {
        let (l, r) = (Value::Integer(l.into()), Value::Integer(r.into()));
        binary(operator, &l, &r, &ty, &ty)
    }

    fn number(value: i64) -> Result<Value, FoldError> {
        Ok(Value::Integer(value.into()))
    }

    #[test]
    fn fixed_width_arithmetic_wraps_and_saturates() {
        use BinaryOperator::*;
        // 200 + 100 = 300 = 256 + 44.
        assert_eq!(fold(Add, 200, 100, Type::Bit(8)), number(44));
        assert_eq!(fold(AddSaturating, 200, 100, Type::Bit(8)), number(255));
        // 100 + 100 = 200 is -56 in eight bits of two's complement.
        assert_eq!(fold(Add, 100, 100, Type::Int(8)), number(-56));
        assert_eq!(fold(SubtractSaturating, -100, 100, Type::Int(8)), number(-128));
        assert_eq!(fold(Subtract, 0, 1, Type::Bit(4)), number(15));
    }

    #[test]
    fn shifts_and_division_have_limits() {
        use BinaryOperator::*;
        assert_eq!(fold(ShiftRight, -5, 1, Type::Int(8)), number(-3));
        assert_eq!(fold(ShiftLeft, 1, 8, Type::Bit(8)), number(0));
        assert!(matches!(fold(Divide, 1, 0, Type::Integer), Err(FoldError::Undefined(_))));
        assert!(matches!(fold(ShiftLeft, 1, 1 << 40, Type::Integer), Err(FoldError::Undefined(_))));
    }

    #[test]
    fn concatenation_puts_the_left_operand_on_top() {
        let (l, r) = (Value::Integer(0xA.into()), Value::Integer(0x5.into()));
        let made = binary(BinaryOperator::Concat, &l, &r, &Type::Bit(4), &Type::Bit(8));
        assert_eq!(made, number(0xA5));
        assert_eq!(slice(&0xA5.into(), 7, 4), Int::from(0xA));
    }
}
