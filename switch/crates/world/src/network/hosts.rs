//! Hosts with TCP and applications in a world.
//!
//! A host's card has no rate here: what it sends crosses its cable at once, and the port at the
//! other end emulates card, line and cable, as it does where hosts are live. So a topology means the
//! same in both worlds.

use frames::{Frame, Pool};
use hosts::{HostConfig, Interface, NetdevConfig, NetdevId, Route};
use units::{PortId, Time};

use super::topology::{HostSpec, Topology};
use crate::host::Host;

impl Host for hosts::Host {
    fn handle_frame(&mut self, now: Time, port: PortId, frame: Frame, frames: &mut Pool) {
        let card = NetdevId(port.index());
        // Why it is dropped, if it is, stands in the host's books.
        let _counted = hosts::Host::handle_frame(self, now, card, &frame);
        frames.recycle(frame);
    }

    fn handle_time(&mut self, now: Time) {
        hosts::Host::handle_time(self, now);
    }

    fn poll_transmit(&mut self, now: Time, frames: &mut Pool) -> Option<(PortId, Frame)> {
        let mut frame = frames.spare();
        loop {
            if let Some(sent) = hosts::Host::poll_transmit(self, now, &mut frame) {
                assert_eq!(sent.left_at, now, "in a world the router's port has the line's rate");
                return Some((PortId(sent.netdev.0 as u16), frame));
            }
            // A frame that has left may have made something due at this very instant.
            if hosts::Host::next_due(self).is_none_or(|due| due > now) {
                frames.recycle(frame);
                return None;
            }
            hosts::Host::handle_time(self, now);
        }
    }

    fn next_due(&self) -> Option<Time> {
        hosts::Host::next_due(self)
    }

    fn balances(&self, received: u64, sent: u64) -> bool {
        let books = self.books();
        books.balance() && (books.received, books.sent) == (received, sent)
    }
}

/// The host of a topology, without applications, for [`Makers::host`](super::Makers::host); `seed`
/// is that of the run. As for live hosts, it knows its gateway's Ethernet address, unless the
/// topology says that hosts use ARP.
pub fn host(topology: &Topology, spec: &HostSpec, seed: u64) -> hosts::Host {
    let gateways = || spec.addresses.iter().map(|(_, gateway)| *gateway);
    let interface = |(own, _): &(super::Address, _)| Interface {
        address: own.ip,
        prefix_bits: own.prefix_bits,
    };
    let interfaces = spec.addresses.iter().map(interface).collect();
    let mut card = NetdevConfig::new(&format!("{}-eth0", spec.name), spec.mac, interfaces);
    if let Some(link) = topology.link_of(&spec.name) {
        card.mtu = link.mtu;
    }
    if let Some((_, port)) = topology.attachment(&spec.name)
        && !topology.asks_for_gateways
    {
        card.neighbours = gateways().map(|gateway| (gateway, port.mac)).collect();
    }
    hosts::Host::new(HostConfig {
        name: spec.name.clone(),
        netdevs: vec![card],
        routes: gateways().map(Route::default_by).collect(),
        tcp: spec.tcp.clone(),
        seed,
    })
}
