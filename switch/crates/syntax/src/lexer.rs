//! From text to tokens. Comments and white space leave only flags behind; nothing is an error
//! except a comment or string that never ends. Directives are ordinary tokens here.

use crate::directives::is_note;
use crate::token::{Token, TokenKind};
use crate::{Diagnostic, Diagnostics, FileId, Span};
use std::rc::Rc;

/// Operators and brackets of more than one character, longest first. Those that start with `>` are
/// put together by the parser.
const LONG_SYMBOLS: [&str; 28] = [
    "|+|=", "|-|=", "<<=", "|+|", "|-|", "&&&", "...", "{#}", "&&", "||", "==", "!=", "<=", ">=",
    "<<", "++", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "..", "->", "::",
];

/// All tokens of `text`, without an end token.
pub fn tokenize(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer::new(file, text);
    let mut tokens = Vec::new();
    while let Some(line) = lexer.line(false, diagnostics) {
        tokens.extend(line);
    }
    tokens
}

/// Reads a text line by line, because what a line is depends on those before: in lines that a
/// condition skips, or that begin with `#` and are no directive, a quote without its partner is no string.
pub(crate) struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    /// Offset of the next character, always at a character boundary.
    at: usize,
    /// Whether the next token is the first of its line, and whether white space is in front of it.
    before: (bool, bool),
}

impl<'a> Lexer<'a> {
    pub fn new(file: FileId, text: &'a str) -> Self {
        Self { file, text, at: 0, before: (true, false) }
    }

    /// The tokens up to the end of the line, one or more; `None` at the end of the text.
    pub fn line(&mut self, is_skipped: bool, diagnostics: &mut Diagnostics) -> Option<Vec<Token>> {
        let mut tokens = Vec::new();
        loop {
            let (broke_line, follows_space) = self.skip_space(diagnostics);
            self.before.0 |= broke_line;
            self.before.1 |= follows_space;
            if self.before.0 && !tokens.is_empty() {
                return Some(tokens);
            }
            let Some((kind, end)) = self.token_end(is_skipped || is_note(&tokens), diagnostics)
            else {
                break;
            };
            let start = self.at;
            self.at = end;
            let (starts_line, follows_space) = std::mem::take(&mut self.before);
            tokens.push(Token {
                kind,
                text: unbroken(self.text.get(start..end).unwrap_or("")),
                span: self.span(start, end),
                starts_line,
                follows_space,
                hidden: None,
            });
        }
        (!tokens.is_empty()).then_some(tokens)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    /// Skips white space and comments; says whether a line ended and whether there was anything.
    fn skip_space(&mut self, diagnostics: &mut Diagnostics) -> (bool, bool) {
        let (from, mut broke_line) = (self.at, false);
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += line_comment_length(rest);
            } else if rest.starts_with("/*") {
                self.skip_block_comment(diagnostics);
            } else if let Some(length) = continued_line(rest) {
                self.at += length;
            } else if let Some(space) = rest.chars().next().filter(|c| is_space(*c)) {
                broke_line |= space == '\n';
                self.at += space.len_utf8();
            } else {
                return (broke_line, self.at > from);
            }
        }
    }

    /// A line end inside of the comment does not count: a directive goes on after it.
    fn skip_block_comment(&mut self, diagnostics: &mut Diagnostics) {
        match self.rest().find("*/") {
            Some(length) if length >= 2 || self.rest().starts_with("/**/") => self.at += length + 2,
            // `/*/` opens, but does not close.
            Some(_) => match self.rest().get(3..).and_then(|rest| rest.find("*/")) {
                Some(length) => self.at += 3 + length + 2,
                None => self.unclosed_comment(diagnostics),
            },
            None => self.unclosed_comment(diagnostics),
        }
    }

    fn unclosed_comment(&mut self, diagnostics: &mut Diagnostics) {
        let span = self.span(self.at, self.at + 2);
        diagnostics.push(
            Diagnostic::error("unclosed-comment", span, "this comment never ends")
                .label("opened here")
                .hint("close it with `*/`"),
        );
        self.at = self.text.len();
    }

    /// Sort and end of the token at `self.at`.
    fn token_end(
        &self,
        is_skipped: bool,
        diagnostics: &mut Diagnostics,
    ) -> Option<(TokenKind, usize)> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        let (kind, length) = if first.is_ascii_alphabetic() || first == '_' {
            (TokenKind::Word, word_length(rest))
        } else if first.is_ascii_digit() {
            (TokenKind::Integer, word_length(rest))
        } else if first == '"' {
            (TokenKind::String, self.string_length(is_skipped, diagnostics))
        } else if let Some(length) = character_length(rest) {
            (TokenKind::Unknown, length)
        } else if let Some(symbol) = LONG_SYMBOLS.iter().find(|long| rest.starts_with(**long)) {
            (TokenKind::Symbol, symbol.len())
        } else if "+-*/%&|^~!<>=?:;,.()[]{}@#".contains(first) {
            (TokenKind::Symbol, 1)
        } else {
            (TokenKind::Unknown, first.len_utf8())
        };
        Some((kind, self.at + length))
    }

    /// Length of the string literal with its quotes. A string may run over line ends, as in C
    /// compilers of old, but not out of lines that are skipped; one that never ends takes its line
    /// only.
    fn string_length(&self, is_skipped: bool, diagnostics: &mut Diagnostics) -> usize {
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            match c {
                '\n' if is_skipped => return at,
                '"' if !escaped => return at + 1,
                _ => escaped = c == '\\' && !escaped,
            }
        }
        if is_skipped {
            return self.rest().len();
        }
        let span = self.span(self.at, self.at + 1);
        diagnostics.push(
            Diagnostic::error("unclosed-string", span, "this string never ends")
                .label("opened here")
                .hint("close it with `\"`"),
        );
        line_length(self.rest())
    }
}

/// Length of `'a'` or `'\n'` with its quotes. P4 has no use for characters, but `#if` compares them.
fn character_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let mut characters = inside.char_indices();
    let escaped = match characters.next()?.1 {
        '\'' | '\n' => return None,
        c => c == '\\',
    };
    if escaped {
        characters.next()?;
    }
    // An escape sequence goes on in digits: `'\x41'`.
    let (end, _) = characters.find(|(_, c)| !(escaped && c.is_ascii_hexdigit()))?;
    inside[end..].starts_with('\'').then_some(end + 2)
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\u{b}' || c == '\u{feff}'
}

/// Length of a backslash with the line end behind it; blanks between the two do not count.
fn continued_line(rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix('\\')?;
    let blanks = behind.find(|c| !matches!(c, ' ' | '\t' | '\r'))?;
    behind[blanks..].starts_with('\n').then_some(1 + blanks + 1)
}

/// The characters of a token, without the line ends that a backslash takes out of it.
fn unbroken(token: &str) -> Rc<str> {
    let mut text = String::new();
    let mut rest = token;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        // An escaped backslash in a string is no end of a line.
        let length = match continued_line(from) {
            Some(length) => length,
            None => {
                let length = 1 + from[1..].chars().next().map_or(0, char::len_utf8);
                text.push_str(&from[..length]);
                length
            }
        };
        rest = &from[length..];
    }
    text.push_str(rest);
    text.into()
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// A line comment goes on behind a backslash at the line's end.
fn line_comment_length(rest: &str) -> usize {
    let mut length = line_length(rest);
    while rest
        .get(..length)
        .is_some_and(|line| line.trim_end_matches([' ', '\t', '\r']).ends_with('\\'))
        && length < rest.len()
    {
        length += 1 + line_length(rest.get(length + 1..).unwrap_or(""));
    }
    length
}

/// Letters, digits and underscores, also behind a backslash at the line's end.
fn word_length(rest: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut length = 0;
    loop {
        let part = &rest[length..];
        length += part.find(|c| !is_part(c)).unwrap_or(part.len());
        match continued_line(&rest[length..]) {
            Some(skipped) if rest[length + skipped..].starts_with(is_part) => length += skipped,
            _ => return length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let mut diagnostics = Diagnostics::default();
        let tokens = tokenize(FileId(0), source, &mut diagnostics);
        tokens.iter().map(|token| token.text.to_string()).collect()
    }

    #[test]
    fn numbers_ranges_and_masks_come_apart() {
        assert_eq!(texts("8w0xF_F..1"), ["8w0xF_F", "..", "1"]);
        assert_eq!(texts("a&&&b&&c"), ["a", "&&&", "b", "&&", "c"]);
        assert_eq!(texts("x|+|=y"), ["x", "|+|=", "y"]);
    }

    #[test]
    fn closing_brackets_of_type_arguments_stay_single() {
        assert_eq!(texts("a<b<c>>"), ["a", "<", "b", "<", "c", ">", ">"]);
    }

    #[test]
    fn comments_vanish_and_lines_are_marked() {
        let mut diagnostics = Diagnostics::default();
        let tokens = tokenize(FileId(0), "a /* \n */ b // c\nd \\\ne", &mut diagnostics);
        let marks: Vec<_> = tokens.iter().map(|t| (&*t.text, t.starts_line)).collect();
        assert_eq!(marks, [("a", true), ("b", false), ("d", true), ("e", false)]);
    }

    #[test]
    fn what_never_ends_is_reported_once() {
        for source in ["/* a", "/*/", "x = \"abc\n y"] {
            let mut diagnostics = Diagnostics::default();
            tokenize(FileId(0), source, &mut diagnostics);
            assert_eq!(diagnostics.error_count(), 1, "{source}");
        }
    }
}
