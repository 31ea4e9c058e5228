//! `vitrine-sim serve`: networks in virtual time, steered over gRPC.
//!
//! This thread owns the network and lets its time pass; those of the server speak with clients. It
//! needs no rights and nothing of Linux's.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Instant;
use std::{io, process, thread};

use agent::devices::NoDevices;
use clap::Args;
use p4c::output;
use serde_json::json;
use service::address::Address;
use service::server::{self, Duties, Offer, Server, StartError};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use stage::{Next, Runner, Stage};
use units::memory::Budget;

use crate::outside::Library;
use crate::program;

/// Serve vitrine.v1.World, and P4Runtime and vitrine.v1.Router of the routers in it, until killed.
#[derive(Args)]
pub struct Arguments {
    /// The address to listen at: ADDRESS:PORT, where port 0 takes any that is free, or unix:FILE.
    /// The address in use is printed.
    #[arg(long = "grpc", value_name = "ADDRESS", default_value = "127.0.0.1:9559")]
    address: Address,
    /// Listen at an address that other machines reach: every machine that reaches it controls the
    /// networks.
    #[arg(long)]
    insecure: bool,
    /// Interpret programs, instead of compiling them to machine code.
    #[arg(long)]
    interpreted: bool,
    /// Let Python classes of files in this folder, or below it, decide for routers and hosts of
    /// networks: see docs/insides.md. May be given several times.
    #[arg(long, value_name = "FOLDER")]
    classes: Vec<PathBuf>,
    /// End when standard input does: a parent that dies leaves nothing behind.
    #[arg(long)]
    end_with_input: bool,
}

/// Runs the subcommand. It returns only if it cannot begin.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    arguments.address.check(false, arguments.insecure)?;
    let world_thread = thread::current();
    let wake = Arc::new(move || world_thread.unpark());
    let compile = if arguments.interpreted { None } else { program::MACHINE_CODE };
    let runner: Runner = match &arguments.classes[..] {
        [] => None,
        folders => Some(Box::new(Library::new(folders)?)),
    };
    let (mut stage, world, fronts) = Stage::new(wake, compile, runner);
    let offer = Offer {
        address: arguments.address.clone(),
        tls: None,
        devices: Arc::new(NoDevices),
        // It has none to give up.
        duties: Duties::NONE,
        fronts,
        world: Some(world),
        // It serves only the user who starts it.
        memory: Budget::UNLIMITED,
    };
    let server = server::serve(offer).map_err(|error| cannot_serve(&arguments.address, &error))?;
    let listening = server.address().to_string();
    end_when_asked(server, arguments.end_with_input)?;
    output::show(format_args!("{}\n", json!({ "listening": listening })));
    let start = Instant::now();
    loop {
        match stage.work(start.elapsed()) {
            Next::Again => {}
            Next::After(span) => thread::park_timeout(span),
            Next::Idle => thread::park(),
        }
    }
}

/// Ends the process in order at a signal, or when its input does: clients are notified, and the
/// socket goes.
fn end_when_asked(server: Server, end_with_input: bool) -> Result<(), String> {
    let (ask, asked) = mpsc::channel();
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| format!("cannot watch for signals: {error}"))?;
    let ask_at_signal = ask.clone();
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            let _ends_already = ask_at_signal.send(());
        }
    });
    if end_with_input {
        thread::spawn(move || {
            // Nobody writes there; it ends when the last one who could has gone, or cannot be read.
            let _ended = io::copy(&mut io::stdin().lock(), &mut io::sink());
            let _ends_already = ask.send(());
        });
    }
    // The thread of the network may be in the middle of something long.
    thread::spawn(move || {
        let _asked = asked.recv();
        drop(server);
        process::exit(0);
    });
    Ok(())
}

fn cannot_serve(address: &Address, error: &StartError) -> String {
    match error {
        StartError::Door(error)
        | StartError::Events(error)
        | StartError::Listen(error)
        | StartError::Notifications(error) => {
            format!(
                "cannot listen on {address}: {error}; end what listens there, or choose another \
                 address with --grpc (port 0 takes any that is free)"
            )
        }
        StartError::Threads(error) => format!("cannot start threads for gRPC: {error}"),
        StartError::Tls(reason) => format!("TLS: {reason}"),
    }
}
