//! `vitrine-switch`: a P4-programmable switch on Linux network devices.
//!
//! This crate only wires: arguments, the clock, the event loop. A packet's way is in `device`; the
//! interface for controllers is in `p4runtime` and `agent`.
//!
//! ```text
//!   args.rs      the command line
//!   dropin/      the command line of simple_switch_grpc, under whose name we may be started
//!   settings.rs  what either of them comes to
//!   start.rs     from settings to a running switch, with an error for everything that is missing
//!   switch.rs    the loop of the one data-plane thread
//!   precedence.rs      real-time priority for that thread, while it has little to do or was given it
//!   precise_sleep.rs   waking early enough for the next departure
//!   netdevs.rs   ports: frames in, frames out
//!   link.rs      one port and the network device behind it
//!   opener.rs    network devices for ports that are added later
//!   later_ports.rs   which devices those may be
//!   reach.rs     which files and addresses the switch uses, and so keeps
//!   recording.rs one capture of the whole switch
//!   tap.rs       captures, and what the log says of packets
//!   narrate/     the steps of packets as lines of the log
//!   logging/     the log's target and the form of its lines
//!   spool.rs     writing without waiting for it
//!   memory.rs    the budget of memory
//!   limits.rs    the limits of the switch
//!   clock.rs     the only place that reads the time
//!   pipeline_form.rs   interpreted, or as machine code
//! ```

mod args;
mod capture_file;
mod clock;
mod dropin;
mod error;
mod later_ports;
mod limits;
mod link;
mod logging;
mod memory;
mod narrate;
mod netdevs;
mod opener;
mod pattern;
mod pipeline_form;
mod precedence;
mod precise_sleep;
mod reach;
mod recording;
mod settings;
mod spool;
mod start;
mod switch;
mod tap;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use ports::reach::Restricted;
use ports::{privilege, system_calls};

use settings::Settings;

/// Runs the switch with these words of the command line, the first of which is the program's name.
pub fn main(words: Vec<OsString>) -> ExitCode {
    if words.first().is_some_and(|name| dropin::is_meant_by(Path::new(name))) {
        return match dropin::parse(words) {
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
    let args = args::Args::parse_from(words);
    if args.limits {
        print!("{}", limits::table());
        return ExitCode::SUCCESS;
    }
    run(&args.into())
}

fn run(settings: &Settings) -> ExitCode {
    ports::memory::keep();
    ports::raise_descriptor_limit();
    // While the files are in reach that say how much there is.
    let memory = memory::Memory::of(settings);
    let confined = memory.and_then(|memory| Ok((memory, confine(settings)?)));
    let outcome = confined.map_err(error::SwitchError::new).and_then(|(memory, missing)| {
        let log = logging::start(&settings.logging).map_err(error::SwitchError::new)?;
        for what in missing {
            tracing::info!("not confined as far as it could be: {what}");
        }
        let outcome = start::start(settings, memory).and_then(switch::Switch::run);
        drop(log);
        outcome
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", settings.spelling.program());
            ExitCode::FAILURE
        }
    }
}

/// Gives up all rights of the starting user but those of a switch; to be called before there is a
/// second thread. Parts that this kernel does not have are left out, and returned in words: the
/// rest holds without them.
fn confine(settings: &Settings) -> Result<Vec<String>, String> {
    let mut missing = Vec::new();
    if let Err(error) = privilege::confine() {
        missing.push(error.to_string());
    }
    settings.check()?;
    if let Some(name) = &settings.user {
        privilege::become_user(name).map_err(|error| error.to_string())?;
    }
    match reach::reach(settings).restrict() {
        // The existing parts hold; kernels from 5.13 on know files, which matter most.
        Ok(Restricted::Wholly | Restricted::Partly) => {}
        Ok(Restricted::No) => missing.push(
            "this kernel has no Landlock, so the rights of its user alone say which files it opens"
                .to_owned(),
        ),
        Err(error) => missing.push(format!("Landlock: {error}")),
    }
    if let Err(error) = system_calls::restrict() {
        missing.push(format!("seccomp: {error}"));
    }
    Ok(missing)
}
