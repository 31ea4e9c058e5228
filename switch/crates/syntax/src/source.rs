//! Source texts and places in them.
//!
//! The compiler never opens a file. Its caller hands over a [`SourceProvider`]; every text that is
//! read through it is kept in a [`SourceMap`], and a [`Span`] names a piece of one of those texts
//! by byte offsets. Lines and columns are computed only for display.

use std::rc::Rc;

/// Where the texts of a compilation come from: a directory, an archive, a test's table.
pub trait SourceProvider {
    /// The text of the file called `path`, or why it cannot be had.
    ///
    /// Bytes that are not UTF-8 are the provider's to replace: P4 source is ASCII outside of
    /// comments and strings.
    fn read(&self, path: &str) -> Result<String, SourceError>;
}

/// A function from paths to texts will do.
impl<F: Fn(&str) -> Result<String, SourceError>> SourceProvider for F {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        self(path)
    }
}

/// Why a source text could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// There is no file of this name; an include search goes on to the next directory.
    NotFound,
    /// There is one, but it cannot be read: the reason, for the user.
    Unreadable(String),
}

/// A source text by number, in the order in which the texts were first read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A piece of one source text: bytes `start..end`.
///
/// Tokens from a macro carry the span of the macro's use, so that messages point at the user's
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The span of things that no text contains (the built-in `accept`, say): nothing, at the start
    /// of the first file.
    pub const NONE: Span = Span { file: FileId(0), start: 0, end: 0 };

    /// From the start of `self` to the end of `last`; `self` where they lie in different files.
    pub fn to(self, last: Span) -> Span {
        if self.file == last.file && last.end >= self.start {
            Span { end: last.end, ..self }
        } else {
            self
        }
    }

    /// The empty span after the last byte: where something is missing.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// A place as people name it. Lines and columns count from 1, columns in bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The name under which the file was read, or what `#line` said.
    pub file: Rc<str>,
    /// The line, counted from 1, shifted by `#line`.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
}

/// One text that was read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name under which it was requested.
    pub name: Rc<str>,
    pub text: Rc<str>,
    /// Offset of the first byte of every line.
    line_starts: Vec<u32>,
    /// The `#line` directives, in order of `line_index`.
    renumberings: Vec<Renumbering>,
}

/// From line `line_index` (counted from 0) on, lines are called `line_number`, ... of `file`.
#[derive(Clone, Debug)]
struct Renumbering {
    line_index: u32,
    line_number: u32,
    file: Rc<str>,
}

/// All texts of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Keeps `text` under `name`; the same name gives the same number again.
    pub fn add(&mut self, name: &str, text: String) -> FileId {
        if let Some(at) = self.files.iter().position(|file| &*file.name == name) {
            return FileId(at as u32);
        }
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        let file = SourceFile {
            name: name.into(),
            text: text.into(),
            line_starts,
            renumberings: Vec::new(),
        };
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// The texts, in the order in which they were first read.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// One text; `None` for a number that this map did not give out.
    pub fn file(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// Records a `#line` directive: the line after offset `at` is `line_number` of `file_name`.
    pub fn renumber(&mut self, file: FileId, at: u32, line_number: u32, name: &str) {
        if let Some(source) = self.files.get_mut(file.0 as usize) {
            let line_index = source.line_index(at) + 1;
            let known = source.renumberings.last().map(|last| last.line_index);
            if known.is_none_or(|last| last < line_index) {
                let renumbering = Renumbering { line_index, line_number, file: name.into() };
                source.renumberings.push(renumbering);
            }
        }
    }

    /// Where `span` starts.
    pub fn location(&self, span: Span) -> Location {
        let Some(source) = self.file(span.file) else {
            return Location { file: "".into(), line: 1, column: 1 };
        };
        let index = source.line_index(span.start);
        let line_start = source.line_starts.get(index as usize).copied().unwrap_or(0);
        let column = span.start - line_start + 1;
        let renumbering = source.renumberings.iter().rev().find(|r| r.line_index <= index);
        match renumbering {
            Some(found) => Location {
                file: found.file.clone(),
                line: found.line_number.saturating_add(index - found.line_index),
                column,
            },
            None => Location { file: source.name.clone(), line: index + 1, column },
        }
    }

    /// The text that `span` covers.
    pub fn text(&self, span: Span) -> &str {
        let text = self.file(span.file).map_or("", |source| &source.text);
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The whole line in which `span` starts, without its line end.
    pub fn line_text(&self, span: Span) -> &str {
        let Some(source) = self.file(span.file) else { return "" };
        let index = source.line_index(span.start) as usize;
        let start = source.line_starts.get(index).copied().unwrap_or(0) as usize;
        source.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("")
    }
}

impl SourceFile {
    /// The line that holds byte `offset`, counted from 0.
    fn line_index(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { file: FileId(0), start, end }
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let mut sources = SourceMap::default();
        sources.add("a.p4", "ab\ncd\n".into());
        // "d" is byte 4: a b \n c d.
        let at = sources.location(span(4, 5));
        assert_eq!((&*at.file, at.line, at.column), ("a.p4", 2, 2));
        assert_eq!(sources.line_text(span(4, 5)), "cd");
        assert_eq!(sources.text(span(3, 5)), "cd");
    }

    #[test]
    fn a_line_directive_renames_what_follows() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.p4", "x\n#line 10 \"b.p4\"\ny\nz\n".into());
        sources.renumber(file, 2, 10, "b.p4");
        // "z" is the second line after the directive: line 11 of b.p4.
        let at = sources.location(span(20, 21));
        assert_eq!((&*at.file, at.line, at.column), ("b.p4", 11, 1));
        assert_eq!(&*sources.location(span(0, 1)).file, "a.p4");
    }

    #[test]
    fn offsets_past_the_end_are_harmless() {
        let mut sources = SourceMap::default();
        sources.add("a.p4", "x".into());
        assert_eq!(sources.text(span(5, 9)), "");
        assert_eq!(sources.location(span(5, 9)).line, 1);
    }
}
