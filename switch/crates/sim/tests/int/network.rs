//! Three routers in virtual time, wired in a row, and what they record of every packet.
//!
//! ```text
//! h1 ---- 1 s1 2 ---- 1 s2 2 ---- 1 s3 2 ---- h2
//!           4           4  3        4
//!           |           |  h3       |
//!           +-- collector ----------+
//! ```
//!
//! Cables carry a frame in no time; lines, queues and clocks are the devices' own.

use std::collections::BTreeMap;
use std::path::Path;

use bits::Int;
use device::{Device, Event, Fate, Output, Watching};
use p4c::files::Files;
use pipeline::{CloneSession, Config, Entry, EntryAction, KeyMatch, Pipeline};
use traffic::{Limit, PortConfig, QueueConfig, StepKind};
use units::{ClassId, PortId, Rate, Time};

use super::report::{BITMAP, HOP_WORDS};

pub const FORWARD: PortId = PortId(2);
pub const COLLECTOR: PortId = PortId(4);
const REPORT_SESSION: u32 = 9;
const QUEUE_PACKETS: u64 = 20;

/// A packet at an edge of a router, with its bytes there.
pub struct Seen {
    pub at: Time,
    pub input: PortId,
    pub fate: Fate,
    pub bytes: Vec<u8>,
}

/// The depth behind a departure: of its queue, and of all queues of the router.
pub type Depths = BTreeMap<(PortId, Time), (u64, u64)>;

/// One router and its records.
pub struct Router {
    device: Device,
    pub node: u32,
    pub seen: Vec<Seen>,
    pub depths: Depths,
    held: BTreeMap<(PortId, ClassId), u64>,
}

impl Router {
    fn new(node: u32, program: &bmv2::Program, is_edge: bool) -> Router {
        let mut device = Device::new(Config::default());
        let port = |rate, packets| {
            let limit = Limit { packets, bytes: None };
            let queues = vec![QueueConfig { limit, ..QueueConfig::default() }; 2];
            PortConfig { queues, ..PortConfig::strict(Some(rate), 2) }
        };
        let mut ports = BTreeMap::new();
        for number in 1..=3 {
            ports.insert(PortId(number), port(Rate::from_mbps(100), Some(QUEUE_PACKETS)));
        }
        ports.insert(COLLECTOR, port(Rate::from_gbps(1), None));
        let config = traffic::Config { ports, ..traffic::Config::default() };
        device.configure(Time::ZERO, config).expect("valid");
        device.install(Box::new(programmed(program, node, is_edge)));
        device.mirror_drops(Some(REPORT_SESSION));
        device.capture(true);
        let queues = (1..=4).flat_map(|port| [0, 1].map(|class| (PortId(port), ClassId(class))));
        let watched = traffic::Watching { queues: queues.collect(), ..Default::default() };
        device.watch(Watching { traffic: watched, ..Watching::default() });
        Router { device, node, seen: Vec::new(), depths: Depths::new(), held: BTreeMap::new() }
    }

    /// Takes what the device recorded; each depth must follow from the one before.
    fn take_records(&mut self) {
        while let Some(captured) = self.device.poll_capture() {
            let device::Captured { at, input, fate, bytes } = captured;
            self.seen.push(Seen { at, input, fate, bytes });
        }
        while let Some(event) = self.device.poll_event() {
            let Event::Step(step) = event else { panic!("not watched: {event:?}") };
            let held = self.held.entry((step.output, step.class)).or_default();
            match step.kind {
                StepKind::Queued { .. } => *held += step.length.count(),
                StepKind::Departed { .. } | StepKind::Dropped { .. } => {
                    *held -= step.length.count();
                }
                StepKind::Crossing { .. } | StepKind::Filed => panic!("not watched: {step:?}"),
            }
            let depth = step.depth().expect("the queue was watched");
            assert_eq!(*held, depth.bytes.count(), "{step:?}");
            if matches!(step.kind, StepKind::Departed { .. }) {
                let depths = (*held, self.held.values().sum());
                assert_eq!(self.depths.insert((step.output, step.at), depths), None);
            }
        }
        assert_eq!(self.device.take_lost_event_count(), 0);
        assert!(self.device.balance());
    }
}

/// The routers, and what left them toward hosts and collector.
pub struct Network {
    pub routers: Vec<Router>,
    /// Frames at the far end, and at the collector.
    pub delivered: Vec<Vec<u8>>,
    pub reports: Vec<Vec<u8>>,
}

/// A frame that a host hands over.
#[derive(Clone, Debug)]
pub struct Handed {
    pub at: Time,
    pub router: usize,
    pub port: PortId,
    pub frame: Vec<u8>,
}

impl Network {
    /// Three routers that run the kit's telemetry program.
    pub fn new() -> Network {
        let program = compiled();
        let routers = (1..=3).map(|node| Router::new(node, &program, node == 3)).collect();
        Network { routers, delivered: Vec::new(), reports: Vec::new() }
    }

    /// Lets the hosts hand over their frames, and time pass until nothing is left inside.
    pub fn run(&mut self, handed: Vec<Handed>) {
        let mut inputs: BTreeMap<(Time, usize), Handed> = BTreeMap::new();
        for (index, frame) in handed.into_iter().enumerate() {
            inputs.insert((frame.at, index), frame);
        }
        let mut next_index = inputs.len();
        loop {
            let due = self.routers.iter().filter_map(|router| router.device.next_due());
            let arrival = inputs.keys().next().map(|(at, _)| *at);
            let Some(now) = due.chain(arrival).min() else { return };
            for index in 0..self.routers.len() {
                for frame in self.poll(index, now) {
                    inputs.insert((frame.at, next_index), frame);
                    next_index += 1;
                }
            }
            while let Some(entry) = inputs.first_entry().filter(|entry| entry.key().0 <= now) {
                let Handed { router, port, frame, .. } = entry.remove();
                self.routers[router].device.handle_frame(now, port, &frame);
            }
            self.routers.iter_mut().for_each(Router::take_records);
        }
    }

    /// The packets that leave a router by `now`; returns those that go to the next one.
    fn poll(&mut self, index: usize, now: Time) -> Vec<Handed> {
        let mut onward = Vec::new();
        while let Some(output) = self.routers[index].device.poll_output(now) {
            let Output::Transmit { at, port, frame } = output else { continue };
            let frame = frame.bytes().to_vec();
            if port == COLLECTOR {
                self.reports.push(frame);
            } else if index + 1 == self.routers.len() {
                self.delivered.push(frame);
            } else {
                onward.push(Handed { at, router: index + 1, port: PortId(1), frame });
            }
        }
        onward
    }
}

/// The program from its sources.
fn compiled() -> bmv2::Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src");
    let path = root.join("programs/int_router.p4").to_string_lossy().into_owned();
    let mut options = compiler::Options::default();
    let include = root.join("include").to_string_lossy().into_owned();
    options.preprocessor.include_directories.push(include);
    let output = compiler::compile(&Files, &path, &options);
    output.program.unwrap_or_else(|| panic!("{:?}", output.diagnostics))
}

/// The program with its tables filled: all packets leave by port 2, all UDP flows are watched.
fn programmed(program: &bmv2::Program, node: u32, is_edge: bool) -> Pipeline {
    let mut pipeline = Pipeline::new(program, &Config::default()).expect("loads");
    let session =
        CloneSession { port: Some(COLLECTOR), class: ClassId(0), ..CloneSession::default() };
    pipeline.replication.set_session(REPORT_SESSION, Some(session));
    let everything = u64::from(BITMAP) | 0x8000;
    let watch = "ingress.int_watchlist";
    let telemetry = "egress.int_telemetry";
    let report = format!("{telemetry}.int_report");
    let drops = format!("{telemetry}.int_drops");
    let defaults: [(&str, &str, &str, &[u64]); 4] = [
        (watch, "int_flows_ipv4", "start_int", &[1, everything, HOP_WORDS as u64, 5, 0]),
        (telemetry, "int_node", "set_node", &[u64::from(node), u64::from(REPORT_SESSION)]),
        (&report, "int_collector", "set_collector", &[1, 2, 3, 4, 32766, 256]),
        // One a microsecond and flow: frames of these lines are farther apart.
        (&drops, "int_drop_reports", "report_drops", &[1, 1]),
    ];
    for (control, table, action, data) in defaults {
        let (table, action) = (format!("{control}.{table}"), format!("{control}.{action}"));
        let (table, action) = called(&pipeline, &table, &action, data);
        pipeline.set_default_entry(table, Some(action)).expect("fits");
    }
    let everywhere = KeyMatch::Lpm { value: Int::from(0x0a00_0000_u64), length_bits: 8 };
    let hop = [u64::from(FORWARD.0), 0x0a00_0000_0001, 0x0a00_0000_0002];
    add(
        &mut pipeline,
        "ingress.routing.ipv4_routes",
        everywhere,
        "ingress.routing.set_next_hop",
        &hop,
    );
    let out = KeyMatch::Exact(Int::from(u64::from(FORWARD.0)));
    let control = format!("{telemetry}.int_hop");
    let table = format!("{control}.int_egress_ports");
    add(&mut pipeline, &table, out, &format!("{control}.set_port"), &[u64::from(is_edge), 1500]);
    pipeline
}

fn add(pipeline: &mut Pipeline, table: &str, key: KeyMatch, action: &str, data: &[u64]) {
    let (table, action) = called(pipeline, table, action, data);
    let entry = Entry { key: vec![key], priority: 0, action, idle_timeout: None };
    pipeline.insert_entry(table, entry, Time::ZERO).expect("fits");
}

fn called(pipeline: &Pipeline, table: &str, action: &str, data: &[u64]) -> (usize, EntryAction) {
    let index = pipeline.table_index(table).unwrap_or_else(|| panic!("no table {table}"));
    let named = pipeline.action_index(index, action);
    let action = named.unwrap_or_else(|| panic!("no action {action} of {table}"));
    let data = data.iter().map(|value| Int::from(*value)).collect();
    (index, EntryAction::Action { action, data })
}
