//! Places that can be written: whole variables and parts of them, slices, stack elements.

use bits::Int;
use bmv2::{BinaryOperator, Expression, FieldRef, UnaryOperator};

use super::lowering::Lowering;
use super::number::Range;
use super::storage::{HeaderId, UnionStackId};
use super::value::{HeaderRef, UnionRef, Value, binary, hex};
use crate::types::tree::{self, ExpressionKind, Type};
use syntax::Span;

/// Where a value can be written to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Nowhere: the argument `_`.
    Nowhere,
    /// Bits of a number.
    Slice {
        /// The number.
        base: Expression,
        /// Its type.
        range: Range,
        /// Most significant bit.
        high: u32,
        /// Least significant bit.
        low: u32,
    },
    /// Bits of a number from a computed position.
    SliceFrom {
        /// The number.
        base: Expression,
        /// Its type.
        range: Range,
        /// Least significant bit.
        low: (Expression, Range),
        /// How many.
        width: u32,
    },
    /// All of it.
    Whole(Value),
}

/// A piece of storage, for asking whether two places overlap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// A field outside headers.
    Field(FieldRef),
    /// A header with its validity.
    Header(HeaderId),
    /// A stack of unions, all of it.
    UnionStack(UnionStackId),
}

/// `index`, kept below `size`: reading beyond the end of a stack may give anything in P4, but
/// simple_switch would read beyond its own memory.
pub fn bounded(index: &Expression, size: usize) -> Expression {
    let last = size.saturating_sub(1) as u64;
    if let Expression::Hex(index) = index {
        return Expression::Hex(index.clone().min(Int::from(last)));
    }
    Expression::Conditional {
        condition: Box::new(binary(BinaryOperator::Less, index.clone(), hex(size as u64))),
        if_true: Box::new(index.clone()),
        if_false: Box::new(hex(last)),
    }
}

/// The index of `stack.next` or `stack.last`. The switch counts what was extracted: the last index
/// is -1 in an empty stack, and that of the next element is one more. An assignment to `next` does
/// not count, only `extract` does (specification, "Operations on header stacks").
pub fn end_index(stack: &Expression, is_next: bool, size: usize) -> Expression {
    let last = Expression::Unary {
        operator: UnaryOperator::LastStackIndex,
        operand: Box::new(stack.clone()),
    };
    if is_next {
        return bounded(&binary(BinaryOperator::Add, last, hex(1)), size);
    }
    // There is no last element in an empty stack: any will do but one outside of it.
    Expression::Conditional {
        condition: Box::new(binary(BinaryOperator::Less, last.clone(), hex(0))),
        if_true: Box::new(hex(0)),
        if_false: Box::new(last),
    }
}

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
                let low = self.number(low);
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

    /// What a place holds now.
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
            Value::Header(header) => {
                self.header_fields(header).into_iter().nth(field).unwrap_or(Value::Void)
            }
            Value::Union(union) => Value::Header(self.union_member(union, field)),
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
                let elements = self.stack_elements(*stack);
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

    /// The pieces of storage that a value is made of or reads.
    pub fn atoms(&self, value: &Value, found: &mut Vec<Atom>) {
        match value {
            Value::Bool(number) | Value::Number(number) => self.atoms_of(number, found),
            Value::Header(header) => self.header_atoms(header, found),
            Value::HeaderOf(parts) | Value::StackOf(parts) | Value::Struct(parts) => {
                parts.iter().for_each(|part| self.atoms(part, found));
            }
            Value::Stack(stack) => {
                found.extend(self.stack_elements(*stack).into_iter().map(Atom::Header));
            }
            Value::Union(union) => self.union_atoms(union, found),
            Value::UnionStack(stack) => found.push(Atom::UnionStack(*stack)),
            Value::Varbit(field) => self.field_atom(field, found),
            Value::Invalid | Value::Object(_) | Value::Packet | Value::Text(_) | Value::Void => {}
        }
    }

    /// All storage of a header.
    fn header_atoms(&self, header: &HeaderRef, found: &mut Vec<Atom>) {
        match header {
            HeaderRef::At { stack, index } => {
                self.atoms(&Value::Stack(*stack), found);
                self.atoms_of(index, found);
            }
            HeaderRef::Instance(id) => found.push(Atom::Header(*id)),
            HeaderRef::Last(stack) | HeaderRef::Next(stack) => {
                self.atoms(&Value::Stack(*stack), found);
            }
            HeaderRef::OfUnion { union, .. } => self.union_atoms(union, found),
        }
    }

    /// All storage of a union.
    fn union_atoms(&self, union: &UnionRef, found: &mut Vec<Atom>) {
        match union {
            UnionRef::At { stack, index } => {
                found.push(Atom::UnionStack(*stack));
                self.atoms_of(index, found);
            }
            UnionRef::Instance(id) => {
                let members = &self.flat.storage.unions[id.0].members;
                found.extend(members.iter().map(|member| Atom::Header(*member)));
            }
            UnionRef::Last(stack) | UnionRef::Next(stack) => found.push(Atom::UnionStack(*stack)),
        }
    }

    /// One field.
    fn field_atom(&self, field: &FieldRef, found: &mut Vec<Atom>) {
        let headers = &self.flat.storage.headers;
        found.push(match headers.iter().position(|header| header.name == field.header) {
            Some(header) => Atom::Header(HeaderId(header)),
            None => Atom::Field(field.clone()),
        });
    }

    /// All storage of a stack.
    fn named_stack_atoms(&self, name: &str, found: &mut Vec<Atom>) {
        let storage = &self.flat.storage;
        if let Some(stack) = storage.stacks.iter().find(|stack| stack.name == name) {
            found.extend(stack.elements.iter().map(|element| Atom::Header(*element)));
        }
        if let Some(at) = storage.union_stacks.iter().position(|stack| stack.name == name) {
            found.push(Atom::UnionStack(UnionStackId(at)));
        }
    }

    /// The pieces of storage that an expression reads.
    pub fn atoms_of(&self, expression: &Expression, found: &mut Vec<Atom>) {
        match expression {
            Expression::AccessField { header: inner, .. }
            | Expression::AccessUnionHeader { union: inner, .. }
            | Expression::Register { index: inner, .. }
            | Expression::Unary { operand: inner, .. } => self.atoms_of(inner, found),
            Expression::Binary { left, right, .. } => {
                self.atoms_of(left, found);
                self.atoms_of(right, found);
            }
            Expression::Conditional { condition, if_true, if_false } => {
                for part in [condition, if_true, if_false] {
                    self.atoms_of(part, found);
                }
            }
            Expression::Field(field) => self.field_atom(field, found),
            Expression::Header(name) => {
                let at = self.flat.storage.headers.iter().position(|header| header.name == *name);
                found.extend(at.map(|at| Atom::Header(HeaderId(at))));
            }
            Expression::HeaderUnion(name) => {
                let unions = &self.flat.storage.unions;
                let union = unions.iter().find(|union| union.name == *name);
                let members = union.into_iter().flat_map(|union| &union.members);
                found.extend(members.map(|member| Atom::Header(*member)));
            }
            Expression::HeaderStack(name)
            | Expression::HeaderUnionStack(name)
            | Expression::StackField { stack: name, .. } => self.named_stack_atoms(name, found),
            Expression::Bool(_) | Expression::Hex(_) | Expression::Local(_) => {}
        }
    }

    /// Whether writing one place could change the other.
    pub fn overlap(&self, one: &Value, other: &Value) -> bool {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        self.atoms(one, &mut ours);
        self.atoms(other, &mut theirs);
        ours.sort();
        theirs.iter().any(|atom| ours.binary_search(atom).is_ok())
    }
}
