//! The compiler's messages for its user. Rendering is the caller's; this is the content.
//!
//! A diagnostic has a short title, one primary place with a label, possibly related places, and
//! possibly a hint that says what to do. Every phase pushes into one [`Diagnostics`]; nothing is
//! printed here and no phase stops at the first error.

use crate::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// There will be no output.
    Error,
    /// The program is legal P4, but probably not what was meant.
    Warning,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    /// The thing there, in a few words; may be empty.
    pub text: String,
}

/// A change of the text that does what the hint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The replaced text; empty where text is only inserted.
    pub span: Span,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// The name of the kind of message, by which `--Wdisable=` turns a warning off.
    pub code: &'static str,
    /// The mistake, in one line without a full stop.
    pub title: String,
    pub primary: Label,
    /// Other places that explain it: the first declaration of a name declared twice, ...
    pub related: Vec<Label>,
    /// Its correction.
    pub hint: Option<String>,
    /// The same for an editor, where one change of the text does it.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, title: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            title: title.into(),
            primary: Label { span, text: String::new() },
            related: Vec::new(),
            hint: None,
            fix: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, title: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, title) }
    }

    /// With a few words at the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hint = Some(text.into());
        self
    }

    /// With a change that fixes it: `text` instead of the text at `span`.
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.fix = Some(Fix { span, text: text.into() });
        self
    }

    /// With another place that explains the first.
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.related.push(Label { span, text: text.into() });
        self
    }
}

/// No more messages than this are kept: the rest would not be read, and a broken input must not
/// make the compiler use unbounded memory.
pub const DIAGNOSTIC_COUNT_MAX: usize = 200;

/// The messages of one compilation, in the order found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    error_count: usize,
}

impl Diagnostics {
    /// Adds a message, unless there are too many already or the same place has the same one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let known = self.list.iter().any(|other| {
            other.code == diagnostic.code && other.primary.span == diagnostic.primary.span
        });
        if known {
            return;
        }
        if diagnostic.severity == Severity::Error {
            self.error_count += 1;
        }
        if self.list.len() < DIAGNOSTIC_COUNT_MAX {
            self.list.push(diagnostic);
        }
    }

    /// Whether one more message would not be kept, so that its hints need not be looked for.
    pub fn is_full(&self) -> bool {
        self.list.len() == DIAGNOSTIC_COUNT_MAX
    }

    /// How many errors there were, those not kept included.
    pub fn error_count(&self) -> usize {
        self.error_count
    }

    /// The messages in the order found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The messages in source order: by the file's order of reading, then by position.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.primary.span);
        self.list
    }
}
