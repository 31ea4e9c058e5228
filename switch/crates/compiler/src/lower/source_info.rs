//! Places of the source as the JSON has them: file, line, column and the text there.

use bmv2::SourceInfo;

use syntax::{SourceMap, Span};

/// Longest piece of the source that stands in the JSON.
const FRAGMENT_CHARACTERS_MAX: usize = 1000;

/// The place of `span`; `None` for text that the user did not write.
pub fn of(sources: &SourceMap, span: Span) -> Option<SourceInfo> {
    if span == Span::NONE {
        return None;
    }
    let location = sources.location(span);
    let text = sources.text(span);
    let line = text.lines().next().unwrap_or("");
    // One line is enough to find the place again, and of a line that a program wrote its beginning.
    let length = line.char_indices().nth(FRAGMENT_CHARACTERS_MAX).map_or(line.len(), |(at, _)| at);
    let first = line.get(..length).unwrap_or(line).trim_end();
    let is_whole = first.len() == text.trim_end().len();
    // As in p4c, the statement appears without its end.
    let source_fragment = match is_whole {
        true => first.trim_end_matches(';').to_owned(),
        false => format!("{first} ..."),
    };
    Some(SourceInfo {
        filename: location.file.to_string(),
        line: location.line,
        column: location.column,
        source_fragment,
    })
}
