//! Operators: types of operands, implicit casts between them, folding.
//!
//! Before: operator and operands as written. After: an operation on operands of the types that the
//! specification has it for, or its result where both are known. A number without a width takes the
//! other side's; nothing else is converted. Every number of an operation that is left has a width,
//! because the switch computes with one.

use super::convert::{address_hint, is_number, unary_operator};
use super::type_ref::WIDTH_MAX;
use super::{Checker, constant, is_constant, wrong};
use crate::types::constant::{FoldError, binary, unary};
use crate::types::tree::{Expression, ExpressionKind, Type, UnaryOperator, Value, VariableKind};
use bits::Int;
use syntax::tree::{self as ast, BinaryOperator};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// `!x`, `~x`, `-x`, `+x`.
    pub(super) fn unary(
        &mut self,
        operator: ast::UnaryOperator,
        operand: &'a ast::Expression,
        span: Span,
    ) -> Expression {
        let value = self.expression(operand, None);
        let value = self.enum_to_number(value);
        let fits = match (operator, &value.ty) {
            (_, Type::Wrong) => return wrong(span),
            (ast::UnaryOperator::Not, ty) => *ty == Type::Bool,
            (ast::UnaryOperator::Complement, ty) => matches!(ty, Type::Bit(_) | Type::Int(_)),
            (_, ty) => is_number(ty),
        };
        if !fits {
            let title = format!(
                "`{}` cannot be applied to a `{}`",
                operator.symbol(),
                self.show(&value.ty)
            );
            let mut diagnostic = Diagnostic::error("type", span, title);
            if operator == ast::UnaryOperator::Complement && value.ty == Type::Integer {
                diagnostic = diagnostic.hint("give the number a width: 8w1");
            }
            self.report(diagnostic);
            return wrong(span);
        }
        match unary_operator(operator) {
            None => Expression { span, ..value },
            Some(operator) => self.make_unary(operator, value, span),
        }
    }

    /// The operation, folded where the operand is known.
    fn make_unary(&mut self, operator: UnaryOperator, value: Expression, span: Span) -> Expression {
        let ty = value.ty.clone();
        if let ExpressionKind::Constant(known) = &value.kind
            && let Ok(made) = unary(operator, known, &ty)
        {
            return constant(made, ty, span);
        }
        let kind = ExpressionKind::Unary { operator, operand: Box::new(value) };
        Expression { kind, ty, span }
    }

    /// `left operator right`.
    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &'a ast::Expression,
        right: &'a ast::Expression,
        span: Span,
    ) -> Expression {
        let left = self.expression(left, None);
        // The left side's type helps to understand `{...}` and `{#}` on the right.
        let hint = left.ty.clone();
        let right = self.expression(right, Some(&hint));
        self.apply_binary(operator, left, right, span)
    }

    /// The operation on operands that are checked already: also that of `op=`.
    pub(super) fn apply_binary(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Expression {
        use BinaryOperator as Op;
        if left.ty == Type::Wrong || right.ty == Type::Wrong {
            return wrong(span);
        }
        match operator {
            Op::LogicalAnd | Op::LogicalOr => self.logical(operator, left, right, span),
            Op::Equal | Op::NotEqual => self.equality(operator, left, right, span),
            Op::ShiftLeft | Op::ShiftRight => self.shift(operator, left, right, span),
            Op::Concat => self.concat(left, right, span),
            _ => self.arithmetic(operator, left, right, span),
        }
    }

    /// `&&` and `||`: the right side may not be evaluated at all.
    fn logical(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Expression {
        for side in [&left, &right] {
            if side.ty != Type::Bool {
                let title = format!(
                    "`{}` needs a bool, not a `{}`",
                    operator.symbol(),
                    self.show(&side.ty)
                );
                let hint = "compare with something: x != 0";
                self.report(Diagnostic::error("type", side.span, title).hint(hint));
                return wrong(span);
            }
        }
        // A known left side decides, or leaves the right one.
        if let ExpressionKind::Constant(Value::Bool(known)) = left.kind {
            let decides = known == (operator == BinaryOperator::LogicalOr);
            let chosen = if decides { left } else { right };
            return Expression { span, ..chosen };
        }
        self.make_binary(operator, left, right, Type::Bool, span)
    }

    /// `==` and `!=`: the only operators of structs, headers, tuples and stacks, which are equal
    /// if all parts are.
    fn equality(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Expression {
        let Some((left, right)) = self.same_type(left, right) else { return wrong(span) };
        let ty = left.ty.clone();
        if !self.is_comparable(&ty) {
            let title = format!("values of `{}` cannot be compared", self.show(&ty));
            self.error("type", span, title);
            return wrong(span);
        }
        self.make_binary(operator, left, right, Type::Bool, span)
    }

    /// Whether `==` has a meaning; values of a type parameter have none.
    fn is_comparable(&self, ty: &Type) -> bool {
        match ty {
            Type::Bit(_) | Type::Int(_) | Type::Integer | Type::Bool | Type::Varbit(_) => true,
            Type::Enum(_) | Type::Error | Type::String | Type::MatchKind => true,
            Type::New(_) => self.is_comparable(self.original(ty)),
            Type::Stack(element, _) => self.is_comparable(element),
            Type::Tuple(elements) => elements.iter().all(|ty| self.is_comparable(ty)),
            Type::List(element) => self.is_comparable(element),
            Type::Struct(id) => {
                self.program.structs[*id].fields.iter().all(|field| self.is_comparable(&field.ty))
            }
            _ => false,
        }
    }

    /// `<<` and `>>`: the two sides need not have one type, and the right one must not be
    /// negative.
    fn shift(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Expression {
        let left = self.enum_to_number(left);
        let right = self.enum_to_number(right);
        if !is_number(&left.ty) {
            return self.not_for(operator, &left.ty, left.span, span);
        }
        let is_known = is_constant(&right);
        let is_possible = match &right.ty {
            Type::Bit(_) => true,
            Type::Int(_) | Type::Integer => is_known,
            _ => false,
        };
        if !is_possible {
            let title = format!("a shift by a `{}` is not possible", self.show(&right.ty));
            let hint = "shift by an unsigned number, bit<N>";
            self.report(Diagnostic::error("type", right.span, title).hint(hint));
            return wrong(span);
        }
        if let ExpressionKind::Constant(Value::Integer(count)) = &right.kind
            && count.is_negative()
        {
            let title = format!("a shift by a negative number, {count}");
            self.error("range", right.span, title);
            return wrong(span);
        }
        if left.ty == Type::Integer && !is_known {
            let title = "the width of the shifted number is not known";
            let hint = "give it a width: 8w1 << n";
            self.report(Diagnostic::error("type", left.span, title).hint(hint));
            return wrong(span);
        }
        let right = match right.ty {
            // The back end wants a width on every number of a run-time operation.
            Type::Integer | Type::Int(_) if !is_constant(&left) => self.shift_count(right),
            _ => right,
        };
        let ty = left.ty.clone();
        self.make_binary(operator, left, right, ty, span)
    }

    /// A constant shift count as `bit<32>`; larger ones shift everything out anyway.
    fn shift_count(&mut self, count: Expression) -> Expression {
        let number = match count.kind {
            ExpressionKind::Constant(Value::Integer(number)) => number,
            _ => bits::Int::zero(),
        };
        let number = number.min(bits::Int::from(u32::MAX));
        constant(Value::Integer(number), Type::Bit(32), count.span)
    }

    /// `++`: the widths add up, and the left side says whether the result is signed.
    fn concat(&mut self, left: Expression, right: Expression, span: Span) -> Expression {
        if left.ty == Type::String && right.ty == Type::String {
            return self.make_binary(BinaryOperator::Concat, left, right, Type::String, span);
        }
        let left = self.enum_to_number(left);
        let right = self.enum_to_number(right);
        let ty = match (&left.ty, &right.ty) {
            (Type::Bit(l), Type::Bit(r) | Type::Int(r)) => Type::Bit(l.saturating_add(*r)),
            (Type::Int(l), Type::Bit(r) | Type::Int(r)) => Type::Int(l.saturating_add(*r)),
            (l, r) => {
                let bad = if matches!(l, Type::Bit(_) | Type::Int(_)) { r } else { l };
                let title =
                    format!("`++` needs numbers of known width, not a `{}`", self.show(bad));
                self.report(
                    Diagnostic::error("type", span, title).hint("give the number a width: 8w1"),
                );
                return wrong(span);
            }
        };
        if matches!(ty, Type::Bit(width) | Type::Int(width) if width > WIDTH_MAX) {
            self.error("type", span, format!("this is wider than {WIDTH_MAX} bits"));
            return wrong(span);
        }
        self.make_binary(BinaryOperator::Concat, left, right, ty, span)
    }

    /// Everything that wants two numbers of one type.
    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        span: Span,
    ) -> Expression {
        use BinaryOperator as Op;
        let left = self.enum_to_number(left);
        let right = self.enum_to_number(right);
        for side in [&left, &right] {
            if !is_number(&side.ty) {
                return self.not_for(operator, &side.ty.clone(), side.span, span);
            }
        }
        let Some((left, right)) = self.same_type(left, right) else { return wrong(span) };
        let ty = left.ty.clone();
        let is_possible = match operator {
            Op::Divide | Op::Modulo => !matches!(ty, Type::Int(_)),
            Op::AddSaturating | Op::SubtractSaturating => ty != Type::Integer,
            _ => true,
        };
        if !is_possible {
            return self.not_for(operator, &ty, span, span);
        }
        if matches!(operator, Op::Divide | Op::Modulo) {
            self.check_division(&left, &right, span);
        }
        let is_comparison =
            matches!(operator, Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual);
        let result = if is_comparison { Type::Bool } else { ty };
        self.make_binary(operator, left, right, result, span)
    }

    /// Targets divide by shifting and masking only: both sides are known, or the divisor is a power
    /// of two.
    fn check_division(&mut self, left: &Expression, right: &Expression, span: Span) {
        if self.is_compile_time(left) && self.is_compile_time(right) {
            return;
        }
        let divisor = match &right.kind {
            ExpressionKind::Constant(Value::Integer(number)) => Some(number),
            _ => None,
        };
        // Zero divided is zero whatever the divisor; a zero divisor is reported elsewhere.
        let is_zero = |side: &Expression| {
            side.kind == ExpressionKind::Constant(Value::Integer(bits::Int::zero()))
        };
        if is_zero(left) || is_zero(right) {
            return;
        }
        // The back end looks again once calls are inlined.
        if divisor.is_none() && self.may_become_known(right) {
            return;
        }
        let is_power = divisor.is_some_and(|number| {
            !number.is_negative() && (number & &(number - &Int::one())).is_zero()
        });
        if !is_power {
            let title = "this division must be known at compile time";
            self.report(
                Diagnostic::error("constant", span, title)
                    .hint("a packet's values can be divided by powers of two only"),
            );
        }
    }

    /// Whether inlining may put a constant in the place of a value.
    fn may_become_known(&self, value: &Expression) -> bool {
        let is_in =
            |id| self.program.variables[id].kind == VariableKind::Parameter(ast::Direction::In);
        match &value.kind {
            ExpressionKind::Cast(inner) => self.may_become_known(inner),
            ExpressionKind::Variable(id) if is_in(*id) => true,
            _ => self.is_compile_time(value),
        }
    }

    /// The operator has no meaning for this type.
    fn not_for(
        &mut self,
        operator: BinaryOperator,
        ty: &Type,
        place: Span,
        span: Span,
    ) -> Expression {
        let title = format!("`{}` cannot be applied to a `{}`", operator.symbol(), self.show(ty));
        let mut diagnostic = Diagnostic::error("type", place, title);
        if matches!(ty, Type::New(_)) {
            diagnostic = diagnostic.hint("cast it to what it is made of first");
        }
        self.report(diagnostic);
        wrong(span)
    }

    /// A serialisable enum's value as its number; everything else as it is.
    fn enum_to_number(&mut self, value: Expression) -> Expression {
        match &value.ty {
            Type::Enum(id) => match self.program.enums[*id].underlying.clone() {
                Some(underlying) => self.underlying_value(value, &underlying),
                None => value,
            },
            _ => value,
        }
    }

    /// Both with one type, or a report.
    pub(super) fn same_type(
        &mut self,
        left: Expression,
        right: Expression,
    ) -> Option<(Expression, Expression)> {
        if left.ty == right.ty {
            return Some((left, right));
        }
        if left.ty == Type::Wrong || right.ty == Type::Wrong {
            return None;
        }
        // A constant of `int` takes the other side's width, never the other way round.
        if left.ty != Type::Integer
            && let Some(converted) = self.convert_quietly(right.clone(), &left.ty)
        {
            return Some((left, converted));
        }
        if let Some(converted) = self.convert_quietly(left.clone(), &right.ty) {
            return Some((converted, right));
        }
        let (l, r) = (self.show(&left.ty), self.show(&right.ty));
        let title = format!("the two sides differ: `{l}` and `{r}`");
        let mut diagnostic = Diagnostic::error("type", left.span.to(right.span), title)
            .related(left.span, format!("a `{l}`"))
            .related(right.span, format!("a `{r}`"));
        if is_number(&left.ty) && is_number(&right.ty) {
            diagnostic = diagnostic.hint(format!("cast one of them: ({l}) ..."));
        } else if let Some(hint) = address_hint(&left).or_else(|| address_hint(&right)) {
            diagnostic = diagnostic.hint(hint);
        }
        self.report(diagnostic);
        None
    }

    /// The operation, folded where both operands are known.
    fn make_binary(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
        ty: Type,
        span: Span,
    ) -> Expression {
        if let (ExpressionKind::Constant(l), ExpressionKind::Constant(r)) =
            (&left.kind, &right.kind)
        {
            match binary(operator, l, r, &right.ty, &ty) {
                Ok(value) => return constant(value, ty, span),
                Err(FoldError::Undefined(reason)) => {
                    self.error("range", span, format!("this has no value: {reason}"));
                    return wrong(span);
                }
                Err(FoldError::Mismatch) => {}
            }
        }
        if let (BinaryOperator::Divide | BinaryOperator::Modulo, ExpressionKind::Constant(zero)) =
            (operator, &right.kind)
            && *zero == Value::Integer(bits::Int::zero())
        {
            self.error("range", span, "this has no value: division by zero");
            return wrong(span);
        }
        if is_constant(&left) && is_constant(&right) && ty == Type::Bool {
            let is_equal = super::lvalue::same_value(&left, &right);
            let holds = is_equal == (operator == BinaryOperator::Equal);
            return constant(Value::Bool(holds), ty, span);
        }
        let (left, right) = (Box::new(left), Box::new(right));
        Expression { kind: ExpressionKind::Binary { operator, left, right }, ty, span }
    }
}
