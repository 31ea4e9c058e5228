//! The whole compiler in one call: text to BMv2 JSON and P4Info.

use crate::front::analyse;
use crate::lower;
use syntax::Diagnostic;
use syntax::preprocessor::PreprocessorOptions;
use syntax::{SourceMap, SourceProvider};

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Include directories and macros.
    pub preprocessor: PreprocessorOptions,
    /// The options of the back end.
    pub lower: lower::Options,
}

/// The result of a compilation.
#[derive(Debug)]
pub struct Output {
    /// The program for the switch; `None` if there are errors.
    pub program: Option<bmv2::Program>,
    /// The controllers' description of it; there exactly when `program` is.
    pub p4info: Option<p4info::P4Info>,
    /// Errors and warnings in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// Every text that was read, for rendering the diagnostics.
    pub sources: SourceMap,
}

/// Compiles the program in `main_file`. Never panics, whatever the text.
pub fn compile(provider: &dyn SourceProvider, main_file: &str, options: &Options) -> Output {
    let front = analyse(provider, main_file, &options.preprocessor);
    let (sources, mut diagnostics) = (front.sources, front.diagnostics);
    let lowered = front
        .program
        .and_then(|tree| lower::lower(&tree, &sources, options.lower, &mut diagnostics))
        .filter(|_| diagnostics.error_count() == 0);
    let (program, p4info) = match lowered {
        Some(lowered) => (Some(lowered.program), Some(lowered.p4info)),
        None => (None, None),
    };
    Output { program, p4info, diagnostics: diagnostics.into_sorted(), sources }
}
