//! Fields of headers that cannot be valid at that place.
//!
//! A walk along the statements of one body with the set of headers that surely are not valid:
//! after `setInvalid()`, where `isValid()` was false, and header variables that nothing was put
//! into. Calls may change anything and empty the set, so what is reported is certain.

use super::visit::{self, Node};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::types::tree::{
    Argument, BinaryOperator, Block, Builtin, Call, Callee, DerivedKind, Expression,
    ExpressionKind, Id, Program, Statement, StatementKind, SwitchLabel, Type, UnaryOperator, Value,
    Variable,
};
use std::collections::BTreeSet;

/// Uses of fields of headers that are not valid.
pub(super) fn uses(program: &Program, diagnostics: &mut Diagnostics) {
    let bodies = program
        .actions
        .iter()
        .map(|(_, action)| &action.body)
        .chain(program.functions.iter().map(|(_, function)| &function.body))
        .chain(program.controls.iter().map(|(_, control)| &control.body));
    for body in bodies {
        Walk { program, invalid: BTreeSet::new(), diagnostics }.block(body);
    }
}

/// A header's place: a variable and the way into it.
type Place = (Id<Variable>, Vec<usize>);

struct Walk<'t, 'd> {
    program: &'t Program,
    /// Headers that surely are not valid here.
    invalid: BTreeSet<Place>,
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
                self.expression(value);
                self.expression(target);
                self.forget(target);
            }
            StatementKind::Block(block) => return self.block(block),
            StatementKind::Call(call) => self.call(call),
            StatementKind::Declare { variable, value } => {
                value.iter().for_each(|value| self.expression(value));
                if value.is_none() && self.is_header(&self.program.variables[*variable].ty) {
                    self.invalid.insert((*variable, Vec::new()));
                }
            }
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.expression(value));
                return false;
            }
            StatementKind::Exit | StatementKind::Break | StatementKind::Continue => return false,
            StatementKind::If { condition, then, otherwise } => {
                return self.conditional(condition, then, otherwise.as_ref());
            }
            StatementKind::Switch(switch) => {
                self.expression(&switch.subject);
                let has_default = switch
                    .cases
                    .iter()
                    .flat_map(|case| &case.labels)
                    .any(|label| matches!(label, SwitchLabel::Default));
                let before = self.invalid.clone();
                let mut ways: Vec<BTreeSet<Place>> = Vec::new();
                for case in &switch.cases {
                    self.invalid = before.clone();
                    if self.block(&case.body) {
                        ways.push(std::mem::take(&mut self.invalid));
                    }
                }
                ways.extend((!has_default).then_some(before));
                return self.join(ways);
            }
            // A round may see what an earlier one has done.
            StatementKind::For(inner) => {
                self.invalid.clear();
                self.block(&inner.body);
                self.invalid.clear();
            }
            StatementKind::ForIn(inner) => {
                self.invalid.clear();
                self.block(&inner.body);
                self.invalid.clear();
            }
        }
        true
    }

    fn conditional(
        &mut self,
        condition: &'t Expression,
        then: &'t Block,
        otherwise: Option<&'t Block>,
    ) -> bool {
        self.expression(condition);
        let before = self.invalid.clone();
        let mut ways = Vec::new();
        self.assume(condition, true);
        if self.block(then) {
            ways.push(std::mem::take(&mut self.invalid));
        }
        self.invalid = before;
        self.assume(condition, false);
        if otherwise.is_none_or(|block| self.block(block)) {
            ways.push(std::mem::take(&mut self.invalid));
        }
        self.join(ways)
    }

    /// Behind several ways a header is surely invalid if it is at the end of each.
    fn join(&mut self, ways: Vec<BTreeSet<Place>>) -> bool {
        let goes_on = !ways.is_empty();
        let both = |l: BTreeSet<Place>, r: BTreeSet<Place>| l.intersection(&r).cloned().collect();
        self.invalid = ways.into_iter().reduce(both).unwrap_or_default();
        goes_on
    }

    /// What a condition says about headers where it is true, or false.
    fn assume(&mut self, condition: &Expression, holds: bool) {
        match &condition.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
                self.assume(operand, !holds);
            }
            ExpressionKind::Binary { operator, left, right } => {
                let tells_both = match operator {
                    BinaryOperator::LogicalAnd => holds,
                    BinaryOperator::LogicalOr => !holds,
                    _ => false,
                };
                if tells_both {
                    self.assume(left, holds);
                    self.assume(right, holds);
                } else {
                    // One of the two may have made it valid for the rest.
                    self.forget_tested(left);
                    self.forget_tested(right);
                }
            }
            ExpressionKind::Call(call) => {
                if let Callee::Builtin(Builtin::IsValid, header) = &call.callee
                    && let Some(place) = place(header)
                    && self.is_header(&header.ty)
                {
                    if holds {
                        self.invalid.remove(&place);
                    } else {
                        self.invalid.insert(place);
                    }
                }
            }
            _ => {}
        }
    }

    fn forget_tested(&mut self, condition: &Expression) {
        visit::expression(condition, &mut |node| {
            if let Node::Call(Call { callee: Callee::Builtin(Builtin::IsValid, header), .. }) = node
                && let Some(place) = place(header)
            {
                self.invalid.remove(&place);
            }
        });
    }

    fn call(&mut self, call: &'t Call) {
        for argument in &call.arguments {
            if let Argument::Expression(value) = argument {
                self.expression(value);
            }
        }
        match &call.callee {
            Callee::Builtin(Builtin::SetInvalid, header) => {
                self.invalid.extend(place(header).filter(|_| self.is_header(&header.ty)));
            }
            Callee::Builtin(Builtin::SetValid, header) => {
                place(header).iter().for_each(|place| {
                    self.invalid.remove(place);
                });
            }
            Callee::Builtin(Builtin::IsValid, _) => {}
            Callee::ExternFunction(_) | Callee::Method { .. } => {
                for argument in &call.arguments {
                    if let Argument::Expression(value) = argument {
                        self.forget(value);
                    }
                }
            }
            _ => self.invalid.clear(),
        }
    }

    /// Something is put into this place: into the header, around it or, for a field, only there.
    fn forget(&mut self, target: &Expression) {
        if let Some((variable, way)) = place(target) {
            self.invalid.retain(|(other, inner)| *other != variable || !inner.starts_with(&way));
        } else if matches!(target.ty, Type::Struct(_) | Type::Stack(..)) {
            self.invalid.clear();
        }
    }

    /// Reports fields of invalid headers. What the right side of `&&` or `||` and a conditional
    /// look at depends on their left sides: tests of validity are believed.
    fn expression(&mut self, value: &'t Expression) {
        match &value.kind {
            ExpressionKind::Binary {
                operator: operator @ (BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr),
                left,
                right,
            } => {
                self.expression(left);
                let before = self.invalid.clone();
                self.assume(left, *operator == BinaryOperator::LogicalAnd);
                self.expression(right);
                self.invalid = before;
            }
            ExpressionKind::Conditional { condition, then, otherwise } => {
                self.expression(condition);
                let before = self.invalid.clone();
                self.assume(condition, true);
                self.expression(then);
                self.invalid = before.clone();
                self.assume(condition, false);
                self.expression(otherwise);
                self.invalid = before;
            }
            ExpressionKind::Field { base, .. } => {
                self.check_field(base, value);
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

    fn check_field(&mut self, header: &Expression, field: &Expression) {
        let is_invalid = place(header).is_some_and(|place| self.invalid.contains(&place));
        if is_invalid && self.is_header(&header.ty) {
            self.diagnostics.push(
                Diagnostic::warning("invalid-header", field.span, "this header is not valid here")
                    .hint("its fields have no values; call setValid() first, or test isValid()"),
            );
        }
    }

    fn is_header(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id) => self.program.structs[*id].kind == DerivedKind::Header,
            _ => false,
        }
    }
}

/// The place of a variable, field or element of constant index.
fn place(expression: &Expression) -> Option<Place> {
    match &expression.kind {
        ExpressionKind::Variable(id) => Some((*id, Vec::new())),
        ExpressionKind::Field { base, field } => {
            let (variable, mut way) = place(base)?;
            way.push(*field);
            Some((variable, way))
        }
        ExpressionKind::Index { base, index } => {
            let ExpressionKind::Constant(Value::Integer(at)) = &index.kind else { return None };
            let (variable, mut way) = place(base)?;
            way.push(usize::try_from(at).ok()?);
            Some((variable, way))
        }
        _ => None,
    }
}
