//! Calls of what the architecture provides, as primitives of simple_switch.
//!
//! Before: a call of an extern function or method. After: a primitive, with the operands that the
//! architecture's table asks for. Where a primitive wants a
//! field and the argument is something else (a slice, a truth value, an element by computed index),
//! a temporary field stands in and is copied afterwards.

use bmv2::{Expression, FieldRef, Parameter, ParserOperation};

use super::flat::ObjectKind;
use super::lowering::Lowering;
use super::storage::Leaf;
use super::target::Target;
use super::value::{Value, data_parameter, hex, leaf_value, number_of, parameter};
use crate::architecture::{BlockKind, Function, Meaning, Operand, Place, Primitive};
use crate::types::tree::{self, Argument, Call, Id, Type};
use syntax::Span;

/// The port that drops what is sent to it.
const DROP_PORT: u64 = 511;

/// What an operand needs of the arguments of the call.
enum Evaluated {
    Calculation {
        algorithm: String,
        leaves: Vec<(Value, Leaf)>,
    },
    /// The position of the argument.
    Destination(usize),
    FieldList(Option<u32>),
    LearnList {
        leaves: Vec<(Value, Leaf)>,
        ty: Type,
    },
    Parameter(Parameter),
}

impl Lowering<'_> {
    /// A call of an extern function.
    pub fn extern_function(
        &mut self,
        id: Id<tree::ExternFunction>,
        call: &Call,
        ty: &Type,
    ) -> Value {
        let function = &self.input.program.extern_functions[id];
        self.flat.calls_extern_function |= self.local.kind != BlockKind::Parser;
        match function.known {
            Some(known) => self.known_call(known, None, call, ty),
            None => self.foreign_function(&function.name.text.clone(), call, ty),
        }
    }

    /// A call of a function or method that the architecture has.
    fn known_call(
        &mut self,
        function: &Function,
        object: Option<usize>,
        call: &Call,
        ty: &Type,
    ) -> Value {
        match function.meaning {
            Meaning::ByEnumerator(argument, choices) => {
                let name = self.enumerator_argument(call, argument);
                let chosen = choices.iter().find(|(enumerator, _)| *enumerator == name);
                if let Some((_, primitive)) = chosen.or(choices.last()) {
                    self.primitive(primitive, object, call);
                }
            }
            Meaning::Checksum { with_payload, place } => {
                if self.is_in_place(&place, call.span) {
                    self.checksum(call, with_payload);
                }
            }
            Meaning::DirectMeterRead => {
                object.into_iter().for_each(|object| self.direct_meter(object, call));
            }
            Meaning::MarkToDrop => self.mark_to_drop(call),
            Meaning::Nothing | Meaning::StaticAssert => {}
            Meaning::Packet(method) => return self.packet_method(method, call, ty),
            Meaning::Primitive(primitive) => self.primitive(&primitive, object, call),
            Meaning::Verify => self.verify(call),
        }
        Value::Void
    }

    /// Whether a call may stand in this block; reports it if not.
    fn is_in_place(&mut self, place: &Place, at: Span) -> bool {
        let fits = place.blocks.contains(&self.local.kind);
        if !fits {
            self.unsupported(at, place.title, place.hint);
        }
        fits
    }

    /// A primitive with the operands that the table asks for. Arguments are evaluated from left to
    /// right, except for the place that is written: it comes last.
    fn primitive(&mut self, primitive: &Primitive, object: Option<usize>, call: &Call) {
        let at = call.span;
        if primitive.place.is_some_and(|place| !self.is_in_place(&place, at)) {
            return;
        }
        let mut evaluated: Vec<(usize, Evaluated)> = Vec::new();
        let mut operands: Vec<(usize, &Operand)> = primitive.operands.iter().enumerate().collect();
        operands.sort_by_key(|(_, operand)| operand.argument());
        for (position, operand) in operands {
            evaluated.push((position, self.evaluated(*operand, object, call)));
        }
        evaluated.sort_by_key(|(position, _)| *position);
        let mut destination = None;
        let mut parameters = Vec::new();
        for (position, value) in evaluated {
            if let Evaluated::Destination(argument) = value {
                destination = Some((position, argument));
            }
            parameters.push(self.parameter_of(value, at));
        }
        match destination {
            None => self.run(primitive.name, parameters, at),
            Some((position, argument)) => self.with_destination(call, argument, |this, place| {
                parameters[position] = place;
                this.run(primitive.name, parameters, at);
            }),
        }
    }

    /// What an operand needs of the arguments.
    fn evaluated(&mut self, operand: Operand, object: Option<usize>, call: &Call) -> Evaluated {
        match operand {
            Operand::Calculation { algorithm, data } => Evaluated::Calculation {
                algorithm: self.enumerator_argument(call, algorithm),
                leaves: self.leaf_arguments(call, data),
            },
            Operand::Destination(argument) => Evaluated::Destination(argument),
            Operand::FieldList(argument) => {
                Evaluated::FieldList(Some(self.constant_argument(call, argument)))
            }
            Operand::LearnList(argument) => Evaluated::LearnList {
                leaves: self.leaf_arguments(call, argument),
                ty: match (call.type_arguments.first(), call.arguments.get(argument)) {
                    (Some(ty), _) => ty.clone(),
                    (None, Some(Argument::Expression(data))) => data.ty.clone(),
                    _ => Type::Wrong,
                },
            },
            Operand::NoFields => Evaluated::FieldList(None),
            Operand::Number(argument) => {
                Evaluated::Parameter(parameter(self.number_argument(call, argument)))
            }
            Operand::This => Evaluated::Parameter(self.object_parameter(object)),
            Operand::Truth(argument) => {
                let truth = self.truth_argument(call, argument);
                Evaluated::Parameter(parameter(number_of(truth)))
            }
            Operand::Value(argument) => {
                Evaluated::Parameter(data_parameter(self.value_argument(call, argument)))
            }
            Operand::Vector(argument) => {
                let leaves = self.leaf_arguments(call, argument).into_iter();
                let parameters = leaves.map(|(leaf, _)| data_parameter(leaf)).collect();
                Evaluated::Parameter(Parameter::Vector(parameters))
            }
        }
    }

    /// The parameter of the primitive; lists and calculations are made now.
    fn parameter_of(&mut self, value: Evaluated, at: Span) -> Parameter {
        match value {
            Evaluated::Calculation { algorithm, leaves } => {
                Parameter::Calculation(self.calculation(&algorithm, leaves, false, at))
            }
            // The place stands there once it is evaluated.
            Evaluated::Destination(_) => parameter(hex(0)),
            Evaluated::FieldList(number) => parameter(hex(u64::from(self.field_list(number, at)))),
            Evaluated::LearnList { leaves, ty } => {
                parameter(hex(u64::from(self.learn_list(leaves, ty, at))))
            }
            Evaluated::Parameter(parameter) => parameter,
        }
    }

    /// An extern object as the operand of its methods.
    fn object_parameter(&self, object: Option<usize>) -> Parameter {
        let Some(object) = object.map(|index| &self.flat.objects[index]) else {
            return parameter(hex(0));
        };
        let name = object.name.clone();
        match object.kind {
            ObjectKind::Counter { .. } | ObjectKind::DirectCounter { .. } => {
                Parameter::CounterArray(name)
            }
            ObjectKind::DirectMeter { .. } | ObjectKind::Meter { .. } => {
                Parameter::MeterArray(name)
            }
            ObjectKind::Register { .. } => Parameter::RegisterArray(name),
            ObjectKind::ActionProfile { .. } => Parameter::Extern(name),
        }
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
        let method = &self.input.program.externs[of].methods[method];
        match (self.value(object), method.known) {
            (Value::Packet, Some(known)) => self.known_call(known, None, call, ty),
            (Value::Object(object), known) => match (self.declare_object(object), known) {
                (Some(index), Some(known)) => {
                    if !self.holds_structs(index) {
                        return self.known_call(known, Some(index), call, ty);
                    }
                    self.report_register(known, call);
                    Value::Void
                }
                _ => self.foreign_method(object, &method.name.text, call, ty),
            },
            _ => Value::Void,
        }
    }

    /// Whether the object is a register whose cells are structs.
    fn holds_structs(&self, index: usize) -> bool {
        match &self.flat.objects[index].kind {
            ObjectKind::Register { element, .. } => {
                super::storage::leaf(self.input.program, element).is_none()
            }
            _ => false,
        }
    }

    /// The cells of the register are structs.
    fn report_register(&mut self, method: &Function, call: &Call) {
        let value = match method.meaning {
            Meaning::Primitive(primitive) => {
                primitive.operands.iter().find_map(|operand| match operand {
                    Operand::Destination(argument) | Operand::Value(argument) => Some(*argument),
                    _ => None,
                })
            }
            _ => None,
        };
        let place = match value.and_then(|argument| call.arguments.get(argument)) {
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

    /// The list of fields that a digest takes to the controller, by its number.
    fn learn_list(&mut self, leaves: Vec<(Value, Leaf)>, ty: Type, at: Span) -> u32 {
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
        id
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

    /// The name of the enumerator that argument `index` is; empty where it is not known.
    pub fn enumerator_argument(&mut self, call: &Call, index: usize) -> String {
        match call.arguments.get(index) {
            Some(Argument::Expression(expression)) => self.enumerator_name(expression),
            _ => String::new(),
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
