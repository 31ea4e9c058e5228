//! A receiver behind the tunnel: every layer's length and checksum must fit its frame, and the
//! payloads put together must be what was sent.

use super::*;
use crate::headers::{Transport, word};
use crate::offload::{ChecksumTask, GsoKind, Offload};
use crate::segment::{Piece, SegmentError, split};
use crate::tail::{Note, Tail};
use proptest::prelude::*;
use wire::Sum;

/// The headers between the outer IP header and the inner one.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Extension,
    Geneve,
    Gre,
    GreWithKey,
    IpInIp,
    Vxlan { with_checksum: bool },
}

fn ipv4(protocol: u8) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0];
    header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    header
}

fn ipv6(protocol: u8) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0, 0, 0, protocol, 64];
    header.extend([0xfd; 32]);
    header
}

const ETHERNET_IPV4: [u8; 14] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];

/// A tunnelled super-packet of TCP, and where its TCP header begins.
fn tunnelled(kind: Kind, payload: &[u8]) -> (Vec<u8>, usize) {
    let mut packet = ETHERNET_IPV4.to_vec();
    match kind {
        Kind::Extension => {
            packet[12..14].copy_from_slice(&[0x86, 0xdd]);
            packet.extend(ipv6(Protocol::DESTINATION_OPTIONS.0));
            packet.extend([6, 0, 1, 4, 0, 0, 0, 0]); // TCP follows; padding
        }
        Kind::Geneve => {
            packet.extend(ipv4(Protocol::UDP.0));
            packet.extend([0x99, 0x99, 0x17, 0xc1, 0, 0, 0, 0]);
            packet.extend([1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4]); // one word of options
            packet.extend(ETHERNET_IPV4);
            packet.extend(ipv4(6));
        }
        Kind::Gre => {
            packet.extend(ipv4(Protocol::GRE.0));
            packet.extend([0, 0, 8, 0]);
            packet.extend(ipv4(6));
        }
        Kind::GreWithKey => {
            packet.extend(ipv4(Protocol::GRE.0));
            packet.extend([0x20, 0, 0x86, 0xdd, 0, 0, 0, 9]);
            packet.extend(ipv6(6));
        }
        Kind::IpInIp => {
            packet.extend(ipv4(Protocol::IPV4.0));
            packet.extend(ipv4(6));
        }
        Kind::Vxlan { with_checksum } => {
            packet.extend(ipv4(Protocol::UDP.0));
            packet.extend([0x99, 0x99, 0x12, 0xb5, 0, 0, 0, u8::from(with_checksum)]);
            packet.extend([8, 0, 0, 0, 0, 0, 42, 0]);
            packet.extend(ETHERNET_IPV4);
            packet.extend(ipv4(6));
        }
    }
    let tcp_at = packet.len();
    packet
        .extend([0x30, 0x39, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 9, 0x50, 0x18, 1, 0xf6, 0, 0, 0, 0]);
    packet.extend(payload);
    (packet, tcp_at)
}

fn gso_kind(kind: Kind) -> GsoKind {
    match kind {
        Kind::Extension | Kind::GreWithKey => GsoKind::Tcp6,
        _ => GsoKind::Tcp4,
    }
}

fn frames_of(kind: Kind, payload: &[u8], piece_size: u16) -> Result<Vec<Vec<u8>>, SegmentError> {
    let (mut packet, tcp_at) = tunnelled(kind, payload);
    let task = ChecksumTask { start: tcp_at as u16, offset: 16 };
    let offload = Offload { checksum: Some(task), gso: Some((gso_kind(kind), piece_size)) };
    let mut frames = Vec::new();
    split(&mut packet, offload, |piece| frames.push(piece.to_vec()))?;
    Ok(frames)
}

/// Checks an IP header and returns where the next one begins.
fn check_ip(frame: &[u8], at: usize, number: usize) -> usize {
    if frame[at] >> 4 == 6 {
        assert_eq!(usize::from(word(frame, at + 4)), frame.len() - at - 40);
        return at + 40;
    }
    assert_eq!(usize::from(word(frame, at + 2)), frame.len() - at);
    assert_eq!(word(frame, at + 4), 0x1234 + number as u16);
    assert!(Sum::of(&frame[at..at + 20]).is_right());
    at + 20
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Extension),
        Just(Kind::Geneve),
        Just(Kind::Gre),
        Just(Kind::GreWithKey),
        Just(Kind::IpInIp),
        any::<bool>().prop_map(|with_checksum| Kind::Vxlan { with_checksum }),
    ]
}

proptest! {
    #[test]
    fn every_piece_has_the_whole_tunnel_with_lengths_and_checksums_of_its_own(
        kind in any_kind(),
        payload in proptest::collection::vec(any::<u8>(), 1..5000),
        piece_size in 200u16..1400,
    ) {
        let frames = frames_of(kind, &payload, piece_size).expect("understood");
        prop_assert_eq!(frames.len(), payload.len().div_ceil(piece_size.into()));
        let mut received = Vec::new();
        for (number, frame) in frames.iter().enumerate() {
            let outer_end = check_ip(frame, 14, number);
            let inner_at = match kind {
                Kind::Extension => 14,
                Kind::Geneve => outer_end + 8 + 12 + 14,
                Kind::Gre => outer_end + 4,
                Kind::GreWithKey => outer_end + 8,
                Kind::IpInIp => outer_end,
                Kind::Vxlan { .. } => outer_end + 8 + 8 + 14,
            };
            let inner_end = check_ip(frame, inner_at, number);
            let tcp_at = if matches!(kind, Kind::Extension) { inner_end + 8 } else { inner_end };
            let ipv6 = frame[inner_at] >> 4 == 6;
            let layout = Layout {
                transport: Transport::Tcp, ipv6, ip_at: inner_at,
                transport_at: tcp_at, payload_at: tcp_at + 20,
            };
            let pseudo_header = layout.pseudo_header_sum(frame, frame.len() - tcp_at);
            prop_assert!(pseudo_header.then(&frame[tcp_at..]).is_right());
            if let Kind::Vxlan { with_checksum } = kind {
                prop_assert_eq!(usize::from(word(frame, outer_end + 4)), frame.len() - outer_end);
                let outer = Layout {
                    transport: Transport::Udp, ipv6: false, ip_at: 14,
                    transport_at: outer_end, payload_at: outer_end + 8,
                };
                let pseudo_header = outer.pseudo_header_sum(frame, frame.len() - outer_end);
                let sum = pseudo_header.then(&frame[outer_end..]);
                prop_assert_eq!(word(frame, outer_end + 6) != 0, with_checksum);
                prop_assert!(sum.is_right() || !with_checksum);
            }
            received.extend_from_slice(&frame[tcp_at + 20..]);
        }
        prop_assert_eq!(received, payload);
    }
}

#[test]
fn a_super_packet_in_a_tunnel_that_is_not_understood_stays_whole() {
    let (mut packet, tcp_at) = tunnelled(Kind::Gre, &[1; 500]);
    packet[34] = 0x10; // a sequence number
    let task = ChecksumTask { start: tcp_at as u16, offset: 16 };
    let offload = Offload { checksum: Some(task), gso: Some((GsoKind::Tcp4, 100)) };
    let (before, mut frames) = (packet.clone(), Vec::new());
    let emit = |piece: &Piece<'_>| frames.push((piece.to_vec(), piece.tail()));
    split(&mut packet, offload, emit).expect("nothing is wrong with it");
    // From the TCP header on: 20 bytes and 500 of payload.
    let note = Note::Unsplit { kind: GsoKind::Tcp4, piece_size: 100, checksum_offset: 16 };
    let tail = Tail { length_bytes: 520, note };
    assert_eq!(frames, [(before.clone(), Some(tail))]);
    let header = tail.header_of(&before).expect("it goes on as it came");
    assert_eq!(Offload::read(&header), Ok(offload));
}
