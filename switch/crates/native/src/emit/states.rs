//! The parser's plain states: a block a state.
//!
//! ```text
//!   parse(area, frame, end, at, state | entered << 32) -> (at, state | entered << 32)
//! ```
//!
//! A state first asks whether its headers are there and whether the packet has entered too many
//! states; if so it is left untouched, and the interpreter finds out what is wrong.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockCall, InstBuilder, JumpTableData, Value, types};
use cranelift_frontend::Variable;
use pipeline::native::{STATES_MAX, State};

use super::Emitter;

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
        let _ = builder.ins().jump(self.out, &[state.into()]);
    }

    fn state(&mut self, number: u32, state: &State) {
        let Some(block) = self.blocks[number as usize] else { return };
        self.emit.builder.switch_to_block(block);
        let start = self.emit.builder.use_var(self.at);
        self.require(number, start, state);
        let mut at = 0;
        for header in &state.headers {
            let to = self.emit.in_area(header.length_bytes, header.base);
            let from = self.emit.builder.ins().iadd(self.frame, start);
            self.emit.copy(to, (from, at), header.length_bytes);
            let valid = self.emit.builder.ins().iconst(types::I8, 1);
            self.emit.store(valid, header.valid);
            at += header.length_bytes;
        }
        let next = self.emit.builder.ins().iadd_imm_s(start, i64::from(at));
        self.emit.builder.def_var(self.at, next);
        self.choose(state);
    }

    /// Goes out unless the state may be entered and its headers are there.
    fn require(&mut self, number: u32, start: Value, state: &State) {
        let length: u32 = state.headers.iter().map(|header| header.length_bytes).sum();
        let builder = &mut self.emit.builder;
        let [there, inside, refused] = [(); 3].map(|()| builder.create_block());
        let entered = builder.use_var(self.entered);
        let most = i64::from(STATES_MAX);
        let may = builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, entered, most);
        let _ = builder.ins().brif(may, inside, &[], refused, &[]);
        builder.switch_to_block(refused);
        let number = builder.ins().iconst(types::I32, i64::from(number));
        let _ = builder.ins().jump(self.out, &[number.into()]);
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
            Some(block) => builder.ins().jump(block, &[]),
            None => {
                let state = builder.ins().iconst(types::I32, i64::from(state));
                builder.ins().jump(self.out, &[state.into()])
            }
        };
    }

    fn leave(&mut self) {
        let builder = &mut self.emit.builder;
        builder.switch_to_block(self.out);
        let state = builder.block_params(self.out)[0];
        let [at, entered] = [self.at, self.entered].map(|variable| builder.use_var(variable));
        let state = builder.ins().uextend(types::I64, state);
        let entered = builder.ins().uextend(types::I64, entered);
        let entered = builder.ins().ishl_imm_s(entered, 32);
        let state = builder.ins().bor(state, entered);
        let _ = builder.ins().return_(&[at, state]);
    }
}
