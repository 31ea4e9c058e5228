//! Headers as others write them: known bytes are read as what they are, what is emitted is read back,
//! and no bytes at all make a checked view panic.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::collection::vec;
use proptest::prelude::*;
use wire::icmpv6::Neighbor;
use wire::vlan::Control;
use wire::{Ecn, EtherType, MacAddress, Protocol, Sum, WireError};
use wire::{arp, ethernet, extension, geneve, gre, icmpv4, icmpv6, ipv4, ipv6, udp, vlan, vxlan};

/// Ethernet with these tags and then a type and nothing.
fn tagged(tags: &[u16], ether_type: u16) -> Vec<u8> {
    let tag = |tpid: &u16| [tpid.to_be_bytes(), [0x60, 0x07]].concat();
    let tags: Vec<u8> = tags.iter().flat_map(tag).collect();
    [&[2; 12][..], &tags, &ether_type.to_be_bytes()].concat()
}

#[test]
fn tags_of_both_standards_are_skipped_as_deep_as_these_stack_them() {
    for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100], &[0x8100, 0x8100]] {
        let frame = tagged(tags, 0x86dd);
        assert_eq!(vlan::skip(&frame), Ok((EtherType::IPV6, frame.len())), "{tags:x?}");
        assert_eq!(vlan::skip(&frame[..frame.len() - 1]), Err(WireError::Truncated));
    }
    assert_eq!(vlan::skip(&tagged(&[0x8100; 3], 0x0800)), Err(WireError::Malformed));
    // The unofficial type of stacked tags is what a frame carries, not a tag.
    let other = vlan::skip(&tagged(&[0x9100], 0x0800));
    assert_eq!(other, Ok((EtherType(0x9100), 14)));
}

#[test]
fn a_tag_says_priority_eligibility_and_vlan() {
    // 011 0 0000 0000 0111: priority 3, VLAN 7.
    let control = Control { priority: 3, drop_eligible: false, vlan: 7 };
    assert_eq!(Control::from_bits(0x6007), control);
    assert!((0..=u16::MAX).all(|bits| Control::from_bits(bits).to_bits() == bits));
}

#[test]
fn an_ipv4_header_from_a_capture_reads_as_it_is_shown() {
    // Version 4, 5 words, DSCP 46 (EF), ECT(0), 20 + 4 bytes, DF, TTL 64, TCP.
    let bytes =
        [0x45, 0xba, 0, 24, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4];
    let mut packet = ipv4::Packet::new_checked(bytes).expect("whole");
    assert_eq!((packet.dscp(), packet.ecn(), packet.ttl()), (46, Ecn::Ect0, 64));
    assert!(packet.dont_fragment() && !packet.is_fragment());
    assert_eq!(packet.protocol(), Protocol::TCP);
    assert_eq!(packet.src_addr(), Ipv4Addr::new(10, 0, 0, 1));
    assert_eq!(packet.payload(), [1, 2, 3, 4]);
    assert!(!packet.is_checksum_right());
    packet.fill_checksum();
    // 45ba + 0018 + 1234 + 4000 + 4006 + 0a00 + 0001 + 0a00 + 0002 = ec0f; inverted 13f0.
    assert_eq!(packet.hdr_checksum(), 0x13f0);
    assert!(packet.is_checksum_right());
    ipv4::set_ecn(packet.as_mut_bytes(), Ecn::Ce);
    assert!(packet.is_checksum_right() && packet.ecn() == Ecn::Ce && packet.dscp() == 46);
}

#[test]
fn fragments_count_eights() {
    let mut packet = ipv4::Packet::new_unchecked([0u8; 20]);
    packet.set_flags(false, true, 1480);
    assert_eq!(packet.as_bytes()[6..8], [0x20, 185]);
    assert!(packet.more_fragments() && packet.is_fragment());
    assert_eq!(packet.frag_offset_bytes(), 1480);
}

#[test]
fn options_of_ipv4_end_where_they_say_or_make_no_sense() {
    // No operation, router alert (148, 4 bytes), end.
    let mut bytes = [0u8; 28];
    bytes[..4].copy_from_slice(&[0x47, 0, 0, 28]);
    bytes[20..].copy_from_slice(&[1, 148, 4, 0, 0, 0, 0, 0]);
    let kinds = |bytes: &[u8]| {
        let packet = ipv4::Packet::new_checked(bytes).expect("whole");
        packet.options().map(|option| (option.kind, option.data.len())).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&bytes), [(1, 0), (148, 2)]);
    for impossible in [0, 1, 8] {
        bytes[22] = impossible;
        assert_eq!(kinds(&bytes), [(1, 0)], "length {impossible}");
    }
}

#[test]
fn ipv6_has_its_class_across_two_bytes() {
    let repr = ipv6::Repr {
        src_addr: Ipv6Addr::LOCALHOST,
        dst_addr: Ipv6Addr::UNSPECIFIED,
        next_hdr: Protocol::UDP,
        dscp: 63,
        ecn: Ecn::Ect0,
        flow_label: 0x1_2345,
        hop_limit: 9,
        payload_size: 0,
    };
    let mut bytes = [0; 40];
    repr.emit(&mut bytes);
    assert_eq!(bytes[..4], [0x6f, 0xe1, 0x23, 0x45]);
    ipv6::set_ecn(&mut bytes, Ecn::Ce);
    assert_eq!(bytes[..4], [0x6f, 0xf1, 0x23, 0x45]);
    let packet = ipv6::Packet::new_checked(bytes).expect("whole");
    assert_eq!((packet.dscp(), packet.ecn(), packet.flow_label()), (63, Ecn::Ce, 0x1_2345));
    assert_eq!((packet.next_hdr(), packet.hop_limit()), (Protocol::UDP, 9));
    assert_eq!(packet.pseudo_header(Protocol::UDP, 0), repr.pseudo_header());
}

#[test]
fn a_udp_checksum_of_zero_is_written_as_all_ones() {
    // Ports 0 and 0, length 8, checksum: with this payload the sum is 0xffff.
    let mut datagram = udp::Datagram::new_unchecked([0u8; 10]);
    datagram.set_length(10);
    datagram.as_mut_bytes()[8..].copy_from_slice(&(0xffffu16 - 10).to_be_bytes());
    datagram.fill_checksum(Sum::ZERO);
    assert_eq!(datagram.checksum(), 0xffff);
    assert!(datagram.is_checksum_right(Sum::ZERO));
    datagram.set_checksum(0);
    assert!(datagram.is_checksum_right(Sum::from_word(7)), "zero says that there is none");
}

#[test]
fn tunnels_say_what_they_carry() {
    let mut header = [0xff; 8];
    vxlan::emit(&mut header, 0x01_0203);
    assert_eq!(header, [8, 0, 0, 0, 1, 2, 3, 0]);
    assert_eq!(vxlan::vni(&header), Some(0x01_0203));
    assert_eq!(vxlan::vni(&[0; 8]), None);
    assert_eq!(gre::skip(&[0, 0, 0x08, 0]), Ok((EtherType::IPV4, 4)));
    assert_eq!(gre::skip(&[0x20, 0, 0x65, 0x58, 0, 0, 0, 1]), Ok((EtherType::ETHERNET, 8)));
    assert_eq!(gre::skip(&[0x10, 0, 0x08, 0]), Err(WireError::Malformed), "a sequence number");
    assert_eq!(geneve::skip(&[2, 0, 0x65, 0x58]), Ok((EtherType::ETHERNET, 16)));
    assert_eq!(geneve::skip(&[2, 0, 0x65]), Err(WireError::Truncated));
    // A destination options header of 16 bytes in front of TCP.
    assert_eq!(extension::skip(&[6, 1]), Ok((Protocol::TCP, 16)));
}

#[test]
fn an_echo_reply_is_its_request_with_another_type() {
    let mut message = icmpv4::Message::new_unchecked([0u8; 12]);
    message.set_kind(icmpv4::ECHO_REQUEST);
    message.set_identifier(0x1234);
    message.set_sequence(1);
    message.payload_mut().copy_from_slice(b"ping");
    message.fill_checksum();
    assert!(message.is_checksum_right());
    // 0800 becomes 0000: the sum is smaller by 0x0800, the checksum greater by as much.
    let before = message.checksum();
    message.set_kind(icmpv4::ECHO_REPLY);
    message.fill_checksum();
    assert_eq!(message.checksum(), Sum::from_word(before).add(0x0800).word());
}

fn mac() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

proptest! {
    #[test]
    fn ethernet_arp_and_neighbours_come_back(
        [a, b] in [mac(), mac()],
        [p, q] in any::<[u32; 2]>(),
        request in any::<bool>(),
        target in any::<u128>(),
        solicited in any::<bool>(),
        pseudo_header in any::<u16>(),
    ) {
        let mut frame = ethernet::Frame::new_unchecked(vec![0; ethernet::HEADER_SIZE_BYTES + arp::SIZE_BYTES]);
        frame.set_dst_addr(a);
        frame.set_src_addr(b);
        frame.set_ether_type(EtherType::ARP);
        let repr = arp::Repr {
            operation: if request { arp::Operation::Request } else { arp::Operation::Reply },
            sender_hardware_addr: b,
            sender_protocol_addr: p.into(),
            target_hardware_addr: a,
            target_protocol_addr: q.into(),
        };
        repr.emit(frame.payload_mut());
        prop_assert_eq!((frame.dst_addr(), frame.src_addr()), (a, b));
        prop_assert_eq!(arp::Repr::parse(frame.payload()), Ok(repr));

        let target = target.into();
        let pseudo_header = Sum::from_word(pseudo_header);
        for neighbor in [
            Neighbor::Solicitation { target, source: a },
            Neighbor::Advertisement { target, address: b, solicited },
        ] {
            let mut message = [0xff; icmpv6::NEIGHBOR_SIZE_BYTES];
            neighbor.emit(&mut message, pseudo_header);
            prop_assert_eq!(Neighbor::parse(&message), Ok(neighbor));
            let message = icmpv6::Message::new_checked(message).expect("whole");
            prop_assert!(message.is_checksum_right(pseudo_header));
        }
    }

    #[test]
    fn an_ipv4_header_comes_back(
        [src, dst] in any::<[u32; 2]>(),
        (protocol, dscp, ecn, ttl) in (any::<u8>(), 0u8..64, 0u8..4, any::<u8>()),
        (identification, dont_fragment) in any::<(u16, bool)>(),
        payload in vec(any::<u8>(), 0..50),
    ) {
        let repr = ipv4::Repr {
            src_addr: src.into(),
            dst_addr: dst.into(),
            protocol: Protocol(protocol),
            dscp,
            ecn: Ecn::from_bits(ecn),
            ttl,
            identification,
            dont_fragment,
            payload_size: payload.len(),
        };
        let mut bytes = [&[0; ipv4::HEADER_SIZE_BYTES][..], &payload, &[0; 7]].concat();
        repr.emit(&mut bytes);
        let packet = ipv4::Packet::new_checked(&bytes[..]).expect("whole");
        prop_assert!(packet.is_checksum_right());
        prop_assert_eq!(packet.payload(), &payload[..], "padding is no payload");
        prop_assert_eq!((packet.src_addr(), packet.dst_addr()), (repr.src_addr, repr.dst_addr));
        prop_assert_eq!((packet.dscp(), packet.ecn()), (dscp, repr.ecn));
        prop_assert_eq!(packet.identification(), identification);
        prop_assert_eq!(packet.dont_fragment(), dont_fragment);
        let length = payload.len();
        prop_assert_eq!(packet.pseudo_header(repr.protocol, length), repr.pseudo_header());
    }

    /// Views of anything that they accept can be read to the end.
    #[test]
    fn no_bytes_make_a_checked_view_panic(bytes in vec(any::<u8>(), 0..80), first in 0u8..16) {
        let mut bytes = bytes;
        if let Some(byte) = bytes.first_mut() {
            *byte = if first < 8 { 0x40 | first } else { 0x60 | first };
        }
        if let Ok(packet) = ipv4::Packet::new_checked(&bytes[..]) {
            let _ = (packet.options().count(), packet.payload(), packet.is_checksum_right());
        }
        if let Ok(packet) = ipv6::Packet::new_checked(&bytes[..]) {
            let _ = (packet.payload(), packet.dst_addr(), packet.flow_label());
        }
        if let Ok(datagram) = udp::Datagram::new_checked(&bytes[..]) {
            let _ = (datagram.payload(), datagram.is_checksum_right(Sum::ZERO));
        }
        if let Ok(segment) = wire::tcp::Segment::new_checked(&bytes[..]) {
            let _ = (wire::tcp::Repr::parse(&segment), segment.payload());
        }
        let _ = (vlan::skip(&bytes), gre::skip(&bytes), geneve::skip(&bytes));
        let _ = (arp::Repr::parse(&bytes), Neighbor::parse(&bytes), extension::skip(&bytes));
    }
}
