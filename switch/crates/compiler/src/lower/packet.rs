//! Methods of the packet: extract, lookahead and advance in parsers, emit in deparsers.

use bmv2::{Expression, ExtractTarget, Lookahead, ParserOperation, SetSource};

use super::lowering::Lowering;
use super::storage::Leaf;
use super::value::{HeaderRef, UnionRef, Value, number_of};
use crate::architecture::PacketMethod;
use crate::types::tree::{Argument, Call, Type};
use syntax::Span;

impl Lowering<'_> {
    /// A call of a method of the packet.
    pub fn packet_method(&mut self, method: PacketMethod, call: &Call, ty: &Type) -> Value {
        let is_parser = self.local.kind.is_parser();
        match method {
            PacketMethod::Extract if is_parser => self.extract(call),
            PacketMethod::Lookahead if is_parser => {
                // As a statement the call has no type of its own, and still can fail.
                return self.lookahead(call, call.type_arguments.first().unwrap_or(ty));
            }
            PacketMethod::Advance if is_parser => {
                let width_bits = self.number_argument(call, 0);
                self.parse(ParserOperation::Advance { width_bits });
            }
            PacketMethod::Emit => self.emit(call),
            PacketMethod::Length => {
                self.unsupported(
                    call.span,
                    "this parser cannot ask for the length of the packet",
                    "use standard_metadata.packet_length in a control",
                );
                return self.temporary(ty, call.span);
            }
            PacketMethod::Advance | PacketMethod::Extract | PacketMethod::Lookahead => {}
        }
        Value::Void
    }

    /// `extract`: to a header, a stack's next element, or a header with a varbit field of given
    /// length.
    fn extract(&mut self, call: &Call) {
        let at = call.span;
        let header = match call.arguments.first() {
            Some(Argument::Expression(target)) => self.value(target),
            // `extract<H>(_)` skips a header.
            Some(Argument::DontCare(ty)) => self.temporary(ty, at),
            _ => Value::Void,
        };
        let Some(target) = self.extract_target(&header, at) else { return };
        let operation = match call.arguments.len() {
            0 | 1 => ParserOperation::Extract(target),
            _ => {
                let width_bits = self.number_argument(call, 1);
                ParserOperation::ExtractVariable { target, width_bits }
            }
        };
        self.parse(operation);
    }

    /// Where the switch can extract to.
    fn extract_target(&mut self, header: &Value, at: Span) -> Option<ExtractTarget> {
        let storage = &self.flat.storage;
        let target = match header {
            Value::Header(HeaderRef::Instance(id)) => {
                Some(ExtractTarget::Header(storage.header_name(*id).to_owned()))
            }
            Value::Header(HeaderRef::Next(stack)) => {
                Some(ExtractTarget::Stack(storage.stacks[stack.0].name.clone()))
            }
            Value::Header(HeaderRef::OfUnion { union, member }) => match **union {
                UnionRef::Next(stack) => {
                    let stack = &storage.union_stacks[stack.0];
                    let member = &self.input.program.structs[stack.of].fields[*member];
                    Some(ExtractTarget::UnionStack {
                        stack: stack.name.clone(),
                        member: member.name.text.to_string(),
                    })
                }
                _ => None,
            },
            Value::Void => return None,
            _ => None,
        };
        if target.is_none() {
            self.unsupported(
                at,
                "a header can be extracted to a header or to the next element of a stack only",
                "write stack.next, or an index that is a constant",
            );
        }
        target
    }

    /// `lookahead<T>()`: every number of the type is read from its offset.
    fn lookahead(&mut self, call: &Call, ty: &Type) -> Value {
        let at = call.span;
        let place = self.temporary(ty, at);
        self.validate(&place, at);
        let mut leaves = Vec::new();
        self.leaves(&place, ty, &mut leaves);
        let mut offset_bits = 0;
        for (leaf, kind) in leaves {
            let width_bits = kind.width();
            if matches!(kind, Leaf::Varbit { .. }) {
                self.unsupported(
                    at,
                    "lookahead needs a type of fixed size",
                    "leave the varbit field out of the header looked at",
                );
                return place;
            }
            let field = match leaf {
                Value::Number(number) => number,
                Value::Bool(truth) => number_of(truth),
                _ => continue,
            };
            if let Expression::Field(target) = field {
                let source = SetSource::Lookahead(Lookahead { offset_bits, width_bits });
                self.parse(ParserOperation::Set { target, source });
            }
            offset_bits += width_bits;
        }
        place
    }

    /// Makes every header in a value valid, its fields untouched.
    fn validate(&mut self, value: &Value, at: Span) {
        match value {
            Value::Header(header) => {
                self.assign_header(header, &Value::HeaderOf(Vec::new()), at);
            }
            Value::Struct(parts) => parts.iter().for_each(|part| self.validate(part, at)),
            Value::Stack(_) => {
                for element in self.flat.storage.stack_values(value) {
                    self.validate(&element, at);
                }
            }
            _ => {}
        }
    }

    /// `emit`: in the order of the calls.
    fn emit(&mut self, call: &Call) {
        let Some(Argument::Expression(expression)) = call.arguments.first() else { return };
        let value = self.value(expression);
        // Deparsers that may decide nothing at all are reported as a whole.
        if self.local.choices > 0 && self.has_ways() {
            self.unsupported(
                call.span,
                "this deparser cannot decide what it emits",
                "decide before with setValid and setInvalid: what is not valid is not emitted",
            );
        }
        self.emit_value(&value, call.span);
    }

    /// Everything inside of the value that is a header.
    fn emit_value(&mut self, value: &Value, at: Span) {
        match value {
            Value::Header(HeaderRef::Instance(id)) => {
                let name = self.flat.storage.header_name(*id).to_owned();
                self.local.emitted.push(name);
            }
            Value::Struct(parts) | Value::StackOf(parts) => {
                parts.iter().for_each(|part| self.emit_value(part, at));
            }
            Value::Stack(_) | Value::UnionStack(_) => {
                for element in self.flat.storage.stack_values(value) {
                    self.emit_value(&element, at);
                }
            }
            Value::Union(UnionRef::Instance(id)) => {
                for member in self.flat.storage.unions[id.0].members.clone() {
                    self.emit_value(&Value::Header(HeaderRef::Instance(member)), at);
                }
            }
            Value::HeaderOf(_) => self.unsupported(
                at,
                "the deparser can emit stored headers only",
                "set the header's fields in egress and emit it by name",
            ),
            Value::Header(_) | Value::Union(_) => self.unsupported(
                at,
                "a header can be emitted from a place known at compile time only",
                "emit the whole stack: elements that are not valid are left out",
            ),
            _ => {}
        }
    }
}
