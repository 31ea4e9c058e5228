//! The configuration of a host.

use core::net::{IpAddr, Ipv4Addr};

use units::{Bytes, Rate};
use wire::MacAddress;

use crate::tcp::TcpSettings;

/// An address and the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The host's own.
    pub address: IpAddr,
    /// How many bits of it name the network.
    pub prefix_bits: u8,
}

impl Interface {
    /// Whether `other` is in the same network.
    pub fn reaches(&self, other: IpAddr) -> bool {
        is_in(other, self.address, self.prefix_bits)
    }
}

/// One card of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetdevConfig {
    /// Such as `h1-eth0`.
    pub name: String,
    /// Its own.
    pub mac: MacAddress,
    /// Its addresses, of both families in any order.
    pub interfaces: Vec<Interface>,
    /// The largest IP packet.
    pub mtu: Bytes,
    /// How fast frames leave towards the cable; none: at once, the cable has the rate.
    pub rate: Option<Rate>,
    /// A frame's additional time on the line, in bytes: preamble, gap, check sequence.
    pub overhead: Bytes,
    /// How many frames may wait; further ones are dropped (and TCP slows down).
    pub queue_frames_max: usize,
    /// Neighbours that need no ARP.
    pub neighbours: Vec<(IpAddr, MacAddress)>,
}

impl NetdevConfig {
    /// A card with one address, an MTU of 1500 bytes and no rate of its own.
    pub fn new(name: &str, mac: MacAddress, interfaces: Vec<Interface>) -> NetdevConfig {
        NetdevConfig {
            name: name.to_owned(),
            mac,
            interfaces,
            mtu: Bytes(1500),
            rate: None,
            overhead: Bytes::ZERO,
            queue_frames_max: 10_000,
            neighbours: Vec::new(),
        }
    }
}

/// Where packets for a network go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The network; `0.0.0.0/0` and `::/0` are everything.
    pub network: IpAddr,
    pub prefix_bits: u8,
    /// The neighbour that knows the way.
    pub gateway: IpAddr,
}

impl Route {
    /// Everything that is not in a network of the host's own.
    pub fn default_by(gateway: IpAddr) -> Route {
        let network = match gateway {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::V6(core::net::Ipv6Addr::UNSPECIFIED),
        };
        Route { network, prefix_bits: 0, gateway }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Such as `h1`; with `seed`, the name of its dice.
    pub name: String,
    /// Its cards; [`crate::NetdevId`] counts them.
    pub netdevs: Vec<NetdevConfig>,
    /// The longest prefix that fits counts.
    pub routes: Vec<Route>,
    /// How its TCP behaves.
    pub tcp: TcpSettings,
    /// Of the run.
    pub seed: u64,
}

/// Whether `address` is in the network `network/prefix_bits`.
pub(crate) fn is_in(address: IpAddr, network: IpAddr, prefix_bits: u8) -> bool {
    let same = |left: u128, right: u128, width: u32| {
        let other = width.saturating_sub(u32::from(prefix_bits));
        other >= width || left >> other == right >> other
    };
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            same(u128::from(a.to_bits()), u128::from(b.to_bits()), 32)
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits(), b.to_bits(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_tell_networks_apart() {
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        let cases = [
            ("10.0.1.7", "10.0.1.0", 24, true),
            ("10.0.2.7", "10.0.1.0", 24, false),
            ("10.0.2.7", "0.0.0.0", 0, true),
            ("10.0.1.7", "10.0.1.7", 32, true),
            ("2001:db8::1", "2001:db8::", 64, true),
            ("2001:db8:0:1::1", "2001:db8::", 64, false),
            ("2001:db8::1", "::", 0, true),
            ("10.0.1.7", "::", 0, false),
        ];
        for (address, network, bits, inside) in cases {
            assert_eq!(is_in(ip(address), ip(network), bits), inside, "{address} {network}/{bits}");
        }
    }
}
