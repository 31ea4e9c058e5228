//! Actions and controls: a block an op.
//!
//! ```text
//!   control(area, registers, at, call)
//!   leave(call, at | after << 32, key) -> (at | after << 32, params)
//!
//!   entry ─▶ dispatch ─┬▶ op 0 ─▶ ...           an op that ends an action goes to `dispatch`
//!               ▲      ├▶ op 3 ─▶ op 4 ─┐       with `after`; one that is left calls `leave`, and
//!               └──────│────────────────┘       goes where that says; where no op is, is the end
//!                      └▶ end
//! ```

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockCall, InstBuilder, JumpTableData, SigRef, Value, types};
use cranelift_frontend::Variable;
use pipeline::native::{Cell, Op, RegisterArray, Source, Store, Target, Test, Value as Number};

use super::{Emitter, memory};
use crate::code::leave_address;

/// The end of a control: no op has this number.
const END: u32 = u32::MAX;

/// Writes the function.
pub(super) fn emit(emitter: &mut Emitter<'_>, source: &Source) {
    let [registers, start, call] = emitter.arguments[..] else { return };
    let mut control = Control::new(emitter, source, [registers, call]);
    control.enter(start);
    for (number, op) in source.ops.iter().enumerate() {
        control.op(number as u32, op);
    }
    control.dispatch(&entered(&source.ops));
    control.end();
}

/// A control being written.
struct Control<'e, 'f> {
    emit: &'e mut Emitter<'f>,
    source: &'e Source,
    /// The address of the program's arrays of registers.
    registers: Value,
    /// The argument and the target of a call of `leave`.
    call: Value,
    signature: SigRef,
    blocks: Vec<Block>,
    dispatch: Block,
    end: Block,
    /// The op after the action that runs.
    after: Variable,
    /// The address of the action's parameters.
    params: Variable,
}

impl<'e, 'f> Control<'e, 'f> {
    fn new(
        emit: &'e mut Emitter<'f>,
        source: &'e Source,
        [registers, call]: [Value; 2],
    ) -> Control<'e, 'f> {
        let signature = emit.signature(&[types::I64; 3], &[types::I64; 2]);
        let signature = emit.builder.import_signature(signature);
        let blocks = source.ops.iter().map(|_| emit.builder.create_block()).collect();
        let [dispatch, end] = [(); 2].map(|()| emit.builder.create_block());
        emit.builder.append_block_param(dispatch, types::I32);
        let [after, params] = [types::I32, types::I64].map(|kind| emit.builder.declare_var(kind));
        Control { emit, source, registers, call, signature, blocks, dispatch, end, after, params }
    }

    /// Goes to the first op, which no action's is: there are no parameters yet.
    fn enter(&mut self, start: Value) {
        self.set_after(END);
        let none = self.emit.number(0);
        self.emit.builder.def_var(self.params, none);
        let start = self.emit.builder.ins().ireduce(types::I32, start);
        let _ = self.emit.builder.ins().jump(self.dispatch, &[start.into()]);
    }

    fn op(&mut self, number: u32, op: &Op) {
        self.emit.builder.switch_to_block(self.blocks[number as usize]);
        match op {
            Op::Branch { test, next } => self.branch(test, *next),
            Op::Call { to, next } => match straight(&self.source.ops, *to) {
                Some(copied) => {
                    copied.iter().for_each(|op| self.change(op));
                    self.go(*next);
                }
                None => {
                    self.set_after(*next);
                    self.go(*to);
                }
            },
            Op::Exit => {
                self.set_after(END);
                self.go(number + 1);
            }
            Op::Jump { to } => self.go(*to),
            Op::Leave { key, .. } => {
                let mut whole = None;
                for part in key {
                    let part = self.emit.gather(*part);
                    let both = |before| self.emit.builder.ins().bor(before, part);
                    whole = Some(whole.map_or(part, both));
                }
                let key = whole.unwrap_or_else(|| self.emit.number(0));
                self.leave(number, key);
            }
            Op::Read { .. } | Op::Set { .. } | Op::Write { .. } => {
                self.change(op);
                self.go(number + 1);
            }
            Op::Return { after: Some(after), .. } => {
                self.change(op);
                self.go(*after);
            }
            Op::Return { after: None, .. } => {
                self.change(op);
                let after = self.emit.builder.use_var(self.after);
                let _ = self.emit.builder.ins().jump(self.dispatch, &[after.into()]);
            }
        }
    }

    /// Gives fields and registers the values that an op gives them.
    fn change(&mut self, op: &Op) {
        match op {
            Op::Read { to, array, index } => self.read(*to, *array, index),
            Op::Return { stores, .. } | Op::Set { stores } => self.set(stores),
            Op::Write { array, index, value, mask } => self.write(*array, index, value, *mask),
            Op::Branch { .. } | Op::Call { .. } | Op::Exit | Op::Jump { .. } | Op::Leave { .. } => {
            }
        }
    }

    fn set(&mut self, stores: &[Store]) {
        let params = self.emit.builder.use_var(self.params);
        self.emit.set(stores, params);
    }

    fn value(&mut self, value: &Number) -> Value {
        let params = self.emit.builder.use_var(self.params);
        self.emit.value(value, params)
    }

    /// Gives a field a register's value, if there is one.
    fn read(&mut self, to: Cell, array: u32, index: &Number) {
        self.if_register(array, index, |control, address| {
            let value = control.emit.builder.ins().load(types::I64, memory(), address, 0);
            control.emit.assign(Target::Cell(to), value);
        });
    }

    /// Gives a register a value, if there is one.
    fn write(&mut self, array: u32, index: &Number, value: &Number, mask: u64) {
        let value = self.value(value);
        let value = self.emit.masked(value, mask);
        self.if_register(array, index, |control, address| {
            let _ = control.emit.builder.ins().store(memory(), value, address, 0);
        });
    }

    /// Does something with the address of a register, if there is one at the index.
    fn if_register(&mut self, array: u32, index: &Number, then: impl FnOnce(&mut Self, Value)) {
        assert!((array as usize) < self.source.registers, "an array that there is not");
        let index = self.value(index);
        let offset = array as usize * size_of::<RegisterArray>() + RegisterArray::VALUES_OFFSET;
        let builder = &mut self.emit.builder;
        let [inside, done] = [(); 2].map(|()| builder.create_block());
        let [values, count] = [offset, offset + 8]
            .map(|offset| builder.ins().load(types::I64, memory(), self.registers, offset as i32));
        let is_inside = builder.ins().icmp(IntCC::UnsignedLessThan, index, count);
        let _ = builder.ins().brif(is_inside, inside, &[], done, &[]);
        builder.switch_to_block(inside);
        let bytes = builder.ins().ishl_imm_s(index, 3);
        let address = builder.ins().iadd(values, bytes);
        then(self, address);
        let builder = &mut self.emit.builder;
        let _ = builder.ins().jump(done, &[]);
        builder.switch_to_block(done);
    }

    /// Has an op done, and goes where that leads.
    fn leave(&mut self, op: u32, key: Value) {
        let callee = self.emit.number(leave_address());
        let builder = &mut self.emit.builder;
        let after = builder.use_var(self.after);
        let after = builder.ins().uextend(types::I64, after);
        let after = builder.ins().ishl_imm_s(after, 32);
        let point = builder.ins().bor_imm_s(after, i64::from(op));
        let arguments = [self.call, point, key];
        let called = builder.ins().call_indirect(self.signature, callee, &arguments);
        let [point, params] = builder.inst_results(called)[..] else { return };
        builder.def_var(self.params, params);
        let at = builder.ins().ireduce(types::I32, point);
        let after = builder.ins().ushr_imm_s(point, 32);
        let after = builder.ins().ireduce(types::I32, after);
        builder.def_var(self.after, after);
        let _ = builder.ins().jump(self.dispatch, &[at.into()]);
    }

    fn set_after(&mut self, next: u32) {
        let next = self.emit.builder.ins().iconst(types::I32, i64::from(next));
        self.emit.builder.def_var(self.after, next);
    }

    fn branch(&mut self, test: &Test, [fails, succeeds]: [u32; 2]) {
        let params = self.emit.builder.use_var(self.params);
        let test = self.emit.test(test, params);
        let (succeeds, fails) = (self.place(succeeds), self.place(fails));
        let _ = self.emit.builder.ins().brif(test, succeeds, &[], fails, &[]);
    }

    fn go(&mut self, to: u32) {
        let block = self.place(to);
        let _ = self.emit.builder.ins().jump(block, &[]);
    }

    /// The block of an op; where there is none, the control ends.
    fn place(&self, op: u32) -> Block {
        self.blocks.get(op as usize).copied().unwrap_or(self.end)
    }

    /// Goes to an op by its number.
    fn dispatch(&mut self, entered: &[bool]) {
        let builder = &mut self.emit.builder;
        builder.switch_to_block(self.dispatch);
        let at = builder.block_params(self.dispatch)[0];
        let pool = &mut builder.func.dfg.value_lists;
        let mut call = |block: Block| BlockCall::new(block, [], pool);
        let default = call(self.end);
        let numbered = self.blocks.iter().zip(entered);
        let table: Vec<_> = numbered
            .map(|(block, entered)| if *entered { call(*block) } else { default })
            .collect();
        let table = builder.create_jump_table(JumpTableData::new(default, &table));
        let _ = builder.ins().br_table(at, table);
    }

    fn end(&mut self) {
        self.emit.builder.switch_to_block(self.end);
        let _ = self.emit.builder.ins().return_(&[]);
    }
}

/// Which ops may be gone to by number: those that nothing leads to, where actions and controls
/// start; those after a call or a table, which an action goes to at its end; and those that one that
/// is left leads to. Only the inside of a straight list is not.
fn entered(ops: &[Op]) -> Vec<bool> {
    let inside =
        |before: Option<&Op>| before.is_some_and(|op| is_straight(op) || matches!(op, Op::Exit));
    let before = std::iter::once(None).chain(ops.iter().map(Some));
    let mut entered: Vec<bool> =
        ops.iter().zip(before).map(|(_, before)| !inside(before)).collect();
    for op in ops {
        if let Op::Leave { to: Some(to), .. } = op
            && let Some(entered) = entered.get_mut(*to as usize)
        {
            *entered = true;
        }
    }
    entered
}

/// Longer actions than this are not copied to where they are called.
const COPIED_MAX: usize = 8;

/// The ops of an action that does nothing but give fields and registers values, if they are few.
/// Where such an action is called they are done in place: nothing is gone to by number.
fn straight(ops: &[Op], start: u32) -> Option<&[Op]> {
    let action = ops.get(start as usize..)?;
    let end = action.iter().position(|op| !is_straight(op))?;
    let ends = end < COPIED_MAX && matches!(action[end], Op::Return { .. });
    ends.then(|| &action[..=end])
}

/// Whether an op does nothing but give fields or registers values, and leads to the next.
fn is_straight(op: &Op) -> bool {
    matches!(op, Op::Read { .. } | Op::Set { .. } | Op::Write { .. })
}

/// How many parameters are read from each op on, until the interpreter sees to them again.
pub(super) fn params_read(ops: &[Op]) -> Vec<usize> {
    let mut read: Vec<usize> = ops.iter().map(Op::params_read).collect();
    // The op that follows another is usually behind it, so one round and one to see that nothing
    // changes are the rule.
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
    use super::*;

    fn set(param: u32) -> Op {
        let mask = 0xff;
        let to = Target::Cell(Cell { offset: 0, shift: 0, width: 8, mask });
        Op::Set { stores: vec![Store { to, value: Number::Param(param) }] }
    }

    /// Parameters count from an op to the end of its action, or to where the interpreter takes over
    /// and comes back with them; a jump takes them along.
    #[test]
    fn parameters_must_be_there_as_far_as_they_are_read() {
        let returns = || Op::Return { stores: Vec::new(), after: None };
        let leave = || Op::Leave { key: Vec::new(), to: None };
        let ops = [set(1), leave(), set(4), Op::Jump { to: 5 }, set(9), set(2), returns()];
        assert_eq!(params_read(&ops), [2, 0, 5, 3, 10, 3, 0]);
    }

    #[test]
    fn an_action_is_copied_if_it_goes_straight_to_its_end_and_is_short() {
        let returns = || Op::Return { stores: Vec::new(), after: None };
        let ops = [set(0), set(1), returns(), Op::Jump { to: 4 }, set(2), Op::Exit, returns()];
        assert_eq!(straight(&ops, 0), Some(&ops[..3]));
        assert_eq!(straight(&ops, 2), Some(&ops[2..3]));
        assert_eq!([3, 4, 7, u32::MAX].map(|start| straight(&ops, start)), [None; 4]);
        let mut ops = vec![set(0); COPIED_MAX];
        ops.push(returns());
        assert_eq!(straight(&ops, 0), None);
        assert_eq!(straight(&ops, 1), Some(&ops[1..]));
    }

    #[test]
    fn only_the_inside_of_a_straight_list_is_never_gone_to_by_number() {
        let leave = |to| Op::Leave { key: Vec::new(), to };
        let ops = [set(0), set(1), leave(None), set(2), Op::Jump { to: 0 }];
        assert_eq!(entered(&ops), [true, false, false, true, false]);
        // Unless a jump that is left leads there.
        let ops = [set(0), set(1), leave(Some(1)), set(2), Op::Jump { to: 0 }];
        assert_eq!(entered(&ops), [true, true, false, true, false]);
    }
}
