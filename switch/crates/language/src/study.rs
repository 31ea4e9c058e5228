//! A program as it is now, read once, and what can be said of it without reading it again.

use compiler::index::{Index, Symbol};
use compiler::{Diagnostic, PreprocessorOptions, Reading, SourceMap, SourceProvider, Span};
use syntax::source::FileId;

/// The texts of a program and where it begins.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Where they come from.
    pub provider: &'a dyn SourceProvider,
    /// The file with `main`; everything else is included.
    pub main: &'a str,
    /// Include directories and macros.
    pub options: &'a PreprocessorOptions,
}

/// A program that was read.
#[derive(Debug)]
pub struct Study {
    pub(crate) index: Index,
    pub(crate) sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    error_count: usize,
}

impl Study {
    /// Reads the program; one with mistakes as far as possible.
    pub fn of(sources: &Sources<'_>) -> Study {
        let Reading { index, sources, diagnostics } =
            compiler::read(sources.provider, sources.main, sources.options);
        let error_count = diagnostics.error_count();
        Study { index, sources, diagnostics: diagnostics.into_sorted(), error_count }
    }

    /// The compiler's diagnostics, in the order of the text.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    pub(crate) fn error_count(&self) -> usize {
        self.error_count
    }

    /// The texts that were read.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The number of a file that was read.
    pub fn file(&self, name: &str) -> Option<FileId> {
        let name = plain(name);
        let at = self.sources.files().iter().position(|file| plain(&file.name) == name)?;
        Some(FileId(at as u32))
    }

    /// The meaning of the name at a place, and the place of the name.
    pub(crate) fn name_at(&self, file: &str, offset: u32) -> Option<(Span, &Symbol)> {
        self.index.at(self.file(file)?, offset)
    }

    /// Where the thing is declared that is named at a place.
    pub fn definition(&self, file: &str, offset: u32) -> Option<Span> {
        self.name_at(file, offset)?.1.declared
    }

    /// Everywhere the thing is named that is named at a place, its declaration included.
    pub fn uses(&self, file: &str, offset: u32) -> Vec<Span> {
        let declared = self.definition(file, offset);
        declared.map(|declared| self.index.uses(declared).collect()).unwrap_or_default()
    }

    /// The declarations of a file, in the order of its text.
    pub fn outline(&self, file: &str) -> Vec<&Symbol> {
        let Some(file) = self.file(file) else { return Vec::new() };
        self.index.symbols().filter(|symbol| symbol.whole.file == file).collect()
    }
}

/// `programs/../lib/headers.p4` as `lib/headers.p4`: one name for a file, however it is included.
pub fn plain(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
