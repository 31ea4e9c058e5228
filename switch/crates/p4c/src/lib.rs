//! `vitrine-p4c`: reads its arguments, runs the compiler, prints. Started under the name `p4c` it
//! takes that driver's arguments, otherwise those of p4c-bm2-ss. `vitrine-p4c lsp` answers editors.
//!
//! A library so that tests and other programs can use the pieces: arguments, files for the compiler,
//! its messages for people, a server for editors.

pub mod arguments;
pub mod entries;
pub mod files;
pub mod lsp;
pub mod output;
pub mod render;
pub mod run;

use std::ffi::OsString;
use std::process::ExitCode;

use run::{Outcome, answer_editor, run};

/// The compiler limits its depth by itself; this makes the limits harmless in debug builds too. It
/// is address space: the kernel gives memory only for pages in use.
#[cfg(not(target_family = "wasm"))]
const STACK_SIZE_BYTES: usize = 256 << 20;

/// Compiles what these words of the command line say; the first is the program's name.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let mut words = words.into_iter().map(|word| word.to_string_lossy().into_owned());
    let is_driver = words.next().is_some_and(|name| name.rsplit('/').next() == Some("p4c"));
    let words: Vec<String> = words.collect();
    let outcome = with_deep_stack(move || {
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
