//! A walk along the statements in the order in which a packet meets them, through tables, actions
//! and sub-controls, with the sets of headers that can be valid together ([`Worlds`]).
//!
//! Reading a header that is valid in some worlds only is reported once a header and block; what an
//! earlier report causes is silent. Nothing is said of packets that are dropped.

use super::places::{Places, kind, written};
use super::visit::{self, Node};
use super::worlds::{HeaderIndex, Validity, Worlds};
use crate::architecture::{Function, Meaning, PacketMethod};
use crate::types::tree::{
    Action, Argument, BinaryOperator, Block, Builtin, Call, Callee, Control, DerivedKind,
    Direction, Expression, ExpressionKind, Id, Link, LocalDeclaration, ParameterInfo, Program,
    Statement, StatementKind, Switch, SwitchLabel, Table, TableResult, Type, UnaryOperator,
    Variable, VariableKind,
};
use std::collections::BTreeSet;
use syntax::{Diagnostic, Diagnostics};

/// Actions and sub-controls are walked through at every use, and every statement may touch every
/// world. A program that needs more effort than this, a unit being one statement in a few worlds, is
/// not followed to its end: some tenths of a second.
const EFFORT_MAX: usize = 200_000;
/// How many worlds make a unit of effort.
const WORLDS_PER_EFFORT: usize = 16;

/// The knowledge behind a table, by its result.
struct Applied {
    /// Behind each action.
    by_action: Vec<(Id<Action>, Worlds)>,
    /// When an entry was found.
    hit: Worlds,
    /// When none was.
    miss: Worlds,
}

impl Applied {
    /// The knowledge where a case of a `switch` on the action is taken; `before` is that in front
    /// of the table.
    fn after(&self, label: &SwitchLabel, switch: &Switch, before: &Worlds) -> Worlds {
        let has_case = |action: &Id<Action>| {
            let mut labels = switch.cases.iter().flat_map(|case| &case.labels);
            labels.any(|label| matches!(label, SwitchLabel::Action(id) if id == action))
        };
        let mut worlds = Worlds::unreached();
        for (action, behind) in &self.by_action {
            let is_meant = match label {
                SwitchLabel::Action(id) => id == action,
                SwitchLabel::Default => !has_case(action),
                SwitchLabel::Value(_) => true,
            };
            if is_meant {
                worlds.join(behind, before);
            }
        }
        worlds
    }
}

/// A walk along a packet's way.
pub(super) struct Walk<'t, 'd> {
    pub program: &'t Program,
    pub places: Places,
    /// The headers that can be valid here.
    pub worlds: Worlds,
    /// Headers whose validity is a key of the table being applied: entries can depend on it.
    trusted: BTreeSet<HeaderIndex>,
    /// The walk gathers knowledge, not mistakes: nothing is reported.
    pub is_silent: bool,
    /// Where `return` statements of the body being walked through left it.
    returned: Worlds,
    /// Where `exit` statements left the block of the architecture.
    pub exited: Worlds,
    pub actions_seen: BTreeSet<Id<Action>>,
    pub controls_seen: BTreeSet<Id<Control>>,
    effort: usize,
    diagnostics: &'d mut Diagnostics,
}

impl<'t, 'd> Walk<'t, 'd> {
    pub fn new(program: &'t Program, diagnostics: &'d mut Diagnostics) -> Walk<'t, 'd> {
        Walk {
            program,
            places: Places::default(),
            worlds: Worlds::unknown(),
            trusted: BTreeSet::new(),
            is_silent: false,
            returned: Worlds::unreached(),
            exited: Worlds::unreached(),
            actions_seen: BTreeSet::new(),
            controls_seen: BTreeSet::new(),
            effort: 0,
            diagnostics,
        }
    }

    /// Something on its own: nothing is known at its start.
    pub fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        self.worlds = Worlds::unknown();
        walk(self);
    }

    /// A control whose parameters are bound.
    pub fn control(&mut self, id: Id<Control>) {
        self.controls_seen.insert(id);
        let control = &self.program.controls[id];
        for local in &control.locals {
            if let LocalDeclaration::Variable { variable, value } = local {
                self.declare(*variable, value.as_ref());
            }
        }
        self.body(&control.body);
    }

    /// A body that `return` leaves.
    pub fn body(&mut self, block: &'t Block) {
        let before = self.worlds.clone();
        let outer = std::mem::replace(&mut self.returned, Worlds::unreached());
        self.block(block);
        let returned = std::mem::replace(&mut self.returned, outer);
        self.worlds.join(&returned, &before);
    }

    fn block(&mut self, block: &'t Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    pub fn statement(&mut self, statement: &'t Statement) {
        if self.is_exhausted() {
            return;
        }
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.expression(value);
                self.target(target);
                self.assign(target, value);
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Call(call) => self.call(call),
            StatementKind::Declare { variable, value } => self.declare(*variable, value.as_ref()),
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value));
                let here = std::mem::replace(&mut self.worlds, Worlds::unreached());
                self.returned.join(&here, &Worlds::unreached());
            }
            StatementKind::Exit => {
                let here = std::mem::replace(&mut self.worlds, Worlds::unreached());
                self.exited.join(&here, &Worlds::unreached());
            }
            // The rest of the loop is not reached; behind the loop nothing is known anyway.
            StatementKind::Break | StatementKind::Continue => self.worlds = Worlds::unreached(),
            StatementKind::If { links, otherwise } => {
                self.conditional(links, otherwise.as_ref());
            }
            StatementKind::Switch(switch) => self.switch(switch),
            StatementKind::For(inner) => self.round(&inner.body),
            StatementKind::ForIn(inner) => self.round(&inner.body),
        }
    }

    /// A round of a loop may see what an earlier one has done.
    fn round(&mut self, body: &'t Block) {
        self.worlds = Worlds::unknown();
        self.block(body);
        self.worlds = Worlds::unknown();
    }

    fn declare(&mut self, variable: Id<Variable>, value: Option<&'t Expression>) {
        value.iter().for_each(|value| self.expression(value));
        let declared = &self.program.variables[variable];
        self.places.bind(variable, None);
        self.places.number_all(self.program, &declared.ty, &(variable, Vec::new()));
        for header in self.places.inside(&(variable, Vec::new())) {
            match value {
                None => self.worlds.set(header, false),
                Some(_) => self.worlds.forget(header),
            }
        }
    }

    fn conditional(&mut self, links: &'t [Link], otherwise: Option<&'t Block>) {
        let mut ways = Vec::with_capacity(links.len());
        for link in links {
            let (yes, no) = self.test(&link.condition);
            let before = self.worlds.clone();
            self.worlds = yes;
            self.block(&link.then);
            let behind_then = std::mem::replace(&mut self.worlds, no);
            ways.push((behind_then, before));
        }
        otherwise.iter().for_each(|block| self.block(block));
        for (behind_then, before) in ways.iter().rev() {
            self.worlds.join(behind_then, before);
        }
    }

    /// Looks at a condition: what is known where it holds, and where not.
    fn test(&mut self, condition: &'t Expression) -> (Worlds, Worlds) {
        match &condition.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
                let (yes, no) = self.test(operand);
                (no, yes)
            }
            ExpressionKind::TableResult { call, result } => {
                let Callee::Table(table) = call.callee else { return self.same_twice() };
                let applied = self.apply(table);
                match result {
                    TableResult::Hit => (applied.hit, applied.miss),
                    TableResult::Miss => (applied.miss, applied.hit),
                    TableResult::ActionRun => self.same_twice(),
                }
            }
            _ => {
                self.expression(condition);
                let (mut yes, mut no) = self.same_twice();
                self.assume(&mut yes, condition, true);
                self.assume(&mut no, condition, false);
                (yes, no)
            }
        }
    }

    fn same_twice(&self) -> (Worlds, Worlds) {
        (self.worlds.clone(), self.worlds.clone())
    }

    /// Counts a unit of work; whether it was one too many, and then nothing is known any more.
    pub fn is_exhausted(&mut self) -> bool {
        self.effort += 1 + self.worlds.count() / WORLDS_PER_EFFORT;
        let is_exhausted = self.effort > EFFORT_MAX;
        if is_exhausted {
            self.worlds = Worlds::unknown();
        }
        is_exhausted
    }

    /// The consequences of a condition for headers where it is true, or false.
    pub fn assume(&mut self, worlds: &mut Worlds, condition: &Expression, holds: bool) {
        match &condition.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
                self.assume(worlds, operand, !holds);
            }
            ExpressionKind::Binary { operator, left, right } => {
                let is_and = *operator == BinaryOperator::LogicalAnd;
                if !is_and && *operator != BinaryOperator::LogicalOr {
                    return;
                }
                if is_and == holds {
                    self.assume(worlds, left, holds);
                    self.assume(worlds, right, holds);
                } else {
                    // One of the two, but it is not known which.
                    let before = worlds.clone();
                    let mut other = worlds.clone();
                    self.assume(worlds, left, holds);
                    self.assume(&mut other, right, holds);
                    worlds.join(&other, &before);
                }
            }
            ExpressionKind::Call(call) => {
                if let Callee::Builtin(Builtin::IsValid, header) = &call.callee
                    && let Some(header) = self.places.header(self.program, header)
                {
                    worlds.assume(header, holds);
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, switch: &'t Switch) {
        let applied = match &switch.subject.kind {
            ExpressionKind::TableResult { call, result: TableResult::ActionRun } => {
                match call.callee {
                    Callee::Table(table) => Some(self.apply(table)),
                    _ => None,
                }
            }
            _ => {
                self.expression(&switch.subject);
                None
            }
        };
        let before = self.worlds.clone();
        let after = |label: &SwitchLabel| match &applied {
            Some(applied) => applied.after(label, switch, &before),
            None => before.clone(),
        };
        let mut labels = switch.cases.iter().flat_map(|case| &case.labels);
        let mut behind = match labels.any(|label| matches!(label, SwitchLabel::Default)) {
            true => Worlds::unreached(),
            false => after(&SwitchLabel::Default),
        };
        for case in &switch.cases {
            self.worlds = Worlds::unreached();
            case.labels.iter().for_each(|label| self.worlds.join(&after(label), &before));
            self.block(&case.body);
            behind.join(&self.worlds, &before);
        }
        self.worlds = behind;
    }

    /// Applies a table: its keys are read, then one of its actions runs.
    fn apply(&mut self, id: Id<Table>) -> Applied {
        let table = &self.program.tables[id];
        let outer = self.trusted.clone();
        for key in &table.keys {
            visit::expression(&key.expression, &mut |node| {
                if let Node::Call(Call {
                    callee: Callee::Builtin(Builtin::IsValid, header), ..
                }) = node
                    && let Some(header) = self.places.header(self.program, header)
                {
                    self.trusted.insert(header);
                }
            });
        }
        table.keys.iter().for_each(|key| self.expression(&key.expression));
        let before = self.worlds.clone();
        let mut by_action = Vec::new();
        let mut hit = Worlds::unreached();
        for listed in &table.actions {
            self.worlds = before.clone();
            self.action(listed.call.action, &listed.call.arguments);
            let is_default_only = listed.is_implied
                || listed.annotations.iter().any(|found| &*found.name.text == "defaultonly");
            if !is_default_only {
                hit.join(&self.worlds, &before);
            }
            by_action.push((listed.call.action, self.worlds.clone()));
        }
        let default = table.default_action.as_ref().map(|default| default.call.action);
        let miss = by_action.iter().find(|(action, _)| Some(*action) == default);
        let miss = miss.map_or(before.clone(), |(_, worlds)| worlds.clone());
        let mut behind = miss.clone();
        by_action.iter().for_each(|(_, worlds)| behind.join(worlds, &before));
        self.worlds = behind;
        self.trusted = outer;
        Applied { by_action, hit, miss }
    }

    fn action(&mut self, id: Id<Action>, arguments: &'t [Argument]) {
        self.actions_seen.insert(id);
        let action = &self.program.actions[id];
        self.pass(&action.parameters, arguments);
        self.body(&action.body);
    }

    /// Reads arguments and binds parameters to those that are places.
    fn pass(&mut self, parameters: &[Id<Variable>], arguments: &'t [Argument]) {
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let Argument::Expression(value) = argument else {
                self.places.bind(*parameter, None);
                continue;
            };
            match self.program.variables[*parameter].kind {
                VariableKind::Parameter(Direction::Out | Direction::InOut) => self.target(value),
                _ => self.expression(value),
            }
            let place = self.places.place(self.program, value);
            self.places.bind(*parameter, place);
        }
    }

    fn call(&mut self, call: &'t Call) {
        match &call.callee {
            Callee::Builtin(builtin, base) => self.builtin(*builtin, base, &call.arguments),
            Callee::Action(id) => self.action(*id, &call.arguments),
            Callee::Table(table) => {
                self.apply(*table);
            }
            Callee::Control { control: Some(id), .. } => {
                let parameters = &self.program.controls[*id].parameters;
                self.pass(parameters, &call.arguments);
                self.control(*id);
            }
            Callee::Function(id) => {
                let function = &self.program.functions[*id];
                self.pass(&function.parameters, &call.arguments);
                self.body(&function.body);
            }
            Callee::ExternFunction(id) => {
                let function = &self.program.extern_functions[*id];
                self.foreign(function.known, &function.parameters, &call.arguments);
            }
            Callee::Method { object, method } => {
                let Type::Extern(of) = object.ty else { return };
                if let Some(method) = self.program.externs[of].methods.get(*method) {
                    self.foreign(method.known, &method.parameters, &call.arguments);
                }
            }
            Callee::Control { control: None, .. } | Callee::Parser { .. } => {
                self.worlds = Worlds::unknown();
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, base: &'t Expression, arguments: &'t [Argument]) {
        for argument in arguments {
            if let Argument::Expression(value) = argument {
                self.expression(value);
            }
        }
        let header = self.places.header(self.program, base);
        match (builtin, header) {
            (Builtin::IsValid, _) => {}
            (Builtin::SetInvalid, Some(header)) => self.worlds.set(header, false),
            (Builtin::SetValid, Some(header)) => self.worlds.set(header, true),
            _ => self.forget(base),
        }
    }

    /// A function or method without a body. `extract` makes valid, `mark_to_drop` makes it
    /// pointless to go on; whatever else is written to is not known behind.
    fn foreign(
        &mut self,
        known: Option<&Function>,
        parameters: &[ParameterInfo],
        arguments: &'t [Argument],
    ) {
        let meaning = known.map(|function| function.meaning);
        // The switch leaves out of a sum the fields of headers that are not valid, so a list may
        // name all that a packet can have.
        let summed = known.and_then(Function::summed_argument);
        for (at, (parameter, argument)) in parameters.iter().zip(arguments).enumerate() {
            let Argument::Expression(value) = argument else { continue };
            if !matches!(parameter.direction, Direction::Out | Direction::InOut) {
                match &value.kind {
                    ExpressionKind::Aggregate(parts) if summed == Some(at) => {
                        parts.iter().for_each(|part| self.summand(part));
                    }
                    _ => self.expression(value),
                }
                continue;
            }
            self.target(value);
            match self.places.header(self.program, value) {
                Some(header) if matches!(meaning, Some(Meaning::Packet(PacketMethod::Extract))) => {
                    self.worlds.set(header, true);
                }
                _ => self.forget(value),
            }
        }
        if matches!(meaning, Some(Meaning::MarkToDrop)) {
            self.worlds = Worlds::unreached();
        }
    }

    /// A part of the data of a sum: a field by itself may be one of a header that is not there.
    fn summand(&mut self, part: &'t Expression) {
        if let ExpressionKind::Field { base, .. } = &part.kind {
            self.expression(base);
        } else {
            self.expression(part);
        }
    }

    /// `target = value` for headers and what contains some.
    fn assign(&mut self, target: &Expression, value: &Expression) {
        let Some(header) = self.places.header(self.program, target) else {
            return self.forget(target);
        };
        let from = self.places.header(self.program, value);
        match (&value.kind, from.map(|from| self.worlds.validity(from))) {
            (ExpressionKind::Aggregate(_), _) | (_, Some(Validity::Valid)) => {
                self.worlds.set(header, true);
            }
            (ExpressionKind::InvalidHeader, _) | (_, Some(Validity::Invalid)) => {
                self.worlds.set(header, false);
            }
            _ => self.worlds.forget(header),
        }
    }

    /// Something unknown is put into this place; a field of a header does not change its validity.
    fn forget(&mut self, target: &Expression) {
        if !matches!(target.ty, Type::Struct(_) | Type::Stack(..)) {
            return;
        }
        match self.places.place(self.program, target) {
            Some(place) => {
                let inside = self.places.inside(&place);
                inside.into_iter().for_each(|header| self.worlds.forget(header));
            }
            None => self.worlds = Worlds::unknown(),
        }
    }

    /// A place that is written to: a header that surely is not valid keeps nothing.
    fn target(&mut self, target: &'t Expression) {
        match &target.kind {
            ExpressionKind::Field { base, .. } => {
                self.check(base, target, false);
                self.target(base);
            }
            ExpressionKind::Index { base, index }
            | ExpressionKind::SliceFrom { base, low: index } => {
                self.expression(index);
                self.target(base);
            }
            ExpressionKind::Slice { base, .. } => self.target(base),
            _ => {}
        }
    }

    /// A value that is read. The operands that the right side of `&&` or `||` and a conditional
    /// read depend on their left sides: tests of validity are believed.
    pub fn expression(&mut self, value: &'t Expression) {
        match &value.kind {
            ExpressionKind::Binary {
                operator: operator @ (BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr),
                left,
                right,
            } => {
                let (yes, no) = self.test(left);
                let before = self.worlds.clone();
                let is_and = *operator == BinaryOperator::LogicalAnd;
                self.worlds = if is_and { yes } else { no };
                self.expression(right);
                self.worlds = before;
            }
            ExpressionKind::Conditional { condition, then, otherwise } => {
                let (yes, no) = self.test(condition);
                let before = self.worlds.clone();
                self.worlds = yes;
                self.expression(then);
                self.worlds = no;
                self.expression(otherwise);
                self.worlds = before;
            }
            ExpressionKind::Field { base, .. } => {
                self.check(base, value, true);
                self.expression(base);
            }
            ExpressionKind::Call(call) | ExpressionKind::TableResult { call, .. } => {
                self.call(call);
            }
            ExpressionKind::Cast(inner)
            | ExpressionKind::Slice { base: inner, .. }
            | ExpressionKind::Unary { operand: inner, .. } => self.expression(inner),
            ExpressionKind::Binary { left, right, .. }
            | ExpressionKind::Index { base: left, index: right }
            | ExpressionKind::SliceFrom { base: left, low: right } => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Aggregate(parts) => parts.iter().for_each(|part| self.expression(part)),
            _ => {}
        }
    }

    /// Reports a field of a header that is not valid, or, where it is read, not always.
    fn check(&mut self, header: &Expression, field: &Expression, is_read: bool) {
        if self.is_silent || kind(self.program, &header.ty) != Some(DerivedKind::Header) {
            return;
        }
        let Some(index) = self.places.header(self.program, header) else { return };
        match self.worlds.validity(index) {
            Validity::Invalid => self.diagnostics.push(
                Diagnostic::warning("invalid-header", field.span, "this header is not valid here")
                    .hint("its fields have no values; call setValid() first, or test isValid()"),
            ),
            Validity::Maybe if is_read && !self.trusted.contains(&index) => {
                let name = written(self.program, header);
                let title = format!("`{name}` is not valid in every packet that gets here");
                let hint = format!("test it first: if ({name}.isValid()) {{ ... }}");
                self.diagnostics
                    .push(Diagnostic::warning("invalid-header", field.span, title).hint(hint));
                // One report says it; what follows would only repeat it.
                self.worlds.forget(index);
            }
            _ => {}
        }
    }
}
