//! Assignments and comparisons of whatever shape.
//!
//! Before: a place and a value of one type. After: primitives for each header, stack, union and
//! number of it (or one expression, for a comparison). The value is read completely before the
//! place is written, also where they overlap.
//!
//! Values are assigned part by part, in the order of the fields. Where the source could be changed by
//! an earlier part (a swap), it is copied first. Headers carry their validity along: an invalid header
//! makes its target invalid and leaves its fields alone.

use bmv2::{BinaryOperator as Operator, Expression, Parameter, UnaryOperator};

use super::expression::{all, and, not, or};
use super::lowering::Lowering;
use super::number;
use super::step::Step;
use super::storage::Leaf;
use super::target::Target;
use super::value::{HeaderRef, UnionRef, Value, binary, hex, number_of, parameter};
use crate::types::tree::{BinaryOperator, Type};
use syntax::Span;

impl Lowering<'_> {
    /// Writes a value of type `ty` to a target.
    pub fn assign(&mut self, target: &Target, value: &Value, ty: &Type, at: Span) {
        match (target, value) {
            (Target::Nowhere, _) => {}
            (Target::Whole(place), value) => self.assign_value(place, value, ty, at),
            (Target::Slice { base, range, high, low }, Value::Number(bits)) => {
                let spliced = number::splice(base.clone(), bits.clone(), *high, *low, *range);
                self.assign_number(base, spliced, at);
            }
            (Target::SliceFrom { base, range, low, width }, Value::Number(bits)) => {
                let spliced =
                    number::splice_from(base.clone(), bits.clone(), low.clone(), *width, *range);
                self.assign_number(base, spliced, at);
            }
            (Target::Slice { .. } | Target::SliceFrom { .. }, _) => {}
        }
    }

    /// Copies a value so that later steps cannot change it.
    pub fn freeze(&mut self, value: Value, ty: &Type, at: Span) -> Value {
        if value.is_constant() {
            return value;
        }
        let copy = self.temporary(ty, at);
        self.assign_value(&copy, &value, ty, at);
        copy
    }

    /// Writes a value to a whole place.
    pub fn assign_value(&mut self, place: &Value, value: &Value, ty: &Type, at: Span) {
        if place == value {
            return;
        }
        let is_composite =
            matches!(value, Value::Struct(_) | Value::HeaderOf(_) | Value::StackOf(_));
        if is_composite && self.flat.storage.overlap(place, value) {
            let copy = self.freeze(value.clone(), ty, at);
            return self.assign_parts(place, &copy, ty, at);
        }
        self.assign_parts(place, value, ty, at);
    }

    /// Each part of a struct or tuple to its place.
    fn assign_parts(&mut self, place: &Value, value: &Value, ty: &Type, at: Span) {
        match (place, value) {
            (Value::Number(place), Value::Number(number)) => {
                self.assign_number(place, number.clone(), at);
            }
            (Value::Bool(place), Value::Bool(truth)) => {
                self.assign_number(&number_of(place.clone()), number_of(truth.clone()), at);
            }
            (Value::Varbit(place), Value::Varbit(value)) => {
                let arguments = [place, value]
                    .map(|field| Parameter::Expression(Expression::Field(field.clone())));
                self.run("assign_VL", arguments.to_vec(), at);
            }
            (Value::Header(header), value) => self.assign_header(header, value, at),
            (Value::Union(union), value) => self.assign_union(union, value, at),
            (Value::Struct(places), Value::Struct(values)) => {
                let types = self.part_types(ty);
                for ((place, value), ty) in places.iter().zip(values).zip(&types) {
                    self.assign_parts(place, value, ty, at);
                }
            }
            (Value::StackOf(places), Value::StackOf(values)) => {
                for (place, value) in places.iter().zip(values) {
                    self.assign_parts(place, value, &element_type(ty), at);
                }
            }
            _ => self.assign_stack(place, value, at),
        }
    }

    /// A stack as a whole where the switch can do it, element by element otherwise.
    fn assign_stack(&mut self, place: &Value, value: &Value, at: Span) {
        match (place, value) {
            (Value::Stack(stack), Value::Stack(from)) => {
                let names = [stack, from].map(|id| self.flat.storage.stacks[id.0].name.clone());
                let arguments =
                    names.map(|name| Parameter::Expression(Expression::HeaderStack(name)));
                self.run("assign_header_stack", arguments.to_vec(), at);
            }
            (Value::UnionStack(stack), Value::UnionStack(from)) => {
                let names =
                    [stack, from].map(|id| self.flat.storage.union_stacks[id.0].name.clone());
                let arguments =
                    names.map(|name| Parameter::Expression(Expression::HeaderUnionStack(name)));
                self.run("assign_union_stack", arguments.to_vec(), at);
            }
            (Value::Stack(stack), Value::StackOf(values)) => {
                for (header, value) in
                    self.flat.storage.stack_elements(*stack).into_iter().zip(values)
                {
                    self.assign_header(&HeaderRef::Instance(header), value, at);
                }
            }
            (Value::UnionStack(stack), Value::StackOf(values)) => {
                let elements = self.flat.storage.union_stacks[stack.0].elements.clone();
                for (union, value) in elements.into_iter().zip(values) {
                    self.assign_union(&UnionRef::Instance(union), value, at);
                }
            }
            // Nothing else has the same type; what is left was reported when it was made.
            _ => {}
        }
    }

    /// Writes a number to a field, or to a field of a stack's element by a computed index.
    pub fn assign_number(&mut self, place: &Expression, number: Expression, at: Span) {
        if *place == number {
            return;
        }
        if let Some((header, field)) = indexed(place) {
            let number = match number {
                Expression::Hex(_) | Expression::Local(_) => number,
                number => {
                    let kind = self.field_kind(&header, field);
                    let copy = Expression::Field(self.temporary_field(kind));
                    self.assign_number(&copy, number, at);
                    copy
                }
            };
            return self.for_each_element(&header, at, |this, header| {
                let name = &this.flat.storage.type_of(&header).fields[field as usize].name;
                let HeaderRef::Instance(id) = header else { return };
                let header_name = this.flat.storage.header_name(id).to_owned();
                let place = Expression::Field(bmv2::FieldRef::new(header_name, name.clone()));
                this.assign_number(&place, number.clone(), at);
            });
        }
        self.run("assign", vec![parameter(place.clone()), parameter(number)], at);
    }

    /// The kind of a field of an element of a stack.
    fn field_kind(&self, header: &Expression, field: u32) -> Leaf {
        let (stack, _) = stack_and_index(header);
        let stacks = &self.flat.storage.stacks;
        let stack = stacks.iter().find(|known| Some(known.name.as_str()) == stack);
        let header_type = stack.map(|stack| &self.flat.storage.header_types[stack.header_type]);
        let kind = header_type.and_then(|ty| ty.fields.get(field as usize)).map(|field| field.kind);
        kind.unwrap_or(Leaf::Bool)
    }

    /// Writing through a computed index: one test an element, because a write beyond the end must
    /// do nothing.
    fn for_each_element(
        &mut self,
        header: &Expression,
        at: Span,
        mut write: impl FnMut(&mut Self, HeaderRef),
    ) {
        let (Some(stack), Some(index)) = stack_and_index(header) else { return };
        let found = self.flat.storage.stacks.iter().find(|known| known.name == stack);
        let elements = found.map(|stack| stack.elements.clone()).unwrap_or_default();
        for (position, element) in elements.into_iter().enumerate() {
            let condition = binary(Operator::Equal, index.clone(), hex(position as u64));
            let then = self.steps_of(|this| write(this, HeaderRef::Instance(element)));
            self.push(Step::If { condition, then, otherwise: Vec::new(), at });
        }
    }

    pub fn assign_header(&mut self, place: &HeaderRef, value: &Value, at: Span) {
        if let HeaderRef::At { stack, index } = place {
            let elements = self.flat.storage.stack_elements(*stack);
            for (position, element) in elements.into_iter().enumerate() {
                let condition = binary(Operator::Equal, (**index).clone(), hex(position as u64));
                let then = self.steps_of(|this| {
                    this.assign_header(&HeaderRef::Instance(element), value, at);
                });
                self.push(Step::If { condition, then, otherwise: Vec::new(), at });
            }
            return;
        }
        let members = match place {
            HeaderRef::Instance(header) => self.flat.storage.union_around(*header),
            _ => None,
        };
        let Some(members) = members.map(<[_]>::to_vec) else {
            return self.write_header(place, value, at);
        };
        // P4-16, 8.20: an invalid header assigned to one member leaves no member valid.
        let none = |this: &mut Self| {
            for member in &members {
                this.write_header(&HeaderRef::Instance(*member), &Value::Invalid, at);
            }
        };
        match value {
            Value::Invalid => none(self),
            Value::Header(_) => {
                let condition = self.is_valid(value);
                let then = self.steps_of(|this| this.write_header(place, value, at));
                let otherwise = self.steps_of(none);
                self.push(Step::If { condition, then, otherwise, at });
            }
            _ => self.write_header(place, value, at),
        }
    }

    /// A header by itself: the switch makes other members of a union invalid with a valid one.
    fn write_header(&mut self, place: &HeaderRef, value: &Value, at: Span) {
        let target = Parameter::Expression(self.flat.storage.header_expression(place));
        match value {
            Value::Header(from) => {
                let from = Parameter::Expression(self.flat.storage.header_expression(from));
                self.run("assign_header", vec![target, from], at);
            }
            Value::HeaderOf(values) | Value::Struct(values) => {
                self.run("add_header", vec![target], at);
                let places = self.flat.storage.header_fields(self.input.program, place);
                let types = self.field_types(self.flat.storage.type_of(place).of);
                for ((place, value), ty) in places.iter().zip(values).zip(&types) {
                    self.assign_parts(place, value, ty, at);
                }
            }
            Value::Invalid => self.run("remove_header", vec![target], at),
            _ => {}
        }
    }

    /// The switch copies which member is valid; an element by computed index is one test a
    /// position.
    fn assign_union(&mut self, place: &UnionRef, value: &Value, at: Span) {
        if let UnionRef::At { stack, index } = place {
            let elements = self.flat.storage.union_stacks[stack.0].elements.clone();
            for (position, element) in elements.into_iter().enumerate() {
                let condition = binary(Operator::Equal, (**index).clone(), hex(position as u64));
                let then = self.steps_of(|this| {
                    this.assign_union(&UnionRef::Instance(element), value, at);
                });
                self.push(Step::If { condition, then, otherwise: Vec::new(), at });
            }
            return;
        }
        match value {
            Value::Union(from) => {
                let arguments = [place, from]
                    .map(|union| Parameter::Expression(self.flat.storage.union_expression(union)));
                self.run("assign_union", arguments.to_vec(), at);
            }
            Value::Invalid => self.invalidate(&Value::Union(place.clone()), at),
            // A union made of members: each is written in turn, the last valid one stays.
            Value::Struct(members) => {
                for (member, value) in members.iter().enumerate() {
                    let header = self.flat.storage.union_member(place, member);
                    self.write_header(&header, value, at);
                }
            }
            _ => {}
        }
    }

    /// Makes every header in a place invalid: the state of a variable or `out` parameter that
    /// nothing has been written to.
    pub fn invalidate(&mut self, place: &Value, at: Span) {
        match place {
            Value::Header(header) => self.assign_header(header, &Value::Invalid, at),
            Value::Struct(parts) | Value::StackOf(parts) => {
                parts.iter().for_each(|part| self.invalidate(part, at));
            }
            Value::Stack(stack) => {
                for header in self.flat.storage.stack_elements(*stack) {
                    self.assign_header(&HeaderRef::Instance(header), &Value::Invalid, at);
                }
            }
            Value::Union(UnionRef::Instance(union)) => {
                for member in self.flat.storage.unions[union.0].members.clone() {
                    self.write_header(&HeaderRef::Instance(member), &Value::Invalid, at);
                }
            }
            Value::UnionStack(stack) => {
                for union in self.flat.storage.union_stacks[stack.0].elements.clone() {
                    self.invalidate(&Value::Union(UnionRef::Instance(union)), at);
                }
            }
            _ => {}
        }
    }

    /// `one == other`.
    pub fn equal(&mut self, one: &Value, other: &Value, ty: &Type, at: Span) -> Expression {
        match (one, other) {
            (Value::Number(one), Value::Number(other)) => {
                number::compare(BinaryOperator::Equal, one.clone(), other.clone())
            }
            (Value::Bool(one), Value::Bool(other)) => {
                let [one, other] = [one, other].map(|truth| number_of(truth.clone()));
                number::compare(BinaryOperator::Equal, one, other)
            }
            (Value::Varbit(one), Value::Varbit(other)) => {
                let [one, other] = [one, other].map(|field| Expression::Field(field.clone()));
                binary(Operator::Equal, one, other)
            }
            (Value::Text(one), Value::Text(other)) => Expression::Bool(one == other),
            (Value::Struct(ones), Value::Struct(others)) => {
                if !self.charge(ones.len()) {
                    return Expression::Bool(false);
                }
                let types = self.part_types(ty);
                let pairs = ones.iter().zip(others).zip(&types);
                let equal = pairs.map(|((one, other), ty)| self.equal(one, other, ty, at));
                all(&equal.collect::<Vec<_>>())
            }
            (Value::Invalid, Value::Invalid) => Expression::Bool(true),
            (valid, Value::Invalid) | (Value::Invalid, valid) => not(self.is_valid(valid)),
            (Value::Header(_) | Value::HeaderOf(_), Value::Header(_) | Value::HeaderOf(_)) => {
                self.equal_headers(one, other, ty, at)
            }
            (Value::Union(_), _) | (_, Value::Union(_)) => {
                let [ones, others] = [one, other].map(|union| self.union_members(union, ty));
                self.equal(&ones, &others, ty, at)
            }
            _ => self.equal_stacks(one, other, ty, at),
        }
    }

    /// P4-16, 8.17: headers are equal if both are invalid, or both valid with equal fields. The
    /// switch has a comparison of headers, and one of unions, but invalid ones are never equal to it.
    fn equal_headers(&mut self, one: &Value, other: &Value, ty: &Type, at: Span) -> Expression {
        let [one, other] = [one, other].map(|header| self.with_bit_strings(header, ty, at));
        let [is_one, is_other] = [&one, &other].map(|header| self.is_valid(header));
        let neither = and(not(is_one.clone()), not(is_other.clone()));
        let both = and(is_one, is_other);
        let [ones, others] = [one, other].map(|header| match header {
            Value::HeaderOf(fields) => fields,
            Value::Header(header) => self.flat.storage.header_fields(self.input.program, &header),
            _ => Vec::new(),
        });
        let equal = self.equal(&Value::Struct(ones), &Value::Struct(others), ty, at);
        or(neither, and(both, equal))
    }

    /// A header whose fields can be compared one by one: a bit string is reached by the name of its
    /// header only, not by a computed index.
    fn with_bit_strings(&mut self, header: &Value, ty: &Type, at: Span) -> Value {
        let Value::Header(of) = header else { return header.clone() };
        let is_named = matches!(of, HeaderRef::Instance(_));
        let fields = &self.flat.storage.type_of(of).fields;
        if is_named || !fields.iter().any(|field| matches!(field.kind, Leaf::Varbit { .. })) {
            return header.clone();
        }
        self.freeze(header.clone(), ty, at)
    }

    /// The members of a union as parts of a struct: unions are equal if all of their members are.
    fn union_members(&self, union: &Value, ty: &Type) -> Value {
        match union {
            Value::Union(union) => {
                let members = 0..self.part_types(ty).len();
                let header = |member| self.flat.storage.union_member(union, member);
                Value::Struct(members.map(|member| Value::Header(header(member))).collect())
            }
            members => members.clone(),
        }
    }

    /// Equal if all elements are.
    fn equal_stacks(&mut self, one: &Value, other: &Value, ty: &Type, at: Span) -> Expression {
        let [ones, others] = [one, other].map(|stack| self.flat.storage.stack_values(stack));
        let element = element_type(ty);
        let pairs = ones.iter().zip(&others);
        let equal = pairs.map(|(one, other)| self.equal(one, other, &element, at));
        all(&equal.collect::<Vec<_>>())
    }

    /// The types of the parts of a struct, header or tuple.
    pub fn part_types(&self, ty: &Type) -> Vec<Type> {
        match ty {
            Type::New(id) => self.part_types(&self.input.program.new_types[*id].original),
            Type::Record(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
            Type::Struct(id) => self.field_types(*id),
            Type::Tuple(elements) => elements.clone(),
            _ => Vec::new(),
        }
    }

    /// The types of the parts of a struct or tuple.
    fn field_types(&self, id: crate::types::tree::Id<crate::types::tree::Struct>) -> Vec<Type> {
        self.input.program.structs[id].fields.iter().map(|field| field.ty.clone()).collect()
    }
}

/// The element type of a stack or list.
fn element_type(ty: &Type) -> Type {
    match ty {
        Type::Stack(element, _) | Type::List(element) => (**element).clone(),
        _ => Type::Wrong,
    }
}

/// The header and the field's index where a place is a field of a computed element.
fn indexed(place: &Expression) -> Option<(Expression, u32)> {
    match place {
        Expression::AccessField { header, field } => {
            let (stack, index) = stack_and_index(header);
            (stack.is_some() && index.is_some()).then(|| ((**header).clone(), *field))
        }
        _ => None,
    }
}

/// The stack and the index (without the bound that reads put around it) of a computed element.
fn stack_and_index(header: &Expression) -> (Option<&str>, Option<Expression>) {
    match header {
        Expression::Binary { operator: Operator::DereferenceHeaderStack, left, right } => {
            let stack = match &**left {
                Expression::HeaderStack(name) => Some(name.as_str()),
                _ => None,
            };
            let index = match &**right {
                Expression::Conditional { if_true, .. } => (**if_true).clone(),
                Expression::Unary { operator: UnaryOperator::LastStackIndex, .. } => {
                    return (None, None);
                }
                index => index.clone(),
            };
            (stack, Some(index))
        }
        _ => (None, None),
    }
}
