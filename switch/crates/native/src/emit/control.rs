//! Actions and controls: a block an op.
//!
//! ```text
//!   control(area, params, at | after << 32) -> (at | after << 32, key)
//!
//!   entry ─▶ dispatch ─┬▶ op 0 ─▶ ...           an op that ends an action goes to `dispatch`
//!               ▲      ├▶ op 3 ─▶ op 4 ─┐       with `after`; one that is left, and any number
//!               └──────│────────────────┘       that is no op's, goes out
//!                      └▶ out ─▶ return
//! ```

use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, JumpTableData, Value, types};
use cranelift_frontend::Variable;
use pipeline::native::{Op, Store, Test};

use super::Emitter;

/// The end of a control: no op has this number.
const END: u32 = u32::MAX;

/// Writes the function.
pub(super) fn emit(emitter: &mut Emitter<'_>, ops: &[Op]) {
    let [params, point] = emitter.arguments[..] else { return };
    let mut control = Control::new(emitter, params, ops.len());
    control.enter(point);
    for (number, op) in ops.iter().enumerate() {
        control.op(number as u32, op);
    }
    control.dispatch(&entered(ops));
    control.leave();
}

/// A control being written.
struct Control<'e, 'f> {
    emit: &'e mut Emitter<'f>,
    params: Value,
    blocks: Vec<Block>,
    dispatch: Block,
    out: Block,
    /// The op after the action that runs.
    after: Variable,
}

impl<'e, 'f> Control<'e, 'f> {
    fn new(emit: &'e mut Emitter<'f>, params: Value, count: usize) -> Self {
        let blocks = (0..count).map(|_| emit.builder.create_block()).collect();
        let [dispatch, out] = [(); 2].map(|()| emit.builder.create_block());
        emit.builder.append_block_param(dispatch, types::I32);
        emit.builder.append_block_param(out, types::I32);
        emit.builder.append_block_param(out, types::I64);
        let after = emit.builder.declare_var(types::I32);
        Control { emit, params, blocks, dispatch, out, after }
    }

    /// Takes the point apart.
    fn enter(&mut self, point: Value) {
        let builder = &mut self.emit.builder;
        let at = builder.ins().ireduce(types::I32, point);
        let high = builder.ins().ushr_imm_s(point, 32);
        let after = builder.ins().ireduce(types::I32, high);
        builder.def_var(self.after, after);
        builder.ins().jump(self.dispatch, &[at.into()]);
    }

    fn op(&mut self, number: u32, op: &Op) {
        self.emit.builder.switch_to_block(self.blocks[number as usize]);
        match op {
            Op::Branch { test, next } => self.branch(test, *next),
            Op::Call { to, next } => {
                self.set_after(*next);
                self.go(*to);
            }
            Op::Exit => {
                self.set_after(END);
                self.go(number + 1);
            }
            Op::Jump { to } => self.go(*to),
            Op::Leave { key } => {
                let mut whole = None;
                for part in key {
                    let part = self.emit.gather(*part);
                    let both = |before| self.emit.builder.ins().bor(before, part);
                    whole = Some(whole.map_or(part, both));
                }
                let key = whole.unwrap_or_else(|| self.emit.number(0));
                self.go_out(number, key);
            }
            Op::Return { stores } => {
                self.set(stores);
                let after = self.emit.builder.use_var(self.after);
                let _ = self.emit.builder.ins().jump(self.dispatch, &[after.into()]);
            }
            Op::Set { stores } => {
                self.set(stores);
                self.go(number + 1);
            }
        }
    }

    fn set(&mut self, stores: &[Store]) {
        for store in stores {
            let value = self.emit.value(&store.value, self.params);
            self.emit.assign(store.to, value);
        }
    }

    fn set_after(&mut self, next: u32) {
        let next = self.emit.builder.ins().iconst(types::I32, i64::from(next));
        self.emit.builder.def_var(self.after, next);
    }

    fn branch(&mut self, test: &Test, [fails, succeeds]: [u32; 2]) {
        let test = self.emit.test(test, self.params);
        let (succeeds, with) = self.place(succeeds);
        let (fails, without) = self.place(fails);
        let _ = self.emit.builder.ins().brif(test, succeeds, &with, fails, &without);
    }

    fn go(&mut self, to: u32) {
        let (block, arguments) = self.place(to);
        let _ = self.emit.builder.ins().jump(block, &arguments);
    }

    /// The block of an op, or the way out with a number that is no op's.
    fn place(&mut self, op: u32) -> (Block, Vec<BlockArg>) {
        match self.blocks.get(op as usize) {
            Some(block) => (*block, Vec::new()),
            None => {
                let op = self.emit.builder.ins().iconst(types::I32, i64::from(op));
                let key = self.emit.number(0);
                (self.out, vec![op.into(), key.into()])
            }
        }
    }

    fn go_out(&mut self, op: u32, key: Value) {
        let op = self.emit.builder.ins().iconst(types::I32, i64::from(op));
        let _ = self.emit.builder.ins().jump(self.out, &[op.into(), key.into()]);
    }

    /// Goes to an op by its number. One that is never gone to by number goes out, as one that there
    /// is not; the interpreter would do it.
    fn dispatch(&mut self, entered: &[bool]) {
        let builder = &mut self.emit.builder;
        builder.switch_to_block(self.dispatch);
        let at = builder.block_params(self.dispatch)[0];
        let beyond = builder.create_block();
        let call =
            |block: Block, pool: &mut _| cranelift_codegen::ir::BlockCall::new(block, [], pool);
        let pool = &mut builder.func.dfg.value_lists;
        let default = call(beyond, pool);
        let numbered = self.blocks.iter().zip(entered);
        let table: Vec<_> = numbered
            .map(|(block, entered)| call(if *entered { *block } else { beyond }, pool))
            .collect();
        let table = builder.create_jump_table(JumpTableData::new(default, &table));
        let _ = builder.ins().br_table(at, table);
        builder.switch_to_block(beyond);
        let key = builder.ins().iconst(types::I64, 0);
        let _ = builder.ins().jump(self.out, &[at.into(), key.into()]);
    }

    /// Puts the point together.
    fn leave(&mut self) {
        let builder = &mut self.emit.builder;
        builder.switch_to_block(self.out);
        let [at, key] = builder.block_params(self.out)[..] else { return };
        let after = builder.use_var(self.after);
        let at = builder.ins().uextend(types::I64, at);
        let after = builder.ins().uextend(types::I64, after);
        let after = builder.ins().ishl_imm_s(after, 32);
        let point = builder.ins().bor(at, after);
        let _ = builder.ins().return_(&[point, key]);
    }
}

/// Which ops may be gone to by number: those that nothing leads to, where actions and controls
/// start; those after a call or a table, which an action goes to at its end; and those behind one
/// that is left. Only the inside of a straight list is not.
fn entered(ops: &[Op]) -> Vec<bool> {
    let inside = |before: Option<&Op>| matches!(before, Some(Op::Set { .. } | Op::Exit));
    let before = std::iter::once(None).chain(ops.iter().map(Some));
    ops.iter().zip(before).map(|(_, before)| !inside(before)).collect()
}

/// How many parameters are read from each op on, until the interpreter sees to them again.
pub(super) fn params_read(ops: &[Op]) -> Vec<usize> {
    let mut read: Vec<usize> = ops.iter().map(Op::params_read).collect();
    // What follows an op mostly stands behind it, so one round and one to see that nothing changes
    // are the rule.
    loop {
        let before = read.clone();
        for number in (0..ops.len()).rev() {
            let follow = |op: u32| read.get(op as usize).copied().unwrap_or(0);
            let following = ops[number].followers(number as u32).into_iter().map(follow);
            read[number] = following.chain([read[number]]).max().unwrap_or(0);
        }
        if read == before {
            return read;
        }
    }
}

#[cfg(test)]
mod tests {
    use pipeline::native::{Cell, Target, Value};

    use super::*;

    fn set(param: u32) -> Op {
        let mask = 0xff;
        let to = Target::Cell(Cell { offset: 0, shift: 0, width: 8, mask });
        Op::Set { stores: vec![Store { to, value: Value::Param(param) }] }
    }

    /// Parameters count from an op to the end of its action, or to where the interpreter takes over
    /// and comes back with them; a jump takes them along.
    #[test]
    fn parameters_must_be_there_as_far_as_they_are_read() {
        let returns = || Op::Return { stores: Vec::new() };
        let leave = || Op::Leave { key: Vec::new() };
        let ops = [set(1), leave(), set(4), Op::Jump { to: 5 }, set(9), set(2), returns()];
        assert_eq!(params_read(&ops), [2, 0, 5, 3, 10, 3, 0]);
    }

    #[test]
    fn only_the_inside_of_a_straight_list_is_never_gone_to_by_number() {
        let ops = [set(0), set(1), Op::Leave { key: Vec::new() }, set(2), Op::Jump { to: 0 }];
        assert_eq!(entered(&ops), [true, false, false, true, false]);
    }
}
