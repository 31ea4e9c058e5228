//! `vitrine-sim`: the router's parts in virtual time, from the command line.
//!
//! One file or folder per subcommand; this one only dispatches. Every subcommand prints JSON lines
//! on standard output, one a run (`serve` one, when it listens), and explains errors on standard
//! error with exit status 2. (`stf` prints text, and its exit status 1 is a test that failed.)

mod fabric;
mod outside;
mod plot;
mod program;
mod queue;
#[cfg(not(target_family = "wasm"))]
mod serve;
mod stf;
mod sweep;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run parts of the router in virtual time: same input and seed, same output, no waiting.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Fabric(fabric::Arguments),
    Queue(queue::Arguments),
    #[cfg(not(target_family = "wasm"))]
    Serve(serve::Arguments),
    Stf(stf::Arguments),
    Trace(trace::Arguments),
}

/// Runs the subcommand that these words of the command line name; the first is the program's name.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let result = match Arguments::parse_from(words).command {
        Command::Fabric(arguments) => fabric::run(&arguments).map(|()| true),
        Command::Queue(arguments) => queue::run(&arguments).map(|()| true),
        #[cfg(not(target_family = "wasm"))]
        Command::Serve(arguments) => serve::run(&arguments).map(|()| true),
        Command::Stf(arguments) => stf::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments).map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            p4c::output::tell(format_args!("vitrine-sim: {message}\n"));
            ExitCode::from(2)
        }
    }
}
