//! `switch`: on the action that a table ran, and on values.
//!
//! Before: the statement as written. After: cases with their labels; labels without a block belong to the
//! next one that has one. On the result of a table the labels are actions of that table, on a value they
//! are constants of its type; no label is there twice, and `default` is the last.

use super::lvalue::same_value;
use super::scope::Binding;
use super::{BodyKind, Checker, is_constant};
use crate::types::tree::{
    Action, Block, Callee, Expression, ExpressionKind, Id, StatementKind, Switch, SwitchCase,
    SwitchLabel, Table, TableResult, Type,
};
use syntax::tree as ast;
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// `switch (subject) { cases }`.
    pub(super) fn switch(
        &mut self,
        subject: &'a ast::Expression,
        cases: &'a [ast::SwitchCase],
        span: Span,
    ) -> Option<StatementKind> {
        if self.body.kind == BodyKind::Parser {
            self.error("switch", span, "a parser has no `switch`; use `select`");
            return None;
        }
        let subject = self.expression(subject, None);
        if !is_switchable(self.original(&subject.ty)) {
            let title = format!("a `{}` cannot be switched by", self.show(&subject.ty));
            self.error("switch", subject.span, title);
            return None;
        }
        let head = span.to(subject.span);
        let table = table_of(&subject);
        let mut misfits = Vec::new();
        let mut made: Vec<SwitchCase> = Vec::new();
        let mut labels: Vec<SwitchLabel> = Vec::new();
        let mut seen: Vec<(SwitchLabel, Span)> = Vec::new();
        let mut start = None;
        for case in cases {
            if let Some((_, first)) =
                seen.iter().find(|(label, _)| matches!(label, SwitchLabel::Default))
            {
                let first = *first;
                let title = "`default` must be the last case of a `switch`";
                self.report(
                    Diagnostic::error("switch", head, title)
                        .related(first, "`default`")
                        .related(case.span, "this case follows it"),
                );
            }
            let label = match table {
                Some(table) => self.action_label(table, &case.label),
                None => {
                    let (label, messages) =
                        self.capture(|checker| checker.value_label(&subject.ty, &case.label));
                    self.sort_misfits(messages, &mut misfits);
                    label
                }
            };
            if let Some(label) = label {
                self.check_label(&label, &mut seen, case.span);
                labels.push(label);
            }
            start.get_or_insert(case.span);
            if let Some(body) = &case.body {
                let body = self.block(body);
                let span = start.take().unwrap_or(case.span);
                made.push(SwitchCase { labels: std::mem::take(&mut labels), body, span });
            }
        }
        self.report_misfits("switch", head, std::slice::from_ref(&subject.ty), misfits);
        if let Some(span) = start {
            made.push(SwitchCase { labels, body: Block::default(), span });
        }
        (subject.ty != Type::Wrong)
            .then_some(StatementKind::Switch(Switch { subject, cases: made }))
    }

    /// A second case of one label would never be taken.
    fn check_label(
        &mut self,
        label: &SwitchLabel,
        seen: &mut Vec<(SwitchLabel, Span)>,
        span: Span,
    ) {
        let known = seen.iter().find(|(other, _)| same_label(label, other));
        if let Some((_, first)) = known {
            let first = *first;
            self.report(
                Diagnostic::error("switch", span, "there are two cases for this")
                    .related(first, "the other one"),
            );
        }
        seen.push((label.clone(), span));
    }

    /// The name of an action that the table has.
    fn action_label(
        &mut self,
        table: Id<Table>,
        label: &'a ast::SwitchLabel,
    ) -> Option<SwitchLabel> {
        let ast::SwitchLabel::Expression(written) = label else {
            return Some(SwitchLabel::Default);
        };
        let ast::ExpressionKind::Name(name) = &written.kind else {
            self.error("switch", written.span, "a case of this switch is the name of an action");
            return None;
        };
        if self.is_asked(&name.name) {
            self.offer_actions(table);
            return None;
        }
        let action = match self.resolve(name) {
            Some(Binding::Action(id)) => id,
            _ => {
                self.report_unknown("action", &name.name);
                return None;
            }
        };
        if !self.table_has(table, action) {
            let title = format!(
                "table `{}` has no action `{}`",
                self.program.tables[table].name.text, name.name.text
            );
            self.error("switch", written.span, title);
            return None;
        }
        Some(SwitchLabel::Action(action))
    }

    /// Whether the table can run the action.
    fn table_has(&self, table: Id<Table>, action: Id<Action>) -> bool {
        self.program.tables[table].actions.iter().any(|known| known.call.action == action)
    }

    /// A constant of the type of the `switch`'s expression.
    fn value_label(&mut self, ty: &Type, label: &'a ast::SwitchLabel) -> Option<SwitchLabel> {
        let ast::SwitchLabel::Expression(written) = label else {
            return Some(SwitchLabel::Default);
        };
        let value: Expression = self.expression_of(written, ty);
        if value.ty == Type::Wrong {
            return None;
        }
        if !is_constant(&value) {
            let title = "the value of a case must be known at compile time";
            self.error("constant", value.span, title);
            return None;
        }
        Some(SwitchLabel::Value(value))
    }
}

/// Types with a few values to tell apart.
fn is_switchable(ty: &Type) -> bool {
    let is_number = matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Integer | Type::Bool);
    is_number || matches!(ty, Type::Enum(_) | Type::Error | Type::Action | Type::Wrong)
}

/// Whether two labels are taken at the same time.
fn same_label(left: &SwitchLabel, right: &SwitchLabel) -> bool {
    match (left, right) {
        (SwitchLabel::Action(l), SwitchLabel::Action(r)) => l == r,
        (SwitchLabel::Value(l), SwitchLabel::Value(r)) => same_value(l, r),
        _ => false,
    }
}

/// The table whose `action_run` this is.
fn table_of(subject: &Expression) -> Option<Id<Table>> {
    match &subject.kind {
        ExpressionKind::TableResult { call, result: TableResult::ActionRun } => match call.callee {
            Callee::Table(table) => Some(table),
            _ => None,
        },
        _ => None,
    }
}
