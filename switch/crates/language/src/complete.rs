//! The completions at a place.
//!
//! A name that nothing can have is written there, and the compiler reads the text. Where its checker
//! comes to that name, it says what it would have known. Somebody who types has not finished the
//! statement, so it is finished for him, in the few ways in which statements end, until the checker
//! gets there.

use crate::meaning::{Meaning, of_symbol};
use crate::study::{Sources, Study, plain};
use crate::surroundings::{Place, Surroundings};
use crate::words;
use compiler::index::{CURSOR, Kind};
use compiler::{SourceError, SourceProvider};

/// How a statement, argument, key, field or case may go on behind the name, so that it can be read.
const ENDS: [&str; 8] = ["();", "", ";", " {}", ": exact;", " x;", ": accept;", " x"];

/// An editor's completions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// Bytes of the file that what is chosen replaces: the name as far as it is typed.
    pub from: u32,
    /// And up to there.
    pub to: u32,
    /// By name.
    pub list: Vec<Completion>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// As it is written.
    pub name: String,
    /// None for a word of the language.
    pub kind: Option<Kind>,
    /// Its meaning; without a place.
    pub meaning: Meaning,
}

/// The completions at a byte of a file.
pub fn complete(sources: &Sources<'_>, file: &str, offset: u32) -> Completions {
    let Ok(text) = sources.provider.read(file) else { return Completions::default() };
    let (from, to) = name_around(&text, offset as usize);
    let (before, behind) = (&text[..from], &text[to..]);
    if is_in_comment(before) || text[from..].starts_with(|c: char| c.is_ascii_digit()) {
        return Completions::default();
    }
    let around = Surroundings::of(before);
    let mut list = names(sources, file, before, behind, &around);
    if around.is_beginning {
        let known = |word: &str| list.iter().any(|offered| offered.name == word);
        let words: Vec<_> = words::beginning(around.place)
            .iter()
            .filter(|word| !known(word))
            .map(|w| word(w))
            .collect();
        list.extend(words);
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    Completions { from: from as u32, to: to as u32, list }
}

/// The names that the checker would have known.
fn names(
    sources: &Sources<'_>,
    file: &str,
    before: &str,
    behind: &str,
    around: &Surroundings,
) -> Vec<Completion> {
    let file = plain(file);
    // Brackets that are closed behind the cursor need not be closed for the reader.
    let closers = ["", around.closers.as_str()];
    let closers = if around.closers.is_empty() { &closers[..1] } else { &closers[..] };
    for closer in closers {
        for end in ENDS {
            let text = format!("{before}{CURSOR}{closer}{end}{behind}");
            let provider = |path: &str| -> Result<String, SourceError> {
                if plain(path) == file { Ok(text.clone()) } else { sources.provider.read(path) }
            };
            let study =
                Study::of(&Sources { provider: &provider as &dyn SourceProvider, ..*sources });
            if let Some(symbols) = study.index.candidates() {
                let fits = |kind: Kind| around.place != Place::Transition || kind == Kind::State;
                let symbols =
                    symbols.iter().filter(|symbol| fits(symbol.kind) && &*symbol.name != CURSOR);
                return symbols
                    .map(|symbol| Completion {
                        name: symbol.name.to_string(),
                        kind: Some(symbol.kind),
                        meaning: of_symbol(symbol, &study.sources),
                    })
                    .collect();
            }
        }
    }
    Vec::new()
}

fn word(word: &str) -> Completion {
    let words = words::about(word, false).unwrap_or_default().to_owned();
    Completion {
        name: word.to_owned(),
        kind: None,
        meaning: Meaning { words, ..Meaning::default() },
    }
}

/// From the beginning to the end of the name that a byte lies in or behind.
fn name_around(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (before, behind) = text.split_at(offset);
    let from = before
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let to = offset + behind.find(|c| !is_part(c)).unwrap_or(behind.len());
    (from, to)
}

/// Whether the text ends inside of a comment or string.
fn is_in_comment(before: &str) -> bool {
    let mut rest = before;
    while let Some(at) = rest.find(['/', '"']) {
        let from = &rest[at..];
        let (open, close) = if from.starts_with("//") {
            (2, "\n")
        } else if from.starts_with("/*") {
            (2, "*/")
        } else if from.starts_with('"') {
            (1, "\"")
        } else {
            rest = &from[1..];
            continue;
        };
        match from[open..].find(close) {
            Some(end) => rest = &from[open + end + close.len()..],
            None => return true,
        }
    }
    false
}
