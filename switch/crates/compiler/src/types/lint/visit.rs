//! Walks over statements and expressions, parents before children.

use crate::types::tree::{
    Argument, Block, Call, Callee, Expression, ExpressionKind, ForCollection, LocalDeclaration,
    Program, Statement, StatementKind, SwitchLabel,
};

/// A place that a walk passes.
#[derive(Clone, Copy)]
pub(super) enum Node<'t> {
    Call(&'t Call),
    Expression(&'t Expression),
    Statement(&'t Statement),
}

/// Everything that runs: bodies of actions, controls, functions, parsers, and initial values.
pub(super) fn program<'t>(program: &'t Program, see: &mut dyn FnMut(Node<'t>)) {
    for (_, action) in program.actions.iter() {
        block(&action.body, see);
    }
    for (_, function) in program.functions.iter() {
        block(&function.body, see);
    }
    for (_, control) in program.controls.iter() {
        locals(&control.locals, see);
        block(&control.body, see);
    }
    for (_, parser) in program.parsers.iter() {
        locals(&parser.locals, see);
        for state in &parser.states {
            state.statements.iter().for_each(|inner| statement(inner, see));
        }
    }
    for (_, table) in program.tables.iter() {
        table.keys.iter().for_each(|key| expression(&key.expression, see));
        for listed in &table.actions {
            arguments(&listed.call.arguments, see);
        }
    }
}

fn locals<'t>(list: &'t [LocalDeclaration], see: &mut dyn FnMut(Node<'t>)) {
    for local in list {
        if let LocalDeclaration::Variable { value: Some(value), .. } = local {
            expression(value, see);
        }
    }
}

pub(super) fn block<'t>(block: &'t Block, see: &mut dyn FnMut(Node<'t>)) {
    block.statements.iter().for_each(|inner| statement(inner, see));
}

pub(super) fn statement<'t>(outer: &'t Statement, see: &mut dyn FnMut(Node<'t>)) {
    see(Node::Statement(outer));
    match &outer.kind {
        StatementKind::Assign { target, value } => {
            expression(target, see);
            expression(value, see);
        }
        StatementKind::Block(inner) => block(inner, see),
        StatementKind::Break | StatementKind::Continue | StatementKind::Exit => {}
        StatementKind::Call(inner) => call(inner, see),
        StatementKind::Declare { value, .. } | StatementKind::Return(value) => {
            value.iter().for_each(|value| expression(value, see));
        }
        StatementKind::For(inner) => {
            inner.init.iter().for_each(|init| statement(init, see));
            expression(&inner.condition, see);
            inner.update.iter().for_each(|update| statement(update, see));
            block(&inner.body, see);
        }
        StatementKind::ForIn(inner) => {
            match &inner.collection {
                ForCollection::Elements(list) => expression(list, see),
                ForCollection::Range { low, high } => {
                    expression(low, see);
                    expression(high, see);
                }
            }
            block(&inner.body, see);
        }
        StatementKind::If { links, otherwise } => {
            for link in links {
                expression(&link.condition, see);
                block(&link.then, see);
            }
            otherwise.iter().for_each(|otherwise| block(otherwise, see));
        }
        StatementKind::Switch(inner) => {
            expression(&inner.subject, see);
            for case in &inner.cases {
                for label in &case.labels {
                    if let SwitchLabel::Value(value) = label {
                        expression(value, see);
                    }
                }
                block(&case.body, see);
            }
        }
    }
}

pub(super) fn expression<'t>(outer: &'t Expression, see: &mut dyn FnMut(Node<'t>)) {
    see(Node::Expression(outer));
    match &outer.kind {
        ExpressionKind::Aggregate(parts) => parts.iter().for_each(|part| expression(part, see)),
        ExpressionKind::Binary { left, right, .. } => {
            expression(left, see);
            expression(right, see);
        }
        ExpressionKind::Call(inner) | ExpressionKind::TableResult { call: inner, .. } => {
            call(inner, see);
        }
        ExpressionKind::Cast(inner)
        | ExpressionKind::Field { base: inner, .. }
        | ExpressionKind::Slice { base: inner, .. }
        | ExpressionKind::StackLast(inner)
        | ExpressionKind::StackLastIndex(inner)
        | ExpressionKind::StackNext(inner)
        | ExpressionKind::Unary { operand: inner, .. } => expression(inner, see),
        ExpressionKind::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| expression(part, see));
        }
        ExpressionKind::Index { base, index: inner }
        | ExpressionKind::SliceFrom { base, low: inner } => {
            expression(base, see);
            expression(inner, see);
        }
        ExpressionKind::Constant(_)
        | ExpressionKind::Instance(_)
        | ExpressionKind::InvalidHeader
        | ExpressionKind::This
        | ExpressionKind::Variable(_) => {}
    }
}

fn call<'t>(outer: &'t Call, see: &mut dyn FnMut(Node<'t>)) {
    see(Node::Call(outer));
    match &outer.callee {
        Callee::Builtin(_, base)
        | Callee::Control { instance: base, .. }
        | Callee::Method { object: base, .. }
        | Callee::Parser { instance: base, .. } => expression(base, see),
        Callee::Action(_) | Callee::ExternFunction(_) | Callee::Function(_) | Callee::Table(_) => {}
    }
    arguments(&outer.arguments, see);
}

fn arguments<'t>(list: &'t [Argument], see: &mut dyn FnMut(Node<'t>)) {
    for argument in list {
        if let Argument::Expression(value) = argument {
            expression(value, see);
        }
    }
}
