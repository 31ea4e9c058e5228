//! Entries that the program gives its tables.
//!
//! Before: entries of a table declaration. After: what the switch matches, with priorities as the
//! switch counts them: the lowest number wins.
//!
//! BMv2 compares keys as strings of bits: numbers with a sign are cut to their width, a range has two
//! bounds, a prefix a length. "Do not care" is a mask of zeros.

use bits::Int;
use bmv2::MatchKey;

use super::flat::Entry;
use super::lowering::Lowering;
use super::names;
use super::number::{Range, ones};
use super::step::TableId;
use crate::types::tree::{self, Entries, KeysetElement, MatchKind, PropertyValue};
use syntax::Span;

impl Lowering<'_> {
    /// Fills in the entries of a table.
    pub fn entries(&mut self, declaration: &tree::Table, table: TableId) {
        let Some(entries) = &declaration.entries else { return };
        let priorities = self.priorities(declaration, entries);
        let mut list = Vec::new();
        for (entry, priority) in entries.list.iter().zip(priorities) {
            let position = |action: &tree::TableAction| action.call.action == entry.call.action;
            let Some(action) = declaration.actions.iter().position(position) else { continue };
            let keys = self.entry_keys(declaration, entry, table);
            let data = self.action_data(&entry.call);
            let is_const = (!entries.is_const).then_some(entry.is_const);
            list.push(Entry { keys, action, data, priority, is_const, at: entry.span });
        }
        // Entries that come and go and are none to begin with are those of any table.
        let is_plain = list.is_empty() && !entries.is_const;
        self.flat.tables[table.0].entries = (!is_plain).then_some(list);
    }

    /// One match for each key that the switch looks at; inputs of selectors are none.
    fn entry_keys(
        &mut self,
        declaration: &tree::Table,
        entry: &tree::Entry,
        table: TableId,
    ) -> Vec<MatchKey> {
        let seen = self.flat.tables[table.0].keys.iter().filter(|key| key.target.is_some());
        let keys: Vec<(usize, MatchKind)> = seen.map(|key| (key.index, key.match_kind)).collect();
        let mut matches = Vec::new();
        for (index, match_kind) in keys {
            let Some(element) = entry.keyset.elements.get(index) else { continue };
            let range = self.range(&declaration.keys[index].expression.ty);
            matches.push(self.match_key(match_kind, element, range, entry.span));
        }
        matches
    }

    /// An element of an entry as its match kind writes it.
    fn match_key(
        &mut self,
        match_kind: MatchKind,
        element: &KeysetElement,
        range: Range,
        at: Span,
    ) -> MatchKey {
        let all = ones(range.width);
        // On the wire to the switch every key is a string of bits.
        let bits = |number: Int| number.truncate(range.width as usize);
        let mut number = |expression| {
            let number = self.constant_number(expression);
            if number.is_none() {
                self.unsupported(
                    expression.span,
                    "an entry needs values known at compile time",
                    "use constants",
                );
            }
            bits(number.unwrap_or_default())
        };
        let (low, high, value, mask) = match element {
            KeysetElement::Any | KeysetElement::ValueSet(_) => {
                (Int::zero(), all.clone(), Int::zero(), Int::zero())
            }
            KeysetElement::Mask(value, mask) => {
                let (value, mask) = (number(value), number(mask));
                (value.clone(), value.clone(), &value & &mask, mask)
            }
            KeysetElement::Range(low, high) => {
                let (low, high) = (number(low), number(high));
                (low.clone(), high, low, all.clone())
            }
            KeysetElement::Value(value) => {
                let value = number(value);
                (value.clone(), value.clone(), value, all.clone())
            }
        };
        match match_kind {
            MatchKind::Exact => MatchKey::Exact { key: value },
            MatchKind::Lpm => self.prefix(value, &mask, range.width, at),
            MatchKind::Optional | MatchKind::Ternary => MatchKey::Ternary { key: value, mask },
            MatchKind::Range => MatchKey::Range { start: low, end: high },
        }
    }

    /// A mask as a prefix length: ones, then zeros.
    fn prefix(&mut self, key: Int, mask: &Int, width: u32, at: Span) -> MatchKey {
        let zeros = (0..width).find(|bit| mask.bit(*bit as usize)).unwrap_or(width);
        let prefix_length = width - zeros;
        if *mask != ones(prefix_length).shift_left(zeros as usize) {
            self.unsupported(
                at,
                "the mask of an lpm key must be ones followed by zeros",
                "write the prefix as value &&& mask, or make the key ternary",
            );
        }
        MatchKey::Lpm { key, prefix_length }
    }

    /// The switch's priority of each entry. Of const entries the first wins.
    ///
    /// Among entries of controllers theirs must be P4Runtime's, of which the largest wins: the switch
    /// is given what is missing to the largest number there is.
    fn priorities(&mut self, declaration: &tree::Table, entries: &Entries) -> Vec<i32> {
        if entries.is_const {
            let counted = (1..).zip(&entries.list);
            return counted.map(|(at, entry)| annotated(entry).unwrap_or(at)).collect();
        }
        let priorities = self.priorities_for_controllers(declaration, entries);
        let missing = |priority: i64| i32::try_from(i64::from(i32::MAX) - priority);
        priorities.into_iter().map(|it| missing(it).unwrap_or_default()).collect()
    }

    /// P4Runtime's priority of each entry. Where the program says nothing, the last has 1.
    fn priorities_for_controllers(
        &mut self,
        declaration: &tree::Table,
        entries: &Entries,
    ) -> Vec<i64> {
        let largest_wins = self.property_bool(declaration, "largest_priority_wins").unwrap_or(true);
        let delta = self.property_number(declaration, "priority_delta").unwrap_or(1);
        let first = 1 + delta * (entries.list.len() as i64 - 1);
        let mut previous = if largest_wins { first + delta } else { 1 - delta };
        let mut wanted = Vec::new();
        for entry in &entries.list {
            let next = if largest_wins { previous - delta } else { previous + delta };
            previous = entry.priority.as_ref().and_then(Int::to_i64).unwrap_or(next);
            wanted.push(previous);
        }
        let highest = wanted.iter().copied().max().unwrap_or(0);
        let turned = |priority: i64| if largest_wins { priority } else { highest - priority + 1 };
        wanted.into_iter().map(turned).collect()
    }

    /// A property of the table that is true or false.
    fn property_bool(&mut self, table: &tree::Table, name: &str) -> Option<bool> {
        let property = table.properties.iter().find(|property| &*property.name.text == name)?;
        let PropertyValue::Expression(value) = &property.value else { return None };
        self.value(value).constant_bool()
    }

    /// A property of the table that is a number.
    fn property_number(&mut self, table: &tree::Table, name: &str) -> Option<i64> {
        let property = table.properties.iter().find(|property| &*property.name.text == name)?;
        let PropertyValue::Expression(value) = &property.value else { return None };
        self.value(value).constant().and_then(Int::to_i64)
    }
}

/// `@priority(n)`, from before entries had priorities of their own.
fn annotated(entry: &tree::Entry) -> Option<i32> {
    names::number(&entry.annotations, "priority").and_then(|number| i32::try_from(number).ok())
}
