//! `--emit-externs`: functions and objects that the architecture does not have, for a switch that does.
//!
//! Before: a call of an extern function or of a method of an extern object that this compiler does
//! not know. After: a primitive with the arguments in the order of the parameters: the function's
//! name, or `_Type_method` with the object in front. The object stands in `extern_instances`, with
//! the arguments of its constructor as attributes: BMv2's way to add externs, as p4c writes it.
//! Without the option both are errors.

use bits::Int;
use bmv2::{ExternAttribute, ExternInstance, Parameter};

use super::control::algorithm_name;
use super::lowering::Lowering;
use super::value::{ObjectRef, Value, data_parameter};
use super::{names, source_info};
use crate::types::tree::{Argument, Call, InstanceKind, Type};

impl Lowering<'_> {
    /// A call of a function that the architecture does not have.
    pub fn foreign_function(&mut self, name: &str, call: &Call, ty: &Type) -> Value {
        if self.input.emits_externs {
            let parameters = self.foreign_arguments(call);
            self.run(name, parameters, call.span);
        } else {
            self.unsupported(
                call.span,
                format!("this switch has no function `{name}`"),
                "only the functions that its architecture's file declares exist; write it in P4, or \
                 pass --emit-externs for a switch that has it",
            );
        }
        self.temporary(ty, call.span)
    }

    /// A call of a method of an object whose type the architecture does not have.
    pub fn foreign_method(
        &mut self,
        object: ObjectRef,
        method: &str,
        call: &Call,
        ty: &Type,
    ) -> Value {
        let of = match self.input.program.instances[object.instance].kind {
            InstanceKind::Extern { of, .. } => self.input.program.externs[of].name.text.clone(),
            _ => "this".into(),
        };
        if self.input.emits_externs {
            let name = self.foreign_object(object);
            let mut parameters = vec![Parameter::Extern(name)];
            parameters.extend(self.foreign_arguments(call));
            self.run(&format!("_{of}_{method}"), parameters, call.span);
        } else {
            self.unsupported(
                call.span,
                format!("this switch has no extern `{of}`"),
                "use those that its architecture's file declares (counters, meters, registers and so \
                 on), or pass --emit-externs for a switch that has it",
            );
        }
        self.temporary(ty, call.span)
    }

    /// Headers as they are, structs field by field.
    fn foreign_arguments(&mut self, call: &Call) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for argument in &call.arguments {
            let Argument::Expression(expression) = argument else { continue };
            match self.value(expression) {
                Value::Header(header) => {
                    parameters
                        .push(Parameter::Expression(self.flat.storage.header_expression(&header)));
                }
                value @ (Value::Struct(_) | Value::HeaderOf(_)) => {
                    let mut leaves = Vec::new();
                    self.leaves(&value, &expression.ty, &mut leaves);
                    parameters.extend(leaves.into_iter().map(|(leaf, _)| data_parameter(leaf)));
                }
                value => parameters.push(data_parameter(value)),
            }
        }
        parameters
    }

    /// The control-plane name of an object, which is announced with its first use.
    pub fn foreign_object(&mut self, object: ObjectRef) -> String {
        let program = self.input.program;
        let instance = &program.instances[object.instance];
        let declared = instance.name.as_ref().map_or("", |name| &*name.text);
        let prefix = &self.flat.scopes[object.scope.0].name;
        let name = names::qualified(prefix, &instance.annotations, declared);
        if self.flat.foreign.iter().any(|known| known.name == name) {
            return name;
        }
        let InstanceKind::Extern { of, constructor } = instance.kind else { return name };
        let declaration = &program.externs[of];
        let parameters = constructor
            .and_then(|at| declaration.methods.get(at))
            .map_or(&[][..], |constructor| &constructor.parameters);
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let mut attributes = Vec::new();
        for (parameter, argument) in parameters.iter().zip(&instance.arguments) {
            let Argument::Expression(expression) = argument else { continue };
            if matches!(expression.ty, Type::Enum(_)) {
                let name = self.enumerator_name(expression);
                if let ("Counter", Some(number)) = (&*declaration.name.text, counter_type(&name)) {
                    let number = ExternAttribute::Hex(Int::from(number));
                    attributes.push((parameter.name.text.to_string(), number));
                    continue;
                }
                // An enumerator that only the switch knows goes by its name.
                let name = name.to_lowercase();
                let name = ExternAttribute::String(algorithm_name(&name));
                attributes.push((parameter.name.text.to_string(), name));
                continue;
            }
            let value = match (self.constant_number(expression), self.value(expression)) {
                (Some(number), _) => ExternAttribute::Hex(number),
                (None, Value::Text(text)) => ExternAttribute::String(text.to_string()),
                (None, _) => {
                    self.unsupported(
                        expression.span,
                        "a switch can be given numbers and strings for its own externs only",
                        "make the parameter of the constructor a number or a string",
                    );
                    ExternAttribute::Hex(Int::zero())
                }
            };
            attributes.push((parameter.name.text.to_string(), value));
        }
        self.local.scope = outer;
        // psa_switch's additional requirements for its meters.
        if &*declaration.name.text == "Meter" {
            for (name, number) in [("is_direct", 0u32), ("rate_count", 2)] {
                attributes.push((name.to_owned(), ExternAttribute::Hex(Int::from(number))));
            }
        }
        self.flat.foreign.push(ExternInstance {
            name: name.clone(),
            id: self.flat.foreign.len() as u32,
            extern_type: match (&*declaration.name.text, self.tofino()) {
                // The sum of RFC 1071 under the name that it has in PSA.
                ("Checksum", Some(_)) => "InternetChecksum".to_owned(),
                (name, _) => name.to_owned(),
            },
            source_info: source_info::of(self.input.sources, instance.span),
            attributes,
        });
        name
    }
}

/// psa_switch's number for the unit of a counter, which is not the enumerator's place. (Given a
/// name it crashes.)
fn counter_type(name: &str) -> Option<u32> {
    ["BYTES", "PACKETS", "PACKETS_AND_BYTES"]
        .iter()
        .position(|known| *known == name)
        .map(|at| at as u32)
}
