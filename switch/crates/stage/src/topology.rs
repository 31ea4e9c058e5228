//! From a topology's messages to what a world is made of, with everything that is wrong with them.

use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet};

use device::Device;
use hosts::{HostConfig, Interface, NetdevConfig, Route};
use messages::vitrine::v1;
use p4runtime::router::Problem;
use p4runtime::router::config::Draft;
use pipeline::native::Compile;
use traffic::PortConfig;
use units::{Bytes, CLASS_COUNT_MAX, PortId, Time};
use wire::MacAddress;
use world::network::CPU_PORT;

use crate::problems::Problems;
use crate::tcp::{self, NamedAlgorithm};

/// Ethernet's usual MTU; RFC 791's least and IP's most.
const MTU_BYTES: u64 = 1500;
const MTU_BYTES_MIN: u64 = 576;
const MTU_BYTES_MAX: u64 = 65_535;

/// Where a cable is plugged in: a host, or a port of a router.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plug {
    pub node: String,
    pub port: Option<PortId>,
}

impl Plug {
    pub fn of(end: &v1::CableEnd) -> Plug {
        // An invalid number is no port of any router, and is reported as such.
        let port = end.port.map(|port| PortId(u16::try_from(port).unwrap_or(u16::MAX)));
        Plug { node: end.node.clone(), port }
    }
}

impl std::fmt::Display for Plug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            None => write!(f, "{}", self.node),
            Some(port) => write!(f, "{}:{port}", self.node),
        }
    }
}

/// The parts of a network, in the order of the messages.
pub struct Parts {
    pub hosts: Vec<HostConfig>,
    pub routers: Vec<Device>,
    pub cables: Vec<[Plug; 2]>,
}

/// The parts of a topology, or all that is wrong with it.
pub fn parts(
    topology: &v1::Topology,
    seed: u64,
    compile: Option<Compile>,
    algorithm: &mut NamedAlgorithm<'_>,
) -> Result<Parts, Vec<Problem>> {
    let mut problems = Problems::default();
    check_names(topology, &mut problems);
    let cables = cables(topology, &mut problems);
    let mtus = mtus(topology, &mut problems);
    let hosts = topology.hosts.iter().enumerate();
    let hosts = hosts.map(|(number, host)| {
        let mtu = mtus.get(&host.name).copied().unwrap_or(MTU_BYTES);
        host_config(host, &host_place(number, host), mtu, seed, algorithm, &mut problems)
    });
    let hosts = hosts.collect();
    let routers = topology.routers.iter().filter_map(|router| {
        router_device(router, seed, compile).map_err(|found| problems.0.extend(found)).ok()
    });
    let routers = routers.collect();
    if problems.0.is_empty() { Ok(Parts { hosts, routers, cables }) } else { Err(problems.0) }
}

fn host_place(number: usize, host: &v1::HostConfig) -> String {
    if host.name.is_empty() { format!("hosts[{number}]") } else { format!("host {}", host.name) }
}

fn check_names(topology: &v1::Topology, problems: &mut Problems) {
    let hosts = topology.hosts.iter().map(|host| (&host.name, "hosts"));
    let routers = topology.routers.iter().map(|router| (&router.name, "routers"));
    let mut names = BTreeSet::new();
    for (name, list) in hosts.chain(routers) {
        if name.is_empty() {
            problems.add(list, "one without a name", "give each its own, such as h1 or s1");
        } else if !names.insert(name) {
            problems.add(format!("{list}, {name}"), "the name is used twice", "give each its own");
        }
    }
    let mut ids = BTreeSet::new();
    for router in &topology.routers {
        let place = format!("router {}, device_id", router.name);
        if router.device_id == 0 {
            problems.add(
                place,
                "0",
                "give each router a number from 1, by which P4Runtime names it",
            );
        } else if !ids.insert(router.device_id) {
            problems.add(place, router.device_id.to_string(), "it is another router's");
        }
    }
}

// ---- cables ------------------------------------------------------------------------------------

fn cables(topology: &v1::Topology, problems: &mut Problems) -> Vec<[Plug; 2]> {
    let mut used = BTreeSet::new();
    let mut cables = Vec::new();
    for (number, cable) in topology.cables.iter().enumerate() {
        let place = format!("cables[{number}]");
        let (Some(one), Some(other)) = (&cable.one, &cable.other) else {
            problems.add(place, "it has an end that is not set", "a cable has two ends");
            continue;
        };
        let plugs = [Plug::of(one), Plug::of(other)];
        for plug in &plugs {
            if let Some((found, advice)) = misfit(topology, plug) {
                problems.add(&place, found, advice);
            } else if !used.insert(plug.clone()) {
                problems.add(&place, format!("{plug} has a cable already"), "plug it in elsewhere");
            }
        }
        if plugs.iter().all(|plug| plug.port.is_none()) {
            let found = format!("it joins two hosts, {} and {}", plugs[0], plugs[1]);
            problems.add(place, found, "put a router between them");
        }
        cables.push(plugs);
    }
    for (number, host) in topology.hosts.iter().enumerate() {
        if !used.contains(&Plug { node: host.name.clone(), port: None }) {
            let place = host_place(number, host);
            problems.add(place, "no cable is plugged in", "name the host at the end of a cable");
        }
    }
    cables
}

/// The mistake at the end of a cable, and its correction.
fn misfit(topology: &v1::Topology, plug: &Plug) -> Option<(String, String)> {
    let Plug { node, port } = plug;
    let is_host = topology.hosts.iter().any(|host| host.name == *node);
    let router = topology.routers.iter().find(|router| router.name == *node);
    match (is_host, router, port) {
        (true, _, Some(_)) => Some((
            format!("port {} of host {node}", port.unwrap_or_default()),
            "a host has one network card: leave the port out".to_owned(),
        )),
        (true, _, None) => None,
        (false, None, _) => {
            Some((format!("{plug}: there is no host or router {node:?}"), "check the name".into()))
        }
        (false, Some(_), None) => {
            Some((format!("router {node} without a port"), "say which port".into()))
        }
        (false, Some(router), Some(port)) => {
            let has_it = router.ports.iter().any(|each| each.port == u32::from(port.0));
            let advice = format!("add port {port} to the ports of {node}, or take another");
            (!has_it).then(|| (format!("{node} has no port {port}"), advice))
        }
    }
}

/// The MTU of each host's cable.
fn mtus(topology: &v1::Topology, problems: &mut Problems) -> BTreeMap<String, u64> {
    let mut mtus = BTreeMap::new();
    for (number, cable) in topology.cables.iter().enumerate() {
        let mtu = if cable.mtu_bytes == 0 { MTU_BYTES } else { cable.mtu_bytes };
        check_mtu(mtu, &format!("cables[{number}], mtu_bytes"), problems);
        for end in [&cable.one, &cable.other].into_iter().flatten() {
            mtus.insert(end.node.clone(), mtu);
        }
    }
    mtus
}

fn check_mtu(mtu: u64, place: &str, problems: &mut Problems) {
    if !(MTU_BYTES_MIN..=MTU_BYTES_MAX).contains(&mtu) {
        let advice = format!("it must be from {MTU_BYTES_MIN} to {MTU_BYTES_MAX}");
        problems.add(place, mtu.to_string(), advice);
    }
}

// ---- hosts -------------------------------------------------------------------------------------

fn host_config(
    host: &v1::HostConfig,
    place: &str,
    cable_mtu: u64,
    seed: u64,
    algorithm: &mut NamedAlgorithm<'_>,
    problems: &mut Problems,
) -> HostConfig {
    let mac = mac_of(&host.mac, &format!("{place}, mac"), problems);
    let interfaces: Vec<Interface> = host
        .addresses
        .iter()
        .filter_map(|text| interface_of(text, &format!("{place}, addresses"), problems))
        .collect();
    if host.addresses.is_empty() {
        problems.add(format!("{place}, addresses"), "none", "give it one, such as 10.0.1.1/24");
    }
    let mut card = NetdevConfig::new(&format!("{}-eth0", host.name), mac, interfaces);
    let mtu = host.mtu_bytes.unwrap_or(cable_mtu);
    check_mtu(mtu, &format!("{place}, mtu_bytes"), problems);
    card.mtu = Bytes(mtu);
    if let Some(packets) = host.queue_packets {
        card.queue_frames_max = packets as usize;
    }
    for neighbour in &host.neighbours {
        let place = format!("{place}, neighbours");
        let address = address_of(&neighbour.address, &place, problems);
        let mac = mac_of(&neighbour.mac, &place, problems);
        card.neighbours.extend(address.map(|address| (address, mac)));
    }
    let routes = routes(host, &card.interfaces, &format!("{place}, gateways"), problems);
    let tcp = tcp::settings(host.tcp.as_ref(), place, algorithm, problems);
    HostConfig { name: host.name.clone(), netdevs: vec![card], routes, tcp, seed }
}

fn routes(
    host: &v1::HostConfig,
    interfaces: &[Interface],
    place: &str,
    problems: &mut Problems,
) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    for text in &host.gateways {
        let Some(gateway) = address_of(text, place, problems) else { continue };
        if !interfaces.iter().any(|interface| interface.reaches(gateway)) {
            let found = format!("{gateway} is in none of the host's networks");
            problems.add(place, found, "take an address of the router in one of them");
        }
        if routes.iter().any(|route| route.gateway.is_ipv4() == gateway.is_ipv4()) {
            let found = format!("{gateway} beside another of its kind");
            problems.add(place, found, "give one of IPv4 and one of IPv6 at the most");
        }
        routes.push(Route::default_by(gateway));
    }
    routes
}

fn mac_of(text: &str, place: &str, problems: &mut Problems) -> MacAddress {
    let byte = |pair: &str| {
        let is_pair = pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_pair.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
    };
    let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
    let mac = bytes.and_then(|bytes| bytes.try_into().ok()).map(MacAddress);
    match mac.filter(|mac| !mac.is_multicast()) {
        Some(mac) => mac,
        None => {
            let advice = "an Ethernet address of one card is six pairs of digits, the first of \
                          them even: 02:00:00:00:01:01";
            problems.add(place, format!("{text:?}"), advice);
            MacAddress::default()
        }
    }
}

fn address_of(text: &str, place: &str, problems: &mut Problems) -> Option<IpAddr> {
    let address = text.parse().ok();
    if address.is_none() {
        problems.add(place, format!("{text:?}"), "an address is such as 10.0.1.10 or 2001:db8::1");
    }
    address
}

fn interface_of(text: &str, place: &str, problems: &mut Problems) -> Option<Interface> {
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let address: Option<IpAddr> = address.parse().ok();
    let most = if address.is_some_and(|address| address.is_ipv4()) { 32 } else { 128 };
    let bits: Option<u8> = bits.parse().ok().filter(|bits| *bits <= most);
    let interface =
        address.zip(bits).map(|(address, prefix_bits)| Interface { address, prefix_bits });
    if interface.is_none() {
        let advice = "write the address and the length of its network's prefix, such as \
                      10.0.1.1/24 or 2001:db8:1::1/64";
        problems.add(place, format!("{text:?}"), advice);
    }
    interface
}

// ---- routers -----------------------------------------------------------------------------------

/// The seed of a router's dice.
pub fn router_seed(seed: u64, device_id: u64) -> u64 {
    seed ^ device_id.rotate_left(32)
}

/// A router without a program. Each throws dice of its own: its number is mixed into the seed, so
/// that no two drop the same packets.
pub fn router_device(
    router: &v1::RouterConfig,
    seed: u64,
    compile: Option<Compile>,
) -> Result<Device, Vec<Problem>> {
    let seed = router_seed(seed, router.device_id);
    let cpu_port = Some(CPU_PORT);
    let config = pipeline::Config { cpu_port, seed, compile, ..pipeline::Config::default() };
    let mut device = Device::new(config);
    let mut draft = Draft::new(router.buffer, router.input);
    draft.add_port(CPU_PORT, new_port());
    let mut problems = Problems::default();
    let mut numbers = BTreeSet::new();
    for change in &router.ports {
        let port = u16::try_from(change.port).ok().map(PortId).filter(|port| *port < CPU_PORT);
        let place = format!("port {}", change.port);
        match port {
            None => {
                let advice = format!("ports are 0 to {}", CPU_PORT.0 - 1);
                problems.add(place, "no port of a network", advice);
            }
            Some(port) if numbers.insert(port) => draft.add_port(port, new_port()),
            Some(_) => problems.add(place, "there are two of this number", "name each once"),
        }
    }
    if problems.0.is_empty() {
        router.ports.iter().for_each(|change| draft.edit_port(&device, change));
        match draft.finish() {
            Ok(change) => problems.0.extend(device.change(Time::ZERO, change).err()),
            Err(found) => problems.0.extend(found),
        }
    }
    let within = |problem: Problem| Problem {
        place: format!("router {}, {}", router.name, problem.place),
        ..problem
    };
    match problems.0.is_empty() {
        true => Ok(device),
        false => Err(problems.0.into_iter().map(within).collect()),
    }
}

/// As vitrine-switch has a port of its command line.
pub fn new_port() -> PortConfig {
    PortConfig::strict(None, CLASS_COUNT_MAX)
}
