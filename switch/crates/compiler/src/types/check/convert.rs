//! Implicit and explicit casts, default values.
//!
//! Before: a typed value, and the type that its place requires. After: a value of that type, with a
//! cast in the tree or, for constants, done; or a report. The rules are the specification's
//! "Implicit casts" and "Explicit casts"; new types and serialisable enums are followed to their
//! underlying types.

use super::{Checker, constant, is_constant, wrong};
use crate::types::constant::{cast, fits, wrap};
use crate::types::tree::{Expression, ExpressionKind, Text, Type, Value};
use bits::Int;
use syntax::tree::{DerivedKind, UnaryOperator};
use syntax::{Diagnostic, Span};

/// The code of the message that a value has another type than its place requires.
pub(super) const MISMATCH: &str = "mismatch";

/// How to write an address that stands in quotes: P4 has numbers only.
pub(super) fn address_hint(value: &Expression) -> Option<String> {
    let ExpressionKind::Constant(Value::Text(text)) = &value.kind else { return None };
    let bytes: Option<Vec<u8>> = if text.contains('.') {
        let parts = text.split('.').map(|part| part.parse().ok());
        parts.collect::<Option<Vec<u8>>>().filter(|bytes| bytes.len() == 4)
    } else {
        let parts = text.split([':', '-']).map(|part| u8::from_str_radix(part, 16).ok());
        parts.collect::<Option<Vec<u8>>>().filter(|bytes| bytes.len() == 6)
    };
    let digits: String = bytes?.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("P4 writes addresses as numbers: 0x{digits}"))
}

impl Checker<'_, '_> {
    /// `value` as `ty`, where P4 does that by itself; otherwise reports that the types differ.
    pub(super) fn convert(&mut self, value: Expression, ty: &Type) -> Expression {
        let span = value.span;
        let found = value.ty.clone();
        let address = address_hint(&value);
        match (self.convert_quietly(value, ty), address) {
            (Some(converted), _) => converted,
            (None, Some(hint)) if is_number(ty) => {
                let title = format!("this is a `string`, but a `{}` is needed", self.show(ty));
                self.report(Diagnostic::error(MISMATCH, span, title).hint(hint));
                wrong(span)
            }
            (None, _) => {
                self.report_mismatch(&found, ty, span);
                wrong(span)
            }
        }
    }

    /// Says which type is there and which is needed, with the cast that would help.
    pub(super) fn report_mismatch(&mut self, found: &Type, wanted: &Type, span: Span) {
        let (found_text, wanted_text) = (self.show(found), self.show(wanted));
        let title = format!("this is a `{found_text}`, but a `{wanted_text}` is needed");
        let mut diagnostic = Diagnostic::error(MISMATCH, span, title);
        if is_number(found) && is_number(wanted) {
            diagnostic = diagnostic.hint(format!("write a cast: ({wanted_text}) ..."));
        }
        if is_number(found) && *wanted == Type::Bool {
            diagnostic = diagnostic.hint("compare with something: x != 0");
        }
        let diagnostic = self.explain_misfit(diagnostic, found, wanted);
        self.report(diagnostic);
    }

    /// The implicit casts (specification, "Implicit casts"): `int` constants to any width, enums to
    /// what they are made of, literals of lists and structs to structs, headers, tuples and lists.
    pub(super) fn convert_quietly(&mut self, value: Expression, ty: &Type) -> Option<Expression> {
        if value.ty == *ty || value.ty == Type::Wrong || *ty == Type::Wrong {
            return Some(value);
        }
        match (&value.ty, ty) {
            (Type::Integer, Type::Bit(_) | Type::Int(_)) => Some(self.resize(value, ty)),
            (Type::Bit(_) | Type::Int(_), Type::Integer) if is_constant(&value) => {
                Some(Expression { ty: Type::Integer, ..value })
            }
            // Only a number without a width: a `bit<N>` has to be cast to a `type`.
            (Type::Integer, Type::New(id)) if is_constant(&value) => {
                let original = self.program.new_types[*id].original.clone();
                let inner = self.convert_quietly(value, &original)?;
                Some(self.reinterpret(inner, ty))
            }
            (Type::Enum(id), _) => {
                let underlying = self.program.enums[*id].underlying.clone()?;
                let inner = self.underlying_value(value, &underlying);
                self.convert_quietly(inner, ty)
            }
            (Type::Tuple(_) | Type::Record(_), _) => self.convert_aggregate(value, ty),
            (Type::Control(id), Type::ControlType(name, arguments)) => {
                let parameters = self.program.controls[*id].parameters.clone();
                let misfit = self.signature_misfit(name, arguments, &parameters, value.span);
                misfit.is_none().then_some(value)
            }
            (Type::Parser(id), Type::ParserType(name, arguments)) => {
                let parameters = self.program.parsers[*id].parameters.clone();
                let misfit = self.signature_misfit(name, arguments, &parameters, value.span);
                misfit.is_none().then_some(value)
            }
            (_, Type::Variable(name)) if &**name == "_" => Some(value),
            (Type::Extern(_), Type::Extern(_)) => {
                self.fits_open_extern(&value.ty, ty).then_some(value)
            }
            _ => None,
        }
    }

    /// Whether an object is of an extern some of whose type arguments do not matter:
    /// `Register<bit<8>, bit<16>>` where a `Register<_, _>` is needed.
    fn fits_open_extern(&self, found: &Type, wanted: &Type) -> bool {
        let (found, wanted) = (self.templates.origin(found), self.templates.origin(wanted));
        let (Some((template, given)), Some((same, asked))) = (found, wanted) else { return false };
        let fits = |(given, asked): (&Type, &Type)| {
            given == asked || matches!(asked, Type::Variable(name) if &**name == "_")
        };
        template == same && given.iter().zip(asked).all(fits)
    }

    /// An `int` as a type of fixed width. Digits that do not fit are lost, with a warning.
    fn resize(&mut self, value: Expression, ty: &Type) -> Expression {
        let span = value.span;
        if let ExpressionKind::Constant(Value::Integer(number)) = &value.kind {
            // `0xFF` for an int<8> is common and means the bits.
            let as_bits = match ty {
                Type::Int(width) => Type::Bit(*width),
                other => other.clone(),
            };
            if !fits(number, ty) && !fits(number, &as_bits) && !number.is_negative() {
                let title = format!("{number} does not fit into `{}`", self.show(ty));
                let kept = wrap(number, ty);
                self.report(
                    Diagnostic::warning("overflow", span, title)
                        .hint(format!("the value kept is {kept}")),
                );
            }
            return constant(Value::Integer(wrap(number, ty)), ty.clone(), span);
        }
        Expression { kind: ExpressionKind::Cast(Box::new(value)), ty: ty.clone(), span }
    }

    /// A value of a serialisable enum as what it is made of.
    pub(super) fn underlying_value(&mut self, value: Expression, underlying: &Type) -> Expression {
        let span = value.span;
        match &value.kind {
            ExpressionKind::Constant(Value::Enumerator(id, member)) => {
                let known = self.program.enums[*id].members.get(*member);
                let number = known.and_then(|member| member.value.clone());
                constant(number.unwrap_or(Value::Integer(Int::zero())), underlying.clone(), span)
            }
            ExpressionKind::Constant(Value::Integer(_)) => {
                Expression { ty: underlying.clone(), ..value }
            }
            _ => {
                let kind = ExpressionKind::Cast(Box::new(value));
                Expression { kind, ty: underlying.clone(), span }
            }
        }
    }

    /// A literal `{...}` as `ty`, part by part.
    fn convert_aggregate(&mut self, value: Expression, ty: &Type) -> Option<Expression> {
        let Expression { kind: ExpressionKind::Aggregate(parts), ty: from, span } = value else {
            return None;
        };
        let wanted: Vec<(Option<Text>, Type)> = self.part_types(ty, parts.len())?;
        if wanted.len() != parts.len() {
            return None;
        }
        let parts = match from {
            Type::Record(names) => self.sort_parts(&names, parts, &wanted)?,
            _ => parts,
        };
        let mut converted = Vec::with_capacity(parts.len());
        for (part, (_, ty)) in parts.into_iter().zip(&wanted) {
            converted.push(self.convert_quietly(part, ty)?);
        }
        Some(Expression { kind: ExpressionKind::Aggregate(converted), ty: ty.clone(), span })
    }

    /// The parts of `{a = x, b = y}` in the order of the fields; `None` where one is missing.
    fn sort_parts(
        &mut self,
        names: &[(Text, Type)],
        parts: Vec<Expression>,
        wanted: &[(Option<Text>, Type)],
    ) -> Option<Vec<Expression>> {
        let named = |wanted: &Text| names.iter().position(|(name, _)| name == wanted);
        wanted.iter().map(|(name, _)| parts.get(named(name.as_ref()?)?).cloned()).collect()
    }

    /// Names and types of the parts of `ty`; `count` parts where that is free.
    pub(super) fn part_types(&self, ty: &Type, count: usize) -> Option<Vec<(Option<Text>, Type)>> {
        match ty {
            Type::Struct(id) => {
                let found = &self.program.structs[*id];
                if found.kind == DerivedKind::HeaderUnion {
                    return None;
                }
                let fields = found.fields.iter();
                Some(
                    fields.map(|field| (Some(field.name.text.clone()), field.ty.clone())).collect(),
                )
            }
            Type::Tuple(elements) => Some(elements.iter().map(|ty| (None, ty.clone())).collect()),
            Type::List(element) => Some(vec![(None, (**element).clone()); count]),
            Type::Stack(element, size) => Some(vec![(None, (**element).clone()); *size as usize]),
            Type::Record(fields) => {
                Some(fields.iter().map(|(name, ty)| (Some(name.clone()), ty.clone())).collect())
            }
            _ => None,
        }
    }

    /// `(ty) value`.
    pub(super) fn explicit_cast(&mut self, value: Expression, ty: &Type, span: Span) -> Expression {
        let found = value.ty.clone();
        if found == Type::Wrong || *ty == Type::Wrong {
            return wrong(span);
        }
        if let Some(converted) = self.convert_quietly(value.clone(), ty) {
            return Expression { span, ..converted };
        }
        match self.cast_between(value, ty) {
            Some(result) => Expression { span, ..result },
            None => {
                let (from, to) = (self.show(&found), self.show(ty));
                let title = format!("a `{from}` cannot be cast to `{to}`");
                let mut diagnostic = Diagnostic::error("cast", span, title);
                if *ty == Type::Integer {
                    // p4c takes such a cast and masks the number with 0.
                    diagnostic = diagnostic.hint(
                        "`int` is for values that are known when the program is compiled: cast to \
                         a wide enough `int<N>`",
                    );
                } else if is_number(&found) && is_number(ty) {
                    diagnostic = diagnostic
                        .hint("a cast changes the width or the sign, not both: cast twice");
                }
                self.report(diagnostic);
                wrong(span)
            }
        }
    }

    /// The table of explicit casts in the specification. New types and enums go through what they
    /// are made of.
    fn cast_between(&mut self, value: Expression, ty: &Type) -> Option<Expression> {
        let allowed = match (&value.ty, ty) {
            (Type::Bit(1), Type::Bool) | (Type::Bool, Type::Bit(1)) => true,
            (Type::Bool, Type::Integer) => matches!(value.kind, ExpressionKind::Constant(_)),
            (Type::Integer, Type::Bool) => match &value.kind {
                ExpressionKind::Constant(Value::Integer(number)) => fits(number, &Type::Bit(1)),
                _ => false,
            },
            (Type::Bit(_), Type::Bit(_)) | (Type::Int(_), Type::Int(_)) => true,
            (Type::Bit(from), Type::Int(to)) | (Type::Int(from), Type::Bit(to)) => from == to,
            (Type::Bit(_) | Type::Int(_), Type::Integer) => {
                matches!(value.kind, ExpressionKind::Constant(_))
            }
            (_, Type::New(id)) if self.program.new_types[*id].original == value.ty => {
                return Some(self.reinterpret(value, ty));
            }
            (Type::New(id), _) => {
                let original = self.program.new_types[*id].original.clone();
                let inner = self.reinterpret(value, &original);
                return self.recast(inner, ty);
            }
            (_, Type::New(id)) => {
                let original = self.program.new_types[*id].original.clone();
                let inner = self.convert_quietly(value, &original)?;
                return Some(self.reinterpret(inner, ty));
            }
            (Type::Enum(id), _) => {
                let underlying = self.program.enums[*id].underlying.clone()?;
                let inner = self.underlying_value(value, &underlying);
                return self.recast(inner, ty);
            }
            (_, Type::Enum(id)) => {
                let underlying = self.program.enums[*id].underlying.clone()?;
                let inner = self.recast(value, &underlying)?;
                return Some(self.enum_value(inner, ty));
            }
            _ => false,
        };
        allowed.then(|| self.cast_number(value, ty))
    }

    /// As if written as a cast of its own: the way through an enum or new type.
    fn recast(&mut self, value: Expression, ty: &Type) -> Option<Expression> {
        match self.convert_quietly(value.clone(), ty) {
            Some(converted) => Some(converted),
            None => self.cast_between(value, ty),
        }
    }

    /// The same value under another name of its type.
    fn reinterpret(&mut self, value: Expression, ty: &Type) -> Expression {
        if matches!(value.kind, ExpressionKind::Constant(_)) {
            return Expression { ty: ty.clone(), ..value };
        }
        let span = value.span;
        Expression { kind: ExpressionKind::Cast(Box::new(value)), ty: ty.clone(), span }
    }

    /// A number as a serialisable enum: the member of this value, where there is one.
    fn enum_value(&mut self, value: Expression, ty: &Type) -> Expression {
        if let (Type::Enum(id), ExpressionKind::Constant(number)) = (ty, &value.kind) {
            let members = &self.program.enums[*id].members;
            let member = members.iter().position(|member| member.value.as_ref() == Some(number));
            if let Some(member) = member {
                return constant(Value::Enumerator(*id, member), ty.clone(), value.span);
            }
        }
        self.reinterpret(value, ty)
    }

    /// A cast between numbers that is allowed: done on a constant, left to the switch otherwise.
    fn cast_number(&mut self, value: Expression, ty: &Type) -> Expression {
        let span = value.span;
        if let ExpressionKind::Constant(known) = &value.kind
            && let Ok(made) = cast(known, ty)
        {
            return constant(made, ty.clone(), span);
        }
        Expression { kind: ExpressionKind::Cast(Box::new(value)), ty: ty.clone(), span }
    }

    /// The value of `...`: zeros, false, invalid headers.
    pub(super) fn default_value(&self, ty: &Type, span: Span) -> Option<Expression> {
        let zero = Value::Integer(Int::zero());
        let kind = match ty {
            Type::Bit(_) | Type::Int(_) | Type::Integer => ExpressionKind::Constant(zero),
            Type::Bool => ExpressionKind::Constant(Value::Bool(false)),
            Type::Error => ExpressionKind::Constant(Value::Error(0)),
            Type::String => ExpressionKind::Constant(Value::Text("".into())),
            Type::New(id) => {
                let original = self.program.new_types[*id].original.clone();
                self.default_value(&original, span)?.kind
            }
            Type::Enum(id) => {
                let found = &self.program.enums[*id];
                let first = match &found.underlying {
                    None => Some(0),
                    Some(_) => {
                        let is_zero = |value: &Option<Value>| value.as_ref() == Some(&zero);
                        found.members.iter().position(|member| is_zero(&member.value))
                    }
                };
                ExpressionKind::Constant(first.map_or(zero, |at| Value::Enumerator(*id, at)))
            }
            Type::Struct(id) if self.program.structs[*id].kind != DerivedKind::Struct => {
                ExpressionKind::InvalidHeader
            }
            Type::Struct(_) | Type::Tuple(_) | Type::Stack(..) => {
                let parts = self.part_types(ty, 0)?;
                let parts = parts.iter().map(|(_, ty)| self.default_value(ty, span));
                ExpressionKind::Aggregate(parts.collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some(Expression { kind, ty: ty.clone(), span })
    }

    /// Through `type`s to what is below.
    pub(super) fn original<'t>(&'t self, ty: &'t Type) -> &'t Type {
        let mut ty = ty;
        while let Type::New(id) = ty {
            ty = &self.program.new_types[*id].original;
        }
        ty
    }
}

/// Types with arithmetic.
pub(super) fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Integer)
}

/// The typed tree's operator for a written one; `+` has none.
pub(super) fn unary_operator(operator: UnaryOperator) -> Option<crate::types::tree::UnaryOperator> {
    use crate::types::tree::UnaryOperator as Typed;
    match operator {
        UnaryOperator::Complement => Some(Typed::Complement),
        UnaryOperator::Negate => Some(Typed::Negate),
        UnaryOperator::Not => Some(Typed::Not),
        UnaryOperator::Plus => None,
    }
}
