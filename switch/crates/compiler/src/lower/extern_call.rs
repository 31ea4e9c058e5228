//! Calls of the architecture's externs, as primitives of simple_switch.
//!
//! Before: a call of an extern function or method. After: a primitive, with the operands that the
//! architecture's table prescribes. Where a primitive needs a field and the argument is something
//! else (a slice, a truth value, an element by computed index), a temporary field takes its place
//! and is copied afterwards.

use bmv2::{BinaryOperator, Expression, FieldRef, Parameter, ParserOperation};

use super::expression::{and, not};
use super::flat::{Object, ObjectKind};
use super::lowering::Lowering;
use super::storage::Leaf;
use super::target::Target;
use super::value::{Value, binary, data_parameter, hex, leaf_value, number_of, parameter};
use crate::architecture::{Function, Meaning, Operand, Passed, Place, Primitive, Way};
use crate::types::tree::{self, Argument, Call, Id, Type};
use syntax::Span;

/// The port that drops what is sent to it.
const DROP_PORT: u64 = 511;
/// The metadata that `mark_to_drop` is about.
const STANDARD_METADATA: Passed = Passed::Intrinsic("standard_metadata");
/// PSA's port from which packets come back to ingress.
const PORT_RECIRCULATE: u64 = 0xffff_fffa;

/// The kind of a colour's field.
const COLOR: Leaf = Leaf::Number { width: 32, is_signed: false };

/// An operand's part of the arguments of the call.
enum Evaluated {
    Calculation {
        algorithm: String,
        leaves: Vec<(Value, Leaf)>,
    },
    /// The position of the argument.
    Destination(usize),
    FieldList(Option<u32>),
    /// The contents of the fields, for a copy of the packet.
    Kept(Vec<(Value, Leaf)>),
    LearnList {
        /// The digest's name, where it is an object.
        name: Option<String>,
        leaves: Vec<(Value, Leaf)>,
        ty: Type,
    },
    Parameter(Parameter),
    /// A new field, whose value is the call's.
    Result,
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
        self.flat.calls_extern_function |= !self.local.kind.is_parser();
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
            Meaning::ByCount(choices) => {
                let count = call.arguments.len();
                let chosen = choices.iter().find(|(wanted, _)| *wanted == count);
                if let Some((_, primitive)) = chosen {
                    return self.primitive(primitive, object, call, ty);
                }
            }
            Meaning::ByEnumerator(argument, choices) => {
                let name = self.enumerator_argument(call, argument);
                let chosen = choices.iter().find(|(enumerator, _)| *enumerator == name);
                if let Some((_, primitive)) = chosen.or(choices.last()) {
                    return self.primitive(primitive, object, call, ty);
                }
            }
            Meaning::Checksum { with_payload, place } => {
                if self.is_in_place(&place, call.span) {
                    self.checksum(call, with_payload);
                }
            }
            Meaning::DirectMeterColor => {
                if !call.arguments.is_empty() {
                    self.report_direct_color(call.span);
                }
                return object.map_or(Value::Void, |object| self.direct_color(object, call.span));
            }
            Meaning::DirectMeterRead => {
                object.into_iter().for_each(|object| self.direct_meter(object, call));
            }
            Meaning::Goes(way) => return self.goes(way, call),
            Meaning::MarkToDrop => self.mark_to_drop(call),
            Meaning::Nothing | Meaning::StaticAssert => {}
            Meaning::Packet(method) => return self.packet_method(method, call, ty),
            Meaning::Primitive(primitive) => return self.primitive(&primitive, object, call, ty),
            Meaning::Tofino(what) => return self.tofino_call(what, object, call, ty),
            Meaning::Verify => self.verify(call),
        }
        Value::Void
    }

    /// Whether a call may stand in this block; reports it if not.
    fn is_in_place(&mut self, place: &Place, at: Span) -> bool {
        let fits = place.blocks.contains(&self.local.kind)
            || self.input.emits_externs && place.emitted.contains(&self.local.kind);
        if !fits {
            self.unsupported(at, place.title, place.hint);
        }
        fits
    }

    /// A primitive with the operands that the table prescribes. Arguments are evaluated from left
    /// to right, each unaffected by the later ones; only the place that is written comes last. The
    /// value is that of the result operand, if there is one.
    fn primitive(
        &mut self,
        primitive: &Primitive,
        object: Option<usize>,
        call: &Call,
        ty: &Type,
    ) -> Value {
        let at = call.span;
        if primitive.place.is_some_and(|place| !self.is_in_place(&place, at)) {
            return Value::Void;
        }
        let mut evaluated: Vec<(usize, Evaluated)> = Vec::new();
        let mut operands: Vec<(usize, &Operand)> = primitive.operands.iter().enumerate().collect();
        operands.sort_by_key(|(_, operand)| operand.argument());
        for (position, operand) in operands {
            evaluated.push((position, self.evaluated(*operand, object, call)));
        }
        evaluated.sort_by_key(|(position, _)| *position);
        let mut destinations = Vec::new();
        let mut result = Value::Void;
        let mut parameters = Vec::new();
        for (position, value) in evaluated {
            parameters.push(match value {
                Evaluated::Result => {
                    let kind = self.leaf_of(ty);
                    let field = self.temporary_field(kind);
                    result = leaf_value(kind, field.clone());
                    parameter(Expression::Field(field))
                }
                Evaluated::Destination(argument) => {
                    destinations.push((position, argument));
                    // Its evaluation fills in the argument.
                    parameter(hex(0))
                }
                value => self.parameter_of(value, at),
            });
        }
        self.run_into(primitive.name, parameters, &destinations, call);
        result
    }

    /// Runs a primitive that writes to these parameters, each for an argument of the call. Results
    /// are copied out in their order, so the last is the outermost.
    fn run_into(
        &mut self,
        name: &str,
        mut parameters: Vec<Parameter>,
        destinations: &[(usize, usize)],
        call: &Call,
    ) {
        let Some(((position, argument), others)) = destinations.split_last() else {
            return self.run(name, parameters, call.span);
        };
        self.with_destination(call, *argument, |this, place| {
            parameters[*position] = place;
            this.run_into(name, parameters, others, call);
        });
    }

    /// An operand's part of the arguments.
    fn evaluated(&mut self, operand: Operand, object: Option<usize>, call: &Call) -> Evaluated {
        match operand {
            Operand::Calculation { algorithm, data } => Evaluated::Calculation {
                algorithm: self.enumerator_argument(call, algorithm),
                leaves: self.leaf_arguments(call, data),
            },
            Operand::Constant(number) => Evaluated::Parameter(parameter(hex(number))),
            Operand::Destination(argument) => Evaluated::Destination(argument),
            Operand::Fields(argument) => {
                let leaves = self.leaf_arguments(call, argument).into_iter();
                let fields = leaves.map(|(leaf, kind)| self.leaf_field(leaf, kind, call.span));
                Evaluated::Parameter(Parameter::FieldList(fields.collect()))
            }
            Operand::Given(position) => {
                Evaluated::Parameter(parameter(self.given_number(object, position)))
            }
            Operand::FieldList(argument) => {
                Evaluated::FieldList(Some(self.constant_argument(call, argument)))
            }
            Operand::Kept(argument) => Evaluated::Kept(self.leaf_arguments(call, argument)),
            Operand::LearnList(argument) => self.learn_list_operand(argument, object, call),
            Operand::NoFields => Evaluated::FieldList(None),
            Operand::Number(argument) => {
                Evaluated::Parameter(parameter(self.number_argument(call, argument)))
            }
            Operand::Result => Evaluated::Result,
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
            Evaluated::FieldList(number) => parameter(hex(u64::from(self.field_list(number, at)))),
            Evaluated::Kept(leaves) => parameter(hex(u64::from(self.kept_list(leaves, at)))),
            Evaluated::LearnList { name, leaves, ty } => {
                parameter(hex(u64::from(self.learn_list(name, leaves, ty, at))))
            }
            Evaluated::Parameter(parameter) => parameter,
            Evaluated::Destination(_) | Evaluated::Result => parameter(hex(0)),
        }
    }

    /// The contents of a digest: data of the type that the call, or the object, gives.
    fn learn_list_operand(
        &mut self,
        argument: usize,
        object: Option<usize>,
        call: &Call,
    ) -> Evaluated {
        let object = object.map(|object| &self.flat.objects[object]);
        let (name, of_object) = match object {
            Some(Object { name, kind: ObjectKind::Digest { element }, .. }) => {
                (Some(name.clone()), Some(element.clone()))
            }
            _ => (None, None),
        };
        let written = of_object.or_else(|| call.type_arguments.first().cloned());
        let ty = match (written, call.arguments.get(argument)) {
            (Some(ty), _) => ty,
            (None, Some(Argument::Expression(data))) => data.ty.clone(),
            _ => Type::Wrong,
        };
        Evaluated::LearnList { name, leaves: self.leaf_arguments(call, argument), ty }
    }

    /// An extern object as the operand of its methods.
    pub fn object_parameter(&mut self, object: Option<usize>) -> Parameter {
        let Some(object) = object.map(|index| self.flat.objects[index].clone()) else {
            return parameter(hex(0));
        };
        // Objects of PSA are extern instances, also those that are arrays besides.
        let is_instance = matches!(object.kind, ObjectKind::Instance);
        let is_array = matches!(object.kind, ObjectKind::Counter { .. } | ObjectKind::Meter { .. });
        if is_instance || is_array && self.has_ways() {
            return Parameter::Extern(self.foreign_object(object.of));
        }
        let name = object.name;
        match object.kind {
            ObjectKind::Counter { .. } | ObjectKind::DirectCounter { .. } => {
                Parameter::CounterArray(name)
            }
            ObjectKind::DirectMeter { .. } | ObjectKind::Meter { .. } => {
                Parameter::MeterArray(name)
            }
            ObjectKind::Register { .. } => Parameter::RegisterArray(name),
            ObjectKind::ActionProfile { .. } | ObjectKind::Digest { .. } | ObjectKind::Instance => {
                Parameter::Extern(name)
            }
        }
    }

    /// A number that the constructor of an object was given.
    pub fn given_number(&mut self, object: Option<usize>, position: usize) -> Expression {
        let Some(of) = object.map(|index| self.flat.objects[index].of) else { return hex(0) };
        let arguments = &self.input.program.instances[of.instance].arguments;
        let Some(Argument::Expression(value)) = arguments.get(position) else { return hex(0) };
        let outer = std::mem::replace(&mut self.local.scope, of.scope);
        let number = self.constant_number(value);
        self.local.scope = outer;
        number.map_or(hex(0), Expression::Hex)
    }

    /// The primitive works on the switch's standard metadata; a copy of it is marked field by field,
    /// as the primitive does it.
    fn mark_to_drop(&mut self, call: &Call) {
        let at = call.span;
        let metadata = self.value_argument(call, 0);
        let (Value::Struct(parts), false) =
            (&metadata, Some(&metadata) == self.shared(STANDARD_METADATA))
        else {
            let metadata = Expression::Header("standard_metadata".to_owned());
            return self.run("mark_to_drop", vec![Parameter::Expression(metadata)], at);
        };
        let marks = [("egress_spec", DROP_PORT), ("mcast_grp", 0)];
        let standard = self.flat.intrinsic.first();
        let fields = standard.map(|own| own.fields.clone()).unwrap_or_default();
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
                    if matches!(known.meaning, Meaning::Tofino(_)) || !self.holds_structs(index) {
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

    /// Whether a packet goes a way: what the metadata that decides it says, the call's first argument.
    fn goes(&mut self, way: Way, call: &Call) -> Value {
        let mut field = |argument: usize, name: &str| {
            let value = self.value_argument(call, argument);
            let (Value::Struct(parts), Some(Argument::Expression(expression))) =
                (value, call.arguments.get(argument))
            else {
                return Value::Void;
            };
            let Type::Struct(of) = expression.ty else { return Value::Void };
            let fields = &self.input.program.structs[of].fields;
            let position = fields.iter().position(|field| &*field.name.text == name);
            position.and_then(|at| parts.get(at).cloned()).unwrap_or(Value::Void)
        };
        let truth = |value: Value| match value {
            Value::Bool(truth) => truth,
            _ => Expression::Bool(false),
        };
        if way == Way::Clone {
            return Value::Bool(truth(field(0, "clone")));
        }
        let stays = not(truth(field(0, "drop")));
        Value::Bool(match way {
            Way::Clone | Way::Normal => and(stays, not(truth(field(0, "resubmit")))),
            Way::Resubmit => and(stays, truth(field(0, "resubmit"))),
            Way::Recirculate => {
                let Value::Number(port) = field(1, "egress_port") else { return Value::Void };
                and(stays, binary(BinaryOperator::Equal, port, hex(PORT_RECIRCULATE)))
            }
        })
    }

    /// A direct meter's colour cannot depend on an earlier one.
    pub fn report_direct_color(&mut self, at: Span) {
        self.unsupported(
            at,
            "a direct meter of this switch takes no colour",
            "call execute() without a colour, or use a Meter",
        );
    }

    /// The colour of a direct meter as PSA numbers it. The switch writes it to one field as BMv2
    /// does, green first; PSA's order is red, green, yellow.
    pub fn direct_color(&mut self, index: usize, at: Span) -> Value {
        let known = match &self.flat.objects[index].kind {
            ObjectKind::DirectMeter { result, .. } => result.clone(),
            _ => None,
        };
        let color = known.unwrap_or_else(|| self.temporary_field(COLOR));
        if let ObjectKind::DirectMeter { result, .. } = &mut self.flat.objects[index].kind {
            *result = Some(color.clone());
        }
        let place = self.temporary_field(COLOR);
        let next = binary(BinaryOperator::Add, Expression::Field(color), hex(1));
        let turned = binary(BinaryOperator::Remainder, next, hex(3));
        let place = Expression::Field(place);
        self.assign_number(&place, turned, at);
        Value::Number(place)
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

    /// The id of a list of the fields in some data. A value that is no field has no place in a copy
    /// of the packet where it could be kept.
    fn kept_list(&mut self, leaves: Vec<(Value, Leaf)>, at: Span) -> u32 {
        let id = self.field_list(None, at);
        let fields = leaves.into_iter().filter_map(|(leaf, _)| match leaf {
            Value::Number(Expression::Field(field)) | Value::Varbit(field) => Some(field),
            Value::Bool(truth) => match number_of(truth) {
                Expression::Field(field) => Some(field),
                _ => None,
            },
            _ => None,
        });
        let elements = fields.map(bmv2::FieldListElement::Field).collect();
        self.flat.field_lists[id as usize - 1].elements = elements;
        id
    }

    /// The list of fields that a digest takes to the controller, by its number.
    fn learn_list(
        &mut self,
        name: Option<String>,
        leaves: Vec<(Value, Leaf)>,
        ty: Type,
        at: Span,
    ) -> u32 {
        let name = name.unwrap_or_else(|| self.digest_name(&ty));
        let id = self.flat.learn_lists.len() as u32 + 1;
        // simple_switch ends on a constant in a digest: a constant gets a field of its own.
        let elements = leaves
            .into_iter()
            .map(|(leaf, kind)| bmv2::FieldListElement::Field(self.leaf_field(leaf, kind, at)));
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

    /// Whether the switch computes such hashes; reports it if not.
    pub fn check_algorithm(&mut self, algorithm: &str, at: Span) {
        if algorithm == "random" {
            self.unsupported(
                at,
                "this switch has no hash algorithm `random`",
                "use crc32, crc16, csum16, xor16 or identity; the function random() makes random \
                 numbers",
            );
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
        self.check_algorithm(algorithm, at);
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
            Value::Varbit(field) => field,
            Value::Number(Expression::Field(field))
                if self.flat.storage.is_as_wide(&field, kind) =>
            {
                field
            }
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
        let value = self.value_argument(call, index);
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

    /// Argument `index` in any form, unaffected by the later ones.
    fn value_argument(&mut self, call: &Call, index: usize) -> Value {
        match call.arguments.get(index) {
            Some(Argument::Expression(expression)) => {
                self.argument(expression, &call.arguments[index + 1..])
            }
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
