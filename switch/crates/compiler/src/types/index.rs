//! The meanings of a program's names, and the completions at one place, for editors.
//!
//! The checker fills it in passing, so an editor never has a second opinion about a name. It is worth
//! something for programs with mistakes too: what could be resolved is in it.

use super::tree::Text;
use std::collections::BTreeMap;
use syntax::Span;

/// A name at the place where completions are wanted. No program needs it.
pub const CURSOR: &str = "__cursor__";

/// The kind of thing that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Action,
    /// A parser or control.
    Block,
    Constant,
    Enumerator,
    Error,
    Field,
    Function,
    MatchKind,
    Method,
    /// An instance of an extern, parser, control or package.
    Object,
    Parameter,
    State,
    Table,
    Type,
    ValueSet,
    Variable,
}

/// One thing that is declared in the text, or built into the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub kind: Kind,
    pub name: Text,
    /// The type of its value, as messages name it, where it has one.
    pub ty: Option<String>,
    /// Its name where it is declared, which identifies it. `None` for built-in names.
    pub declared: Option<Span>,
    /// Its whole declaration; its name if no more is known.
    pub whole: Span,
}

/// See the top of the file.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// By the place of the name in the declaration.
    symbols: BTreeMap<Span, Symbol>,
    /// Every name that was resolved, and where what it stands for is declared.
    names: BTreeMap<Span, Span>,
    /// The completions at [`CURSOR`].
    candidates: Vec<Symbol>,
    /// Whether the checker came by [`CURSOR`].
    was_asked: bool,
}

impl Index {
    /// The meaning of the name that covers this byte, and the place of the name.
    pub fn at(&self, file: syntax::FileId, offset: u32) -> Option<(Span, &Symbol)> {
        let upto = Span { file, start: offset, end: u32::MAX };
        let (at, declared) =
            self.names.range(..=upto).rev().take_while(|(at, _)| at.file == file).next()?;
        (offset <= at.end).then_some(())?;
        Some((*at, self.symbols.get(declared)?))
    }

    /// Everywhere a thing is named, its declaration included, in the order of the text.
    pub fn uses(&self, declared: Span) -> impl Iterator<Item = Span> {
        self.names.iter().filter(move |(_, of)| **of == declared).map(|(at, _)| *at)
    }

    /// All that is declared, in the order of the text.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.values()
    }

    /// The completions at [`CURSOR`]; `None` if the checker never came there.
    pub fn candidates(&self) -> Option<&[Symbol]> {
        self.was_asked.then_some(&self.candidates)
    }

    /// A thing is declared. The first word counts: generic things are declared again for each list
    /// of types.
    pub(super) fn declare(&mut self, symbol: Symbol) {
        let Some(declared) = symbol.declared else { return };
        self.names.entry(declared).or_insert(declared);
        self.symbols.entry(declared).or_insert(symbol);
    }

    /// A name refers to the declaration there.
    pub(super) fn resolve(&mut self, at: Span, declared: Span) {
        self.names.insert(at, declared);
    }

    pub(super) fn offer(&mut self, candidates: Vec<Symbol>) {
        self.candidates.extend(candidates);
        self.was_asked = true;
    }
}
