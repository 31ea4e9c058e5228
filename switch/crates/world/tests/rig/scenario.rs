//! Whole networks drawn by dice: routers in a tree with perhaps a second way, each with one of the
//! kit's programs and perhaps an input stage or a shared buffer, hosts with all kinds of applications
//! over IPv4 and IPv6, cables that lose, reorder, double and damage, and faults. A seed says everything.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chance::{Chance, Probability};
use device::{Device, LinkConfig};
use hosts::{
    AppId, Bulk, BulkConfig, DatagramSink, DatagramSource, DatagramSourceConfig, Endpoint, Host,
    Listener, ListenerConfig, Pace, Page, PageConfig, Ping, PingConfig, Report, Service,
    TcpSettings, Until,
};
use pipeline::{Config, Pipeline};
use traffic::{
    AqmConfig, ArbiterConfig, BufferConfig, FullOutput, Impairment, InputConfig, InputQueueing,
    Jitter, Limit, Loss, PortConfig,
};
use units::{Bytes, PortId, Rate, Ratio, Span, Time};
use wire::MacAddress;
use world::NodeId;
use world::network::{
    Address, CPU_PORT, EndSpec, HostSpec, LinkSpec, Makers, Network, PortSpec, Route, RouterSpec,
    Topology, fill_router, host,
};

use super::{balancing_router_p4, change, int_router_p4, router_p4};

type Program = fn(Config) -> Pipeline;

/// The programs that a router may run: those with the tables of the kit's router.
const PROGRAMS: [Program; 3] = [router_p4, int_router_p4, balancing_router_p4];

/// The ports for bulk transfers, pages and datagrams at every host.
const BULK_PORT: u16 = 5001;
const PAGE_PORT: u16 = 80;
const DATAGRAM_PORT: u16 = 9;
/// All faults are over by then.
const MENDED_AT: Time = Time::from_ps(8_000_000_000_000);
/// Whatever was begun has ended by then: timeouts that were doubled as often as they could be while
/// cables were cut, included.
const END: Time = Time::from_ps(400_000_000_000_000);

/// An action on a network while it runs.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Cut(usize),
    Mend(usize),
    /// The router starts again, as it was made.
    Restart(usize),
    /// The router gets a program, while packets are in it.
    Reload(usize, Program),
}

/// A network and what is to happen in it.
pub struct Scenario {
    pub network: Network<Host>,
    seed: u64,
    routes: BTreeMap<String, Vec<Route>>,
    /// The program of each router, by its place.
    programs: Vec<Program>,
    faults: Vec<(Time, Fault)>,
    /// Bulk transfers: whose, which application, how many bytes, whereto.
    transfers: Vec<(NodeId, AppId, u64, NodeId)>,
}

impl Scenario {
    /// The network of this seed, in which nothing has happened yet.
    pub fn new(seed: u64) -> Scenario {
        let mut dice = Chance::new(seed, "scenario");
        let topology = topology(&mut dice);
        let routes = topology.routes();
        let programs: Vec<Program> =
            topology.routers.iter().map(|_| drawn(&PROGRAMS, &mut dice)).collect();
        let makers = Makers {
            host: &mut host,
            program: &mut |router, config| {
                let program = programs[router.device_id as usize - 1];
                Ok(filled(program, config, routes.get(&router.name)))
            },
            compile: None,
        };
        let network = Network::build(topology, seed, makers).expect("the dice make no mistakes");
        let faults = faults(&mut dice, network.topology());
        let transfers = Vec::new();
        let mut scenario = Scenario { network, seed, routes, programs, faults, transfers };
        scenario.start_applications(&mut dice);
        scenario
    }

    /// Runs to the end in steps of at most what `step` says; `look` sees the network after each.
    pub fn run(&mut self, step: impl FnMut() -> Span, look: impl FnMut(&mut Network<Host>)) {
        self.run_closely(0, step, look);
    }

    /// Runs to the end; `look` sees the network at each of the first `instants` instants with an
    /// event, counted from the beginning and from each fault, and after that now and then.
    pub fn run_through(&mut self, instants: usize, look: impl FnMut(&mut Network<Host>)) {
        self.run_closely(instants, || Span::from_ms(200), look);
    }

    fn run_closely(
        &mut self,
        instants: usize,
        mut step: impl FnMut() -> Span,
        mut look: impl FnMut(&mut Network<Host>),
    ) {
        let faults = std::mem::take(&mut self.faults);
        let end = (END, None);
        for (at, fault) in faults.into_iter().map(|(at, fault)| (at, Some(fault))).chain([end]) {
            let mut seen = 0;
            while self.network.world.now() < at {
                let due = self.network.world.next_due().filter(|_| seen < instants);
                let next = due.unwrap_or_else(|| self.network.world.now().saturating_add(step()));
                self.network.world.advance(next.min(at));
                look(&mut self.network);
                seen += 1;
            }
            if let Some(fault) = fault {
                self.act(fault);
                self.network.world.advance(at);
                look(&mut self.network);
            }
        }
    }

    fn act(&mut self, fault: Fault) {
        let node_of = |place: usize| {
            let spec = self.network.topology().routers[place].clone();
            (self.network.node(&spec.name).expect("it was built"), spec)
        };
        match fault {
            Fault::Cut(link) => {
                let cable = self.network.cable(link).expect("it was built");
                self.network.world.cut(cable);
            }
            Fault::Mend(link) => {
                let cable = self.network.cable(link).expect("it was built");
                self.network.world.mend(cable);
            }
            Fault::Restart(place) => {
                let (node, spec) = node_of(place);
                let device = self.device(&spec, self.programs[place]);
                self.network.world.restart(node, device);
            }
            Fault::Reload(place, program) => {
                let (node, spec) = node_of(place);
                self.programs[place] = program;
                let config = self.network.world.router(node).program_config();
                let program = filled(program, config, self.routes.get(&spec.name));
                self.network.world.with_router(node, |device, _| device.install(Box::new(program)));
            }
        }
    }

    /// The router that stands in the place of one that was switched off.
    fn device(&self, spec: &RouterSpec, program: Program) -> Device {
        let cpu_port = (PortConfig::strict(None, 8), LinkConfig::default());
        let own = spec
            .ports
            .iter()
            .map(|port| (port.number.0, (port.settings.clone(), port.link.clone())));
        let mut change = change(own.chain([(CPU_PORT.0, cpu_port)]));
        change.traffic.buffer = Some(spec.buffer);
        change.traffic.input = Some(spec.input.clone());
        let mut device = Device::new(Config { seed: self.seed ^ 0x5eed, ..Config::default() });
        device.change(Time::ZERO, change).expect("it was valid before");
        let program = filled(program, device.program_config(), self.routes.get(&spec.name));
        device.install(Box::new(program));
        device
    }

    fn start_applications(&mut self, dice: &mut Chance) {
        let specs = self.network.topology().hosts.clone();
        let nodes: Vec<NodeId> =
            specs.iter().map(|host| self.network.node(&host.name).expect("it is there")).collect();
        let address = |place: usize, dice: &mut Chance| {
            let addresses = &specs[place].addresses;
            addresses[dice.below(addresses.len() as u64) as usize].0.ip
        };
        for (place, node) in nodes.iter().enumerate() {
            let other = |dice: &mut Chance| {
                (place + 1 + dice.below(nodes.len() as u64 - 1) as usize) % nodes.len()
            };
            self.network.world.with_host(*node, |host, now| {
                let (request, response) = (Bytes(200), Bytes(1 + dice.below(60_000)));
                let pages = Service::Respond { request, response };
                for (port, service) in [(BULK_PORT, Service::Discard), (PAGE_PORT, pages)] {
                    let config = ListenerConfig { port, service, congestion: None };
                    host.start(now, Box::new(Listener::new(config)));
                }
                host.start(now, Box::new(DatagramSink::new(DATAGRAM_PORT)));
            });
            for _ in 0..1 + dice.below(2) {
                let to = other(dice);
                let bytes = 1 + dice.below(300_000);
                let all: Vec<_> = hosts::algorithms().collect();
                let config = BulkConfig {
                    to: Endpoint::new(address(to, dice), BULK_PORT),
                    until: Until::Sent(Bytes(bytes)),
                    after: dice.span_up_to(Span::from_secs(3)),
                    congestion: Some(all[dice.below(all.len() as u64) as usize].clone()),
                    parallel: 1 + dice.below(3) as usize,
                };
                let start = |host: &mut Host, now| host.start(now, Box::new(Bulk::new(config)));
                let app = self.network.world.with_host(*node, start);
                self.transfers.push((*node, app, bytes, nodes[to]));
            }
            let to = other(dice);
            let to = address(to, dice);
            let after = dice.span_up_to(Span::from_secs(2));
            let kind = dice.below(3);
            self.network
                .world
                .with_host(*node, |host, now| host.start(now, small(kind, to, after)));
        }
    }

    /// Whether every bulk transfer arrived, whole; the error says which did not.
    pub fn check_transfers(&self) -> Result<(), String> {
        let world = &self.network.world;
        let mut due: BTreeMap<NodeId, u64> = BTreeMap::new();
        for (node, app, bytes, to) in &self.transfers {
            *due.entry(*to).or_default() += bytes;
            match world.host(*node).report(*app) {
                Some(Report::Bulk(it)) if (it.acknowledged, it.failed) == (*bytes, 0) => (),
                other => return Err(format!("{node:?} {app:?}, {bytes} bytes: {other:?}")),
            }
        }
        for spec in &self.network.topology().hosts {
            let node = self.network.node(&spec.name).expect("it is there");
            let host = world.host(node);
            let Some(Report::Listener(heard)) = host.report(AppId(0)) else {
                return Err(format!("{}: no listener", spec.name));
            };
            let expected = due.get(&node).copied().unwrap_or(0);
            if heard.taken_bytes != expected || host.books().wrong_payload > 0 {
                return Err(format!(
                    "{}: {expected} bytes were for it: {heard:?}, {:?}",
                    spec.name,
                    host.books()
                ));
            }
        }
        Ok(())
    }
}

fn filled(program: Program, config: Config, routes: Option<&Vec<Route>>) -> Pipeline {
    let mut pipeline = program(config);
    let routes = routes.map_or(&[][..], Vec::as_slice);
    fill_router(&mut pipeline, routes).expect("the program has the router's tables");
    pipeline
}

/// A hash of the complete output of a run: frames at all hosts with their instants, reports of
/// applications, data of connections, the place of every frame in the end.
pub fn digest(seed: u64, step: impl FnMut() -> Span) -> Digest {
    let mut scenario = Scenario::new(seed);
    let hosts: Vec<String> =
        scenario.network.topology().hosts.iter().map(|host| host.name.clone()).collect();
    let nodes: Vec<NodeId> =
        hosts.iter().map(|name| scenario.network.node(name).expect("it is there")).collect();
    for node in &nodes {
        scenario.network.world.capture(node.port(0), true);
    }
    let mut hash = Digest::default();
    scenario.run(step, |network| {
        while let Some(captured) = network.world.poll_capture() {
            let told = (captured.at, captured.end, captured.direction);
            write!(hash, "{told:?}").expect("a hash takes everything");
            hash.take_bytes(&captured.bytes);
        }
        while let Some(report) = network.world.poll_report() {
            write!(hash, "{report:?}").expect("a hash takes everything");
        }
    });
    let world = &scenario.network.world;
    for node in &nodes {
        let host = world.host(*node);
        let reports = (0..).map_while(|app| host.report(AppId(app)));
        let snapshots = host.connections().map(|id| host.snapshot(id));
        for told in reports.map(|it| format!("{it:?}")).chain(snapshots.map(|it| format!("{it:?}")))
        {
            hash.write_str(&told).expect("a hash takes everything");
        }
        write!(hash, "{:?}", host.books()).expect("a hash takes everything");
    }
    write!(hash, "{:?}", world.ledger()).expect("a hash takes everything");
    hash
}

/// Hashes of the output of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Everything, by the names that our code has for it.
    everything: Hash,
    /// The same without letters and underscores, so that a type or field can be renamed.
    numbers: Hash,
}

impl Digest {
    fn take_bytes(&mut self, bytes: &[u8]) {
        self.everything.take(bytes);
        self.numbers.take(bytes);
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.everything.take(text.as_bytes());
        let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
        text.as_bytes().split(is_name).for_each(|part| self.numbers.take(part));
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} numbers={:016x}", self.everything.0, self.numbers.0)
    }
}

/// FNV-1a.
#[derive(Debug, PartialEq, Eq)]
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

// ---- drawing a network -----------------------------------------------------------------------------

fn drawn<T: Copy>(these: &[T], dice: &mut Chance) -> T {
    these[dice.below(these.len() as u64) as usize]
}

fn buffer(dice: &mut Chance) -> Option<BufferConfig> {
    let size = Bytes(20_000 + dice.below(100_000));
    (dice.below(3) == 0).then_some(BufferConfig { size })
}

fn input(dice: &mut Chance) -> Option<InputConfig> {
    let name = drawn(ArbiterConfig::NAMES, dice);
    let arbiter = ArbiterConfig::named(name, 1 + dice.below(3) as u8).expect("it is one of them");
    let queueing = drawn(&[InputQueueing::Fifo, InputQueueing::Voq], dice);
    // As fast as the fastest line, or faster.
    let mut input = InputConfig::new(queueing, Rate::from_mbps(50), arbiter);
    input.limit = Limit::packets(10 + dice.below(60));
    input.fabric.speedup = drawn(&[Ratio::ONE, Ratio::new(3, 2).expect("2 is not 0")], dice);
    input.fabric.full_output = drawn(&[FullOutput::Backpressure, FullOutput::Lossy], dice);
    (dice.below(3) == 0).then_some(input)
}

fn share(dice: &mut Chance, ppm_max: u64) -> Probability {
    if dice.below(3) > 0 { Probability::NEVER } else { Probability::ppm(dice.below(ppm_max)) }
}

fn line(dice: &mut Chance) -> Impairment {
    Impairment {
        delay: dice.span_up_to(Span::from_ms(20)),
        jitter: Jitter { max: dice.span_up_to(Span::from_ms(2)), reorder: dice.below(2) == 0 },
        loss: Loss::Independent(share(dice, 30_000)),
        corruption: share(dice, 10_000),
        duplication: share(dice, 20_000),
        ..Impairment::default()
    }
}

fn settings(dice: &mut Chance) -> PortConfig {
    let mbps = drawn(&[1, 5, 10, 50], dice);
    let mut port = PortConfig::strict(Some(Rate::from_mbps(mbps)), 1);
    port.queues[0].limit = Limit::packets(4 + dice.below(60));
    let names = ["codel", "pie", "red"];
    let name = names.get(dice.below(6) as usize);
    port.queues[0].aqm = name.and_then(|name| AqmConfig::named(name));
    port
}

/// An address of each family: 10.a.b.c/24 and fd00::a:b:c/112.
fn addresses([a, b, c]: [u8; 3]) -> [Address; 2] {
    let ip = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, a.into(), b.into(), c.into());
    [
        Address { ip: Ipv4Addr::new(10, a, b, c).into(), prefix_bits: 24 },
        Address { ip: ip.into(), prefix_bits: 112 },
    ]
}

/// Gives the router in this place a port more and returns its number.
fn add_port(topology: &mut Topology, place: usize, address: [u8; 3], dice: &mut Chance) -> PortId {
    let router = &mut topology.routers[place];
    let number = PortId(router.ports.len() as u16 + 1);
    router.ports.push(PortSpec {
        number,
        mac: MacAddress([2, 0xfe, place as u8, 0, 0, number.0 as u8]),
        addresses: addresses(address).to_vec(),
        settings: settings(dice),
        link: LinkConfig { transmit: line(dice), ..LinkConfig::default() },
    });
    number
}

fn topology(dice: &mut Chance) -> Topology {
    let mut topology = Topology::default();
    let routers = 1 + dice.below(3) as usize;
    for place in 0..routers {
        topology.routers.push(RouterSpec {
            name: format!("s{}", place + 1),
            device_id: place as u64 + 1,
            ports: Vec::new(),
            buffer: buffer(dice),
            input: input(dice),
        });
    }
    let at = |place: usize, port| EndSpec { node: format!("s{}", place + 1), port: Some(port) };
    let mtu = Bytes(1500);
    let second_way = (routers == 3 && dice.below(2) == 0).then_some((2, 0));
    let tree = (1..routers).map(|place| (place, dice.below(place as u64) as usize));
    let ways: Vec<(usize, usize)> =
        tree.collect::<Vec<_>>().into_iter().chain(second_way).collect();
    for (number, (one, other)) in ways.into_iter().enumerate() {
        let address = |side| [0, number as u8, side];
        let near = add_port(&mut topology, one, address(1), dice);
        let far = add_port(&mut topology, other, address(2), dice);
        topology.links.push(LinkSpec { ends: [at(one, near), at(other, far)], mtu });
    }
    for number in 0..2 + dice.below(4) as u8 {
        let place = dice.below(routers as u64) as usize;
        let (own, gateway) = ([1, number, 1], [1, number, 254]);
        let port = add_port(&mut topology, place, gateway, dice);
        let name = format!("h{}", number + 1);
        let coin = dice.below(3) > 0;
        let tcp =
            TcpSettings { sack: coin, timestamps: dice.below(3) > 0, ..TcpSettings::default() };
        topology.hosts.push(HostSpec {
            name: name.clone(),
            mac: MacAddress([2, 1, 0, 0, 0, number]),
            addresses: addresses(own).into_iter().zip(addresses(gateway).map(|it| it.ip)).collect(),
            tcp,
        });
        let ends = [EndSpec { node: name, port: None }, at(place, port)];
        topology.links.push(LinkSpec { ends, mtu });
    }
    topology
}

/// Up to four faults; cut cables are repaired.
fn faults(dice: &mut Chance, topology: &Topology) -> Vec<(Time, Fault)> {
    let mut faults = Vec::new();
    for _ in 0..dice.below(4) {
        let at = Time::ZERO + dice.span_up_to(Span::from_secs(4));
        let router = dice.below(topology.routers.len() as u64) as usize;
        let link = dice.below(topology.links.len() as u64) as usize;
        match dice.below(3) {
            0 => faults.push((at, Fault::Restart(router))),
            1 => faults.push((at, Fault::Reload(router, drawn(&PROGRAMS, dice)))),
            _ => {
                faults.push((at, Fault::Cut(link)));
                let mended_at = (at + dice.span_up_to(Span::from_secs(4))).min(MENDED_AT);
                faults.push((mended_at, Fault::Mend(link)));
            }
        }
    }
    faults.sort_by_key(|(at, _)| *at);
    // A cable cut by two faults is whole after both.
    faults.extend((0..topology.links.len()).map(|link| (MENDED_AT, Fault::Mend(link))));
    faults
}

/// Something that sends little beside the transfers: pings, pages or datagrams.
fn small(kind: u64, to: IpAddr, after: Span) -> Box<dyn hosts::App> {
    match kind {
        0 => Box::new(Ping::new(PingConfig {
            to,
            interval: Span::from_ms(70),
            count: Some(40),
            payload: Bytes(56),
            hop_limit: None,
            after,
        })),
        1 => Box::new(Page::new(PageConfig {
            from: vec![Endpoint::new(to, PAGE_PORT)],
            request: Bytes(200),
            response: Bytes(1),
            after,
            pause: Span::from_ms(300),
            random_pause: true,
            count: 3,
            congestion: None,
        })),
        _ => Box::new(DatagramSource::new(DatagramSourceConfig {
            to: Endpoint::new(to, DATAGRAM_PORT),
            rate: Rate::from_mbps(1),
            length: Bytes(500),
            pace: Pace::Poisson,
            after,
            span: Span::from_secs(2),
        })),
    }
}
