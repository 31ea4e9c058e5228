//! Evaluation.

use bits::Int;
use bmv2::BinaryOperator;

use super::{Compare, Condition, HeaderRef, Number, UnionRef, View, Wide};
use crate::layout::{Header, Layout};
use crate::place::Place;

/// Shifting further left than this yields 0 in every field there can be.
const SHIFT_MAX: u64 = 1 << 13;

impl HeaderRef {
    /// The header's index, if there is one.
    #[inline]
    pub fn find(&self, view: &View<'_>) -> Option<u32> {
        let layout = view.layout;
        match self {
            HeaderRef::Known(header) => Some(*header),
            HeaderRef::Last(stack) => {
                let stack = &layout.stacks[*stack as usize];
                let next = view.area[stack.next as usize] as usize;
                stack.headers.get(next.checked_sub(1)?).copied()
            }
            HeaderRef::LastInUnionStack { stack, member } => {
                let stack = &layout.union_stacks[*stack as usize];
                let next = view.area[stack.next as usize] as usize;
                let union = *stack.unions.get(next.checked_sub(1)?)?;
                layout.unions[union as usize].headers.get(*member as usize).copied()
            }
            HeaderRef::OfStack { stack, index } => {
                let index = usize::try_from(index.value(view)).ok()?;
                layout.stacks[*stack as usize].headers.get(index).copied()
            }
            HeaderRef::OfUnionStack { stack, index, member } => {
                let index = usize::try_from(index.value(view)).ok()?;
                let union = *layout.union_stacks[*stack as usize].unions.get(index)?;
                layout.unions[union as usize].headers.get(*member as usize).copied()
            }
        }
    }
}

impl UnionRef {
    /// The union's index, if there is one.
    pub fn find(&self, view: &View<'_>) -> Option<u32> {
        match self {
            UnionRef::Known(union) => Some(*union),
            UnionRef::OfStack { stack, index } => {
                let index = usize::try_from(index.value(view)).ok()?;
                view.layout.union_stacks[*stack as usize].unions.get(index).copied()
            }
        }
    }
}

impl Number {
    /// The value modulo 2^64.
    #[inline]
    pub fn value(&self, view: &View<'_>) -> u64 {
        match self {
            Number::Cell(cell) => cell.load(view.area),
            Number::Const(value) => *value,
            Number::Param(index) => view.params[*index as usize],
            _ => self.compute(view),
        }
    }

    fn compute(&self, view: &View<'_>) -> u64 {
        let both = |operands: &(Number, Number)| (operands.0.value(view), operands.1.value(view));
        match self {
            Number::Cell(_) | Number::Const(_) | Number::Param(_) => self.value(view),
            Number::Add(operands) => operands.0.value(view).wrapping_add(operands.1.value(view)),
            Number::And(operands) => operands.0.value(view) & operands.1.value(view),
            Number::Bool(condition) => condition.holds(view).into(),
            Number::CellSigned(cell) => cell.load_signed(view.area),
            Number::Divide(operands) => {
                let (left, right) = both(operands);
                left.checked_div(right).unwrap_or(0)
            }
            Number::Found { header, field, signed } => {
                let Some(header) = header.find(view) else { return 0 };
                let cell = field.at(view.layout.headers[header as usize].base);
                if *signed { cell.load_signed(view.area) } else { cell.load(view.area) }
            }
            Number::Fill { next } => view.area[*next as usize].into(),
            Number::Low(number) => number.value(view).low_u64(),
            Number::Multiply(operands) => {
                operands.0.value(view).wrapping_mul(operands.1.value(view))
            }
            Number::Not(operand) => !operand.value(view),
            Number::Or(operands) => operands.0.value(view) | operands.1.value(view),
            Number::Register { array, index } => {
                view.registers[*array as usize].read_low(index.value(view)).unwrap_or(0)
            }
            Number::Remainder(operands) => {
                let (left, right) = both(operands);
                left.checked_rem(right).unwrap_or(0)
            }
            Number::Select(branches) => {
                if branches.0.holds(view) {
                    branches.1.value(view)
                } else {
                    branches.2.value(view)
                }
            }
            Number::ShiftLeft(operands) => {
                let (left, right) = both(operands);
                u32::try_from(right).ok().and_then(|count| left.checked_shl(count)).unwrap_or(0)
            }
            Number::ShiftRight { operands, signed } => {
                let (left, right) = both(operands);
                match signed {
                    true => (left as i64 >> right.min(63)) as u64,
                    false if right > 63 => 0,
                    false => left >> right,
                }
            }
            Number::Subtract(operands) => {
                operands.0.value(view).wrapping_sub(operands.1.value(view))
            }
            Number::WrapSigned { operand, width } => {
                let unused = 64 - u32::from(*width);
                ((operand.value(view) << unused) as i64 >> unused) as u64
            }
            Number::Xor(operands) => operands.0.value(view) ^ operands.1.value(view),
            Number::SaturateSigned { .. } | Number::SaturateUnsigned { .. } => self.saturate(view),
        }
    }

    fn saturate(&self, view: &View<'_>) -> u64 {
        match self {
            Number::SaturateSigned { operand, width } => {
                let limit = 1i64 << (width - 1).min(62);
                (operand.value(view) as i64).clamp(-limit, limit - 1) as u64
            }
            Number::SaturateUnsigned { operand, width, signed } => {
                let value = operand.value(view);
                if *signed && (value as i64) < 0 {
                    0
                } else {
                    value.min(bits::mask64(*width as usize))
                }
            }
            _ => 0,
        }
    }
}

impl Wide {
    pub fn value(&self, view: &View<'_>) -> Int {
        match self {
            Wide::Binary { operator, operands } => {
                binary(*operator, &operands.0.value(view), &operands.1.value(view))
            }
            Wide::Bits { bits, signed } => sign(bits.load(view.area), bits.width, *signed),
            Wide::Const(value) => value.clone(),
            Wide::Found { header, field, signed } => match header.find(view) {
                Some(header) => {
                    let place = field.at(view.layout.headers[header as usize].base);
                    sign(place.load(view.area), place.width(), *signed)
                }
                None => Int::zero(),
            },
            Wide::Negate(operand) => -&operand.value(view),
            Wide::Not(operand) => !&operand.value(view),
            Wide::Number { number, signed: true } => Int::from(number.value(view) as i64),
            Wide::Number { number, signed: false } => Int::from(number.value(view)),
            Wide::Param { at, limbs } => {
                Int::from_unsigned_limbs(&view.params[*at as usize..][..*limbs as usize])
            }
            Wide::Register { array, index } => {
                view.registers[*array as usize].read(index.value(view)).unwrap_or_default()
            }
            Wide::Select(branches) => {
                if branches.0.holds(view) {
                    branches.1.value(view)
                } else {
                    branches.2.value(view)
                }
            }
            Wide::Variable(variable) => Int::from_be_bytes(variable.bytes(view.area)),
        }
    }
}

fn sign(value: Int, width: u32, signed: bool) -> Int {
    if signed { value.wrap_signed(width as usize) } else { value }
}

fn binary(operator: BinaryOperator, left: &Int, right: &Int) -> Int {
    let count = right.to_u64().unwrap_or(SHIFT_MAX).min(SHIFT_MAX) as usize;
    match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::Divide => left.divide(right).map_or_else(Int::zero, |pair| pair.0),
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Remainder => left.divide(right).map_or_else(Int::zero, |pair| pair.1),
        BinaryOperator::SaturateSigned => left.saturate_signed(count),
        BinaryOperator::SaturateUnsigned => left.saturate_unsigned(count),
        BinaryOperator::ShiftLeft => left.shift_left(count),
        BinaryOperator::ShiftRight => left.shift_right(count),
        BinaryOperator::Subtract => left - right,
        BinaryOperator::WrapSigned => left.wrap_signed(count),
        // `load` makes no number of these.
        BinaryOperator::And
        | BinaryOperator::DereferenceHeaderStack
        | BinaryOperator::DereferenceUnionStack
        | BinaryOperator::Equal
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::NotEqual
        | BinaryOperator::Or => Int::zero(),
    }
}

impl Compare {
    #[inline(always)]
    fn holds<T: Ord>(self, left: T, right: T) -> bool {
        match self {
            Compare::Equal => left == right,
            Compare::Greater => left > right,
            Compare::GreaterOrEqual => left >= right,
            Compare::Less => left < right,
            Compare::LessOrEqual => left <= right,
            Compare::NotEqual => left != right,
        }
    }
}

impl Condition {
    pub fn holds(&self, view: &View<'_>) -> bool {
        match self {
            Condition::And(pair) => pair.0.holds(view) && pair.1.holds(view),
            Condition::CellConst { compare, cell, value } => {
                compare.holds(cell.load(view.area), *value)
            }
            Condition::Compare { compare, operands, signed } => {
                let (left, right) = (operands.0.value(view), operands.1.value(view));
                if *signed {
                    compare.holds(left as i64, right as i64)
                } else {
                    compare.holds(left, right)
                }
            }
            Condition::CompareWide { compare, operands } => {
                compare.holds(operands.0.value(view), operands.1.value(view))
            }
            Condition::Const(value) => *value,
            Condition::Decision(decision) => decision.holds(view.area),
            Condition::HeadersEqual(lists) => {
                let mut pairs = lists.0.iter().zip(&lists.1);
                pairs.all(|(left, right)| match (left.find(view), right.find(view)) {
                    (Some(left), Some(right)) => headers_equal(view, left, right),
                    _ => false,
                })
            }
            Condition::NonZero(number) => number.value(view) != 0,
            Condition::NonZeroWide(number) => !number.value(view).is_zero(),
            Condition::Not(condition) => !condition.holds(view),
            Condition::Or(pair) => pair.0.holds(view) || pair.1.holds(view),
            Condition::Select(branches) => {
                if branches.0.holds(view) {
                    branches.1.holds(view)
                } else {
                    branches.2.holds(view)
                }
            }
            Condition::UnionsEqual(pair) => {
                let valid = |union: &UnionRef| valid_member(view, union.find(view)?);
                match (valid(&pair.0), valid(&pair.1)) {
                    (Some((first, left)), Some((second, right))) => {
                        first == second && headers_equal(view, left, right)
                    }
                    _ => false,
                }
            }
            Condition::Valid(header) => {
                header.find(view).is_some_and(|header| is_valid(view.layout, view.area, header))
            }
            Condition::ValidUnion(union) => {
                union.find(view).and_then(|union| valid_member(view, union)).is_some()
            }
            Condition::VariablesEqual(left, right) => {
                left.bytes(view.area) == right.bytes(view.area)
            }
        }
    }
}

/// Whether a header is valid.
pub(crate) fn is_valid(layout: &Layout, area: &[u8], header: u32) -> bool {
    area[layout.headers[header as usize].valid as usize] != 0
}

/// The valid header of a union: its position among the members, and its index.
fn valid_member(view: &View<'_>, union: u32) -> Option<(usize, u32)> {
    let headers = &view.layout.unions[union as usize].headers;
    let mut members = headers.iter().copied().enumerate();
    members.find(|(_, header)| is_valid(view.layout, view.area, *header))
}

/// Both are invalid, or both are valid with equal fields (P4-16, "Operations on headers").
fn headers_equal(view: &View<'_>, left: u32, right: u32) -> bool {
    let (layout, area) = (view.layout, view.area);
    match (is_valid(layout, area, left), is_valid(layout, area, right)) {
        (false, false) => true,
        (true, true) => {
            let [left, right] = [left, right].map(|header| &layout.headers[header as usize]);
            let load = |header: &Header, place: Place| place.at(header.base).load(area);
            let fields = &layout.kinds[left.kind].fields;
            left.kind == right.kind
                && layout.length(area, left) == layout.length(area, right)
                && fields.iter().all(|field| load(left, field.place) == load(right, field.place))
        }
        _ => false,
    }
}
