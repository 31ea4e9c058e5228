//! Running steps on a packet.
//!
//! [`Machine::run`] is the interpreter; what tables and observers need of it is in `apply`.

use bits::Int;
use tables::Color;
use units::{DropReason, Time};

use super::apply::Ran;
use super::{
    Assign, Colors, Destination, ExternStep, InstanceStep, LogPart, QueuesStep, Request, Routine,
    Step,
};
use crate::expression::{Condition, Number, View};
use crate::externs::Externs;
use crate::fate::CloneRequest;
use crate::instances::Asked;
use crate::layout::Layout;
use crate::native::{Interpreter, Native, Point};
use crate::nodes::END;
use crate::observe::{Event, Observe};
use crate::packet::Body;
use crate::place::Cell;
use crate::profile::Chosen;
use crate::program::Program;
use crate::state::RegisterArray;
use crate::table::Applied;

/// The most rounds of loops that a packet takes in one control, all its loops together. With one more
/// it is dropped: what a loop has done half is not sent.
pub const ROUNDS_MAX: u32 = 10_000;

/// Where a control is.
struct Flow<'a> {
    /// The next step, and the step after the action that runs.
    point: Point,
    params: &'a [u64],
    /// How many rounds of loops it has taken.
    rounds: u32,
}

impl<'a> Flow<'a> {
    fn new(start: u32) -> Flow<'a> {
        Flow { point: Point { at: start, after: END }, params: &[], rounds: 0 }
    }

    /// The step to do, unless the control has ended; the one behind it is next.
    #[inline(always)]
    fn next<'c>(&mut self, code: &'c [Step]) -> Option<&'c Step> {
        let step = code.get(self.point.at as usize);
        self.point.at = self.point.at.wrapping_add(1);
        step
    }

    /// An action begins.
    #[inline(always)]
    fn enter(&mut self, ran: Ran<'a>) {
        self.point = Point { at: ran.start, after: ran.next };
        self.params = ran.params;
    }

    /// An action has ended.
    #[inline(always)]
    fn end(&mut self) {
        self.point.at = self.point.after;
    }

    /// Goes to a step of the same action. Back is another round of a loop; false if that is one too
    /// many, and the control has ended.
    #[inline(always)]
    #[must_use]
    fn jump(&mut self, to: u32) -> bool {
        self.rounds += u32::from(to < self.point.at);
        let goes_on = self.rounds <= ROUNDS_MAX;
        self.point =
            if goes_on { Point { at: to, ..self.point } } else { Point { at: END, after: END } };
        goes_on
    }
}

/// Everything an action can touch.
pub(crate) struct Machine<'a, O: Observe> {
    pub program: &'a Program,
    pub externs: &'a mut Externs,
    pub packet: &'a mut Body,
    /// How far behind the packet's position a parser is.
    pub parsed: usize,
    /// Tables and action profiles; none for parsers and deparsers, which apply no table.
    pub tables: &'a [Applied],
    pub profiles: &'a [Chosen],
    /// Room for two keys.
    pub key_scratch: &'a mut [u64],
    pub now: Time,
    pub observer: &'a mut O,
}

impl<'a, O: Observe> Machine<'a, O> {
    /// An action's view of a packet outside of the controls.
    #[inline(always)]
    pub fn new(
        program: &'a Program,
        externs: &'a mut Externs,
        packet: &'a mut Body,
        now: Time,
        observer: &'a mut O,
    ) -> Machine<'a, O> {
        Machine {
            program,
            externs,
            packet,
            parsed: 0,
            tables: &[],
            profiles: &[],
            key_scratch: &mut [],
            now,
            observer,
        }
    }

    pub(super) fn layout(&self) -> &'a Layout {
        &self.program.layout
    }

    /// The view of expressions.
    #[inline(always)]
    pub fn view<'b>(&'b self, params: &'b [u64]) -> View<'b> {
        View {
            layout: &self.program.layout,
            area: &self.packet.area,
            params,
            registers: &self.externs.registers,
        }
    }

    /// Runs the program's steps from `start` on until the control ends.
    pub fn run(&mut self, start: u32) {
        let (program, mut flow) = (self.program, Flow::new(start));
        while let Some(step) = flow.next(&program.code) {
            if O::ENABLED {
                self.note_primitives(flow.point.at.wrapping_sub(1), step);
            }
            self.interpret(step, &mut flow);
        }
    }

    /// The same by machine code, which calls for every step that it does not know.
    pub fn run_native(&mut self, native: &dyn Native, start: u32) {
        native.control(start, &mut Called { machine: self, params: &[], rounds: 0 });
    }

    /// Does one step.
    ///
    /// This is the innermost code of the switch: everything frequent is done here, by steps that
    /// hold all they need; the rest is a call away.
    #[inline(always)]
    fn interpret(&mut self, step: &Step, flow: &mut Flow<'a>) {
        match step {
            Step::Test { subject, next, settles, name } => {
                let succeeds = usize::from(subject.holds(&self.packet.area));
                self.note_condition(*name, settles[succeeds]);
                flow.point.at = next[succeeds];
            }
            Step::If { condition, next, name } => {
                let holds = self.holds(condition, flow.params);
                self.note_condition(*name, Some(holds));
                flow.point.at = next[usize::from(holds)];
            }
            Step::Apply { table } => {
                let table = &self.tables[*table as usize];
                let entry = table.find(&self.packet.area, self.key_scratch);
                flow.enter(self.apply(table, entry));
            }
            Step::Call { action, next } => {
                self.enter(*action as usize, &[]);
                let start = self.program.actions[*action as usize].start;
                flow.enter(Ran { start, params: &[], next: *next });
            }
            Step::Return => {
                self.leave();
                flow.end();
            }
            Step::Finish { moves } => {
                for one in moves {
                    one.run(&mut self.packet.area, flow.params);
                }
                self.leave();
                flow.end();
            }
            Step::Exit => flow.point.after = END,
            Step::Jump { to } => self.jump(flow, *to),
            Step::JumpUnless { condition, to } => {
                if !self.holds(condition, flow.params) {
                    self.jump(flow, *to);
                }
            }
            Step::Assert { condition, what } => {
                if !self.holds(condition, flow.params) {
                    self.fail(what);
                    flow.point.after = END;
                }
            }
            Step::Move(one) => one.run(&mut self.packet.area, flow.params),
            Step::SetCell { to, value } => {
                let value = self.number(value, flow.params);
                to.store(&mut self.packet.area, value);
            }
            Step::RegisterReadNarrow { to, array, index } => {
                self.read_register(*to, *array, index, flow.params);
            }
            Step::RegisterWriteNarrow { array, index, value } => {
                self.write_register(*array, index, value, flow.params);
            }
            Step::Count { array, index } => {
                let index = self.number(index, flow.params);
                self.externs.count(*array, index, self.packet.ingress_length);
            }
            Step::Assign(step) => self.assign(step, flow.params),
            Step::Extern(step) => self.use_extern(step, flow.params),
            Step::Header(step) => self.change_headers(step, flow.params),
            Step::Request(step) => self.request(step, flow.params),
        }
    }

    #[inline(always)]
    fn jump(&mut self, flow: &mut Flow<'a>, to: u32) {
        if !flow.jump(to) {
            self.stop_loop();
        }
    }

    /// A register of up to 64 bits goes to a field; one beyond the end leaves it alone.
    #[inline(always)]
    fn read_register(&mut self, to: Cell, array: u32, index: &Number, params: &[u64]) {
        let index = self.number(index, params);
        if let Some(value) = self.externs.registers[array as usize].read_low(index) {
            to.store(&mut self.packet.area, value);
        }
    }

    /// The other way; an index beyond the end writes nothing, as in simple_switch.
    #[inline(always)]
    fn write_register(&mut self, array: u32, index: &Number, value: &Number, params: &[u64]) {
        let (index, value) = (self.number(index, params), self.number(value, params));
        self.externs.registers[array as usize].write_low(index, value);
    }

    /// Runs steps that stand alone.
    pub fn run_routine(&mut self, routine: &Routine) {
        let mut flow = Flow::new(0);
        while let Some(step) = flow.next(&routine.0) {
            self.interpret(step, &mut flow);
        }
    }

    /// A condition; the frequent form here.
    #[inline(always)]
    pub fn holds(&self, condition: &Condition, params: &[u64]) -> bool {
        match condition {
            Condition::Decision(decision) => decision.holds(&self.packet.area),
            other => other.holds(&self.view(params)),
        }
    }

    /// A number modulo 2^64; the frequent forms here.
    #[inline(always)]
    fn number(&self, number: &Number, params: &[u64]) -> u64 {
        match number {
            Number::Cell(cell) => cell.load(&self.packet.area),
            Number::Const(value) => *value,
            Number::Param(index) => params[*index as usize],
            other => other.value(&self.view(params)),
        }
    }

    /// Assignments that are more than a number put into a window.
    #[inline(never)]
    fn assign(&mut self, step: &Assign, params: &[u64]) {
        match step {
            Assign::CopyBits { to, from } => {
                if to.bit == from.bit && to.bit == 0 && to.width % 8 == 0 {
                    let (from, length) = (from.offset as usize, to.width as usize / 8);
                    self.packet.area.copy_within(from..from + length, to.offset as usize);
                } else {
                    let value = from.load(&self.packet.area);
                    to.store(&mut self.packet.area, &value);
                }
            }
            Assign::CopyVariable { to, from } => {
                let bytes = from.bytes(&self.packet.area);
                let (start, length) = (from.offset as usize, bytes.len().min(to.size as usize));
                self.packet.area.copy_within(start..start + length, to.offset as usize);
                to.length.store(&mut self.packet.area, length as u64 * 8);
            }
            Assign::SetFound { header, field, value } => {
                let view = self.view(params);
                if let Some(header) = header.find(&view) {
                    let value = value.value(&view);
                    let base = self.layout().headers[header as usize].base;
                    field.at(base).store(&mut self.packet.area, value);
                }
            }
            Assign::SetWide { to, value } => {
                let value = value.value(&self.view(params));
                self.store(to, &value, params);
            }
        }
    }

    /// An assertion does not hold: the packet goes no further.
    #[cold]
    fn fail(&mut self, what: &str) {
        self.packet.requests.stopped = Some(DropReason::Assertion);
        self.observer.event(|| Event::AssertionFailed { what: what.to_owned() });
    }

    /// A loop has gone round too often: the packet goes no further.
    #[cold]
    fn stop_loop(&mut self) {
        self.packet.requests.stopped = Some(DropReason::LoopLimit);
    }

    /// Steps that request something.
    #[inline(never)]
    fn request(&mut self, step: &Request, params: &[u64]) {
        let view = self.view(params);
        match step {
            Request::Clone { session, field_list } => {
                let session = session.value(&view) as u32 & 0x7fff;
                let field_list = field_list.value(&view) as u32;
                self.packet.requests.clone = Some(CloneRequest { session, field_list });
            }
            Request::Digest { list } => self.packet.requests.digest = list.value(&view) as u32,
            Request::Drop { egress_spec, group } => {
                if let Some(cell) = egress_spec {
                    cell.store(&mut self.packet.area, self.program.drop_port.0.into());
                }
                if let Some(cell) = group {
                    cell.store(&mut self.packet.area, 0);
                }
            }
            Request::Log { parts } => {
                let text = |part: &LogPart| match part {
                    LogPart::Text(text) => text.clone(),
                    LogPart::Value(value) => value.value(&view).to_string(),
                };
                if O::ENABLED {
                    let text: String = parts.iter().map(text).collect();
                    self.observer.event(|| Event::Log { text });
                }
            }
            Request::Rank { rank } => self.packet.rank = rank.value(&view) as u32,
            Request::Recirculate { field_list } => {
                self.packet.requests.recirculate = field_list.value(&view) as u32;
            }
            Request::Resubmit { field_list } => {
                self.packet.requests.resubmit = field_list.value(&view) as u32;
            }
            Request::Truncate { length } => {
                let length = usize::try_from(length.value(&view)).unwrap_or(usize::MAX);
                self.packet.truncated_to = self.packet.truncated_to.min(length);
            }
        }
    }

    /// Steps on counters, meters, registers, hashes and random numbers.
    #[inline(never)]
    fn use_extern(&mut self, step: &ExternStep, params: &[u64]) {
        let view = self.view(params);
        match step {
            ExternStep::Hash { to, base, calculation, size } => {
                // simple_switch takes a size of 0 for 1.
                let (base, size) = (base.value(&view), size.value(&view).max(1));
                let hash = self.hash(*calculation);
                self.store_low(to, (hash % size).wrapping_add(base), params);
            }
            ExternStep::Instance { instance, does } => self.instance(*instance, does, params),
            ExternStep::Meter { array, index, to, numbering } => {
                let index = index.value(&view) as usize;
                let before = match numbering {
                    Colors::Psa { before: Some(before) } => Color::of_psa(before.value(&view)),
                    _ => Color::Green,
                };
                let array = &mut self.externs.meters[*array as usize];
                let amount = array.unit.amount(self.packet.ingress_length);
                let Some(meter) = array.meters.get_mut(index) else { return };
                let color = meter.color_aware(amount, self.now, before);
                let number = match numbering {
                    Colors::Bmv2 => color as u64,
                    Colors::Psa { .. } => color.in_psa(),
                };
                self.store_low(to, number, params);
            }
            ExternStep::Queues(step) => self.read_queues(step, params),
            ExternStep::Random { to, low, high } => {
                let (low, high) = (low.value(&view), high.value(&view));
                if low <= high {
                    let value = self.externs.chance.between(low, high);
                    self.store_low(to, value, params);
                }
            }
            ExternStep::RegisterRead { to, array, index } => {
                let value = self.externs.registers[*array as usize].read(index.value(&view));
                if let Some(value) = value {
                    self.store(to, &value, params);
                }
            }
            ExternStep::RegisterWrite { array, index, value } => {
                let (index, value) = (index.value(&view), value.value(&view));
                // An index beyond the end writes nothing, as in simple_switch.
                let _ = self.externs.registers[*array as usize].write(index, &value);
            }
        }
    }

    /// A read of the queues.
    fn read_queues(&mut self, step: &QueuesStep, params: &[u64]) {
        let QueuesStep { function, inputs, to } = step;
        let view = self.view(params);
        let mut asked = [0; 3];
        asked.iter_mut().zip(inputs).for_each(|(asked, input)| *asked = input.value(&view));
        let told = match (self.observer.queues(), function.read(asked)) {
            (Some(queues), Some(read)) => queues.read(read),
            _ => [0; 2],
        };
        let named = |names: &[&str], values: &[u64]| {
            names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        self.observer.event(|| Event::QueueRead {
            function: function.name().to_owned(),
            inputs: named(function.inputs(), &asked),
            outputs: named(&function.outputs(), &told),
        });
        to.iter().zip(told).for_each(|(to, value)| self.store_low(to, value, params));
    }

    /// A method of an extern instance.
    fn instance(&mut self, instance: u32, step: &InstanceStep, params: &[u64]) {
        let (program, packet) = (self.program, &*self.packet);
        let view = View {
            layout: &program.layout,
            area: &packet.area,
            params,
            registers: &self.externs.registers,
        };
        let number = |number: &Number| number.value(&view);
        let (to, value) = match step {
            InstanceStep::SetState { state } => {
                let state = number(state);
                return self.externs.instances[instance as usize].set_state(state);
            }
            InstanceStep::Hash { to, data, range } => {
                let range = range.as_ref().map(|[base, size]| (number(base), number(size).max(1)));
                let Externs { hash_input, instances, .. } = &mut *self.externs;
                data.gather(&program.layout, &packet.area, &[], hash_input);
                let hash = instances[instance as usize].hash(hash_input);
                (to, range.map_or(hash, |(base, size)| (hash % size).wrapping_add(base)))
            }
            InstanceStep::Take { data, is_added } => {
                let Externs { hash_input, instances, .. } = &mut *self.externs;
                data.gather(&program.layout, &packet.area, &[], hash_input);
                return instances[instance as usize].take(hash_input, *is_added);
            }
            InstanceStep::Clear => return self.externs.instances[instance as usize].clear(),
            InstanceStep::Value { to, asked } => {
                (to, self.externs.instances[instance as usize].value(*asked))
            }
            InstanceStep::Verify { to, expected } => {
                let expected = number(expected);
                let found = self.externs.instances[instance as usize].value(Asked::Checksum);
                (to, u64::from(found == expected))
            }
        };
        self.store_low(to, value, params);
    }

    /// The hash of a calculation over the packet.
    pub fn hash(&mut self, calculation: u32) -> u64 {
        let calculation = &self.program.calculations[calculation as usize];
        let Externs { hash_input, hashes, .. } = &mut *self.externs;
        if let Some(words) = calculation.recipe.words() {
            return words.checksum16(&self.packet.area, || self.packet.behind(self.parsed)).into();
        }
        let payload = self.packet.behind(self.parsed);
        calculation.recipe.gather(&self.program.layout, &self.packet.area, payload, hash_input);
        hashes[calculation.hash].of(hash_input)
    }

    fn store_low(&mut self, to: &Destination, value: u64, params: &[u64]) {
        match to {
            Destination::Cell(cell) => cell.store(&mut self.packet.area, value),
            other => self.store(other, &Int::from(value), params),
        }
    }

    fn store(&mut self, to: &Destination, value: &Int, params: &[u64]) {
        match to {
            Destination::Cell(cell) => cell.store(&mut self.packet.area, value.low_u64()),
            Destination::Found { header, field } => {
                if let Some(header) = header.find(&self.view(params)) {
                    let base = self.layout().headers[header as usize].base;
                    field.at(base).store(&mut self.packet.area, value);
                }
            }
            Destination::Place(place) => place.store(&mut self.packet.area, value),
            Destination::Register { array, index } => {
                let index = index.value(&self.view(params));
                let _ = self.externs.registers[*array as usize].write(index, value);
            }
        }
    }
}

/// The interpreter while machine code runs a control.
struct Called<'m, 'a, O: Observe> {
    machine: &'m mut Machine<'a, O>,
    /// Those of [`Flow`]; its point is with the machine code.
    params: &'a [u64],
    rounds: u32,
}

impl<'a, O: Observe> Interpreter<'a> for Called<'_, 'a, O> {
    fn memory(&mut self) -> (&mut [u8], &mut [RegisterArray]) {
        let Machine { packet, externs, .. } = &mut *self.machine;
        (&mut packet.area, &mut externs.registers)
    }

    /// A table is looked up with the key that machine code has built.
    ///
    /// The point is not kept in between: what is written in halves and read as a whole is waited for.
    fn step(&mut self, point: Point, key: u64) -> (Point, &'a [u64]) {
        let Called { machine, params, rounds } = self;
        let step = &machine.program.code[point.at as usize];
        let point = Point { at: point.at + 1, after: point.after };
        let mut flow = Flow { point, params, rounds: *rounds };
        match step {
            Step::Apply { table } => {
                let table = &machine.tables[*table as usize];
                let entry = table.find_keyed(key, &machine.packet.area, machine.key_scratch);
                flow.enter(machine.apply(table, entry));
            }
            other => machine.interpret(other, &mut flow),
        }
        (*params, *rounds) = (flow.params, flow.rounds);
        (flow.point, flow.params)
    }
}
