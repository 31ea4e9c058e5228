//! Typed expressions to values.
//!
//! Before: an expression of the typed tree, its variables bound. After: a value whose leaves are
//! free of side effects; what the expression does besides, its calls above all, has become steps,
//! in the order of the specification (left to right, operands before operators).

use bits::Int;
use bmv2::{BinaryOperator as Operator, Expression, UnaryOperator as Unary};

use super::effects::{has_effects, is_felt};
use super::lowering::Lowering;
use super::number::{self, Range};
use super::step::Step;
use super::storage::Leaf;
use super::value::{
    HeaderRef, ObjectRef, ScopeId, UnionRef, Value, binary, hex, number_of, truth_of,
};
use crate::types::tree::{self, BinaryOperator, ExpressionKind, Type, UnaryOperator};
use syntax::{Diagnostic, Span};

/// Deepest expression that a switch is given: each level is up to two of JSON, whose readers have
/// limits.
const LEVELS_MAX: usize = 100;
/// Largest expression that a switch is given, in operators and operands.
const NODES_MAX: usize = 1000;
/// Largest condition that is written twice rather than kept in a field.
const REPEATED_NODES_MAX: usize = 16;

impl Lowering<'_> {
    /// The value of an expression. Deeply nested parts are computed separately.
    pub fn value(&mut self, expression: &tree::Expression) -> Value {
        let value = self.whole_value(expression);
        self.within_bounds(value, &expression.ty, expression.span)
    }

    /// The value as it is, or kept in a field where the switch would be given too large an expression.
    pub fn within_bounds(&mut self, value: Value, ty: &Type, at: Span) -> Value {
        match &value {
            Value::Number(part) | Value::Bool(part)
                if is_larger(part, LEVELS_MAX, &mut { NODES_MAX }) =>
            {
                if !self.is_checksum_block() {
                    return self.freeze(value, ty, at);
                }
                if is_larger(part, 4 * LEVELS_MAX, &mut { 8 * NODES_MAX }) {
                    return self.too_large(&value, at);
                }
                value
            }
            _ => value,
        }
    }

    /// Refuses an expression that cannot be computed in parts.
    fn too_large(&mut self, value: &Value, at: Span) -> Value {
        self.unsupported(
            at,
            "this expression is too large for a checksum control once it is written out",
            "compute parts of it in ingress or egress, and keep them in metadata",
        );
        if matches!(value, Value::Bool(_)) {
            Value::Bool(Expression::Bool(false))
        } else {
            Value::Number(hex(0))
        }
    }

    fn whole_value(&mut self, expression: &tree::Expression) -> Value {
        let at = expression.span;
        match &expression.kind {
            ExpressionKind::Aggregate(parts) => self.aggregate(parts, &expression.ty),
            ExpressionKind::Binary { operator, left, right } => {
                self.binary_value(*operator, left, right, expression)
            }
            ExpressionKind::Call(call) => self.call(call, &expression.ty),
            ExpressionKind::Cast(operand) => self.cast(operand, &expression.ty),
            ExpressionKind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, expression)
            }
            ExpressionKind::Constant(value) => self.constant(value),
            ExpressionKind::Field { base, field } => {
                let base = self.value(base);
                self.field(&base, *field)
            }
            ExpressionKind::Index { base, index } => {
                let base = self.value(base);
                let ty = &index.ty;
                let index_value = self.value(index);
                // An index is read again with every use of the element.
                let stable = match index_value {
                    Value::Number(Expression::Hex(_)) => index_value,
                    Value::Number(Expression::Field(_)) if !self.local.pins_indexes => index_value,
                    computed => self.freeze(computed, ty, at),
                };
                let Value::Number(index) = stable else { return Value::Void };
                self.element(&base, index, &expression.ty, at)
            }
            ExpressionKind::Instance(instance) => Value::Object(self.object(*instance)),
            ExpressionKind::InvalidHeader => Value::Invalid,
            ExpressionKind::Slice { base, high, low } => {
                let base = self.number(base);
                Value::Number(number::slice(base, *high, *low))
            }
            ExpressionKind::SliceFrom { base, low } => {
                let width = self.leaf_of(&expression.ty).width();
                let (range, low_range) = (self.range(&base.ty), self.range(&low.ty));
                let [base, low] = self.numbers([base, low]);
                Value::Number(self.slice_from(base, range, (low, low_range), width))
            }
            ExpressionKind::StackLast(stack) => match self.value(stack) {
                Value::Stack(stack) => Value::Header(HeaderRef::Last(stack)),
                Value::UnionStack(stack) => Value::Union(UnionRef::Last(stack)),
                _ => Value::Void,
            },
            ExpressionKind::StackLastIndex(stack) => self.last_index(stack),
            ExpressionKind::StackNext(stack) => match self.value(stack) {
                Value::Stack(stack) => Value::Header(HeaderRef::Next(stack)),
                Value::UnionStack(stack) => Value::Union(UnionRef::Next(stack)),
                _ => Value::Void,
            },
            ExpressionKind::TableResult { call, result } => self.table_result(call, *result),
            ExpressionKind::This => {
                if let Some(this) = self.local.this {
                    return Value::Object(this);
                }
                self.unsupported(
                    at,
                    "abstract methods are not supported by this switch",
                    "v1model has no extern with abstract methods",
                );
                Value::Void
            }
            ExpressionKind::Unary { operator, operand } => self.unary(*operator, operand),
            ExpressionKind::Variable(variable) => self.variable(*variable),
        }
    }

    /// The value of a numeric expression.
    pub fn number(&mut self, expression: &tree::Expression) -> Expression {
        match self.value(expression) {
            Value::Number(number) => number,
            Value::Bool(truth) => number_of(truth),
            _ => hex(0),
        }
    }

    /// The value of a boolean expression.
    pub fn truth(&mut self, expression: &tree::Expression) -> Expression {
        match self.value(expression) {
            Value::Bool(truth) => truth,
            _ => Expression::Bool(false),
        }
    }

    /// The range of a numeric type.
    pub fn range(&self, ty: &Type) -> Range {
        Range::of(self.leaf_of(ty))
    }

    /// Values of operands. Where a later one has side effects, the earlier are kept apart first.
    pub fn operands(&mut self, expressions: &[&tree::Expression]) -> Vec<Value> {
        let has_effects = |it: &&tree::Expression| has_effects(self.input.program, it);
        let last_effect = expressions.iter().rposition(has_effects);
        let mut values = Vec::new();
        for (at, expression) in expressions.iter().enumerate() {
            let value = self.value(expression);
            values.push(if last_effect.is_some_and(|last| at < last) {
                self.freeze(value, &expression.ty, expression.span)
            } else {
                value
            });
        }
        values
    }

    /// Several numbers, evaluated from left to right.
    fn numbers<const COUNT: usize>(
        &mut self,
        expressions: [&tree::Expression; COUNT],
    ) -> [Expression; COUNT] {
        let mut values = self.operands(&expressions).into_iter();
        std::array::from_fn(|_| match values.next() {
            Some(Value::Number(number)) => number,
            _ => hex(0),
        })
    }

    /// A variable's value. One that is used before its declaration was reached (only in programs
    /// with errors) gets storage here.
    pub fn variable(&mut self, variable: tree::Id<tree::Variable>) -> Value {
        if let Some(value) = self.local.bindings.get(&variable) {
            return value.clone();
        }
        let declaration = &self.input.program.variables[variable];
        let place = self.allocate(&declaration.name.text, &declaration.ty, declaration.name.span);
        self.local.bindings.insert(variable, place.clone());
        place
    }

    /// The instance a declaration means here.
    pub fn object(&self, instance: tree::Id<tree::Instance>) -> ObjectRef {
        let scope =
            if self.input.top_level.contains(&instance) { ScopeId(0) } else { self.local.scope };
        ObjectRef { scope, instance }
    }

    /// A value of the typed tree.
    pub fn constant(&self, value: &tree::Value) -> Value {
        match value {
            tree::Value::Bool(truth) => Value::Bool(Expression::Bool(*truth)),
            tree::Value::Enumerator(of, member) => {
                match self.input.program.enums[*of].members[*member].value.as_ref() {
                    Some(value) => self.constant(value),
                    None => Value::Number(hex(*member as u64)),
                }
            }
            tree::Value::Error(index) | tree::Value::MatchKind(index) => {
                Value::Number(hex(*index as u64))
            }
            tree::Value::Integer(number) => Value::Number(Expression::Hex(number.clone())),
            tree::Value::Text(text) => Value::Text(text.clone()),
        }
    }

    /// `{...}` of a struct, header, stack or tuple: its parts.
    fn aggregate(&mut self, parts: &[tree::Expression], ty: &Type) -> Value {
        let parts = self.operands(&parts.iter().collect::<Vec<_>>());
        match self.bare(ty) {
            Type::Struct(id) => match self.input.program.structs[id].kind {
                tree::DerivedKind::Header => Value::HeaderOf(parts),
                _ => Value::Struct(parts),
            },
            Type::Stack(..) | Type::List(_) => Value::StackOf(parts),
            _ => Value::Struct(parts),
        }
    }

    /// A type without the names that `type` gave it.
    pub fn bare(&self, ty: &Type) -> Type {
        match ty {
            Type::New(id) => self.bare(&self.input.program.new_types[*id].original),
            ty => ty.clone(),
        }
    }

    /// An operation on numbers or truth values.
    fn binary_value(
        &mut self,
        operator: BinaryOperator,
        left: &tree::Expression,
        right: &tree::Expression,
        whole: &tree::Expression,
    ) -> Value {
        match operator {
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                self.short_circuit(operator, left, right, whole.span)
            }
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                let mut operands = self.operands(&[left, right]).into_iter();
                let (one, other) = (
                    operands.next().unwrap_or(Value::Void),
                    operands.next().unwrap_or(Value::Void),
                );
                let equal = self.equal(&one, &other, &left.ty, whole.span);
                Value::Bool(if operator == BinaryOperator::Equal { equal } else { not(equal) })
            }
            _ => {
                let (left_range, right_range) = (self.range(&left.ty), self.range(&right.ty));
                let [one, other] = self.numbers([left, right]);
                if whole.ty == Type::Bool {
                    return Value::Bool(number::compare(operator, one, other));
                }
                let result = self.range(&whole.ty);
                if matches!(operator, BinaryOperator::Divide | BinaryOperator::Modulo) {
                    self.check_division(&one, &other, whole.span);
                }
                Value::Number(number::arithmetic(
                    operator,
                    (one, left_range),
                    (other, right_range),
                    result,
                ))
            }
        }
    }

    /// As [`types::check`](crate::types::check) has it, now that parameters have their arguments: the
    /// divisor is a power of two, or both sides are known.
    fn check_division(&mut self, left: &Expression, right: &Expression, at: Span) {
        let one = Int::one();
        match (known(left), known(right)) {
            (Some(left), _) if left.is_zero() => {}
            (_, Some(divisor)) if divisor.is_zero() => {
                let title = "this has no value: division by zero";
                self.diagnostics.push(Diagnostic::error("range", at, title));
            }
            (Some(_), _) => {}
            (None, Some(divisor)) if (divisor & &(divisor - &one)).is_zero() => {}
            (None, _) => {
                let title = "this division must be known at compile time";
                self.diagnostics.push(
                    Diagnostic::error("constant", at, title)
                        .hint("a packet's values can be divided by powers of two only"),
                );
            }
        }
    }

    /// `&&` and `||`: a right side that can be felt must run only when it decides.
    fn short_circuit(
        &mut self,
        operator: BinaryOperator,
        left: &tree::Expression,
        right: &tree::Expression,
        at: Span,
    ) -> Value {
        let is_and = operator == BinaryOperator::LogicalAnd;
        let one = self.truth(left);
        if let Expression::Bool(known) = one {
            // `true && x` and `false || x` are x, the others do not look at x.
            return if known == is_and { self.value(right) } else { Value::Bool(one) };
        }
        if !is_felt(right) {
            let other = self.truth(right);
            return Value::Bool(if is_and { and(one, other) } else { or(one, other) });
        }
        let result = self.temporary(&Type::Bool, at);
        self.assign_value(&result, &Value::Bool(one), &Type::Bool, at);
        let Value::Bool(decided) = result.clone() else { return Value::Void };
        let body = self.steps_of(|this| {
            let other = this.truth(right);
            this.assign_value(&result, &Value::Bool(other), &Type::Bool, at);
        });
        let condition = if is_and { decided } else { not(decided) };
        self.push(Step::If { condition, then: body, otherwise: Vec::new(), at });
        result
    }

    /// Numbers that come from values alone are chosen by an expression, everything else by a branch.
    fn conditional(
        &mut self,
        condition: &tree::Expression,
        then: &tree::Expression,
        otherwise: &tree::Expression,
        whole: &tree::Expression,
    ) -> Value {
        let decides = self.truth(condition);
        if let Expression::Bool(known) = decides {
            return self.value(if known { then } else { otherwise });
        }
        let plain = !is_felt(then) && !is_felt(otherwise);
        match super::storage::leaf(self.input.program, &whole.ty) {
            Some(Leaf::Number { .. }) if plain => {
                let (one, other) = (self.number(then), self.number(otherwise));
                Value::Number(choose(decides, one, other))
            }
            Some(Leaf::Bool) if plain => {
                // It is written twice: conditions in conditions would double with each level.
                let decides = match is_larger(&decides, LEVELS_MAX, &mut { REPEATED_NODES_MAX }) {
                    true if !self.is_checksum_block() => {
                        let frozen =
                            self.freeze(Value::Bool(decides), &condition.ty, condition.span);
                        let Value::Bool(frozen) = frozen else { return Value::Void };
                        frozen
                    }
                    _ => decides,
                };
                let (one, other) = (self.truth(then), self.truth(otherwise));
                Value::Bool(or(and(decides.clone(), one), and(not(decides), other)))
            }
            _ => self.branch(decides, then, otherwise, whole),
        }
    }

    /// A choice between values that one expression cannot make.
    fn branch(
        &mut self,
        condition: Expression,
        then: &tree::Expression,
        otherwise: &tree::Expression,
        whole: &tree::Expression,
    ) -> Value {
        let at = whole.span;
        let result = self.temporary(&whole.ty, at);
        let [then, otherwise] = [then, otherwise].map(|side| {
            self.steps_of(|this| {
                let value = this.value(side);
                this.assign_value(&result, &value, &whole.ty, at);
            })
        });
        self.push(Step::If { condition, then, otherwise, at });
        result
    }

    /// An operation on one value.
    fn unary(&mut self, operator: UnaryOperator, operand: &tree::Expression) -> Value {
        let range = self.range(&operand.ty);
        match operator {
            UnaryOperator::Complement => {
                Value::Number(number::complement(self.number(operand), range))
            }
            UnaryOperator::Negate => Value::Number(number::negate(self.number(operand), range)),
            UnaryOperator::Not => Value::Bool(not(self.truth(operand))),
        }
    }

    /// A cast: of numbers by arithmetic, of everything else by name only.
    fn cast(&mut self, operand: &tree::Expression, ty: &Type) -> Value {
        let value = self.value(operand);
        let from = self.bare(&operand.ty);
        match (value, super::storage::leaf(self.input.program, ty)) {
            (Value::Number(number), Some(Leaf::Bool)) => Value::Bool(match number {
                Expression::Hex(number) => Expression::Bool(!number.is_zero()),
                number => truth_of(number),
            }),
            (Value::Bool(truth), Some(Leaf::Number { .. })) => Value::Number(number_of(truth)),
            (Value::Number(number), Some(to)) if from != Type::Integer => {
                Value::Number(number::cast(number, self.range(&operand.ty), Range::of(to)))
            }
            (Value::Number(number), Some(to)) => Value::Number(Range::of(to).wrap(number)),
            // Between structs, tuples and lists only the name of the type changes; a tuple or list
            // becomes a header by being given one's type.
            (Value::Struct(parts), None) => self.reshape(parts, ty),
            (value, _) => value,
        }
    }

    /// Parts under another type.
    fn reshape(&self, parts: Vec<Value>, ty: &Type) -> Value {
        match self.bare(ty) {
            Type::Struct(id)
                if self.input.program.structs[id].kind == tree::DerivedKind::Header =>
            {
                Value::HeaderOf(parts)
            }
            Type::Stack(..) | Type::List(_) => Value::StackOf(parts),
            _ => Value::Struct(parts),
        }
    }

    /// `stack.lastIndex`.
    fn last_index(&mut self, stack: &tree::Expression) -> Value {
        let stack = match self.value(stack) {
            Value::Stack(stack) => {
                Expression::HeaderStack(self.flat.storage.stacks[stack.0].name.clone())
            }
            Value::UnionStack(stack) => {
                Expression::HeaderUnionStack(self.flat.storage.union_stacks[stack.0].name.clone())
            }
            _ => return Value::Void,
        };
        let last = Expression::Unary { operator: Unary::LastStackIndex, operand: Box::new(stack) };
        // An empty stack has no last index; the switch says -1, P4 leaves it open within bit<32>.
        Value::Number(Range { width: 32, is_signed: false }.wrap(last))
    }

    /// `base[low +: width]`.
    pub fn slice_from(
        &self,
        base: Expression,
        range: Range,
        low: (Expression, Range),
        width: u32,
    ) -> Expression {
        let result = Range { width, is_signed: false };
        let bits = number::cast(base, range, Range { is_signed: false, ..range });
        let unsigned = Range { is_signed: false, ..range };
        let shifted =
            number::arithmetic(BinaryOperator::ShiftRight, (bits, unsigned), low, unsigned);
        result.wrap(shifted)
    }

    /// One of several values by a computed index; the last where the index is beyond.
    pub fn pick(&mut self, parts: &[Value], index: &Expression, ty: &Type, at: Span) -> Value {
        let result = self.temporary(ty, at);
        for (position, part) in parts.iter().enumerate() {
            let condition = binary(Operator::Equal, index.clone(), hex(position as u64));
            let then = self.steps_of(|this| this.assign_value(&result, part, ty, at));
            self.push(Step::If { condition, then, otherwise: Vec::new(), at });
        }
        result
    }

    /// Whether a header or union is valid.
    pub fn is_valid(&self, value: &Value) -> Expression {
        match value {
            Value::Header(HeaderRef::Instance(header)) => {
                let name = self.flat.storage.header_name(*header);
                truth_of(Expression::Field(bmv2::FieldRef::new(name, "$valid$")))
            }
            Value::Header(header) => {
                let operand = Box::new(self.flat.storage.header_expression(header));
                Expression::Unary { operator: Unary::Valid, operand }
            }
            Value::HeaderOf(_) => Expression::Bool(true),
            Value::Union(union) => {
                let operand = Box::new(self.flat.storage.union_expression(union));
                Expression::Unary { operator: Unary::ValidUnion, operand }
            }
            _ => Expression::Bool(false),
        }
    }
}

/// `if_true` or `if_false`.
pub fn choose(condition: Expression, if_true: Expression, if_false: Expression) -> Expression {
    Expression::Conditional {
        condition: Box::new(condition),
        if_true: Box::new(if_true),
        if_false: Box::new(if_false),
    }
}

pub fn and(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (Expression::Bool(true), other) | (other, Expression::Bool(true)) => other,
        (Expression::Bool(false), _) | (_, Expression::Bool(false)) => Expression::Bool(false),
        (left, right) => binary(Operator::And, left, right),
    }
}

/// Whether all hold: a tree no deeper than it must be.
pub fn all(truths: &[Expression]) -> Expression {
    match truths {
        [] => Expression::Bool(true),
        [one] => one.clone(),
        many => {
            let (left, right) = many.split_at(many.len() / 2);
            and(all(left), all(right))
        }
    }
}

pub fn or(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (Expression::Bool(false), other) | (other, Expression::Bool(false)) => other,
        (Expression::Bool(true), _) | (_, Expression::Bool(true)) => Expression::Bool(true),
        (left, right) => binary(Operator::Or, left, right),
    }
}

pub fn not(truth: Expression) -> Expression {
    match truth {
        Expression::Bool(truth) => Expression::Bool(!truth),
        Expression::Unary { operator: Unary::Not, operand } => *operand,
        truth => Expression::Unary { operator: Unary::Not, operand: Box::new(truth) },
    }
}

/// The number behind a constant.
pub fn known(expression: &Expression) -> Option<&Int> {
    match expression {
        Expression::Hex(number) => Some(number),
        _ => None,
    }
}

/// Whether the expression has more than `levels` levels of operators, or more nodes than are left.
/// Takes no longer than that, whatever its size.
fn is_larger(expression: &Expression, levels: usize, nodes_left: &mut usize) -> bool {
    let Some(left) = nodes_left.checked_sub(1) else { return true };
    *nodes_left = left;
    let inner: [Option<&Expression>; 3] = match expression {
        Expression::Binary { left, right, .. } => [Some(left), Some(right), None],
        Expression::Conditional { condition, if_true, if_false } => {
            [Some(condition), Some(if_true), Some(if_false)]
        }
        Expression::Unary { operand, .. } => [Some(operand), None, None],
        _ => return false,
    };
    let Some(below) = levels.checked_sub(1) else { return true };
    inner.into_iter().flatten().any(|part| is_larger(part, below, nodes_left))
}
