//! Variables that are read before anything was put into them.
//!
//! A walk along the statements of one body with the set of variables that surely have a value.
//! Followed are numbers and bools declared in that body without a first value; a part of one
//! written counts as all of it, and what only some ways assign is not assigned.

use super::visit::{self, Node};
use crate::types::tree::{
    Argument, Block, Call, Callee, Direction, Expression, ExpressionKind, ForCollection, Id, Link,
    Program, Statement, StatementKind, Switch, SwitchLabel, Type, Variable, VariableKind,
};
use std::collections::BTreeSet;
use syntax::{Diagnostic, Diagnostics, Span};

/// Reads of variables without a value.
pub(super) fn reads(program: &Program, diagnostics: &mut Diagnostics) {
    let bodies = program
        .actions
        .iter()
        .map(|(_, action)| &action.body)
        .chain(program.functions.iter().map(|(_, function)| &function.body))
        .chain(program.controls.iter().map(|(_, control)| &control.body));
    for body in bodies {
        let mut walk = Walk { program, open: BTreeSet::new(), diagnostics };
        walk.block(body);
    }
    for (_, parser) in program.parsers.iter() {
        for state in &parser.states {
            let mut walk = Walk { program, open: BTreeSet::new(), diagnostics };
            state.statements.iter().for_each(|statement| {
                walk.statement(statement);
            });
        }
    }
}

struct Walk<'t, 'd> {
    program: &'t Program,
    /// Variables that may have no value here.
    open: BTreeSet<Id<Variable>>,
    diagnostics: &'d mut Diagnostics,
}

impl<'t> Walk<'t, '_> {
    /// Whether the end of the block can be reached.
    fn block(&mut self, block: &'t Block) -> bool {
        block.statements.iter().all(|statement| self.statement(statement))
    }

    /// Whether what follows the statement can be reached.
    fn statement(&mut self, statement: &'t Statement) -> bool {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.read(value);
                self.write(target);
            }
            StatementKind::Block(block) => return self.block(block),
            StatementKind::Call(call) => self.call(call),
            StatementKind::Declare { variable, value: Some(value) } => {
                self.read(value);
                self.open.remove(variable);
            }
            StatementKind::Declare { variable, value: None } => {
                let ty = &self.program.variables[*variable].ty;
                if matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Bool) {
                    self.open.insert(*variable);
                }
            }
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.read(value));
                return false;
            }
            StatementKind::Exit | StatementKind::Break | StatementKind::Continue => return false,
            StatementKind::If { links, otherwise } => return self.chain(links, otherwise.as_ref()),
            StatementKind::Switch(switch) => return self.switch(switch),
            StatementKind::For(inner) => {
                inner.init.iter().for_each(|init| {
                    self.statement(init);
                });
                self.read(&inner.condition);
                self.aside(&inner.body);
            }
            StatementKind::ForIn(inner) => {
                match &inner.collection {
                    ForCollection::Elements(list) => self.read(list),
                    ForCollection::Range { low, high } => {
                        self.read(low);
                        self.read(high);
                    }
                }
                self.aside(&inner.body);
            }
        }
        true
    }

    /// A body that may run or not: what it assigns is not sure.
    fn aside(&mut self, block: &'t Block) {
        let before = self.open.clone();
        self.block(block);
        self.open.extend(before);
    }

    fn switch(&mut self, switch: &'t Switch) -> bool {
        self.read(&switch.subject);
        let has_default = switch
            .cases
            .iter()
            .flat_map(|case| &case.labels)
            .any(|label| matches!(label, SwitchLabel::Default));
        let cases = switch.cases.iter().map(|case| Some(&case.body));
        let none = (!has_default).then_some(None);
        self.branches(cases.chain(none))
    }

    /// Ways that exclude each other (`None` does nothing): a variable is open behind them if it is
    /// open at the end of one that gets there.
    fn branches(&mut self, ways: impl IntoIterator<Item = Option<&'t Block>>) -> bool {
        let before = std::mem::take(&mut self.open);
        let mut after = BTreeSet::new();
        let mut goes_on = false;
        for way in ways {
            self.open = before.clone();
            if way.is_none_or(|block| self.block(block)) {
                goes_on = true;
                after.append(&mut self.open);
            }
        }
        self.open = after;
        goes_on
    }

    /// A chain of conditions: each is read where none in front of it held.
    fn chain(&mut self, links: &'t [Link], otherwise: Option<&'t Block>) -> bool {
        let mut after = BTreeSet::new();
        let mut goes_on = false;
        for link in links {
            self.read(&link.condition);
            let here = self.open.clone();
            if self.block(&link.then) {
                goes_on = true;
                after.append(&mut self.open);
            }
            self.open = here;
        }
        if otherwise.is_none_or(|block| self.block(block)) {
            goes_on = true;
            after.append(&mut self.open);
        }
        self.open = after;
        goes_on
    }

    fn call(&mut self, call: &'t Call) {
        let directions = self.directions(call);
        for (at, argument) in call.arguments.iter().enumerate() {
            let Argument::Expression(value) = argument else { continue };
            // Extern functions and objects: where the direction is not known, nothing is said.
            match directions.get(at) {
                Some(Direction::Out) => self.write(value),
                Some(Direction::InOut) | None => self.write(value),
                Some(_) => self.read(value),
            }
        }
    }

    fn directions(&self, call: &Call) -> Vec<Direction> {
        let of_variables = |ids: &[Id<Variable>]| {
            let direction = |id: &Id<Variable>| match self.program.variables[*id].kind {
                VariableKind::Parameter(direction) => direction,
                _ => Direction::None,
            };
            ids.iter().map(direction).collect()
        };
        match &call.callee {
            Callee::Action(id) => of_variables(&self.program.actions[*id].parameters),
            Callee::Function(id) => of_variables(&self.program.functions[*id].parameters),
            Callee::ExternFunction(id) => {
                let infos = &self.program.extern_functions[*id].parameters;
                infos.iter().map(|info| info.direction).collect()
            }
            Callee::Method { object, method } => match object.ty {
                Type::Extern(id) => {
                    let method = self.program.externs[id].methods.get(*method);
                    let infos = method.map(|method| method.parameters.as_slice());
                    infos.unwrap_or_default().iter().map(|info| info.direction).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The variable that is written, and reads in its indexes.
    fn write(&mut self, target: &'t Expression) {
        match &target.kind {
            ExpressionKind::Variable(id) => {
                self.open.remove(id);
            }
            ExpressionKind::Field { base, .. } | ExpressionKind::Slice { base, .. } => {
                self.write(base);
            }
            ExpressionKind::Index { base, index: inner }
            | ExpressionKind::SliceFrom { base, low: inner } => {
                self.read(inner);
                self.write(base);
            }
            _ => {}
        }
    }

    fn read(&mut self, value: &'t Expression) {
        let mut found: Vec<(Id<Variable>, Span)> = Vec::new();
        let mut calls: Vec<&'t Call> = Vec::new();
        visit::expression(value, &mut |node| match node {
            Node::Expression(Expression { kind: ExpressionKind::Variable(id), span, .. }) => {
                found.push((*id, *span));
            }
            Node::Call(call) => calls.push(call),
            _ => {}
        });
        // Calls inside may assign: what they mention is left alone.
        for call in calls {
            self.call(call);
        }
        for (id, span) in found {
            if self.open.remove(&id) {
                let name = &self.program.variables[id].name;
                let title = format!("`{}` is read before it has a value", name.text);
                self.diagnostics.push(
                    Diagnostic::warning("uninitialized-use", span, title)
                        .related(name.span, "declared without a value here")
                        .hint("give it one where it is declared"),
                );
            }
        }
    }
}
