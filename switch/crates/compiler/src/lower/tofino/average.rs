//! `Lpf` and `Wred`: moving averages, in registers that the control plane sets up and reads.
//!
//! The cell of a filter has a time constant T. After the time t the average has moved to the sample
//! by t/T of their distance, or reached it if t is T or more. (The chip has 1 - exp(-t/T).) Without a
//! time constant the average is the sample.
//!
//! A WRED cell has two thresholds besides. Below the first nothing is dropped, from the second on
//! everything; in between the probability grows to the largest one. As long as both are zero nothing
//! is dropped.

use bmv2::{BinaryOperator, Expression, FieldRef};

use super::super::flat::ObjectKind;
use super::super::lowering::Lowering;
use super::super::storage::Leaf;
use super::super::value::{ObjectRef, Value, binary, hex, leaf_value, parameter};
use super::choice;
use crate::types::tree::{Call, Type};
use syntax::Span;

/// Bits of an average behind the point.
const FRACTION_BITS: u64 = 16;
/// A probability of 1.
const CERTAIN_BITS: u64 = 16;
const TIME: Leaf = Leaf::Number { width: 48, is_signed: false };

/// A cell, read into temporary fields in the order of its struct.
struct Cell {
    place: Value,
    ty: Type,
    fields: Vec<Expression>,
    index: Expression,
}

impl Lowering<'_> {
    /// `Lpf.execute`.
    pub fn low_pass(&mut self, object: ObjectRef, call: &Call, ty: &Type) -> Value {
        let Some(cell) = self.averaged(object, call) else { return Value::Void };
        let kind = self.leaf_of(ty);
        let result = self.temporary_field(kind);
        let whole = whole(&cell);
        self.assign_number(&Expression::Field(result.clone()), whole, call.span);
        leaf_value(kind, result)
    }

    /// `Wred.execute`: one of the two numbers of the constructor.
    pub fn early_drop(&mut self, object: ObjectRef, call: &Call) -> Value {
        let at = call.span;
        let Some(cell) = self.averaged(object, call) else { return Value::Void };
        let [_, _, _, least, most, probability] = &cell.fields[..] else { return Value::Void };
        let index = self.declare_object(object);
        // A direct one is given no size.
        let before = usize::from(!self.is_direct(object));
        let [drops, passes] =
            [before, before + 1].map(|argument| self.given_number(index, argument));
        let draw = Expression::Field(self.temporary_field(TIME));
        let parameters =
            [draw.clone(), hex(0), hex((1 << CERTAIN_BITS) - 1)].map(parameter).to_vec();
        self.run("modify_field_rng_uniform", parameters, at);
        let span = binary(BinaryOperator::Subtract, most.clone(), least.clone());
        let above = binary(BinaryOperator::Subtract, whole(&cell), least.clone());
        let is_drawn = binary(
            BinaryOperator::Less,
            binary(BinaryOperator::Multiply, draw, span),
            binary(BinaryOperator::Multiply, above, probability.clone()),
        );
        let is_above = |limit: &Expression| {
            binary(BinaryOperator::GreaterOrEqual, whole(&cell), limit.clone())
        };
        let is_set_up = binary(BinaryOperator::Greater, most.clone(), hex(0));
        let between = choice(
            binary(BinaryOperator::And, is_above(least), is_drawn),
            drops.clone(),
            passes.clone(),
        );
        let value = choice(is_set_up, choice(is_above(most), drops, between), passes);
        let result =
            Expression::Field(self.temporary_field(Leaf::Number { width: 8, is_signed: false }));
        self.assign_number(&result, value, at);
        Value::Number(result)
    }

    /// Takes the sample of a call into the average of its cell.
    fn averaged(&mut self, object: ObjectRef, call: &Call) -> Option<Cell> {
        let at = call.span;
        let sample = Value::Number(self.number_argument(call, 0));
        let Value::Number(sample) = self.freeze(sample, &Type::Bit(32), at) else { return None };
        let index = Value::Number(self.cell_argument(object, call));
        let Value::Number(index) = self.freeze(index, &Type::Bit(32), at) else { return None };
        let cell = self.cell_of(object, index, at)?;
        let [constant, average, last, ..] = &cell.fields[..] else { return None };
        let now = self.time();
        let passed = binary(BinaryOperator::Subtract, now.clone(), last.clone());
        let passed = self.timed(passed, at);
        let is_set_up = binary(BinaryOperator::Greater, constant.clone(), hex(0));
        let is_long = binary(BinaryOperator::GreaterOrEqual, passed.clone(), constant.clone());
        let sample = binary(BinaryOperator::ShiftLeft, sample, hex(FRACTION_BITS));
        // Never zero: both branches of a choice may be computed.
        let constant = choice(is_set_up.clone(), constant.clone(), hex(1));
        let moved = |from: &Expression, to: &Expression| {
            let distance = binary(BinaryOperator::Subtract, to.clone(), from.clone());
            let product = binary(BinaryOperator::Multiply, distance, passed.clone());
            binary(BinaryOperator::Divide, product, constant.clone())
        };
        let rises = binary(BinaryOperator::GreaterOrEqual, sample.clone(), average.clone());
        let up = binary(BinaryOperator::Add, average.clone(), moved(average, &sample));
        let down = binary(BinaryOperator::Subtract, average.clone(), moved(&sample, average));
        let follows = binary(BinaryOperator::And, is_set_up, not(is_long));
        let next = choice(follows, choice(rises, up, down), sample);
        self.assign_number(average, next, at);
        self.assign_number(last, now, at);
        self.write_cell(object, &cell.index.clone(), &cell.place, &cell.ty, at);
        Some(cell)
    }

    fn cell_of(&mut self, object: ObjectRef, index: Expression, at: Span) -> Option<Cell> {
        let declared = self.declare_object(object)?;
        let ObjectKind::Register { element, .. } = &self.flat.objects[declared].kind else {
            return None;
        };
        let ty = element.clone();
        let place = self.temporary(&ty, at);
        self.zero(&place, &ty, at);
        self.read_cell(object, &index, &place, &ty, at);
        let mut leaves = Vec::new();
        self.leaves(&place, &ty, &mut leaves);
        let number = |(value, _): (Value, Leaf)| match value {
            Value::Number(number) => Some(number),
            _ => None,
        };
        let fields = leaves.into_iter().filter_map(number).collect();
        Some(Cell { place, ty, fields, index })
    }

    /// The time of the parser in front of this block.
    fn time(&self) -> Expression {
        let header = match self.local.kind.is_egress() {
            true => "eg_intr_md_from_prsr",
            false => "ig_intr_md_from_prsr",
        };
        match self.flat.intrinsic.iter().any(|known| known.name == header) {
            true => Expression::Field(FieldRef::new(header, "global_tstamp".to_owned())),
            // The program does not ask for it: every sample is the average.
            false => hex(0),
        }
    }

    /// A time of 48 bits.
    fn timed(&mut self, time: Expression, at: Span) -> Expression {
        let place = Expression::Field(self.temporary_field(TIME));
        let mask = hex((1 << TIME.width()) - 1);
        self.assign_number(&place, binary(BinaryOperator::BitAnd, time, mask), at);
        place
    }
}

/// The average without what lies behind its point.
fn whole(cell: &Cell) -> Expression {
    let average = cell.fields.get(1).cloned().unwrap_or(hex(0));
    binary(BinaryOperator::ShiftRight, average, hex(FRACTION_BITS))
}

fn not(truth: Expression) -> Expression {
    choice(truth, Expression::Bool(false), Expression::Bool(true))
}
