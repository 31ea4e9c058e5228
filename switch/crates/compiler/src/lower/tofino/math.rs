//! Arithmetic of Tofino's: `MathUnit`, `funnel_shift_right`, `predicate`.
//!
//! A math unit approximates a function of x by a table of 16 bytes. The leading bits of x choose the
//! byte, and the place of its first bit decides how far the byte is shifted:
//!
//! ```text
//!    e    the place of the first bit of x, for roots the next even one
//!    i    x divided by 2^(e - 3): 8 to 15, for roots 4 to 15
//!    x^p is about table[i] * 2^(scale + p * e)       p: 2, 1, 1/2, -1/2, -1, -2
//! ```

use bits::Int;
use bmv2::{BinaryOperator, Expression};

use super::super::lowering::Lowering;
use super::super::storage::Leaf;
use super::super::value::{ObjectRef, Value, binary, hex};
use super::choice;
use crate::types::tree::{Argument, Call, Type};

const SMALL: Leaf = Leaf::Number { width: 16, is_signed: false };
/// Makes every exponent positive: scale is -32 to 31, and twice a place at most 64.
const BIAS: i64 = 128;
const LARGEST_SCALE: i64 = 31;
const SMALLEST_SCALE: i64 = -32;
const ENTRIES: usize = 16;

/// A function of the form x^p.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Power {
    is_inverse: bool,
    /// p is 2 to this: -1, 0 or 1.
    shift: i64,
}

/// How a unit is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    power: Power,
    scale: i64,
    table: [u8; ENTRIES],
}

impl Power {
    fn named(name: &str) -> Power {
        let (is_inverse, shift) = match name {
            "SQR" => (false, 1),
            "SQRT" => (false, -1),
            "DIV" => (true, 0),
            "RSQR" => (true, 1),
            "RSQRT" => (true, -1),
            _ => (false, 0),
        };
        Power { is_inverse, shift }
    }

    fn of(self, x: f64) -> f64 {
        let y = match self.shift {
            1 => x * x,
            -1 => x.sqrt(),
            _ => x,
        };
        if self.is_inverse { 1.0 / y } else { y }
    }

    /// The first entry that is used: roots have leading bits of two places.
    fn first_entry(self) -> usize {
        if self.shift < 0 { 4 } else { 8 }
    }
}

impl Unit {
    /// The unit that computes `factor` times a power with the most digits.
    fn scaled(power: Power, factor: f64) -> Unit {
        let entries = power.first_entry()..ENTRIES;
        let value = |entry: usize| power.of(entry as f64 / 8.0) * factor;
        let most = entries.clone().map(value).fold(0.0, f64::max);
        let mut scale = LARGEST_SCALE;
        while scale > SMALLEST_SCALE && most < 2f64.powi(scale as i32 + 7) {
            scale -= 1;
        }
        let mut table = [0; ENTRIES];
        for entry in entries {
            let digits = (value(entry) / 2f64.powi(scale as i32)).round_ties_even();
            table[entry] = digits.clamp(0.0, 255.0) as u8;
        }
        Unit { power, scale, table }
    }
}

impl Lowering<'_> {
    /// `MathUnit.execute`.
    pub fn math_unit(&mut self, object: ObjectRef, call: &Call, ty: &Type) -> Value {
        let at = call.span;
        let unit = self.unit(object);
        let argument = Value::Number(self.number_argument(call, 0));
        let Value::Number(x) = self.freeze(argument, ty, at) else { return Value::Void };
        let width = self.leaf_of(ty).width();
        let place = Expression::Field(self.temporary_field(SMALL));
        self.assign_number(&place, hex(0), at);
        let steps = [32, 16, 8, 4, 2, 1];
        for step in steps.into_iter().filter(|step| *step < u64::from(width)) {
            let rest = binary(BinaryOperator::ShiftRight, x.clone(), place.clone());
            let is_longer = binary(BinaryOperator::GreaterOrEqual, rest, hex(1 << step));
            let longer = binary(BinaryOperator::Add, place.clone(), hex(step));
            self.assign_number(&place, choice(is_longer, longer, place.clone()), at);
        }
        if unit.power.shift < 0 {
            let odd = binary(BinaryOperator::BitAnd, place.clone(), hex(1));
            self.assign_number(&place, binary(BinaryOperator::Add, place.clone(), odd), at);
        }
        let entry = entry(&unit, &x, &place);
        let Value::Number(entry) = self.freeze(Value::Number(entry), &Type::Bit(8), at) else {
            return Value::Void;
        };
        let result = Expression::Field(self.temporary_field(self.leaf_of(ty)));
        self.assign_number(&result, scaled(&unit, entry, &place, width), at);
        Value::Number(result)
    }

    /// The unit that the constructor sets up.
    fn unit(&mut self, object: ObjectRef) -> Unit {
        let arguments = &self.input.program.instances[object.instance].arguments;
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let mut numbers = Vec::new();
        for argument in arguments.iter().skip(1) {
            let Argument::Expression(expression) = argument else { continue };
            let value = self.value(expression);
            let mut leaves = Vec::new();
            self.leaves(&value, &expression.ty, &mut leaves);
            let number = |value: &Value| value.constant().and_then(Int::to_i64).unwrap_or(0);
            numbers.extend(leaves.iter().map(|(leaf, _)| number(leaf)));
        }
        let unit = match arguments.first() {
            Some(Argument::Expression(first)) if first.ty == Type::Bool => {
                let is_inverse = self.constant_number(first).is_some_and(|truth| !truth.is_zero());
                let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
                let mut table = [0; ENTRIES];
                for (entry, digits) in table.iter_mut().rev().zip(numbers.iter().skip(2)) {
                    *entry = *digits as u8;
                }
                Unit { power: Power { is_inverse, shift: number(0) }, scale: number(1), table }
            }
            Some(Argument::Expression(first)) => {
                let power = Power::named(&self.enumerator_name(first));
                let factor = match numbers[..] {
                    [factor] => factor as f64,
                    [dividend, divisor, ..] if divisor != 0 => dividend as f64 / divisor as f64,
                    _ => 1.0,
                };
                Unit::scaled(power, factor)
            }
            _ => Unit::scaled(Power::named("MUL"), 1.0),
        };
        self.local.scope = outer;
        unit
    }

    /// `funnel_shift_right`: the low half of two numbers in a row, shifted right.
    pub fn funnel_shift(&mut self, call: &Call) -> Value {
        let Some(Argument::Expression(target)) = call.arguments.first() else { return Value::Void };
        let (high, low) = (self.number_argument(call, 1), self.number_argument(call, 2));
        let count = self.number_argument(call, 3);
        let width = self.leaf_of(&target.ty).width();
        let high = binary(BinaryOperator::ShiftLeft, high, hex(u64::from(width)));
        let both = binary(BinaryOperator::BitOr, high, low);
        let both = binary(BinaryOperator::ShiftRight, both, count);
        let value = Value::Number(binary(BinaryOperator::BitAnd, both, ones(width)));
        let place = self.place(target);
        self.assign(&place, &value, &target.ty, call.span);
        Value::Void
    }

    /// `predicate`: one bit for each of the four cases of two conditions.
    pub fn predicate(&mut self, call: &Call) -> Value {
        let [low, high] = [0, 1].map(|argument| match call.arguments.get(argument) {
            Some(Argument::Expression(_)) => self.truth_argument(call, argument),
            _ => Expression::Bool(false),
        });
        let if_high = choice(low.clone(), hex(8), hex(4));
        Value::Number(choice(high, if_high, choice(low, hex(2), hex(1))))
    }
}

/// The byte of the table that the leading bits of x choose.
fn entry(unit: &Unit, x: &Expression, place: &Expression) -> Expression {
    let is_long = binary(BinaryOperator::GreaterOrEqual, place.clone(), hex(3));
    let right = binary(BinaryOperator::Subtract, place.clone(), hex(3));
    let left = binary(BinaryOperator::Subtract, hex(3), place.clone());
    let leading = choice(
        is_long,
        binary(BinaryOperator::ShiftRight, x.clone(), right),
        binary(BinaryOperator::ShiftLeft, x.clone(), left),
    );
    let bits_before = binary(BinaryOperator::Multiply, leading, hex(8));
    let bytes: Vec<u8> = unit.table.iter().rev().copied().collect();
    let table = Expression::Hex(Int::from_be_bytes(&bytes));
    let shifted = binary(BinaryOperator::ShiftRight, table, bits_before);
    binary(BinaryOperator::BitAnd, shifted, hex(0xff))
}

/// A byte of the table, shifted by what the place of the first bit asks for.
fn scaled(unit: &Unit, entry: Expression, place: &Expression, width: u32) -> Expression {
    let by = match unit.power.shift {
        1 => binary(BinaryOperator::Multiply, place.clone(), hex(2)),
        -1 => binary(BinaryOperator::ShiftRight, place.clone(), hex(1)),
        _ => place.clone(),
    };
    let operator =
        if unit.power.is_inverse { BinaryOperator::Subtract } else { BinaryOperator::Add };
    let exponent = binary(operator, hex((BIAS + unit.scale) as u64), by);
    let bias = || hex(BIAS as u64);
    let is_left = binary(BinaryOperator::GreaterOrEqual, exponent.clone(), bias());
    let left = binary(BinaryOperator::Subtract, exponent.clone(), bias());
    let right = binary(BinaryOperator::Subtract, bias(), exponent);
    let shifted = choice(
        is_left,
        binary(BinaryOperator::ShiftLeft, entry.clone(), left),
        binary(BinaryOperator::ShiftRight, entry, right),
    );
    binary(BinaryOperator::BitAnd, shifted, ones(width))
}

fn ones(width: u32) -> Expression {
    Expression::Hex(&Int::one().shift_left(width as usize) - &Int::one())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_as_many_digits_as_fit_a_byte() {
        // The largest square of 8/8 to 15/8 is 225/64: 64 times that fits a byte, 128 times not.
        let unit = Unit::scaled(Power::named("SQR"), 1.0);
        let squares = [64, 81, 100, 121, 144, 169, 196, 225];
        assert_eq!((unit.scale, &unit.table[8..]), (-6, &squares[..]));
        // 2^24 / sqrt(4/8) is the largest; 181 = 128 * sqrt(2).
        let unit = Unit::scaled(Power::named("RSQRT"), f64::from(1 << 24));
        let roots = [181, 162, 148, 137, 128, 121, 114, 109, 105, 100, 97, 93];
        assert_eq!((unit.scale, &unit.table[4..]), (17, &roots[..]));
    }
}
