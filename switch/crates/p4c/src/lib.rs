//! `vitrine-p4c`: reads its arguments, runs the compiler, prints. Started under the name `p4c` it
//! takes that driver's arguments, otherwise those of p4c-bm2-ss. `vitrine-p4c lsp` answers editors.
//! Under the names `p4test`, `p4fmt` and `p4c-graphs` it is these tools of p4lang's.
//!
//! A library so that tests and other programs can use the pieces: arguments, files for the compiler,
//! its messages for people, a server for editors.

pub mod arguments;
pub mod entries;
pub mod files;
pub mod graphs;
pub mod lsp;
pub mod output;
pub mod render;
pub mod run;
pub mod tools;

use std::ffi::OsString;
use std::process::ExitCode;

use run::{Outcome, answer_editor, run};
use tools::Tool;

/// The compiler limits its depth by itself; this makes the limits harmless in debug builds too. It
/// is address space: the kernel gives memory only for pages in use.
#[cfg(not(target_family = "wasm"))]
const STACK_SIZE_BYTES: usize = 256 << 20;

/// Compiles what these words of the command line say; the first is the program's name.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let mut words = words.into_iter().map(|word| word.to_string_lossy().into_owned());
    let name = words.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let (is_driver, tool) = (name == "p4c", Tool::of_program(name));
    let words: Vec<String> = words.collect();
    let outcome = with_deep_stack(move || {
        let by_word =
            || words.split_first().and_then(|(first, rest)| Some((Tool::of_word(first)?, rest)));
        if let Some((tool, words)) = tool.map(|tool| (tool, &*words)).or_else(by_word) {
            return tool.run(words);
        }
        let (act, words): (fn(&_) -> _, _) = match words.as_slice() {
            [first, rest @ ..] if first == "lsp" => (answer_editor, rest),
            all => (run, all),
        };
        match arguments::parse(words, is_driver) {
            Ok(arguments) => act(&arguments),
            Err(message) => Outcome::failed(&format!("{message}; --help shows how")),
        }
    });
    output::show(outcome.text);
    output::tell(outcome.messages);
    ExitCode::from(outcome.status)
}

#[cfg(not(target_family = "wasm"))]
fn with_deep_stack(compile: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
    let compilation = std::thread::Builder::new().stack_size(STACK_SIZE_BYTES).spawn(compile);
    match compilation.map(|thread| thread.join()) {
        Ok(Ok(outcome)) => outcome,
        _ => Outcome::failed("the compiler failed; please report the program that makes it fail"),
    }
}

/// A web page has no threads: `vm/page.sh` links its module with a deep stack.
#[cfg(target_family = "wasm")]
fn with_deep_stack(compile: impl FnOnce() -> Outcome) -> Outcome {
    compile()
}
