//! From a transport header to a card's queue: route, neighbour, IP and Ethernet header.

use core::net::IpAddr;
use units::Time;
use wire::{Ecn, EtherType, MacAddress, Protocol, Sum, checksum, ethernet, ipv4, ipv6};

use super::Stack;
use crate::agenda::Wake;
use crate::config::is_in;
use crate::netdev::Held;
use crate::packet::{Body, Head, Packet};
use crate::reason::DropReason;

/// The default number of routers that a packet may pass.
pub(super) const HOP_LIMIT: u8 = 64;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub netdev: usize,
    pub next: IpAddr,
}

/// The parts of a packet apart from its transport header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub protocol: Protocol,
    pub ecn: Ecn,
    /// Where in the transport header its checksum stands, and whether addresses are part of it.
    pub checksum_at: usize,
    pub with_addresses: bool,
    pub hop_limit: u8,
    pub connection: Option<(usize, u32)>,
}

impl Stack {
    /// The way to `destination`: a network of a card's own, else the longest prefix.
    pub(super) fn hop(&self, destination: IpAddr) -> Option<Hop> {
        let attached = |address: IpAddr| {
            let reaches = |netdev: &crate::netdev::Netdev| {
                netdev.config.interfaces.iter().any(|interface| interface.reaches(address))
            };
            self.netdevs.iter().position(reaches)
        };
        if let Some(netdev) = attached(destination) {
            return Some(Hop { netdev, next: destination });
        }
        let fits = self.routes.iter().filter(|r| is_in(destination, r.network, r.prefix_bits));
        let route = fits.max_by_key(|route| route.prefix_bits)?;
        attached(route.gateway).map(|netdev| Hop { netdev, next: route.gateway })
    }

    /// The address of ours that a packet to `destination` carries.
    pub(super) fn source_for(&self, destination: IpAddr) -> Option<IpAddr> {
        let hop = self.hop(destination)?;
        let interfaces = &self.netdevs[hop.netdev].config.interfaces;
        let near = interfaces.iter().find(|interface| interface.reaches(hop.next));
        let same = |address: IpAddr| address.is_ipv4() == destination.is_ipv4();
        near.or(interfaces.iter().find(|interface| same(interface.address))).map(|i| i.address)
    }

    /// Sends a transport header and the part behind it. Packets that cannot leave are counted.
    pub(super) fn send(&mut self, now: Time, envelope: &Envelope, transport: &[u8], body: Body) {
        self.books.made += 1;
        let Some(hop) = self.hop(envelope.destination) else {
            self.books.note_drop(DropReason::NoRoute);
            return;
        };
        let head_length = ip_header_bytes(envelope.destination) + transport.len();
        if head_length + body.length() > self.netdevs[hop.netdev].config.mtu.count() as usize {
            self.books.note_drop(DropReason::TooLong);
            return;
        }
        let packet = self.wrap(hop.netdev, envelope, transport, body);
        let known = self.netdevs[hop.netdev].known(hop.next);
        self.enqueue(now, hop, known, packet);
    }

    /// Puts a packet into the queue of its card, or lets it wait for the neighbour's address.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        hop: Hop,
        known: Option<MacAddress>,
        mut packet: Packet,
    ) {
        if let Some(mac) = known {
            let netdev = &mut self.netdevs[hop.netdev];
            if netdev.room() == 0 {
                self.books.note_drop(DropReason::QueueFull);
                return;
            }
            ethernet::DST_ADDR.set(packet.head.bytes_mut(), mac);
            self.books.waiting += 1;
            netdev.enqueue(packet);
            return;
        }
        match self.netdevs[hop.netdev].hold(now, hop.next, packet) {
            Held::Wait => self.books.waiting += 1,
            Held::Full => self.books.note_drop(DropReason::NeighbourUnknown),
            Held::Ask => {
                self.books.waiting += 1;
                self.ask_neighbour(hop);
                let due = self.netdevs[hop.netdev].questions_due().unwrap_or(Time::MAX);
                self.agenda.note(due, Wake::Neighbours(hop.netdev));
            }
        }
    }

    /// Writes Ethernet and IP header in front of a transport header.
    pub(super) fn wrap(
        &mut self,
        netdev: usize,
        envelope: &Envelope,
        transport: &[u8],
        body: Body,
    ) -> Packet {
        let ip_bytes = ip_header_bytes(envelope.destination);
        let at = ethernet::HEADER_SIZE_BYTES + ip_bytes;
        let mut head = Head::of_length(at + transport.len());
        let bytes = head.bytes_mut();
        ethernet::SRC_ADDR.set(bytes, self.netdevs[netdev].config.mac);
        let length = transport.len() + body.length();
        let ip = &mut bytes[ethernet::HEADER_SIZE_BYTES..];
        let pseudo = self.write_ip(ip, envelope, length);
        let kind = if envelope.destination.is_ipv4() { EtherType::IPV4 } else { EtherType::IPV6 };
        ethernet::ETHER_TYPE.set(bytes, kind);
        bytes[at..].copy_from_slice(transport);
        let start = if envelope.with_addresses { pseudo } else { Sum::ZERO };
        let checksum = Some(((at + envelope.checksum_at) as u8, start.then(transport)));
        Packet { head, body, checksum, connection: envelope.connection }
    }

    /// Writes the IP header and returns the sum of the pseudo-header.
    fn write_ip(&mut self, ip: &mut [u8], envelope: &Envelope, payload_size: usize) -> Sum {
        let Envelope { protocol, ecn, hop_limit, .. } = *envelope;
        match (envelope.source, envelope.destination) {
            (IpAddr::V4(src_addr), IpAddr::V4(dst_addr)) => {
                self.identification = self.identification.wrapping_add(1);
                let identification = self.identification;
                let header = ipv4::Repr {
                    src_addr,
                    dst_addr,
                    protocol,
                    dscp: 0,
                    ecn,
                    ttl: hop_limit,
                    identification,
                    // Path MTU discovery (RFC 1191).
                    dont_fragment: true,
                    payload_size,
                };
                header.emit(ip);
                checksum::pseudo_header(&ip[ipv4::ADDRESSES], protocol, payload_size)
            }
            (IpAddr::V6(src_addr), IpAddr::V6(dst_addr)) => {
                let header = ipv6::Repr {
                    src_addr,
                    dst_addr,
                    next_hdr: protocol,
                    dscp: 0,
                    ecn,
                    flow_label: 0,
                    hop_limit,
                    payload_size,
                };
                header.emit(ip);
                checksum::pseudo_header(&ip[ipv6::ADDRESSES], protocol, payload_size)
            }
            _ => unreachable!("source_for gives an address of the destination's family"),
        }
    }
}

/// The length of the IP header of packets to `destination`.
pub(super) fn ip_header_bytes(destination: IpAddr) -> usize {
    match destination {
        IpAddr::V4(_) => ipv4::HEADER_SIZE_BYTES,
        IpAddr::V6(_) => ipv6::HEADER_SIZE_BYTES,
    }
}
