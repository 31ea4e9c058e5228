//! Calls of functions, actions and controls: copy-in, the body, copy-out.
//!
//! Before: a call of the typed tree. After: the callee's steps in its place. An argument is bound
//! by reference where that makes no difference, which is nearly always; otherwise it is copied as
//! the specification says: `in` and `inout` from left to right before the body, `out` and `inout`
//! from left to right after it, also when the body ends with `exit`. The callee gets an argument's
//! value at its turn, even if calls in later arguments change it.

use std::collections::BTreeSet;

use bmv2::Expression;

use super::effects::{has_effects, mentioned};
use super::local::Frame;
use super::lowering::Lowering;
use super::overlap::Atom;
use super::step::Step;
use super::target::Target;
use super::value::{HeaderRef, ObjectRef, Value};
use crate::types::tree::{
    self, Argument, Block, Builtin, Call, Callee, Direction, Id, Type, Variable, VariableKind,
};
use syntax::Span;

/// Calls inside calls inside calls beyond this are refused: each level needs some of our own stack.
const CALL_DEPTH_MAX: usize = 64;

/// The places that a callee can reach other than through its parameters.
pub enum Outside {
    /// The parameters of this instance, whose tables see the same places however often it is
    /// applied.
    Instance(ObjectRef),
    /// It reaches its parameters only.
    Nothing,
    /// It mentions these variables of the control around it.
    Variables(BTreeSet<Id<Variable>>),
}

/// An argument evaluated at the call.
enum Passed {
    /// A value that the callee only reads.
    In(Value),
    /// A place that the callee writes, and what it held before later arguments could change it.
    InOut(Target, Value),
    /// A place that the callee writes.
    Out(Target),
}

impl Lowering<'_> {
    /// The value of a call.
    pub fn call(&mut self, call: &Call, ty: &Type) -> Value {
        let at = call.span;
        match &call.callee {
            Callee::Action(action) => {
                self.use_action(*action, false);
                let action = &self.input.program.actions[*action];
                let outside = self.outside(&action.body, &action.parameters);
                self.inline(&action.parameters, &call.arguments, &outside, at, |this| {
                    this.action_body(&action.body);
                });
                Value::Void
            }
            Callee::Builtin(builtin, base) => self.builtin(*builtin, base, call),
            Callee::Control { control, instance } => {
                let object = self.value(instance);
                if let Value::Object(object) = object
                    && let Some(control) = control.or_else(|| self.control_of(object))
                {
                    self.inline_control(control, object, &call.arguments, at);
                }
                Value::Void
            }
            Callee::ExternFunction(function) => self.extern_function(*function, call, ty),
            Callee::Function(function) => self.function(*function, call),
            Callee::Method { object, method } => self.method(object, *method, call, ty),
            Callee::Parser { parser, instance } => {
                if let Value::Object(object) = self.value(instance)
                    && let Some(parser) = parser.or_else(|| self.parser_of(object))
                {
                    self.inline_parser(parser, object, &call.arguments, at);
                }
                Value::Void
            }
            Callee::Table(table) => {
                self.apply_table(*table, super::step::Outcome::Any, at);
                Value::Void
            }
        }
    }

    /// A function's result gets a place of its own, which its `return` statements write.
    fn function(&mut self, function: Id<tree::Function>, call: &Call) -> Value {
        let function = &self.input.program.functions[function];
        let result = match function.return_type {
            Type::Void => Value::Void,
            _ => self.temporary(&function.return_type, call.span),
        };
        let outcome = result.clone();
        let outside = Outside::Nothing;
        self.inline(&function.parameters, &call.arguments, &outside, call.span, |this| {
            this.body_with_result(&function.body, outcome);
        });
        result
    }

    /// The declaration behind a constructor parameter of a control type.
    fn control_of(&self, object: ObjectRef) -> Option<Id<tree::Control>> {
        match self.input.program.instances[object.instance].kind {
            tree::InstanceKind::Control(id) => Some(id),
            _ => None,
        }
    }

    /// The declaration behind a constructor parameter of a parser type.
    fn parser_of(&self, object: ObjectRef) -> Option<Id<tree::Parser>> {
        match self.input.program.instances[object.instance].kind {
            tree::InstanceKind::Parser(id) => Some(id),
            _ => None,
        }
    }

    /// The body of a control, in the scope of its instance.
    fn inline_control(
        &mut self,
        control: Id<tree::Control>,
        object: ObjectRef,
        arguments: &[Argument],
        at: Span,
    ) {
        let declaration = &self.input.program.controls[control];
        let outside = Outside::Instance(object);
        self.inline(&declaration.parameters, arguments, &outside, at, |this| {
            this.in_instance(object, |this| this.control(control));
        });
    }

    /// Binds parameters to arguments, runs `body`, and copies out what has to be copied.
    pub fn inline(
        &mut self,
        parameters: &[Id<Variable>],
        arguments: &[Argument],
        outside: &Outside,
        at: Span,
        body: impl FnOnce(&mut Self),
    ) {
        if self.is_exhausted() {
            return;
        }
        let passed = self.pass(parameters, arguments);
        let copies = self.bind(parameters, passed, outside, at);
        self.local.copies_out.push(copies);
        // Every call around has an entry there, also one that copies nothing.
        if self.local.copies_out.len() > CALL_DEPTH_MAX {
            self.unsupported(
                at,
                "calls are nested too deeply",
                format!("at most {CALL_DEPTH_MAX} calls inside each other can be inlined"),
            );
        } else {
            body(self);
        }
        for (target, value, ty) in self.local.copies_out.pop().unwrap_or_default() {
            self.assign(&target, &value, &ty, at);
        }
    }

    /// Evaluates arguments from left to right.
    fn pass(&mut self, parameters: &[Id<Variable>], arguments: &[Argument]) -> Vec<Passed> {
        let mut passed = Vec::new();
        for (position, (parameter, argument)) in parameters.iter().zip(arguments).enumerate() {
            let direction = self.direction(*parameter);
            let is_in = matches!(direction, Direction::In | Direction::None);
            passed.push(match argument {
                Argument::Expression(expression) if is_in => {
                    Passed::In(self.argument(expression, &arguments[position + 1..]))
                }
                Argument::Expression(expression) => {
                    let place = self.pinned_place(expression);
                    let later = &arguments[position + 1..];
                    if direction == Direction::InOut && self.have_effects(later) {
                        let value = self.read(&place);
                        let value = self.freeze(value, &expression.ty, expression.span);
                        Passed::InOut(place, value)
                    } else {
                        Passed::Out(place)
                    }
                }
                Argument::DontCare(_) => Passed::Out(Target::Nowhere),
                Argument::Omitted => Passed::In(Value::Void),
            });
        }
        passed
    }

    /// The value of an argument, unaffected by later ones.
    pub fn argument(&mut self, expression: &tree::Expression, later: &[Argument]) -> Value {
        let value = self.value(expression);
        if self.have_effects(later) {
            self.freeze(value, &expression.ty, expression.span)
        } else {
            value
        }
    }

    /// Whether evaluating one of the arguments can change anything.
    fn have_effects(&self, arguments: &[Argument]) -> bool {
        arguments.iter().any(|argument| match argument {
            Argument::Expression(expression) => has_effects(self.input.program, expression),
            Argument::DontCare(_) | Argument::Omitted => false,
        })
    }

    /// A place that stays the same until it is written, whatever happens to its indexes.
    fn pinned_place(&mut self, expression: &tree::Expression) -> Target {
        let pins = std::mem::replace(&mut self.local.pins_indexes, true);
        let place = self.place(expression);
        self.local.pins_indexes = pins;
        place
    }

    /// The direction of a parameter.
    pub fn direction(&self, parameter: Id<Variable>) -> Direction {
        match self.input.program.variables[parameter].kind {
            VariableKind::Parameter(direction) => direction,
            VariableKind::ConstructorParameter | VariableKind::Local => Direction::None,
        }
    }

    /// Binds each parameter; returns what is to be copied when the callee is done.
    fn bind(
        &mut self,
        parameters: &[Id<Variable>],
        passed: Vec<Passed>,
        outside: &Outside,
        at: Span,
    ) -> Vec<(Target, Value, Type)> {
        // The places that the callee can see or change other than through this parameter.
        let mut seen: Vec<Vec<Atom>> = passed.iter().map(|one| self.passed_atoms(one)).collect();
        seen.push(self.reachable(outside));
        let writes: Vec<bool> = passed.iter().map(|one| !matches!(one, Passed::In(_))).collect();
        let mut copies = Vec::new();
        let mut bound = Vec::new();
        for (position, (parameter, passed)) in parameters.iter().zip(passed).enumerate() {
            let is_apart = |(other, atoms): (usize, &Vec<Atom>)| {
                let harmless =
                    other == position || !writes[position] && writes.get(other) == Some(&false);
                harmless || atoms.iter().all(|atom| !seen[position].contains(atom))
            };
            let is_apart = seen.iter().enumerate().all(is_apart)
                && self.is_same_as_before(outside, *parameter, &passed);
            let value = self.bind_one(*parameter, passed, is_apart, at, &mut copies);
            bound.push((*parameter, value));
        }
        // Only now: an argument may mention a parameter of the same name in an outer copy.
        self.local.bindings.extend(bound);
        copies
    }

    /// Whether an instance may take this argument by reference. Its tables and their actions are
    /// written once, for the places of its first application; an argument that turns out to differ
    /// has to be copied in all of them, for which flattening starts again.
    fn is_same_as_before(
        &mut self,
        outside: &Outside,
        parameter: Id<Variable>,
        passed: &Passed,
    ) -> bool {
        let Outside::Instance(object) = outside else { return true };
        let key = (*object, parameter);
        let place = match passed {
            Passed::In(value) | Passed::Out(Target::Whole(value)) => value,
            // It is copied in any case, and so has to be everywhere.
            Passed::InOut(..) | Passed::Out(_) => {
                self.made.differing.insert(key);
                return false;
            }
        };
        let before = self.made.passed_before.entry(key).or_insert_with(|| place.clone());
        if before != place {
            self.made.differing.insert(key);
        }
        !self.input.copied.contains(&key) && !self.made.differing.contains(&key)
    }

    /// A parameter's meaning: the argument itself where that makes no difference, a copy otherwise.
    fn bind_one(
        &mut self,
        parameter: Id<Variable>,
        passed: Passed,
        is_apart: bool,
        at: Span,
        copies: &mut Vec<(Target, Value, Type)>,
    ) -> Value {
        let declaration = &self.input.program.variables[parameter];
        let ty = &declaration.ty;
        let is_inout = self.direction(parameter) == Direction::InOut;
        match passed {
            // An expression is computed once, however often it is used.
            Passed::In(value) if value.is_constant() && is_apart => value,
            Passed::In(value) if is_apart && value.is_simple() => value,
            Passed::In(value) => {
                let copy = self.place_of(parameter);
                self.assign_value(&copy, &value, ty, at);
                copy
            }
            Passed::InOut(target, value) => {
                let copy = self.place_of(parameter);
                self.assign_value(&copy, &value, ty, at);
                copies.push((target, copy.clone(), ty.clone()));
                copy
            }
            Passed::Out(Target::Whole(place))
                if is_apart && place.is_simple() && !self.is_union_member(&place) =>
            {
                if !is_inout {
                    self.invalidate(&place, at);
                }
                place
            }
            Passed::Out(target) => {
                let copy = self.place_of(parameter);
                if is_inout {
                    let value = self.read(&target);
                    self.assign_value(&copy, &value, ty, at);
                } else {
                    self.invalidate(&copy, at);
                }
                copies.push((target, copy.clone(), ty.clone()));
                copy
            }
        }
    }

    /// Whether a place is a member of a union. Copying out to one affects the others even if
    /// nothing was written.
    fn is_union_member(&self, place: &Value) -> bool {
        let Value::Header(HeaderRef::Instance(header)) = place else { return false };
        self.flat.storage.union_around(*header).is_some()
    }

    /// A parameter's own storage.
    fn place_of(&mut self, parameter: Id<Variable>) -> Value {
        if let Some(place) = self.made.places.get(&parameter) {
            return place.clone();
        }
        let declaration = &self.input.program.variables[parameter];
        let place = self.allocate(&declaration.name.text, &declaration.ty, declaration.name.span);
        self.made.places.insert(parameter, place.clone());
        place
    }

    /// The places that the body of an action of the current control can reach.
    pub fn outside(&self, body: &Block, parameters: &[Id<Variable>]) -> Outside {
        let mut variables = BTreeSet::new();
        mentioned(self.input.program, body, &mut variables);
        for parameter in parameters {
            variables.remove(parameter);
        }
        Outside::Variables(variables)
    }

    /// The storage that a body can reach without its parameters.
    fn reachable(&self, outside: &Outside) -> Vec<Atom> {
        let mut atoms = Vec::new();
        if let Outside::Variables(variables) = outside {
            for value in variables.iter().filter_map(|variable| self.local.bindings.get(variable)) {
                self.flat.storage.atoms(value, &mut atoms);
            }
        }
        atoms
    }

    /// The storage that an argument names.
    fn passed_atoms(&self, passed: &Passed) -> Vec<Atom> {
        let mut atoms = Vec::new();
        match passed {
            Passed::In(value) => self.flat.storage.atoms(value, &mut atoms),
            Passed::InOut(target, _) | Passed::Out(target) => match target {
                Target::Nowhere => {}
                Target::Slice { base, .. } | Target::SliceFrom { base, .. } => {
                    self.flat.storage.atoms_of(base, &mut atoms);
                }
                Target::Whole(value) => self.flat.storage.atoms(value, &mut atoms),
            },
        }
        atoms.sort();
        atoms.dedup();
        atoms
    }

    /// The steps of an action.
    pub fn action_body(&mut self, body: &Block) {
        self.local.action_depth += 1;
        self.body(body);
        self.local.action_depth -= 1;
    }

    /// The steps of a body whose end is where `return` goes.
    pub fn body(&mut self, body: &Block) {
        self.body_with_result(body, Value::Void);
    }

    /// A body whose `return` leaves a value.
    fn body_with_result(&mut self, body: &Block, result: Value) {
        let end = self.new_label();
        let frame = Frame { end: Some(end), result: Some(result), loops: Vec::new() };
        let outer = std::mem::replace(&mut self.local.frame, frame);
        let body = self.steps_of(|this| this.block(body));
        self.local.frame = outer;
        self.push(Step::Block { label: end, body });
    }

    /// Methods of headers, unions and stacks.
    fn builtin(&mut self, builtin: Builtin, base: &tree::Expression, call: &Call) -> Value {
        let at = call.span;
        let value = self.value(base);
        match (builtin, &value) {
            (Builtin::IsValid, value) => return Value::Bool(self.is_valid(value)),
            (Builtin::SetInvalid, value) => self.invalidate(value, at),
            (Builtin::SetValid, Value::Header(header)) => {
                let header = header.clone();
                // As an aggregate without fields: valid, fields untouched.
                self.assign_header(&header, &Value::HeaderOf(Vec::new()), at);
            }
            (Builtin::PushFront | Builtin::PopFront, Value::Stack(stack)) => {
                let name = self.flat.storage.stacks[stack.0].name.clone();
                self.rotate(builtin, Expression::HeaderStack(name), call);
            }
            (Builtin::PushFront | Builtin::PopFront, Value::UnionStack(stack)) => {
                let name = self.flat.storage.union_stacks[stack.0].name.clone();
                self.rotate(builtin, Expression::HeaderUnionStack(name), call);
            }
            _ => {}
        }
        Value::Void
    }

    /// `push_front` and `pop_front`.
    fn rotate(&mut self, builtin: Builtin, stack: Expression, call: &Call) {
        let count = match call.arguments.first() {
            Some(Argument::Expression(count)) => self.number(count),
            _ => super::value::hex(1),
        };
        let operation = if builtin == Builtin::PushFront { "push" } else { "pop" };
        let parameters =
            vec![bmv2::Parameter::Expression(stack), bmv2::Parameter::Expression(count)];
        self.run(operation, parameters, call.span);
    }
}
