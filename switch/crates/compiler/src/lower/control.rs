//! Instantiation: which extern objects, tables and sub-controls there are, and under which names.
//!
//! Before: declarations, each written once. After: one scope for each instantiation, its extern
//! objects in `Flat::objects`, its constructor parameters bound.

use bits::Int;

use super::flat::{Object, ObjectKind, Scope};
use super::lowering::Lowering;
use super::names;
use super::value::{ObjectRef, ScopeId, Value};
use crate::architecture::Form;
use crate::types::tree::{
    self, Argument, Expression, ExpressionKind, Id, InstanceKind, LocalDeclaration, Type,
};
use syntax::Span;

impl Lowering<'_> {
    /// Runs `write` inside an instance of a control or parser: names are prefixed, constructor
    /// parameters bound.
    pub fn in_instance(&mut self, object: ObjectRef, write: impl FnOnce(&mut Self)) {
        let scope = self.enter(object, None);
        let outer = std::mem::replace(&mut self.local.scope, scope);
        write(self);
        self.local.scope = outer;
    }

    /// The scope of an instance, made when first entered. `name` replaces the instance's own name
    /// for the blocks of the architecture, which are called by their type.
    pub fn enter(&mut self, object: ObjectRef, name: Option<String>) -> ScopeId {
        let instance = &self.input.program.instances[object.instance];
        let parameters = match instance.kind {
            InstanceKind::Control(id) => &self.input.program.controls[id].constructor_parameters,
            InstanceKind::Parser(id) => &self.input.program.parsers[id].constructor_parameters,
            InstanceKind::Extern { .. } | InstanceKind::Package(_) => return self.local.scope,
        };
        // The arguments are meant where the instance is declared.
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let arguments: Vec<Value> =
            instance.arguments.iter().map(|argument| self.constructor_argument(argument)).collect();
        self.local.scope = outer;
        self.local.bindings.extend(parameters.iter().copied().zip(arguments));
        if let Some(scope) = self.made.scopes.get(&object) {
            return *scope;
        }
        let prefix = self.flat.scopes[object.scope.0].name.clone();
        let name = name.unwrap_or_else(|| {
            let declared = instance.name.as_ref().map_or("", |name| &*name.text);
            names::qualified(&prefix, &instance.annotations, declared)
        });
        let scope = Scope {
            name,
            of: Some(instance.kind),
            parent: object.scope,
            instance: Some(object.instance),
        };
        self.flat.scopes.push(scope);
        let id = ScopeId(self.flat.scopes.len() - 1);
        self.made.scopes.insert(object, id);
        let outer = std::mem::replace(&mut self.local.scope, id);
        self.declare_objects(instance.kind);
        self.local.scope = outer;
        id
    }

    /// A constant, or an object.
    fn constructor_argument(&mut self, argument: &Argument) -> Value {
        match argument {
            Argument::Expression(expression) => self.value(expression),
            Argument::DontCare(_) | Argument::Omitted => Value::Void,
        }
    }

    /// Makes the extern objects and the scopes of everything declared in the current scope.
    fn declare_objects(&mut self, kind: InstanceKind) {
        let program = self.input.program;
        let locals = match kind {
            InstanceKind::Control(id) => &program.controls[id].locals,
            InstanceKind::Parser(id) => &program.parsers[id].locals,
            InstanceKind::Extern { .. } | InstanceKind::Package(_) => return,
        };
        for local in locals {
            if let LocalDeclaration::Instance(instance) = local {
                let object = ObjectRef { scope: self.local.scope, instance: *instance };
                self.declare_object(object);
            }
        }
    }

    pub fn declare_object(&mut self, object: ObjectRef) -> Option<usize> {
        if let Some(known) = self.made.objects.get(&object) {
            return Some(*known);
        }
        let instance = &self.input.program.instances[object.instance];
        let InstanceKind::Extern { of, .. } = instance.kind else { return None };
        let prefix = self.flat.scopes[object.scope.0].name.clone();
        let declared = instance.name.as_ref().map_or("", |name| &*name.text);
        let name = names::qualified(&prefix, &instance.annotations, declared);
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let kind = self.object_kind(of, &instance.arguments, instance.span);
        self.local.scope = outer;
        self.flat.objects.push(Object { name, of: object, kind: kind?, at: instance.span });
        let index = self.flat.objects.len() - 1;
        self.made.objects.insert(object, index);
        Some(index)
    }

    /// The switch's form of an extern of the architecture. Other externs are reported where they
    /// are used, or handed on there; unused they do no harm.
    fn object_kind(
        &mut self,
        of: Id<tree::Extern>,
        arguments: &[Argument],
        at: Span,
    ) -> Option<ObjectKind> {
        let declaration = &self.input.program.externs[of];
        let element = declaration.type_arguments.first().cloned();
        Some(match declaration.known?.form {
            Form::ActionProfile { size } => ObjectKind::ActionProfile {
                size: self.constructor_number(arguments, size, at),
                selector: None,
            },
            Form::ActionSelector { algorithm, size } => {
                let algorithm = algorithm_name(&self.constructor_name(arguments, algorithm));
                self.check_algorithm(&algorithm, at);
                ObjectKind::ActionProfile {
                    size: self.constructor_number(arguments, size, at),
                    selector: Some((algorithm, Vec::new())),
                }
            }
            Form::Cell { initial } => {
                let given = match arguments.get(initial)? {
                    Argument::Expression(value) => self.constant_number(value),
                    _ => None,
                };
                self.register(1, element?, given.unwrap_or_default(), at)
            }
            Form::Counter { size, unit } => ObjectKind::Counter {
                size: self.constructor_number(arguments, size, at),
                unit: self.constructor_name(arguments, unit),
            },
            Form::DirectCounter { unit } => ObjectKind::DirectCounter {
                unit: self.constructor_name(arguments, unit),
                table: None,
            },
            Form::DirectMeter { unit } => ObjectKind::DirectMeter {
                unit: self.constructor_name(arguments, unit),
                table: None,
                result: None,
            },
            Form::TofinoSelector => self.selector(arguments, at),
            Form::Meter { size, unit } => ObjectKind::Meter {
                size: self.constructor_number(arguments, size, at),
                unit: self.constructor_name(arguments, unit),
            },
            Form::Digest => ObjectKind::Digest { element: element? },
            Form::Instance | Form::Tofino => ObjectKind::Instance,
            form @ (Form::DirectRegister { .. } | Form::State { .. }) => {
                self.cells(form, element?, arguments, at)?
            }
            Form::Nothing | Form::Packet => return None,
            Form::Register { size, initial } => {
                let size = self.constructor_number(arguments, size, at);
                let given = initial.and_then(|initial| match arguments.get(initial)? {
                    Argument::Expression(value) => self.constant_number(value),
                    _ => None,
                });
                self.register(size, element?, given.unwrap_or_default(), at)
            }
        })
    }

    /// Tofino's registers whose size or cells are not the constructor's: a table has the size.
    fn cells(
        &mut self,
        form: Form,
        element: Type,
        arguments: &[Argument],
        at: Span,
    ) -> Option<ObjectKind> {
        Some(match form {
            Form::State { cell, size: Some(size) } => {
                let size = self.constructor_number(arguments, size, at);
                let element = self.struct_named(cell)?;
                self.register(size, element, Int::zero(), at)
            }
            Form::State { cell, size: None } => {
                let element = self.struct_named(cell)?;
                ObjectKind::Register { size: 0, element, initial: Int::zero() }
            }
            Form::DirectRegister { initial } => {
                let given = match arguments.get(initial) {
                    Some(Argument::Expression(value)) => self.constant_number(value),
                    _ => None,
                };
                ObjectKind::Register { size: 0, element, initial: given.unwrap_or_default() }
            }
            _ => return None,
        })
    }

    /// A struct of the architecture's file.
    fn struct_named(&self, name: &str) -> Option<Type> {
        let mut structs = self.input.program.structs.iter();
        structs.find(|(_, one)| &*one.name.text == name).map(|(id, _)| Type::Struct(id))
    }

    /// Cells of one width.
    fn register(&mut self, size: u32, element: Type, initial: Int, at: Span) -> ObjectKind {
        if size == 0 {
            self.unsupported(
                at,
                "a register array needs at least one cell",
                "give the constructor the number of cells; direct registers do not exist here",
            );
        }
        ObjectKind::Register { size, element, initial }
    }

    /// A size given to a constructor.
    pub fn constructor_number(&mut self, arguments: &[Argument], index: usize, at: Span) -> u32 {
        let Some(Argument::Expression(expression)) = arguments.get(index) else { return 0 };
        let value = self.value(expression);
        match value.constant().and_then(bits::Int::to_u32) {
            Some(number) => number,
            None => {
                self.unsupported(
                    at,
                    "the size must be a number that fits in 32 bits",
                    "use a constant",
                );
                0
            }
        }
    }

    /// The name of an enumerator given to a constructor, in the small letters of BMv2 JSON.
    fn constructor_name(&mut self, arguments: &[Argument], index: usize) -> String {
        match arguments.get(index) {
            Some(Argument::Expression(expression)) => {
                self.enumerator_name(expression).to_lowercase()
            }
            _ => String::new(),
        }
    }

    /// The name of the enumerator that an expression is; empty where it is not known.
    pub fn enumerator_name(&mut self, expression: &Expression) -> String {
        if let ExpressionKind::Constant(tree::Value::Enumerator(of, member)) = &expression.kind {
            return self.input.program.enums[*of].members[*member].name.text.to_string();
        }
        let (Type::Enum(of), value) = (&expression.ty, self.value(expression)) else {
            return String::new();
        };
        let index = value.constant().and_then(bits::Int::to_u64).map(|index| index as usize);
        let members = &self.input.program.enums[*of].members;
        let member = index.and_then(|index| members.get(index));
        member.map(|member| member.name.text.to_string()).unwrap_or_default()
    }

    /// The steps of a control whose parameters are bound.
    pub fn control(&mut self, control: Id<tree::Control>) {
        let declaration = &self.input.program.controls[control];
        self.declare_locals(&declaration.locals);
        self.body(&declaration.body);
    }

    /// Brings local variables to life.
    pub fn declare_locals(&mut self, locals: &[LocalDeclaration]) {
        for local in locals {
            if let LocalDeclaration::Variable { variable, value } = local {
                let at = self.input.program.variables[*variable].span;
                self.declare(*variable, value.as_ref(), at);
            }
        }
    }
}

/// BMv2's name of a hash algorithm.
pub fn algorithm_name(enumerator: &str) -> String {
    match enumerator {
        "ones_complement16" => "csum16".to_owned(),
        "target_default" => "crc32".to_owned(),
        other => other.to_owned(),
    }
}
