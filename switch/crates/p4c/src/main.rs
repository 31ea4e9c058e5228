//! `vitrine-p4c`: reads its arguments, runs the compiler, prints. Started under the name `p4c` it
//! takes that driver's arguments, otherwise those of p4c-bm2-ss.

use p4c::run::{Outcome, run};
use std::process::ExitCode;

/// The compiler limits its depth by itself; this makes the limit harmless in debug builds too.
const STACK_SIZE_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let mut words = std::env::args();
    let program = words.next().unwrap_or_default();
    let is_driver = program.rsplit('/').next() == Some("p4c");
    let words: Vec<String> = words.collect();
    let compilation = std::thread::Builder::new().stack_size(STACK_SIZE_BYTES).spawn(move || {
        match p4c::arguments::parse(&words, is_driver) {
            Ok(arguments) => run(&arguments),
            Err(message) => Outcome::failed(&format!("{message}; --help shows how")),
        }
    });
    let outcome = match compilation.map(|thread| thread.join()) {
        Ok(Ok(outcome)) => outcome,
        _ => Outcome::failed("the compiler failed; please report the program that makes it fail"),
    };
    print!("{}", outcome.text);
    eprint!("{}", outcome.messages);
    ExitCode::from(outcome.status)
}
