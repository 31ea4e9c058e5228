//! Laws of every world: nothing vanishes, and the steps in which time passes do not matter.

use crate::rig;

use chance::Probability;
use device::{LinkConfig, SenderConfig, SenderRate};
use proptest::prelude::*;
use rig::{CPU_PORT, Notebook, Port, change, order, orders, router, source_routes};
use traffic::{Impairment, Jitter, Limit, Loss, PortConfig, Stalls};
use units::{Rate, Span, Time};
use world::{CableId, End, NodeId, Report, World};

/// Ports of each router: 1 to this.
const PORTS: u16 = 3;
/// Everything that is done to a world is done before this.
const WORKLOAD_US: u64 = 3_000;

#[derive(Clone, Debug)]
struct Plan {
    /// Of each router, its ports.
    routers: Vec<Vec<Port>>,
    hosts: usize,
    /// Pairs of places among all free ends.
    cables: Vec<(usize, usize)>,
    /// The frames that are sent, and when.
    frames: Vec<(usize, u64, Vec<u8>)>,
    /// The actions on the world, and when.
    acts: Vec<(u64, Act)>,
}

#[derive(Clone, Debug)]
enum Act {
    Configure { router: usize, ports: Vec<Port> },
    Cut(usize),
    Inject { router: usize, port: u16, bytes: Vec<u8> },
    Mend(usize),
    PacketOut { router: usize, bytes: Vec<u8> },
    Replace { router: usize },
    Restart { router: usize, ports: Vec<Port> },
}

fn share() -> impl Strategy<Value = Probability> {
    let tenth = Probability::ratio(1, 10).expect("ten is not zero");
    prop_oneof![3 => Just(Probability::NEVER), 1 => Just(tenth)]
}

fn impairment() -> impl Strategy<Value = Impairment> {
    let rare = (share(), share(), share(), share());
    (0..3u64, 0..2u64, any::<bool>(), rare).prop_map(|(delay, jitter, reorder, rare)| Impairment {
        delay: Span::from_us(delay * 70),
        jitter: Jitter { max: Span::from_us(jitter * 90), reorder },
        loss: Loss::Independent(rare.0),
        corruption: rare.1,
        duplication: rare.2,
        stalls: Stalls { share: rare.3, max: Span::from_us(900) },
    })
}

fn port() -> impl Strategy<Value = Port> {
    let rate = prop_oneof![Just(None), Just(Some(8)), Just(Some(100))];
    let sender = prop_oneof![Just(SenderRate::Unlimited), Just(SenderRate::OfPort)];
    let cable = (sender, impairment(), impairment());
    (rate, 1..3usize, 1..6u64, cable).prop_map(|(mbps, classes, limit, cable)| {
        let (rate, receive, transmit) = cable;
        let sender = SenderConfig { rate, backlog: Limit::packets(20) };
        let link = LinkConfig { sender, receive, transmit };
        let mut port = PortConfig::strict(mbps.map(Rate::from_mbps), classes);
        port.queues.iter_mut().for_each(|queue| queue.limit = Limit::packets(limit));
        (port, link)
    })
}

fn ports() -> impl Strategy<Value = Vec<Port>> {
    prop::collection::vec(port(), usize::from(PORTS))
}

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let one = (0..order::COUNT, 0..=PORTS as u8 + 1, 0..3u8);
    let list = prop::collection::vec(one, 0..5);
    (list, 1..300usize).prop_map(|(list, payload)| orders(&list, payload))
}

fn act() -> impl Strategy<Value = Act> {
    let router = 0..3usize;
    prop_oneof![
        (router.clone(), ports()).prop_map(|(router, ports)| Act::Configure { router, ports }),
        (0..4usize).prop_map(Act::Cut),
        (0..4usize).prop_map(Act::Mend),
        (router.clone(), 1..=PORTS, frame()).prop_map(|(router, port, bytes)| Act::Inject {
            router,
            port,
            bytes
        }),
        (router.clone(), frame()).prop_map(|(router, bytes)| Act::PacketOut { router, bytes }),
        router.clone().prop_map(|router| Act::Replace { router }),
        (router, ports()).prop_map(|(router, ports)| Act::Restart { router, ports }),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let instant = || 0..WORKLOAD_US / 20;
    let sending = (0..4usize, instant(), frame());
    (
        prop::collection::vec(ports(), 1..4),
        1..5usize,
        prop::collection::vec((0..20usize, 0..20usize), 1..8),
        prop::collection::vec(sending, 1..60),
        prop::collection::vec((instant(), act()), 0..6),
    )
        .prop_map(|(routers, hosts, cables, frames, mut acts)| {
            acts.sort_by_key(|(at, _)| *at);
            Plan { routers, hosts, cables, frames, acts }
        })
}

fn device(seed: u64, ports: &[Port]) -> device::Device {
    // The controller's port is one like any other.
    let cpu = (CPU_PORT.0, (PortConfig::strict(None, 3), LinkConfig::default()));
    router(seed, (1..).zip(ports.iter().cloned()).chain([cpu]), source_routes)
}

struct Built {
    world: World<Notebook>,
    routers: Vec<NodeId>,
    hosts: Vec<NodeId>,
    cables: Vec<CableId>,
}

fn build(plan: &Plan) -> Built {
    let mut world = World::new();
    let seeded = plan.routers.iter().enumerate();
    let routers: Vec<NodeId> = seeded
        .map(|(seed, ports)| world.add_router(device(seed as u64, ports), Some(CPU_PORT)))
        .collect();
    let of_host = |host: usize| {
        let own = plan.frames.iter().filter(move |(by, ..)| by % plan.hosts == host);
        own.map(|(_, at, bytes)| (us(at * 20), bytes.clone())).collect()
    };
    let hosts: Vec<NodeId> =
        (0..plan.hosts).map(|host| world.add_host(Notebook::sending(of_host(host)))).collect();
    let of_routers = routers.iter().flat_map(|router| (1..=PORTS).map(|port| router.port(port)));
    let mut free: Vec<End> = hosts.iter().map(|host| host.port(0)).chain(of_routers).collect();
    let mut cables = Vec::new();
    for (one, other) in &plan.cables {
        if free.len() >= 2 {
            let one = free.remove(one % free.len());
            let other = free.remove(other % free.len());
            cables.push(world.connect(one, other));
        }
    }
    Built { world, routers, hosts, cables }
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

impl Built {
    fn act(&mut self, act: &Act, seed: u64) {
        let of = |router: &usize| self.routers[router % self.routers.len()];
        let cable = |cable: &usize| self.cables.get(cable % self.cables.len().max(1)).copied();
        match act {
            Act::Configure { router, ports } => {
                let change = change((1..).zip(ports.iter().cloned()));
                self.world.with_router(of(router), |device, now| {
                    device.change(now, change).expect("the ports are valid");
                });
            }
            Act::Cut(number) => cable(number).into_iter().for_each(|it| self.world.cut(it)),
            Act::Mend(number) => cable(number).into_iter().for_each(|it| self.world.mend(it)),
            Act::Inject { router, port, bytes } => {
                self.world.inject(of(router).port(*port), bytes);
            }
            Act::PacketOut { router, bytes } => self.world.packet_out(of(router), bytes),
            Act::Replace { router } => self.world.with_router(of(router), |device, _| {
                let program = source_routes(device.program_config());
                device.install(Box::new(program));
            }),
            Act::Restart { router, ports } => {
                self.world.restart(of(router), device(seed, ports));
            }
        }
    }

    /// Runs the plan; between what is done, time passes in steps of `step`.
    fn run(&mut self, plan: &Plan, step: Span) -> Result<Vec<Report>, TestCaseError> {
        let mut reports = Vec::new();
        let end = (WORKLOAD_US * 3, None);
        let acts = plan.acts.iter().map(|(at, act)| (at * 20, Some(act)));
        for (number, (at, act)) in (0..).zip(acts.chain([end])) {
            while self.world.now() < us(at) {
                let next = self.world.now().saturating_add(step).min(us(at));
                self.world.advance(next);
                prop_assert!(self.world.balances(), "{:?}", self.world.ledger());
            }
            if let Some(act) = act {
                self.act(act, 100 + number);
                // Drops by a change of queues are counted when time has passed.
                self.world.advance(self.world.now());
                prop_assert!(self.world.balances(), "{act:?}: {:?}", self.world.ledger());
            }
            reports.extend(std::iter::from_fn(|| self.world.poll_report()));
        }
        Ok(reports)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_vanishes_and_the_steps_of_time_do_not_matter(plan in plan(), step in 1..400u64) {
        let (mut whole, mut stepped) = (build(&plan), build(&plan));
        let reports = whole.run(&plan, Span::MAX)?;
        prop_assert_eq!(&reports, &stepped.run(&plan, Span::from_ns(step * 997))?);
        for host in &whole.hosts {
            prop_assert_eq!(&whole.world.host(*host).seen, &stepped.world.host(*host).seen);
        }
        prop_assert_eq!(whole.world.ledger(), stepped.world.ledger());
    }
}
