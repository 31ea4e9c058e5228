//! The flags of every bmv2 switch, in front of `--`.

use std::path::PathBuf;

use clap::Parser;
use service::publisher::Place;
use tracing::level_filters::LevelFilter;

use super::target::Target;
use crate::logging::{Logging, Sink, Style};
use crate::pipeline_form::PipelineForm;
use crate::settings::{DeviceUse, Interface, Settings, Spelling};

/// The newest version of the BMv2 JSON format that is read.
const JSON_VERSION: &str = "2.24";

/// Where simple_switch_CLI looks for a switch.
const THRIFT_PORT: u16 = 9090;

/// How much may wait behind a port in the kernel. Networks made for simple_switch limit their lines
/// behind it (Mininet's `bw=`), and their programs look for the queue in front: some thirty full
/// frames of it may hide there, which count about 2,300 bytes each. The original hides hundreds.
const BACKLOG_BYTES: usize = 64 << 10;

/// Scripts of that world send at the switch's own end of a cable, where libpcap hears them.
const DEVICES: DeviceUse = DeviceUse { backlog_bytes: Some(BACKLOG_BYTES), hears_this_end: true };

/// The flags in front of `--`.
#[derive(Debug, Parser)]
#[command(name = "simple_switch_grpc", disable_version_flag = true, infer_long_args = true)]
#[command(
    max_term_width = 80,
    about = "vitrine-switch in the place of simple_switch_grpc.

Flags of the switch itself come first; then `--`; then those about P4Runtime and ports."
)]
#[command(override_usage = "simple_switch_grpc [OPTIONS] [PROGRAM.json] [-- OPTIONS]")]
pub struct General {
    /// The compiled program: BMv2 JSON.
    #[arg(value_name = "PROGRAM.json")]
    program: Option<PathBuf>,

    /// Start without a program; a controller sends one.
    #[arg(long)]
    no_p4: bool,

    /// A port and the network device behind it, such as 1@s1-eth1.
    #[arg(short = 'i', long = "interface", value_name = "PORT@DEVICE")]
    interfaces: Vec<Interface>,

    /// The number by which controllers address this switch.
    #[arg(long, value_name = "ID", default_value_t = 0)]
    device_id: u64,

    /// Write DEVICE_in.pcap and DEVICE_out.pcap for every port, here or in FOLDER.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    pcap: Option<PathBuf>,

    /// Log to standard output.
    #[arg(long, conflicts_with = "log_file")]
    log_console: bool,

    /// Log to FILE.txt.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,

    /// The log level: trace (each step of each packet), debug, info, warn, error or off.
    #[arg(short = 'L', long, value_name = "LEVEL", default_value = "trace")]
    log_level: LevelFilter,

    /// Accepted: each line is in the file as soon as it is written anyway.
    #[arg(long)]
    log_flush: bool,

    /// Begin a new log file at this size.
    #[arg(long, value_name = "BYTES", default_value_t = 5 << 20,
          value_parser = clap::value_parser!(u64).range(1..))]
    log_file_max_size: u64,

    /// How many older log files are kept: FILE.1.txt is the newest of them.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    log_file_max_files: u32,

    /// Log this many bytes of every frame that comes or goes, at level info.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    dump_packet_data: usize,

    /// Accepted and not needed: there is no limit on the number of ports but P4's own.
    #[arg(long, value_name = "NUMBER")]
    max_port_count: Option<u32>,

    /// Serve bmv2's runtime interface, which simple_switch_CLI speaks, at this port of 127.0.0.1.
    /// simple_switch serves it at 9090 unless another is given.
    #[arg(long, value_name = "PORT")]
    thrift_port: Option<u16>,

    /// Where the steps of packets are published for clients of bmv2's event logger, as nanomsg
    /// does: ipc:///path or tcp://host:port. Packets are followed only while a client listens.
    #[arg(long, value_name = "ADDRESS")]
    nanolog: Option<Place>,

    /// Where digests are published for clients of that interface, as nanomsg does: ipc:///path or
    /// tcp://host:port. By default ipc:///tmp/bmv2-<device id>-notifications.ipc; if another user has
    /// that name, one with the process's number, which clients ask the switch for.
    #[arg(long, value_name = "ADDRESS")]
    notifications_addr: Option<Place>,

    /// Accepted without effect: there is no debugger.
    #[arg(long)]
    debugger: bool,

    /// Accepted without effect: there is no debugger.
    #[arg(long, value_name = "ADDRESS")]
    debugger_addr: Option<String>,

    /// Refused: packets come from network devices. `vitrine-sim` runs packet files.
    #[arg(long, value_name = "SECONDS")]
    use_files: Option<u64>,

    /// Refused: there are no nanomsg sockets.
    #[arg(long, value_name = "ADDRESS")]
    packet_in: Option<String>,

    /// Refused: a controller writes the state it wants.
    #[arg(long, value_name = "FILE")]
    restore_state: Option<PathBuf>,

    /// Print the version.
    #[arg(short = 'v', long)]
    version: bool,

    /// Print the newest version of BMv2 JSON that is read.
    #[arg(long)]
    json_version: bool,
}

impl General {
    /// The answer to a question about the switch, if there is one.
    pub fn answer(&self, spelling: Spelling) -> Option<String> {
        if self.version {
            return Some(format!(
                "vitrine-switch {} in the place of {}\n",
                env!("CARGO_PKG_VERSION"),
                spelling.program()
            ));
        }
        self.json_version.then(|| format!("{JSON_VERSION}\n"))
    }

    /// simple_switch has no other interface, so its users name no port for this one.
    pub fn with_defaults_of(mut self, spelling: Spelling) -> Self {
        let usual = (spelling == Spelling::SimpleSwitch).then_some(THRIFT_PORT);
        self.thrift_port = self.thrift_port.or(usual);
        self
    }

    /// The address at which digests are published, for Thrift clients only.
    fn notifications(&self) -> Option<Place> {
        let path = format!("/tmp/bmv2-{}-notifications.ipc", self.device_id);
        let usual = || Place::IpcNear(path.into());
        self.thrift_port?;
        Some(self.notifications_addr.clone().unwrap_or_else(usual))
    }

    /// Both halves of the command line together.
    pub fn with(self, target: Target, spelling: Spelling) -> Result<Settings, String> {
        let notifications = self.refuse_what_cannot_be_done().map(|()| self.notifications())?;
        let program = match self.program {
            program @ Some(_) if !self.no_p4 => program,
            None if !self.no_p4 => {
                return Err("name the program's BMv2 JSON, or say --no-p4 to wait for a \
                            controller's"
                    .to_owned());
            }
            _ => None,
        };
        let mut notes = Vec::new();
        let mut note = |flag: &str, is_given: bool, why: &str| {
            if is_given {
                notes.push(format!("{flag} has no effect: {why}"));
            }
        };
        let is_idle = self.notifications_addr.is_some() && notifications.is_none();
        note("--notifications-addr", is_idle, "only clients of --thrift-port hear of digests");
        let debugs = self.debugger || self.debugger_addr.is_some();
        note("--debugger", debugs, "the log at level trace has each step of each packet");
        // Without a log there still are the lines that say what was started.
        let is_wanted = self.log_console || self.log_file.is_some();
        let least = if is_wanted { LevelFilter::TRACE } else { LevelFilter::INFO };
        let logging = Logging {
            level: self.log_level.min(least),
            // At level info there is what a program says with log_msg.
            follows_packets: is_wanted && self.log_level >= LevelFilter::INFO,
            sink: match self.log_file {
                None => Sink::Stdout,
                Some(path) => Sink::File {
                    path,
                    size_bytes_max: self.log_file_max_size,
                    count_max: self.log_file_max_files,
                },
            },
            style: Style::Bmv2,
        };
        let tls = target.tls(&mut notes)?;
        let grpc_address = target.address(spelling, tls.is_some(), &mut notes);
        Ok(Settings {
            spelling,
            program,
            interfaces: self.interfaces,
            device_id: self.device_id,
            grpc_address,
            insecure: target.insecure,
            // Those are added through our own service, which the original's scripts do not know.
            later_ports: Vec::new(),
            tls,
            thrift_port: self.thrift_port,
            notifications,
            events: self.nanolog,
            cpu_port: target.cpu_port,
            drop_port: target.drop_port,
            port_rate: None,
            class_count: target.priority_queues,
            devices: DEVICES,
            memory: None,
            packet_memory: None,
            seed: 0,
            pipeline: PipelineForm::Native,
            pcap: self.pcap,
            capture: None,
            dump_bytes: self.dump_packet_data,
            user: None,
            logging,
            notes,
        })
    }

    fn refuse_what_cannot_be_done(&self) -> Result<(), String> {
        if self.use_files.is_some() {
            return Err("--use-files: packets come from network devices here; `vitrine-sim stf` \
                        runs packet files without any"
                .to_owned());
        }
        if self.packet_in.is_some() {
            return Err("--packet-in: there are no nanomsg sockets here; give ports with -i, or \
                        use P4Runtime's packet-out with -- --cpu-port"
                .to_owned());
        }
        if self.restore_state.is_some() {
            return Err(
                "--restore-state: there are no state files here; let the controller write \
                        the tables again"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
