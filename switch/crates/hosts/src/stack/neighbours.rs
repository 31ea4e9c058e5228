//! Addresses on the link: ARP (RFC 826) and neighbour discovery (RFC 4861).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::Time;
use wire::arp::{self, Operation};
use wire::icmpv6::{self, Neighbor};
use wire::{EtherType, MacAddress, Protocol, ethernet, ipv6};

use super::Stack;
use super::send::Hop;
use crate::agenda::Wake;
use crate::packet::{Body, Head, Packet};
use crate::reason::DropReason;

impl Stack {
    /// Asks for the address of a neighbour.
    pub(super) fn ask_neighbour(&mut self, hop: Hop) {
        let mac = self.netdevs[hop.netdev].config.mac;
        let interfaces = &self.netdevs[hop.netdev].config.interfaces;
        let own = interfaces.iter().find(|interface| interface.reaches(hop.next));
        match (own.map(|interface| interface.address), hop.next) {
            (Some(IpAddr::V4(own)), IpAddr::V4(next)) => {
                let question = arp::Repr {
                    operation: Operation::Request,
                    sender_hardware_addr: mac,
                    sender_protocol_addr: own,
                    target_hardware_addr: MacAddress::default(),
                    target_protocol_addr: next,
                };
                self.send_arp(hop.netdev, MacAddress::BROADCAST, &question);
            }
            (Some(IpAddr::V6(own)), IpAddr::V6(next)) => {
                let (group, group_mac) = solicited_node(next);
                let question = Neighbor::Solicitation { target: next, source: mac };
                self.send_neighbour(hop.netdev, own, group, group_mac, question);
            }
            _ => (),
        }
    }

    fn send_arp(&mut self, netdev: usize, to: MacAddress, message: &arp::Repr) {
        let mut head = Head::of_length(ethernet::HEADER_SIZE_BYTES + arp::SIZE_BYTES);
        let bytes = head.bytes_mut();
        ethernet::DST_ADDR.set(bytes, to);
        ethernet::SRC_ADDR.set(bytes, self.netdevs[netdev].config.mac);
        ethernet::ETHER_TYPE.set(bytes, EtherType::ARP);
        message.emit(&mut bytes[ethernet::HEADER_SIZE_BYTES..]);
        self.enqueue_whole(
            netdev,
            Packet { head, body: Body::Empty, checksum: None, connection: None },
        );
    }

    fn send_neighbour(
        &mut self,
        netdev: usize,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        to: MacAddress,
        message: Neighbor,
    ) {
        let at = ethernet::HEADER_SIZE_BYTES + ipv6::HEADER_SIZE_BYTES;
        let mut head = Head::of_length(at + icmpv6::NEIGHBOR_SIZE_BYTES);
        let bytes = head.bytes_mut();
        ethernet::DST_ADDR.set(bytes, to);
        ethernet::SRC_ADDR.set(bytes, self.netdevs[netdev].config.mac);
        ethernet::ETHER_TYPE.set(bytes, EtherType::IPV6);
        let header = ipv6::Repr {
            src_addr: source,
            dst_addr: destination,
            next_hdr: Protocol::ICMPV6,
            dscp: 0,
            ecn: wire::Ecn::NotEct,
            flow_label: 0,
            // RFC 4861 section 7.1.1: proof that no router has forwarded it.
            hop_limit: 255,
            payload_size: icmpv6::NEIGHBOR_SIZE_BYTES,
        };
        header.emit(&mut bytes[ethernet::HEADER_SIZE_BYTES..]);
        message.emit(&mut bytes[at..], header.pseudo_header());
        self.enqueue_whole(
            netdev,
            Packet { head, body: Body::Empty, checksum: None, connection: None },
        );
    }

    fn enqueue_whole(&mut self, netdev: usize, packet: Packet) {
        self.books.made += 1;
        if self.netdevs[netdev].room() == 0 {
            self.books.note_drop(DropReason::QueueFull);
            return;
        }
        self.books.waiting += 1;
        self.netdevs[netdev].enqueue(packet);
    }

    /// An ARP message came.
    pub(super) fn handle_arp(&mut self, netdev: usize, bytes: &[u8]) -> Result<(), DropReason> {
        let message = arp::Repr::parse(bytes).map_err(|_| DropReason::Malformed)?;
        let asked = IpAddr::V4(message.target_protocol_addr);
        let interfaces = &self.netdevs[netdev].config.interfaces;
        if !interfaces.iter().any(|interface| interface.address == asked) {
            return Err(DropReason::OtherHost);
        }
        self.books.taken_arp += 1;
        let sender = message.sender_protocol_addr;
        if sender != Ipv4Addr::UNSPECIFIED {
            self.learn(netdev, IpAddr::V4(sender), message.sender_hardware_addr);
        }
        if message.operation == Operation::Request {
            let answer = arp::Repr {
                operation: Operation::Reply,
                sender_hardware_addr: self.netdevs[netdev].config.mac,
                sender_protocol_addr: message.target_protocol_addr,
                target_hardware_addr: message.sender_hardware_addr,
                target_protocol_addr: sender,
            };
            self.send_arp(netdev, message.sender_hardware_addr, &answer);
        }
        Ok(())
    }

    /// A neighbour solicitation or advertisement came, its checksum verified.
    pub(super) fn handle_neighbour(
        &mut self,
        netdev: usize,
        source: Ipv6Addr,
        message: &[u8],
    ) -> Result<(), DropReason> {
        match Neighbor::parse(message).map_err(|_| DropReason::Malformed)? {
            Neighbor::Solicitation { target, source: mac } => {
                if !self.owns(IpAddr::V6(target)) {
                    return Err(DropReason::OtherHost);
                }
                self.learn(netdev, IpAddr::V6(source), mac);
                let address = self.netdevs[netdev].config.mac;
                let answer = Neighbor::Advertisement { target, address, solicited: true };
                self.send_neighbour(netdev, target, source, mac, answer);
            }
            Neighbor::Advertisement { target, address, .. } => {
                self.learn(netdev, IpAddr::V6(target), address);
            }
        }
        Ok(())
    }

    /// A neighbour is known now: what waited for it leaves.
    fn learn(&mut self, netdev: usize, neighbour: IpAddr, mac: MacAddress) {
        for mut packet in self.netdevs[netdev].learn(neighbour, mac) {
            if self.netdevs[netdev].room() == 0 {
                self.books.waiting -= 1;
                self.books.note_drop(DropReason::QueueFull);
                continue;
            }
            ethernet::DST_ADDR.set(packet.head.bytes_mut(), mac);
            self.netdevs[netdev].enqueue(packet);
        }
    }

    /// Questions without an answer are repeated, and in the end given up.
    pub fn ask_neighbours_again(&mut self, now: Time, netdev: usize) {
        let (again, given_up) = self.netdevs[netdev].ask_again(now);
        self.books.waiting -= given_up;
        (0..given_up).for_each(|_| self.books.note_drop(DropReason::NeighbourUnknown));
        for next in again {
            self.ask_neighbour(Hop { netdev, next });
        }
        if let Some(due) = self.netdevs[netdev].questions_due() {
            self.agenda.note(due, Wake::Neighbours(netdev));
        }
    }
}

/// The group in which a neighbour listens for questions about its address (RFC 4291 section 2.7.1),
/// and that group's address on the link (RFC 2464 section 7).
fn solicited_node(address: Ipv6Addr) -> (Ipv6Addr, MacAddress) {
    let [.., a, b, c] = address.octets();
    let group = Ipv6Addr::from([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c]);
    (group, MacAddress([0x33, 0x33, 0xff, a, b, c]))
}
