//! From a frame to the protocol it is for. Everything that ends here has a name.

use core::net::IpAddr;
use frames::{Frame, Seal};
use units::Time;
use wire::{Ecn, EtherType, MacAddress, Protocol, Sum, ethernet, extension, ipv4, ipv6, vlan};

use super::Stack;
use crate::reason::DropReason;

/// The facts about a packet for the transport protocols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a> {
    pub now: Time,
    pub netdev: usize,
    pub source: IpAddr,
    pub destination: IpAddr,
    pub ecn: Ecn,
    /// The start of the checksum.
    pub pseudo: Sum,
    pub payload: &'a [u8],
    /// The whole IP packet, for errors to quote.
    pub packet: &'a [u8],
    /// The sender's note on the last bytes of the payload, which are still the same.
    pub seal: Option<Seal>,
}

/// Where and when a frame came in, and what is noted about its last bytes.
#[derive(Clone, Copy, Debug)]
struct Card {
    now: Time,
    netdev: usize,
    seal: Option<Seal>,
}

impl Card {
    /// The note, if the payload ends where the frame does.
    fn seal_of(&self, payload: &[u8], packet: &[u8]) -> Option<Seal> {
        self.seal.filter(|_| payload.as_ptr_range().end == packet.as_ptr_range().end)
    }
}

impl Stack {
    /// A frame arrived at a card. It is taken, or dropped for the reason returned.
    pub fn handle_frame(
        &mut self,
        now: Time,
        netdev: usize,
        frame: &Frame,
    ) -> Result<(), DropReason> {
        self.books.received += 1;
        self.books.received_bytes += frame.bytes().len() as u64;
        let seal = frame.seal();
        let fate = self.receive(Card { now, netdev, seal }, frame.bytes());
        if let Err(reason) = fate {
            self.books.note_drop(reason);
        }
        fate
    }

    fn receive(&mut self, card: Card, frame: &[u8]) -> Result<(), DropReason> {
        let to = ethernet::DST_ADDR.get_checked(frame).map_err(|_| DropReason::Malformed)?;
        if to != self.netdevs[card.netdev].config.mac && !to.is_multicast() {
            return Err(DropReason::OtherHost);
        }
        let (kind, at) = vlan::skip(frame).map_err(|_| DropReason::Malformed)?;
        let packet = &frame[at..];
        match kind {
            EtherType::IPV4 => self.handle_ipv4(card, packet),
            EtherType::IPV6 => self.handle_ipv6(card, to, packet),
            EtherType::ARP => self.handle_arp(card.netdev, packet),
            _ => Err(DropReason::UnknownProtocol),
        }
    }

    fn handle_ipv4(&mut self, card: Card, bytes: &[u8]) -> Result<(), DropReason> {
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
            now: card.now,
            netdev: card.netdev,
            source: IpAddr::V4(packet.src_addr()),
            destination,
            ecn: packet.ecn(),
            pseudo: packet.pseudo_header(protocol, payload.len()),
            payload,
            packet: bytes,
            seal: card.seal_of(payload, bytes),
        };
        match protocol {
            Protocol::TCP => self.handle_tcp(&arrival),
            Protocol::UDP => self.handle_udp(&arrival),
            Protocol::ICMPV4 => self.handle_icmpv4(&arrival),
            _ => Err(DropReason::UnknownProtocol),
        }
    }

    fn handle_ipv6(&mut self, card: Card, to: MacAddress, bytes: &[u8]) -> Result<(), DropReason> {
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
            now: card.now,
            netdev: card.netdev,
            source: IpAddr::V6(packet.src_addr()),
            destination,
            ecn: packet.ecn(),
            pseudo: packet.pseudo_header(protocol, payload.len()),
            payload,
            packet: bytes,
            seal: card.seal_of(payload, bytes),
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
