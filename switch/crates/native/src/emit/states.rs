//! The parser's states: a block a state.
//!
//! ```text
//!   parse(area, frame, end, at, state | entered << 32) -> (at, state | entered << 32 | done << 48)
//! ```
//!
//! A state first tests whether all the bytes that it reads are there and whether the packet has
//! entered too many states; if so it is left untouched, and the interpreter finds the error. So it
//! does from a part on whose requirement does not hold.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockCall, InstBuilder, JumpTableData, Value, types};
use cranelift_frontend::Variable;
use pipeline::native::{STATES_MAX, State, StatePart, Target, Test};

use super::fields::Part;
use super::{Emitter, memory};

/// Writes the function.
pub(super) fn emit(emitter: &mut Emitter<'_>, states: &[Option<State>]) {
    let [frame, end, at, state] = emitter.arguments[..] else { return };
    let mut parser = Parser::new(emitter, [frame, end], states);
    parser.enter(at, state);
    for (number, state) in states.iter().enumerate() {
        if let Some(state) = state {
            parser.state(number as u32, state);
        }
    }
    parser.leave();
}

/// A parser being written.
struct Parser<'e, 'f> {
    emit: &'e mut Emitter<'f>,
    frame: Value,
    end: Value,
    /// Of the states that are known.
    blocks: Vec<Option<Block>>,
    out: Block,
    at: Variable,
    entered: Variable,
}

impl<'e, 'f> Parser<'e, 'f> {
    fn new(
        emit: &'e mut Emitter<'f>,
        [frame, end]: [Value; 2],
        states: &[Option<State>],
    ) -> Parser<'e, 'f> {
        let mut block = |state: &Option<State>| state.as_ref().map(|_| emit.builder.create_block());
        let blocks = states.iter().map(&mut block).collect();
        let out = emit.builder.create_block();
        // The state that is left, and how many parts of it are done.
        emit.builder.append_block_param(out, types::I32);
        emit.builder.append_block_param(out, types::I32);
        let [at, entered] = [types::I64, types::I32].map(|kind| emit.builder.declare_var(kind));
        Parser { emit, frame, end, blocks, out, at, entered }
    }

    /// Goes to the first state.
    fn enter(&mut self, at: Value, state: Value) {
        let builder = &mut self.emit.builder;
        let high = builder.ins().ushr_imm_s(state, 32);
        let entered = builder.ins().ireduce(types::I32, high);
        let state = builder.ins().ireduce(types::I32, state);
        builder.def_var(self.at, at);
        builder.def_var(self.entered, entered);
        let unknown = builder.create_block();
        let pool = &mut builder.func.dfg.value_lists;
        let mut call = |block: Block| BlockCall::new(block, [], pool);
        let default = call(unknown);
        let known = self.blocks.iter();
        let table: Vec<_> = known.map(|block| call(block.unwrap_or(unknown))).collect();
        let table = builder.create_jump_table(JumpTableData::new(default, &table));
        let _ = builder.ins().br_table(state, table);
        builder.switch_to_block(unknown);
        self.go_out(state, 0);
    }

    fn state(&mut self, number: u32, state: &State) {
        let Some(block) = self.blocks[number as usize] else { return };
        self.emit.builder.switch_to_block(block);
        let start = self.emit.builder.use_var(self.at);
        self.require(number, start, state);
        let from = self.emit.builder.ins().iadd(self.frame, start);
        // No part of a state has parameters.
        let no_params = self.emit.area;
        let mut at = 0;
        for (done, part) in state.parts.iter().enumerate() {
            match part {
                StatePart::Extract(header) => {
                    let to = self.emit.in_area(header.length_bytes, header.base);
                    self.emit.copy(to, (from, at), header.length_bytes);
                    let valid = self.emit.builder.ins().iconst(types::I8, 1);
                    self.emit.store(valid, header.valid);
                    at += header.length_bytes;
                }
                StatePart::LookAhead { to, offset_bytes, length_bytes } => {
                    let value = self.ahead((from, at + offset_bytes), *length_bytes);
                    self.emit.assign(Target::Cell(*to), value);
                }
                StatePart::Set { stores } => self.emit.set(stores, no_params),
                StatePart::Verify(test) => {
                    let next = self.emit.builder.ins().iadd_imm_s(start, i64::from(at));
                    self.emit.builder.def_var(self.at, next);
                    self.verify(number, done, test);
                }
            }
        }
        let next = self.emit.builder.ins().iadd_imm_s(start, i64::from(at));
        self.emit.builder.def_var(self.at, next);
        self.choose(state);
    }

    /// The number in the next `length_bytes` bytes of the frame.
    fn ahead(&mut self, (from, at): (Value, u32), length_bytes: u32) -> Value {
        let kind = Part { first: 0, bytes: length_bytes }.kind();
        let builder = &mut self.emit.builder;
        let value = builder.ins().load(kind, memory(), from, at as i32);
        let value = if length_bytes == 1 { value } else { builder.ins().bswap(value) };
        if length_bytes == 8 { value } else { builder.ins().uextend(types::I64, value) }
    }

    /// Leaves the state, of which this much is done, unless the test succeeds.
    fn verify(&mut self, number: u32, done: usize, test: &Test) {
        let no_params = self.emit.area;
        let holds = self.emit.test(test, no_params);
        let builder = &mut self.emit.builder;
        let [on, fails] = [(); 2].map(|()| builder.create_block());
        let _ = builder.ins().brif(holds, on, &[], fails, &[]);
        builder.switch_to_block(fails);
        if done == 0 {
            // Then it is as if the state had not been entered.
            let entered = builder.use_var(self.entered);
            let before = builder.ins().iadd_imm_s(entered, -1);
            builder.def_var(self.entered, before);
        }
        let number = builder.ins().iconst(types::I32, i64::from(number));
        self.go_out(number, done);
        self.emit.builder.switch_to_block(on);
    }

    /// Goes out unless the state may be entered and all that it reads is there.
    fn require(&mut self, number: u32, start: Value, state: &State) {
        let length = length_read(state);
        let builder = &mut self.emit.builder;
        let [there, inside, refused] = [(); 3].map(|()| builder.create_block());
        let entered = builder.use_var(self.entered);
        let most = i64::from(STATES_MAX);
        let may = builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, entered, most);
        let _ = builder.ins().brif(may, inside, &[], refused, &[]);
        builder.switch_to_block(refused);
        let number = builder.ins().iconst(types::I32, i64::from(number));
        self.go_out(number, 0);
        let builder = &mut self.emit.builder;
        builder.switch_to_block(inside);
        let end = builder.ins().iadd_imm_s(start, i64::from(length));
        let fits = builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, self.end);
        let _ = builder.ins().brif(fits, there, &[], refused, &[]);
        builder.switch_to_block(there);
        let entered = builder.ins().iadd_imm_s(entered, 1);
        builder.def_var(self.entered, entered);
    }

    /// Compares the key.
    fn choose(&mut self, state: &State) {
        let mut key = self.emit.number(0);
        for (number, part) in state.key.iter().enumerate() {
            let part = self.emit.gather(*part);
            key = if number == 0 { part } else { self.emit.builder.ins().bor(key, part) };
        }
        let bits = state.key.iter().fold(0, |bits, part| bits | part.mask);
        for case in &state.cases {
            let compared = match bits & !case.mask {
                0 => key,
                _ => self.emit.masked(key, case.mask),
            };
            let equal =
                self.emit.builder.ins().icmp_imm_s(IntCC::Equal, compared, case.value as i64);
            let [taken, other] = [(); 2].map(|()| self.emit.builder.create_block());
            let _ = self.emit.builder.ins().brif(equal, taken, &[], other, &[]);
            self.emit.builder.switch_to_block(taken);
            self.go(case.next);
            self.emit.builder.switch_to_block(other);
        }
        self.go(state.default);
    }

    fn go(&mut self, state: u32) {
        let builder = &mut self.emit.builder;
        match self.blocks.get(state as usize).copied().flatten() {
            Some(block) => {
                let _ = builder.ins().jump(block, &[]);
            }
            None => {
                let state = builder.ins().iconst(types::I32, i64::from(state));
                self.go_out(state, 0);
            }
        }
    }

    /// Leaves a state, of which `done` parts are done.
    fn go_out(&mut self, state: Value, done: usize) {
        let builder = &mut self.emit.builder;
        let done = builder.ins().iconst(types::I32, done as i64);
        let _ = builder.ins().jump(self.out, &[state.into(), done.into()]);
    }

    fn leave(&mut self) {
        let builder = &mut self.emit.builder;
        builder.switch_to_block(self.out);
        let (state, done) = (builder.block_params(self.out)[0], builder.block_params(self.out)[1]);
        let [at, entered] = [self.at, self.entered].map(|variable| builder.use_var(variable));
        let mut left = builder.ins().uextend(types::I64, state);
        for (number, shift) in [(entered, 32), (done, 48)] {
            let number = builder.ins().uextend(types::I64, number);
            let number = builder.ins().ishl_imm_s(number, shift);
            left = builder.ins().bor(left, number);
        }
        let _ = builder.ins().return_(&[at, left]);
    }
}

/// How many bytes from its start on a state reads of the frame.
fn length_read(state: &State) -> u32 {
    let (mut at, mut end) = (0, 0);
    for part in &state.parts {
        match part {
            StatePart::Extract(header) => {
                at += header.length_bytes;
                end = end.max(at);
            }
            StatePart::LookAhead { offset_bytes, length_bytes, .. } => {
                end = end.max(at + offset_bytes + length_bytes);
            }
            StatePart::Set { .. } | StatePart::Verify(_) => {}
        }
    }
    end
}
