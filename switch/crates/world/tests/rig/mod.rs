//! Hosts of a few lines, routers with a program, and how to write frames for them.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub mod dumbbell;
pub mod scenario;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::OnceLock;

use compiler::{Options, SourceError, SourceProvider, compile};
use device::{Change, Device, Frame, LinkConfig};
use frames::Pool;
use pipeline::{CloneSession, Config, Node, Pipeline};
use traffic::PortConfig;
use units::{ClassId, PortId, Time};
use world::Host;

/// The port of controllers.
pub const CPU_PORT: PortId = PortId(510);

// ---- hosts -------------------------------------------------------------------------------------

/// A host's answer to a frame, if any.
pub type Answer = fn(&[u8]) -> Option<Vec<u8>>;

/// A host that sends given frames, and keeps those that arrive.
#[derive(Clone, Debug, Default)]
pub struct Notebook {
    /// In order of time.
    to_send: VecDeque<(Time, Vec<u8>)>,
    /// The frames that came, and when.
    pub seen: Vec<(Time, Vec<u8>)>,
    /// Its answer to a frame, to be sent at once.
    answer: Option<Answer>,
}

impl Notebook {
    /// A host that sends each of these frames at its instant.
    pub fn sending(mut frames: Vec<(Time, Vec<u8>)>) -> Notebook {
        frames.sort_by_key(|(at, _)| *at);
        Notebook { to_send: frames.into(), ..Notebook::default() }
    }

    /// A host that answers each frame at once, if `answer` has one.
    pub fn answering(answer: Answer) -> Notebook {
        Notebook { answer: Some(answer), ..Notebook::default() }
    }

    /// Lets the host answer from now on.
    pub fn set_answer(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    /// When frames came.
    pub fn instants(&self) -> Vec<Time> {
        self.seen.iter().map(|(at, _)| *at).collect()
    }
}

impl Host for Notebook {
    fn handle_frame(&mut self, now: Time, _: PortId, frame: Frame, frames: &mut Pool) {
        if let Some(answer) = self.answer.and_then(|answer| answer(frame.bytes())) {
            let place = self.to_send.partition_point(|(at, _)| *at <= now);
            self.to_send.insert(place, (now, answer));
        }
        self.seen.push((now, frame.bytes().to_vec()));
        frames.recycle(frame);
    }

    fn handle_time(&mut self, _: Time) {}

    fn poll_transmit(&mut self, now: Time, frames: &mut Pool) -> Option<(PortId, Frame)> {
        let (_, bytes) = self.to_send.pop_front_if(|(at, _)| *at <= now)?;
        Some((PortId(0), frames.frame_of([&bytes, &[]])))
    }

    fn next_due(&self) -> Option<Time> {
        self.to_send.front().map(|(at, _)| *at)
    }

    fn balances(&self, received: u64, _: u64) -> bool {
        self.seen.len() as u64 == received
    }
}

// ---- routers -----------------------------------------------------------------------------------

/// A port and the cable that it emulates.
pub type Port = (PortConfig, LinkConfig);

/// A router with these ports and this program.
pub fn router(
    seed: u64,
    ports: impl IntoIterator<Item = (u16, Port)>,
    program: impl FnOnce(Config) -> Pipeline,
) -> Device {
    let mut device = Device::new(Config { seed, ..Config::default() });
    device.change(Time::ZERO, change(ports)).expect("the ports are valid");
    let program = program(device.program_config());
    device.install(Box::new(program));
    device
}

/// Gives these ports to a router, or changes them.
pub fn change(ports: impl IntoIterator<Item = (u16, Port)>) -> Change {
    let mut change = Change::default();
    for (number, (port, link)) in ports {
        change.traffic.ports.insert(PortId(number), Some(port));
        change.links.insert(PortId(number), link);
    }
    change
}

/// The kit's router, without routes.
pub fn router_p4(config: Config) -> Pipeline {
    static PROGRAM: OnceLock<bmv2::Program> = OnceLock::new();
    loaded(&PROGRAM, "router", config)
}

/// The kit's router with INT, which marks nothing.
pub fn int_router_p4(config: Config) -> Pipeline {
    static PROGRAM: OnceLock<bmv2::Program> = OnceLock::new();
    loaded(&PROGRAM, "int_router", config)
}

/// The kit's router with load balancing, with nothing to choose from.
pub fn balancing_router_p4(config: Config) -> Pipeline {
    static PROGRAM: OnceLock<bmv2::Program> = OnceLock::new();
    loaded(&PROGRAM, "balancing_router", config)
}

fn loaded(place: &OnceLock<bmv2::Program>, name: &str, config: Config) -> Pipeline {
    let program = place.get_or_init(|| compiled(&format!("p4src/programs/{name}.p4")));
    Pipeline::new(program, &config).expect("the router loads")
}

/// A router that obeys each packet's list of orders. Multicast goes to ports 1 to 3, clones go to
/// port 2.
pub fn source_routes(config: Config) -> Pipeline {
    static PROGRAM: OnceLock<bmv2::Program> = OnceLock::new();
    let path = "switch/crates/world/tests/rig/source_routes.p4";
    let program = PROGRAM.get_or_init(|| compiled(path));
    let mut pipeline = Pipeline::new(program, &config).expect("the program loads");
    let nodes = [1, 2, 3].map(|port| Node { rid: 0, ports: vec![PortId(port)], lags: vec![] });
    pipeline.replication.set_group(1, Some(nodes.to_vec()));
    let session =
        CloneSession { port: Some(PortId(2)), class: ClassId(0), ..CloneSession::default() };
    pipeline.replication.set_session(1, Some(session));
    pipeline
}

/// Orders of `source_routes.p4`.
pub mod order {
    pub const FORWARD: u8 = 0;
    pub const DIGEST: u8 = 7;
    pub const COUNT: u8 = 8;
}

/// A frame with these orders `(what, port, class)` and this many bytes behind them.
pub fn orders(orders: &[(u8, u8, u8)], payload: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        orders.iter().flat_map(|(what, port, class)| [*what, *port, *class, 0]).collect();
    bytes.resize(bytes.len() + payload, 0);
    bytes
}

struct Repository;

impl SourceProvider for Repository {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        std::fs::read_to_string(root.join(path)).map_err(|_| SourceError::NotFound)
    }
}

fn compiled(path: &str) -> bmv2::Program {
    let mut options = Options::default();
    options.preprocessor.include_directories.push("p4src/include".to_owned());
    let output = compile(&Repository, path, &options);
    output.program.unwrap_or_else(|| panic!("{path}: {:?}", output.diagnostics))
}
