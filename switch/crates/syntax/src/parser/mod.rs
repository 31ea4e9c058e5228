//! The parser: tokens to syntax tree, by recursive descent. It never fails: what is wrong is
//! reported and skipped.
//!
//! Functions are named after the productions of the specification's grammar. A function `x` that
//! finds no `x` reports it and returns `None`; the callers pass the `None` on until one that can
//! recover (a list of declarations, statements, fields) skips to its next element. `opt_x` may find
//! nothing without complaint.
//!
//! P4's grammar cannot be parsed without knowing which names are types: `(a) - b` is a cast or a
//! subtraction. [`TypeNames`] keeps the names declared until now, scope by scope.

mod annotation;
mod declaration;
mod expression;
mod literal;
mod parser_declaration;
mod row;
mod statement;
mod table;
mod type_names;
mod type_ref;

use crate::token::{Token, TokenKind, is_reserved};
use crate::tree::{Name, Program};
use crate::{Diagnostic, Diagnostics, Span};
use type_names::TypeNames;

/// Deepest nesting of expressions, statements and types. Later phases recurse over the tree: this
/// keeps their stacks small. Rows as people write them nest little however long they are: chains of
/// `else if` are lists, and [`row`] brackets sums.
const DEPTH_MAX: usize = 256;

/// The syntax tree of `tokens`, which end with an end token.
pub fn parse(tokens: &[Token], diagnostics: &mut Diagnostics) -> Program {
    let Some(end) = tokens.last() else { return Program::default() };
    let mut parser = Parser {
        tokens,
        end,
        at: 0,
        depth: 0,
        is_quiet: false,
        quiet_errors: 0,
        type_names: TypeNames::default(),
        diagnostics,
    };
    parser.p4program()
}

struct Parser<'a> {
    tokens: &'a [Token],
    /// The last one.
    end: &'a Token,
    at: usize,
    depth: usize,
    /// Trying something out: errors are counted, not reported.
    is_quiet: bool,
    quiet_errors: usize,
    type_names: TypeNames,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Parser<'a> {
    /// The token `ahead` tokens away; the end token for ever after the end.
    fn token(&self, ahead: usize) -> &'a Token {
        self.tokens.get(self.at + ahead).unwrap_or(self.end)
    }

    /// The next token; the end for ever once it is reached.
    fn peek(&self) -> &'a Token {
        self.token(0)
    }

    /// Where the next token is.
    fn span(&self) -> Span {
        self.peek().span
    }

    /// The span of the token read last.
    fn last_span(&self) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(self.span(), |token| token.span)
    }

    /// Whether the next token is this symbol or word.
    fn at(&self, text: &str) -> bool {
        self.peek().is(text)
    }

    /// Whether nothing is left.
    fn is_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    fn bump(&mut self) -> &'a Token {
        let token = self.peek();
        if self.at < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is this one.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the next token, which must be this one.
    fn expect(&mut self, text: &str) -> Option<Span> {
        if self.at(text) {
            return Some(self.bump().span);
        }
        self.expected(&format!("`{text}`"));
        None
    }

    /// Reports that something else was expected where the next token is.
    fn expected(&mut self, what: &str) {
        let found = self.peek();
        let title = format!("syntax error: expected {what}, found {}", found.describe());
        let mut diagnostic = Diagnostic::error("syntax", found.span, title);
        if what == "`;`" {
            let missing = self.last_span().after();
            diagnostic = diagnostic.related(missing, "`;` is missing after this").fix(missing, ";");
        } else if what == "`)`" && found.is("=") {
            diagnostic = diagnostic
                .hint("`==` compares; `=` assigns, as a statement of its own")
                .fix(found.span, "==");
        } else if found.kind == TokenKind::Word && is_reserved(&found.text) && what.contains("name")
        {
            diagnostic = diagnostic
                .hint(format!("`{}` is a keyword of P4; choose another name", found.text));
        }
        if let Some((hint, fix)) = self.other_language(what) {
            diagnostic = diagnostic.hint(hint);
            if let Some(word) = fix {
                diagnostic = diagnostic.fix(found.span, word);
            }
        }
        self.report(diagnostic);
    }

    /// The P4 for an operator of another language here; for a single token also its replacement.
    fn other_language(&self, what: &str) -> Option<(&'static str, Option<&'static str>)> {
        let found = self.peek();
        let before = |back: usize| {
            self.at.checked_sub(back).and_then(|at| self.tokens.get(at)).map_or("", |it| &it.text)
        };
        let counts =
            |one: &str, other: &str| one == "++" || other == "++" || one == "-" && other == "-";
        match what {
            "`)`" | "`;`" if found.is("and") => Some(("`&&` is the operator", Some("&&"))),
            "`)`" | "`;`" if found.is("or") => Some(("`||` is the operator", Some("||"))),
            "`)`" | "`;`" if before(1) == "not" => Some(("`!` is the operator", None)),
            "an expression" if counts(before(1), before(2)) || found.is("++") => {
                Some(("P4 has no `++` and `--`: write x = x + 1", None))
            }
            _ => None,
        }
    }

    /// Says something, unless something is only tried out.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_quiet {
            self.quiet_errors += 1;
        } else {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Runs `production` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEPTH_MAX {
            let title = "syntax error: this is nested too deep";
            let hint = format!("the limit is {DEPTH_MAX} levels; use variables in between");
            self.report(Diagnostic::error("nesting", self.span(), title).hint(hint));
            // Nothing sensible can follow inside: skip the rest of the text.
            self.at = self.tokens.len().saturating_sub(1);
            return None;
        }
        self.depth += 1;
        let result = production(self);
        self.depth -= 1;
        result
    }

    /// Tries `production`; when it reports anything, or `accept` says no, nothing has happened.
    fn attempt<T>(&mut self, production: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, depth) = (self.at, self.depth);
        let (was_quiet, errors) = (self.is_quiet, self.quiet_errors);
        self.is_quiet = true;
        let result = production(self);
        let failed = self.quiet_errors > errors;
        self.is_quiet = was_quiet;
        self.quiet_errors = errors;
        if failed || result.is_none() {
            (self.at, self.depth) = (at, depth);
            return None;
        }
        result
    }

    /// Whether the next token can be a name (`name` in the grammar).
    fn at_name(&self) -> bool {
        is_name(self.peek())
    }

    /// A name; words that are keywords only in places are names.
    fn name(&mut self) -> Option<Name> {
        match self.opt_name() {
            Some(name) => Some(name),
            None => {
                self.expected("a name");
                None
            }
        }
    }

    /// A name, if one is next.
    fn opt_name(&mut self) -> Option<Name> {
        if !self.at_name() {
            return None;
        }
        let token = self.bump();
        Some(Name { text: token.text.clone(), span: token.span })
    }

    /// `item, item, ...` up to `close`, which is not taken; a comma may stand at the end.
    fn comma_list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while !self.at(close) && !self.is_end() {
            items.push(item(self)?);
            if !self.eat(",") {
                break;
            }
        }
        Some(items)
    }

    /// Goes on behind a broken item of a list in braces: behind its semicolon or block, or in front
    /// of the brace that closes the list. Always moves on, except there and at the end.
    fn skip_item(&mut self) {
        let (from, mut depth) = (self.at, 0usize);
        while !self.is_end() {
            let token = self.peek();
            if depth == 0 && (token.is("}") || self.at > from && self.at_close()) {
                return;
            }
            self.bump();
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                depth -= 1;
                if depth == 0 {
                    self.eat(";");
                    return;
                }
            } else if token.is(";") && depth == 0 {
                return;
            }
        }
    }

    /// Items in braces, the opening brace taken already; broken items are skipped.
    fn braced<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let opened = self.last_span();
        let mut items = Vec::new();
        while !self.at_close() {
            let before = self.at;
            match item(self) {
                Some(item) => items.push(item),
                None => self.skip_item(),
            }
            if self.at == before {
                self.bump();
            }
        }
        self.close(opened);
        Some(items)
    }

    /// Whether a list in braces is over: at its brace, at the end, or where that brace is missing.
    /// The contents of braces never begin as a declaration of the top level does, so a brace that
    /// is not typed yet costs the declaration it is in and no other.
    fn at_close(&self) -> bool {
        let next = self.peek();
        self.at("}") || self.is_end() || next.starts_line && begins_declaration(&next.text)
    }

    /// Takes the brace that closes the one at `opened`. If it is missing, that is said, and what stands
    /// in front of it is kept.
    fn close(&mut self, opened: Span) {
        if self.eat("}") {
            return;
        }
        let found = self.peek();
        let title = format!("syntax error: expected `}}`, found {}", found.describe());
        let diagnostic = Diagnostic::error("syntax", found.span, title);
        self.report(diagnostic.related(opened, "this brace is not closed"));
    }

    /// How many tokens ahead the bracket is that closes the one `ahead` tokens away.
    fn closing(&self, ahead: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (distance, token) in self.tokens.get(self.at + ahead..)?.iter().enumerate() {
            match &*token.text {
                "(" | "{" | "[" if token.kind == TokenKind::Symbol => depth += 1,
                ")" | "}" | "]" if token.kind == TokenKind::Symbol => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(ahead + distance);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Words with which only a declaration of the top level begins.
fn begins_declaration(word: &str) -> bool {
    const WORDS: [&str; 9] = [
        "control",
        "enum",
        "extern",
        "header",
        "header_union",
        "package",
        "parser",
        "struct",
        "typedef",
    ];
    WORDS.contains(&word)
}

/// Whether the token can be a name.
fn is_name(token: &Token) -> bool {
    token.kind == TokenKind::Word && !is_reserved(&token.text)
}

#[cfg(test)]
mod tests;
