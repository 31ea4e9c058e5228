//! Messages as text:
//!
//! ```text
//! router.p4:12:9: error: there is no variable, constant or object `ttl` here
//!    12 |         ttl = 1;
//!       |         ^^^ label
//!    hint: is `hdr.ipv4.ttl` meant?
//! ```
//!
//! The first line has the form that editors and build tools know how to jump to.

use compiler::{Diagnostic, Severity, SourceMap, Span};
use std::fmt::Write;

/// Carets under more than this many characters are no help.
const CARET_COUNT_MAX: usize = 60;
/// Longer source lines are cut.
const LINE_LENGTH_MAX: usize = 160;

/// All messages, one after the other.
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|diagnostic| render(diagnostic, sources)).collect()
}

/// One message with its source line, its label and its hint.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error".to_string(),
        Severity::Warning => format!("warning[{}]", diagnostic.code),
    };
    let mut text = String::new();
    let place = place(diagnostic.primary.span, sources);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{place}{severity}: {}", diagnostic.title);
    excerpt(&mut text, diagnostic.primary.span, &diagnostic.primary.text, sources);
    for label in &diagnostic.related {
        let here = sources.location(label.span);
        let _ = writeln!(text, "   {}:{}:{}: {}", here.file, here.line, here.column, label.text);
        excerpt(&mut text, label.span, "", sources);
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(text, "   hint: {hint}");
    }
    text
}

fn place(span: Span, sources: &SourceMap) -> String {
    if span == Span::NONE {
        return String::new();
    }
    let here = sources.location(span);
    format!("{}:{}:{}: ", here.file, here.line, here.column)
}

/// The source line and carets under the span.
fn excerpt(text: &mut String, span: Span, label: &str, sources: &SourceMap) {
    let line = sources.line_text(span);
    if span == Span::NONE || line.len() > 4 * LINE_LENGTH_MAX {
        return;
    }
    let here = sources.location(span);
    let start = (here.column as usize).saturating_sub(1);
    let before = line.get(..start.min(line.len())).unwrap_or("");
    let covered = sources.text(span);
    let length = covered.lines().next().map_or(0, |first| first.chars().count());
    // Tabs stay tabs, so that the caret stands below its character whatever a tab's width.
    let margin: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let shown: String = line.chars().take(LINE_LENGTH_MAX).collect();
    let carets = "^".repeat(length.clamp(1, CARET_COUNT_MAX));
    let _ = writeln!(text, "{:>5} | {}", here.line, shown.trim_end());
    let _ = writeln!(
        text,
        "      | {margin}{carets}{}{label}",
        if label.is_empty() { "" } else { " " }
    );
}
