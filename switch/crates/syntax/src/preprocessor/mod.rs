//! The built-in preprocessor: what P4 programs use of C's.
//!
//! Works on tokens, not on text, so that every token keeps its place. [`preprocess`] reads the main
//! file and all it includes and returns one list of tokens, ended by an end token. Unbounded growth
//! is impossible: the depth of inclusion, the number of included files and the number of tokens
//! that macros make have limits.

mod condition;
mod directive;
mod foreign;
mod macros;
mod strings;

use crate::directives::is_note;
use crate::lexer::{Lexer, tokenize};
use crate::token::{Token, TokenKind};
use crate::{Diagnostic, Diagnostics, FileId, SourceError, SourceMap, SourceProvider, Span};
use macros::{Macro, Macros};
use std::rc::Rc;

#[derive(Clone, Debug, Default)]
pub struct PreprocessorOptions {
    /// Directories for `#include`, in order of search.
    pub include_directories: Vec<String>,
    /// `-D` and `-U`, in order.
    pub definitions: Vec<Definition>,
    /// Annotations of these names are left out.
    pub annotations_disabled: Vec<String>,
}

/// One `-D` or `-U`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// `-DNAME` or `-DNAME=value`; without a value it is 1.
    Define(String),
    /// `-UNAME`.
    Undefine(String),
}

/// Defined as 1, as by p4c-bm2-ss and p4c-bm2-psa.
const TARGET_MACRO: &str = "__TARGET_BMV2__";
/// Files may include each other this deep.
const INCLUDE_DEPTH_MAX: usize = 64;
/// This many inclusions, repeated ones counted again.
const INCLUDE_COUNT_MAX: usize = 4096;
/// Longest text of one file.
pub const FILE_SIZE_BYTES_MAX: usize = 64 << 20;
/// This many tokens in all.
const TOKEN_COUNT_MAX: usize = 1_000_000;

/// The tokens of `main_file` and of all it includes, macros expanded, with an end token.
pub fn preprocess(
    provider: &dyn SourceProvider,
    main_file: &str,
    options: &PreprocessorOptions,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Vec<Token> {
    let mut preprocessor = Preprocessor {
        provider,
        options,
        sources,
        diagnostics,
        macros: Macros::default(),
        output: Vec::new(),
        include_count: 0,
        once: Vec::new(),
    };
    preprocessor.define_from_command_line();
    match preprocessor.provider.read(main_file) {
        Ok(text) => preprocessor.process_text(main_file, text, Span::NONE, 0),
        Err(error) => {
            // The map must hold the name, or the message could not be placed.
            preprocessor.sources.add(main_file, String::new());
            preprocessor.report_unreadable(main_file, &error, Span::NONE);
        }
    }
    let mut output = preprocessor.output;
    if !options.annotations_disabled.is_empty() {
        output = without_annotations(output, &options.annotations_disabled);
    }
    output.push(end_token(&output));
    output
}

/// The tokens without the annotations of these names, what is in their brackets included.
fn without_annotations(tokens: Vec<Token>, names: &[String]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let is_disabled = token.is("@")
            && rest.peek().is_some_and(|name| names.iter().any(|known| **known == *name.text));
        if !is_disabled {
            kept.push(token);
            continue;
        }
        rest.next();
        if !rest.peek().is_some_and(|open| open.is("(") || open.is("[")) {
            continue;
        }
        let mut depth = 0usize;
        for token in rest.by_ref() {
            depth += usize::from(token.is("(") || token.is("["));
            depth -= usize::from(token.is(")") || token.is("]"));
            if depth == 0 {
                break;
            }
        }
    }
    kept
}

pub(crate) fn end_token(tokens: &[Token]) -> Token {
    Token {
        kind: TokenKind::End,
        text: "".into(),
        span: tokens.last().map_or(Span::NONE, |last| last.span.after()),
        starts_line: true,
        follows_space: true,
        hidden: None,
    }
}

struct Preprocessor<'a> {
    provider: &'a dyn SourceProvider,
    options: &'a PreprocessorOptions,
    sources: &'a mut SourceMap,
    diagnostics: &'a mut Diagnostics,
    macros: Macros,
    /// The finished tokens.
    output: Vec<Token>,
    include_count: usize,
    /// Files with a `#pragma once`.
    once: Vec<FileId>,
}

/// An `#if` that waits for its `#endif`.
struct Conditional {
    /// Where it began.
    span: Span,
    /// Whether the lines now are wanted.
    is_active: bool,
    /// Whether some branch was wanted already (or none can be, the surroundings being skipped).
    was_active: bool,
    /// Whether `#else` was there.
    had_else: bool,
}

/// The common state of one file's directives.
struct FileState {
    file: FileId,
    depth: usize,
    conditionals: Vec<Conditional>,
}

impl FileState {
    fn is_active(&self) -> bool {
        self.conditionals.last().is_none_or(|innermost| innermost.is_active)
    }
}

impl Preprocessor<'_> {
    fn define_from_command_line(&mut self) {
        self.define_nowhere(TARGET_MACRO, "1");
        for definition in &self.options.definitions {
            match definition {
                Definition::Define(text) => {
                    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
                    self.define_nowhere(name, value);
                }
                Definition::Undefine(name) => self.macros.undefine(name),
            }
        }
    }

    /// A macro that no file defines; its tokens keep the place "nowhere".
    fn define_nowhere(&mut self, name: &str, value: &str) {
        let mut body = tokenize(FileId(u32::MAX), value, self.diagnostics);
        body.iter_mut().for_each(|token| token.span = Span::NONE);
        self.macros.define(name.into(), Macro { parameters: None, body });
    }

    /// Reads one text from its first to its last line.
    fn process_text(&mut self, name: &str, text: String, from: Span, depth: usize) {
        if text.len() > FILE_SIZE_BYTES_MAX {
            let title = format!("{name} is too long");
            let hint = format!("the limit is {FILE_SIZE_BYTES_MAX} bytes a file");
            self.sources.add(name, String::new());
            self.diagnostics.push(Diagnostic::error("file-size", from, title).hint(hint));
            return;
        }
        let file = self.sources.add(name, text);
        let text = self.sources.file(file).map_or_else(|| "".into(), |source| source.text.clone());
        let mut state = FileState { file, depth, conditionals: Vec::new() };

        let mut pending: Vec<Token> = Vec::new();
        let mut lexer = Lexer::new(file, &text);
        while let Some(mut line) = lexer.line(!state.is_active(), self.diagnostics) {
            if line.first().is_some_and(|first| first.is("#")) {
                self.flush(&mut pending);
                self.directive(&line, &mut state);
            } else if is_note(&line) {
                // `####`: skipped like `# ####`.
            } else if state.is_active() {
                if line.iter().any(strings::runs_over_lines) {
                    self.flush(&mut pending);
                    self.process_strings(&mut line, &mut state);
                }
                pending.append(&mut line);
            }
            if self.output.len() > TOKEN_COUNT_MAX {
                return;
            }
        }
        self.flush(&mut pending);
        for open in state.conditionals {
            self.diagnostics.push(
                Diagnostic::error("preprocessor", open.span, "this `#if` has no `#endif`")
                    .hint("add `#endif` at the end of the part that depends on it"),
            );
        }
    }

    /// Expands macros in the lines collected since the last directive.
    fn flush(&mut self, pending: &mut Vec<Token>) {
        let budget = TOKEN_COUNT_MAX.saturating_sub(self.output.len());
        let tokens = std::mem::take(pending);
        let complete =
            self.macros.expand(tokens, budget, self.sources, self.diagnostics, &mut self.output);
        if !complete {
            let span = self.output.last().map_or(Span::NONE, |last| last.span);
            let title = "macros make too much text here";
            let hint = format!("the limit is {TOKEN_COUNT_MAX} tokens a program");
            self.diagnostics.push(Diagnostic::error("macro-growth", span, title).hint(hint));
            // One more than allowed: every loop above stops.
            let filler = end_token(&self.output);
            self.output.resize(TOKEN_COUNT_MAX + 1, filler);
        }
    }

    /// `#include "name"` (next to the including file first) and `#include <name>`.
    fn include(&mut self, name: &str, is_quoted: bool, span: Span, state: &FileState) {
        if self.include_count > INCLUDE_COUNT_MAX {
            return;
        }
        self.include_count += 1;
        if state.depth + 1 >= INCLUDE_DEPTH_MAX || self.include_count > INCLUDE_COUNT_MAX {
            let title = format!("`{name}` is included too often or too deep");
            let diagnostic = Diagnostic::error("include-depth", span, title)
                .hint("a file that includes itself needs a guard: #ifndef X, #define X, #endif");
            self.diagnostics.push(diagnostic);
            // Said once is enough.
            self.include_count = INCLUDE_COUNT_MAX + 1;
            return;
        }
        for path in self.include_paths(name, is_quoted, state.file) {
            match self.provider.read(&path) {
                Ok(text) if self.was_read_once(&path, &text) => return,
                Ok(text) => return self.process_text(&path, text, span, state.depth + 1),
                Err(SourceError::NotFound) => {}
                Err(error) => return self.report_unreadable(&path, &error, span),
            }
        }
        let title = format!("there is no file `{name}` to include");
        let hint = match (foreign::hint(name), self.options.include_directories.as_slice()) {
            (Some(hint), _) => hint,
            (None, []) => "name the directory it is in with -I".to_string(),
            (None, directories) => format!("searched in: {}", directories.join(", ")),
        };
        self.diagnostics.push(Diagnostic::error("include", span, title).hint(hint));
    }

    /// `#pragma once`: later inclusions of this file do nothing.
    fn read_once(&mut self, file: FileId) {
        if !self.once.contains(&file) {
            self.once.push(file);
        }
    }

    /// Whether this is a file with `#pragma once` that was read before. Paths differ (`../a.p4`), so
    /// files are the same if their last names and their texts are, as C compilers have it.
    fn was_read_once(&self, path: &str, text: &str) -> bool {
        let last_name = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let mut known = self.once.iter().filter_map(|file| self.sources.file(*file));
        known.any(|known| &*known.text == text && last_name(&known.name) == last_name(path))
    }

    fn include_paths(&self, name: &str, is_quoted: bool, from: FileId) -> Vec<String> {
        if name.starts_with('/') {
            return vec![name.to_string()];
        }
        let mut paths = Vec::new();
        if is_quoted {
            let includer = self.sources.file(from).map_or("", |source| &source.name);
            let directory = includer.rfind('/').and_then(|at| includer.get(..=at)).unwrap_or("");
            paths.push(format!("{directory}{name}"));
        }
        let directories = self.options.include_directories.iter();
        paths.extend(directories.map(|dir| format!("{}/{name}", dir.trim_end_matches('/'))));
        paths
    }

    fn report_unreadable(&mut self, path: &str, error: &SourceError, span: Span) {
        let title = match error {
            SourceError::NotFound => format!("there is no file `{path}`"),
            SourceError::Unreadable(reason) => format!("cannot read `{path}`: {reason}"),
        };
        self.diagnostics.push(Diagnostic::error("include", span, title));
    }
}

/// The characters of `tokens` as they stood, one blank where there was white space.
fn spell(tokens: &[Token]) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 && token.follows_space {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

/// The text of a program after preprocessing (`-E`), with a `#line` wherever the place jumps.
pub fn render(tokens: &[Token], sources: &SourceMap) -> String {
    let mut text = String::new();
    let mut place: Option<(Rc<str>, u32)> = None;
    for token in tokens.iter().filter(|token| token.kind != TokenKind::End) {
        let here = sources.location(token.span);
        match &mut place {
            Some((file, line)) if *file == here.file && *line == here.line => {
                if token.follows_space {
                    text.push(' ');
                }
            }
            Some((file, line)) if *file == here.file && *line + 1 == here.line => {
                text.push('\n');
                *line += 1;
            }
            _ => {
                let start = if text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{start}#line {} \"{}\"\n", here.line, here.file));
                place = Some((here.file.clone(), here.line));
            }
        }
        text.push_str(&token.text);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
