//! `vitrine-sim serve`: networks in virtual time, steered over gRPC.
//!
//! This thread owns the network and lets its time pass; those of the server speak with clients. It
//! needs no rights and nothing of Linux's.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use std::{io, process, thread};

use agent::devices::NoDevices;
use clap::Args;
use pipeline::native::Compile;
use serde_json::json;
use service::server::{self, Offer, StartError};
use stage::{Next, Stage};

/// Serve vitrine.v1.World, and P4Runtime and vitrine.v1.Router of the routers in it, until killed.
#[derive(Args)]
pub struct Arguments {
    /// Where to listen; port 0 takes any that is free. What listens is printed.
    #[arg(long = "grpc", value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9559")]
    address: SocketAddr,
    /// Interpret programs, instead of compiling them to machine code.
    #[arg(long)]
    interpreted: bool,
    /// End when standard input does: whoever starts this as a child and dies leaves nothing behind.
    #[arg(long)]
    end_with_input: bool,
}

/// Runs the subcommand. It returns only if it cannot begin.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let world_thread = thread::current();
    let wake = Arc::new(move || world_thread.unpark());
    let compile = (!arguments.interpreted).then_some(native::compile as Compile);
    let (mut stage, world, fronts) = Stage::new(wake, compile);
    let offer = Offer {
        address: arguments.address,
        tls: None,
        devices: Arc::new(NoDevices),
        fronts,
        world: Some(world),
    };
    let server = server::serve(offer).map_err(|error| cannot_serve(arguments.address, &error))?;
    if arguments.end_with_input {
        thread::spawn(end_with_input);
    }
    println!("{}", json!({ "listening": server.address().to_string() }));
    let start = Instant::now();
    loop {
        match stage.work(start.elapsed()) {
            Next::Again => {}
            Next::After(span) => thread::park_timeout(span),
            Next::Idle => thread::park(),
        }
    }
}

/// Nobody writes there; it ends when the last one who could has gone.
fn end_with_input() {
    // Input that cannot be read has ended, too.
    let _ended = io::copy(&mut io::stdin().lock(), &mut io::sink());
    process::exit(0);
}

fn cannot_serve(address: SocketAddr, error: &StartError) -> String {
    match error {
        StartError::Listen(error) => format!(
            "cannot listen on {address}: {error}; end what listens there, or choose another address \
             with --grpc (port 0 takes any that is free)"
        ),
        StartError::Threads(error) => format!("cannot start threads for gRPC: {error}"),
        StartError::Tls(reason) => format!("TLS: {reason}"),
    }
}
