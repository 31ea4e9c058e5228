//! Headers, unions and stacks as operands: the expression by which the switch reaches what a
//! [`Value`] names, and the values of their parts.

use bits::Int;
use bmv2::{BinaryOperator, Expression, FieldRef, UnaryOperator};

use super::storage::{HeaderId, HeaderType, Leaf, StackId, Storage};
use super::value::{HeaderRef, UnionRef, Value, binary, hex, truth_of};
use crate::types::tree::{self, Type};

impl Storage {
    /// The type of a header.
    pub fn type_of(&self, header: &HeaderRef) -> &HeaderType {
        let index = match header {
            HeaderRef::Instance(id) => self.headers[id.0].header_type,
            HeaderRef::At { stack, .. } | HeaderRef::Last(stack) | HeaderRef::Next(stack) => {
                self.stacks[stack.0].header_type
            }
            HeaderRef::OfUnion { union, member } => {
                let stack = match **union {
                    UnionRef::At { stack, .. } | UnionRef::Last(stack) | UnionRef::Next(stack) => {
                        stack
                    }
                    UnionRef::Instance(id) => {
                        let member = self.unions[id.0].members[*member];
                        return self.type_of(&HeaderRef::Instance(member));
                    }
                };
                let first = self.union_stacks[stack.0].elements[0];
                let member = self.unions[first.0].members[*member];
                self.headers[member.0].header_type
            }
        };
        &self.header_types[index]
    }

    /// The values of a header's fields.
    pub fn header_fields(&self, program: &tree::Program, header: &HeaderRef) -> Vec<Value> {
        let ty = self.type_of(header);
        let mut leaves = ty.fields.iter().enumerate().map(|(at, field)| {
            let place = self.header_field(header, at as u32, &field.name);
            match (field.kind, place) {
                (Leaf::Varbit { .. }, Expression::Field(field)) => Value::Varbit(field),
                (Leaf::Bool, place) => Value::Bool(truth_of(place)),
                (_, place) => Value::Number(place),
            }
        });
        let fields = &program.structs[ty.of].fields;
        fields.iter().map(|field| shape(program, &field.ty, &mut leaves)).collect()
    }

    /// A field of a header, however the header is named.
    fn header_field(&self, header: &HeaderRef, index: u32, name: &str) -> Expression {
        match header {
            HeaderRef::Instance(id) => {
                Expression::Field(FieldRef::new(self.header_name(*id), name))
            }
            HeaderRef::Last(stack) => Expression::StackField {
                stack: self.stacks[stack.0].name.clone(),
                field: name.to_owned(),
            },
            HeaderRef::At { .. } | HeaderRef::Next(_) | HeaderRef::OfUnion { .. } => {
                Expression::AccessField {
                    header: Box::new(self.header_expression(header)),
                    field: index,
                }
            }
        }
    }

    /// A header as an operand.
    pub fn header_expression(&self, header: &HeaderRef) -> Expression {
        let storage = self;
        match header {
            HeaderRef::At { stack, index } => binary(
                bmv2::BinaryOperator::DereferenceHeaderStack,
                Expression::HeaderStack(storage.stacks[stack.0].name.clone()),
                bounded(index, storage.stacks[stack.0].elements.len()),
            ),
            HeaderRef::Instance(id) => Expression::Header(storage.header_name(*id).to_owned()),
            HeaderRef::Last(stack) | HeaderRef::Next(stack) => {
                let found = &storage.stacks[stack.0];
                let stack = Expression::HeaderStack(found.name.clone());
                let is_next = matches!(header, HeaderRef::Next(_));
                let index = end_index(&stack, is_next, found.elements.len());
                binary(bmv2::BinaryOperator::DereferenceHeaderStack, stack, index)
            }
            HeaderRef::OfUnion { union, member } => Expression::AccessUnionHeader {
                union: Box::new(self.union_expression(union)),
                member: *member as u32,
            },
        }
    }

    /// A union as an operand.
    pub fn union_expression(&self, union: &UnionRef) -> Expression {
        let storage = self;
        let (stack, index) = match union {
            UnionRef::Instance(id) => {
                return Expression::HeaderUnion(storage.unions[id.0].name.clone());
            }
            UnionRef::At { stack, index } => {
                let size = storage.union_stacks[stack.0].elements.len();
                (stack, bounded(index, size))
            }
            UnionRef::Last(stack) | UnionRef::Next(stack) => {
                let found = &storage.union_stacks[stack.0];
                let name = Expression::HeaderUnionStack(found.name.clone());
                let is_next = matches!(union, UnionRef::Next(_));
                (stack, end_index(&name, is_next, found.elements.len()))
            }
        };
        let name = storage.union_stacks[stack.0].name.clone();
        binary(
            bmv2::BinaryOperator::DereferenceUnionStack,
            Expression::HeaderUnionStack(name),
            index,
        )
    }

    /// The member of a union.
    pub fn union_member(&self, union: &UnionRef, member: usize) -> HeaderRef {
        match union {
            UnionRef::Instance(id) => HeaderRef::Instance(self.unions[id.0].members[member]),
            union => HeaderRef::OfUnion { union: Box::new(union.clone()), member },
        }
    }

    /// Element 0 first.
    pub fn stack_elements(&self, stack: StackId) -> Vec<HeaderId> {
        self.stacks[stack.0].elements.clone()
    }

    /// The elements of a stack or array.
    pub fn stack_values(&self, stack: &Value) -> Vec<Value> {
        match stack {
            Value::Stack(stack) => {
                let elements = self.stack_elements(*stack).into_iter();
                elements.map(|header| Value::Header(HeaderRef::Instance(header))).collect()
            }
            Value::UnionStack(stack) => {
                let elements = self.union_stacks[stack.0].elements.iter();
                elements.map(|union| Value::Union(UnionRef::Instance(*union))).collect()
            }
            Value::StackOf(elements) | Value::Struct(elements) => elements.clone(),
            _ => Vec::new(),
        }
    }
}

/// `index`, kept below `size`: reading beyond the end of a stack may give anything in P4, but
/// simple_switch would read beyond its own memory.
fn bounded(index: &Expression, size: usize) -> Expression {
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
fn end_index(stack: &Expression, is_next: bool, size: usize) -> Expression {
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

/// Puts leaves together in the shape of a type.
fn shape(program: &tree::Program, ty: &Type, leaves: &mut impl Iterator<Item = Value>) -> Value {
    match ty {
        Type::New(id) => shape(program, &program.new_types[*id].original, leaves),
        Type::Struct(id) => {
            let fields = &program.structs[*id].fields;
            Value::Struct(fields.iter().map(|field| shape(program, &field.ty, leaves)).collect())
        }
        _ => leaves.next().unwrap_or(Value::Void),
    }
}
