//! Runs the front end over many programs and says how many it takes.
//!
//! ```text
//! sweep DIRECTORY INCLUDES [LIST]     every program of LIST (or every *.p4) must be taken
//! sweep --reject DIRECTORY INCLUDES OUTPUTS   every *.p4 must be rejected, the first error on the
//!                                     line of OUTPUTS/NAME.p4-stderr
//! ```

use compiler::PreprocessorOptions;
use compiler::{Diagnostic, Severity, SourceMap, analyse};
use p4c::files::Files;
use p4c::render::render;
use std::path::Path;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--reject", directory, includes, outputs] => reject(directory, includes, outputs),
        [directory, includes] => accept(directory, includes, &programs(directory)),
        [directory, includes, list] => {
            let text = std::fs::read_to_string(list).unwrap_or_default();
            accept(directory, includes, &text.lines().map(String::from).collect::<Vec<_>>());
        }
        _ => eprintln!("usage: sweep [--reject] DIRECTORY INCLUDES [LIST or OUTPUTS]"),
    }
}

fn programs(directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".p4"))
        .collect();
    names.sort();
    names
}

fn options(includes: &str) -> PreprocessorOptions {
    PreprocessorOptions {
        include_directories: includes.split(':').map(String::from).collect(),
        ..PreprocessorOptions::default()
    }
}

/// Sources and messages in source order.
fn front(path: &str, includes: &str) -> (SourceMap, Vec<Diagnostic>) {
    let front = analyse(&Files, path, &options(includes));
    (front.sources, front.diagnostics.into_sorted())
}

fn accept(directory: &str, includes: &str, names: &[String]) {
    let (mut taken, mut slowest) = (0, (0, String::new()));
    for name in names {
        let path = format!("{directory}/{name}");
        let start = Instant::now();
        let (front, diagnostics) = front(&path, includes);
        let elapsed_us = start.elapsed().as_micros();
        slowest = slowest.max((elapsed_us, name.clone()));
        match diagnostics.iter().find(|found| found.severity == Severity::Error) {
            None => taken += 1,
            Some(first) => print!("{}", render(first, &front)),
        }
    }
    println!("taken {taken} of {}; slowest {} us: {}", names.len(), slowest.0, slowest.1);
}

fn reject(directory: &str, includes: &str, outputs: &str) {
    let (mut rejected, mut same_line, mut total) = (0, 0, 0);
    for name in programs(directory) {
        let Ok(text) = std::fs::read_to_string(format!("{outputs}/{name}-stderr")) else {
            continue;
        };
        let wanted = first_error_line(&text, &name);
        let Some(wanted) = wanted else { continue };
        total += 1;
        let path = format!("{directory}/{name}");
        let (front, diagnostics) = front(&path, includes);
        match diagnostics.iter().find(|found| found.severity == Severity::Error) {
            None => println!("TAKEN {name}: line {wanted}: {}", text.lines().next().unwrap_or("")),
            Some(first) => {
                rejected += 1;
                let here = front.location(first.primary.span);
                if here.line == wanted && Path::new(&*here.file).ends_with(&name) {
                    same_line += 1;
                } else {
                    println!(
                        "OTHER {name}: wanted {wanted}: {}",
                        text.lines().next().unwrap_or("")
                    );
                    print!("{}", render(first, &front));
                }
            }
        }
    }
    println!("rejected {rejected} of {total}; first error on the same line: {same_line}");
}

/// The line of the first error in recorded output, if it is in this file.
fn first_error_line(text: &str, name: &str) -> Option<u32> {
    text.lines().find(|line| line.contains("error:")).and_then(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix('(')?;
        rest.split(')').next()?.parse().ok()
    })
}
