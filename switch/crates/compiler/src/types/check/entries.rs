//! The rules for entries in the program, by the match kinds of the keys.
//!
//! Before: a table with keys and entries of the right types. After: every element is one that its match
//! kind can compare; no entry repeats another. Masks of lpm keys are checked by the back end, which
//! needs the length of the prefix anyway.

use std::collections::HashMap;

use super::Checker;
use crate::types::tree::{
    Entry, Expression, ExpressionKind, Key, KeysetElement, MatchKind, Table, Type, Value,
};
use bits::Int;
use syntax::{Diagnostic, Span};

impl Checker<'_, '_> {
    /// Every element fits its match kind, and no entry is there twice.
    pub(super) fn check_entries(&mut self, table: &Table) {
        let Some(entries) = &table.entries else { return };
        let kinds: Vec<_> = table.keys.iter().map(Key::known_match_kind).collect();
        for entry in &entries.list {
            for (element, kind) in entry.keyset.elements.iter().zip(&kinds) {
                if let Some(kind) = kind {
                    self.check_element(element, *kind);
                }
            }
        }
        // With exact keys only, a second entry could never match.
        if kinds.iter().any(|kind| *kind != Some(MatchKind::Exact)) {
            return;
        }
        let mut first: HashMap<Vec<Element<'_>>, &Entry> = HashMap::new();
        for entry in &entries.list {
            let key = entry.keyset.elements.iter().map(Element::of).collect::<Option<Vec<_>>>();
            let Some(key) = key else { continue };
            let earlier = *first.entry(key).or_insert(entry);
            if !std::ptr::eq(earlier, entry) {
                self.report(
                    Diagnostic::error(
                        "table",
                        entry.keyset.span,
                        "there are two entries for this key",
                    )
                    .related(earlier.keyset.span, "the other one"),
                );
            }
        }
    }

    /// One element of an entry and the match kind of its key.
    fn check_element(&mut self, element: &KeysetElement, kind: MatchKind) {
        let problem: Option<(Span, &str)> = match (kind, element) {
            (MatchKind::Exact, KeysetElement::Mask(value, _)) => {
                Some((value.span, "an exact key takes no mask"))
            }
            (MatchKind::Exact, KeysetElement::Any) => None,
            (kind, KeysetElement::Range(low, _)) if kind != MatchKind::Range => {
                Some((low.span, "only range keys take ranges"))
            }
            (MatchKind::Optional, KeysetElement::Mask(value, mask)) if !is_all_ones(mask) => {
                Some((value.span, "an optional key takes a value or `_`, no mask"))
            }
            (MatchKind::Range, KeysetElement::Mask(value, _)) => {
                Some((value.span, "a range key takes no mask"))
            }
            _ => None,
        };
        if let Some((span, title)) = problem {
            self.error("table", span, title);
        }
    }
}

/// An element of a key, as far as it is plain to see what it matches: equal ones match the same packets.
#[derive(PartialEq, Eq, Hash)]
enum Element<'a> {
    Any,
    Value(Vec<&'a Value>),
}

impl Element<'_> {
    fn of(element: &KeysetElement) -> Option<Element<'_>> {
        match element {
            KeysetElement::Any => Some(Element::Any),
            KeysetElement::Value(value) => {
                let mut values = Vec::new();
                add_values(value, &mut values).then_some(Element::Value(values))
            }
            _ => None,
        }
    }
}

/// Appends the known values of which an expression consists; false if one is not known.
fn add_values<'a>(expression: &'a Expression, values: &mut Vec<&'a Value>) -> bool {
    match &expression.kind {
        ExpressionKind::Constant(value) => {
            values.push(value);
            true
        }
        ExpressionKind::Aggregate(parts) => parts.iter().all(|part| add_values(part, values)),
        _ => false,
    }
}

/// The bits of a mask, turned over: zeros where it has ones.
fn zeros(mask: &Expression) -> Option<Int> {
    match (&mask.kind, &mask.ty) {
        (ExpressionKind::Constant(Value::Integer(bits)), Type::Bit(width)) => {
            Some((!bits).truncate(*width as usize))
        }
        _ => None,
    }
}

/// A mask that leaves nothing out.
fn is_all_ones(mask: &Expression) -> bool {
    zeros(mask).is_none_or(|zeros| zeros.is_zero())
}
