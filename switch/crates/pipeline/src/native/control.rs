//! Steps as ops: what a compiler to machine code can do, and [`Op::Leave`] for the rest.

use std::collections::{BTreeMap, BTreeSet};

use bits::mask64;

use super::{Op, Operator, Store, Target, Test, Value};
use crate::action::{Action, Move, Request, Routine, Step};
use crate::expression::{Condition, Decision, HeaderRef, Next, Number, Operands, Subject};
use crate::layout::Layout;
use crate::place::Cell;
use crate::profile::Chosen;
use crate::program::Program;
use crate::table::Applied;

/// The steps of a program, an op each.
pub(crate) fn control(program: &Program, lowering: &Lowering<'_>) -> Vec<Op> {
    let op = |(at, step)| lowering.op(at as u32, step).unwrap_or_else(|| left(step));
    program.code.iter().enumerate().map(op).collect()
}

/// The steps at which actions end that are always followed by the same node, and that node.
fn afters(program: &Program, tables: &[Applied], profiles: &[Chosen]) -> BTreeMap<u32, u32> {
    // The nodes that may follow each action.
    let mut after = vec![BTreeSet::new(); program.actions.len()];
    for step in &program.code {
        if let Step::Call { action, next } = step {
            let _new = after[*action as usize].insert(*next);
        }
    }
    for Applied { table, .. } in tables {
        table.actions().iter().for_each(|action| after[action.action].extend(action.next));
        // A member of the profile may run what is none of this table's actions.
        let members = table.profile().into_iter();
        let members = members.flat_map(|profile| profiles[profile].profile.actions());
        members.for_each(|action| after[*action].extend([table.miss_next()]));
    }
    let known = program.actions.iter().zip(after).filter_map(|(action, after)| {
        let steps = program.code.iter().enumerate().skip(action.start as usize);
        let is_end = |step: &Step| matches!(step, Step::Finish { .. } | Step::Return);
        let mut steps = steps.skip_while(|(_, step)| {
            // These two may end the control with the action.
            !is_end(step) && !matches!(step, Step::Assert { .. } | Step::Exit)
        });
        let (end, step) = steps.next()?;
        let only = after.first().filter(|_| is_end(step) && after.len() == 1)?;
        Some((end as u32, *only))
    });
    known.collect()
}

/// The op for a step that only the interpreter knows.
fn left(step: &Step) -> Op {
    let to = match step {
        Step::Jump { to } | Step::JumpUnless { to, .. } => Some(*to),
        _ => None,
    };
    Op::Leave { key: Vec::new(), to }
}

/// The material for ops.
pub(crate) struct Lowering<'a> {
    pub layout: &'a Layout,
    actions: &'a [Action],
    /// Names and widths of register arrays.
    registers: &'a [(String, u32)],
    tables: &'a [Applied],
    /// The step after the action that ends at a step, where that is always the same.
    after: BTreeMap<u32, u32>,
    drop_port: u64,
}

impl<'a> Lowering<'a> {
    pub fn new(program: &'a Program, tables: &'a [Applied], profiles: &[Chosen]) -> Lowering<'a> {
        Lowering {
            layout: &program.layout,
            actions: &program.actions,
            registers: &program.register_names,
            tables,
            after: afters(program, tables, profiles),
            drop_port: program.drop_port.0.into(),
        }
    }

    /// The assignments of steps that stand alone, if that is all they are.
    pub fn stores(&self, routine: &Routine) -> Option<Vec<Store>> {
        let mut all = Vec::new();
        for step in routine.steps() {
            match self.op(0, step)? {
                Op::Set { stores } => all.extend(stores),
                Op::Return { stores, .. } => {
                    all.extend(stores);
                    break;
                }
                _ => return None,
            }
        }
        Some(all)
    }

    /// The op for a step; none if only the interpreter knows it.
    fn op(&self, at: u32, step: &Step) -> Option<Op> {
        Some(match step {
            Step::Apply { table } => {
                Op::Leave { key: self.tables[*table as usize].key.one_limb()?.collect(), to: None }
            }
            Step::Call { action, next } => {
                Op::Call { to: self.actions[*action as usize].start, next: *next }
            }
            Step::Request(Request::Drop { egress_spec, group }) => {
                let dropped = egress_spec.map(|cell| (cell, self.drop_port));
                let stores = dropped.into_iter().chain(group.map(|cell| (cell, 0)));
                Op::Set { stores: stores.map(|(cell, value)| constant(cell, value)).collect() }
            }
            Step::Exit => Op::Exit,
            Step::Finish { moves } => {
                let stores = moves.iter().map(store).collect();
                Op::Return { stores, after: self.after.get(&at).copied() }
            }
            Step::If { condition, next, .. } => {
                Op::Branch { test: self.condition(condition)?, next: *next }
            }
            // The interpreter counts the rounds of loops, so that no action goes round for ever.
            Step::Jump { to } if *to > at => Op::Jump { to: *to },
            Step::JumpUnless { condition, to } if *to > at => {
                Op::Branch { test: self.condition(condition)?, next: [*to, at + 1] }
            }
            Step::Move(one) => Op::Set { stores: vec![store(one)] },
            Step::RegisterReadNarrow { to, array, index } => {
                Op::Read { to: *to, array: *array, index: self.number(index)? }
            }
            Step::RegisterWriteNarrow { array, index, value } => Op::Write {
                array: *array,
                index: self.number(index)?,
                value: self.number(value)?,
                mask: mask64(self.registers[*array as usize].1 as usize),
            },
            Step::Return => Op::Return { stores: Vec::new(), after: self.after.get(&at).copied() },
            Step::SetCell { to, value } => {
                let value = self.number(value)?;
                Op::Set { stores: vec![Store { to: Target::Cell(*to), value }] }
            }
            Step::Test { subject, next, .. } => Op::Branch { test: asked(subject), next: *next },
            Step::Assert { .. }
            | Step::Assign(_)
            | Step::Count { .. }
            | Step::Extern(_)
            | Step::Header(_)
            | Step::Jump { .. }
            | Step::JumpUnless { .. }
            | Step::Request(_) => return None,
        })
    }

    fn number(&self, number: &Number) -> Option<Value> {
        Some(match number {
            Number::Add(operands) => self.binary(Operator::Add, operands)?,
            Number::And(operands) => self.binary(Operator::And, operands)?,
            Number::Bool(condition) => Value::Truth(Box::new(self.condition(condition)?)),
            Number::Cell(cell) => Value::Field(*cell),
            Number::CellSigned(cell) => {
                Value::Signed { operand: Box::new(Value::Field(*cell)), width: cell.width }
            }
            Number::Const(value) => Value::Const(*value),
            Number::Multiply(operands) => self.binary(Operator::Multiply, operands)?,
            Number::Not(operand) => {
                let operands = Box::new((self.number(operand)?, Value::Const(u64::MAX)));
                Value::Binary { operator: Operator::Xor, operands }
            }
            Number::Or(operands) => self.binary(Operator::Or, operands)?,
            Number::Param(index) => Value::Param(*index),
            Number::Select(branches) => {
                let (test, first, second) = &**branches;
                let test = self.condition(test)?;
                Value::Choose(Box::new((test, self.number(first)?, self.number(second)?)))
            }
            Number::ShiftLeft(operands) => self.binary(Operator::ShiftLeft, operands)?,
            Number::ShiftRight { operands, signed: false } => {
                self.binary(Operator::ShiftRight, operands)?
            }
            Number::ShiftRight { operands, signed: true } => {
                self.binary(Operator::ShiftRightSigned, operands)?
            }
            Number::Subtract(operands) => self.binary(Operator::Subtract, operands)?,
            Number::WrapSigned { operand, width } => {
                Value::Signed { operand: Box::new(self.number(operand)?), width: *width }
            }
            Number::Xor(operands) => self.binary(Operator::Xor, operands)?,
            Number::Divide(_)
            | Number::Found { .. }
            | Number::Fill { .. }
            | Number::Low(_)
            | Number::Register { .. }
            | Number::Remainder(_)
            | Number::SaturateSigned { .. }
            | Number::SaturateUnsigned { .. } => return None,
        })
    }

    fn binary(&self, operator: Operator, operands: &Operands) -> Option<Value> {
        Some(Value::Binary { operator, operands: self.both(operands)? })
    }

    fn both(&self, operands: &Operands) -> Option<Box<(Value, Value)>> {
        Some(Box::new((self.number(&operands.0)?, self.number(&operands.1)?)))
    }

    pub fn condition(&self, condition: &Condition) -> Option<Test> {
        let pair = |pair: &(Condition, Condition)| {
            Some(Box::new((self.condition(&pair.0)?, self.condition(&pair.1)?)))
        };
        Some(match condition {
            Condition::And(both) => Test::And(pair(both)?),
            Condition::CellConst { compare, cell, value } => Test::Compare {
                compare: *compare,
                signed: false,
                operands: Box::new((Value::Field(*cell), Value::Const(*value))),
            },
            Condition::Compare { compare, operands, signed } => {
                Test::Compare { compare: *compare, signed: *signed, operands: self.both(operands)? }
            }
            Condition::Const(holds) => Test::Const(*holds),
            Condition::Decision(decision) => decided(decision)?,
            Condition::NonZero(number) => Test::Compare {
                compare: super::Compare::NotEqual,
                signed: false,
                operands: Box::new((self.number(number)?, Value::Const(0))),
            },
            Condition::Not(operand) => Test::Not(Box::new(self.condition(operand)?)),
            Condition::Or(either) => Test::Or(pair(either)?),
            Condition::Valid(HeaderRef::Known(header)) => {
                Test::Valid(self.layout.headers[*header as usize].valid)
            }
            _ => return None,
        })
    }
}

/// More tests than this are left to the interpreter where they are to be one question: a test to
/// which two ways lead stands in it twice, what follows it four times, and so on.
const DECIDED_MAX: usize = 8;

/// A decision list as one question.
pub(super) fn decided(decision: &Decision) -> Option<Test> {
    let tests = decision.tests();
    (1..=DECIDED_MAX).contains(&tests.len()).then(|| from_test(&tests, 0))
}

/// The question from the list's test of this number on.
fn from_test(tests: &[(Subject, [Next; 2])], number: usize) -> Test {
    let (subject, [fails, succeeds]) = &tests[number];
    let follow = |next: &Next| match next {
        Next::Settled(holds) => Test::Const(*holds),
        Next::Test(number) => from_test(tests, *number),
    };
    let not = |test| Test::Not(Box::new(test));
    let test = asked(subject);
    match (follow(fails), follow(succeeds)) {
        (Test::Const(false), Test::Const(true)) => test,
        (Test::Const(true), Test::Const(false)) => not(test),
        (Test::Const(false), then) => Test::And(Box::new((test, then))),
        (Test::Const(true), then) => Test::Or(Box::new((not(test), then))),
        (otherwise, Test::Const(true)) => Test::Or(Box::new((test, otherwise))),
        (otherwise, Test::Const(false)) => Test::And(Box::new((not(test), otherwise))),
        (otherwise, then) => {
            let succeeds = Test::And(Box::new((test.clone(), then)));
            let fails = Test::And(Box::new((not(test), otherwise)));
            Test::Or(Box::new((succeeds, fails)))
        }
    }
}

fn asked(subject: &Subject) -> Test {
    let two = |compare, left: &Cell, right: &Cell| Test::Compare {
        compare,
        signed: false,
        operands: Box::new((Value::Field(*left), Value::Field(*right))),
    };
    match subject {
        Subject::Equal { left, right } => two(super::Compare::Equal, left, right),
        Subject::Less { left, right } => two(super::Compare::Less, left, right),
        Subject::Range { cell, low, span } => Test::InRange { cell: *cell, low: *low, span: *span },
    }
}

fn constant(cell: Cell, value: u64) -> Store {
    Store { to: Target::Cell(cell), value: Value::Const(value) }
}

fn store(one: &Move) -> Store {
    let add = |from, by| match by {
        0 => Value::Field(from),
        _ => Value::Binary {
            operator: Operator::Add,
            operands: Box::new((Value::Field(from), Value::Const(by))),
        },
    };
    let (to, value) = match *one {
        Move::Add { to, from, by } => (Target::Cell(to), add(from, by)),
        Move::AddToSlot { to, from, by } => (Target::Slot(to), add(from, by)),
        Move::Const { to, value } => (Target::Cell(to), Value::Const(value)),
        Move::ConstToSlot { to, value } => (Target::Slot(to), Value::Const(value)),
        Move::Param { to, param } => (Target::Cell(to), Value::Param(param)),
        Move::ParamToSlot { to, param } => (Target::Slot(to), Value::Param(param)),
    };
    Store { to, value }
}
