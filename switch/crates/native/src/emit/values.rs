//! Numbers and questions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Number, types};
use pipeline::native::{Cell, Compare, Operator, Store, Test, Value};

use super::{Emitter, memory};

impl Emitter<'_> {
    /// Gives fields new values, one after the other.
    pub fn set(&mut self, stores: &[Store], params: Number) {
        for store in stores {
            let value = self.value(&store.value, params);
            self.assign(store.to, value);
        }
    }

    /// A number. `params` is the address of the action's parameters.
    pub fn value(&mut self, value: &Value, params: Number) -> Number {
        match value {
            Value::Binary { operator, operands } => self.binary(*operator, operands, params),
            Value::Choose(choice) => {
                let (test, first, second) = &**choice;
                let test = self.test(test, params);
                let first = self.value(first, params);
                let second = self.value(second, params);
                self.builder.ins().select(test, first, second)
            }
            Value::Const(value) => self.number(*value),
            Value::Field(cell) => self.field(*cell),
            Value::Param(index) => {
                let offset = *index as i32 * 8;
                self.builder.ins().load(types::I64, memory(), params, offset)
            }
            Value::Signed { operand, width } => {
                let unused = 64 - i64::from(*width);
                let operand = self.value(operand, params);
                let high = self.builder.ins().ishl_imm_s(operand, unused);
                self.builder.ins().sshr_imm_s(high, unused)
            }
            Value::Truth(test) => {
                let test = self.test(test, params);
                self.builder.ins().uextend(types::I64, test)
            }
        }
    }

    fn binary(&mut self, operator: Operator, operands: &(Value, Value), params: Number) -> Number {
        let left = self.value(&operands.0, params);
        let right = self.value(&operands.1, params);
        match operator {
            Operator::Add => self.builder.ins().iadd(left, right),
            Operator::And => self.builder.ins().band(left, right),
            Operator::Multiply => self.builder.ins().imul(left, right),
            Operator::Or => self.builder.ins().bor(left, right),
            Operator::ShiftLeft => {
                let shifted = self.builder.ins().ishl(left, right);
                self.unless_beyond(shifted, right)
            }
            Operator::ShiftRight => {
                let shifted = self.builder.ins().ushr(left, right);
                self.unless_beyond(shifted, right)
            }
            Operator::ShiftRightSigned => {
                let most = self.number(63);
                let count = self.builder.ins().umin(right, most);
                self.builder.ins().sshr(left, count)
            }
            Operator::Subtract => self.builder.ins().isub(left, right),
            Operator::Xor => self.builder.ins().bxor(left, right),
        }
    }

    /// A number that was shifted by less than its bits, else 0: the processor counts modulo 64.
    fn unless_beyond(&mut self, shifted: Number, count: Number) -> Number {
        let zero = self.number(0);
        let beyond = self.compare(IntCC::UnsignedGreaterThan, count, 63);
        self.builder.ins().select(beyond, zero, shifted)
    }

    /// The answer to a question: 1 or 0 in a byte.
    pub fn test(&mut self, test: &Test, params: Number) -> Number {
        match test {
            Test::And(both) => {
                let (left, right) = (self.test(&both.0, params), self.test(&both.1, params));
                self.builder.ins().band(left, right)
            }
            Test::Compare { compare, signed, operands } => {
                let left = self.value(&operands.0, params);
                let right = self.value(&operands.1, params);
                self.builder.ins().icmp(condition(*compare, *signed), left, right)
            }
            Test::Const(holds) => self.builder.ins().iconst(types::I8, i64::from(*holds)),
            Test::InRange { cell, low, span } => self.in_range(*cell, *low, *span),
            Test::Not(operand) => {
                let operand = self.test(operand, params);
                self.builder.ins().bxor_imm_s(operand, 1)
            }
            Test::Or(either) => {
                let (left, right) = (self.test(&either.0, params), self.test(&either.1, params));
                self.builder.ins().bor(left, right)
            }
            Test::Valid(byte) => self.is_valid(*byte),
        }
    }

    /// Whether the header is valid that has this validity byte.
    pub fn is_valid(&mut self, byte: u32) -> Number {
        let byte = self.load(types::I8, byte);
        self.builder.ins().icmp_imm_s(IntCC::NotEqual, byte, 0)
    }

    /// Whether a field is one of `span + 1` values from `low` on.
    fn in_range(&mut self, cell: Cell, low: u64, span: u64) -> Number {
        let value = self.field(cell);
        let highest = cell.mask >> cell.shift;
        if span == 0 {
            self.compare(IntCC::Equal, value, low)
        } else if low == 0 {
            self.compare(IntCC::UnsignedLessThanOrEqual, value, span)
        } else if low.checked_add(span).is_some_and(|last| last >= highest) {
            // Only the low end cuts something off.
            self.compare(IntCC::UnsignedGreaterThanOrEqual, value, low)
        } else {
            let from_low = self.builder.ins().iadd_imm_s(value, low.wrapping_neg() as i64);
            self.compare(IntCC::UnsignedLessThanOrEqual, from_low, span)
        }
    }

    fn compare(&mut self, how: IntCC, value: Number, with: u64) -> Number {
        self.builder.ins().icmp_imm_s(how, value, with as i64)
    }
}

fn condition(compare: Compare, signed: bool) -> IntCC {
    match (compare, signed) {
        (Compare::Equal, _) => IntCC::Equal,
        (Compare::NotEqual, _) => IntCC::NotEqual,
        (Compare::Greater, false) => IntCC::UnsignedGreaterThan,
        (Compare::Greater, true) => IntCC::SignedGreaterThan,
        (Compare::GreaterOrEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
        (Compare::GreaterOrEqual, true) => IntCC::SignedGreaterThanOrEqual,
        (Compare::Less, false) => IntCC::UnsignedLessThan,
        (Compare::Less, true) => IntCC::SignedLessThan,
        (Compare::LessOrEqual, false) => IntCC::UnsignedLessThanOrEqual,
        (Compare::LessOrEqual, true) => IntCC::SignedLessThanOrEqual,
    }
}
