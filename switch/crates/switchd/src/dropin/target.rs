//! The flags of simple_switch_grpc and psa_switch themselves, behind `--`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use clap::Parser;
use service::address::Address;
use units::PortId;

use crate::settings::{Spelling, TlsFiles, parse_port};

/// The flags behind `--`.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true, infer_long_args = true, max_term_width = 80)]
#[command(about = None, long_about = None)]
#[command(help_template = "{all-args}")]
pub struct Target {
    /// Where P4Runtime is served.
    /// Without TLS, 0.0.0.0 means this machine: 127.0.0.1. [default: 127.0.0.1:9559]
    #[arg(long, value_name = "ADDRESS:PORT")]
    grpc_server_addr: Option<Address>,

    /// Ours: listen where other machines reach it, without TLS. Every one that does controls the
    /// switch.
    #[arg(long)]
    pub insecure: bool,

    /// The port whose frames go to the controller as packet-in, and come from it.
    #[arg(long, value_name = "PORT", value_parser = parse_cpu_port)]
    pub cpu_port: Option<PortId>,

    /// The port number that means "drop".
    #[arg(long, value_name = "PORT", default_value = "511", value_parser = parse_port)]
    pub drop_port: PortId,

    /// How many queues a port has.
    #[arg(long, value_name = "1..8", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=8))]
    pub priority_queues: u8,

    /// Serve over TLS.
    #[arg(long)]
    grpc_server_ssl: bool,

    /// The server's certificate (PEM).
    #[arg(long, value_name = "FILE")]
    grpc_server_cert: Option<PathBuf>,

    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE")]
    grpc_server_key: Option<PathBuf>,

    /// The required signer of the certificates of clients (PEM).
    #[arg(long, value_name = "FILE")]
    grpc_server_cacert: Option<PathBuf>,

    /// Clients must have a certificate.
    #[arg(long)]
    grpc_server_with_client_auth: bool,

    /// Accepted and not needed: a new program takes over between two packets.
    #[arg(long)]
    disable_swap: bool,

    /// Accepted and not needed, as --disable-swap: programs can always be replaced.
    #[arg(long)]
    enable_swap: bool,

    /// Accepted and not needed: groups take memory as they are written.
    #[arg(long, value_name = "NUMBER")]
    max_mc_groups: Option<u32>,

    /// Accepted and not needed, as --max-mc-groups.
    #[arg(long, value_name = "NUMBER")]
    max_l1_entries: Option<u32>,

    /// Accepted and not needed, as --max-mc-groups.
    #[arg(long, value_name = "NUMBER")]
    max_l2_entries: Option<u32>,

    /// Refused: packets come from network devices.
    #[arg(long, value_name = "ADDRESS:PORT")]
    dp_grpc_server_addr: Option<String>,

    /// Refused: externs are part of the switch.
    #[arg(long, value_name = "FILES")]
    load_modules: Option<String>,
}

/// The original takes 0 for "none given".
fn parse_cpu_port(text: &str) -> Result<PortId, String> {
    match parse_port(text)? {
        PortId(0) => Err("0 cannot be the CPU port".to_owned()),
        port => Ok(port),
    }
}

impl Target {
    /// Where to listen. Scripts for the original say 0.0.0.0 and mean their own machine; all others
    /// are let in with TLS only, or on request.
    ///
    /// Without the flag psa_switch and simple_switch take any free port: the second's clients do
    /// not use P4Runtime, and the first is started many times side by side by tests that know
    /// Thrift only.
    pub fn address(&self, spelling: Spelling, has_tls: bool, notes: &mut Vec<String>) -> Address {
        let port = if spelling == Spelling::SimpleSwitchGrpc { 9559 } else { 0 };
        let near = || Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let asked = self.grpc_server_addr.clone().filter(|_| spelling.is_of_pi());
        match asked.unwrap_or_else(near) {
            Address::Tcp(address)
                if address.ip().is_unspecified() && !has_tls && !self.insecure =>
            {
                let mut near = address;
                near.set_ip(match address {
                    address if address.is_ipv4() => IpAddr::V4(Ipv4Addr::LOCALHOST),
                    _ => IpAddr::V6(Ipv6Addr::LOCALHOST),
                });
                notes.push(format!(
                    "{address} is served on this machine only, at {near}: TLS \
                     (--grpc-server-ssl) or --insecure, behind `--`, lets other machines in"
                ));
                Address::Tcp(near)
            }
            address => address,
        }
    }

    /// The certificates; what they are not used for goes to `notes`.
    pub fn tls(&self, notes: &mut Vec<String>) -> Result<Option<TlsFiles>, String> {
        if self.dp_grpc_server_addr.is_some() {
            return Err("--dp-grpc-server-addr: packets come from network devices here; give \
                        ports with -i, or use P4Runtime's packet-out with --cpu-port"
                .to_owned());
        }
        if self.load_modules.is_some() {
            return Err("--load-modules: shared objects of bmv2 cannot be loaded here".to_owned());
        }
        let files = [&self.grpc_server_cert, &self.grpc_server_key, &self.grpc_server_cacert];
        if !self.grpc_server_ssl {
            if files.iter().any(|file| file.is_some()) || self.grpc_server_with_client_auth {
                notes.push(
                    "certificates have no effect: --grpc-server-ssl is missing, so P4Runtime is \
                     served in plain text"
                        .to_owned(),
                );
            }
            return Ok(None);
        }
        let needed = |file: &Option<PathBuf>, flag: &str| {
            file.clone().ok_or_else(|| format!("--grpc-server-ssl needs {flag} FILE"))
        };
        let client_ca = if self.grpc_server_with_client_auth {
            let missing = "--grpc-server-with-client-auth needs --grpc-server-cacert FILE to know \
                           whom to trust";
            Some(self.grpc_server_cacert.clone().ok_or(missing)?)
        } else {
            None
        };
        Ok(Some(TlsFiles {
            certificate: needed(&self.grpc_server_cert, "--grpc-server-cert")?,
            key: needed(&self.grpc_server_key, "--grpc-server-key")?,
            client_ca,
        }))
    }
}
