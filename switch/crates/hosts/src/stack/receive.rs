//! From a frame to the protocol it is for. Everything that ends here has a name.

use core::net::IpAddr;
use units::Time;
use wire::{Ecn, EtherType, MacAddress, Protocol, Sum, ethernet, extension, ipv4, ipv6, vlan};

use super::Stack;
use crate::books::DropReason;

/// What the transport protocols need to know of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a> {
    pub now: Time,
    pub netdev: usize,
    pub source: IpAddr,
    pub destination: IpAddr,
    pub ecn: Ecn,
    /// What the checksum begins with.
    pub pseudo: Sum,
    pub payload: &'a [u8],
    /// The whole IP packet, for errors to quote.
    pub packet: &'a [u8],
}

impl Stack {
    /// A frame arrived at a card. It is taken, or dropped for the reason returned.
    pub fn handle_frame(
        &mut self,
        now: Time,
        netdev: usize,
        frame: &[u8],
    ) -> Result<(), DropReason> {
        self.books.received += 1;
        self.books.received_bytes += frame.len() as u64;
        let fate = self.receive(now, netdev, frame);
        if let Err(reason) = fate {
            self.books.note_drop(reason);
        }
        fate
    }

    fn receive(&mut self, now: Time, netdev: usize, frame: &[u8]) -> Result<(), DropReason> {
        let to = ethernet::DST_ADDR.get_checked(frame).map_err(|_| DropReason::Malformed)?;
        if to != self.netdevs[netdev].config.mac && !to.is_multicast() {
            return Err(DropReason::OtherHost);
        }
        let (kind, at) = vlan::skip(frame).map_err(|_| DropReason::Malformed)?;
        let packet = &frame[at..];
        match kind {
            EtherType::IPV4 => self.handle_ipv4(now, netdev, packet),
            EtherType::IPV6 => self.handle_ipv6(now, netdev, to, packet),
            EtherType::ARP => self.handle_arp(netdev, packet),
            _ => Err(DropReason::UnknownProtocol),
        }
    }

    fn handle_ipv4(&mut self, now: Time, netdev: usize, bytes: &[u8]) -> Result<(), DropReason> {
        let packet = ipv4::Packet::new_checked(bytes).map_err(|_| DropReason::Malformed)?;
        if !packet.is_checksum_right() {
            return Err(DropReason::BadChecksum);
        }
        let destination = IpAddr::V4(packet.dst_addr());
        if !self.owns(destination) {
            return Err(DropReason::OtherHost);
        }
        if packet.is_fragment() {
            return Err(DropReason::Fragment);
        }
        let (payload, protocol) = (packet.payload(), packet.protocol());
        let arrival = Arrival {
            now,
            netdev,
            source: IpAddr::V4(packet.src_addr()),
            destination,
            ecn: packet.ecn(),
            pseudo: packet.pseudo_header(protocol, payload.len()),
            payload,
            packet: bytes,
        };
        match protocol {
            Protocol::TCP => self.handle_tcp(&arrival),
            Protocol::UDP => self.handle_udp(&arrival),
            Protocol::ICMPV4 => self.handle_icmpv4(&arrival),
            _ => Err(DropReason::UnknownProtocol),
        }
    }

    fn handle_ipv6(
        &mut self,
        now: Time,
        netdev: usize,
        to: MacAddress,
        bytes: &[u8],
    ) -> Result<(), DropReason> {
        let packet = ipv6::Packet::new_checked(bytes).map_err(|_| DropReason::Malformed)?;
        let destination = IpAddr::V6(packet.dst_addr());
        // Questions for neighbours come to a group.
        let to_group = to.is_multicast() && packet.dst_addr().is_multicast();
        if !self.owns(destination) && !to_group {
            return Err(DropReason::OtherHost);
        }
        let (mut protocol, mut payload) = (packet.next_hdr(), packet.payload());
        while extension::can_be_skipped(protocol) {
            let (next, length) = extension::skip(payload).map_err(|_| DropReason::Malformed)?;
            (protocol, payload) = (next, payload.get(length..).ok_or(DropReason::Malformed)?);
        }
        let arrival = Arrival {
            now,
            netdev,
            source: IpAddr::V6(packet.src_addr()),
            destination,
            ecn: packet.ecn(),
            pseudo: packet.pseudo_header(protocol, payload.len()),
            payload,
            packet: bytes,
        };
        match protocol {
            Protocol::TCP => self.handle_tcp(&arrival),
            Protocol::UDP => self.handle_udp(&arrival),
            Protocol::ICMPV6 => self.handle_icmpv6(&arrival),
            Protocol::FRAGMENT => Err(DropReason::Fragment),
            _ => Err(DropReason::UnknownProtocol),
        }
    }
}
