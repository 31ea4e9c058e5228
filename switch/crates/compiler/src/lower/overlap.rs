//! Which pieces of storage a value reads or is made of, and whether two values share one.

use bmv2::{Expression, FieldRef};

use super::storage::{HeaderId, Storage, UnionStackId};
use super::value::{HeaderRef, UnionRef, Value};

/// A piece of storage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// A field outside headers.
    Field(FieldRef),
    /// A header with its validity.
    Header(HeaderId),
    /// A stack of unions, all of it.
    UnionStack(UnionStackId),
}

impl Storage {
    /// Whether writing one place could change the other.
    pub fn overlap(&self, one: &Value, other: &Value) -> bool {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        self.atoms(one, &mut ours);
        self.atoms(other, &mut theirs);
        ours.sort();
        theirs.iter().any(|atom| ours.binary_search(atom).is_ok())
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
                let members = &self.unions[id.0].members;
                found.extend(members.iter().map(|member| Atom::Header(*member)));
            }
            UnionRef::Last(stack) | UnionRef::Next(stack) => found.push(Atom::UnionStack(*stack)),
        }
    }

    fn field_atom(&self, field: &FieldRef, found: &mut Vec<Atom>) {
        let headers = &self.headers;
        found.push(match headers.iter().position(|header| header.name == field.header) {
            Some(header) => Atom::Header(HeaderId(header)),
            None => Atom::Field(field.clone()),
        });
    }

    /// All storage of a stack.
    fn named_stack_atoms(&self, name: &str, found: &mut Vec<Atom>) {
        let storage = self;
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
                let at = self.headers.iter().position(|header| header.name == *name);
                found.extend(at.map(|at| Atom::Header(HeaderId(at))));
            }
            Expression::HeaderUnion(name) => {
                let unions = &self.unions;
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
}
