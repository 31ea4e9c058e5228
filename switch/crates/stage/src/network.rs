//! [`Network`]: what was built, with an agent beside each router.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::devices::Opened;
use agent::discard::Discard;
use agent::exchange::{Wake, exchange};
use agent::front::{Front, Served};
use agent::reports::{Reporter, Reports};
use agent::{Agent, DataPlane};
use device::Device;
use hosts::{AppId, Host};
use messages::vitrine::v1;
use p4runtime::netdev::NetdevCounters;
use p4runtime::router::Problem;
use p4runtime::watch::Item;
use p4runtime::{Code, Refusal};
use pipeline::native::Compile;
use traffic::PortConfig;
use units::{PortId, Time};
use world::network::CPU_PORT;
use world::{CableId, End, NodeId, Report, World};

use crate::guests::{Guests, Runner};
use crate::topology::{self, Plug};

/// Steps of an agent between two looks at whether there are more.
const AGENT_STEPS: usize = 1 << 10;

/// A network: its world, and the names of its nodes.
pub struct Network {
    pub world: World<Host>,
    pub topology: v1::Topology,
    pub seed: u64,
    pub hosts: Vec<HostEntry>,
    pub routers: Vec<Router>,
    /// In the order of the topology, with their ends.
    pub cables: Vec<(CableId, [End; 2])>,
    /// By their numbers, which count from 1.
    pub apps: Vec<App>,
    pub guests: Guests,
    plugs: BTreeMap<Plug, (End, usize)>,
    compile: Option<Compile>,
}

pub struct HostEntry {
    pub name: String,
    pub node: NodeId,
    /// The numbers of its applications, in the order of their ids.
    pub apps: Vec<u64>,
}

/// An application: the place of its host, and which of that host's it is.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub host: usize,
    pub id: AppId,
}

/// A router and what does the work of its controllers.
pub struct Router {
    pub device_id: u64,
    pub node: NodeId,
    pub agent: Agent,
    pub front: Arc<Front>,
    /// The agent's messages for controllers.
    reports: Reports,
}

impl Router {
    fn new(device_id: u64, node: NodeId, wake: &Wake) -> Router {
        let (plane, inbox) = exchange(Arc::clone(wake));
        let (reporter, reports) = Reporter::new();
        // Discarded objects are freed at once: nothing waits for it in virtual time.
        let (discard, _) = Discard::new();
        let lost = reporter.lost_count();
        let agent = Agent::new(inbox, reporter, discard);
        let front = Arc::new(Front::new(device_id, agent.published(), plane, lost));
        Router { device_id, node, agent, front, reports }
    }

    /// Ends all sessions and streams.
    pub fn end(&mut self, why: &Refusal) {
        self.front.end_all(why);
        self.agent.tell_all();
        self.agent.feeds().for_each(|feed| feed.end(why.clone()));
    }

    /// The world is at `now`: all events until then are reported, and that they are complete.
    pub fn complete_until(&mut self, now: Time) {
        self.agent.tell_all();
        self.agent.feeds().for_each(|feed| feed.push_all(&mut vec![Item::CompleteUntil(now)]));
    }

    /// Tells controllers what the agent has reported at this instant.
    fn tell(&mut self, at: Time) {
        while let Ok(reported) = self.reports.try_recv() {
            self.front.tell(&reported, i64::try_from(at.whole_ns()).unwrap_or(i64::MAX));
        }
    }

    /// Whether a reader is slower than the events.
    pub fn is_filling(&self) -> bool {
        self.front.is_filling() || self.agent.feeds().any(|feed| feed.is_filling())
    }
}

impl Network {
    /// The network of a topology, or all that is wrong with it.
    pub fn build(
        request: v1::BuildRequest,
        compile: Option<Compile>,
        runner: &mut Runner,
        wake: &Wake,
    ) -> Result<Network, Vec<Problem>> {
        let v1::BuildRequest { topology, seed } = request;
        let topology = topology.unwrap_or_default();
        let mut guests = Guests::new(seed);
        let parts =
            topology::parts(&topology, seed, compile, &mut |name| guests.algorithm(name, runner))?;
        let mut world = World::new();
        let mut nodes = BTreeMap::new();
        let mut hosts = Vec::new();
        for config in parts.hosts {
            let name = config.name.clone();
            let node = world.add_host(Host::new(config));
            nodes.insert(name.clone(), node);
            hosts.push(HostEntry { name, node, apps: Vec::new() });
        }
        let mut routers = Vec::new();
        for (config, device) in topology.routers.iter().zip(parts.routers) {
            let node = world.add_router(device, Some(CPU_PORT));
            nodes.insert(config.name.clone(), node);
            routers.push(Router::new(config.device_id, node, wake));
        }
        let end = |plug: &Plug| nodes[&plug.node].port(plug.port.map_or(0, |port| port.0));
        let mut plugs = BTreeMap::new();
        let mut cables = Vec::new();
        for joined in parts.cables {
            let ends = [end(&joined[0]), end(&joined[1])];
            let number = cables.len();
            plugs.extend(joined.into_iter().zip(ends).map(|(plug, end)| (plug, (end, number))));
            cables.push((world.connect(ends[0], ends[1]), ends));
        }
        let apps = Vec::new();
        Ok(Network { world, topology, seed, hosts, routers, cables, apps, guests, plugs, compile })
    }

    /// Its routers as devices of P4Runtime.
    pub fn served(&self) -> BTreeMap<u64, Served> {
        self.routers.iter().map(|router| (router.device_id, self.served_router(router))).collect()
    }

    fn served_router(&self, router: &Router) -> Served {
        let pipeline = self.world.router(router.node).program_config();
        Served { front: Arc::clone(&router.front), pipeline }
    }

    /// The seed of a router's dice.
    pub fn router_seed(&self, device_id: u64) -> u64 {
        topology::router_seed(self.seed, device_id)
    }

    // ---- names ---------------------------------------------------------------------------------

    /// The place of the host of that name.
    pub fn host(&self, name: &str) -> Result<usize, Refusal> {
        let found = self.hosts.iter().position(|host| host.name == name);
        found.ok_or_else(|| Refusal::not_found(format!("there is no host {name:?}")))
    }

    /// The places of these hosts; of all if none is named.
    pub fn hosts_named(&self, names: &[String]) -> Result<Vec<usize>, Refusal> {
        match names {
            [] => Ok((0..self.hosts.len()).collect()),
            names => names.iter().map(|name| self.host(name)).collect(),
        }
    }

    /// The host at that place, as a state machine.
    pub fn host_at(&self, place: usize) -> &Host {
        self.world.host(self.hosts[place].node)
    }

    /// The application of that number.
    pub fn app(&self, number: u64) -> Result<App, Refusal> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = place.and_then(|place| self.apps.get(place)).copied();
        found.ok_or_else(|| Refusal::not_found(format!("there is no application {number}")))
    }

    /// Where a cable is plugged in, and the cable's number.
    pub fn plug(&self, end: &v1::CableEnd) -> Result<(End, usize), Refusal> {
        let plug = Plug::of(end);
        let found = self.plugs.get(&plug).copied();
        found.ok_or_else(|| {
            Refusal::not_found(format!(
                "no cable is plugged in at {plug}; an end is a host, or a router and its port"
            ))
        })
    }

    /// The port of a router, with a cable or without.
    pub fn router_port(&self, end: &v1::CableEnd) -> Result<End, Refusal> {
        let place = self.topology.routers.iter().position(|router| router.name == end.node);
        let found = place.and_then(|place| {
            let ports = &self.topology.routers[place].ports;
            let known = ports.iter().find(|known| Some(known.port) == end.port)?;
            Some(self.routers[place].node.port(u16::try_from(known.port).ok()?))
        });
        found.ok_or_else(|| {
            Refusal::not_found(format!("{} is no port of a router here", Plug::of(end)))
        })
    }

    // ---- routers -------------------------------------------------------------------------------

    /// Lets agent and device of a router do something at the present instant.
    pub fn with_agent<T>(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut Agent, &mut Plane<'_>) -> T,
    ) -> T {
        let Router { agent, node, .. } = &mut self.routers[place];
        let node = *node;
        let mut packet_outs = Vec::new();
        let done = self.world.with_router(node, |device, now| {
            act(agent, &mut Plane { device, now, packet_outs: &mut packet_outs })
        });
        for frame in packet_outs {
            self.world.packet_out(node, &frame);
        }
        done
    }

    /// Carries out what controllers want, all of it, at the present instant.
    pub fn work(&mut self) {
        for place in 0..self.routers.len() {
            self.with_agent(place, |agent, plane| {
                while agent.work(plane, AGENT_STEPS) {}
                agent.handle_events(plane);
            });
            let now = self.world.now();
            self.routers[place].tell(now);
        }
    }

    /// Does what is due at the present instant for controllers and those who watch routers.
    pub fn handle_time(&mut self) {
        let now = self.world.now();
        for place in 0..self.routers.len() {
            if self.routers[place].agent.next_due().is_none_or(|due| due > now) {
                continue;
            }
            self.with_agent(place, |agent, plane| {
                agent.handle_time(now);
                while agent.work(plane, AGENT_STEPS) {}
                while agent.next_sample(now).is_some() {
                    agent.sample(plane);
                }
                agent.handle_events(plane);
            });
            self.routers[place].tell(now);
        }
    }

    /// Sends watchers all events until now, including those that were to come with the next sample.
    pub fn wake_readers(&self) {
        self.routers.iter().flat_map(|router| router.agent.feeds()).for_each(|feed| feed.wake());
    }

    /// When that is to be called next, after the present instant.
    pub fn next_due(&self) -> Option<Time> {
        let now = self.world.now();
        let due = self.routers.iter().filter_map(|router| router.agent.next_due());
        due.filter(|due| *due > now).min()
    }

    /// Whether something is left to happen at the present instant.
    pub fn is_due_now(&self) -> bool {
        self.world.next_due().is_some_and(|due| due <= self.world.now())
    }

    /// Hands on what routers have said while time passed; whether a packet was among it.
    pub fn deliver(&mut self) -> bool {
        let mut packet_in = false;
        while let Some(report) = self.world.poll_report() {
            let (Report::Digest { router: node, at, .. }
            | Report::PacketIn { router: node, at, .. }) = &report;
            let (node, at) = (*node, *at);
            let Some(router) = self.routers.iter_mut().find(|it| it.node == node) else { continue };
            match report {
                Report::Digest { list, values, .. } => router.agent.handle_digest(at, list, values),
                Report::PacketIn { bytes, .. } => {
                    packet_in = true;
                    router.agent.handle_packet_in(bytes);
                }
            }
            router.tell(at);
        }
        for place in 0..self.routers.len() {
            if self.routers[place].agent.feeds().next().is_some() {
                self.with_agent(place, |agent, plane| agent.handle_events(plane));
            }
        }
        packet_in
    }

    /// Switches a router off and on: what it begins with is what it was built with.
    pub fn restart(&mut self, name: &str, wake: &Wake) -> Result<(u64, Served), Refusal> {
        let place = self.topology.routers.iter().position(|router| router.name == name);
        let place =
            place.ok_or_else(|| Refusal::not_found(format!("there is no router {name:?}")))?;
        let config = &self.topology.routers[place];
        let device = topology::router_device(config, self.seed, self.compile);
        // It was built before.
        let device =
            device.map_err(|_| Refusal::new(Code::Internal, "it cannot be built again"))?;
        let router = &mut self.routers[place];
        router.end(&Refusal::new(Code::Unavailable, format!("the router {name} was restarted")));
        let (device_id, node) = (router.device_id, router.node);
        self.world.restart(node, device);
        self.guests.forget_router(node);
        self.routers[place] = Router::new(device_id, node, wake);
        Ok((device_id, self.served_router(&self.routers[place])))
    }
}

/// A router as its agent sees it.
pub struct Plane<'a> {
    device: &'a mut Device,
    now: Time,
    packet_outs: &'a mut Vec<Vec<u8>>,
}

impl DataPlane for Plane<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn device(&mut self) -> &mut Device {
        self.device
    }

    fn packet_out(&mut self, frame: Vec<u8>) {
        self.packet_outs.push(frame);
    }

    fn new_port(&self) -> PortConfig {
        topology::new_port()
    }

    fn netdev_of(&self, _port: PortId) -> Option<String> {
        None
    }

    fn netdev_counters(&mut self, _port: PortId) -> Option<NetdevCounters> {
        None
    }

    fn may_remove(&self, port: PortId) -> Result<(), Refusal> {
        Err(Refusal::unimplemented(format!(
            "port {port} stays: the ports of this router are those that its network was built with"
        )))
    }

    fn attach(&mut self, _port: PortId, _opened: Opened) {
        // Nobody opens devices here.
    }

    fn detach(&mut self, _port: PortId) -> Option<Opened> {
        None
    }

    fn epoch_offset_ns(&self) -> i64 {
        0
    }
}
