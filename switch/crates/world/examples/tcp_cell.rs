//! One cell of the comparison with Linux's TCP (tests/conformance/tcp), in virtual time.
//!
//! ```text
//!   a ── 1 s1 2 ══ b        rate, queue, delay each way, loss on the way to b
//! ```
//!
//! Arguments are `name=value`; what is printed is one line an instant, see `Samples`.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use chance::Probability;
use compiler::{Options, SourceError, SourceProvider, compile};
use device::LinkConfig;
use hosts::{
    Bulk, BulkConfig, EcnSetting, Endpoint, Host, Listener, ListenerConfig, Memory, Service,
    TcpSettings, Until,
};
use pipeline::Pipeline;
use traffic::{AqmConfig, Impairment, Jitter, Limit, Loss, PortConfig, Stalls};
use units::{Bytes, ClassId, PortId, Rate, Span, Time};
use wire::MacAddress;
use world::network::{
    Address, EndSpec, HostSpec, LinkSpec, Makers, Network, PortSpec, RouterSpec, Topology,
    fill_router, host,
};
use world::{Captured, Direction, NodeId};

const PORT: u16 = 5001;
const QUEUE_SPAN: Span = Span::from_ms(5);
/// A look at sockets for so many looks at the queue.
const LOOKS_PER_SOCKET: u64 = 4;
/// A listener is there before anybody connects.
const START: Span = Span::from_ms(1);

struct Arguments(BTreeMap<String, String>);

impl Arguments {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("{name}=... is missing"))
    }

    fn number(&self, name: &str) -> u64 {
        let text = self.text(name);
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is no whole number"))
    }
}

fn main() {
    let pairs = std::env::args().skip(1).map(|argument| {
        let (name, value) = argument.split_once('=').expect("arguments are name=value");
        (name.to_owned(), value.to_owned())
    });
    let arguments = Arguments(pairs.collect());
    let topology = topology(&arguments);
    let routes = topology.routes();
    let program = router_p4();
    let makers = Makers {
        host: &mut host,
        program: &mut |router, config| {
            let mut pipeline = Pipeline::new(&program, &config).expect("the router loads");
            fill_router(&mut pipeline, &routes[&router.name])?;
            Ok(pipeline)
        },
        compile: None,
    };
    let mut network =
        Network::build(topology, arguments.number("seed"), makers).expect("it fits together");
    let [a, b, s1] = ["a", "b", "s1"].map(|name| network.node(name).expect("it is there"));
    start(&mut network, &arguments, a, b);
    if arguments.0.contains_key("capture") {
        network.world.capture(a.port(0), true);
        network.world.capture(b.port(0), true);
    }
    let end = Time::ZERO + START + Span::from_ms(arguments.number("ms"));
    let mut looks = 0;
    while network.world.now() < end {
        let next = network.world.now() + QUEUE_SPAN;
        network.world.advance(next);
        while let Some(captured) = network.world.poll_capture() {
            print_packet(a, &captured);
        }
        print_queue(&network, s1);
        if looks % LOOKS_PER_SOCKET == 0 {
            print_sockets(&network, a);
        }
        looks += 1;
    }
    assert!(network.world.balances(), "{:?}", network.world.ledger());
}

/// `p`, time in ns, where, and the bytes of the headers.
fn print_packet(a: NodeId, captured: &Captured) {
    let at = if captured.end.node == a { "a" } else { "b" };
    let way = if captured.direction == Direction::Sent { "sent" } else { "received" };
    print!("p {} {at} {way} ", captured.at.ps() / 1000);
    captured.bytes.iter().take(94).for_each(|byte| print!("{byte:02x}"));
    println!(" {}", captured.bytes.len());
}

/// `q`, time in us, packets and bytes held, packets and bytes sent, packets dropped and marked.
fn print_queue(network: &Network<Host>, s1: NodeId) {
    let device = network.world.router(s1);
    let port = device.traffic().port(PortId(2)).expect("it is configured");
    let queue = device.traffic().queue(PortId(2), ClassId(0)).expect("it has one");
    println!(
        "q {} {} {} {} {} {} {}",
        network.world.now().whole_us(),
        port.depth.packets,
        port.depth.bytes.count(),
        port.counters.departed.packets,
        port.counters.departed.bytes.count(),
        port.counters.dropped_in_all().packets,
        queue.counters.marked.packets,
    );
}

/// `c`, time in us, port, cwnd, ssthresh, smoothed round trip in us, packets in flight,
/// retransmissions, bytes acknowledged, timeouts.
fn print_sockets(network: &Network<Host>, a: NodeId) {
    let host = network.world.host(a);
    for id in host.connections() {
        let Some((local, _, told)) = host.snapshot(id) else { continue };
        println!(
            "c {} {} {} {} {} {} {} {} {}",
            network.world.now().whole_us(),
            local.port,
            told.cwnd,
            told.ssthresh.unwrap_or(0),
            told.rtt.map_or(0, |(srtt, _)| srtt.whole_us()),
            told.unacked,
            told.retrans_total,
            told.bytes_acked,
            told.timeouts,
        );
    }
}

fn start(network: &mut Network<Host>, arguments: &Arguments, a: NodeId, b: NodeId) {
    network.world.with_host(b, |host, now| {
        let config = ListenerConfig { port: PORT, service: Service::Discard, congestion: None };
        host.start(now, Box::new(Listener::new(config)));
    });
    network.world.with_host(a, |host, now| {
        for flow in 0..arguments.number("flows") {
            let config = BulkConfig {
                to: Endpoint::new(address(2).into(), PORT),
                until: Until::Span(Span::from_secs(3600)),
                after: START + Span::from_us(flow * arguments.number("apart_us")),
                congestion: None,
                parallel: 1,
            };
            host.start(now, Box::new(Bulk::new(config)));
        }
    });
}

fn address(side: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, side, 0, 1)
}

fn topology(arguments: &Arguments) -> Topology {
    let rate = |name: &str| Rate::from_bps(arguments.number(name));
    let mut bottleneck = PortConfig::strict(rate("rate_bps"), 1);
    bottleneck.queues[0].limit = Limit::packets(arguments.number("queue_packets"));
    bottleneck.queues[0].aqm = match arguments.text("aqm") {
        "off" => None,
        name => Some(AqmConfig::named(name).expect("there is such a method")),
    };
    let delay = Span::from_us(arguments.number("delay_us"));
    let back = Impairment { delay, ..Impairment::default() };
    let loss = Loss::Independent(Probability::ppm(arguments.number("loss_ppm")));
    // What a machine takes to answer differs from time to time, and with the seed.
    let jitter = Jitter { max: Span::from_us(arguments.number("jitter_us")), reorder: false };
    let stalls = Stalls {
        share: Probability::ppm(arguments.number("stall_ppm")),
        max: Span::from_us(arguments.number("stall_us")),
    };
    // And sometimes it is somewhere else for a while, and takes in what came only then.
    let pauses = Stalls {
        share: Probability::ppm(arguments.number("pause_ppm")),
        max: Span::from_us(arguments.number("pause_us")),
    };
    let line = LinkConfig {
        transmit: Impairment { loss, stalls: pauses, ..back },
        receive: Impairment { jitter, stalls, ..back },
        ..LinkConfig::default()
    };
    let near = LinkConfig {
        transmit: Impairment { stalls: pauses, ..Impairment::default() },
        receive: Impairment { jitter, stalls, ..Impairment::default() },
        ..LinkConfig::default()
    };
    let access = PortConfig::strict(rate("access_bps"), 1);
    let tcp = tcp(arguments);
    let mac = |kind: u8, side: u8| MacAddress([2, kind, side, 0, 0, 1]);
    let own = |ip: Ipv4Addr| Address { ip: IpAddr::V4(ip), prefix_bits: 24 };
    let gateway = |side| Ipv4Addr::new(10, side, 0, 254);
    let side = |name: &str, side: u8, settings: PortConfig, link: LinkConfig| {
        let host = HostSpec {
            name: name.to_owned(),
            mac: mac(1, side),
            addresses: vec![(own(address(side)), gateway(side).into())],
            tcp: tcp.clone(),
        };
        let number = PortId(u16::from(side));
        let addresses = vec![own(gateway(side))];
        let port = PortSpec { number, mac: mac(0xfe, side), addresses, settings, link };
        let at_host = EndSpec { node: name.to_owned(), port: None };
        let at_router = EndSpec { node: "s1".to_owned(), port: Some(number) };
        (host, port, LinkSpec { ends: [at_host, at_router], mtu: Bytes(1500) })
    };
    let (a, port_a, link_a) = side("a", 1, access, near);
    let (b, port_b, link_b) = side("b", 2, bottleneck, line);
    let s1 = RouterSpec {
        name: "s1".to_owned(),
        device_id: 1,
        ports: vec![port_a, port_b],
        buffer: None,
        input: None,
    };
    Topology {
        hosts: vec![a, b],
        routers: vec![s1],
        links: vec![link_a, link_b],
        asks_for_gateways: false,
    }
}

/// How both hosts' TCP behaves.
fn tcp(arguments: &Arguments) -> TcpSettings {
    let memory = |name: &str, default| Memory {
        min: Bytes(10_240),
        default,
        max: Bytes(arguments.number(name)),
    };
    TcpSettings {
        congestion: arguments.text("congestion").parse().expect("there is such an algorithm"),
        ecn: match arguments.text("ecn") {
            "on" => EcnSetting::On,
            _ => EcnSetting::Passive,
        },
        rmem: memory("rmem_max", Bytes(131_072)),
        wmem: memory("wmem_max", Bytes(16_384)),
        ..TcpSettings::default()
    }
}

struct Repository;

impl SourceProvider for Repository {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        std::fs::read_to_string(root.join(path)).map_err(|_| SourceError::NotFound)
    }
}

fn router_p4() -> bmv2::Program {
    let mut options = Options::default();
    options.preprocessor.include_directories.push("p4src/include".to_owned());
    let output = compile(&Repository, "p4src/programs/router.p4", &options);
    output.program.unwrap_or_else(|| panic!("{:?}", output.diagnostics))
}
