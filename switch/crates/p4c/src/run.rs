//! One run of the compiler: arguments in, files and messages out.

use crate::arguments::{Arguments, HELP, MakeRule, P4InfoFormat, Print};
use crate::entries;
use crate::files::{BUILT_IN, Program, write_whole};
use crate::lsp::{Programs, Server, serve};
use crate::render::render_all;
use compiler::{Diagnostic, Options, Output, Severity, SourceMap, compile};
use std::io;
use syntax::Diagnostics;
use syntax::preprocessor::{Definition, PreprocessorOptions, preprocess, render as render_tokens};

/// The output of `--target-help`, in the words of p4lang's driver.
const TARGETS: &str = "Supported targets in \"target, arch\" tuple:\nbmv2-v1model\nbmv2-psa\ntofino-tna\ntofino2-t2na\n";

/// The output and the exit status.
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
    if let Some(wanted) = arguments.print {
        return print(wanted);
    }
    let Some(main_file) = &arguments.main_file else {
        return Outcome::failed("no program is given; --help shows how");
    };
    let preprocessor = preprocessor_options(arguments);
    if arguments.is_dry_run {
        return Outcome::printed(dry_run(arguments, main_file));
    }
    if let Some(directory) = &arguments.output_directory
        && let Err(failed) = make_directory(directory)
    {
        return failed;
    }
    let mut printed = String::new();
    if arguments.preprocess_only
        || arguments.preprocessed.is_some()
        || arguments.make_rule.is_some()
    {
        let preprocessed = Preprocessed::of(main_file, &preprocessor);
        match preprocessed.deliver(arguments, main_file) {
            Ok(text) => printed = text,
            Err(failed) => return failed,
        }
        let stops = arguments.make_rule.as_ref().is_some_and(|rule| !rule.compiles);
        if arguments.preprocess_only || stops {
            return Outcome { text: printed, ..preprocessed.outcome };
        }
    }
    let lower = compiler::lower::Options { emit_externs: arguments.emit_externs };
    let output = compile(&Program(main_file), main_file, &Options { preprocessor, lower });
    Outcome { text: printed, ..finish(arguments, output) }
}

/// One of the texts that say what the program is.
pub fn print(wanted: Print) -> Outcome {
    Outcome::printed(match wanted {
        Print::Help => HELP.to_owned(),
        Print::Targets => TARGETS.to_owned(),
        Print::Version => format!("vitrine-p4c {}\n", env!("CARGO_PKG_VERSION")),
    })
}

/// How the arguments want a program read.
pub fn preprocessor_options(arguments: &Arguments) -> PreprocessorOptions {
    let mut include_directories = arguments.include_directories.clone();
    include_directories.push(BUILT_IN.into());
    PreprocessorOptions {
        include_directories,
        definitions: arguments.definitions.clone(),
        annotations_disabled: arguments.annotations_disabled.clone(),
    }
}

/// Makes a directory that is missing, or says why not.
pub fn make_directory(path: &str) -> Result<(), Outcome> {
    let failed = |error| Outcome::failed(&format!("cannot make the directory {path}: {error}"));
    std::fs::create_dir_all(path).map_err(failed)
}

/// Writes a text, or says why not.
pub fn write(path: &str, text: &str) -> Result<(), Outcome> {
    let failed = |error| Outcome::failed(&format!("cannot write {path}: {error}"));
    write_whole(path, text.as_bytes()).map_err(failed)
}

/// The text of `-###`: the steps, as p4lang's driver would run them.
fn dry_run(arguments: &Arguments, main_file: &str) -> String {
    let mut command = vec!["p4c-bm2-ss".to_owned()];
    for directory in &arguments.include_directories {
        command.extend(["-I".to_owned(), directory.clone()]);
    }
    for definition in &arguments.definitions {
        command.push(match definition {
            Definition::Define(text) => format!("-D{text}"),
            Definition::Undefine(name) => format!("-U{name}"),
        });
    }
    let preprocessor = command.join(" ");
    if arguments.emit_externs {
        command.push("--emit-externs".to_owned());
    }
    if !arguments.p4info_files.is_empty() {
        command.extend(["--p4runtime-files".to_owned(), arguments.p4info_files.join(",")]);
    }
    if let Some(output) = &arguments.output {
        command.extend(["-o".to_owned(), output.clone()]);
    }
    let mut text = String::new();
    if let Some(path) = &arguments.preprocessed {
        text += &format!("preprocessor:\n{preprocessor} -E {main_file} > {path}\n");
    }
    if !arguments.preprocess_only {
        text += &format!("compiler:\n{} {main_file}\n", command.join(" "));
    }
    text
}

/// `target: file file`, as make reads it; files that are built in are none.
fn make_rule(rule: &MakeRule, arguments: &Arguments, main_file: &str, files: &[String]) -> String {
    let quoted = |name: &String| name.replace('$', "$$").replace(' ', "\\ ").replace('#', "\\#");
    let targets: Vec<String> = match (rule.targets.as_slice(), &arguments.output) {
        ([], Some(output)) => vec![quoted(output)],
        ([], None) => vec![quoted(&format!("{main_file}.json"))],
        (targets, _) => targets.iter().map(quoted).collect(),
    };
    let files: Vec<String> = files.iter().map(quoted).collect();
    format!("{}: {}\n", targets.join(" "), files.join(" \\\n "))
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
        // The protocol requires this status without a goodbye.
        Ok(false) => Outcome { status: 1, ..Outcome::default() },
        Err(error) => Outcome::failed(&format!("the editor cannot be understood: {error}")),
    }
}

/// A program after preprocessing.
struct Preprocessed {
    /// The text and what was said of it.
    outcome: Outcome,
    /// The files that were read, but for those that are built in.
    files: Vec<String>,
}

impl Preprocessed {
    fn of(main_file: &str, options: &PreprocessorOptions) -> Preprocessed {
        let mut sources = SourceMap::default();
        let mut diagnostics = Diagnostics::default();
        let tokens =
            preprocess(&Program(main_file), main_file, options, &mut sources, &mut diagnostics);
        let status = u8::from(diagnostics.error_count() > 0);
        let messages = render_all(&diagnostics.into_sorted(), &sources);
        let names = sources.files().iter().map(|file| file.name.to_string());
        let built_in = format!("{BUILT_IN}/");
        let files = names.filter(|name| !name.starts_with(&built_in)).collect();
        let outcome = Outcome { text: render_tokens(&tokens, &sources), messages, status };
        Preprocessed { outcome, files }
    }

    /// Writes the program and the rule for make where the arguments want them; returns what is to be
    /// printed. A program that cannot be preprocessed leaves no file.
    fn deliver(&self, arguments: &Arguments, main_file: &str) -> Result<String, Outcome> {
        if self.outcome.status != 0 {
            return Ok(String::new());
        }
        let mut printed = String::new();
        if let Some(rule) = &arguments.make_rule {
            let text = make_rule(rule, arguments, main_file, &self.files);
            match &rule.file {
                Some(path) => write(path, &text)?,
                None => printed += &text,
            }
            if !rule.compiles {
                return Ok(printed);
            }
        }
        match &arguments.preprocessed {
            Some(path) => write(path, &self.outcome.text)?,
            None if arguments.preprocess_only => printed += &self.outcome.text,
            None => {}
        }
        Ok(printed)
    }
}

/// Shows the messages and, if there are no errors, writes the files.
fn finish(arguments: &Arguments, output: Output) -> Outcome {
    let (messages, has_errors) = judged(arguments, output.diagnostics, &output.sources);
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

/// The messages as the arguments want them, and whether there are errors.
pub fn judged(
    arguments: &Arguments,
    diagnostics: Vec<Diagnostic>,
    sources: &SourceMap,
) -> (String, bool) {
    let diagnostics: Vec<Diagnostic> =
        diagnostics.into_iter().filter_map(|found| adjust(found, arguments)).collect();
    let has_errors = diagnostics.iter().any(|found| found.severity == Severity::Error);
    (render_all(&shown(&diagnostics, arguments), sources), has_errors)
}

/// The messages to show: errors up to the given number.
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
