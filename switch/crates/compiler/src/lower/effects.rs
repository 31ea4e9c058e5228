//! Properties of expressions that are needed before they are evaluated.

use std::collections::BTreeSet;

use crate::architecture::Function;
use crate::types::tree::{
    Argument, Block, Builtin, Call, Callee, Expression, ExpressionKind, ForCollection, Id, Program,
    Statement, StatementKind, Type, Variable,
};

/// Whether evaluating the expression can change anything, so that what was read before it has to
/// be kept apart.
pub fn has_effects(program: &Program, expression: &Expression) -> bool {
    let mut found = false;
    visit(expression, &mut |seen| {
        if let Seen::Call(call) = seen {
            found |= !is_pure(program, &call.callee);
        }
    });
    found
}

/// Whether evaluating the expression where its value is not wanted could be noticed: it changes
/// something, or looks at bits that the packet need not have, which ends the parser.
pub fn is_felt(expression: &Expression) -> bool {
    let mut found = false;
    visit(expression, &mut |seen| {
        if let Seen::Call(call) = seen {
            found |= !matches!(call.callee, Callee::Builtin(Builtin::IsValid, _));
        }
    });
    found
}

/// Whether the call only looks: neither its arguments nor the packet change.
fn is_pure(program: &Program, callee: &Callee) -> bool {
    match callee {
        Callee::Builtin(builtin, _) => *builtin == Builtin::IsValid,
        Callee::Method { object, method } => match &object.ty {
            Type::Extern(id) => {
                program.externs[*id].methods[*method].known.is_some_and(Function::is_pure)
            }
            _ => false,
        },
        _ => false,
    }
}

/// A piece of a body.
#[derive(Clone, Copy)]
pub enum Seen<'a> {
    /// A call, as an expression or a statement.
    Call(&'a Call),
    /// A mention of a variable.
    Variable(Id<Variable>),
}

/// Calls `see` for each part of the expression.
pub fn visit<'a>(expression: &'a Expression, see: &mut impl FnMut(Seen<'a>)) {
    match &expression.kind {
        ExpressionKind::Aggregate(parts) => parts.iter().for_each(|part| visit(part, see)),
        ExpressionKind::Binary { left, right, .. } => {
            visit(left, see);
            visit(right, see);
        }
        ExpressionKind::Call(call) | ExpressionKind::TableResult { call, .. } => {
            visit_call(call, see);
        }
        ExpressionKind::Conditional { condition, then, otherwise } => {
            visit(condition, see);
            visit(then, see);
            visit(otherwise, see);
        }
        ExpressionKind::Index { base, index } => {
            visit(base, see);
            visit(index, see);
        }
        ExpressionKind::SliceFrom { base, low } => {
            visit(base, see);
            visit(low, see);
        }
        ExpressionKind::Cast(base)
        | ExpressionKind::Field { base, .. }
        | ExpressionKind::Slice { base, .. }
        | ExpressionKind::StackLast(base)
        | ExpressionKind::StackLastIndex(base)
        | ExpressionKind::StackNext(base)
        | ExpressionKind::Unary { operand: base, .. } => visit(base, see),
        ExpressionKind::Constant(_)
        | ExpressionKind::Instance(_)
        | ExpressionKind::InvalidHeader
        | ExpressionKind::This => {}
        ExpressionKind::Variable(variable) => see(Seen::Variable(*variable)),
    }
}

/// The effect of the call itself, then its arguments.
fn visit_call<'a>(call: &'a Call, see: &mut impl FnMut(Seen<'a>)) {
    see(Seen::Call(call));
    match &call.callee {
        Callee::Builtin(_, base)
        | Callee::Control { instance: base, .. }
        | Callee::Method { object: base, .. }
        | Callee::Parser { instance: base, .. } => visit(base, see),
        _ => {}
    }
    for argument in &call.arguments {
        if let Argument::Expression(argument) = argument {
            visit(argument, see);
        }
    }
}

/// The variables that a body mentions, those of the actions it calls included. Functions see only
/// their parameters, so they need no looking into.
pub fn mentioned(program: &Program, body: &Block, found: &mut BTreeSet<Id<Variable>>) {
    visit_block(body, &mut |seen| match seen {
        Seen::Variable(variable) => {
            found.insert(variable);
        }
        Seen::Call(Call { callee: Callee::Action(action), .. }) => {
            mentioned(program, &program.actions[*action].body, found);
        }
        Seen::Call(_) => {}
    });
}

/// Calls `see` for each part of a body.
pub fn visit_block<'a>(body: &'a Block, see: &mut impl FnMut(Seen<'a>)) {
    for statement in &body.statements {
        visit_statement(statement, see);
    }
}

fn visit_statement<'a>(statement: &'a Statement, see: &mut impl FnMut(Seen<'a>)) {
    match &statement.kind {
        StatementKind::Assign { target, value } => {
            visit(target, see);
            visit(value, see);
        }
        StatementKind::Block(body) => visit_block(body, see),
        StatementKind::Call(call) => visit_call(call, see),
        StatementKind::Declare { value: Some(value), .. } | StatementKind::Return(Some(value)) => {
            visit(value, see)
        }
        StatementKind::For(round) => {
            round.init.iter().for_each(|statement| visit_statement(statement, see));
            visit(&round.condition, see);
            round.update.iter().for_each(|statement| visit_statement(statement, see));
            visit_block(&round.body, see);
        }
        StatementKind::ForIn(round) => {
            match &round.collection {
                ForCollection::Elements(collection) => visit(collection, see),
                ForCollection::Range { low, high } => {
                    visit(low, see);
                    visit(high, see);
                }
            }
            visit_block(&round.body, see);
        }
        StatementKind::If { links, otherwise } => {
            for link in links {
                visit(&link.condition, see);
                visit_block(&link.then, see);
            }
            otherwise.iter().for_each(|block| visit_block(block, see));
        }
        StatementKind::Switch(choice) => {
            visit(&choice.subject, see);
            choice.cases.iter().for_each(|case| visit_block(&case.body, see));
        }
        StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Declare { value: None, .. }
        | StatementKind::Exit
        | StatementKind::Return(None) => {}
    }
}
