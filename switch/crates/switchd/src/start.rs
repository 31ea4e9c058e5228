//! From arguments to a switch that is ready to run.
//!
//! Everything that can be missing is found here, before a packet has moved: each error names the
//! setting, its place, and the correction.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::Load;
use device::Device;
use p4runtime::Dialect;
use p4runtime::config::Config;
use ports::privilege::{self, DEVICES, NOTHING, PORTS};
use ports::{PacketSocket, Poller, Waker};
use service::server::{self, Duties, Server, ServerConfig, StartError, Tls};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use traffic::PortConfig;
use units::{PortId, Time};

use crate::clock::Clock;
use crate::error::SwitchError;
use crate::memory::{self, Memory};
use crate::netdevs::Netdevs;
use crate::opener::Opener;
use crate::precedence::PrecedenceKeeper;
use crate::settings::{Settings, TlsFiles};
use crate::switch::{Core, Switch};
use crate::tap::Tap;

/// Opens, loads, listens. `settings` have been checked.
pub fn start(settings: &Settings, memory: Memory) -> Result<Switch, SwitchError> {
    let program_config = pipeline::Config {
        drop_port: settings.drop_port,
        cpu_port: settings.cpu_port,
        seed: settings.seed,
        compile: settings.pipeline.compiler(),
        memory: memory.budget(),
    };
    let clock = Clock::start();
    let mut device = Device::new(program_config);
    device.bound_memory(memory.packets);
    let program = settings.program.as_deref().map(|path| load(path, &device)).transpose()?;
    let sockets = open_ports(settings)?;
    let mut tap = Tap::open(settings).map_err(SwitchError::new)?;
    device.configure(Time::ZERO, router_config(settings)).map_err(SwitchError::new)?;

    let poller = Poller::new().map_err(|e| SwitchError::new(format!("cannot poll: {e}")))?;
    let stop = stop_on_signals(poller.waker())?;
    let waker = poller.waker();
    let netdevs = Netdevs::new(sockets, settings.devices)
        .map_err(|e| SwitchError::new(format!("cannot watch network devices: {e}")))?;
    let (opener, opening) = Opener::new(settings);
    let server_config = ServerConfig {
        address: settings.grpc_address.clone(),
        device_id: settings.device_id,
        pipeline: device.program_config(),
        tls: settings.tls.as_ref().map(read_certificates).transpose()?,
        devices: Arc::new(opener),
        duties: Duties { begin: give_up_everything, rest: memory::give_back_own },
        thrift_port: settings.thrift_port,
        notifications: settings.notifications.clone(),
        events: settings.events.clone(),
        dialect: if settings.spelling.is_of_pi() { Dialect::Pi } else { Dialect::Specification },
    };
    let (server, agent) = server::start(server_config, Arc::new(move || waker.wake()))
        .map_err(|error| cannot_serve(settings, error))?;
    tap.tell_steps_to(server.steps().cloned());
    // Of all threads only this one, which is to drive the device, has instants to keep.
    let precedence = PrecedenceKeeper::begin();
    // Its thread has the rights that this one has now.
    opening.start().map_err(|e| SwitchError::new(format!("cannot start a thread: {e}")))?;
    memory::give_back_now_and_then(give_up_everything, server.stirrer())
        .map_err(|e| SwitchError::new(format!("cannot start a thread: {e}")))?;
    let rights = if settings.user.is_some() { DEVICES } else { PORTS };
    privilege::keep(rights).map_err(SwitchError::new)?;
    announce(settings, &server);
    let core = Core {
        device,
        netdevs,
        agent,
        tap,
        clock,
        cpu_port: settings.cpu_port,
        new_port: new_port(settings),
    };
    let mut switch = Switch::new(core, server, poller, stop, precedence);
    if let Some(program) = program {
        switch.adopt(program);
    }
    Ok(switch)
}

/// For threads that speak with controllers, and for those that write what others hand them.
pub fn give_up_everything() {
    // Giving up rights needs none.
    let _done = privilege::keep(NOTHING);
}

fn open_ports(settings: &Settings) -> Result<BTreeMap<PortId, PacketSocket>, SwitchError> {
    let mut sockets = BTreeMap::new();
    for interface in &settings.interfaces {
        let socket = PacketSocket::open(&interface.device).map_err(SwitchError::new)?;
        tracing::info!("port {} is {}", interface.port, interface.device);
        sockets.insert(interface.port, socket);
    }
    Ok(sockets)
}

/// Says what runs where, and which flags did nothing.
fn announce(settings: &Settings, server: &Server) {
    for note in &settings.notes {
        tracing::info!("{note}");
    }
    let security = match &settings.tls {
        None => "plain text",
        Some(TlsFiles { client_ca: None, .. }) => "TLS",
        Some(TlsFiles { client_ca: Some(_), .. }) => "TLS, clients need a certificate",
    };
    let running = match &settings.program {
        Some(path) => format!("running {}", path.display()),
        None => "waiting for a program".to_owned(),
    };
    let (address, device_id) = (server.address(), settings.device_id);
    if settings.spelling.is_of_pi() {
        // Scripts wait for these words.
        println!("Server listening on {address}");
    }
    tracing::info!("listening on {address} ({security}), device id {device_id}; {running}");
    if let Some(door) = server.door() {
        tracing::info!("bmv2's runtime interface (Thrift) is at {door}");
    }
}

/// The certificates' files; whether they do is found out by the server.
fn read_certificates(files: &TlsFiles) -> Result<Tls, SwitchError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| {
            SwitchError::new(format!("TLS: cannot read {}: {error}", path.display()))
        })
    };
    Ok(Tls {
        certificate: read(&files.certificate)?,
        key: read(&files.key)?,
        client_ca: files.client_ca.as_deref().map(read).transpose()?,
    })
}

/// Reads and loads the program of the command line. It comes without P4Info, so a controller that
/// wants to write tables sends its own.
fn load(path: &Path, device: &Device) -> Result<Load, SwitchError> {
    let json = std::fs::read(path)
        .map_err(|error| SwitchError::new(format!("cannot read {}: {error}", path.display())))?;
    let config = Arc::new(Config::without_p4info(json.into()));
    Load::new(config, &device.program_config())
        .map_err(|refusal| SwitchError::new(format!("{}: {}", path.display(), refusal.message)))
}

/// Every port with its classes by strict priority. The CPU port has no line: packets to the
/// controller wait for nothing.
fn router_config(settings: &Settings) -> traffic::Config {
    let classes = usize::from(settings.class_count);
    let mut config = traffic::Config::default();
    for interface in &settings.interfaces {
        config.ports.insert(interface.port, new_port(settings));
    }
    if let Some(port) = settings.cpu_port {
        config.ports.insert(port, PortConfig::strict(None, classes));
    }
    config
}

/// A port with the default settings.
fn new_port(settings: &Settings) -> PortConfig {
    PortConfig::strict(settings.port_rate, settings.class_count.into())
}

/// A flag that SIGTERM, SIGINT and SIGHUP (the terminal is gone) raise; the waker ends the wait of the loop that reads it.
fn stop_on_signals(waker: Waker) -> Result<Arc<AtomicBool>, SwitchError> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| SwitchError::new(format!("cannot watch for signals: {error}")))?;
    let raised = Arc::clone(&stop);
    std::thread::spawn(move || {
        give_up_everything();
        if signals.forever().next().is_some() {
            raised.store(true, Ordering::Relaxed);
            waker.wake();
        }
    });
    Ok(stop)
}

/// The mistake in the address or the certificates, and its correction.
fn cannot_serve(settings: &Settings, error: StartError) -> SwitchError {
    let address = &settings.grpc_address;
    let error = match error {
        StartError::Door(error) => {
            let port = settings.thrift_port.unwrap_or_default();
            return SwitchError::new(format!(
                "cannot listen on 127.0.0.1:{port}: {error}; end the switch that runs there, or \
                 choose another port with --thrift-port"
            ));
        }
        StartError::Notifications(error) => {
            let place = settings.notifications.as_ref().map(ToString::to_string);
            return SwitchError::new(format!(
                "cannot publish digests at {}: {error}; end the switch that does, or choose another \
                 address with --notifications-addr",
                place.unwrap_or_default()
            ));
        }
        StartError::Events(error) => {
            let place = settings.events.as_ref().map(ToString::to_string);
            return SwitchError::new(format!(
                "cannot publish steps of packets at {}: {error}; choose another address with \
                 --nanolog",
                place.unwrap_or_default()
            ));
        }
        StartError::Listen(error) => error,
        StartError::Threads(error) => {
            return SwitchError::new(format!("cannot start threads for gRPC: {error}"));
        }
        StartError::Tls(reason) => {
            let files = settings.tls.as_ref();
            let names = files.into_iter().flat_map(|files| {
                [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()]
            });
            let names: Vec<String> = names.flatten().map(|it| it.display().to_string()).collect();
            return SwitchError::new(format!(
                "TLS: {} cannot be used: {reason}; each must be a PEM file, and the key must \
                 belong to the certificate",
                names.join(", ")
            ));
        }
    };
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "; another switch may be running there: end it, or choose another address with {}",
            settings.spelling.address()
        ),
        io::ErrorKind::AddrNotAvailable => "; this machine has no such address".to_owned(),
        io::ErrorKind::PermissionDenied => "; ports below 1024 need root".to_owned(),
        _ => String::new(),
    };
    SwitchError::new(format!("cannot listen on {address}: {error}{advice}"))
}
