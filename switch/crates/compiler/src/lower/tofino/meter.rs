//! Meters, whose colours Tofino numbers 0 (green), 1 (yellow) and 3 (red), or as the constructor says.
//!
//! The switch numbers them as PSA does: 0 (red), 1 (green), 2 (yellow).

use bmv2::{BinaryOperator, Expression};

use super::super::flat::Object;
use super::super::lowering::Lowering;
use super::super::storage::Leaf;
use super::super::value::{Value, binary, hex, parameter};
use super::choice;
use crate::types::tree::{Argument, Call};

const COLOR: Leaf = Leaf::Number { width: 8, is_signed: false };
const PSA_COLOR: Leaf = Leaf::Number { width: 32, is_signed: false };
/// The constructor's arguments that number red, yellow and green follow these: of meters with an
/// index size and unit, of direct meters the unit.
const BEFORE_COLORS: usize = 2;
const BEFORE_DIRECT_COLORS: usize = 1;

impl Lowering<'_> {
    /// `Meter.execute`. A change of the byte count is ignored.
    pub fn meter(&mut self, index: usize, call: &Call) -> Value {
        let cell = self.number_argument(call, 0);
        let before = self.color_argument(call, 1);
        let array = self.object_parameter(Some(index));
        let color = self.temporary_field(PSA_COLOR);
        let mut parameters =
            vec![array, parameter(cell), parameter(Expression::Field(color.clone()))];
        parameters.extend(before.map(parameter));
        self.run("_Meter_execute", parameters, call.span);
        self.numbered(Expression::Field(color), index, BEFORE_COLORS, call)
    }

    /// `DirectMeter.execute`, which takes no colour.
    pub fn tofino_direct_meter(&mut self, index: usize, call: &Call) -> Value {
        if self.color_argument(call, 0).is_some() {
            self.report_direct_color(call.span);
        }
        let Value::Number(color) = self.direct_color(index, call.span) else { return Value::Void };
        self.numbered(color, index, BEFORE_DIRECT_COLORS, call)
    }

    /// The colour that a packet has before, as PSA numbers it.
    fn color_argument(&mut self, call: &Call, argument: usize) -> Option<Expression> {
        let Some(Argument::Expression(expression)) = call.arguments.get(argument) else {
            return None;
        };
        // The other argument that a call may have here is a byte count of 32 bits.
        if self.leaf_of(&expression.ty).width() != COLOR.width() {
            return None;
        }
        let color = self.number_argument(call, argument);
        let is = |number| binary(BinaryOperator::Equal, color.clone(), hex(number));
        Some(choice(is(0), hex(1), choice(is(3), hex(0), hex(2))))
    }

    /// A colour of PSA as this meter numbers it.
    fn numbered(&mut self, color: Expression, index: usize, first: usize, call: &Call) -> Value {
        let Object { of, .. } = &self.flat.objects[index];
        let given = self.input.program.instances[of.instance].arguments.len() > first;
        let [red, yellow, green] = match given {
            true => [0, 1, 2].map(|position| self.given_number(Some(index), first + position)),
            false => [3, 1, 0].map(hex),
        };
        let is = |number| binary(BinaryOperator::Equal, color.clone(), hex(number));
        let number = choice(is(0), red, choice(is(1), green, yellow));
        let place = Expression::Field(self.temporary_field(COLOR));
        self.assign_number(&place, number, call.span);
        Value::Number(place)
    }
}
