//! The compiler, the switch and the simulator as one file, whose name at the start selects the
//! program: they share most of their code, which is built and inlined once.
//!
//! `vm/build.sh` makes the names. Started as `vitrine` it takes one of them as its first word.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: ports::memory::Allocator = ports::memory::Allocator;

/// Runs a program with the words of its command line, its own name first.
type Program = fn(Vec<OsString>) -> ExitCode;

/// Under which names each program is started, those of the p4lang originals included.
const PROGRAMS: [(&[&str], Program); 3] = [
    (
        &["vitrine-p4c", "p4c", "p4c-bm2-ss", "p4c-bm2-psa", "p4test", "p4fmt", "p4c-graphs"],
        p4c::main,
    ),
    (&["vitrine-switch", "simple_switch", "simple_switch_grpc", "psa_switch"], switch),
    (&["vitrine-sim"], sim::main),
];

#[cfg(target_os = "linux")]
fn switch(words: Vec<OsString>) -> ExitCode {
    switchd::main(words)
}

#[cfg(not(target_os = "linux"))]
fn switch(_: Vec<OsString>) -> ExitCode {
    eprintln!(
        "vitrine-switch: the switch needs Linux, whose network devices are its ports. Networks in \
         virtual time run here: `vitrine-sim serve`, or WORLD=virtual."
    );
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if let Some(program) = words.first().and_then(|name| named(name)) {
        return program(words);
    }
    let Some(program) = words.get(1).and_then(|name| named(name)) else {
        let names: Vec<&str> = PROGRAMS.iter().flat_map(|(names, _)| *names).copied().collect();
        eprintln!(
            "vitrine: say which program is meant, as its first word or by a link of its name: {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    words.remove(0);
    program(words)
}

fn named(path: &OsStr) -> Option<Program> {
    let name = Path::new(path).file_name()?;
    PROGRAMS.iter().find(|(names, _)| names.iter().any(|each| name == *each)).map(|(_, run)| *run)
}
