//! The same text, laid out: indented by its braces, one space where one belongs, none where none does.
//!
//! The author decides where lines end, which declarations are aligned in columns and how a long
//! expression is broken: that has a meaning, and stays. Only two things are changed.
//!
//! * Where a declaration or statement begins, its line is indented by four blanks for each brace around
//!   it. Lines on which it goes on move along with its first line.
//! * Between two tokens of a line stands a space or none, as [`spacing`] says. More than one space,
//!   where there may be one, is a column and stays.
//!
//! Directives of the preprocessor and comments are not looked into. Tokens are never changed: what is
//! laid out is the same program.

use syntax::token::{Token, TokenKind, is_reserved};
use syntax::{Diagnostics, FileId, lexer};

const INDENT: usize = 4;

/// The text, laid out; or why it cannot be.
pub fn format(text: &str) -> Result<String, String> {
    let mut diagnostics = Diagnostics::default();
    let tokens = lexer::tokenize(FileId(0), text, &mut diagnostics);
    if let Some(first) = diagnostics.iter().next() {
        let line = crate::place::line_and_unit(text, first.primary.span.start as usize).0 + 1;
        return Err(std::format!("line {line}: {}", first.title));
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (out, base) = (String::with_capacity(text.len()), base(text, &tokens));
    let mut layout = Layout { out, base, ..Layout::default() };
    let mut at = 0;
    let mut next = 0;
    while let Some(token) = tokens.get(next) {
        let start = token.span.start as usize;
        if token.is("#") && token.starts_line {
            layout.gap(&text[at..start], None);
            let length = directive_length(&text[start..]);
            at = start + length;
            layout.directive(&text[start..at]);
            while tokens.get(next).is_some_and(|token| (token.span.start as usize) < at) {
                next += 1;
            }
            continue;
        }
        layout.gap(&text[at..start], Some(token));
        at = token.span.end as usize;
        layout.token(token, &tokens[next + 1..], &text[start..at]);
        next += 1;
    }
    layout.gap(&text[at..], None);
    let trimmed = layout.out.trim_end();
    let end = if trimmed.is_empty() { "" } else { "\n" };
    Ok(std::format!("{trimmed}{end}").replace('\n', newline))
}

/// The indentation of the lines around which there is no bracket, if it is the same for all.
fn base(text: &str, tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    let mut found: Option<usize> = None;
    let mut is_beginning = true;
    let mut is_directive = false;
    for token in tokens {
        is_directive = token.starts_line && token.is("#") || is_directive && !token.starts_line;
        if is_directive {
            continue;
        }
        if token.starts_line && depth == 0 && is_beginning {
            let before = &text[..token.span.start as usize];
            let blanks = before.len() - before.trim_end_matches(' ').len();
            if found.is_some_and(|found| found != blanks) {
                return 0;
            }
            found = Some(blanks);
        }
        match &*token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_beginning = token.is(";") || token.is("}");
    }
    found.unwrap_or(0)
}

/// A directive with the lines on which it goes on behind a backslash, without the last line's end.
fn directive_length(rest: &str) -> usize {
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end().ends_with('\\') {
            return length - (line.len() - line.trim_end_matches(['\n', '\r']).len());
        }
    }
    length
}

/// An open bracket.
#[derive(Clone, Debug)]
struct Open {
    /// A brace behind which a line ends: what is in it is indented. Everything else keeps its shape.
    is_block: bool,
}

/// The layout until now.
#[derive(Debug, Default)]
struct Layout {
    out: String,
    /// With how many blanks lines begin around which there is no brace: a text that is included inside of
    /// a control may be indented as it is there.
    base: usize,
    open: Vec<Open>,
    /// The brackets that were open at each `#if`: its other branches begin with them too.
    branches: Vec<Vec<Open>>,
    /// By how much lines move on which something goes on: as its first line does.
    shift: isize,
    /// By how much the line that is being written has moved.
    line_shift: isize,
    /// The column of the comment behind the tokens of a line, as it was and as it is now: lines of
    /// comment below it in that column continue it.
    remark: Option<(isize, usize)>,
    /// The token in front, unless something begins here.
    last: Option<Token>,
    /// The one in front of it.
    before_last: Option<Token>,
    /// Whether a conditional expression has not come to its colon yet.
    is_choice: bool,
    /// Whether there are only annotations until now, and how many of their brackets are open.
    annotation: Option<usize>,
}

impl Layout {
    /// How many blanks a line begins with at which something begins.
    fn indent(&self, closes: bool) -> usize {
        let blocks = self.open.iter().filter(|open| open.is_block).count();
        self.base
            + INDENT
                * (blocks
                    - usize::from(closes && self.open.last().is_some_and(|last| last.is_block)))
    }

    /// Whether a declaration, statement or element begins with the next token.
    fn begins(&self) -> bool {
        if self.open.last().is_some_and(|open| !open.is_block) {
            return false;
        }
        let Some(last) = &self.last else { return true };
        let is_annotated = self.annotation == Some(0) && !last.is("@");
        let is_label = last.is(":") && !self.is_choice;
        is_annotated || is_label || [";", "{", "}", ","].iter().any(|end| last.is(end))
    }

    /// Blanks, line ends and comments in front of a token; `None` in front of a directive or the end.
    fn gap(&mut self, gap: &str, token: Option<&Token>) {
        let pieces = pieces(gap);
        let mut lines = 0;
        let mut blanks = 0;
        for piece in &pieces {
            match piece {
                Piece::Line => {
                    lines += 1;
                    blanks = 0;
                }
                Piece::Blanks(width) => blanks += width,
                Piece::Comment(comment) => {
                    self.comment(lines, blanks);
                    self.out.push_str(comment.trim_end());
                    (lines, blanks) = (0, 0);
                }
            }
        }
        let follows_comment = matches!(
            pieces.iter().rev().find(|p| !matches!(p, Piece::Blanks(_))),
            Some(Piece::Comment(_))
        );
        let Some(token) = token else {
            if lines > 0 && !self.out.is_empty() {
                self.out.push_str(if lines > 1 { "\n\n" } else { "\n" });
            }
            return;
        };
        if lines > 0 || self.out.is_empty() {
            self.remark = None;
            return self.place(lines, blanks, Some(token));
        }
        let is_free = self.last.is_none() || follows_comment;
        let wanted = match spacing(self.before_last.as_ref(), self.last.as_ref(), token) {
            _ if is_free => blanks,
            Spacing::AsItIs => blanks,
            Spacing::None => 0,
            Spacing::Some => blanks.max(1),
        };
        self.out.extend(std::iter::repeat_n(' ', wanted));
    }

    /// In front of a comment.
    fn comment(&mut self, lines: usize, blanks: usize) {
        if let Some((was, is)) = self.remark
            && lines == 1
            && blanks as isize == was
        {
            self.out.push('\n');
            return self.out.extend(std::iter::repeat_n(' ', is));
        }
        self.place(lines, blanks, None);
        let line_start = self.out.rfind('\n').map_or(0, |at| at + 1);
        let column = self.out.len() - line_start;
        let is_behind = lines == 0 && !self.out[line_start..].trim().is_empty();
        self.remark = is_behind.then_some((column as isize - self.line_shift, column));
    }

    /// Ends lines and begins one with its blanks; on the same line only blanks.
    fn place(&mut self, lines: usize, blanks: usize, token: Option<&Token>) {
        if lines == 0 && !self.out.is_empty() {
            self.out.extend(std::iter::repeat_n(' ', blanks));
            return;
        }
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            let has_one = self.out.ends_with('\n');
            self.out.push_str(if lines > 1 && !has_one {
                "\n\n"
            } else if has_one {
                ""
            } else {
                "\n"
            });
        }
        let closes = token.is_some_and(|token| token.is("}"));
        let is_in_block = self.open.last().is_none_or(|last| last.is_block);
        // The brace of a block may have a line of its own.
        let is_brace = is_in_block && token.is_some_and(|token| token.is("{") || token.is("}"));
        // Above a text that is included inside of something stands what it is, at the margin.
        let is_remark = token.is_none() && self.open.is_empty() && self.base > 0;
        let indent = if is_remark {
            blanks
        } else if self.begins() || is_brace {
            let indent = self.indent(closes);
            self.shift = indent as isize - blanks as isize;
            indent
        } else {
            (blanks as isize + self.shift).max(0) as usize
        };
        self.line_shift = indent as isize - blanks as isize;
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn token(&mut self, token: &Token, behind: &[Token], written: &str) {
        self.out.push_str(written);
        let begins = self.begins();
        match &*token.text {
            "(" | "[" | "{" if token.kind == TokenKind::Symbol => {
                let is_block = token.is("{") && behind.first().is_none_or(|next| next.starts_line);
                self.open.push(Open { is_block });
            }
            ")" | "]" | "}" if token.kind == TokenKind::Symbol => drop(self.open.pop()),
            _ => {}
        }
        self.annotation = match (&self.annotation, &*token.text) {
            (_, "@") if begins => Some(0),
            (Some(depth), "(" | "[") => Some(depth + 1),
            (Some(depth), ")" | "]") => Some(depth.saturating_sub(1)),
            (Some(0), _) if self.last.as_ref().is_some_and(|last| last.is("@")) => Some(0),
            (Some(0), _) => None,
            (depth, _) => *depth,
        };
        match &*token.text {
            "?" => self.is_choice = true,
            ";" | "{" | "}" => self.is_choice = false,
            _ => {}
        }
        self.before_last = self.last.replace(token.clone());
    }

    /// A line for the preprocessor stays as it is.
    fn directive(&mut self, written: &str) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str(written.trim_end());
        let word = written.trim_start_matches('#').trim_start();
        if word.starts_with("if") {
            self.branches.push(self.open.clone());
        } else if word.starts_with("el") {
            self.open = self.branches.last().cloned().unwrap_or_default();
        } else if word.starts_with("endif") {
            self.branches.pop();
        }
    }
}

/// The separator of two tokens.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Blanks(usize),
    Comment(&'a str),
    Line,
}

fn pieces(gap: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = gap;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else {
            c.len_utf8()
        };
        let (piece, behind) = rest.split_at(length);
        pieces.push(match piece {
            "\n" => Piece::Line,
            "\t" => Piece::Blanks(INDENT),
            " " => Piece::Blanks(1),
            comment if comment.starts_with('/') => Piece::Comment(comment),
            // A carriage return, or a backslash at the end of a line outside of a directive.
            _ => Piece::Blanks(0),
        });
        rest = behind;
    }
    pieces
}

/// The right separator of two tokens of a line.
enum Spacing {
    /// The separator in the text: P4 has uses for either.
    AsItIs,
    None,
    Some,
}

const SPACED: [&str; 31] = [
    "=", "==", "!=", "<=", ">=", "&&", "||", "++", "&&&", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "<<=", "|+|", "|-|", "|+|=", "|-|=", "?", "|", "^", "&", "*", "/", "%", "+", "-",
];

fn spacing(before: Option<&Token>, left: Option<&Token>, right: &Token) -> Spacing {
    let Some(left) = left else { return Spacing::AsItIs };
    let is = |token: &Token, any: &[&str]| any.iter().any(|text| token.is(text));
    if right.is("}") {
        return Spacing::AsItIs;
    }
    // `for (; ; )` and `( .name )` apart, blanks there are never on purpose.
    if is(right, &[",", ";", ")", "]", "."]) || is(left, &["(", "[", ".", "!", "~", "@"]) {
        return Spacing::None;
    }
    if is(left, &[",", ";"]) || right.is("{") || is(left, &["else", "if", "for", "switch"]) {
        return Spacing::Some;
    }
    if left.is("}") && right.is("else") {
        return Spacing::Some;
    }
    // With one operand the sign comes before it.
    let is_sign = |token: &Token, in_front: Option<&Token>| {
        is(token, &["+", "-"]) && !in_front.is_some_and(ends_operand)
    };
    if is(left, &SPACED) {
        return if is_sign(left, before) { Spacing::AsItIs } else { Spacing::Some };
    }
    if is(right, &SPACED) {
        return if is_sign(right, Some(left)) { Spacing::AsItIs } else { Spacing::Some };
    }
    let is_call = right.is("(") && left.kind == TokenKind::Word && !is_reserved(&left.text);
    if is_call { Spacing::None } else { Spacing::AsItIs }
}

/// Whether an operator behind this token has something on its left.
fn ends_operand(token: &Token) -> bool {
    match token.kind {
        TokenKind::Integer | TokenKind::String => true,
        TokenKind::Word => !is_reserved(&token.text) || token.is("this"),
        _ => token.is(")") || token.is("]"),
    }
}
