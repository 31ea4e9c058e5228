//! Which frames belong together: those between the same two ends.

use crate::extension;
use crate::{EtherType, Protocol, ethernet, ipv4, ipv6, vlan};

/// Source and destination port of TCP, UDP and SCTP.
const PORTS_SIZE_BYTES: usize = 4;

/// The identity of a flow: addresses, protocol and ports; of frames other than IP, Ethernet
/// addresses and type. Frames that are too short for it are one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    ether_type: u16,
    protocol: u8,
    /// Source and destination, in front of zeros.
    addresses: [u8; 32],
    /// Zero where there are none, and in pieces of a packet, of which only the first has them.
    ports: [u8; PORTS_SIZE_BYTES],
}

impl Flow {
    pub fn of(frame: &[u8]) -> Flow {
        Flow::read(frame).unwrap_or_default()
    }

    fn read(frame: &[u8]) -> Option<Flow> {
        let (ether_type, at) = vlan::skip(frame).ok()?;
        let packet = frame.get(at..)?;
        let of_ip = match ether_type {
            EtherType::IPV4 => Flow::of_ipv4(packet),
            EtherType::IPV6 => Flow::of_ipv6(packet),
            _ => None,
        };
        let flow = of_ip.or_else(|| Flow::between(frame, 0..ethernet::SRC_ADDR.end()))?;
        Some(Flow { ether_type: ether_type.0, ..flow })
    }

    fn of_ipv4(packet: &[u8]) -> Option<Flow> {
        let size = ipv4::header_size(packet).ok()?;
        let flow = Flow::between(packet, ipv4::ADDRESSES)?;
        let is_piece = ipv4::FLAGS_FRAG_OFFSET.get(packet) & ipv4::FRAGMENT_MASK != 0;
        let transport = if is_piece { &[] } else { packet.get(size..).unwrap_or_default() };
        Some(flow.with(ipv4::PROTOCOL.get(packet), transport))
    }

    fn of_ipv6(packet: &[u8]) -> Option<Flow> {
        let flow = Flow::between(packet, ipv6::ADDRESSES)?;
        let (mut protocol, mut at) = (ipv6::NEXT_HDR.get(packet), ipv6::HEADER_SIZE_BYTES);
        while extension::can_be_skipped(protocol) {
            let (next, size) = extension::skip(packet.get(at..)?).ok()?;
            (protocol, at) = (next, at + size);
        }
        Some(flow.with(protocol, packet.get(at..).unwrap_or_default()))
    }

    /// With the addresses that lie there; none: the packet is too short.
    fn between(packet: &[u8], addresses: std::ops::Range<usize>) -> Option<Flow> {
        let found = packet.get(addresses)?;
        let mut flow = Flow::default();
        flow.addresses[..found.len()].copy_from_slice(found);
        Some(flow)
    }

    fn with(mut self, protocol: Protocol, transport: &[u8]) -> Flow {
        self.protocol = protocol.0;
        let has_ports = matches!(protocol, Protocol::TCP | Protocol::UDP | Protocol::SCTP);
        if let Some(ports) = transport.first_chunk().filter(|_| has_ports) {
            self.ports = *ports;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet of TCP from port 1 to `port`, behind `tags` VLAN tags.
    fn ipv4_frame(tags: usize, flags_frag_offset: u16, port: u8) -> Vec<u8> {
        let mut frame = vec![2; 12];
        (0..tags).for_each(|_| frame.extend([0x81, 0, 0, 7]));
        frame.extend([8, 0]);
        let mut packet = [0; 24];
        ipv4::VERSION_IHL.set(&mut packet, 0x45);
        ipv4::FLAGS_FRAG_OFFSET.set(&mut packet, flags_frag_offset);
        ipv4::PROTOCOL.set(&mut packet, Protocol::TCP);
        packet[ipv4::ADDRESSES].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 2]);
        packet[20..].copy_from_slice(&[0, 1, 0, port]);
        frame.extend(packet);
        frame
    }

    fn ipv6_frame(extensions: usize, port: u8) -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend([0x86, 0xdd]);
        let mut header = [0; ipv6::HEADER_SIZE_BYTES];
        let next = |is_last| if is_last { Protocol::UDP } else { Protocol::HOP_BY_HOP };
        ipv6::NEXT_HDR.set(&mut header, next(extensions == 0));
        frame.extend(header);
        for left in (0..extensions).rev() {
            frame.extend([next(left == 0).0, 0, 0, 0, 0, 0, 0, 0]);
        }
        frame.extend([0, 1, 0, port]);
        frame
    }

    #[test]
    fn ports_tell_flows_apart_behind_tags_and_extension_headers() {
        for frame in [
            |port| ipv4_frame(0, 0, port),
            |port| ipv4_frame(2, 0, port),
            |port| ipv6_frame(0, port),
            |port| ipv6_frame(2, port),
        ] {
            assert_eq!(Flow::of(&frame(80)), Flow::of(&frame(80)));
            assert_ne!(Flow::of(&frame(80)), Flow::of(&frame(81)));
        }
    }

    #[test]
    fn a_tag_and_an_extension_header_make_no_other_flow() {
        assert_eq!(Flow::of(&ipv4_frame(0, 0, 80)), Flow::of(&ipv4_frame(1, 0, 80)));
        assert_eq!(Flow::of(&ipv6_frame(0, 80)), Flow::of(&ipv6_frame(1, 80)));
    }

    #[test]
    fn pieces_of_packets_are_told_apart_by_addresses_alone() {
        let (first, later) = (ipv4_frame(0, ipv4::MORE_FRAGMENTS, 80), ipv4_frame(0, 9, 99));
        assert_eq!(Flow::of(&first), Flow::of(&later));
        assert_ne!(Flow::of(&first), Flow::of(&ipv4_frame(0, 0, 80)));
    }

    #[test]
    fn what_is_not_ip_belongs_to_its_ethernet_addresses_and_what_is_too_short_to_nobody() {
        let arp = |from| [&[0xff; 6][..], &[from; 6], &[8, 6, 0, 1]].concat();
        assert_ne!(Flow::of(&arp(1)), Flow::of(&arp(2)));
        assert_ne!(Flow::of(&arp(1)), Flow::default());
        for cut in 0..14 {
            assert_eq!(Flow::of(&arp(1)[..cut]), Flow::default());
        }
    }
}
