//! The meaning of a place: a declaration with its type and comments, or a word of the language.

use crate::study::Study;
use crate::{comment, words};
use compiler::index::{Kind, Symbol};
use compiler::{SourceMap, Span};
use syntax::token::{Token, TokenKind};
use syntax::{Diagnostics, lexer};

/// Longer declarations are shown by their first lines.
const LINE_COUNT_MAX: usize = 14;

/// An editor's text about a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// The declaration, as P4; empty for words of the language.
    pub code: String,
    /// The type, where the code does not show it.
    pub ty: Option<String>,
    /// The comment; empty if there is none.
    pub words: String,
    /// Bytes of the file that it is about.
    pub from: u32,
    /// And up to there.
    pub to: u32,
}

impl Study {
    /// The meaning of a place.
    pub fn meaning(&self, file: &str, offset: u32) -> Option<Meaning> {
        if let Some((at, symbol)) = self.name_at(file, offset) {
            let Meaning { code, ty, words, .. } = of_symbol(symbol, &self.sources);
            return Some(Meaning { code, ty, words, from: at.start, to: at.end });
        }
        let file = self.file(file)?;
        let text = &self.sources.file(file)?.text;
        let tokens = lexer::tokenize(file, text, &mut Diagnostics::default());
        let is_here = |token: &Token| (token.span.start..=token.span.end).contains(&offset);
        // Between a word and a sign the cursor is at both: the word is meant.
        let at = |kind| tokens.iter().position(|token| token.kind == kind && is_here(token));
        let at = at(TokenKind::Word).or_else(|| at(TokenKind::Symbol))?;
        let token = tokens.get(at)?;
        let is_member =
            at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|dot| dot.is("."));
        let words = match token.kind {
            TokenKind::Word => words::about(&token.text, is_member)?,
            _ => words::about_sign(&token.text)?,
        };
        let words = words.to_owned();
        let (from, to) = (token.span.start, token.span.end);
        Some(Meaning { words, from, to, ..Meaning::default() })
    }
}

/// A declaration with its type and comments. A built-in one has only words.
pub fn of_symbol(symbol: &Symbol, sources: &SourceMap) -> Meaning {
    let Some(declared) = symbol.declared else {
        let is_member = symbol.kind != Kind::State;
        let words = words::about(&symbol.name, is_member).unwrap_or_default().to_owned();
        return Meaning { words, ..Meaning::default() };
    };
    let code = code(symbol.whole, sources);
    let ty = symbol.ty.clone().filter(|ty| !code.starts_with(ty.as_str()));
    let words = comment::about(symbol.whole, sources);
    Meaning { code, ty, words, from: declared.start, to: declared.end }
}

/// The text of a declaration, moved to the margin; of a long one the head.
fn code(whole: Span, sources: &SourceMap) -> String {
    let text = without_annotations(sources.text(whole)).trim_end_matches([',', ';']);
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > LINE_COUNT_MAX {
        let head = text.split('{').next().unwrap_or(text);
        return format!("{} {{ ... }}", margin(&head.lines().collect::<Vec<_>>()).trim_end());
    }
    margin(&lines)
}

/// Moves all lines but the first, which begins where the declaration does, as far to the left as the
/// last one lies.
fn margin(lines: &[&str]) -> String {
    let width = |line: &&str| line.len() - line.trim_start().len();
    let rest = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
    let least = rest.map(width).min().unwrap_or(0);
    let moved = lines.iter().enumerate().map(|(at, line)| match at {
        0 => *line,
        _ => line.get(least..).unwrap_or("").trim_end(),
    });
    moved.collect::<Vec<_>>().join("\n")
}

/// The declaration behind its `@name("...")` and the like.
fn without_annotations(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(annotation) = rest.strip_prefix('@') {
        let name = annotation.find(|c: char| !c.is_alphanumeric() && c != '_');
        let behind = &annotation[name.unwrap_or(annotation.len())..];
        let (open, close) = match behind.chars().next() {
            Some('(') => ('(', ')'),
            Some('[') => ('[', ']'),
            _ => {
                rest = behind.trim_start();
                continue;
            }
        };
        let mut depth = 0usize;
        let end = behind.char_indices().find(|(_, c)| {
            depth += usize::from(*c == open);
            depth -= usize::from(*c == close && depth > 0);
            depth == 0
        });
        rest = behind[end.map_or(behind.len(), |(at, _)| at + 1)..].trim_start();
    }
    rest
}
