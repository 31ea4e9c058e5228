//! Tokens: what the lexer makes, the preprocessor rewrites and the parser reads.

use crate::Span;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// The end of the text; its text is empty.
    End,
    /// A number, `8w0xFF` included; anything that starts with a digit, right or wrong.
    Integer,
    /// A string literal with its quotes.
    String,
    /// An operator or bracket. `>` is always alone: `>>` might close two type argument lists.
    Symbol,
    /// A character that P4 has no use for.
    Unknown,
    /// A name or keyword.
    Word,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub text: Rc<str>,
    /// Its place; for a macro's tokens, the place of the macro's use.
    pub span: Span,
    /// Whether it is the first of its line.
    pub starts_line: bool,
    /// Whether white space or a comment is in front of it.
    pub follows_space: bool,
    /// Macros that must not be expanded in it any more: it came out of them.
    pub hidden: Option<Rc<HiddenNames>>,
}

/// A linked list of macro names; shared by the tokens of one expansion.
#[derive(Debug)]
pub struct HiddenNames {
    /// The innermost macro.
    pub name: Rc<str>,
    /// How many there are, this one included.
    pub depth: u32,
    /// Those around it.
    pub outer: Option<Rc<HiddenNames>>,
}

impl Token {
    /// Whether it is this keyword or symbol.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Symbol | TokenKind::Word) && &*self.text == text
    }

    /// How to call it in a message.
    pub fn describe(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the file".into(),
            TokenKind::String => format!("the string {}", self.text),
            _ => format!("`{}`", self.text),
        }
    }
}

/// The language's keywords (appendix "P4 reserved keywords"), sorted; some of them may be names, too.
pub const KEYWORDS: [&str; 43] = [
    "abstract",
    "action",
    "actions",
    "apply",
    "bit",
    "bool",
    "break",
    "const",
    "continue",
    "control",
    "default",
    "else",
    "entries",
    "enum",
    "error",
    "exit",
    "extern",
    "false",
    "for",
    "header",
    "header_union",
    "if",
    "in",
    "inout",
    "int",
    "key",
    "match_kind",
    "out",
    "package",
    "parser",
    "return",
    "select",
    "state",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "tuple",
    "typedef",
    "void",
];

/// Words that are never names.
pub fn is_reserved(word: &str) -> bool {
    const CONTEXTUAL: [&str; 5] = ["actions", "apply", "entries", "key", "state"];
    word == "_"
        || word == "varbit"
        || word == "value_set"
        || (KEYWORDS.binary_search(&word).is_ok() && !CONTEXTUAL.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::is_reserved;

    #[test]
    fn contextual_keywords_are_names_too() {
        assert!(is_reserved("table") && is_reserved("_") && is_reserved("abstract"));
        for word in ["apply", "key", "state", "type", "priority", "list", "entries", "x"] {
            assert!(!is_reserved(word), "{word}");
        }
    }
}
