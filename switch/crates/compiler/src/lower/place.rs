//! Places that can be written: whole variables and parts of them, slices, stack elements.

use bmv2::Expression;

use super::lowering::Lowering;
use super::number::Range;
use super::target::Target;
use super::value::{HeaderRef, UnionRef, Value};
use crate::types::tree::{self, ExpressionKind, Type};
use syntax::Span;

impl Lowering<'_> {
    /// The place an expression names. Indexes with side effects are evaluated now.
    pub fn place(&mut self, expression: &tree::Expression) -> Target {
        match &expression.kind {
            ExpressionKind::Slice { base, high, low } => {
                let range = Range::of(self.leaf_of(&base.ty));
                let (high, low) = (*high, *low);
                match self.place(base) {
                    Target::Whole(Value::Number(base)) => Target::Slice { base, range, high, low },
                    // A slice of a slice counts from the inner one's lowest bit.
                    Target::Slice { base, range, low: inner, .. } => {
                        Target::Slice { base, range, high: high + inner, low: low + inner }
                    }
                    _ => Target::Nowhere,
                }
            }
            ExpressionKind::SliceFrom { base, low } => {
                let range = Range::of(self.leaf_of(&base.ty));
                let low_range = Range::of(self.leaf_of(&low.ty));
                let width = self.leaf_of(&expression.ty).width();
                let place = self.place(base);
                let at = low.span;
                let ty = &low.ty;
                let low = Value::Number(self.number(low));
                let low = if self.local.pins_indexes { self.freeze(low, ty, at) } else { low };
                let Value::Number(low) = low else { return Target::Nowhere };
                match place {
                    Target::Whole(Value::Number(base)) => {
                        Target::SliceFrom { base, range, low: (low, low_range), width }
                    }
                    _ => Target::Nowhere,
                }
            }
            ExpressionKind::Field { base, field } => match self.place(base) {
                Target::Whole(base) => Target::Whole(self.field(&base, *field)),
                _ => Target::Nowhere,
            },
            _ => Target::Whole(self.value(expression)),
        }
    }

    /// The present value of a place.
    pub fn read(&mut self, target: &Target) -> Value {
        match target {
            Target::Nowhere => Value::Void,
            Target::Slice { base, high, low, .. } => {
                Value::Number(super::number::slice(base.clone(), *high, *low))
            }
            Target::SliceFrom { base, range, low, width } => {
                Value::Number(self.slice_from(base.clone(), *range, low.clone(), *width))
            }
            Target::Whole(value) => value.clone(),
        }
    }

    /// Field number `field` of a struct, header or union.
    pub fn field(&self, base: &Value, field: usize) -> Value {
        match base {
            Value::Struct(fields) | Value::HeaderOf(fields) => {
                fields.get(field).cloned().unwrap_or(Value::Void)
            }
            Value::Header(header) => self
                .flat
                .storage
                .header_fields(self.input.program, header)
                .into_iter()
                .nth(field)
                .unwrap_or(Value::Void),
            Value::Union(union) => Value::Header(self.flat.storage.union_member(union, field)),
            _ => Value::Void,
        }
    }

    /// The element of a stack, array or tuple.
    pub fn element(&mut self, base: &Value, index: Expression, ty: &Type, at: Span) -> Value {
        let known = match &index {
            Expression::Hex(index) => {
                Some(index.to_u64().map_or(usize::MAX, |index| index as usize))
            }
            _ => None,
        };
        match (base, known) {
            (Value::Struct(parts) | Value::StackOf(parts), Some(known)) => {
                parts.get(known).cloned().unwrap_or(Value::Void)
            }
            (Value::StackOf(parts), None) => self.pick(&parts.clone(), &index, ty, at),
            (Value::Stack(stack), known) => {
                let elements = self.flat.storage.stack_elements(*stack);
                let stored = known.and_then(|known| elements.get(known).copied());
                Value::Header(match stored {
                    Some(header) => HeaderRef::Instance(header),
                    None => HeaderRef::At { stack: *stack, index: Box::new(index) },
                })
            }
            (Value::UnionStack(stack), known) => {
                let elements = &self.flat.storage.union_stacks[stack.0].elements;
                let stored = known.and_then(|known| elements.get(known).copied());
                Value::Union(match stored {
                    Some(union) => UnionRef::Instance(union),
                    None => UnionRef::At { stack: *stack, index: Box::new(index) },
                })
            }
            _ => Value::Void,
        }
    }
}
