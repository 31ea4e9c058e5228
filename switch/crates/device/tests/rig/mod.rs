//! A device that runs `orders.p4`, and a driver that keeps to the contract.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use compiler::{Options, SourceError, SourceProvider, compile};
use device::{Change, Device, LinkConfig, Output, SenderConfig, SenderRate};
use pipeline::{CloneSession, Config, Node, Pipeline};
use traffic::PortConfig;
use units::{ClassId, PortId, Rate, Time};

/// The commands of an order; the numbers are those of `orders.p4`.
pub mod order {
    pub const FORWARD: u8 = 0;
    pub const DROP: u8 = 1;
    pub const MULTICAST: u8 = 2;
    pub const CLONE: u8 = 3;
    pub const RESUBMIT_ONCE: u8 = 4;
    pub const RECIRCULATE_ONCE: u8 = 5;
    pub const DROP_IN_EGRESS: u8 = 6;
    pub const CLONE_IN_EGRESS: u8 = 7;
    pub const DIGEST: u8 = 8;
    pub const RESUBMIT_FOREVER: u8 = 9;
    pub const SHORTEN: u8 = 10;
    pub const CLONE_FOREVER: u8 = 11;
    pub const MULTIPLY: u8 = 12;
    pub const TELL_UTILISATION: u8 = 13;
    pub const COUNT: u8 = 14;
}

/// Multicast group 1 has ports 1, 2 and 3; group 2 does not exist.
pub const GROUP: u8 = 1;

struct Texts;

impl SourceProvider for Texts {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match path.rsplit('/').next() {
            Some("core.p4") => Ok(include_str!("../../../../../p4src/include/core.p4").to_owned()),
            Some("v1model.p4") => {
                Ok(include_str!("../../../../../p4src/include/v1model.p4").to_owned())
            }
            Some("vitrine.p4") => {
                Ok(include_str!("../../../../../p4src/include/vitrine.p4").to_owned())
            }
            Some("queue_reads.p4") => Ok(include_str!("../queue_reads.p4").to_owned()),
            Some("orders.p4") => Ok(include_str!("../orders.p4").to_owned()),
            _ => Err(SourceError::NotFound),
        }
    }
}

/// The loaded program, with its multicast group and its clone session to port 3.
pub fn pipeline() -> Box<Pipeline> {
    let mut pipeline = load("orders.p4");
    let nodes = [1, 2, 3].map(|port| Node { rid: 0, ports: vec![PortId(port)], lags: vec![] });
    pipeline.replication.set_group(GROUP.into(), Some(nodes.to_vec()));
    let session =
        CloneSession { port: Some(PortId(3)), class: ClassId(0), ..CloneSession::default() };
    pipeline.replication.set_session(1, Some(session));
    Box::new(pipeline)
}

/// A program of this folder.
pub fn load(name: &str) -> Pipeline {
    let mut options = Options::default();
    options.preprocessor.include_directories.push("include".to_owned());
    let output = compile(&Texts, name, &options);
    let program = output.program.unwrap_or_else(|| panic!("{:?}", output.diagnostics));
    Pipeline::new(&program, &Config::default()).expect("loads")
}

/// A device with ports 1 to 3 of this rate, two classes each. Frames have arrived when handed over.
pub fn device(rate: Option<Rate>) -> Device {
    let sender = SenderConfig { rate: SenderRate::Unlimited, ..SenderConfig::default() };
    device_with(rate, LinkConfig { sender, ..LinkConfig::default() })
}

/// A device with ports 1 to 3 of this rate, two classes each, and such a cable at each.
pub fn device_with(rate: Option<Rate>, link: LinkConfig) -> Device {
    let mut device = Device::new(Config::default());
    let mut change = Change::default();
    for port in (1..=3).map(PortId) {
        change.traffic.ports.insert(port, Some(PortConfig::strict(rate, 2)));
        change.links.insert(port, link.clone());
    }
    device.change(Time::ZERO, change).expect("valid");
    device.install(pipeline());
    device
}

/// A frame that carries an order.
pub fn frame(what: u8, port: u8, class: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![what, port, class];
    bytes.resize(size, 0);
    bytes
}

/// A device's events, without the packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Digest { at: Time, list: u32 },
    Sent { at: Time, port: PortId, frame: Vec<u8> },
}

impl Said {
    pub fn at(&self) -> Time {
        match self {
            Said::Digest { at, .. } | Said::Sent { at, .. } => *at,
        }
    }
}

/// Everything due by `now`.
pub fn poll(device: &mut Device, now: Time) -> Vec<Said> {
    let mut said = Vec::new();
    while let Some(output) = device.poll_output(now) {
        said.push(match output {
            Output::Digest { at, list, .. } => Said::Digest { at, list },
            Output::Transmit { at, port, frame } => {
                let bytes = frame.bytes().to_vec();
                device.recycle(frame);
                Said::Sent { at, port, frame: bytes }
            }
        });
    }
    said
}
