//! Primitives to steps.

use bits::Int;
use bmv2::{BinaryOperator, Expression, Parameter, PrimitiveCall};

use super::{
    Action, Assign, Colors, Destination, ExternStep, HeaderStep, InstanceStep, LogPart, Move,
    QueuesStep, Request, Routine, Step,
};
use crate::error::{LoadError, unknown};
use crate::expression::load::{Scope, is_condition, param_limbs};
use crate::expression::{Condition, HeaderRef, Number, Wide};
use crate::instances::{Asked, InstanceKind, recipe};
use crate::layout::{FieldAt, Layout};
use crate::place::Place;
use crate::queues::QueueFunction;

/// The things that primitives refer to by name, besides fields.
pub(crate) struct Names<'a> {
    pub layout: &'a Layout,
    /// Register arrays: names and widths.
    pub registers: &'a [(String, u32)],
    pub counters: &'a [String],
    pub meters: &'a [String],
    pub calculations: &'a [String],
    /// Extern instances: names and kinds.
    pub instances: &'a [(String, InstanceKind)],
}

/// One primitive call being loaded.
struct Call<'a> {
    names: &'a Names<'a>,
    scope: Scope<'a>,
    parameters: &'a [Parameter],
    /// The message of a failed assertion.
    source: String,
    here: Here,
}

/// Where a primitive stands.
#[derive(Clone, Copy)]
struct Here {
    /// The first step of its list.
    start: u32,
    /// How many primitives the list has.
    count: u32,
    /// Its own position in the list.
    index: u32,
}

/// Loads an action to the end of `code`.
fn load_action(
    names: &Names<'_>,
    action: &bmv2::Action,
    code: &mut Vec<Step>,
) -> Result<Action, LoadError> {
    let widths: Vec<u32> = action.runtime_data.iter().map(|data| data.width_bits).collect();
    let start = code.len() as u32;
    load_calls(names, &widths, &action.primitives, code)?;
    let limbs = match widths.len() {
        0 => 0,
        count => {
            let (at, limbs) = param_limbs(&widths, count - 1);
            (at + limbs) as usize
        }
    };
    let params = action.runtime_data.iter().map(|data| (data.name.clone(), data.width_bits));
    let sources = action.primitives.iter().map(|call| call.source_info.clone());
    Ok(Action {
        name: action.name.clone(),
        params: params.collect(),
        limbs,
        start,
        end: code.len() as u32,
        primitives: sources.collect(),
    })
}

/// Loads a list of primitives to the end of `code`: a step each, and the end.
fn load_calls(
    names: &Names<'_>,
    params: &[u32],
    calls: &[PrimitiveCall],
    code: &mut Vec<Step>,
) -> Result<(), LoadError> {
    let (start, count) = (code.len() as u32, calls.len() as u32);
    for (index, call) in calls.iter().enumerate() {
        let scope = Scope { layout: names.layout, params, registers: names.registers };
        let source = call.source_info.as_ref().map_or(call.operation.clone(), |info| {
            format!("{} at {}:{}", info.source_fragment, info.filename, info.line)
        });
        let here = Here { start, count, index: index as u32 };
        let call_ = Call { names, scope, parameters: &call.parameters, source, here };
        let step = call_.step(&call.operation);
        code.push(step.map_err(|error| error.under(&format!("/primitives/{index}")))?);
    }
    let end = end_of(&mut code[start as usize..]);
    code.truncate(start as usize + end.0);
    code.push(end.1);
    Ok(())
}

/// The step that ends an action, and how many of its steps stay in front of it.
fn end_of(steps: &mut [Step]) -> (usize, Step) {
    let jumps = |step: &Step| matches!(step, Step::Jump { .. } | Step::JumpUnless { .. });
    // A jump goes to the position of a primitive, which must be there then.
    if steps.iter().any(jumps) {
        return (steps.len(), Step::Return);
    }
    let as_move = |step: &Step| match step {
        Step::Move(one) => Some(*one),
        _ => None,
    };
    let mut moves: Vec<Move> = steps.iter().rev().map_while(as_move).collect();
    moves.reverse();
    match moves.len() {
        0 => (steps.len(), Step::Return),
        count => (steps.len() - count, Step::Finish { moves: moves.into() }),
    }
}

impl Call<'_> {
    fn step(&self, operation: &str) -> Result<Step, LoadError> {
        if let Some(step) = self.arithmetic(operation)? {
            return Ok(step);
        }
        if let Some(step) = self.header_step(operation)? {
            return Ok(step);
        }
        if let Some(step) = self.extern_step(operation)? {
            return Ok(step);
        }
        if let Some(step) = self.register_step(operation)? {
            return Ok(step);
        }
        if let Some(step) = self.fate_step(operation)? {
            return Ok(step);
        }
        Ok(match operation {
            "_jump" => {
                self.count(1)?;
                Step::Jump { to: self.jump_target(0)? }
            }
            "_jump_if_zero" => {
                self.count(2)?;
                Step::JumpUnless { condition: self.truth(0)?, to: self.jump_target(1)? }
            }
            "assert" | "assume" => {
                self.count(1)?;
                Step::Assert { condition: self.truth(0)?, what: self.source.clone() }
            }
            "exit" => {
                self.count(0)?;
                Step::Exit
            }
            "log_msg" => self.log()?,
            "no_op" => Step::Jump { to: self.here.start + self.here.index + 1 },
            _ => {
                let message = format!("there is no primitive \"{operation}\" in v1model's switch");
                return Err(LoadError::new("/op", message));
            }
        })
    }

    /// Primitives that decide what becomes of the packet.
    fn fate_step(&self, operation: &str) -> Result<Option<Step>, LoadError> {
        Ok(Some(Step::Request(match operation {
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                self.count(2)?;
                Request::Clone { session: self.number(0)?, field_list: self.number(1)? }
            }
            "drop" => {
                self.count(0)?;
                let known = |header, field| self.names.layout.known(header, field);
                Request::Drop {
                    egress_spec: known("standard_metadata", "egress_spec"),
                    group: known("intrinsic_metadata", "mcast_grp"),
                }
            }
            "mark_to_drop" => {
                let header = match self.parameters {
                    [] => "standard_metadata".to_owned(),
                    [Parameter::Expression(Expression::Header(name))] => name.clone(),
                    _ => return Err(self.refuse(0, "the standard metadata")),
                };
                let known = |field| self.names.layout.known(&header, field);
                Request::Drop { egress_spec: known("egress_spec"), group: known("mcast_grp") }
            }
            "generate_digest" => {
                self.count(2)?;
                Request::Digest { list: self.number(1)? }
            }
            "recirculate" => {
                self.count(1)?;
                Request::Recirculate { field_list: self.number(0)? }
            }
            "set_rank" => {
                self.count(1)?;
                Request::Rank { rank: self.number(0)? }
            }
            "resubmit" => {
                self.count(1)?;
                Request::Resubmit { field_list: self.number(0)? }
            }
            "truncate" => {
                self.count(1)?;
                Request::Truncate { length: self.number(0)? }
            }
            _ => return Ok(None),
        })))
    }

    /// Primitives that give a field the value of an expression.
    fn arithmetic(&self, operation: &str) -> Result<Option<Step>, LoadError> {
        use BinaryOperator as Op;
        let three = |operator| -> Result<Expression, LoadError> {
            self.count(3)?;
            Ok(binary(operator, self.expression(1)?, self.expression(2)?))
        };
        let in_place = |operator| -> Result<Expression, LoadError> {
            self.count(2)?;
            Ok(binary(operator, self.expression(0)?, self.expression(1)?))
        };
        let value = match operation {
            "assign" | "modify_field" => {
                self.count(2)?;
                self.expression(1)?
            }
            "add" => three(Op::Add)?,
            "add_to_field" => in_place(Op::Add)?,
            "bit_and" => three(Op::BitAnd)?,
            "bit_or" => three(Op::BitOr)?,
            "bit_xor" => three(Op::BitXor)?,
            "shift_left" => three(Op::ShiftLeft)?,
            "shift_right" => three(Op::ShiftRight)?,
            "subtract" => three(Op::Subtract)?,
            "subtract_from_field" => in_place(Op::Subtract)?,
            _ => return Ok(None),
        };
        self.assign(&value).map(Some)
    }

    /// Gives parameter 0 a value.
    fn assign(&self, value: &Expression) -> Result<Step, LoadError> {
        let value = match is_condition(value) {
            true => &Expression::Unary {
                operator: bmv2::UnaryOperator::BoolToData,
                operand: Box::new(value.clone()),
            },
            false => value,
        };
        let under = |error: LoadError| error.under("/parameters/1");
        // A field that saturates is rare enough for the general path.
        if let Some(field) = self.saturating_field(0)? {
            let operator = match field.signed {
                true => BinaryOperator::SaturateSigned,
                false => BinaryOperator::SaturateUnsigned,
            };
            let width = Expression::Hex(Int::from(field.place.width()));
            let clamped = binary(operator, value.clone(), width);
            let value = self.scope.wide(&clamped).map_err(under)?;
            let to = Destination::Place(field.place);
            return Ok(Step::Assign(Assign::SetWide { to, value }));
        }
        let to = self.destination(0)?;
        let narrow = self.scope.number(value).map_err(under)?;
        Ok(match (to, narrow) {
            (Destination::Cell(to), Some(value)) => {
                let value = value.low_bits(to.width);
                match value.short() {
                    Some(short) => Step::Move(Move::new(to, self.names.layout.alone(to), short)),
                    None => Step::SetCell { to, value },
                }
            }
            (Destination::Found { header, field: Place::Cell(field) }, Some(value)) => {
                Step::Assign(Assign::SetFound { header, field, value })
            }
            (to, _) => match (to, self.scope.wide(value).map_err(under)?) {
                (Destination::Place(Place::Bits(to)), Wide::Bits { bits: from, .. })
                    if to.width == from.width =>
                {
                    Step::Assign(Assign::CopyBits { to, from })
                }
                (to, value) => Step::Assign(Assign::SetWide { to, value }),
            },
        })
    }

    /// Primitives on headers, stacks and unions.
    fn header_step(&self, operation: &str) -> Result<Option<Step>, LoadError> {
        Ok(Some(Step::Header(match operation {
            "add_header" | "add_header_fast" => {
                self.count(1)?;
                HeaderStep::Add { header: self.header(0)?, clear: operation == "add_header" }
            }
            "remove_header" => {
                self.count(1)?;
                HeaderStep::Remove { header: self.header(0)? }
            }
            "assign_header" | "copy_header" => {
                self.count(2)?;
                let (to, from) = (self.header(0)?, self.header(1)?);
                if self.kind(&to)? != self.kind(&from)? {
                    return Err(self.refuse(1, "a header of the same type"));
                }
                HeaderStep::Copy { to, from }
            }
            "assign_union" => {
                self.count(2)?;
                let union = |index| self.scope.union(&self.expression(index)?);
                HeaderStep::CopyUnion { to: union(0)?, from: union(1)? }
            }
            "assign_header_stack" => {
                self.count(2)?;
                let (to, from) = (self.stack(0)?, self.stack(1)?);
                let [left, right] =
                    [to, from].map(|stack| &self.names.layout.stacks[stack as usize]);
                if left.kind != right.kind || left.headers.len() != right.headers.len() {
                    return Err(self.refuse(1, "a stack of the same type"));
                }
                HeaderStep::CopyStack { to, from }
            }
            "assign_union_stack" => {
                self.count(2)?;
                HeaderStep::CopyUnionStack { to: self.union_stack(0)?, from: self.union_stack(1)? }
            }
            "assign_VL" => {
                self.count(2)?;
                let variable = |index: usize| match self.expression(index)? {
                    Expression::Field(field) => match self.names.layout.field(&field)?.place {
                        Place::Variable(variable) => Ok(variable),
                        _ => Err(self.refuse(index, "a field of variable length")),
                    },
                    _ => Err(self.refuse(index, "a field of variable length")),
                };
                let (to, from) = (variable(0)?, variable(1)?);
                return Ok(Some(Step::Assign(Assign::CopyVariable { to, from })));
            }
            "push" | "pop" => {
                self.count(2)?;
                let count = self.number(1)?;
                let of_unions = matches!(self.expression(0)?, Expression::HeaderUnionStack(_));
                match (operation, of_unions) {
                    ("push", false) => HeaderStep::Push { stack: self.stack(0)?, count },
                    ("push", true) => HeaderStep::PushUnions { stack: self.union_stack(0)?, count },
                    (_, false) => HeaderStep::Pop { stack: self.stack(0)?, count },
                    (_, true) => HeaderStep::PopUnions { stack: self.union_stack(0)?, count },
                }
            }
            _ => return Ok(None),
        })))
    }

    /// Primitives on registers.
    fn register_step(&self, operation: &str) -> Result<Option<Step>, LoadError> {
        Ok(Some(match operation {
            "register_read" => {
                self.count(3)?;
                let (array, width) = self.register(1)?;
                let index = self.number(2)?;
                match self.destination(0)? {
                    Destination::Cell(to) if width <= 64 => {
                        Step::RegisterReadNarrow { to, array, index }
                    }
                    to => Step::Extern(ExternStep::RegisterRead { to, array, index }),
                }
            }
            "register_write" => {
                self.count(3)?;
                let (array, width) = self.register(0)?;
                let (index, value) = (self.number(1)?, self.expression(2)?);
                match self.scope.number(&value)? {
                    Some(value) if width <= 64 => Step::RegisterWriteNarrow { array, index, value },
                    _ => {
                        let value = self.scope.wide(&value)?;
                        Step::Extern(ExternStep::RegisterWrite { array, index, value })
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Primitives on counters, meters, hashes and random numbers.
    fn extern_step(&self, operation: &str) -> Result<Option<Step>, LoadError> {
        let names = self.names;
        Ok(Some(match operation {
            "count" => {
                self.count(2)?;
                let array = self.array(0, "counter array", names.counters)?;
                Step::Count { array, index: self.number(1)? }
            }
            "execute_meter" => {
                self.count(3)?;
                let array = self.array(0, "meter array", names.meters)?;
                let (index, to) = (self.number(1)?, self.destination(2)?);
                Step::Extern(ExternStep::Meter { array, index, to, numbering: Colors::Bmv2 })
            }
            "_Counter_count" => {
                self.count(2)?;
                let array = self.array(0, "Counter", names.counters)?;
                Step::Count { array, index: self.number(1)? }
            }
            "_Meter_execute" => {
                let before = match self.parameters.len() {
                    4 => Some(Box::new(self.number(3)?)),
                    _ => self.count(3).map(|()| None)?,
                };
                let array = self.array(0, "Meter", names.meters)?;
                let (index, to) = (self.number(1)?, self.destination(2)?);
                let numbering = Colors::Psa { before };
                Step::Extern(ExternStep::Meter { array, index, to, numbering })
            }
            "modify_field_with_hash_based_offset" => {
                self.count(4)?;
                Step::Extern(ExternStep::Hash {
                    to: self.destination(0)?,
                    base: self.number(1)?,
                    calculation: self.array(2, "calculation", names.calculations)?,
                    size: self.number(3)?,
                })
            }
            "modify_field_rng_uniform" => {
                self.count(3)?;
                let to = self.destination(0)?;
                Step::Extern(ExternStep::Random { to, low: self.number(1)?, high: self.number(2)? })
            }
            _ => match QueueFunction::named(operation) {
                Some(function) => Step::Extern(self.queues_step(function)?),
                None => return Ok(self.instance_step(operation)?.map(Step::Extern)),
            },
        }))
    }

    /// A read of the queues: its inputs, then the targets of the two results.
    fn queues_step(&self, function: QueueFunction) -> Result<ExternStep, LoadError> {
        let count = function.inputs().len();
        self.count(count + 2)?;
        Ok(ExternStep::Queues(Box::new(QueuesStep {
            function,
            inputs: (0..count).map(|index| self.number(index)).collect::<Result<_, _>>()?,
            to: [self.destination(count)?, self.destination(count + 1)?],
        })))
    }

    /// Methods of extern instances; parameter 0 is the instance.
    fn instance_step(&self, operation: &str) -> Result<Option<ExternStep>, LoadError> {
        use InstanceKind::{Checksum, Hash, InternetChecksum};
        let parts = operation.strip_prefix('_').and_then(|operation| operation.split_once('_'));
        let parts = parts.and_then(|(kind, method)| Some((InstanceKind::named(kind)?, method)));
        let Some((kind, method)) = parts else { return Ok(None) };
        // The words of one's complement sums have 16 bits.
        let word_bits = if kind == InternetChecksum { 16 } else { 8 };
        let data = |index: usize| {
            let list = self.parameters.get(index).ok_or_else(|| self.refuse(index, "fields"))?;
            recipe(self.names.layout, list, word_bits)
                .map_err(|error| error.under(&format!("/parameters/{index}")))
        };
        let does = match (kind, method) {
            (Hash, "get_hash") => {
                self.count(3)?;
                InstanceStep::Hash { to: self.destination(1)?, data: data(2)?, range: None }
            }
            (Hash, "get_hash_mod") => {
                self.count(5)?;
                let range = Some([self.number(2)?, self.number(4)?]);
                InstanceStep::Hash { to: self.destination(1)?, data: data(3)?, range }
            }
            (Checksum, "update") | (InternetChecksum, "add") => {
                self.count(2)?;
                InstanceStep::Take { data: data(1)?, is_added: true }
            }
            (InternetChecksum, "subtract") => {
                self.count(2)?;
                InstanceStep::Take { data: data(1)?, is_added: false }
            }
            (Checksum | InternetChecksum, "clear") => {
                self.count(1)?;
                InstanceStep::Clear
            }
            (Checksum | InternetChecksum, "get") => {
                self.count(2)?;
                InstanceStep::Value { to: self.destination(1)?, asked: Asked::Checksum }
            }
            (Checksum | InternetChecksum, "get_verify") => {
                self.count(3)?;
                let expected = self.number(2)?;
                InstanceStep::Verify { to: self.destination(1)?, expected }
            }
            (InternetChecksum, "get_state") => {
                self.count(2)?;
                InstanceStep::Value { to: self.destination(1)?, asked: Asked::State }
            }
            (InternetChecksum, "set_state") => {
                self.count(2)?;
                InstanceStep::SetState { state: self.number(1)? }
            }
            _ => return Ok(None),
        };
        let instance = self.instance(0, kind)?;
        Ok(Some(ExternStep::Instance { instance, does: Box::new(does) }))
    }

    /// The number of an extern instance, which must be of the kind that has the method.
    fn instance(&self, index: usize, kind: InstanceKind) -> Result<u32, LoadError> {
        let names: Vec<String> =
            self.names.instances.iter().map(|(name, _)| name.clone()).collect();
        let instance = self.array(index, "extern instance", &names)?;
        match &self.names.instances[instance as usize] {
            (_, found) if *found == kind => Ok(instance),
            (name, found) => {
                let (kind, found) = (kind.name(), found.name());
                let expected = format!("an instance of {kind}; \"{name}\" is one of {found}");
                Err(self.refuse(index, &expected))
            }
        }
    }

    /// `log_msg(format, [values])`: `{}` stands for a value, `\{` for a brace.
    fn log(&self) -> Result<Step, LoadError> {
        let (format, values) = match self.parameters {
            [Parameter::String(format), Parameter::Vector(values)] => (format, values.as_slice()),
            [Parameter::String(format)] => (format, [].as_slice()),
            _ => return Err(self.refuse(0, "a format string and a list of values")),
        };
        let mut parts = Vec::new();
        let mut pieces = format.split("{}");
        let unescape = |text: &str| LogPart::Text(text.replace("\\{", "{").replace("\\}", "}"));
        parts.extend(pieces.next().map(unescape));
        for (index, piece) in pieces.enumerate() {
            let value = values.get(index).ok_or_else(|| self.refuse(1, "a value for each {}"))?;
            let value = self.value_of(value, 1)?;
            parts.push(LogPart::Value(self.scope.wide(&value)?));
            parts.push(unescape(piece));
        }
        Ok(Step::Request(Request::Log { parts }))
    }

    fn count(&self, expected: usize) -> Result<(), LoadError> {
        match self.parameters.len() {
            found if found == expected => Ok(()),
            found => {
                let message = format!("the primitive takes {expected} parameters, not {found}");
                Err(LoadError::new("/parameters", message))
            }
        }
    }

    fn refuse(&self, index: usize, expected: &str) -> LoadError {
        LoadError::new(format!("/parameters/{index}"), format!("expected {expected}"))
    }

    fn value_of(&self, parameter: &Parameter, index: usize) -> Result<Expression, LoadError> {
        match parameter {
            Parameter::Expression(expression) => Ok(expression.clone()),
            Parameter::RuntimeData(index) => Ok(Expression::Local(*index)),
            _ => Err(self.refuse(index, "an expression")),
        }
    }

    fn expression(&self, index: usize) -> Result<Expression, LoadError> {
        match self.parameters.get(index) {
            Some(parameter) => self.value_of(parameter, index),
            None => Err(self.refuse(index, "an expression")),
        }
    }

    fn number(&self, index: usize) -> Result<Number, LoadError> {
        let expression = self.expression(index)?;
        let number = match is_condition(&expression) {
            true => self.scope.condition(&expression).map(|holds| Number::Bool(Box::new(holds))),
            false => self.scope.index(&expression),
        };
        number.map_err(|error| error.under(&format!("/parameters/{index}")))
    }

    /// The step a jump goes to: that of a primitive of the same list, or its end.
    fn jump_target(&self, index: usize) -> Result<u32, LoadError> {
        let Here { start, count, .. } = self.here;
        match self.number(index)? {
            Number::Const(to) if to <= u64::from(count) => Ok(start + to as u32),
            _ => Err(self.refuse(index, &format!("the position of a primitive, 0 to {count}"))),
        }
    }

    /// A condition: a truth value, or a number that is not 0.
    fn truth(&self, index: usize) -> Result<Condition, LoadError> {
        let expression = self.expression(index)?;
        let condition = match is_condition(&expression) {
            true => self.scope.condition(&expression),
            false => self.scope.condition(&Expression::Unary {
                operator: bmv2::UnaryOperator::DataToBool,
                operand: Box::new(expression),
            }),
        };
        condition.map_err(|error| error.under(&format!("/parameters/{index}")))
    }

    fn header(&self, index: usize) -> Result<HeaderRef, LoadError> {
        let header = self.scope.header(&self.expression(index)?);
        header.map_err(|error| error.under(&format!("/parameters/{index}")))
    }

    fn stack(&self, index: usize) -> Result<u32, LoadError> {
        let stack = self.scope.stack(&self.expression(index)?);
        stack.map_err(|error| error.under(&format!("/parameters/{index}")))
    }

    fn union_stack(&self, index: usize) -> Result<u32, LoadError> {
        match self.expression(index)? {
            Expression::HeaderUnionStack(name) => self.names.layout.union_stack(&name),
            _ => Err(self.refuse(index, "a stack of header unions")),
        }
    }

    /// The type of a header: all headers it can be have the same.
    fn kind(&self, header: &HeaderRef) -> Result<usize, LoadError> {
        let layout = self.names.layout;
        Ok(match header {
            HeaderRef::Known(header) => layout.headers[*header as usize].kind,
            HeaderRef::Last(stack) | HeaderRef::OfStack { stack, .. } => {
                layout.stacks[*stack as usize].kind
            }
            HeaderRef::LastInUnionStack { stack, member }
            | HeaderRef::OfUnionStack { stack, member, .. } => {
                let union = layout.union_stacks[*stack as usize].unions[0];
                let header = layout.unions[union as usize].headers.get(*member as usize);
                let header = header.ok_or_else(|| self.refuse(0, "a member of the union"))?;
                layout.headers[*header as usize].kind
            }
        })
    }

    fn array(&self, index: usize, what: &str, known: &[String]) -> Result<u32, LoadError> {
        let name = match self.parameters.get(index) {
            Some(
                Parameter::Calculation(name)
                | Parameter::CounterArray(name)
                | Parameter::Extern(name)
                | Parameter::MeterArray(name)
                | Parameter::RegisterArray(name),
            ) => name,
            _ => return Err(self.refuse(index, what)),
        };
        let position = known.iter().position(|candidate| candidate == name);
        let names = known.iter().map(String::as_str);
        position
            .map(|position| position as u32)
            .ok_or_else(|| unknown(what, name, names).under(&format!("/parameters/{index}")))
    }

    fn register(&self, index: usize) -> Result<(u32, u32), LoadError> {
        let names: Vec<String> =
            self.names.registers.iter().map(|(name, _)| name.clone()).collect();
        let array = self.array(index, "register array", &names)?;
        Ok((array, self.names.registers[array as usize].1))
    }

    fn saturating_field(&self, index: usize) -> Result<Option<FieldAt>, LoadError> {
        match self.expression(index)? {
            Expression::Field(field) => {
                let found = self.names.layout.field(&field);
                let found = found.map_err(|error| error.under(&format!("/parameters/{index}")))?;
                Ok(Some(found).filter(|field| field.saturating))
            }
            _ => Ok(None),
        }
    }

    /// Something that can be assigned to.
    fn destination(&self, index: usize) -> Result<Destination, LoadError> {
        let under = |error: LoadError| error.under(&format!("/parameters/{index}"));
        let layout = self.names.layout;
        let place = |place: Place| match place {
            Place::Cell(cell) => Destination::Cell(cell),
            other => Destination::Place(other),
        };
        match self.expression(index)? {
            Expression::Field(field) => {
                layout.field(&field).map(|at| place(at.place)).map_err(under)
            }
            Expression::AccessField { header, field } => {
                let header = self.scope.header(&header).map_err(under)?;
                let found = self.scope.found_field(header, field as usize).map_err(under)?;
                Ok(match found {
                    (HeaderRef::Known(header), field, _) => {
                        place(field.at(layout.headers[header as usize].base))
                    }
                    (header, field, _) => Destination::Found { header, field },
                })
            }
            Expression::StackField { stack, field } => {
                let stack = layout.stack(&stack).map_err(under)?;
                let kind = &layout.kinds[layout.stacks[stack as usize].kind];
                let field = kind.fields[kind.field(&field).map_err(under)?].place;
                Ok(Destination::Found { header: HeaderRef::Last(stack), field })
            }
            Expression::Register { array, index: cell } => {
                let mut known = self.names.registers.iter();
                let position = known.position(|(candidate, _)| *candidate == array);
                let position = position.ok_or_else(|| self.refuse(index, "a register array"))?;
                let cell = self.scope.index(&cell).map_err(under)?;
                Ok(Destination::Register { array: position as u32, index: cell })
            }
            _ => Err(self.refuse(index, "a field to assign to")),
        }
    }
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::Binary { operator, left: Box::new(left), right: Box::new(right) }
}

/// Loads the primitives of a parser state or a deparser, which have no parameters.
pub(crate) fn load_routine(
    names: &Names<'_>,
    calls: &[PrimitiveCall],
) -> Result<Routine, LoadError> {
    let mut code = Vec::new();
    load_calls(names, &[], calls, &mut code)?;
    Ok(Routine(code))
}

/// Loads all actions to the end of `code`.
pub(crate) fn load_actions(
    names: &Names<'_>,
    source: &bmv2::Program,
    code: &mut Vec<Step>,
) -> Result<Vec<Action>, LoadError> {
    let loaded = source.actions.iter().enumerate().map(|(index, action)| {
        load_action(names, action, code).map_err(|error| error.under(&format!("/actions/{index}")))
    });
    loaded.collect()
}

/// The number of the action that the JSON gives an id.
pub(crate) fn action_number(source: &bmv2::Program, id: u32) -> Result<usize, LoadError> {
    let position = source.actions.iter().position(|action| action.id == id);
    position.ok_or_else(|| LoadError::new("/action_id", format!("no action has the id {id}")))
}
