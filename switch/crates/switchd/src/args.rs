//! The command line of `vitrine-switch`.

use std::path::PathBuf;

use clap::Parser;
use service::address::Address;
use service::publisher::Place;
use tracing::level_filters::LevelFilter;
use units::{Bytes, PortId, Rate};

use crate::logging::{Logging, Sink, Style};
use crate::memory::MEMORY_MIN;
use crate::pattern::Pattern;
use crate::pipeline_form::PipelineForm;
use crate::settings::{DeviceUse, Interface, Settings, Spelling, TlsFiles, parse_port};

/// The flags.
#[derive(Debug, Parser)]
#[command(name = "vitrine-switch", version, max_term_width = 80)]
#[command(about = "A P4-programmable switch whose queues can be configured and seen.

Ports are Linux network devices. A controller loads the program and writes its tables through \
P4Runtime; queues and rates are set and read through the service vitrine.v1.Router on the same \
port.")]
#[command(after_help = "\
Example:
  vitrine-switch -i 1@s1-eth1 -i 2@s1-eth2 --port-rate \"10 Mb/s\" router.json

Called simple_switch_grpc, as in build/dropin, the program takes that switch's flags instead. \
docs/switch.md says more.")]
pub struct Args {
    /// BMv2 JSON to start with; a controller may replace it.
    #[arg(value_name = "PROGRAM.json", conflicts_with = "no_p4")]
    pub program: Option<PathBuf>,

    /// Start without a program: packets are dropped until a controller sends one.
    #[arg(long)]
    pub no_p4: bool,

    /// A port: its number in P4 and the network device behind it, such as 1@s1-eth1.
    #[arg(short = 'i', long = "interface", value_name = "PORT@DEVICE", help_heading = "Ports")]
    pub interfaces: Vec<Interface>,

    /// Devices that controllers may add as ports later, besides those of -i: names in which * stands
    /// for any letters and ? for one, such as s1-eth*.
    #[arg(long, value_name = "PATTERN", help_heading = "Ports")]
    pub later_ports: Vec<Pattern>,

    /// The port whose frames go to the controller as packet-in, and come from it.
    #[arg(long, value_name = "PORT", value_parser = parse_port, help_heading = "Ports")]
    pub cpu_port: Option<PortId>,

    /// The port number that means "drop" in `egress_spec`.
    #[arg(long, value_name = "PORT", default_value = "511", value_parser = parse_port,
          help_heading = "Ports")]
    pub drop_port: PortId,

    /// The line rate of every port at the start, such as "10 Mb/s"; without it, unlimited.
    #[arg(long, value_name = "RATE", help_heading = "Ports")]
    pub port_rate: Option<Rate>,

    /// How many queues (classes) a port has at the start.
    #[arg(long, value_name = "1..8", default_value_t = 8, help_heading = "Ports",
          value_parser = clap::value_parser!(u8).range(1..=8))]
    pub priority_queues: u8,

    /// Where P4Runtime and vitrine.v1 are served: ADDRESS:PORT, or unix:FILE for a socket that
    /// only its owner and root can use.
    #[arg(
        long = "grpc",
        alias = "grpc-server-addr",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:9559",
        help_heading = "Control"
    )]
    pub grpc_address: Address,

    /// Listen without TLS at an address that other machines reach: every machine that reaches it
    /// controls the switch.
    #[arg(long, help_heading = "Control")]
    pub insecure: bool,

    /// Serve bmv2's runtime interface, which simple_switch_CLI speaks, at this port of 127.0.0.1.
    #[arg(long, value_name = "PORT", help_heading = "Control")]
    pub thrift_port: Option<u16>,

    /// Publish digests for its clients at this address, ipc:///path or tcp://host:port, as nanomsg
    /// does.
    #[arg(long, value_name = "ADDRESS", requires = "thrift_port", help_heading = "Control")]
    pub notifications_addr: Option<Place>,

    /// The number by which P4Runtime controllers address this switch.
    #[arg(long, value_name = "ID", default_value_t = 0, help_heading = "Control")]
    pub device_id: u64,

    /// Serve over TLS with this certificate (PEM, with its signers').
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Control")]
    pub tls_cert: Option<PathBuf>,

    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Control")]
    pub tls_key: Option<PathBuf>,

    /// Only controllers whose certificate this authority (PEM) has signed may connect.
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Control")]
    pub tls_client_ca: Option<PathBuf>,

    /// Become this user at once; of root's rights only that to packet sockets is kept.
    #[arg(long, value_name = "NAME", help_heading = "Process")]
    pub user: Option<String>,

    /// The most memory that clients and programs may use together, in MiB: packets, programs,
    /// entries, requests, answers. Requests beyond it are refused with the part that is full;
    /// --limits shows the parts. [default: half of the machine's or of the control group's]
    #[arg(long, value_name = "MIB", help_heading = "Process",
          value_parser = clap::value_parser!(u64).range(MEMORY_MIN.0 >> 20..=1 << 20))]
    pub memory: Option<u64>,

    /// The part of it for packets in queues and on lines, in MiB; what does not fit is dropped, and
    /// counted as packet_memory. [default: a quarter, at most 512]
    #[arg(long, value_name = "MIB", help_heading = "Process",
          value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub packet_memory: Option<u64>,

    /// The seed of everything that is random: AQM, loss, P4's random().
    #[arg(long, value_name = "NUMBER", default_value_t = 0, help_heading = "Process")]
    pub seed: u64,

    /// How programs run: compiled to machine code, or interpreted, with the same results. Parts
    /// that cannot be compiled are interpreted, and a warning says so.
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        default_value = "native",
        help_heading = "Process"
    )]
    pub pipeline: PipelineForm,

    /// Write what every port receives and sends to DEVICE_in.pcap and DEVICE_out.pcap.
    #[arg(long, value_name = "FOLDER", help_heading = "What is seen")]
    pub pcap: Option<PathBuf>,

    /// Write every packet, dropped ones included, with port, queue and verdict to a pcapng file.
    #[arg(long, value_name = "FILE", help_heading = "What is seen")]
    pub capture: Option<PathBuf>,

    /// The messages on standard error: off, error, warn, info, debug (steps of each packet) or
    /// trace (and the values of fields).
    #[arg(long, value_name = "LEVEL", default_value = "info", help_heading = "What is seen")]
    pub log_level: LevelFilter,

    /// Print what the switch is bounded by, and end.
    #[arg(long, help_heading = "What is seen")]
    pub limits: bool,
}

impl From<Args> for Settings {
    fn from(args: Args) -> Settings {
        let tls = args.tls_cert.zip(args.tls_key).map(|(certificate, key)| TlsFiles {
            certificate,
            key,
            client_ca: args.tls_client_ca,
        });
        Settings {
            spelling: Spelling::Vitrine,
            program: args.program,
            interfaces: args.interfaces,
            device_id: args.device_id,
            grpc_address: args.grpc_address,
            insecure: args.insecure,
            later_ports: args.later_ports,
            tls,
            thrift_port: args.thrift_port,
            notifications: args.notifications_addr,
            events: None,
            cpu_port: args.cpu_port,
            drop_port: args.drop_port,
            port_rate: args.port_rate,
            class_count: args.priority_queues,
            // Rates are the router's own here; the kernel's buffer only helps when we are late.
            devices: DeviceUse::default(),
            memory: args.memory.map(|mebibytes| Bytes(mebibytes << 20)),
            packet_memory: args.packet_memory.map(|mebibytes| Bytes(mebibytes << 20)),
            seed: args.seed,
            pipeline: args.pipeline,
            pcap: args.pcap,
            capture: args.capture,
            dump_bytes: 0,
            user: args.user,
            logging: Logging {
                level: args.log_level,
                follows_packets: args.log_level >= LevelFilter::DEBUG,
                sink: Sink::Stderr,
                style: Style::Structured,
            },
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(flags: &[&str]) -> Result<(), String> {
        let line = std::iter::once("vitrine-switch").chain(flags.iter().copied());
        Settings::from(Args::parse_from(line)).check()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_help_fits_a_terminal_of_80_columns() {
        let help = Args::command().render_help().to_string();
        let long = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None);
    }

    #[test]
    fn a_port_given_twice_is_refused() {
        assert_eq!(check(&["-i", "1@a", "-i", "2@b"]), Ok(()));
        assert!(check(&["-i", "1@a", "-i", "1@b"]).is_err_and(|e| e.contains("port 1")));
        assert!(check(&["-i", "1@a", "-i", "2@a"]).is_err_and(|e| e.contains("device a")));
    }

    #[test]
    fn a_device_on_the_cpu_port_or_the_drop_port_is_refused() {
        let refused = check(&["-i", "510@a", "--cpu-port", "510"]);
        assert!(refused.is_err_and(|e| e.contains("CPU port")));
        let refused = check(&["-i", "511@a"]);
        assert!(refused.is_err_and(|e| e.contains("--drop-port")));
        assert_eq!(check(&["-i", "511@a", "--drop-port", "510"]), Ok(()));
    }

    #[test]
    fn a_certificate_without_its_key_is_refused() {
        let parse = |flags: &[&str]| Args::try_parse_from(flags).map(|_| ());
        let refused = parse(&["vitrine-switch", "--tls-cert", "a.pem"]).expect_err("no key");
        assert!(refused.to_string().contains("--tls-key"), "{refused}");
    }
}
