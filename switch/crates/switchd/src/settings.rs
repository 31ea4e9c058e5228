//! The settings of a switch, from either command line.

use std::path::PathBuf;
use std::str::FromStr;

use service::address::Address;
use service::publisher::Place;
use units::{Bytes, PORT_NUMBER_MAX, PortId, Rate};

use crate::logging::Logging;
use crate::pattern::Pattern;
use crate::pipeline_form::PipelineForm;

/// Everything the start needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the command line spells what error messages advise.
    pub spelling: Spelling,
    /// BMv2 JSON to start with; none: wait for a controller.
    pub program: Option<PathBuf>,
    /// Ports and their devices.
    pub interfaces: Vec<Interface>,
    /// The number by which controllers address this switch.
    pub device_id: u64,
    /// Where gRPC is served.
    pub grpc_address: Address,
    /// Whether that may be an address that other machines reach, without TLS.
    pub insecure: bool,
    /// Devices that may become ports later, besides those of the start.
    pub later_ports: Vec<Pattern>,
    /// Certificates; none: plain text.
    pub tls: Option<TlsFiles>,
    /// The port of this machine for bmv2's runtime interface; none: it is not served.
    pub thrift_port: Option<u16>,
    /// Where digests are published for that interface's clients; none: nowhere.
    pub notifications: Option<Place>,
    /// Where steps of packets are published, as bmv2's event logger does.
    pub events: Option<Place>,
    /// The port of packet-in and packet-out.
    pub cpu_port: Option<PortId>,
    /// The port number that means "drop".
    pub drop_port: PortId,
    /// The line rate of every port; none: unlimited.
    pub port_rate: Option<Rate>,
    /// Queues of every port.
    pub class_count: u8,
    /// The request to the kernel for the devices of all ports.
    pub devices: DeviceUse,
    /// The most that all may take that clients and programs make; none: by the machine.
    pub memory: Option<Bytes>,
    /// The most that packets may take of it; none: a part.
    pub packet_memory: Option<Bytes>,
    /// The seed of everything random.
    pub seed: u64,
    /// How programs run.
    pub pipeline: PipelineForm,
    /// The folder for captures; none: no captures.
    pub pcap: Option<PathBuf>,
    /// The file for one capture of the whole switch; none: no such capture.
    pub capture: Option<PathBuf>,
    /// How many bytes of every frame are logged.
    pub dump_bytes: usize,
    /// The user to become.
    pub user: Option<String>,
    /// The selection of log lines, and their target.
    pub logging: Logging,
    /// Flags that were accepted and do nothing here, one sentence each.
    pub notes: Vec<String>,
}

/// How the switch uses network devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceUse {
    /// How many bytes may wait behind a port in the kernel; none: as many as it can take.
    pub backlog_bytes: Option<usize>,
    /// Whether a port also receives what other programs send at this end of its cable.
    pub hears_this_end: bool,
}

/// The flags as their user knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The flags of psa_switch.
    PsaSwitch,
    /// The flags of simple_switch, which has no gRPC.
    SimpleSwitch,
    /// The flags of simple_switch_grpc.
    SimpleSwitchGrpc,
    /// Our own.
    Vitrine,
}

impl Spelling {
    /// The flag that says where to listen.
    pub fn address(self) -> &'static str {
        match self {
            Spelling::SimpleSwitch => "--thrift-port",
            Spelling::PsaSwitch | Spelling::SimpleSwitchGrpc => "-- --grpc-server-addr",
            Spelling::Vitrine => "--grpc",
        }
    }

    /// Whether the original serves P4Runtime, by the library PI.
    pub fn is_of_pi(self) -> bool {
        matches!(self, Spelling::PsaSwitch | Spelling::SimpleSwitchGrpc)
    }

    /// The name of the program.
    pub fn program(self) -> &'static str {
        match self {
            Spelling::PsaSwitch => "psa_switch",
            Spelling::SimpleSwitch => "simple_switch",
            Spelling::SimpleSwitchGrpc => "simple_switch_grpc",
            Spelling::Vitrine => "vitrine-switch",
        }
    }
}

/// PEM files for gRPC over TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, with its signers'.
    pub certificate: PathBuf,
    /// The certificate's key.
    pub key: PathBuf,
    /// The required signer of a client's certificate; none: clients need none.
    pub client_ca: Option<PathBuf>,
}

/// `PORT@DEVICE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The port's number.
    pub port: PortId,
    /// The device's name.
    pub device: String,
}

impl FromStr for Interface {
    type Err = String;

    fn from_str(text: &str) -> Result<Interface, String> {
        let wanted = "write PORT@DEVICE, such as 1@s1-eth1";
        let (port, device) =
            text.split_once('@').ok_or_else(|| format!("there is no `@` in `{text}`: {wanted}"))?;
        // A device name never contains `@`; `ip link` shows veths as `s1-eth1@if7`.
        if device.is_empty() || device.contains('@') {
            return Err(format!("`{device}` is no device name: {wanted}"));
        }
        let port = port.parse().map_err(|_| format!("`{port}` is no port number: {wanted}"))?;
        Ok(Interface { port: port_number(port)?, device: device.to_owned() })
    }
}

/// A port's number, if P4 can name it.
fn port_number(number: u32) -> Result<PortId, String> {
    match u16::try_from(number) {
        Ok(number) if number <= PORT_NUMBER_MAX => Ok(PortId(number)),
        _ => Err(format!("port {number} does not fit: P4's ports are 0 to {PORT_NUMBER_MAX}")),
    }
}

/// For clap: a port's number.
pub fn parse_port(text: &str) -> Result<PortId, String> {
    let number = text.parse().map_err(|_| format!("`{text}` is no port number"))?;
    port_number(number)
}

impl Settings {
    /// The checks that no command-line parser can make: two flags that contradict each other.
    pub fn check(&self) -> Result<(), String> {
        self.grpc_address.check(self.tls.is_some(), self.insecure)?;
        for (index, this) in self.interfaces.iter().enumerate() {
            for earlier in &self.interfaces[..index] {
                let (port, device, other) = (this.port, &this.device, &earlier.device);
                if port == earlier.port {
                    return Err(format!("port {port} is given twice: {other} and {device}"));
                }
                if device == other {
                    let (first, second) = (earlier.port, port);
                    return Err(format!("device {device} is given twice: ports {first}, {second}"));
                }
            }
            if Some(this.port) == self.cpu_port {
                return Err(format!(
                    "port {} is both the CPU port, which has no device, and {}",
                    this.port, this.device
                ));
            }
            if this.port == self.drop_port {
                return Err(format!(
                    "port {} means \"drop\", so {} behind it would never send a frame: take \
                     another port, or move the drop port with --drop-port",
                    this.port, this.device
                ));
            }
        }
        if self.cpu_port == Some(self.drop_port) {
            return Err(format!("port {} is both --cpu-port and --drop-port", self.drop_port));
        }
        match &self.pcap {
            Some(folder) if !folder.is_dir() => {
                Err(format!("--pcap: there is no folder {}; make it first", folder.display()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_a_port_and_a_device() {
        let interface: Interface = "3@s1-eth3".parse().expect("well-formed");
        assert_eq!(interface, Interface { port: PortId(3), device: "s1-eth3".to_owned() });
        for text in ["s1-eth1", "x@s1-eth1", "1@", "1@a@b", "512@s1-eth1", "-1@s1-eth1"] {
            assert!(text.parse::<Interface>().is_err(), "{text} must be refused");
        }
    }
}
