//! Which way packets take: the shortest, and how it is written into the kit's router.
//!
//! Where controllers run they fill the tables, as they do of live routers; this is for worlds
//! without any.

use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};

use bits::Int;
use pipeline::{Entry, EntryAction, KeyMatch, Pipeline};
use units::{PortId, Time};
use wire::MacAddress;

use super::topology::{EndSpec, HostSpec, Topology};

/// A router's way to one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destination.
    pub to: IpAddr,
    /// Out by this port.
    pub port: PortId,
    /// The port's own address.
    pub from_mac: MacAddress,
    /// The next hop's.
    pub to_mac: MacAddress,
}

impl Topology {
    /// The routes of each router, by name: over the fewest links, and of equals over the link that
    /// comes first in the topology.
    pub fn routes(&self) -> BTreeMap<String, Vec<Route>> {
        let mut routes: BTreeMap<String, Vec<Route>> = BTreeMap::new();
        for host in &self.hosts {
            for (router, (port, from_mac, to_mac)) in self.ways_to(host) {
                let to_host = host.addresses.iter().map(|(address, _)| address.ip);
                let to_host = to_host.map(|to| Route { to, port, from_mac, to_mac });
                routes.entry(router).or_default().extend(to_host);
            }
        }
        routes
    }

    /// For each router that can reach the host: the port, its address and that of the next hop.
    fn ways_to(&self, host: &HostSpec) -> BTreeMap<String, (PortId, MacAddress, MacAddress)> {
        let mut ways = BTreeMap::new();
        let Some((last, port)) = self.attachment(&host.name) else { return ways };
        ways.insert(last.name.clone(), (port.number, port.mac, host.mac));
        let mut reached = VecDeque::from([last]);
        while let Some(router) = reached.pop_front() {
            for link in &self.links {
                let [one, other] = &link.ends;
                for (near, far) in [(one, other), (other, one)] {
                    let Some(beside) = self.router(&far.node) else { continue };
                    if near.node != router.name || ways.contains_key(&beside.name) {
                        continue;
                    }
                    let port_of = |end: &EndSpec| self.router(&end.node)?.port(end.port?);
                    let (Some(near), Some(far)) = (port_of(near), port_of(far)) else { continue };
                    ways.insert(beside.name.clone(), (far.number, far.mac, near.mac));
                    reached.push_back(beside);
                }
            }
        }
        ways
    }
}

/// Writes routes into `router.p4` or a program with its tables. The error says what is missing.
pub fn fill_router(pipeline: &mut Pipeline, routes: &[Route]) -> Result<(), String> {
    for route in routes {
        let (family, value, length_bits) = match route.to {
            IpAddr::V4(ip) => ("ipv4", Int::from(u64::from(ip.to_bits())), 32),
            IpAddr::V6(ip) => ("ipv6", Int::from_be_bytes(&ip.octets()), 128),
        };
        let name = format!("ingress.routing.{family}_routes");
        let table =
            pipeline.table_index(&name).ok_or(format!("the program has no table {name}"))?;
        let name = "ingress.routing.set_next_hop";
        let action = pipeline.action_index(table, name);
        let action = action.ok_or(format!("the program has no action {name}"))?;
        let mac = |mac: MacAddress| Int::from_be_bytes(&mac.0);
        let data = vec![Int::from(u64::from(route.port.0)), mac(route.from_mac), mac(route.to_mac)];
        let key = vec![KeyMatch::Lpm { value, length_bits }];
        let action = EntryAction::Action { action, data };
        let entry = Entry { key, priority: 0, action, idle_timeout: None };
        let inserted = pipeline.insert_entry(table, entry, Time::ZERO);
        inserted.map_err(|error| format!("{}: {error}", route.to))?;
    }
    Ok(())
}
