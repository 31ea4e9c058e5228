//! Calls that clear a header union by the way.
//!
//! `u.b.setInvalid()` makes the whole union invalid (specification, "Header unions"); bmv2's compiler
//! leaves the other members as they are, and programs rely on that.

use super::places::{kind, written};
use crate::types::tree::{
    Block, Builtin, Call, Callee, DerivedKind, Expression, ExpressionKind, Program, Statement,
    StatementKind,
};
use std::collections::BTreeMap;
use syntax::{Diagnostic, Diagnostics, Span};

/// Members made invalid after another one of the same union was made valid.
pub(super) fn clears(program: &Program, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { program, valid: BTreeMap::new(), diagnostics };
    let bodies = program
        .actions
        .iter()
        .map(|(_, action)| &action.body)
        .chain(program.functions.iter().map(|(_, function)| &function.body))
        .chain(program.controls.iter().map(|(_, control)| &control.body));
    for body in bodies {
        walk.valid.clear();
        walk.block(body);
    }
}

/// Follows the statements of one body.
struct Walk<'t, 'd> {
    program: &'t Program,
    /// By union: the member that was made valid, and where.
    valid: BTreeMap<String, (String, Span)>,
    diagnostics: &'d mut Diagnostics,
}

impl<'t> Walk<'t, '_> {
    fn block(&mut self, block: &'t Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => match self.member(target) {
                Some((union, member)) if value.kind != ExpressionKind::InvalidHeader => {
                    self.valid.insert(union, (member, statement.span));
                }
                _ => {
                    self.valid.remove(&written(self.program, target));
                }
            },
            StatementKind::Block(block) => self.block(block),
            StatementKind::Call(call) => self.call(call),
            StatementKind::If { links, otherwise } => {
                let bodies = links.iter().map(|link| &link.then).chain(otherwise);
                self.branches(bodies);
            }
            StatementKind::Switch(switch) => {
                self.branches(switch.cases.iter().map(|case| &case.body));
            }
            StatementKind::For(inner) => self.block(&inner.body),
            StatementKind::ForIn(inner) => self.block(&inner.body),
            StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Declare { .. }
            | StatementKind::Exit
            | StatementKind::Return(_) => {}
        }
    }

    /// Ways that exclude each other: behind them only what was known in front is known.
    fn branches(&mut self, bodies: impl Iterator<Item = &'t Block>) {
        let before = self.valid.clone();
        for body in bodies {
            self.valid.clone_from(&before);
            self.block(body);
        }
        self.valid = before;
    }

    fn call(&mut self, call: &Call) {
        let Callee::Builtin(builtin, header) = &call.callee else { return };
        let Some((union, member)) = self.member(header) else { return };
        match builtin {
            Builtin::SetValid => {
                self.valid.insert(union, (member, call.span));
            }
            Builtin::SetInvalid => match self.valid.remove(&union) {
                Some((other, made)) if other != member => {
                    let title = format!("this makes `{other}` invalid, too");
                    self.diagnostics.push(
                        Diagnostic::warning("union-cleared", call.span, title)
                            .related(made, format!("`{other}` is made valid here"))
                            .hint(format!(
                                "a header union has one valid header: leave this call out, \
                                 `{member}` is invalid already"
                            )),
                    );
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// A member of a union: the union and the member as they are written.
    fn member(&self, header: &Expression) -> Option<(String, String)> {
        let ExpressionKind::Field { base, .. } = &header.kind else { return None };
        (kind(self.program, &base.ty) == Some(DerivedKind::HeaderUnion))
            .then(|| (written(self.program, base), written(self.program, header)))
    }
}
