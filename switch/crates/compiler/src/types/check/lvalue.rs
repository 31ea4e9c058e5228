//! Places that can be written to.

use super::{BodyKind, Checker};
use crate::types::tree::{Expression, ExpressionKind, Type};
use syntax::Diagnostic;

impl Checker<'_, '_> {
    /// Whether the expression is a place that can be written to; reports it otherwise.
    pub(super) fn require_lvalue(&mut self, target: &Expression) -> bool {
        if target.ty == Type::Wrong {
            return false;
        }
        match &target.kind {
            ExpressionKind::Variable(id) => {
                let variable = &self.program.variables[*id];
                if self.is_writable(variable.kind) {
                    return true;
                }
                let title = format!("`{}` cannot be written to", variable.name.text);
                let declared = variable.span;
                self.report(
                    Diagnostic::error("lvalue", target.span, title)
                        .related(declared, "declared here")
                        .hint("parameters need `inout` or `out` to be written to"),
                );
                false
            }
            ExpressionKind::Field { base, .. }
            | ExpressionKind::Index { base, .. }
            | ExpressionKind::Slice { base, .. }
            | ExpressionKind::SliceFrom { base, .. } => {
                let base = base.clone();
                self.require_lvalue(&base)
            }
            ExpressionKind::StackNext(base) | ExpressionKind::StackLast(base) => {
                if self.body.kind != BodyKind::Parser {
                    self.error("lvalue", target.span, "only a parser can do this");
                    return false;
                }
                let base = base.clone();
                self.require_lvalue(&base)
            }
            _ => {
                let title = "this cannot be written to: it is no variable, field or bits of one";
                self.error("lvalue", target.span, title);
                false
            }
        }
    }
}

/// Whether two constants of one type are the same, places aside.
pub(super) fn same_value(left: &Expression, right: &Expression) -> bool {
    match (&left.kind, &right.kind) {
        (ExpressionKind::Aggregate(l), ExpressionKind::Aggregate(r)) => {
            l.len() == r.len() && l.iter().zip(r).all(|(l, r)| same_value(l, r))
        }
        (ExpressionKind::Constant(l), ExpressionKind::Constant(r)) => l == r,
        (ExpressionKind::InvalidHeader, ExpressionKind::InvalidHeader) => true,
        _ => false,
    }
}

/// Whether evaluating the expression can change anything.
pub(super) fn has_effects(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Call(_) | ExpressionKind::TableResult { .. } => true,
        ExpressionKind::Aggregate(parts) => parts.iter().any(has_effects),
        ExpressionKind::Binary { left, right, .. } => has_effects(left) || has_effects(right),
        ExpressionKind::Cast(inner)
        | ExpressionKind::StackLast(inner)
        | ExpressionKind::StackLastIndex(inner)
        | ExpressionKind::StackNext(inner)
        | ExpressionKind::Field { base: inner, .. }
        | ExpressionKind::Slice { base: inner, .. }
        | ExpressionKind::Unary { operand: inner, .. } => has_effects(inner),
        ExpressionKind::Conditional { condition, then, otherwise } => {
            has_effects(condition) || has_effects(then) || has_effects(otherwise)
        }
        ExpressionKind::Index { base, index: inner }
        | ExpressionKind::SliceFrom { base, low: inner } => has_effects(base) || has_effects(inner),
        ExpressionKind::Constant(_)
        | ExpressionKind::Instance(_)
        | ExpressionKind::InvalidHeader
        | ExpressionKind::This
        | ExpressionKind::Variable(_) => false,
    }
}
