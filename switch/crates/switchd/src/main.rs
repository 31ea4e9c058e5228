//! `vitrine-switch`: a P4-programmable switch on Linux network devices.
//!
//! This crate only wires: arguments, the clock, the event loop. What a packet goes through is in
//! `device`; what a controller may say is in `p4runtime` and `agent`.
//!
//! ```text
//!   args.rs      the command line
//!   dropin/      the command line of simple_switch_grpc, under whose name we may be started
//!   settings.rs  what either of them comes to
//!   start.rs     from settings to a running switch, with an error for everything that is missing
//!   switch.rs    the loop of the one data-plane thread
//!   precedence.rs      real-time priority for that thread, while it has little to do
//!   precise_sleep.rs   waking early enough for the next departure
//!   netdevs.rs   ports: frames in, frames out
//!   link.rs      one port and the network device behind it
//!   opener.rs    network devices for ports that are added later
//!   recording.rs one capture of the whole switch
//!   tap.rs       captures, and what the log says of packets
//!   narrate.rs   the steps of packets as lines of the log
//!   logging/     where the log goes and how its lines look
//!   limits.rs    what the switch is bounded by
//!   clock.rs     the one place that asks what time it is
//!   pipeline_form.rs   interpreted, or as machine code
//! ```

mod args;
mod clock;
mod dropin;
mod limits;
mod link;
mod logging;
mod narrate;
mod netdevs;
mod opener;
mod pipeline_form;
mod precedence;
mod precise_sleep;
mod recording;
mod settings;
mod start;
mod switch;
mod tap;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use ports::memory::{self, Allocator};

use settings::Settings;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    let started_as = std::env::args_os().next().unwrap_or_default();
    if dropin::is_meant_by(Path::new(&started_as)) {
        return match dropin::parse(std::env::args_os()) {
            Ok(settings) => run(&settings),
            Err(dropin::Stop::Answered(text)) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Err(dropin::Stop::Refused(text)) => {
                eprint!("{text}");
                ExitCode::FAILURE
            }
        };
    }
    let args = args::Args::parse();
    if args.limits {
        print!("{}", limits::table());
        return ExitCode::SUCCESS;
    }
    run(&args.into())
}

fn run(settings: &Settings) -> ExitCode {
    memory::keep();
    let outcome = settings
        .check()
        .and_then(|()| logging::start(&settings.logging))
        .map_err(start::SwitchError::new)
        .and_then(|()| start::start(settings))
        .and_then(switch::Switch::run);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", settings.spelling.program());
            ExitCode::FAILURE
        }
    }
}
