//! Expressions, except operators, members and calls.
//!
//! Before: an expression as written. After: a typed expression, with constants folded. An
//! expression's type depends on its parts alone (types flow upwards); `expected` flows downwards
//! only to expressions without a type of their own, such as `{...}` and `...`.

use super::scope::Binding;
use super::{BodyKind, Checker, constant, is_constant, wrong};
use crate::types::constant::{fits, slice, wrap};
use crate::types::tree::{
    DerivedKind, Direction, Expression, ExpressionKind, Text, Type, Value, VariableKind,
};
use syntax::tree::{self as ast, PrefixedName};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// The typed expression. `expected` helps where the text alone does not say the type (`{...}`,
    /// `{#}`, `...`); the result need not have that type.
    pub(super) fn expression(
        &mut self,
        expression: &'a ast::Expression,
        expected: Option<&Type>,
    ) -> Expression {
        use ast::ExpressionKind as Kind;
        let span = expression.span;
        match &expression.kind {
            Kind::Binary { operator, left, right, .. } => self.binary(*operator, left, right, span),
            Kind::Bool(value) => constant(Value::Bool(*value), Type::Bool, span),
            Kind::Call { callee, type_arguments, arguments } => {
                self.call_expression(callee, type_arguments, arguments, expected, span)
            }
            Kind::Cast { target, operand } => {
                let ty = self.type_ref(target);
                let value = self.expression(operand, Some(&ty));
                self.explicit_cast(value, &ty, span)
            }
            Kind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, expected, span)
            }
            Kind::Dots => self.dots(expected, span),
            Kind::Index { base, index } => self.index(base, index, span),
            Kind::Integer(literal) => self.literal(literal, span),
            Kind::InvalidHeader => self.invalid_header(expected, span),
            Kind::List(elements) => self.list(elements, expected, span),
            Kind::Member { base, member } => self.member(base, member, span),
            Kind::Missing => wrong(span),
            Kind::Name(name) => self.name(name, span),
            Kind::Record { fields, has_dots } => self.record(fields, *has_dots, expected, span),
            Kind::Slice { base, high, low } => self.slice(base, high, low, span),
            Kind::SlicePlus { base, low, width } => self.slice_plus(base, low, width, span),
            Kind::String(text) => constant(Value::Text(text.clone()), Type::String, span),
            Kind::This => self.this(span),
            Kind::Type(_) => {
                self.error("type", span, "a type is no value");
                wrong(span)
            }
            Kind::Unary { operator, operand } => self.unary(*operator, operand, span),
        }
    }

    /// The expression as `ty`, or a report.
    pub(super) fn expression_of(
        &mut self,
        expression: &'a ast::Expression,
        ty: &Type,
    ) -> Expression {
        let value = self.expression(expression, Some(ty));
        self.convert(value, ty)
    }

    pub(super) fn boolean(&mut self, expression: &'a ast::Expression) -> Expression {
        self.expression_of(expression, &Type::Bool)
    }

    /// A constant number, or a report.
    pub(super) fn constant_number(&mut self, expression: &'a ast::Expression) -> Option<bits::Int> {
        let value = self.expression(expression, Some(&Type::Integer));
        match (value.kind, &value.ty) {
            (_, Type::Wrong) => None,
            (ExpressionKind::Constant(Value::Integer(number)), _) => Some(number),
            _ => {
                let title = "this must be a number known at compile time";
                self.error("constant", value.span, title);
                None
            }
        }
    }

    /// `8w255` has a width; without one a number is an `int` of any size, which takes the width of
    /// what it meets.
    fn literal(&mut self, literal: &ast::IntegerLiteral, span: Span) -> Expression {
        let Some((is_signed, width)) = literal.width else {
            return constant(Value::Integer(literal.value.clone()), Type::Integer, span);
        };
        if width > (1 << 16) || (is_signed && width == 0) {
            self.error("type", span, format!("{width} is not a possible width"));
            return wrong(span);
        }
        let ty = if is_signed { Type::Int(width) } else { Type::Bit(width) };
        let value = wrap(&literal.value, &ty);
        if !fits(&literal.value, &ty) && !fits(&literal.value, &Type::Bit(width)) {
            let title = format!("{} does not fit into `{}`", literal.value, self.show(&ty));
            self.report(
                Diagnostic::warning("overflow", span, title)
                    .hint(format!("the value kept is {value}")),
            );
        }
        constant(Value::Integer(value), ty, span)
    }

    /// A name's value, where a value is required.
    fn name(&mut self, name: &PrefixedName, span: Span) -> Expression {
        let binding = self.resolve(name);
        match binding {
            Some(Binding::Constant(id)) => {
                let value = self.program.constants[id].value.clone();
                Expression { span, ..value }
            }
            Some(Binding::Variable(id)) => {
                let ty = self.program.variables[id].ty.clone();
                Expression { kind: ExpressionKind::Variable(id), ty, span }
            }
            Some(Binding::Instance(id)) => {
                let ty = self.instance_type(id);
                Expression { kind: ExpressionKind::Instance(id), ty, span }
            }
            Some(Binding::Action(_)) => self.no_value(name, "an action", "call it: {}()"),
            Some(Binding::Functions(_)) => self.no_value(name, "a function", "call it: {}(...)"),
            Some(Binding::Table(_)) => self.no_value(name, "a table", "apply it: {}.apply()"),
            Some(Binding::Template(_) | Binding::Type(_)) => {
                self.no_value(name, "a type", "write ({}) in front of a value to cast it")
            }
            Some(Binding::ValueSet(_)) => {
                self.no_value(name, "a value set", "it can only stand among the cases of a select")
            }
            None => {
                // The names of match kinds are at the top level.
                let kinds = &self.program.match_kinds;
                if let Some(at) = kinds.iter().position(|kind| kind.text == name.name.text) {
                    return constant(Value::MatchKind(at), Type::MatchKind, span);
                }
                self.report_unknown("variable, constant or object", &name.name);
                wrong(span)
            }
        }
    }

    /// Reports that a name stands for something else than a value; in the hint `{}` is the name.
    fn no_value(&mut self, name: &PrefixedName, what: &str, hint: &str) -> Expression {
        let (span, name) = (name.name.span, &name.name.text);
        let title = format!("`{name}` is {what}, not a value");
        self.report(Diagnostic::error("type", span, title).hint(hint.replace("{}", name)));
        wrong(span)
    }

    /// The object whose method is being written.
    fn this(&mut self, span: Span) -> Expression {
        match self.body.this.clone() {
            Some(ty) => Expression { kind: ExpressionKind::This, ty, span },
            None => {
                let title = "`this` is known only in methods of an object's initializer";
                self.error("type", span, title);
                wrong(span)
            }
        }
    }

    /// `...`: the default value of its type.
    fn dots(&mut self, expected: Option<&Type>, span: Span) -> Expression {
        let value = expected.and_then(|ty| self.default_value(ty, span));
        value.unwrap_or_else(|| {
            self.error("type", span, "there is no default value that `...` could stand for here");
            wrong(span)
        })
    }

    /// `{#}`: an invalid header or union.
    fn invalid_header(&mut self, expected: Option<&Type>, span: Span) -> Expression {
        match expected {
            Some(Type::Wrong) => wrong(span),
            Some(ty) if self.is_header_or_union(ty) => {
                Expression { kind: ExpressionKind::InvalidHeader, ty: ty.clone(), span }
            }
            _ => {
                let title = "`{#}` needs to know which header it is";
                self.report(
                    Diagnostic::error("type", span, title).hint("write a cast: (header_t) {#}"),
                );
                wrong(span)
            }
        }
    }

    /// Whether the type has a validity.
    pub(super) fn is_header_or_union(&self, ty: &Type) -> bool {
        match ty {
            Type::Struct(id) => self.program.structs[*id].kind != DerivedKind::Struct,
            _ => false,
        }
    }

    /// `condition ? then : otherwise`. Both sides must have one type, as only one of them is
    /// computed.
    fn conditional(
        &mut self,
        condition: &'a ast::Expression,
        then: &'a ast::Expression,
        otherwise: &'a ast::Expression,
        expected: Option<&Type>,
        span: Span,
    ) -> Expression {
        let condition = self.boolean(condition);
        let then = self.expression(then, expected);
        let otherwise = self.expression(otherwise, expected);
        let Some((mut then, mut otherwise)) = self.same_type(then, otherwise) else {
            return wrong(span);
        };
        if let ExpressionKind::Constant(Value::Bool(holds)) = condition.kind
            && condition.ty == Type::Bool
        {
            let chosen = if holds { then } else { otherwise };
            return Expression { span, ..chosen };
        }
        if then.ty == Type::Integer {
            let target = expected.filter(|ty| matches!(ty, Type::Bit(_) | Type::Int(_)));
            match target {
                Some(ty) => {
                    then = self.convert(then, ty);
                    otherwise = self.convert(otherwise, ty);
                }
                None => {
                    let title = "the width of this value is not known";
                    self.report(
                        Diagnostic::error("type", span, title)
                            .hint("give the numbers a width: 8w1, or (bit<8>) 1"),
                    );
                    return wrong(span);
                }
            }
        }
        let ty = then.ty.clone();
        let kind = ExpressionKind::Conditional {
            condition: Box::new(condition),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Expression { kind, ty, span }
    }

    /// `{a, b}`: of the expected type where that has parts, otherwise a tuple of its elements.
    fn list(
        &mut self,
        elements: &'a [ast::Expression],
        expected: Option<&Type>,
        span: Span,
    ) -> Expression {
        let wanted = expected.and_then(|ty| self.part_types(ty, elements.len()));
        let last_is_dots =
            elements.last().is_some_and(|last| matches!(last.kind, ast::ExpressionKind::Dots));
        let is_filled =
            last_is_dots && wanted.as_ref().is_some_and(|wanted| wanted.len() >= elements.len());
        let given = if is_filled { elements.len() - 1 } else { elements.len() };
        let mut parts = Vec::with_capacity(elements.len());
        for (at, element) in elements.iter().take(given).enumerate() {
            let ty = wanted.as_ref().and_then(|wanted| wanted.get(at)).map(|(_, ty)| ty);
            parts.push(self.expression(element, ty));
        }
        if is_filled && let Some(wanted) = &wanted {
            let filler = elements.last().map_or(span, |dots| dots.span);
            for (_, ty) in wanted.iter().skip(given) {
                let part = self.dots(Some(ty), filler);
                parts.push(part);
            }
        }
        if parts.iter().any(|part| part.ty == Type::Wrong) {
            return wrong(span);
        }
        let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
        self.as_expected(Expression { kind: ExpressionKind::Aggregate(parts), ty, span }, expected)
    }

    /// Converted early where that works: otherwise the place that requires the type reports the
    /// error.
    fn as_expected(&mut self, value: Expression, expected: Option<&Type>) -> Expression {
        let converted = expected.and_then(|ty| self.convert_quietly(value.clone(), ty));
        converted.unwrap_or(value)
    }

    /// `{a = x, b = y}`: of the expected type where that has these fields.
    fn record(
        &mut self,
        fields: &'a [ast::KeyValue],
        has_dots: bool,
        expected: Option<&Type>,
        span: Span,
    ) -> Expression {
        let wanted = expected.and_then(|ty| self.part_types(ty, 0)).unwrap_or_default();
        let wanted_type = |name: &Text| {
            let found = wanted.iter().find(|(wanted, _)| wanted.as_ref() == Some(name));
            found.map(|(_, ty)| ty)
        };
        let (mut names, mut parts): (Vec<(Text, Type)>, Vec<Expression>) = Default::default();
        for field in fields {
            let name = &field.key.text;
            let is_struct = wanted.iter().any(|(name, _)| name.is_some());
            if is_struct && wanted_type(name).is_none() {
                let title = format!("there is no field `{name}`");
                self.error("unknown-field", field.key.span, title);
                return wrong(span);
            }
            if let Some(ty) = expected
                && let Some(at) = wanted.iter().position(|(known, _)| known.as_ref() == Some(name))
            {
                self.note_field(ty, at, field.key.span);
            }
            let part = self.expression(&field.value, wanted_type(name));
            names.push((name.clone(), part.ty.clone()));
            parts.push(part);
        }
        if has_dots {
            for (name, ty) in &wanted {
                let Some(name) = name else { continue };
                if !names.iter().any(|(known, _)| known == name) {
                    let part = self.dots(Some(ty), span);
                    names.push((name.clone(), part.ty.clone()));
                    parts.push(part);
                }
            }
        }
        if parts.iter().any(|part| part.ty == Type::Wrong) {
            return wrong(span);
        }
        let kind = ExpressionKind::Aggregate(parts);
        self.as_expected(Expression { kind, ty: Type::Record(names), span }, expected)
    }

    /// Whether a type is an extern with cells that methods read and write: a register.
    fn has_cells(&self, ty: &Type) -> bool {
        let Type::Extern(id) = ty else { return false };
        let methods = &self.program.externs[*id].methods;
        ["read", "write"].iter().all(|name| methods.iter().any(|known| &*known.name.text == *name))
    }

    /// `base[index]`. A constant index is checked here; one that is only known at run time may
    /// miss, and the back end keeps it inside of the stack.
    fn index(
        &mut self,
        base: &'a ast::Expression,
        index: &'a ast::Expression,
        span: Span,
    ) -> Expression {
        let base = self.expression(base, None);
        let index = self.expression(index, None);
        let (size, element) = match &base.ty {
            Type::Wrong => return wrong(span),
            Type::Stack(element, size) => (*size as usize, Some((**element).clone())),
            Type::Tuple(elements) => (elements.len(), None),
            Type::List(element) => (usize::MAX, Some((**element).clone())),
            other => {
                let title = format!("a `{}` has no elements", self.show(other));
                let hint = match self.has_cells(other) {
                    true => "its cells are read and written by its methods: read and write",
                    false => "header stacks and tuples have; bits are taken with [high:low]",
                };
                self.report(Diagnostic::error("type", base.span, title).hint(hint));
                return wrong(span);
            }
        };
        let index = self.index_value(index);
        if index.ty == Type::Wrong {
            return wrong(span);
        }
        let known = match &index.kind {
            ExpressionKind::Constant(Value::Integer(number)) => {
                Some(number.to_u64().and_then(|number| usize::try_from(number).ok()))
            }
            _ => None,
        };
        if let Some(number) = &known
            && number.is_none_or(|number| number >= size)
        {
            let title = format!(
                "there is no such element: the index must be 0 to {}",
                size.saturating_sub(1)
            );
            self.error("range", index.span, title);
            return wrong(span);
        }
        let ty = match (element, &base.ty, known.flatten()) {
            (Some(element), ..) => element,
            (None, Type::Tuple(elements), Some(at)) => {
                elements.get(at).cloned().unwrap_or(Type::Wrong)
            }
            _ => {
                let title = "the index of a tuple must be known at compile time";
                self.error("constant", index.span, title);
                return wrong(span);
            }
        };
        if let (ExpressionKind::Aggregate(parts), Some(Some(at))) = (&base.kind, known)
            && is_constant(&base)
            && let Some(part) = parts.get(at)
        {
            return Expression { span, ..part.clone() };
        }
        let kind = ExpressionKind::Index { base: Box::new(base), index: Box::new(index) };
        Expression { kind, ty, span }
    }

    /// An index without `int`s: constants get 32 bits.
    fn index_value(&mut self, index: Expression) -> Expression {
        match &index.ty {
            Type::Bit(_) | Type::Int(_) | Type::Wrong => index,
            Type::Integer => match &index.kind {
                ExpressionKind::Constant(Value::Integer(number))
                    if !fits(number, &Type::Bit(32)) =>
                {
                    self.error("range", index.span, "there is no element of this index");
                    wrong(index.span)
                }
                _ => self.convert(index, &Type::Bit(32)),
            },
            Type::Enum(id) if self.program.enums[*id].underlying.is_some() => {
                let underlying = self.program.enums[*id].underlying.clone();
                self.underlying_value(index, &underlying.unwrap_or(Type::Wrong))
            }
            other => {
                let title = format!("an index must be a number, not a `{}`", self.show(other));
                self.error("type", index.span, title);
                wrong(index.span)
            }
        }
    }

    /// `base[high:low]`, both constant.
    fn slice(
        &mut self,
        base: &'a ast::Expression,
        high: &'a ast::Expression,
        low: &'a ast::Expression,
        span: Span,
    ) -> Expression {
        let base = self.sliceable(base);
        let (high_number, low_number) = (self.constant_number(high), self.constant_number(low));
        let (Some(base), Some(high_number), Some(low_number)) = (base, high_number, low_number)
        else {
            return wrong(span);
        };
        let limit = slice_limit(&base.ty);
        let bound = |number: &bits::Int| number.to_u32().filter(|bit| *bit < limit);
        let (Some(high_bit), Some(low_bit)) = (bound(&high_number), bound(&low_number)) else {
            let (bad, place) = match bound(&high_number) {
                None => (high_number, high.span),
                Some(_) => (low_number, low.span),
            };
            let title = format!("`{}` has no bit {bad}", self.show(&base.ty));
            let hint = format!("bits are numbered from 0 to {}", limit.saturating_sub(1));
            self.report(Diagnostic::error("range", place, title).hint(hint));
            return wrong(span);
        };
        if high_bit < low_bit {
            let title = format!("the slice [{high_bit}:{low_bit}] is the wrong way round");
            self.report(
                Diagnostic::error("range", span, title)
                    .hint(format!("the higher bit comes first: [{low_bit}:{high_bit}]")),
            );
            return wrong(span);
        }
        self.make_slice(base, high_bit, low_bit, span)
    }

    /// The bits, taken now from a constant.
    fn make_slice(&mut self, base: Expression, high: u32, low: u32, span: Span) -> Expression {
        let ty = Type::Bit(high - low + 1);
        if let ExpressionKind::Constant(Value::Integer(number)) = &base.kind {
            return constant(Value::Integer(slice(number, high, low)), ty, span);
        }
        Expression { kind: ExpressionKind::Slice { base: Box::new(base), high, low }, ty, span }
    }

    /// Something with bits: a number, also under another name or as an enum.
    fn sliceable(&mut self, base: &'a ast::Expression) -> Option<Expression> {
        let base = self.expression(base, None);
        let base = match &base.ty {
            Type::Enum(id) => match self.program.enums[*id].underlying.clone() {
                Some(underlying) => self.underlying_value(base, &underlying),
                None => base,
            },
            _ => base,
        };
        match self.original(&base.ty) {
            Type::Bit(_) | Type::Int(_) => Some(base),
            Type::Integer if is_constant(&base) => Some(base),
            Type::Wrong => None,
            _ => {
                let title = format!("a `{}` has no bits to take", self.show(&base.ty));
                self.error("type", base.span, title);
                None
            }
        }
    }

    /// `base[low +: width]`: the width is constant, the place need not be.
    fn slice_plus(
        &mut self,
        base: &'a ast::Expression,
        low: &'a ast::Expression,
        width: &'a ast::Expression,
        span: Span,
    ) -> Expression {
        let base = self.sliceable(base);
        let low = self.expression(low, None);
        let low = self.index_value(low);
        let width_number = self.constant_number(width).map(|number| number.to_u32());
        let (Some(base), Some(width_bits), true) = (base, width_number, low.ty != Type::Wrong)
        else {
            return wrong(span);
        };
        let limit = slice_limit(&base.ty);
        let Some(count) = width_bits.filter(|count| (1..=limit).contains(count)) else {
            let title = format!("a slice of `{}` cannot have this width", self.show(&base.ty));
            self.error("range", width.span, title);
            return wrong(span);
        };
        if let ExpressionKind::Constant(Value::Integer(number)) = &low.kind {
            let low_bit = number.to_u32().filter(|bit| bit.saturating_add(count) <= limit);
            return match low_bit {
                Some(low_bit) => self.make_slice(base, low_bit + count - 1, low_bit, span),
                None => {
                    let title = format!("`{}` has no such bits", self.show(&base.ty));
                    self.error("range", low.span, title);
                    wrong(span)
                }
            };
        }
        let kind = ExpressionKind::SliceFrom { base: Box::new(base), low: Box::new(low) };
        Expression { kind, ty: Type::Bit(count), span }
    }

    /// Whether names of instances and variables may be read where the checker is now.
    pub(super) fn is_run_time(&self) -> bool {
        self.body.kind != BodyKind::Outside
    }

    /// Whether the variable may be written to.
    pub(super) fn is_writable(&self, kind: VariableKind) -> bool {
        match kind {
            VariableKind::ConstructorParameter => false,
            VariableKind::Local => true,
            VariableKind::Parameter(direction) => {
                matches!(direction, Direction::Out | Direction::InOut)
            }
        }
    }
}

/// How many bits there are to take; constants of `int` have as many as one likes.
fn slice_limit(ty: &Type) -> u32 {
    match ty {
        Type::Bit(width) | Type::Int(width) => *width,
        _ => 1 << 16,
    }
}
