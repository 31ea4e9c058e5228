//! The compiler's other commands, which are programs of their own in p4lang's compiler: `p4test` checks
//! a program of any architecture, `p4fmt` lays out its text, `p4c-graphs` draws its parsers and
//! controls.

use crate::arguments::{Arguments, parse};
use crate::files::Program;
use crate::graphs;
use crate::run::{Outcome, judged, make_directory, preprocessor_options, print, write};
use compiler::{Front, SourceError, SourceProvider, analyse};
use std::io::{self, Read};
use std::mem::take;

/// One of the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `p4fmt`.
    Format,
    /// `p4c-graphs`.
    Graphs,
    /// `p4test`.
    Test,
}

impl Tool {
    /// By the name under which the program was started.
    pub fn of_program(name: &str) -> Option<Tool> {
        match name {
            "p4fmt" => Some(Tool::Format),
            "p4c-graphs" => Some(Tool::Graphs),
            "p4test" => Some(Tool::Test),
            _ => None,
        }
    }

    /// By the first word behind `vitrine-p4c`.
    pub fn of_word(word: &str) -> Option<Tool> {
        match word {
            "fmt" => Some(Tool::Format),
            "graphs" => Some(Tool::Graphs),
            "test" => Some(Tool::Test),
            _ => None,
        }
    }

    /// Does what these words say.
    pub fn run(self, words: &[String]) -> Outcome {
        self.try_run(words).unwrap_or_else(|failed| failed)
    }

    fn try_run(self, words: &[String]) -> Result<Outcome, Outcome> {
        let failed = |message| Outcome::failed(&format!("{message}; --help shows how"));
        let own = Own::taken_from(words).map_err(failed)?;
        if let Some(option) = own.foreign_to(self) {
            return Err(failed(format!("there is no option {option}")));
        }
        let arguments = parse(&own.others, false).map_err(failed)?;
        if let Some(wanted) = arguments.print {
            return Ok(print(wanted));
        }
        let Some(main_file) = &arguments.main_file else {
            return Err(failed("no program is given".into()));
        };
        match self {
            Tool::Format => format(&arguments, main_file),
            Tool::Graphs => draw(&arguments, main_file, &own),
            Tool::Test => Ok(check(&arguments, main_file).0),
        }
    }
}

/// Options that the compiler itself does not have.
#[derive(Default)]
struct Own {
    graphs_directory: Option<String>,
    with_full_graph: bool,
    /// `--parse-only` and `--validate`: checking does both.
    checks: bool,
    /// The other words.
    others: Vec<String>,
}

impl Own {
    fn taken_from(words: &[String]) -> Result<Own, String> {
        let mut own = Own::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.split_once('=').unwrap_or((word, "")) {
                ("--graphs-dir", "") => {
                    let next = words.next().ok_or("--graphs-dir needs a value")?;
                    own.graphs_directory = Some(next.clone());
                }
                ("--graphs-dir", directory) => own.graphs_directory = Some(directory.into()),
                ("--fullGraph", _) => own.with_full_graph = true,
                ("--parse-only" | "--validate", _) => own.checks = true,
                _ => own.others.push(word.clone()),
            }
        }
        Ok(own)
    }

    /// An option that this tool does not take.
    fn foreign_to(&self, tool: Tool) -> Option<&'static str> {
        match tool {
            Tool::Graphs => None,
            _ if self.graphs_directory.is_some() => Some("--graphs-dir"),
            _ if self.with_full_graph => Some("--fullGraph"),
            Tool::Format if self.checks => Some("--validate"),
            _ => None,
        }
    }
}

/// Reads and checks a program; the messages, and the program if it has no errors.
fn check(arguments: &Arguments, main_file: &str) -> (Outcome, Option<Front>) {
    let mut front = analyse(&Program(main_file), main_file, &preprocessor_options(arguments));
    let diagnostics = take(&mut front.diagnostics).into_sorted();
    let (messages, has_errors) = judged(arguments, diagnostics, &front.sources);
    let outcome = Outcome { messages, status: u8::from(has_errors), ..Outcome::default() };
    (outcome, (!has_errors).then_some(front))
}

/// The same program, laid out; `-o` may name the file itself.
fn format(arguments: &Arguments, main_file: &str) -> Result<Outcome, Outcome> {
    let text = if main_file == "-" {
        let mut text = String::new();
        let failed = |error| Outcome::failed(&format!("cannot read the program: {error}"));
        io::stdin().lock().read_to_string(&mut text).map_err(failed)?;
        text
    } else {
        Program(main_file).read(main_file).map_err(|error| {
            Outcome::failed(&match error {
                SourceError::NotFound => format!("there is no file {main_file}"),
                SourceError::Unreadable(why) => format!("cannot read {main_file}: {why}"),
            })
        })?
    };
    let laid_out =
        language::format(&text).map_err(|why| Outcome::failed(&format!("{main_file}, {why}")))?;
    match &arguments.output {
        Some(path) => write(path, &laid_out).map(|()| Outcome::default()),
        None => Ok(Outcome { text: laid_out, ..Outcome::default() }),
    }
}

/// Writes a file for each parser and control into the directory.
fn draw(arguments: &Arguments, main_file: &str, own: &Own) -> Result<Outcome, Outcome> {
    let (outcome, front) = check(arguments, main_file);
    let Some(Front { program: Some(program), sources, .. }) = front else { return Ok(outcome) };
    let directory = own.graphs_directory.as_deref().unwrap_or(".");
    make_directory(directory)?;
    for (name, text) in graphs::files(&program, &sources, own.with_full_graph) {
        write(&format!("{directory}/{name}"), &text)?;
    }
    Ok(outcome)
}
