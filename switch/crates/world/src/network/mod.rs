//! A world with names: built from a topology, controlled by the names of its nodes.

mod hosts;
mod routes;
mod topology;

use std::collections::BTreeMap;
use std::fmt;

use device::{Change, Device};
use pipeline::Pipeline;
use traffic::PortConfig;
use units::{CLASS_COUNT_MAX, PortId, Time};

use crate::cable::{CableId, End};
use crate::host::Host;
use crate::world::{NodeId, World};

pub use hosts::host;
pub use routes::{Route, fill_router};
pub use topology::{
    Address, EndSpec, HostSpec, LinkSpec, PortSpec, RouterSpec, Topology, TopologyError,
};

/// The port by which routers talk to their controllers, unless they have another one.
pub const CPU_PORT: PortId = PortId(510);

/// A world and what its nodes are called.
pub struct Network<H> {
    /// The network in time.
    pub world: World<H>,
    topology: Topology,
    nodes: BTreeMap<String, NodeId>,
    /// In the order of the topology's links.
    cables: Vec<CableId>,
}

/// The makers of the nodes that a topology only names.
pub struct Makers<'a, H> {
    /// A host; the number is the seed of the run.
    pub host: &'a mut dyn FnMut(&Topology, &HostSpec, u64) -> H,
    /// The program of a router, loaded with the configuration of its device.
    pub program: &'a mut dyn FnMut(&RouterSpec, pipeline::Config) -> Result<Pipeline, String>,
    /// Compiles programs to machine code; none: they are interpreted.
    pub compile: Option<pipeline::native::Compile>,
}

/// Why there is no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A program cannot be had, or not be filled.
    Program {
        /// The router.
        router: String,
        /// The mistake.
        message: String,
    },
    /// The queues or cables of a router cannot be so.
    Router {
        /// Which.
        router: String,
        /// The mistake.
        error: traffic::ConfigError,
    },
    /// The topology contradicts itself.
    Topology(TopologyError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Program { router, message } => write!(f, "{router}: {message}"),
            BuildError::Router { router, error } => write!(f, "{router}: {error}"),
            BuildError::Topology(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl<H: Host> Network<H> {
    /// Builds the network of a topology; `seed` is that of the run. A router throws dice of its own:
    /// its device id is mixed into the seed, so that no two drop the same packets.
    pub fn build(
        topology: Topology,
        seed: u64,
        makers: Makers<'_, H>,
    ) -> Result<Network<H>, BuildError> {
        topology.check().map_err(BuildError::Topology)?;
        let mut world = World::new();
        let mut nodes = BTreeMap::new();
        for spec in &topology.hosts {
            let host = (makers.host)(&topology, spec, seed);
            nodes.insert(spec.name.clone(), world.add_host(host));
        }
        for spec in &topology.routers {
            let config = pipeline::Config {
                cpu_port: Some(CPU_PORT),
                seed: seed ^ spec.device_id.rotate_left(32),
                compile: makers.compile,
                ..pipeline::Config::default()
            };
            let router = spec.name.clone();
            let device = device(spec, config)
                .map_err(|error| BuildError::Router { router: router.clone(), error })?;
            let program = (makers.program)(spec, config)
                .map_err(|message| BuildError::Program { router: router.clone(), message })?;
            let node = world.add_router(device, Some(CPU_PORT));
            world.with_router(node, |device, _| device.install(Box::new(program)));
            nodes.insert(router, node);
        }
        let end = |end: &EndSpec| nodes[&end.node].port(end.port.map_or(0, |port| port.0));
        let cable = |link: &LinkSpec| world.connect(end(&link.ends[0]), end(&link.ends[1]));
        let cables = topology.links.iter().map(cable).collect();
        Ok(Network { world, topology, nodes, cables })
    }

    /// The topology that it was built from.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.get(name).copied()
    }

    /// The router that P4Runtime addresses by this number.
    pub fn router_of(&self, device_id: u64) -> Option<NodeId> {
        let spec = self.topology.routers.iter().find(|router| router.device_id == device_id)?;
        self.node(&spec.name)
    }

    /// The port at one end of a link.
    pub fn end(&self, end: &EndSpec) -> Option<End> {
        Some(self.node(&end.node)?.port(end.port.map_or(0, |port| port.0)))
    }

    /// The cable of the topology's link of that number.
    pub fn cable(&self, link: usize) -> Option<CableId> {
        self.cables.get(link).copied()
    }
}

/// A device with the ports of a router, the controller's among them.
fn device(spec: &RouterSpec, config: pipeline::Config) -> Result<Device, traffic::ConfigError> {
    let mut change = Change::default();
    for port in &spec.ports {
        change.traffic.ports.insert(port.number, Some(port.settings.clone()));
        change.links.insert(port.number, port.link.clone());
    }
    let cpu_port = PortConfig::strict(None, CLASS_COUNT_MAX);
    change.traffic.ports.insert(CPU_PORT, Some(cpu_port));
    change.traffic.buffer = Some(spec.buffer);
    change.traffic.input = Some(spec.input.clone());
    let mut device = Device::new(config);
    device.change(Time::ZERO, change)?;
    Ok(device)
}
