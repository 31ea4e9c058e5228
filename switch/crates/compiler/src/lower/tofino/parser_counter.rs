//! `ParserCounter`: a signed number of 8 bits that parser states set, change and test.

use bits::Int;
use bmv2::{BinaryOperator, Expression};

use super::super::lowering::Lowering;
use super::super::storage::Leaf;
use super::super::value::{ObjectRef, Value, binary, hex};
use crate::architecture::ParserCounter;
use crate::types::tree::Call;

const COUNTER: Leaf = Leaf::Number { width: 8, is_signed: false };
const SIGN: u64 = 0x80;

impl Lowering<'_> {
    /// A call of a method.
    pub fn parser_counter(&mut self, what: ParserCounter, object: ObjectRef, call: &Call) -> Value {
        let counter = Expression::Field(self.counter_field(object));
        let changed = match what {
            ParserCounter::Decrement => {
                binary(BinaryOperator::Subtract, counter.clone(), self.number_argument(call, 0))
            }
            ParserCounter::Increment => {
                binary(BinaryOperator::Add, counter.clone(), self.number_argument(call, 0))
            }
            ParserCounter::IsNegative => {
                let sign = binary(BinaryOperator::BitAnd, counter, hex(SIGN));
                return Value::Bool(binary(BinaryOperator::NotEqual, sign, hex(0)));
            }
            ParserCounter::IsZero => {
                return Value::Bool(binary(BinaryOperator::Equal, counter, hex(0)));
            }
            ParserCounter::Set => match call.arguments.len() {
                1 => self.number_argument(call, 0),
                _ => self.turned(call),
            },
        };
        let changed = binary(BinaryOperator::BitAnd, changed, hex(0xff));
        self.assign_number(&counter, changed, call.span);
        Value::Void
    }

    /// The field in which a counter is kept.
    fn counter_field(&mut self, object: ObjectRef) -> bmv2::FieldRef {
        if let Some(known) = self.made.parser_counters.get(&object) {
            return known.clone();
        }
        let field = self.temporary_field(COUNTER);
        self.made.parser_counters.insert(object, field.clone());
        field
    }

    /// `set` of a field: at most `max`, turned right by `rotate` of its 8 bits, cut to `mask` + 1
    /// bits, plus `add`.
    fn turned(&mut self, call: &Call) -> Expression {
        let [field, most, rotate, mask, add] =
            [0, 1, 2, 3, 4].map(|argument| self.number_argument(call, argument));
        let bounded =
            super::choice(binary(BinaryOperator::Less, field.clone(), most.clone()), field, most);
        let left = binary(BinaryOperator::Subtract, hex(8), rotate.clone());
        let turned = binary(
            BinaryOperator::BitOr,
            binary(BinaryOperator::ShiftRight, bounded.clone(), rotate),
            binary(BinaryOperator::ShiftLeft, bounded, left),
        );
        let bits = binary(BinaryOperator::ShiftLeft, Expression::Hex(Int::from(2u32)), mask);
        let mask = binary(BinaryOperator::Subtract, bits, hex(1));
        binary(BinaryOperator::Add, binary(BinaryOperator::BitAnd, turned, mask), add)
    }
}
