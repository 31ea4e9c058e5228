//! Ports that are added while the switch runs: their devices are opened on a gRPC thread, which may wait.

use std::path::PathBuf;

use agent::devices::{Devices, Opened};
use p4runtime::Refusal;
use ports::{OpenError, PacketSocket};
use units::PortId;

use crate::settings::Settings;
use crate::tap::Capture;

/// Opens devices, and the captures that go with them.
pub struct Opener {
    /// The folder for captures; none: no captures.
    pcap: Option<PathBuf>,
}

/// The network device of a new port.
pub struct OpenedPort {
    /// What its frames go through.
    pub socket: PacketSocket,
    /// Where they are recorded, if they are.
    pub capture: Option<Capture>,
}

impl Opener {
    /// Captures as for the ports of the command line.
    pub fn new(settings: &Settings) -> Opener {
        Opener { pcap: settings.pcap.clone() }
    }
}

impl Devices for Opener {
    fn open(&self, port: PortId, device: &str) -> Result<Opened, Refusal> {
        let socket = PacketSocket::open(device).map_err(|error| match &error {
            OpenError::Missing(_) => Refusal::not_found(format!("port {port}: {error}")),
            _ => Refusal::precondition(format!("port {port}: {error}")),
        })?;
        let capture = self.pcap.as_deref().map(|folder| Capture::create(folder, device));
        let capture = capture.transpose().map_err(Refusal::precondition)?;
        Ok(Opened(Box::new(OpenedPort { socket, capture })))
    }
}
