//! `vitrine-switch`: a P4-programmable switch on Linux network devices.
//!
//! This crate only wires: arguments, the clock, the event loop. What a packet goes through is in
//! `device`; what a controller may say is in `control`.
//!
//! ```text
//!   args.rs     the command line
//!   start.rs    from arguments to a running switch, with an error for everything that can be missing
//!   switch.rs   the loop of the one data-plane thread
//!   netdevs.rs  ports: frames in, frames out
//!   clock.rs    the one place that asks what time it is
//! ```

mod args;
mod clock;
mod netdevs;
mod start;
mod switch;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    tracing_subscriber::fmt()
        .with_max_level(args.log_level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match start::start(&args).and_then(switch::Switch::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vitrine-switch: {error}");
            ExitCode::FAILURE
        }
    }
}
