//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;
use units::{PORT_NUMBER_MAX, PortId, Rate};

/// A P4-programmable switch whose queues can be configured and seen.
///
/// Ports are Linux network devices. A controller loads the program and writes its tables through
/// P4Runtime; queues and rates are set and read through the service vitrine.v1.Router on the same
/// port.
#[derive(Debug, Parser)]
#[command(name = "vitrine-switch", version, max_term_width = 100)]
pub struct Args {
    /// BMv2 JSON to start with; a controller may replace it.
    #[arg(value_name = "PROGRAM.json", conflicts_with = "no_p4")]
    pub program: Option<PathBuf>,

    /// Start without a program: packets are dropped until a controller sends one.
    #[arg(long)]
    pub no_p4: bool,

    /// A port: its number in P4 and the network device behind it, such as 1@s1-eth1.
    #[arg(short = 'i', long = "interface", value_name = "PORT@DEVICE")]
    pub interfaces: Vec<Interface>,

    /// The number by which P4Runtime controllers address this switch.
    #[arg(long, value_name = "ID", default_value_t = 0)]
    pub device_id: u64,

    /// Where P4Runtime and vitrine.v1 are served.
    #[arg(
        long = "grpc",
        alias = "grpc-server-addr",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:9559"
    )]
    pub grpc_address: SocketAddr,

    /// The port whose frames go to the controller as packet-in, and come from it.
    #[arg(long, value_name = "PORT")]
    pub cpu_port: Option<u16>,

    /// The port number that means "drop" in `egress_spec`.
    #[arg(long, value_name = "PORT", default_value_t = 511)]
    pub drop_port: u16,

    /// The line rate of every port at the start, such as "10 Mb/s"; without it, unlimited.
    #[arg(long, value_name = "RATE")]
    pub port_rate: Option<Rate>,

    /// How many queues (classes) a port has at the start.
    #[arg(long, value_name = "1..8", default_value_t = 8,
          value_parser = clap::value_parser!(u8).range(1..=8))]
    pub priority_queues: u8,

    /// The seed of everything that is random: AQM, loss, P4's random().
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,

    /// What is written to standard error: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: tracing::Level,
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
        // simple_switch accepts 1@s1-eth1@options in places; a device name never contains `@`.
        if device.is_empty() || device.contains('@') {
            return Err(format!("`{device}` is no device name: {wanted}"));
        }
        let number = port.parse().map_err(|_| format!("`{port}` is no port number: {wanted}"))?;
        if number > PORT_NUMBER_MAX {
            return Err(format!(
                "port {number} does not fit: P4's ports are 0 to {}",
                PORT_NUMBER_MAX
            ));
        }
        Ok(Interface { port: PortId(number), device: device.to_owned() })
    }
}

impl Args {
    /// What clap cannot see: a port or a device named twice.
    pub fn check(&self) -> Result<(), String> {
        for (index, this) in self.interfaces.iter().enumerate() {
            for earlier in &self.interfaces[..index] {
                if this.port == earlier.port {
                    return Err(format!(
                        "port {} is given twice: {} and {}",
                        this.port, earlier.device, this.device
                    ));
                }
                if this.device == earlier.device {
                    return Err(format!(
                        "device {} is given twice: ports {} and {}",
                        this.device, earlier.port, this.port
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn an_interface_is_a_port_and_a_device() {
        let interface: Interface = "3@s1-eth3".parse().expect("well-formed");
        assert_eq!(interface, Interface { port: PortId(3), device: "s1-eth3".to_owned() });
        for text in ["s1-eth1", "x@s1-eth1", "1@", "1@a@b", "512@s1-eth1", "-1@s1-eth1"] {
            assert!(text.parse::<Interface>().is_err(), "{text} must be refused");
        }
    }

    #[test]
    fn a_port_given_twice_is_refused() {
        let parse = |texts: &[&str]| {
            let pairs = texts.iter().flat_map(|text| ["-i", text]);
            Args::parse_from(std::iter::once("vitrine-switch").chain(pairs)).check()
        };
        assert!(parse(&["1@a", "2@b"]).is_ok());
        assert!(parse(&["1@a", "1@b"]).is_err_and(|e| e.contains("port 1")));
        assert!(parse(&["1@a", "2@a"]).is_err_and(|e| e.contains("device a")));
    }
}
