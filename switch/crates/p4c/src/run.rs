//! One run of the compiler: arguments in, files and messages out.

use crate::arguments::{Arguments, HELP, P4InfoFormat, Print};
use crate::entries;
use crate::files::{BUILT_IN, Files, write_whole};
use crate::lsp::{Programs, Server, serve};
use crate::render::render_all;
use compiler::{Diagnostic, Options, Output, Severity, SourceMap, compile};
use std::io;
use syntax::Diagnostics;
use syntax::preprocessor::{PreprocessorOptions, preprocess, render as render_tokens};

/// What to print and with which status to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For standard output.
    pub text: String,
    /// For standard error.
    pub messages: String,
    /// 0, or 1 if there is no result.
    pub status: u8,
}

impl Outcome {
    fn printed(text: impl Into<String>) -> Outcome {
        Outcome { text: text.into(), ..Outcome::default() }
    }

    /// A failure that has no place in a program.
    pub fn failed(message: &str) -> Outcome {
        Outcome { messages: format!("error: {message}\n"), status: 1, ..Outcome::default() }
    }
}

/// Does what the arguments say.
pub fn run(arguments: &Arguments) -> Outcome {
    match arguments.print {
        Some(Print::Help) => return Outcome::printed(HELP),
        Some(Print::Version) => {
            return Outcome::printed(format!("vitrine-p4c {}\n", env!("CARGO_PKG_VERSION")));
        }
        None => {}
    }
    let Some(main_file) = &arguments.main_file else {
        return Outcome::failed("no program is given; --help shows how");
    };
    let mut include_directories = arguments.include_directories.clone();
    include_directories.push(BUILT_IN.into());
    let preprocessor =
        PreprocessorOptions {
            include_directories,
            definitions: arguments.definitions.clone(),
            ..PreprocessorOptions::default()
        };
    if arguments.preprocess_only {
        return preprocess_only(main_file, &preprocessor);
    }
    if let Some(path) = &arguments.preprocessed {
        let text = preprocess_only(main_file, &preprocessor).text;
        if let Err(error) = write_whole(path, text.as_bytes()) {
            return Outcome::failed(&format!("cannot write {path}: {error}"));
        }
    }
    let lower = compiler::lower::Options { emit_externs: arguments.emit_externs };
    let output = compile(&Files, main_file, &Options { preprocessor, lower });
    finish(arguments, output)
}

/// Answers an editor on standard input and output until it goes; directories and macros are those of
/// the arguments.
pub fn answer_editor(arguments: &Arguments) -> Outcome {
    let preprocessor = PreprocessorOptions {
        include_directories: arguments.include_directories.clone(),
        definitions: arguments.definitions.clone(),
        ..PreprocessorOptions::default()
    };
    let mut server = Server::new(Programs::new(preprocessor));
    match serve(&mut server, &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(true) => Outcome::default(),
        // The protocol asks for this status where nobody said goodbye.
        Ok(false) => Outcome { status: 1, ..Outcome::default() },
        Err(error) => Outcome::failed(&format!("the editor cannot be understood: {error}")),
    }
}

fn preprocess_only(main_file: &str, options: &PreprocessorOptions) -> Outcome {
    let mut sources = SourceMap::default();
    let mut diagnostics = Diagnostics::default();
    let tokens = preprocess(&Files, main_file, options, &mut sources, &mut diagnostics);
    let status = u8::from(diagnostics.error_count() > 0);
    let messages = render_all(&diagnostics.into_sorted(), &sources);
    Outcome { text: render_tokens(&tokens, &sources), messages, status }
}

/// Shows the messages and, if there are no errors, writes the files.
fn finish(arguments: &Arguments, output: Output) -> Outcome {
    let diagnostics: Vec<Diagnostic> = output
        .diagnostics
        .into_iter()
        .filter_map(|diagnostic| adjust(diagnostic, arguments))
        .collect();
    let messages = render_all(&shown(&diagnostics, arguments), &output.sources);
    let has_errors = diagnostics.iter().any(|found| found.severity == Severity::Error);
    let (Some(mut program), Some(p4info), false) = (output.program, output.p4info, has_errors)
    else {
        let messages = if has_errors {
            messages
        } else {
            format!("{messages}error: the program makes no switch: it has no package `main`\n")
        };
        return Outcome { messages, status: 1, ..Outcome::default() };
    };
    if arguments.without_assertions {
        leave_assertions_out(&mut program);
    }
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    for path in &arguments.entries_files {
        files.push((path, entries::write_request(&program, &p4info).into_bytes()));
    }
    for path in &arguments.p4info_files {
        let format = arguments.p4info_format.unwrap_or_else(|| P4InfoFormat::of_file(path));
        let bytes = match format {
            P4InfoFormat::Binary => p4info::Message::to_bytes(&p4info),
            P4InfoFormat::Json => p4info::Message::to_json(&p4info).into_bytes(),
            P4InfoFormat::Text => p4info::to_text(&p4info).into_bytes(),
        };
        files.push((path, bytes));
    }
    if let Some(path) = &arguments.output {
        files.push((path, bmv2::write(&program).into_bytes()));
    }
    for (path, bytes) in files {
        if let Err(error) = write_whole(path, &bytes) {
            let failed = Outcome::failed(&format!("cannot write {path}: {error}"));
            return Outcome { messages: messages + &failed.messages, ..failed };
        }
    }
    Outcome { messages, ..Outcome::default() }
}

/// What of the messages is shown: errors up to the number that was asked for.
fn shown(diagnostics: &[Diagnostic], arguments: &Arguments) -> Vec<Diagnostic> {
    let mut left = arguments.error_count_max.unwrap_or(usize::MAX);
    let is_shown = |found: &&Diagnostic| {
        let is_error = found.severity == Severity::Error;
        let has_room = !is_error || left > 0;
        left = left.saturating_sub(usize::from(is_error));
        has_room
    };
    diagnostics.iter().filter(is_shown).cloned().collect()
}

/// Assertions become primitives that do nothing: jumps count primitives.
fn leave_assertions_out(program: &mut bmv2::Program) {
    for call in program.actions.iter_mut().flat_map(|action| &mut action.primitives) {
        if matches!(&*call.operation, "assert" | "assume") {
            "no_op".clone_into(&mut call.operation);
            call.parameters.clear();
        }
    }
}

/// The diagnostic as `--Wdisable` and `--Werror` want it.
fn adjust(mut diagnostic: Diagnostic, arguments: &Arguments) -> Option<Diagnostic> {
    if diagnostic.severity != Severity::Warning {
        return Some(diagnostic);
    }
    let code = diagnostic.code;
    let concerns = |list: &[String]| list.iter().any(|name| name.is_empty() || name == code);
    if concerns(&arguments.warnings_disabled) {
        return None;
    }
    if concerns(&arguments.warnings_as_errors) && !concerns(&arguments.warnings_kept) {
        diagnostic.severity = Severity::Error;
    }
    Some(diagnostic)
}
