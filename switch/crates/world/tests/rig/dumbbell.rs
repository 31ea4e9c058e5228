//! Two of the kit's routers with the bottleneck between them, and hosts with TCP on both sides.
//!
//! ```text
//!   left 1 ── 2 ┐                          ┌ 2 ── right 1
//!   left 2 ── 3 ┤ s1  1 ============ 1  s2 ├ 3 ── right 2
//!      ...      ┘    rate, delay, queue    └        ...
//! ```

use std::net::{IpAddr, Ipv4Addr};

use device::LinkConfig;
use hosts::{
    App, AppId, Bulk, BulkConfig, BulkReport, Endpoint, Host, Listener, ListenerConfig,
    ListenerReport, Report, Service, Snapshot, TcpSettings, Until,
};
use pipeline::{Config, Pipeline};
use traffic::{Impairment, Limit, PortConfig};
use units::{Bytes, PortId, Rate, Span, Time};
use wire::MacAddress;
use world::network::{
    Address, EndSpec, HostSpec, LinkSpec, Makers, Network, PortSpec, RouterSpec, Topology,
    fill_router, host,
};
use world::{NodeId, World};

/// Where listeners listen.
pub const PORT: u16 = 5001;
/// The bottleneck's port, of both routers.
pub const BOTTLENECK: PortId = PortId(1);

/// The parameters of a dumbbell.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Hosts on each side.
    pub pairs: usize,
    /// Of the line between the routers, both ways.
    pub bottleneck: PortConfig,
    /// The impairments of frames on their way from s1 to s2, and back.
    pub there: Impairment,
    pub back: Impairment,
    /// Of the lines to hosts; none: they take no time.
    pub access: Option<Rate>,
    pub tcp: TcpSettings,
    pub seed: u64,
}

impl Plan {
    /// A bottleneck that delays frames by `delay` each way and has a queue of `packets`.
    pub fn new(rate: Rate, delay: Span, packets: u64) -> Plan {
        let mut bottleneck = PortConfig::strict(Some(rate), 1);
        bottleneck.queues[0].limit = Limit::packets(packets);
        let delay = Impairment { delay, ..Impairment::default() };
        Plan {
            pairs: 1,
            bottleneck,
            there: delay,
            back: delay,
            access: None,
            tcp: TcpSettings::default(),
            seed: 1,
        }
    }

    /// The same with this many hosts on each side.
    pub fn pairs(self, pairs: usize) -> Plan {
        Plan { pairs, ..self }
    }
}

/// The address of the host in this place of a side: 1 is left, 2 right.
fn address(side: u8, place: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, side, (place / 250) as u8, (place % 250 + 1) as u8)
}

/// The topology of a plan, as a topology file would have it.
pub fn topology(plan: &Plan) -> Topology {
    let mac = |kind: u8, side: u8, place: usize| {
        MacAddress([2, kind, side, 0, (place >> 8) as u8, place as u8])
    };
    let gateway = |side, place: usize| Ipv4Addr::new(10, side, (place / 250) as u8, 254);
    let own = |ip: Ipv4Addr| Address { ip: ip.into(), prefix_bits: 24 };
    let router_port = |place: usize| PortId(place as u16 + 2);
    let name =
        |side, place: usize| format!("{}{}", ["left", "right"][side as usize - 1], place + 1);
    let mut topology = Topology::default();
    for (router, side, line) in [("s1", 1, plan.there), ("s2", 2, plan.back)] {
        let mut ports = vec![PortSpec {
            number: BOTTLENECK,
            mac: mac(0xff, side, 0),
            addresses: vec![own(Ipv4Addr::new(10, 0, 0, side))],
            settings: plan.bottleneck.clone(),
            link: LinkConfig { transmit: line, ..LinkConfig::default() },
        }];
        for place in 0..plan.pairs {
            topology.hosts.push(HostSpec {
                name: name(side, place),
                mac: mac(1, side, place),
                addresses: vec![(own(address(side, place)), gateway(side, place).into())],
                tcp: plan.tcp.clone(),
            });
            let mut settings = PortConfig::strict(plan.access, 1);
            settings.queues[0].limit = Limit::packets(10_000);
            ports.push(PortSpec {
                number: router_port(place),
                mac: mac(0xfe, side, place),
                addresses: vec![own(gateway(side, place))],
                settings,
                link: LinkConfig::default(),
            });
            let at_host = EndSpec { node: name(side, place), port: None };
            let at_router = EndSpec { node: router.to_owned(), port: Some(router_port(place)) };
            topology.links.push(LinkSpec { ends: [at_host, at_router], mtu: Bytes(1500) });
        }
        topology.routers.push(RouterSpec {
            name: router.to_owned(),
            device_id: u64::from(side),
            ports,
            buffer: None,
            input: None,
        });
    }
    let end = |node: &str| EndSpec { node: node.to_owned(), port: Some(BOTTLENECK) };
    topology.links.push(LinkSpec { ends: [end("s1"), end("s2")], mtu: Bytes(1500) });
    topology
}

/// A network that was built from a plan.
pub struct Dumbbell {
    pub world: World<Host>,
    pub left: Vec<NodeId>,
    pub right: Vec<NodeId>,
    pub s1: NodeId,
    pub s2: NodeId,
}

/// Makes the router's program.
pub type Program<'a> = &'a mut dyn FnMut(Config) -> Pipeline;

impl Dumbbell {
    /// Builds it, each router with this program and routes to all hosts.
    pub fn new(
        plan: &Plan,
        program: Program<'_>,
        compile: Option<pipeline::native::Compile>,
    ) -> Dumbbell {
        let topology = topology(plan);
        let routes = topology.routes();
        let makers = Makers {
            host: &mut host,
            program: &mut |router, config| {
                let mut pipeline = program(config);
                fill_router(&mut pipeline, &routes[&router.name])?;
                Ok(pipeline)
            },
            compile,
        };
        let network = Network::build(topology, plan.seed, makers).expect("the plan is right");
        let node = |name: &str| network.node(name).expect("it is in the topology");
        let side = |side: &str| (1..=plan.pairs).map(|n| node(&format!("{side}{n}"))).collect();
        let (left, right, s1, s2) = (side("left"), side("right"), node("s1"), node("s2"));
        Dumbbell { world: network.world, left, right, s1, s2 }
    }

    /// Where the listener of the host in this place on the right is.
    pub fn to(&self, place: usize) -> Endpoint {
        Endpoint::new(IpAddr::V4(address(2, place)), PORT)
    }

    /// Lets time pass.
    pub fn run(&mut self, span: Span) {
        self.world.advance(self.world.now() + span);
    }

    /// Starts an application on a host.
    pub fn start(&mut self, node: NodeId, app: impl App + 'static) -> AppId {
        self.world.with_host(node, |host, now| host.start(now, Box::new(app)))
    }

    /// Takes what comes to all hosts on the right; each listener is its host's application 0.
    pub fn listen(&mut self) {
        for node in self.right.clone() {
            let service = Service::Discard;
            let config = ListenerConfig { port: PORT, service, congestion: None };
            self.start(node, Listener::new(config));
        }
    }

    /// A transfer from left to right.
    pub fn bulk(&mut self, place: usize, until: Until, parallel: usize, after: Span) -> AppId {
        let to = self.to(place);
        let config = BulkConfig { to, until, after, congestion: None, parallel };
        self.start(self.left[place], Bulk::new(config))
    }

    /// The transfer's result.
    pub fn bulk_report(&self, place: usize, app: AppId) -> BulkReport {
        match self.world.host(self.left[place]).report(app) {
            Some(Report::Bulk(report)) => report,
            other => panic!("a bulk transfer was started, not {other:?}"),
        }
    }

    /// The listener's report on the right.
    pub fn heard(&self, place: usize) -> ListenerReport {
        match self.world.host(self.right[place]).report(AppId(0)) {
            Some(Report::Listener(report)) => report,
            other => panic!("the listener was started first, not {other:?}"),
        }
    }

    /// The `ss -ti` data of the first connection of a host.
    pub fn snapshot(&self, node: NodeId) -> Option<Snapshot> {
        let host = self.world.host(node);
        let first = host.connections().next()?;
        host.snapshot(first).map(|(.., snapshot)| snapshot)
    }

    /// Frames that s1 has sent into the bottleneck.
    pub fn carried(&self) -> traffic::Tally {
        self.world.counters(self.s1.port(BOTTLENECK.0)).sent
    }

    /// Lets time pass from event to event; `look` sees every instant at which something happens.
    pub fn step_through(&mut self, until: Time, mut look: impl FnMut(&Dumbbell)) {
        while let Some(next) = self.world.next_due().filter(|next| *next <= until) {
            self.world.advance(next);
            look(self);
        }
        self.world.advance(until);
    }
}
