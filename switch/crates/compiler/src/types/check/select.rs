//! `select` and key sets.
//!
//! Before: a `select`, or the keys of a table entry, as written. After: a [`Keyset`] with one element for
//! each thing selected by. `default` and a lone `_` become as many "any" as are needed; a list may stand
//! for all elements, and several elements for one key that is a struct or tuple.

use super::convert::MISMATCH;
use super::scope::Binding;
use super::{Checker, is_constant};
use crate::types::tree::{
    Expression, ExpressionKind, Id, Keyset, KeysetElement, Select, SelectCase, Type, Value,
    ValueSet,
};
use syntax::tree::{self as ast, Name};
use syntax::{Diagnostic, Label, Span};

/// The code of the message that there are more or fewer values than keys.
const KEY_COUNT: &str = "key-count";

impl<'a> Checker<'a, '_> {
    /// `select (subjects) { cases }`.
    pub(super) fn select(&mut self, select: &'a ast::SelectExpression, names: &[&Name]) -> Select {
        let mut subjects: Vec<Expression> = Vec::with_capacity(select.subjects.len());
        for subject in &select.subjects {
            let value = self.expression(subject, None);
            subjects.extend(self.select_subject(value));
        }
        let types: Vec<Type> = subjects.iter().map(|subject| subject.ty.clone()).collect();
        let mut cases = Vec::with_capacity(select.cases.len());
        let mut misfits = Vec::new();
        for case in &select.cases {
            let target = self.state_target(&case.state, names);
            let (keyset, messages) =
                self.capture(|checker| checker.keyset(&case.keyset, &types, false));
            self.sort_misfits(messages, &mut misfits);
            if let Some(keyset) = keyset {
                cases.push(SelectCase { keyset, target, span: case.span });
            }
        }
        let head = select.subjects.last().map_or(select.span, |last| select.span.to(last.span));
        self.report_misfits("select", head, &types, misfits);
        Select { subjects, cases, span: select.span }
    }

    /// Of the messages about one case: those that say that it does not fit what is selected by are
    /// kept for [`Checker::report_misfits`], the others are reported.
    pub(super) fn sort_misfits(&mut self, messages: Vec<Diagnostic>, misfits: &mut Vec<Label>) {
        for message in messages {
            match message.code {
                MISMATCH | KEY_COUNT => {
                    misfits.push(Label { text: message.title, ..message.primary });
                }
                _ => self.report(message),
            }
        }
    }

    /// One message for all cases that do not fit: the mistake may as well be in what stands in the
    /// parentheses, so that is where it points first.
    pub(super) fn report_misfits(
        &mut self,
        what: &str,
        head: Span,
        types: &[Type],
        misfits: Vec<Label>,
    ) {
        if misfits.is_empty() {
            return;
        }
        let shown: Vec<String> = types.iter().map(|ty| self.show(ty)).collect();
        let count = match misfits.len() {
            1 => "a case does".to_string(),
            count => format!("{count} cases do"),
        };
        let title = format!("{count} not fit what this `{what}` looks at: {}", shown.join(", "));
        let message = Diagnostic::error("select", head, title);
        let add = |message: Diagnostic, label: Label| message.related(label.span, label.text);
        self.report(misfits.into_iter().fold(message, add));
    }

    /// Something a parser can choose by.
    fn select_subject(&mut self, value: Expression) -> Option<Expression> {
        match &value.ty {
            Type::Wrong => Some(value),
            Type::Integer => {
                let title = "the width of this number is not known";
                let hint = "give it one: 8w1";
                self.report(Diagnostic::error("type", value.span, title).hint(hint));
                Some(Expression { ty: Type::Wrong, ..value })
            }
            ty if self.is_selectable(ty) => Some(value),
            ty => {
                let title = format!("a `{}` cannot be selected by", self.show(ty));
                self.error("select", value.span, title);
                Some(Expression { ty: Type::Wrong, ..value })
            }
        }
    }

    /// Whether values can be compared bit by bit.
    fn is_selectable(&self, ty: &Type) -> bool {
        match self.original(ty) {
            Type::Bit(_) | Type::Int(_) | Type::Bool | Type::Error | Type::Enum(_) => true,
            Type::Wrong | Type::Variable(_) => true,
            Type::Tuple(elements) => elements.iter().all(|ty| self.is_selectable(ty)),
            _ => false,
        }
    }

    /// One element for each of `types`.
    pub(super) fn keyset(
        &mut self,
        keyset: &'a ast::KeysetExpression,
        types: &[Type],
        must_be_constant: bool,
    ) -> Option<Keyset> {
        let span = keyset.span;
        if let [only] = keyset.elements.as_slice() {
            if let ast::KeysetElement::Default(_) | ast::KeysetElement::DontCare(_) = only {
                return Some(Keyset { elements: vec![KeysetElement::Any; types.len()], span });
            }
            if let ast::KeysetElement::Value(value) = only
                && let Some(id) = self.value_set_named(value)
            {
                return self.value_set_keyset(id, types, span);
            }
        }
        if keyset.elements.len() != types.len() {
            return self.whole_keyset(keyset, types, must_be_constant);
        }
        let mut elements = Vec::with_capacity(types.len());
        for (element, ty) in keyset.elements.iter().zip(types) {
            elements.push(self.keyset_element(element, ty, must_be_constant)?);
        }
        Some(Keyset { elements, span })
    }

    /// A single list expression may stand for all keys, and several elements for one key that is a
    /// tuple or struct.
    fn whole_keyset(
        &mut self,
        keyset: &'a ast::KeysetExpression,
        types: &[Type],
        must_be_constant: bool,
    ) -> Option<Keyset> {
        let span = keyset.span;
        if let [ast::KeysetElement::Value(value)] = keyset.elements.as_slice() {
            let whole = Type::Tuple(types.to_vec());
            let value = self.expression(value, Some(&whole));
            if value.ty == Type::Wrong {
                return None;
            }
            if let (ExpressionKind::Aggregate(parts), true) = (&value.kind, value.ty == whole) {
                let elements = parts.iter().cloned().map(KeysetElement::Value).collect();
                return Some(Keyset { elements, span });
            }
        } else if let [single] = types
            && let Some(parts) = self.part_types(single, keyset.elements.len())
            && parts.len() == keyset.elements.len()
        {
            let mut values = Vec::new();
            for (element, (_, ty)) in keyset.elements.iter().zip(&parts) {
                match self.keyset_element(element, ty, must_be_constant)? {
                    KeysetElement::Value(value) => values.push(value),
                    _ => {
                        self.error("keyset", span, "a set inside of a struct is not possible");
                        return None;
                    }
                }
            }
            let kind = ExpressionKind::Aggregate(values);
            let value = Expression { kind, ty: single.clone(), span };
            return Some(Keyset { elements: vec![KeysetElement::Value(value)], span });
        }
        let given = keyset.elements.len();
        let title = format!(
            "{given} {} given here for {} {}",
            if given == 1 { "value is" } else { "values are" },
            types.len(),
            if types.len() == 1 { "key" } else { "keys" },
        );
        self.error(KEY_COUNT, span, title);
        None
    }

    /// The value set, if the expression is the name of one.
    fn value_set_named(&mut self, value: &ast::Expression) -> Option<Id<ValueSet>> {
        let ast::ExpressionKind::Name(name) = &value.kind else { return None };
        match self.resolve(name) {
            Some(Binding::ValueSet(id)) => Some(id),
            _ => None,
        }
    }

    /// A value set for all keys: its type must be theirs.
    fn value_set_keyset(&mut self, id: Id<ValueSet>, types: &[Type], span: Span) -> Option<Keyset> {
        let element = self.program.value_sets[id].element.clone();
        let fits = match types {
            [single] if *single == element => true,
            _ => match self.part_types(&element, types.len()) {
                Some(parts) => parts.iter().map(|(_, ty)| ty).eq(types),
                None => false,
            },
        };
        if !fits && !types.contains(&Type::Wrong) {
            let title = format!("a value set of `{}` does not fit these keys", self.show(&element));
            self.error(MISMATCH, span, title);
            return None;
        }
        Some(Keyset { elements: vec![KeysetElement::ValueSet(id)], span })
    }

    /// A value, mask, range, set or anything.
    fn keyset_element(
        &mut self,
        element: &'a ast::KeysetElement,
        ty: &Type,
        must_be_constant: bool,
    ) -> Option<KeysetElement> {
        let made = match element {
            ast::KeysetElement::Default(_) | ast::KeysetElement::DontCare(_) => KeysetElement::Any,
            ast::KeysetElement::Value(value) => {
                if let Some(id) = self.value_set_named(value) {
                    return Some(KeysetElement::ValueSet(id));
                }
                KeysetElement::Value(self.key_value(value, ty, must_be_constant)?)
            }
            ast::KeysetElement::Mask(value, mask) => {
                self.check_sides(value, mask)?;
                let value = self.key_value(value, ty, must_be_constant)?;
                // An enum's mask is a number.
                let mask_type = self.number_type(ty);
                let mask = self.key_value(mask, &mask_type, true)?;
                KeysetElement::Mask(value, mask)
            }
            ast::KeysetElement::Range(low, high) => {
                self.check_sides(low, high)?;
                let low = self.key_value(low, ty, true)?;
                let high = self.key_value(high, ty, true)?;
                self.check_range(&low, &high, must_be_constant);
                KeysetElement::Range(low, high)
            }
        };
        Some(made)
    }

    /// Both sides of a mask or range must be of one type, whatever the key is.
    fn check_sides(&mut self, left: &'a ast::Expression, right: &'a ast::Expression) -> Option<()> {
        let sides = self.quietly(|checker| {
            (checker.expression(left, None).ty, checker.expression(right, None).ty)
        });
        let Some((l, r)) = sides else { return Some(()) };
        let has_width = |ty: &Type| matches!(ty, Type::Bit(_) | Type::Int(_));
        if l == r || !has_width(&l) || !has_width(&r) {
            return Some(());
        }
        let title = format!("the two sides differ: `{}` and `{}`", self.show(&l), self.show(&r));
        self.error("type", left.span.to(right.span), title);
        None
    }

    /// The number type for masks of the type.
    fn number_type(&self, ty: &Type) -> Type {
        match ty {
            Type::Enum(id) => {
                self.program.enums[*id].underlying.clone().unwrap_or_else(|| ty.clone())
            }
            _ => ty.clone(),
        }
    }

    /// A value to compare a key with.
    fn key_value(
        &mut self,
        value: &'a ast::Expression,
        ty: &Type,
        must_be_constant: bool,
    ) -> Option<Expression> {
        let found = self.expression(value, Some(ty));
        let found = single_part(found, ty);
        // A `type` is compared with plain numbers here, as nowhere else.
        let original = self.original(ty).clone();
        let found = match (found.ty == *ty, original == *ty) {
            (false, false) => Expression { ty: ty.clone(), ..self.convert(found, &original) },
            _ => self.convert(found, ty),
        };
        if found.ty == Type::Wrong {
            return None;
        }
        if super::lvalue::has_effects(&found) {
            self.error("keyset", found.span, "nothing can be called here");
            return None;
        }
        if must_be_constant && !is_constant(&found) && !self.is_compile_time(&found) {
            self.error("constant", found.span, "this value must be known at compile time");
            return None;
        }
        Some(found)
    }

    /// An empty range: a `select` passes over it, the switch takes no such table entry.
    fn check_range(&mut self, low: &Expression, high: &Expression, is_entry: bool) {
        if let (
            ExpressionKind::Constant(Value::Integer(from)),
            ExpressionKind::Constant(Value::Integer(to)),
        ) = (&low.kind, &high.kind)
            && from > to
        {
            let title = format!("the range {from} .. {to} is empty: nothing matches it");
            let span = low.span.to(high.span);
            let message = if is_entry {
                Diagnostic::error("range", span, title)
            } else {
                Diagnostic::warning("empty-range", span, title)
            };
            self.report(message.hint("the lower bound comes first"));
        }
    }
}

/// `{x}` for a key that is no struct or tuple means `x`.
fn single_part(value: Expression, ty: &Type) -> Expression {
    match (&value.kind, &value.ty, ty) {
        (_, _, Type::Struct(_) | Type::Tuple(_)) => value,
        (ExpressionKind::Aggregate(parts), Type::Tuple(types), _) if types.len() == 1 => {
            parts.first().cloned().unwrap_or(value)
        }
        _ => value,
    }
}
