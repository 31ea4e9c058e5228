//! A receiver's view of split super-packets: headers say what their frame holds, checksums are
//! right, and the payloads put together are what the sender handed over.

use super::*;
use crate::headers::word;
use proptest::prelude::*;

/// An Ethernet frame with IPv4 or IPv6 and TCP, checksums unfinished, as the kernel hands it over.
fn tcp_super_packet(v6: bool, vlan: bool, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1];
    if vlan {
        packet.extend([0x81, 0x00, 0x00, 0x07]);
    }
    let tcp_size = 32 + payload.len();
    if v6 {
        packet.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        packet.extend((tcp_size as u16).to_be_bytes());
        packet.extend([Protocol::TCP.0, 64]);
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    } else {
        packet.extend([0x08, 0x00, 0x45, 0]);
        packet.extend(((20 + tcp_size) as u16).to_be_bytes());
        packet.extend([0xff, 0xff, 0x40, 0, 64, Protocol::TCP.0, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    }
    packet.extend([0x30, 0x39, 0x14, 0x51]); // ports 12345 -> 5201
    packet.extend(0xffff_ff00u32.to_be_bytes()); // sequence number, about to wrap
    packet.extend([0, 0, 0, 9, 0x80, flags, 1, 0xf6, 0xab, 0xcd, 0, 0]);
    packet.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]); // timestamp option
    packet.extend(payload);
    packet
}

fn frames_of(packet: &[u8], offload: Offload) -> Result<Vec<Vec<u8>>, SegmentError> {
    let mut frames = Vec::new();
    split(&mut packet.to_vec(), offload, |piece| frames.push(piece.to_vec()))?;
    Ok(frames)
}

/// Whether the transport checksum, pseudo-header included, sums to all ones.
fn transport_checksum_is_right(frame: &[u8], v6: bool, ip_at: usize) -> bool {
    let transport_at = ip_at + if v6 { 40 } else { 20 };
    let addresses = if v6 { ip_at + 8..ip_at + 40 } else { ip_at + 12..ip_at + 20 };
    let length = frame.len() - transport_at;
    let protocol = Protocol(if v6 { frame[ip_at + 6] } else { frame[ip_at + 9] });
    let pseudo_header = wire::checksum::pseudo_header(&frame[addresses], protocol, length);
    pseudo_header.then(&frame[transport_at..]).is_right()
}

proptest! {
    /// A host may request pieces of one byte; they need not all be made at once.
    #[test]
    fn frames_that_are_made_a_few_at_a_time_are_those_that_are_made_at_once(
        payload in proptest::collection::vec(any::<u8>(), 1..300),
        piece_size in 1u16..20,
        step in 1usize..50,
    ) {
        let packet = tcp_super_packet(false, false, 0x18, &payload);
        let offload = Offload { checksum: None, gso: Some((GsoKind::Tcp4, piece_size)) };
        let whole = frames_of(&packet, offload).expect("a super-packet");
        let (mut frames, mut next, mut turns) = (Vec::new(), Some(0), 0);
        while let Some(first) = next {
            let emit = |piece: &Piece<'_>| frames.push(piece.to_vec());
            next = split_some(&mut packet.clone(), offload, first..first + step, emit)
                .expect("a super-packet");
            turns += 1;
        }
        prop_assert_eq!(turns, whole.len().div_ceil(step));
        prop_assert_eq!(frames, whole);
    }

    #[test]
    fn a_receiver_cannot_tell_split_tcp_from_what_a_wire_carries(
        v6: bool, vlan: bool,
        flags in any::<u8>(),
        payload in proptest::collection::vec(any::<u8>(), 1..9000),
        piece_size in 200u16..1500,
    ) {
        let packet = tcp_super_packet(v6, vlan, flags, &payload);
        let kind = if v6 { GsoKind::Tcp6 } else { GsoKind::Tcp4 };
        let frames = frames_of(&packet, Offload { checksum: None, gso: Some((kind, piece_size)) });
        let frames = frames.expect("well-formed");

        let ip_at = 14 + if vlan { 4 } else { 0 };
        let tcp_at = ip_at + if v6 { 40 } else { 20 };
        let mut received = Vec::new();
        for (number, frame) in frames.iter().enumerate() {
            let (first, last) = (number == 0, number + 1 == frames.len());
            if v6 {
                prop_assert_eq!(usize::from(word(frame, ip_at + 4)), frame.len() - ip_at - 40);
            } else {
                prop_assert_eq!(usize::from(word(frame, ip_at + 2)), frame.len() - ip_at);
                prop_assert_eq!(word(frame, ip_at + 4), 0xffffu16.wrapping_add(number as u16));
                prop_assert!(Sum::of(&frame[ip_at..tcp_at]).is_right());
            }
            prop_assert!(transport_checksum_is_right(frame, v6, ip_at));
            let sequence = u32::from_be_bytes(frame[tcp_at + 4..tcp_at + 8].try_into().unwrap());
            prop_assert_eq!(sequence, 0xffff_ff00u32.wrapping_add(received.len() as u32));
            let kept = flags
                & if first { 0xff } else { !Flags::CWR.low() }
                & if last { 0xff } else { !(Flags::FIN.low() | Flags::PSH.low()) };
            prop_assert_eq!(frame[tcp_at + 13], kept);
            prop_assert_eq!(frame.len() - tcp_at - 32 == usize::from(piece_size) || last, true);
            received.extend_from_slice(&frame[tcp_at + 32..]);
        }
        prop_assert_eq!(received, payload);
    }

    /// Whatever the bytes and the offload say: frames or an error, never a panic.
    #[test]
    fn garbage_never_panics(
        packet in proptest::collection::vec(any::<u8>(), 0..200),
        start: u16, offset: u16, piece_size: u16, kind in 0..4,
    ) {
        let gso = match kind {
            0 => None,
            1 => Some((GsoKind::Tcp4, piece_size)),
            2 => Some((GsoKind::Tcp6, piece_size)),
            _ => Some((GsoKind::Udp, piece_size)),
        };
        let task = ChecksumTask { start, offset: offset % 64 };
        let _ = frames_of(&packet, Offload { checksum: Some(task), gso });
    }
}

#[test]
fn a_plain_packet_gets_only_its_checksum_finished() {
    let mut packet = tcp_super_packet(false, false, Flags::PSH.low(), b"hello");
    // The kernel leaves the pseudo-header's sum in the field: 10.0.0.1 + 10.0.0.2 + 6 + 37.
    let pseudo_header = wire::checksum::pseudo_header(&packet[26..34], Protocol::TCP, 37);
    tcp::CHECKSUM.set(&mut packet[34..], pseudo_header.word());
    let task = ChecksumTask { start: 34, offset: 16 };
    let frames = frames_of(&packet, Offload { checksum: Some(task), gso: None }).expect("fits");
    assert_eq!(frames.len(), 1);
    assert!(transport_checksum_is_right(&frames[0], false, 14));
    assert_eq!(frames[0][54..], packet[54..], "options and payload are untouched");
}

#[test]
fn sctp_gets_its_own_kind_of_checksum() {
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    packet.extend([
        0x45,
        0,
        0,
        36,
        0,
        1,
        0x40,
        0,
        64,
        Protocol::SCTP.0,
        0,
        0,
        10,
        0,
        0,
        1,
        10,
        0,
        0,
        2,
    ]);
    packet.extend([0x30, 0x39, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 0, 14, 0, 0, 4]); // SHUTDOWN COMPLETE
    let task = ChecksumTask { start: 34, offset: 8 };
    let frames = frames_of(&packet, Offload { checksum: Some(task), gso: None }).expect("fits");
    // A receiver computes the CRC with zeros in its place.
    let told = u32::from_le_bytes(frames[0][42..46].try_into().expect("four bytes"));
    assert_eq!(told, SCTP_CHECKSUM.checksum(&packet[34..]));
}

#[test]
fn a_wrong_checksum_without_a_task_stays_wrong() {
    let packet = tcp_super_packet(false, false, 0, b"damaged");
    let frames = frames_of(&packet, Offload::default()).expect("nothing to do");
    assert_eq!(frames, [packet]);
}

#[test]
fn what_cannot_be_split_is_named() {
    let packet = tcp_super_packet(false, false, 0, b"x");
    let gso = |kind, size| Offload { checksum: None, gso: Some((kind, size)) };
    let cases = [
        (&packet[..], gso(GsoKind::Tcp4, 0), SegmentError::ZeroPieceSize),
        (&packet[..], gso(GsoKind::Tcp6, 100), SegmentError::UnexpectedHeaders),
        (&packet[..40], gso(GsoKind::Tcp4, 100), SegmentError::Truncated),
        (&packet[..13], gso(GsoKind::Tcp4, 100), SegmentError::Truncated),
    ];
    for (packet, offload, error) in cases {
        assert_eq!(frames_of(packet, offload), Err(error), "{offload:?}");
    }
    let task = ChecksumTask { start: 60, offset: 16 };
    let outside = frames_of(&packet, Offload { checksum: Some(task), gso: None });
    assert_eq!(outside, Err(SegmentError::ChecksumOutside));
}
