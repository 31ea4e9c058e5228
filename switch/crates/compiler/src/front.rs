//! The front end in one call: text to typed tree.

use crate::types::index::Index;
use crate::types::tree::Program;
use crate::types::{check, check_with_index, lint};
use syntax::Diagnostics;
use syntax::parser::parse;
use syntax::preprocessor::{PreprocessorOptions, preprocess};
use syntax::{SourceMap, SourceProvider};

/// The front end's result.
#[derive(Debug)]
pub struct Front {
    /// The typed tree; `None` if there are errors.
    pub program: Option<Program>,
    /// Every text that was read.
    pub sources: SourceMap,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Reads, parses and checks the program in `main_file`.
pub fn analyse(
    provider: &dyn SourceProvider,
    main_file: &str,
    options: &PreprocessorOptions,
) -> Front {
    let mut sources = SourceMap::default();
    let mut diagnostics = Diagnostics::default();
    let tokens = preprocess(provider, main_file, options, &mut sources, &mut diagnostics);
    let tree = parse(&tokens, &mut diagnostics);
    // After a syntax error pieces of the program are missing: the checker's messages about that
    // would not help.
    let program = (diagnostics.error_count() == 0).then(|| check(&tree, &mut diagnostics));
    let has_errors = diagnostics.error_count() > 0;
    if let (Some(program), false) = (&program, has_errors) {
        lint(program, &mut diagnostics);
    }
    Front { program: program.filter(|_| !has_errors), sources, diagnostics }
}

/// An editor's view of a program.
#[derive(Debug)]
pub struct Reading {
    /// The meanings of its names, as far as they can be resolved.
    pub index: Index,
    /// Every text that was read.
    pub sources: SourceMap,
    /// Errors and warnings; those of [`analyse`].
    pub diagnostics: Diagnostics,
}

/// As [`analyse`], with the names of the program; those too of one that is not finished yet.
pub fn read(
    provider: &dyn SourceProvider,
    main_file: &str,
    options: &PreprocessorOptions,
) -> Reading {
    let mut sources = SourceMap::default();
    let mut diagnostics = Diagnostics::default();
    let tokens = preprocess(provider, main_file, options, &mut sources, &mut diagnostics);
    let tree = parse(&tokens, &mut diagnostics);
    let is_whole = diagnostics.error_count() == 0;
    // As in `analyse`, messages about a text with pieces missing would not help.
    let mut unheard = Diagnostics::default();
    let heard = if is_whole { &mut diagnostics } else { &mut unheard };
    let (program, index) = check_with_index(&tree, heard);
    if diagnostics.error_count() == 0 {
        lint(&program, &mut diagnostics);
    }
    Reading { index, sources, diagnostics }
}
