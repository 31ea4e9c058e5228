//! The directives of the preprocessor by name. The lexer needs them too: on a line that begins with `#`
//! and is no directive, quotes open nothing.

use crate::token::Token;

/// Names behind `#` that this preprocessor obeys.
pub(crate) const DIRECTIVES: [&str; 15] = [
    "define", "elif", "elifdef", "elifndef", "else", "endif", "error", "if", "ifdef", "ifndef",
    "include", "line", "pragma", "undef", "warning",
];

/// Whether a line that begins with these tokens is skipped although it is no comment of P4: one with
/// a `#` in front that names no directive.
pub(crate) fn is_note(line: &[Token]) -> bool {
    match line {
        [hash, name, ..] if hash.is("#") => !DIRECTIVES.contains(&&*name.text),
        [hash] => hash.is("#") || hash.is("##"),
        [hash, ..] => hash.is("##"),
        [] => false,
    }
}
