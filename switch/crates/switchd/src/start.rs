//! From arguments to a switch that is ready to run.
//!
//! Everything that can be missing is found here, before a packet has moved: each error says what
//! was asked for, where, and what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use control::agent::Load;
use control::config::Config;
use control::server::{self, ServerConfig};
use device::Device;
use ports::{PacketSocket, Poller, Waker};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use traffic::PortConfig;
use units::{PortId, Time};

use crate::args::Args;
use crate::clock::Clock;
use crate::netdevs::Netdevs;
use crate::switch::{Plane, Switch};

/// Why the switch cannot start, or cannot go on.
#[derive(Debug)]
pub struct SwitchError(String);

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SwitchError {
    /// An error with all that is to be said.
    pub fn new(message: impl fmt::Display) -> SwitchError {
        SwitchError(message.to_string())
    }
}

/// Opens, loads, listens.
pub fn start(args: &Args) -> Result<Switch, SwitchError> {
    args.check().map_err(SwitchError::new)?;
    let program_config = pipeline::Config { drop_port: PortId(args.drop_port), seed: args.seed };
    let mut device = Device::new(program_config);
    let program = args.program.as_deref().map(|path| load(path, &device)).transpose()?;
    let mut sockets = BTreeMap::new();
    for interface in &args.interfaces {
        let socket = PacketSocket::open(&interface.device).map_err(SwitchError::new)?;
        sockets.insert(interface.port, socket);
    }
    device.configure(Time::ZERO, router_config(args)).map_err(SwitchError::new)?;

    let poller = Poller::new().map_err(|e| SwitchError::new(format!("cannot poll: {e}")))?;
    let stop = stop_on_signals(poller.waker())?;
    let waker = poller.waker();
    let server_config = ServerConfig {
        address: args.grpc_address,
        device_id: args.device_id,
        pipeline: device.program_config(),
    };
    let (server, mut agent) = server::start(server_config, Arc::new(move || waker.wake()))
        .map_err(|error| cannot_listen(args, &error))?;
    let cpu_port = args.cpu_port.map(PortId);
    if let Some((config, program)) = program {
        let mut plane = Plane { device: &mut device, now: Time::ZERO, cpu_port };
        agent.adopt(&mut plane, program);
        server.shared().configs.commit(config);
    }
    tracing::info!(
        "listening on {}; {}",
        server.address(),
        match &args.program {
            Some(path) => format!("running {}", path.display()),
            None => "waiting for a program".to_owned(),
        }
    );
    let netdevs = Netdevs::new(sockets);
    Ok(Switch::new(device, netdevs, agent, server, poller, Clock::start(), cpu_port, stop))
}

/// Reads and loads the program of the command line. It comes without P4Info, so a controller that
/// wants to write tables sends its own.
fn load(path: &Path, device: &Device) -> Result<(Arc<Config>, Load), SwitchError> {
    let json = std::fs::read(path)
        .map_err(|error| SwitchError::new(format!("cannot read {}: {error}", path.display())))?;
    let config = Arc::new(Config::without_p4info(json.into()));
    let load = Load::new(Arc::clone(&config), &device.program_config())
        .map_err(|refusal| SwitchError::new(format!("{}: {}", path.display(), refusal.message)))?;
    Ok((config, load))
}

/// Every port with its classes by strict priority. The CPU port has no line: what goes to the
/// controller waits for nobody.
fn router_config(args: &Args) -> traffic::Config {
    let classes = usize::from(args.priority_queues);
    let mut config = traffic::Config::default();
    for interface in &args.interfaces {
        config.ports.insert(interface.port, PortConfig::strict(args.port_rate, classes));
    }
    if let Some(port) = args.cpu_port {
        config.ports.insert(PortId(port), PortConfig::strict(None, classes));
    }
    config
}

/// A flag that SIGTERM and SIGINT raise; the waker ends the wait of the loop that reads it.
fn stop_on_signals(waker: Waker) -> Result<Arc<AtomicBool>, SwitchError> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| SwitchError::new(format!("cannot watch for signals: {error}")))?;
    let raised = Arc::clone(&stop);
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            raised.store(true, Ordering::Relaxed);
            waker.wake();
        }
    });
    Ok(stop)
}

fn cannot_listen(args: &Args, error: &io::Error) -> SwitchError {
    let address = args.grpc_address;
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; another switch may be running there: end it, or choose \
                                     another address with --grpc"
        }
        io::ErrorKind::AddrNotAvailable => "; this machine has no such address",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need root",
        _ => "",
    };
    SwitchError::new(format!("cannot listen on {address}: {error}{advice}"))
}
