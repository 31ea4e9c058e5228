//! The front end in one call: text to typed tree.

use crate::types::tree::Program;
use crate::types::{check, lint};
use syntax::Diagnostics;
use syntax::parser::parse;
use syntax::preprocessor::{PreprocessorOptions, preprocess};
use syntax::{SourceMap, SourceProvider};

/// What the front end makes of a program.
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
    // After a syntax error pieces of the program are missing: what the checker would say about
    // that helps nobody.
    let program = (diagnostics.error_count() == 0).then(|| check(&tree, &mut diagnostics));
    let has_errors = diagnostics.error_count() > 0;
    if let (Some(program), false) = (&program, has_errors) {
        lint(program, &mut diagnostics);
    }
    Front { program: program.filter(|_| !has_errors), sources, diagnostics }
}
