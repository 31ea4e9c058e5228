//! The surroundings of a place in a text, found from the tokens before it alone: for words with
//! which something can begin there, and for the brackets that are still open. A text that is being
//! typed need not be whole for that.

use syntax::FileId;
use syntax::token::Token;
use syntax::{Diagnostics, lexer};

/// The things that can begin at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A statement.
    Body,
    /// A declaration inside of a control.
    Control,
    /// A field of a struct or header.
    Fields,
    /// An element of a list that no word begins: keys, actions, members of an enum.
    List,
    /// A state, or a declaration in front of the states.
    Parser,
    /// A statement of a state, or where it goes.
    State,
    /// A property of a table.
    Table,
    /// A declaration.
    Top,
    /// The state that comes next.
    Transition,
}

/// The information in the text before a place.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub place: Place,
    /// Whether something begins here: a declaration, a statement.
    pub is_beginning: bool,
    /// The brackets that are open in the statement, as they would have to be closed.
    pub closers: String,
}

/// An open bracket.
struct Open {
    symbol: char,
    place: Place,
}

impl Surroundings {
    /// Of the end of `before`.
    pub fn of(before: &str) -> Surroundings {
        let tokens = lexer::tokenize(FileId(0), before, &mut Diagnostics::default());
        let mut open: Vec<Open> = Vec::new();
        // The tokens of the declaration or statement that is being read.
        let mut head: Vec<&Token> = Vec::new();
        for token in &tokens {
            let symbol = token.text.chars().next().unwrap_or(' ');
            let place = open.last().map_or(Place::Top, |around| around.place);
            if token.is("{") {
                open.push(Open { symbol: '}', place: inside(place, &head) });
                head.clear();
            } else if token.is("(") || token.is("[") {
                let symbol = if symbol == '(' { ')' } else { ']' };
                open.push(Open { symbol, place });
                head.push(token);
            } else if [")", "]", "}"].iter().any(|close| token.is(close)) {
                // A bracket that does not fit is one too many, or one in front of it is missing.
                while open.pop().is_some_and(|last| last.symbol != symbol) {}
                if symbol == '}' { head.clear() } else { head.push(token) }
            } else if token.is(";") && open.last().is_none_or(|last| last.symbol == '}') {
                head.clear();
            } else {
                head.push(token);
            }
        }
        let closers = open.iter().rev().map(|open| open.symbol).take_while(|c| *c != '}').collect();
        let is_transition =
            head.first().is_some_and(|word| word.is("transition")) && head.len() == 1;
        let place = if is_transition {
            Place::Transition
        } else {
            open.last().map_or(Place::Top, |around| around.place)
        };
        Surroundings { place, is_beginning: head.is_empty() || is_transition, closers }
    }
}

/// The contents of braces, by the tokens before them.
fn inside(place: Place, head: &[&Token]) -> Place {
    let has = |word: &str| head.iter().any(|token| token.is(word));
    match place {
        Place::Top | Place::Control if has("action") => Place::Body,
        Place::Top if has("control") => Place::Control,
        Place::Top if has("parser") => Place::Parser,
        Place::Top if has("struct") || has("header") || has("header_union") => Place::Fields,
        Place::Top if has("enum") || has("error") || has("match_kind") || has("extern") => {
            Place::List
        }
        Place::Top => Place::Body,
        Place::Control if has("apply") => Place::Body,
        Place::Control if has("table") => Place::Table,
        Place::Parser if has("state") => Place::State,
        Place::State if has("select") => Place::Transition,
        Place::Body if has("switch") => Place::List,
        Place::Table | Place::Fields => Place::List,
        Place::List if head.last().is_some_and(|token| token.is(":")) => Place::Body,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(before: &str) -> (Place, bool, String) {
        let found = Surroundings::of(before);
        (found.place, found.is_beginning, found.closers)
    }

    #[test]
    fn what_is_around_a_place_is_told_from_what_stands_in_front_of_it() {
        for (before, place) in [
            ("", Place::Top),
            ("header h { ", Place::Fields),
            ("control c(inout h_t h) { ", Place::Control),
            ("control c() { action a() { } table t { ", Place::Table),
            ("control c() { table t { key = { ", Place::List),
            ("control c() { table t { key = { } } apply { if (x) { ", Place::Body),
            ("control c() { apply { switch (t.apply().action_run) { a: { ", Place::Body),
            ("parser p(packet_in b) { ", Place::Parser),
            ("parser p() { state start { b.extract(h); ", Place::State),
            ("parser p() { state start { transition ", Place::Transition),
        ] {
            assert_eq!(at(before), (place, true, String::new()), "{before}");
        }
    }

    #[test]
    fn open_brackets_of_the_statement_are_closed_from_the_inside() {
        assert_eq!(at("control c() { apply { if (f(a[0").2, "]))");
        assert_eq!(at("control c() { apply { x = (a.").2, ")");
        assert!(!at("control c() { apply { x = ").1);
    }
}
