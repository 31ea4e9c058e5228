//! Operators in a row: `a + b - c + d`.
//!
//! The grammar brackets them from the left, one level an operator. Where the value does not depend on
//! the brackets, a long row is bracketed in halves instead, so that a sum of thousands is no deeper than
//! one of a few: not for the phases that walk the tree, nor for the switch that evaluates it.

use crate::Span;
use crate::tree::{BinaryOperator, Expression, ExpressionKind};

/// Longest row that is bracketed from the left whatever its operators.
const LEFT_MAX: usize = 64;

/// An operator and what stands behind it.
struct Step {
    operator: BinaryOperator,
    operator_span: Span,
    right: Expression,
}

/// Operands joined by operators that may be bracketed as one likes.
pub(super) struct Row {
    first: Expression,
    steps: Vec<Step>,
}

impl Row {
    /// A row of one operand.
    pub(super) fn new(first: Expression) -> Row {
        Row { first, steps: Vec::new() }
    }

    /// The depth of the row's brackets at most, by the operands until now.
    pub(super) fn levels(&self) -> usize {
        self.steps.len().min(LEFT_MAX)
    }

    /// Adds an operator that the row [takes](Row::takes).
    pub(super) fn push(
        &mut self,
        operator: BinaryOperator,
        operator_span: Span,
        right: Expression,
    ) {
        self.steps.push(Step { operator, operator_span, right });
    }

    /// Whether `operator` may join the row.
    pub(super) fn takes(&self, operator: BinaryOperator) -> bool {
        self.steps.first().is_none_or(|step| mix(step.operator, operator))
    }

    pub(super) fn bracketed(self) -> Expression {
        if self.steps.len() > LEFT_MAX {
            return halves(self.first, self.steps);
        }
        self.steps.into_iter().fold(self.first, join)
    }
}

/// Whether `(a x b) y c` may be bracketed the other way round; for differences the operators behind
/// the bracket change.
fn mix(one: BinaryOperator, other: BinaryOperator) -> bool {
    use BinaryOperator::{
        Add, BitAnd, BitOr, BitXor, Concat, LogicalAnd, LogicalOr, Multiply, Subtract,
    };
    match (one, other) {
        (Add | Subtract, Add | Subtract) => true,
        (BitAnd | BitOr | BitXor | Concat | LogicalAnd | LogicalOr | Multiply, _) => one == other,
        _ => false,
    }
}

fn join(left: Expression, step: Step) -> Expression {
    let Step { operator, operator_span, right } = step;
    let span = left.span.to(right.span);
    let (left, right) = (Box::new(left), Box::new(right));
    Expression { kind: ExpressionKind::Binary { operator, operator_span, left, right }, span }
}

/// Both halves of the row, joined by the operator between them.
fn halves(first: Expression, mut steps: Vec<Step>) -> Expression {
    if steps.len() <= 1 {
        return steps.into_iter().fold(first, join);
    }
    let mut behind = steps.split_off(steps.len() / 2);
    let middle = behind.remove(0);
    if middle.operator == BinaryOperator::Subtract {
        // a - b + c - d is a - (b - c + d).
        behind.iter_mut().for_each(|step| step.operator = opposite(step.operator));
    }
    let right = halves(middle.right, behind);
    join(halves(first, steps), Step { right, ..middle })
}

/// The inverse of an addition, for the right side of a minus.
fn opposite(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Add => BinaryOperator::Subtract,
        _ => BinaryOperator::Add,
    }
}
