//! A network as data: what a topology file says, with the same words.
//!
//! A [`Topology`] is a plain value that may contradict itself; [`Topology::check`] says whether it
//! does, and every network is built from one that was checked.

use core::net::IpAddr;
use std::collections::BTreeSet;
use std::fmt;

use device::LinkConfig;
use hosts::TcpSettings;
use traffic::{BufferConfig, InputConfig, PortConfig};
use units::{Bytes, PortId};
use wire::MacAddress;

/// Hosts, routers and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Machines with one interface.
    pub hosts: Vec<HostSpec>,
    /// Routers.
    pub routers: Vec<RouterSpec>,
    /// Cables.
    pub links: Vec<LinkSpec>,
    /// Hosts ask who has their gateway's address (ARP, neighbour discovery) instead of knowing it
    /// from the start.
    pub asks_for_gateways: bool,
}

/// A host behind one port of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// Such as `h1`.
    pub name: String,
    /// Of its interface.
    pub mac: MacAddress,
    /// Its IPv4 address, and its IPv6 address if it has one, each with the router's address in the
    /// same network.
    pub addresses: Vec<(Address, IpAddr)>,
    /// How its TCP behaves.
    pub tcp: TcpSettings,
}

/// An address and the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// How many bits of it name the network.
    pub prefix_bits: u8,
}

/// A router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterSpec {
    /// Such as `s1`.
    pub name: String,
    /// The number by which P4Runtime addresses it.
    pub device_id: u64,
    /// Its ports, without that of the controller.
    pub ports: Vec<PortSpec>,
    /// A memory that all output queues share.
    pub buffer: Option<BufferConfig>,
    /// Queues in front of the fabric, and the fabric.
    pub input: Option<InputConfig>,
}

/// A port of a router, with its end of the cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// The number that programs and P4Runtime use.
    pub number: PortId,
    /// The router's own there.
    pub mac: MacAddress,
    /// The router's own there; the networks they lie in are the port's.
    pub addresses: Vec<Address>,
    /// Queues, scheduler and line.
    pub settings: PortConfig,
    /// The link that the port emulates.
    pub link: LinkConfig,
}

/// A cable between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// The two ends that it joins.
    pub ends: [EndSpec; 2],
    /// The longest IP packet that it takes.
    pub mtu: Bytes,
}

/// One end of a link: a node, and the port where the node is a router.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndSpec {
    /// The host or router.
    pub node: String,
    /// The router's port.
    pub port: Option<PortId>,
}

/// Where a topology contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// Where: `links[2]`.
    pub place: String,
    /// The mistake and its correction.
    pub message: String,
}

impl fmt::Display for EndSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            None => write!(f, "{}", self.node),
            Some(port) => write!(f, "{}:{port}", self.node),
        }
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for TopologyError {}

impl Topology {
    /// The host of that name.
    pub fn host(&self, name: &str) -> Option<&HostSpec> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The router of that name.
    pub fn router(&self, name: &str) -> Option<&RouterSpec> {
        self.routers.iter().find(|router| router.name == name)
    }

    /// The other end of the cable at `end`.
    pub fn neighbour(&self, end: &EndSpec) -> Option<&EndSpec> {
        self.links.iter().find_map(|link| match &link.ends {
            [one, other] if one == end => Some(other),
            [one, other] if other == end => Some(one),
            _ => None,
        })
    }

    /// The cable of a host.
    pub fn link_of(&self, host: &str) -> Option<&LinkSpec> {
        self.links.iter().find(|link| link.ends.iter().any(|end| end.node == host))
    }

    /// The port of a router that a host hangs on.
    pub fn attachment(&self, host: &str) -> Option<(&RouterSpec, &PortSpec)> {
        let end = self.neighbour(&EndSpec { node: host.to_owned(), port: None })?;
        let router = self.router(&end.node)?;
        Some((router, router.port(end.port?)?))
    }

    /// Whether names, numbers and ends fit together; the error names the first place that does not.
    pub fn check(&self) -> Result<(), TopologyError> {
        let error = |place: String, message: String| Err(TopologyError { place, message });
        let mut names = BTreeSet::new();
        let hosts = self.hosts.iter().map(|host| &host.name);
        for name in hosts.chain(self.routers.iter().map(|router| &router.name)) {
            if !names.insert(name) {
                return error(
                    name.clone(),
                    "the name is used twice; give each node its own".into(),
                );
            }
        }
        let mut device_ids = BTreeSet::new();
        for router in &self.routers {
            if !device_ids.insert(router.device_id) {
                let message = format!("device id {} is another router's", router.device_id);
                return error(router.name.clone(), message);
            }
            let mut numbers = BTreeSet::new();
            if let Some(port) = router.ports.iter().find(|port| !numbers.insert(port.number)) {
                let message = format!("there are two ports {}", port.number);
                return error(router.name.clone(), message);
            }
        }
        let mut ends = BTreeSet::new();
        for (number, link) in self.links.iter().enumerate() {
            let place = format!("links[{number}]");
            for end in &link.ends {
                if let Some(message) = self.misfit(end) {
                    return error(place, message);
                }
                if !ends.insert(end) {
                    return error(place, format!("{end} has a cable already"));
                }
            }
            if link.ends.iter().all(|end| end.port.is_none()) {
                let message = "the link joins two hosts; put a router between them".to_owned();
                return error(place, message);
            }
        }
        match self.hosts.iter().find(|host| self.attachment(&host.name).is_none()) {
            Some(host) => error(host.name.clone(), "the host is on no link".to_owned()),
            None => Ok(()),
        }
    }

    /// The mistake at the end of a link, if there is one.
    fn misfit(&self, end: &EndSpec) -> Option<String> {
        let EndSpec { node, port } = end;
        match (self.host(node), self.router(node), port) {
            (Some(_), _, Some(_)) => {
                Some(format!("{end}: a host has one interface, leave the port out"))
            }
            (Some(_), _, None) => None,
            (None, None, _) => Some(format!("{end}: there is no host or router {node}")),
            (None, Some(_), None) => Some(format!("{end}: say which port, as in {node}:1")),
            (None, Some(router), Some(number)) => {
                let missing = router.port(*number).is_none();
                missing.then(|| format!("{end}: {node} has no port {number}"))
            }
        }
    }
}

impl RouterSpec {
    /// The port of that number.
    pub fn port(&self, number: PortId) -> Option<&PortSpec> {
        self.ports.iter().find(|port| port.number == number)
    }
}
