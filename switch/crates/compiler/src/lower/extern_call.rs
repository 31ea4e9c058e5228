//! Calls of what v1model provides, as primitives of simple_switch.
//!
//! Before: a call of an extern function or method. After: a primitive. Where a primitive wants a
//! field and the argument is something else (a slice, a truth value, an element by computed index),
//! a temporary field stands in and is copied afterwards.

use bmv2::{Expression, FieldRef, Parameter, ParserOperation};

use super::flat::ObjectKind;
use super::local::BlockKind;
use super::lowering::Lowering;
use super::storage::Leaf;
use super::target::Target;
use super::value::{Value, data_parameter, hex, leaf_value, number_of, parameter};
use crate::types::tree::{self, Argument, Call, Id, Type};
use syntax::Span;

/// The port that drops what is sent to it.
const DROP_PORT: u64 = 511;

impl Lowering<'_> {
    /// A call of an extern function.
    pub fn extern_function(
        &mut self,
        id: Id<tree::ExternFunction>,
        call: &Call,
        ty: &Type,
    ) -> Value {
        let function = &self.input.program.extern_functions[id];
        let (name, at) = (function.name.text.clone(), call.span);
        self.flat.calls_extern_function |= self.local.kind != BlockKind::Parser;
        match &*name {
            "assert" | "assume" => {
                let truth = self.truth_argument(call, 0);
                self.run(&name, vec![parameter(number_of(truth))], at);
            }
            "clone" => self.clone_packet(call, None),
            "clone_preserving_field_list" => {
                let list = self.constant_argument(call, 2);
                self.clone_packet(call, Some(list));
            }
            "digest" => self.digest(call),
            "hash" => self.hash(call),
            "log_msg" => self.log_msg(call),
            "mark_to_drop" => self.mark_to_drop(call),
            "random" => {
                let [low, high] = [1, 2].map(|index| self.number_argument(call, index));
                self.with_destination(call, 0, |this, place| {
                    let parameters = vec![place, parameter(low), parameter(high)];
                    this.run("modify_field_rng_uniform", parameters, at);
                });
            }
            "recirculate_preserving_field_list" => self.keep_list("recirculate", call),
            "resubmit_preserving_field_list" => self.keep_list("resubmit", call),
            "truncate" => {
                let length = self.number_argument(call, 0);
                self.run("truncate", vec![parameter(length)], at);
            }
            "verify" => self.verify(call),
            "update_checksum" | "verify_checksum" => self.checksum(call, false),
            "update_checksum_with_payload" | "verify_checksum_with_payload" => {
                self.checksum(call, true);
            }
            _ => return self.foreign_function(&name, call, ty),
        }
        Value::Void
    }

    /// The primitive works on the switch's standard metadata; a copy of it is marked field by field,
    /// as the primitive does it.
    fn mark_to_drop(&mut self, call: &Call) {
        let at = call.span;
        let metadata = self.value_argument(call, 0);
        let (Value::Struct(parts), false) =
            (&metadata, Some(&metadata) == self.made.standard_metadata.as_ref())
        else {
            let metadata = Expression::Header("standard_metadata".to_owned());
            return self.run("mark_to_drop", vec![Parameter::Expression(metadata)], at);
        };
        let marks = [("egress_spec", DROP_PORT), ("mcast_grp", 0)];
        let fields = self.flat.standard_metadata.clone();
        for (field, part) in fields.iter().zip(parts) {
            let mark = marks.iter().find(|(name, _)| *name == field.name);
            if let (Some((_, number)), Value::Number(place)) = (mark, part) {
                self.assign_number(place, hex(*number), at);
            }
        }
    }

    /// A call of a method of an extern object.
    pub fn method(
        &mut self,
        object: &tree::Expression,
        method: usize,
        call: &Call,
        ty: &Type,
    ) -> Value {
        let Type::Extern(of) = object.ty else { return Value::Void };
        let name = self.input.program.externs[of].methods[method].name.text.clone();
        match self.value(object) {
            Value::Packet => self.packet_method(&name, call, ty),
            Value::Object(object) => {
                let Some(index) = self.declare_object(object) else {
                    return self.foreign_method(object, &name, call, ty);
                };
                self.object_method(index, &name, call);
                Value::Void
            }
            _ => Value::Void,
        }
    }

    /// Counters, meters and registers; action profiles have no methods.
    fn object_method(&mut self, index: usize, method: &str, call: &Call) {
        let at = call.span;
        let object = &self.flat.objects[index];
        let name = object.name.clone();
        if let ObjectKind::Register { element, .. } = &object.kind
            && super::storage::leaf(self.input.program, element).is_none()
        {
            return self.report_register(method, call);
        }
        match (&object.kind, method) {
            (ObjectKind::Counter { .. }, "count") => {
                let cell = self.number_argument(call, 0);
                let parameters = vec![Parameter::CounterArray(name), parameter(cell)];
                self.run("count", parameters, at);
            }
            (ObjectKind::Meter { .. }, "execute_meter") => {
                let cell = self.number_argument(call, 0);
                self.with_destination(call, 1, |this, place| {
                    let parameters = vec![Parameter::MeterArray(name), parameter(cell), place];
                    this.run("execute_meter", parameters, at);
                });
            }
            (ObjectKind::Register { .. }, "read") => {
                let cell = self.number_argument(call, 1);
                self.with_destination(call, 0, |this, place| {
                    let parameters = vec![place, Parameter::RegisterArray(name), parameter(cell)];
                    this.run("register_read", parameters, at);
                });
            }
            (ObjectKind::Register { .. }, "write") => {
                let cell = self.number_argument(call, 0);
                let value = self.value_argument(call, 1);
                let parameters =
                    vec![Parameter::RegisterArray(name), parameter(cell), data_parameter(value)];
                self.run("register_write", parameters, at);
            }
            (ObjectKind::DirectMeter { .. }, "read") => self.direct_meter(index, call),
            // Direct counters count by themselves; the other objects have no methods.
            _ => {}
        }
    }

    /// The cells of the register are structs.
    fn report_register(&mut self, method: &str, call: &Call) {
        let place = match call.arguments.get(usize::from(method == "write")) {
            Some(Argument::Expression(expression)) => expression.span,
            _ => call.span,
        };
        self.unsupported(
            place,
            "registers of this switch hold numbers, no structs",
            "use one register for each field of the struct",
        );
    }

    /// The switch writes a direct meter's colour to one field, whatever entry matches.
    fn direct_meter(&mut self, index: usize, call: &Call) {
        let Some(Argument::Expression(expression)) = call.arguments.first() else { return };
        let Target::Whole(Value::Number(Expression::Field(field))) = self.place(expression) else {
            return self.unsupported(
                call.span,
                "the result of a direct meter must go to a field",
                "read it into a metadata field and go on from there",
            );
        };
        if let ObjectKind::DirectMeter { result, .. } = &mut self.flat.objects[index].kind {
            let other = result.replace(field.clone()).filter(|known| *known != field);
            if other.is_some() {
                self.unsupported(
                    call.span,
                    "a direct meter has one place for its result",
                    "read it into the same field in every action",
                );
            }
        }
    }

    /// `clone` and its relative with a list of fields to keep.
    fn clone_packet(&mut self, call: &Call, list: Option<u32>) {
        let at = call.span;
        let kind = match call.arguments.first() {
            Some(Argument::Expression(kind)) => self.enumerator_name(kind),
            _ => String::new(),
        };
        let (operation, block, place) = match kind.as_str() {
            "I2E" => ("clone_ingress_pkt_to_egress", BlockKind::Ingress, "ingress"),
            _ => ("clone_egress_pkt_to_egress", BlockKind::Egress, "egress"),
        };
        if self.local.kind != block {
            return self.unsupported(
                at,
                format!("a clone of type {kind} is possible in {place} only"),
                "use CloneType.I2E in ingress and CloneType.E2E in egress",
            );
        }
        let session = self.number_argument(call, 1);
        let list = self.field_list(list, at);
        self.run(operation, vec![parameter(session), parameter(hex(u64::from(list)))], at);
    }

    /// `resubmit` and `recirculate`: marks the packet, which goes on to the end of its pipeline.
    fn keep_list(&mut self, operation: &str, call: &Call) {
        let at = call.span;
        let (block, place) = match operation {
            "resubmit" => (BlockKind::Ingress, "ingress"),
            _ => (BlockKind::Egress, "egress"),
        };
        if self.local.kind != block {
            return self.unsupported(
                at,
                format!("{operation} is possible in {place} only"),
                "resubmit belongs to ingress, recirculate to egress",
            );
        }
        let list = self.constant_argument(call, 0);
        let list = self.field_list(Some(list), at);
        self.run(operation, vec![parameter(hex(u64::from(list)))], at);
    }

    /// The id of the list of fields with this number in `@field_list`; an empty list for none.
    fn field_list(&mut self, number: Option<u32>, at: Span) -> u32 {
        if let Some(id) = number.and_then(|number| self.made.field_lists.get(&number)) {
            return *id;
        }
        let id = self.flat.field_lists.len() as u32 + 1;
        let name = number.map_or(format!("fl{id}"), |number| format!("field_list{number}"));
        let source_info = super::source_info::of(self.input.sources, at);
        let list = bmv2::FieldList { id, name, source_info, elements: Vec::new() };
        self.flat.field_lists.push(list);
        if let Some(number) = number {
            self.made.field_lists.insert(number, id);
        }
        id
    }

    /// `base + hash(data) % max`, as the primitive computes it.
    fn hash(&mut self, call: &Call) {
        let at = call.span;
        let algorithm = match call.arguments.get(1) {
            Some(Argument::Expression(algorithm)) => self.enumerator_name(algorithm),
            _ => String::new(),
        };
        let base = self.number_argument(call, 2);
        let leaves = self.leaf_arguments(call, 3);
        let max = self.number_argument(call, 4);
        let calculation = self.calculation(&algorithm, leaves, false, at);
        self.with_destination(call, 0, |this, place| {
            let parameters =
                vec![place, parameter(base), Parameter::Calculation(calculation), parameter(max)];
            this.run("modify_field_with_hash_based_offset", parameters, at);
        });
    }

    /// The fields go to the controller as a list that is named here.
    fn digest(&mut self, call: &Call) {
        let at = call.span;
        let receiver = self.number_argument(call, 0);
        let leaves = self.leaf_arguments(call, 1);
        let ty = match (call.type_arguments.first(), call.arguments.get(1)) {
            (Some(ty), _) => ty.clone(),
            (None, Some(Argument::Expression(data))) => data.ty.clone(),
            _ => Type::Wrong,
        };
        let name = self.digest_name(&ty);
        let id = self.flat.learn_lists.len() as u32 + 1;
        let elements = leaves.into_iter().map(|(leaf, kind)| match leaf {
            Value::Number(Expression::Hex(value)) => {
                bmv2::FieldListElement::Constant { value, width_bits: kind.width() }
            }
            leaf => bmv2::FieldListElement::Field(self.leaf_field(leaf, kind, at)),
        });
        let elements = elements.collect();
        let source_info = super::source_info::of(self.input.sources, at);
        let list = bmv2::FieldList { id, name: name.clone(), source_info, elements };
        self.flat.learn_lists.push(list);
        if !self.flat.digests.iter().any(|digest| digest.name == name) {
            self.flat.digests.push(super::flat::Digest { name, ty });
        }
        let parameters = vec![parameter(receiver), parameter(hex(u64::from(id)))];
        self.run("generate_digest", parameters, at);
    }

    /// A digest is called after its struct; one without a name gets a number.
    fn digest_name(&self, ty: &Type) -> String {
        match ty {
            Type::Struct(id) => super::names::type_name(&self.input.program.structs[*id]),
            _ => {
                let numbered = |digest: &&super::flat::Digest| digest.name.starts_with("digest_");
                format!("digest_{}", self.flat.digests.iter().filter(numbered).count())
            }
        }
    }

    /// Text with `{}` for values.
    fn log_msg(&mut self, call: &Call) {
        let text = self.value_argument(call, 0);
        let values = match call.arguments.get(1) {
            Some(Argument::Expression(_)) => self.leaf_arguments(call, 1),
            _ => Vec::new(),
        };
        let values = values.into_iter().map(|(leaf, _)| data_parameter(leaf)).collect();
        self.run("log_msg", vec![data_parameter(text), Parameter::Vector(values)], call.span);
    }

    /// A test that ends the parser with an error.
    fn verify(&mut self, call: &Call) {
        let condition = self.truth_argument(call, 0);
        let error = self.number_argument(call, 1);
        if condition != Expression::Bool(true) {
            self.parse(ParserOperation::Verify { condition, error });
        }
    }

    /// A named computation over some values.
    pub fn calculation(
        &mut self,
        algorithm: &str,
        leaves: Vec<(Value, Leaf)>,
        with_payload: bool,
        at: Span,
    ) -> String {
        let mut input = Vec::new();
        for (leaf, kind) in leaves {
            input.push(match leaf {
                Value::Number(Expression::Hex(value)) => {
                    bmv2::CalculationInput::Constant { value, width_bits: kind.width() }
                }
                leaf => bmv2::CalculationInput::Field(self.leaf_field(leaf, kind, at)),
            });
        }
        if with_payload {
            input.push(bmv2::CalculationInput::Payload);
        }
        let id = self.flat.calculations.len() as u32;
        let name = if id == 0 { "calc".to_owned() } else { format!("calc_{}", id - 1) };
        self.flat.calculations.push(bmv2::Calculation {
            name: name.clone(),
            id,
            source_info: super::source_info::of(self.input.sources, at),
            algorithm: algorithm.to_owned(),
            input,
        });
        name
    }

    /// The field that holds a value: its own, or a temporary one.
    pub fn leaf_field(&mut self, leaf: Value, kind: Leaf, at: Span) -> FieldRef {
        match leaf {
            Value::Number(Expression::Field(field)) | Value::Varbit(field) => field,
            Value::Bool(truth) => match number_of(truth) {
                Expression::Field(field) => field,
                number => self.copied(number, kind, at),
            },
            Value::Number(number) => self.copied(number, kind, at),
            _ => self.copied(hex(0), kind, at),
        }
    }

    /// A temporary field with the number in it.
    fn copied(&mut self, number: Expression, kind: Leaf, at: Span) -> FieldRef {
        let field = self.temporary_field(kind);
        self.assign_number(&Expression::Field(field.clone()), number, at);
        field
    }

    /// An argument's numbers and bit strings, in the order of the wire.
    pub fn leaf_arguments(&mut self, call: &Call, index: usize) -> Vec<(Value, Leaf)> {
        let Some(Argument::Expression(expression)) = call.arguments.get(index) else {
            return Vec::new();
        };
        let value = self.value(expression);
        let mut leaves = Vec::new();
        self.leaves(&value, &expression.ty, &mut leaves);
        leaves
    }

    /// The numbers and bit strings of a value.
    pub fn leaves(&self, value: &Value, ty: &Type, found: &mut Vec<(Value, Leaf)>) {
        match value {
            Value::Bool(_) | Value::Number(_) | Value::Varbit(_) => {
                found.push((value.clone(), self.leaf_of(ty)));
            }
            Value::Header(header) => {
                let fields =
                    Value::Struct(self.flat.storage.header_fields(self.input.program, header));
                self.leaves(&fields, ty, found);
            }
            Value::Struct(parts) | Value::HeaderOf(parts) => {
                for (part, ty) in parts.iter().zip(&self.part_types(ty)) {
                    self.leaves(part, ty, found);
                }
            }
            Value::Stack(_) | Value::StackOf(_) => {
                let element = match ty {
                    Type::Stack(element, _) | Type::List(element) => (**element).clone(),
                    _ => Type::Wrong,
                };
                for part in self.flat.storage.stack_values(value) {
                    self.leaves(&part, &element, found);
                }
            }
            _ => {}
        }
    }

    /// Runs a primitive that writes to argument `index`.
    fn with_destination(
        &mut self,
        call: &Call,
        index: usize,
        write: impl FnOnce(&mut Self, Parameter),
    ) {
        let (target, ty) = match call.arguments.get(index) {
            Some(Argument::Expression(expression)) => (self.place(expression), &expression.ty),
            Some(Argument::DontCare(ty)) => (Target::Nowhere, ty),
            _ => return,
        };
        if let Target::Whole(Value::Number(place @ Expression::Field(_))) = &target {
            return write(self, parameter(place.clone()));
        }
        let kind = self.leaf_of(ty);
        let field = self.temporary_field(kind);
        write(self, parameter(Expression::Field(field.clone())));
        let value = leaf_value(kind, field);
        self.assign(&target, &value, ty, call.span);
    }

    /// Argument `index` as whatever it is.
    fn value_argument(&mut self, call: &Call, index: usize) -> Value {
        match call.arguments.get(index) {
            Some(Argument::Expression(expression)) => self.value(expression),
            _ => Value::Void,
        }
    }

    /// Argument `index` as a number.
    pub fn number_argument(&mut self, call: &Call, index: usize) -> Expression {
        match self.value_argument(call, index) {
            Value::Number(number) => number,
            Value::Bool(truth) => number_of(truth),
            _ => hex(0),
        }
    }

    /// Argument `index` as a truth value.
    pub fn truth_argument(&mut self, call: &Call, index: usize) -> Expression {
        match self.value_argument(call, index) {
            Value::Bool(truth) => truth,
            _ => Expression::Bool(true),
        }
    }

    /// Argument `index`, which must be a number known now.
    fn constant_argument(&mut self, call: &Call, index: usize) -> u32 {
        let number = self.number_argument(call, index);
        match super::expression::known(&number).and_then(bits::Int::to_u32) {
            Some(number) => number,
            None => {
                self.unsupported(
                    call.span,
                    "the number of a field list must be known at compile time",
                    "use a constant, the same as in the @field_list annotations",
                );
                0
            }
        }
    }
}
