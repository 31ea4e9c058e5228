//! Places of the source as the JSON has them: file, line, column and the text there.

use bmv2::SourceInfo;

use syntax::{SourceMap, Span};

/// Where `span` is; `None` for what the user did not write.
pub fn of(sources: &SourceMap, span: Span) -> Option<SourceInfo> {
    if span == Span::NONE {
        return None;
    }
    let location = sources.location(span);
    let text = sources.text(span);
    let first = text.lines().next().unwrap_or("").trim_end();
    // One line is enough to find the place again.
    let source_fragment =
        if first.len() < text.trim_end().len() { format!("{first} ...") } else { first.to_owned() };
    Some(SourceInfo {
        filename: location.file.to_string(),
        line: location.line,
        column: location.column,
        source_fragment,
    })
}
