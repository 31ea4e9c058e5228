//! Directives: `#define`, `#include`, conditionals, `#line`, `#error`, ...

use super::condition::evaluate;
use super::macros::{HAS_INCLUDE, Macro, Parameters};
use super::{Conditional, FileState, Preprocessor, spell};
use crate::directives::DIRECTIVES;
use crate::suggest::nearest;
use crate::token::{Token, TokenKind};
use crate::{Diagnostic, FileId, Span};
use std::rc::Rc;

/// Shortest word that may be a misspelt directive: comments begin with words such as `#in` and `#it`.
const MISSPELT_LENGTH_MIN: usize = 5;

impl Preprocessor<'_> {
    /// One line that starts with `#`.
    pub(super) fn directive(&mut self, line: &[Token], state: &mut FileState) {
        let (Some(hash), Some(name)) = (line.first(), line.get(1)) else { return };
        let span = hash.span.to(name.span);
        let arguments = line.get(2..).unwrap_or(&[]);
        match &*name.text {
            "if" => self.open_if(span, arguments, state),
            "ifdef" | "ifndef" => {
                let wanted = &*name.text == "ifdef";
                let is_defined = arguments.first().is_some_and(|word| self.macros.is_defined(word));
                self.require_name(arguments, span);
                self.open(span, is_defined == wanted, state);
            }
            "elif" => {
                let file = state.file;
                self.elif(span, state, |this| this.condition(arguments, span, file));
            }
            "elifdef" | "elifndef" => {
                let wanted = &*name.text == "elifdef";
                self.elif(span, state, |this| {
                    let word = this.require_name(arguments, span);
                    word.is_some_and(|word| this.macros.is_defined(word)) == wanted
                });
            }
            "else" => self.else_branch(span, state),
            "endif" if state.conditionals.pop().is_none() => self.unmatched("#endif", span),
            "endif" => {}
            _ if state.is_active() => self.active_directive(line, span, arguments, state),
            _ => {}
        }
    }

    /// Directives that do nothing in skipped lines.
    fn active_directive(
        &mut self,
        line: &[Token],
        span: Span,
        arguments: &[Token],
        state: &mut FileState,
    ) {
        let Some(name) = line.get(1) else { return };
        match &*name.text {
            "define" => self.define(arguments, span),
            "error" => {
                let title = format!("#error {}", spell(arguments));
                self.diagnostics.push(Diagnostic::error("preprocessor", span, title));
            }
            "include" => self.include_directive(arguments, span, state),
            "line" => self.line_directive(arguments, span, state),
            // `# 12 "file"` is how a C preprocessor writes `#line`; `#12` is none for p4c.
            _ if is_line_marker(name, arguments) => {
                self.line_directive(line.get(1..).unwrap_or(&[]), span, state);
            }
            "pragma" => {
                if arguments.first().is_some_and(|word| word.is("once")) {
                    self.read_once(state.file);
                }
            }
            "undef" => {
                if let Some(word) = self.require_name(arguments, span) {
                    self.macros.undefine(&word.text);
                }
            }
            "warning" => {
                let title = format!("#warning {}", spell(arguments));
                self.diagnostics.push(Diagnostic::warning("preprocessor", span, title));
            }
            other => self.skip_note(other, span),
        }
    }

    /// A line that begins with `#` and is no directive: p4c passes it on and its lexer skips it, so
    /// some programs write comments that way.
    fn skip_note(&mut self, name: &str, span: Span) {
        if name.len() < MISSPELT_LENGTH_MIN {
            return;
        }
        if let Some(meant) = nearest(name, DIRECTIVES.into_iter()) {
            let title = format!("there is no directive `#{name}`, so this line is skipped");
            self.diagnostics.push(
                Diagnostic::warning("preprocessor", span, title)
                    .hint(format!("is `#{meant}` meant? comments start with `//`")),
            );
        }
    }

    fn open_if(&mut self, span: Span, arguments: &[Token], state: &mut FileState) {
        // Skipped conditions are not read: they may use what only the other branch defines.
        let holds = state.is_active() && self.condition(arguments, span, state.file);
        self.open(span, holds, state);
    }

    fn open(&mut self, span: Span, holds: bool, state: &mut FileState) {
        let surroundings = state.is_active();
        state.conditionals.push(Conditional {
            span,
            is_active: surroundings && holds,
            was_active: !surroundings || holds,
            had_else: false,
        });
    }

    /// `condition` is read only where no branch before was wanted.
    fn elif(
        &mut self,
        span: Span,
        state: &mut FileState,
        condition: impl FnOnce(&mut Self) -> bool,
    ) {
        let wants = state.conditionals.last().is_some_and(|open| !open.was_active);
        let holds = wants && condition(self);
        match state.conditionals.last_mut() {
            Some(open) if !open.had_else => {
                open.is_active = holds;
                open.was_active |= holds;
            }
            _ => self.unmatched("#elif", span),
        }
    }

    fn else_branch(&mut self, span: Span, state: &mut FileState) {
        match state.conditionals.last_mut() {
            Some(open) if !open.had_else => {
                open.had_else = true;
                open.is_active = !open.was_active;
                open.was_active = true;
            }
            _ => self.unmatched("#else", span),
        }
    }

    fn unmatched(&mut self, directive: &str, span: Span) {
        let title = format!("this `{directive}` belongs to no `#if`");
        self.diagnostics.push(Diagnostic::error("preprocessor", span, title));
    }

    fn condition(&mut self, arguments: &[Token], span: Span, file: FileId) -> bool {
        let arguments = self.resolve_has_include(arguments, file);
        match evaluate(&arguments, &self.macros, self.sources, self.diagnostics) {
            Ok(value) => value,
            Err(reason) => {
                let title = format!("cannot evaluate this condition: {reason}");
                self.diagnostics.push(Diagnostic::error("preprocessor", span, title));
                false
            }
        }
    }

    /// `__has_include(<name>)` and `__has_include("name")` as 1 or 0.
    fn resolve_has_include(&self, tokens: &[Token], file: FileId) -> Vec<Token> {
        let mut resolved = Vec::new();
        let mut rest = tokens;
        while let [first, others @ ..] = rest {
            rest = others;
            let asked = match others {
                [open, inside @ ..] if first.is(HAS_INCLUDE) && open.is("(") => inside,
                _ => {
                    resolved.push(first.clone());
                    continue;
                }
            };
            let length = asked.iter().position(|token| token.is(")")).unwrap_or(asked.len());
            let (name, behind) = asked.split_at(length);
            rest = behind.get(1..).unwrap_or(&[]);
            let text = spell(name);
            let (name, is_quoted) = match text.strip_prefix('<') {
                Some(name) => (name.trim_end_matches('>'), false),
                None => (text.trim_matches('"'), true),
            };
            let paths = self.include_paths(name, is_quoted, file);
            let exists = paths.iter().any(|path| self.provider.read(path).is_ok());
            let text = if exists { "1" } else { "0" };
            resolved.push(Token { kind: TokenKind::Integer, text: text.into(), ..first.clone() });
        }
        resolved
    }

    fn require_name<'t>(&mut self, arguments: &'t [Token], span: Span) -> Option<&'t Token> {
        let word = arguments.first().filter(|token| token.kind == TokenKind::Word);
        if word.is_none() {
            let title = "a macro name is missing here";
            self.diagnostics.push(Diagnostic::error("preprocessor", span.after(), title));
        }
        word
    }

    fn define(&mut self, arguments: &[Token], span: Span) {
        let Some(name) = self.require_name(arguments, span) else { return };
        let after_name = arguments.get(1..).unwrap_or(&[]);
        // Only a parenthesis that touches the name makes it a macro with parameters.
        let is_function =
            after_name.first().is_some_and(|token| token.is("(") && !token.follows_space);
        let (parameters, body) = if is_function {
            match parameters(after_name.get(1..).unwrap_or(&[])) {
                Some((parameters, body)) => (Some(parameters), body),
                None => {
                    let title = "the parameters of this macro are not a list of names";
                    self.diagnostics.push(
                        Diagnostic::error("preprocessor", name.span, title)
                            .hint("write #define NAME(a, b) text"),
                    );
                    return;
                }
            }
        } else {
            (None, after_name)
        };
        self.macros.define(name.text.clone(), Macro { parameters, body: body.to_vec() });
    }

    fn include_directive(&mut self, arguments: &[Token], span: Span, state: &FileState) {
        let mut expanded = Vec::new();
        // The name may come out of a macro.
        if arguments.first().is_some_and(|token| token.kind == TokenKind::Word) {
            let tokens = arguments.to_vec();
            self.macros.expand(tokens, 1000, self.sources, self.diagnostics, &mut expanded);
        } else {
            expanded.extend_from_slice(arguments);
        }
        let whole = arguments.last().map_or(span, |last| span.to(last.span));
        match expanded.first() {
            Some(token) if token.kind == TokenKind::String => {
                let name = token.text.trim_matches('"').to_string();
                self.include(&name, true, whole, state);
            }
            Some(token) if token.is("<") => {
                let text: String = expanded.iter().skip(1).map(|token| &*token.text).collect();
                match text.find('>') {
                    Some(end) => {
                        let name = text.get(..end).unwrap_or("").to_string();
                        self.include(&name, false, whole, state);
                    }
                    None => self.bad_include(whole),
                }
            }
            _ => self.bad_include(whole),
        }
    }

    fn bad_include(&mut self, span: Span) {
        let title = "`#include` needs a file name";
        self.diagnostics.push(
            Diagnostic::error("include", span, title)
                .hint("write #include <core.p4> or #include \"headers.p4\""),
        );
    }

    fn line_directive(&mut self, arguments: &[Token], span: Span, state: &FileState) {
        let number = arguments.first().and_then(|token| token.text.parse::<u32>().ok());
        let Some(number) = number else {
            let title = "`#line` needs a line number";
            self.diagnostics.push(Diagnostic::error("preprocessor", span, title));
            return;
        };
        let name = match arguments.get(1) {
            Some(token) => token.text.trim_matches('"').into(),
            None => self.sources.location(span).file,
        };
        self.sources.renumber(state.file, span.start, number, &name);
    }
}

/// Whether `name arguments` behind a `#` is a line number, with the name of a file or without.
fn is_line_marker(name: &Token, arguments: &[Token]) -> bool {
    let names_file = arguments.first().is_none_or(|token| token.kind == TokenKind::String);
    name.kind == TokenKind::Integer && name.follows_space && names_file
}

/// `a, b)` and what follows. A last `...` takes any number of arguments: by the name in front of it,
/// or else as `__VA_ARGS__`.
fn parameters(tokens: &[Token]) -> Option<(Parameters, &[Token])> {
    let mut names: Vec<Rc<str>> = Vec::new();
    let mut rest = tokens;
    if let [close, body @ ..] = rest
        && close.is(")")
    {
        return Some((Parameters { names, is_variadic: false }, body));
    }
    loop {
        let [name, separator, others @ ..] = rest else { return None };
        if name.is("...") {
            names.push("__VA_ARGS__".into());
            return separator.is(")").then_some((Parameters { names, is_variadic: true }, others));
        }
        if name.kind != TokenKind::Word || names.contains(&name.text) {
            return None;
        }
        names.push(name.text.clone());
        rest = others;
        match &*separator.text {
            ")" => return Some((Parameters { names, is_variadic: false }, rest)),
            "," => {}
            "..." => {
                let (close, body) = rest.split_first()?;
                return close.is(")").then_some((Parameters { names, is_variadic: true }, body));
            }
            _ => return None,
        }
    }
}
