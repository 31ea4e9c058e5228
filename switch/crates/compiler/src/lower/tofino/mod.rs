//! Calls of Tofino's own externs.
//!
//! Before: a call of a function or method of `tna.p4`. After: primitives that every switch has, and
//! the headers that mirrored and resubmitted packets begin with. A deparser requests such copies in
//! a metadata header of its architecture's name, which the pipeline reads when the deparser is done.

mod average;
mod direct;
mod math;
mod meter;
mod parser_counter;

use bits::Int;
use bmv2::{BinaryOperator, Expression, FieldRef, Parameter};

use super::control::algorithm_name;
use super::flat::{self, ObjectKind};
use super::lowering::Lowering;
use super::storage::{Field, Leaf};
use super::value::{
    HeaderRef, ObjectRef, Value, binary, data_parameter, hex, leaf_value, parameter,
};
use crate::architecture::{Architecture, BlockKind, Tofino};
use crate::types::tree::{self, Argument, Call, Type};
use syntax::Span;

const FLAG: Leaf = Leaf::Number { width: 1, is_signed: false };
const SIXTEEN_BITS: Leaf = Leaf::Number { width: 16, is_signed: false };

/// The requests of a deparser to the pipeline.
const REQUESTS: [(&str, Leaf); 3] =
    [("mirror", FLAG), ("mirror_session", SIXTEEN_BITS), ("resubmit", FLAG)];

impl Lowering<'_> {
    /// The architecture, if it is Tofino's.
    pub fn tofino(&self) -> Option<&'static Architecture> {
        let declared = self.input.program.declared_architecture;
        declared.filter(|known| known.is_tofino())
    }

    /// The fields in which deparsers request copies.
    pub fn declare_requests(&mut self) {
        let Some(architecture) = self.tofino() else { return };
        let type_name = self.flat.storage.unique_name(architecture.name);
        let fields = REQUESTS.map(|(name, kind)| Field { name: name.to_owned(), kind }).into();
        self.flat.intrinsic.push(flat::Intrinsic { name: architecture.name, type_name, fields });
    }

    /// A call of a function, or of a method of an object.
    pub fn tofino_call(
        &mut self,
        what: Tofino,
        object: Option<usize>,
        call: &Call,
        ty: &Type,
    ) -> Value {
        let at = call.span;
        let index = object;
        let object = index.map(|index| self.flat.objects[index].of);
        match (what, object) {
            (Tofino::Checksum, _) => self.checksum_of(call),
            (Tofino::ChecksumVerify, Some(object)) => self.checksum_verify(object, at),
            (Tofino::DirectMeter, Some(_)) => {
                index.map_or(Value::Void, |index| self.tofino_direct_meter(index, call))
            }
            (Tofino::DirectRead, Some(object)) => self.direct_read(object, ty, at),
            (Tofino::DirectWrite, Some(object)) => self.direct_write(object, call),
            (Tofino::Execute, Some(object)) => {
                let index = self.number_argument(call, 0);
                self.execute(object, index, ty, at)
            }
            (Tofino::ExecuteDirect, Some(object)) => self.execute_direct(object, ty, at),
            (Tofino::Filter, Some(object)) => self.low_pass(object, call, ty),
            (Tofino::FunnelShift, _) => self.funnel_shift(call),
            (Tofino::Hash, Some(object)) => {
                let algorithm = self.hash_algorithm(object);
                let leaves = self.leaf_arguments(call, 0);
                self.hashed(&algorithm, leaves, ty, at)
            }
            (Tofino::IsValidated, _) => self.is_validated(call),
            (Tofino::Math, Some(object)) => self.math_unit(object, call, ty),
            (Tofino::Maximum, _) => self.first_if(BinaryOperator::Greater, call),
            (Tofino::Meter, Some(_)) => index.map_or(Value::Void, |index| self.meter(index, call)),
            (Tofino::Minimum, _) => self.first_if(BinaryOperator::Less, call),
            (Tofino::Mirror, _) => self.mirror(call),
            (Tofino::Parameter, Some(object)) => {
                let value = self.temporary(ty, at);
                self.read_cell(object, &hex(0), &value, ty, at);
                value
            }
            (Tofino::ParserCounter(what), Some(object)) => self.parser_counter(what, object, call),
            (Tofino::PortMetadata, _) => self.port_metadata(call, ty),
            (Tofino::Predicate, _) => self.predicate(call),
            (Tofino::Random, _) => self.random(ty, at),
            (Tofino::RegisterRead, Some(object)) => {
                let index = self.number_argument(call, 0);
                let value = self.temporary(ty, at);
                self.read_cell(object, &index, &value, ty, at);
                value
            }
            (Tofino::RegisterWrite, Some(object)) => {
                let index = self.number_argument(call, 0);
                if let Some(Argument::Expression(expression)) = call.arguments.get(1) {
                    let value = self.value(expression);
                    self.write_cell(object, &index, &value, &expression.ty, at);
                }
                Value::Void
            }
            (Tofino::Resubmit, _) => {
                self.request("resubmit", hex(1), at);
                self.copy_header("resubmit", call, 0);
                Value::Void
            }
            (Tofino::SizeInBits, _) => self.size_of(call, 1),
            (Tofino::SizeInBytes, _) => self.size_of(call, 8),
            (Tofino::Wred, Some(object)) => self.early_drop(object, call),
            _ => self.unavailable(object, call, ty),
        }
    }

    /// Names the feature.
    fn unavailable(&mut self, object: Option<ObjectRef>, call: &Call, ty: &Type) -> Value {
        let program = self.input.program;
        let of = object.and_then(|object| match program.instances[object.instance].kind {
            tree::InstanceKind::Extern { of, .. } => Some(program.externs[of].name.text.clone()),
            _ => None,
        });
        let title = match of {
            Some(of) => format!("this switch does not have Tofino's `{of}` yet"),
            None => "this switch does not have this function of Tofino yet".to_owned(),
        };
        self.unsupported(call.span, title, "docs/tofino.md lists what runs");
        self.temporary(ty, call.span)
    }

    /// A request to the pipeline, for the end of the deparser.
    fn request(&mut self, field: &str, value: Expression, at: Span) {
        let Some(architecture) = self.tofino() else { return };
        let place = Expression::Field(FieldRef::new(architecture.name, field.to_owned()));
        self.assign_number(&place, value, at);
    }

    /// `Mirror.emit`.
    fn mirror(&mut self, call: &Call) -> Value {
        let session = self.number_argument(call, 0);
        self.request("mirror_session", session, call.span);
        self.request("mirror", hex(1), call.span);
        let name = match self.local.kind {
            BlockKind::Deparser => "egress_mirror",
            _ => "ingress_mirror",
        };
        self.copy_header(name, call, 1);
        Value::Void
    }

    /// The header that a copy begins with, if the call has one. The headers of all calls stand in
    /// one list: of a packet at most one is valid.
    fn copy_header(&mut self, list: &'static str, call: &Call, argument: usize) {
        let Some(Argument::Expression(expression)) = call.arguments.get(argument) else { return };
        let at = expression.span;
        let value = self.value(expression);
        let place = self.temporary(&expression.ty, at);
        let Value::Header(HeaderRef::Instance(id)) = place else {
            return self.unsupported(
                at,
                "the copy of a packet begins with a header, and this is none",
                "write the header's type: emit<name_h>({ ... })",
            );
        };
        self.assign_value(&place, &value, &expression.ty, at);
        let header = self.flat.storage.header_name(id).to_owned();
        match self.flat.deparsers.iter_mut().find(|one| one.name == list) {
            Some(deparser) => deparser.order.push(header),
            None => self.flat.deparsers.push(flat::Deparser {
                name: list,
                may_branch: true,
                order: vec![header],
                ..flat::Deparser::default()
            }),
        }
    }

    /// A hash of this type, as a number.
    fn hashed(
        &mut self,
        algorithm: &str,
        leaves: Vec<(Value, Leaf)>,
        ty: &Type,
        at: Span,
    ) -> Value {
        let kind = self.leaf_of(ty);
        let result = self.temporary_field(kind);
        if kind.width() > 63 {
            let title = "a hash has at most 63 bits on this switch";
            self.unsupported(at, title, "make two hashes of 32 bits");
            return leaf_value(kind, result);
        }
        let calculation = self.calculation(algorithm, leaves, false, at);
        let parameters = vec![
            parameter(Expression::Field(result.clone())),
            parameter(hex(0)),
            Parameter::Calculation(calculation),
            parameter(hex(1 << kind.width())),
        ];
        self.run("modify_field_with_hash_based_offset", parameters, at);
        leaf_value(kind, result)
    }

    /// An action selector: the size is its action profile's, or a number.
    pub fn selector(&mut self, arguments: &[Argument], at: Span) -> ObjectKind {
        let mut objects = [None, None];
        for (object, argument) in objects.iter_mut().zip(arguments) {
            if let Argument::Expression(expression) = argument
                && let Value::Object(found) = self.value(expression)
            {
                *object = Some(found);
            }
        }
        let [profile, hash] = objects;
        let profile = profile.and_then(|profile| self.declare_object(profile));
        let size = match profile.map(|index| &self.flat.objects[index].kind) {
            Some(ObjectKind::ActionProfile { size, .. }) => *size,
            _ => self.constructor_number(arguments, 0, at),
        };
        let algorithm = hash.map_or(String::new(), |hash| self.hash_algorithm(hash));
        ObjectKind::ActionProfile { size, selector: Some((algorithm, Vec::new())) }
    }

    /// BMv2's name of the algorithm of a `Hash`.
    fn hash_algorithm(&mut self, object: ObjectRef) -> String {
        let instance = &self.input.program.instances[object.instance];
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let name = match instance.arguments.first() {
            Some(Argument::Expression(algorithm)) => self.enumerator_name(algorithm).to_lowercase(),
            _ => String::new(),
        };
        let polynomial = match instance.arguments.get(1) {
            Some(Argument::Expression(polynomial)) => match self.value(polynomial) {
                Value::Object(polynomial) => self.polynomial(polynomial),
                _ => None,
            },
            _ => None,
        };
        self.local.scope = outer;
        polynomial.unwrap_or_else(|| match &*name {
            "crc8" => "poly_0x107_not_rev".to_owned(),
            "crc64" => "poly_0x142f0e1eba9ea3693_not_rev".to_owned(),
            // The chip has a matrix of random bits; any hash is as good.
            "random" => "xxh64".to_owned(),
            name => algorithm_name(name),
        })
    }

    /// A `CRCPolynomial` spelled out.
    fn polynomial(&mut self, object: ObjectRef) -> Option<String> {
        let instance = &self.input.program.instances[object.instance];
        let mut given = Vec::new();
        for argument in &instance.arguments {
            let Argument::Expression(expression) = argument else { return None };
            given.push((self.value(expression), self.leaf_of(&expression.ty).width()));
        }
        let number = |at: usize| given.get(at).and_then(|(value, _)| value.constant()?.to_u64());
        let truth = |at: usize| given.get(at).and_then(|(value, _)| value.constant_bool());
        let width = given.first()?.1.min(64);
        let whole = 1u128 << width | u128::from(number(0)?);
        let (initial, xor) = (number(4)?, number(5)?);
        let turned = if truth(1)? { "" } else { "_not_rev" };
        Some(format!("poly_0x{whole:x}_init_0x{initial:x}_xout_0x{xor:x}{turned}"))
    }

    /// `Checksum.update`: over the data, nothing else.
    fn checksum_of(&mut self, call: &Call) -> Value {
        let leaves = self.leaf_arguments(call, 0);
        let sum = self.hashed("csum16", leaves, &Type::Bit(16), call.span);
        let zeros_as_ones = match call.arguments.get(1) {
            Some(Argument::Expression(truth)) => self.value(truth).constant_bool() == Some(true),
            _ => false,
        };
        match sum {
            Value::Number(sum) if zeros_as_ones => {
                let is_zero = binary(BinaryOperator::Equal, sum.clone(), hex(0));
                Value::Number(choice(is_zero, hex(0xffff), sum))
            }
            sum => sum,
        }
    }

    /// True if the checksum is wrong, as on the chip.
    fn checksum_verify(&mut self, object: ObjectRef, at: Span) -> Value {
        let sum = self.temporary_field(SIXTEEN_BITS);
        let parameters = vec![
            Parameter::Extern(self.foreign_object(object)),
            parameter(Expression::Field(sum.clone())),
        ];
        self.run("_InternetChecksum_get", parameters, at);
        Value::Bool(binary(BinaryOperator::NotEqual, Expression::Field(sum), hex(0)))
    }

    /// `Random.get`: any number of the type.
    fn random(&mut self, ty: &Type, at: Span) -> Value {
        let kind = self.leaf_of(ty);
        let result = self.temporary_field(kind);
        let most = match kind.width() {
            64.. => u64::MAX,
            width => (1 << width) - 1,
        };
        let parameters = vec![
            parameter(Expression::Field(result.clone())),
            parameter(hex(0)),
            parameter(hex(most)),
        ];
        self.run("modify_field_rng_uniform", parameters, at);
        leaf_value(kind, result)
    }

    /// `RegisterAction.execute`: the cell is read, the body runs on it, and it is written back.
    /// Nothing comes in between: a pipeline runs one packet at a time.
    fn execute(&mut self, object: ObjectRef, index: Expression, ty: &Type, at: Span) -> Value {
        let program = self.input.program;
        let index = Value::Number(index);
        let Value::Number(index) = self.freeze(index, &Type::Bit(32), at) else {
            return Value::Void;
        };
        let instance = &program.instances[object.instance];
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let register = match instance.arguments.first() {
            Some(Argument::Expression(register)) => self.value(register),
            _ => Value::Void,
        };
        let result = match ty {
            Type::Void => Value::Void,
            ty => self.temporary(ty, at),
        };
        self.zero(&result, ty, at);
        let body = instance.methods.first().map(|id| &program.functions[*id]);
        if let (Value::Object(register), Some(body)) = (register, body)
            && let Some((cell, rest)) = body.parameters.split_first()
        {
            let element = program.variables[*cell].ty.clone();
            let value = self.temporary(&element, at);
            self.read_cell(register, &index, &value, &element, at);
            self.local.bindings.insert(*cell, value.clone());
            if let Some(output) = rest.first() {
                self.local.bindings.insert(*output, result.clone());
            }
            let outer_this = self.local.this.replace(object);
            self.body(&body.body);
            self.local.this = outer_this;
            self.write_cell(register, &index, &value, &element, at);
        }
        self.local.scope = outer;
        result
    }

    fn zero(&mut self, place: &Value, ty: &Type, at: Span) {
        let mut leaves = Vec::new();
        self.leaves(place, ty, &mut leaves);
        for (leaf, kind) in leaves {
            let field = self.leaf_field(leaf, kind, at);
            self.assign_number(&Expression::Field(field), hex(0), at);
        }
    }

    /// The arrays in which a register's cells lie: one for each field of a struct.
    fn arrays_of(&mut self, register: ObjectRef) -> Vec<String> {
        let Some(index) = self.declare_object(register) else { return Vec::new() };
        let object = &self.flat.objects[index];
        let ObjectKind::Register { element, .. } = &object.kind else { return Vec::new() };
        let cells = cells(self.input.program, element);
        cells.into_iter().map(|cell| format!("{}{}", object.name, cell.name)).collect()
    }

    fn read_cell(
        &mut self,
        register: ObjectRef,
        index: &Expression,
        place: &Value,
        ty: &Type,
        at: Span,
    ) {
        let mut leaves = Vec::new();
        self.leaves(place, ty, &mut leaves);
        for (array, (leaf, kind)) in self.arrays_of(register).into_iter().zip(leaves) {
            let field = self.leaf_field(leaf, kind, at);
            let parameters = vec![
                parameter(Expression::Field(field)),
                Parameter::RegisterArray(array),
                parameter(index.clone()),
            ];
            self.run("register_read", parameters, at);
        }
    }

    fn write_cell(
        &mut self,
        register: ObjectRef,
        index: &Expression,
        value: &Value,
        ty: &Type,
        at: Span,
    ) {
        let mut leaves = Vec::new();
        self.leaves(value, ty, &mut leaves);
        for (array, (leaf, _)) in self.arrays_of(register).into_iter().zip(leaves) {
            let parameters = vec![
                Parameter::RegisterArray(array),
                parameter(index.clone()),
                data_parameter(leaf),
            ];
            self.run("register_write", parameters, at);
        }
    }

    /// `max` and `min`.
    fn first_if(&mut self, operator: BinaryOperator, call: &Call) -> Value {
        let first = self.number_argument(call, 0);
        let second = self.number_argument(call, 1);
        let condition = binary(operator, first.clone(), second.clone());
        Value::Number(choice(condition, first, second))
    }

    /// A field is valid with its header; metadata always is.
    fn is_validated(&mut self, call: &Call) -> Value {
        let valid = Value::Bool(Expression::Bool(true));
        let Some(Argument::Expression(expression)) = call.arguments.first() else { return valid };
        let tree::ExpressionKind::Field { base, .. } = &expression.kind else { return valid };
        match self.value(base) {
            base @ Value::Header(_) => Value::Bool(self.is_valid(&base)),
            _ => valid,
        }
    }

    /// Zeros on this switch; the parser skips them.
    fn port_metadata(&mut self, call: &Call, ty: &Type) -> Value {
        let size = if self.tofino().is_some_and(|one| one.name == "t2na") { 192 } else { 64 };
        self.parse(bmv2::ParserOperation::Advance { width_bits: hex(size) });
        let ty = call.type_arguments.first().unwrap_or(ty);
        let place = self.temporary(ty, call.span);
        self.zero(&place, ty, call.span);
        place
    }

    fn size_of(&mut self, call: &Call, unit_bits: u32) -> Value {
        let bits: u32 = match call.arguments.first() {
            Some(Argument::Expression(expression)) => {
                let parts = super::storage::parts(self.input.program, &expression.ty);
                parts.iter().map(|part| part.kind.width()).sum()
            }
            _ => 0,
        };
        Value::Number(Expression::Hex(Int::from(bits.div_ceil(unit_bits))))
    }
}

/// The arrays in which a register's cells lie: on Tofino one for each field of a struct, by name.
/// Elsewhere a struct can be declared and neither read nor written.
pub fn cells(program: &tree::Program, element: &Type) -> Vec<Field> {
    let is_tofino = program.declared_architecture.is_some_and(Architecture::is_tofino);
    match super::storage::leaf(program, element) {
        None if is_tofino => super::storage::parts(program, element),
        kind => vec![Field { name: String::new(), kind: kind.unwrap_or(FLAG) }],
    }
}

fn choice(condition: Expression, if_true: Expression, if_false: Expression) -> Expression {
    Expression::Conditional {
        condition: Box::new(condition),
        if_true: Box::new(if_true),
        if_false: Box::new(if_false),
    }
}
