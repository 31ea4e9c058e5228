//! Strings that run over several lines, such as the argument of `@entry_restriction("...")`.
//!
//! C's preprocessor knows only strings of one line. To it the lines between the first and the last
//! are lines like any others: directives among them choose, and macros in them are replaced. A line
//! that it does not choose becomes an empty one, so the lines that follow keep their numbers.

use super::{FileState, Preprocessor, spell};
use crate::lexer::tokenize;
use crate::token::{Token, TokenKind};
use crate::{Diagnostics, FileId, Span};

/// Whether the token is a string with line ends in it.
pub(super) fn runs_over_lines(token: &Token) -> bool {
    token.kind == TokenKind::String && token.text.contains('\n')
}

impl Preprocessor<'_> {
    /// Does what directives and macros in the strings of a line say.
    pub(super) fn process_strings(&mut self, line: &mut [Token], state: &mut FileState) {
        for token in line.iter_mut().filter(|token| runs_over_lines(token)) {
            let text = token.text.clone();
            let mut lines = text.split('\n');
            let (Some(first), Some(last)) = (lines.next(), lines.next_back()) else { continue };
            let mut kept = first.to_owned();
            for inner in lines {
                kept.push('\n');
                if inner.trim_start().starts_with('#') {
                    self.directive(&tokens_of(inner, token.span), state);
                } else if state.is_active() {
                    kept.push_str(&self.expanded(inner, token.span));
                }
            }
            kept.push('\n');
            kept.push_str(last);
            token.text = kept.into();
        }
    }

    /// The line as it is, unless there are macros in it.
    fn expanded(&mut self, line: &str, span: Span) -> String {
        let tokens = tokens_of(line, span);
        let is_macro =
            |token: &Token| token.kind == TokenKind::Word && self.macros.is_defined(token);
        if !tokens.iter().any(is_macro) {
            return line.to_owned();
        }
        let budget = super::TOKEN_COUNT_MAX.saturating_sub(self.output.len());
        let mut expanded = Vec::new();
        self.macros.expand(tokens, budget, self.sources, self.diagnostics, &mut expanded);
        let indent = &line[..line.len() - line.trim_start().len()];
        format!("{indent}{}", spell(&expanded))
    }
}

/// The tokens of one line of a string, which all stand where the string stands.
fn tokens_of(line: &str, span: Span) -> Vec<Token> {
    // Half a string in it is no mistake: it is all within one.
    let mut ignored = Diagnostics::default();
    let mut tokens = tokenize(FileId(u32::MAX), line, &mut ignored);
    tokens.iter_mut().for_each(|token| token.span = span);
    tokens
}
