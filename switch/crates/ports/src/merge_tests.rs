//! Merging is checked against splitting: what a receiver gets must be the same with and without it.

use super::*;
use crate::segment::{Piece, split};
use proptest::prelude::*;

/// One flow's headers, from which frames are made by splitting.
#[derive(Clone, Debug)]
struct Flow {
    udp: bool,
    ipv6: bool,
    vlan_tags: usize,
    traffic_class: u8,
    hop_limit: u8,
    flags: u8,
    tcp_options: bool,
}

/// An Ethernet frame with lengths and checksums left open, as they are in a super-packet.
fn super_packet(flow: &Flow, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1];
    for tag in 0..flow.vlan_tags {
        packet.extend([if tag == 0 && flow.vlan_tags == 2 { 0x88 } else { 0x81 }]);
        packet.extend([if packet.ends_with(&[0x88]) { 0xa8 } else { 0 }, 0x20, 7 + tag as u8]);
    }
    let protocol = if flow.udp { 17 } else { 6 };
    if flow.ipv6 {
        packet.extend([0x86, 0xdd, 0x60 | flow.traffic_class >> 4, flow.traffic_class << 4, 1, 2]);
        packet.extend([0, 0, protocol, flow.hop_limit]);
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    } else {
        packet.extend([0x08, 0x00, 0x45, flow.traffic_class, 0, 0, 0xff, 0xfe, 0x40, 0]);
        packet.extend([flow.hop_limit, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    }
    packet.extend([0x30, 0x39, 0x14, 0x51]); // ports 12345 -> 5201
    if flow.udp {
        packet.extend([0; 4]);
    } else {
        let words = if flow.tcp_options { 8 } else { 5 };
        packet.extend(0xffff_ff00u32.to_be_bytes()); // sequence number, about to wrap
        packet.extend([0, 0, 0, 9, words << 4, flow.flags, 1, 0xf6, 0, 0, 0, 0]);
        if flow.tcp_options {
            packet.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]); // timestamps
        }
    }
    packet.extend(payload);
    packet
}

fn kind(flow: &Flow) -> GsoKind {
    match (flow.udp, flow.ipv6) {
        (true, _) => GsoKind::Udp,
        (false, false) => GsoKind::Tcp4,
        (false, true) => GsoKind::Tcp6,
    }
}

fn frames_of(packet: &[u8], offload: Offload) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let emit = |piece: &Piece<'_>| frames.push(piece.to_vec());
    split(&mut packet.to_vec(), offload, emit).expect("well-formed");
    frames
}

/// Frames as the kernel's segmentation makes them.
fn pieces(flow: &Flow, payload: &[u8], piece_size: u16) -> Vec<Vec<u8>> {
    let offload = Offload { checksum: None, gso: Some((kind(flow), piece_size)) };
    frames_of(&super_packet(flow, payload), offload)
}

/// A frame and what is known of its end.
type Sealed = (Vec<u8>, Option<Tail>);

fn known((bytes, tail): &Sealed) -> Known<'_> {
    Known { bytes, tail: *tail }
}

/// Merges neighbours of which nothing is known.
fn merge(frames: &[Vec<u8>]) -> Vec<(Offload, Vec<u8>)> {
    let frames: Vec<Sealed> = frames.iter().map(|frame| (frame.clone(), None)).collect();
    merge_sealed(&frames)
}

/// Merges neighbours, as sending does. Returns the packets with the work that is left.
fn merge_sealed(frames: &[Sealed]) -> Vec<(Offload, Vec<u8>)> {
    let mut packets = Vec::new();
    let mut rest = frames;
    while let Some((first, mut behind)) = rest.split_first() {
        let mut packet = SuperPacket::begin(&first.0);
        if let Some(packet) = &mut packet {
            while let Some((next, later)) = behind.split_first() {
                if !packet.take(known(first), known(next)) {
                    break;
                }
                behind = later;
            }
        }
        let members = &rest[..rest.len() - behind.len()];
        rest = behind;
        packets.push(match packet {
            Some(mut packet) if packet.count() > 1 => {
                assert_eq!(packet.count(), members.len());
                let head_size = packet.head_size();
                let (header, head) = packet.finish();
                let payloads = members.iter().map(|(frame, _)| &frame[head_size..]);
                let bytes = [head].into_iter().chain(payloads).collect::<Vec<_>>().concat();
                (Offload::read(&header).expect("a kind we know"), bytes)
            }
            _ => (Offload::default(), first.0.clone()),
        });
    }
    packets
}

/// The frames that arrive where super-packets are split again.
fn received(packets: &[(Offload, Vec<u8>)]) -> Vec<Vec<u8>> {
    packets.iter().flat_map(|(offload, bytes)| frames_of(bytes, *offload)).collect()
}

fn any_flow() -> impl Strategy<Value = Flow> {
    // Flags that travel in super-packets, and now and then others.
    let flags = prop_oneof![
        4 => (any::<u8>()).prop_map(|bits| Flags::ACK.low() | bits & PLAIN_FLAGS),
        1 => any::<u8>(),
    ];
    (any::<bool>(), any::<bool>(), 0usize..3, any::<u8>(), any::<u8>(), flags, any::<bool>())
        .prop_map(|(udp, ipv6, vlan_tags, traffic_class, hop_limit, flags, tcp_options)| Flow {
            udp,
            ipv6,
            vlan_tags,
            traffic_class,
            hop_limit,
            flags,
            tcp_options,
        })
}

fn plain_flow() -> Flow {
    Flow {
        udp: false,
        ipv6: false,
        vlan_tags: 0,
        traffic_class: 0,
        hop_limit: 64,
        flags: Flags::ACK.low(),
        tcp_options: true,
    }
}

proptest! {
    #[test]
    fn merging_what_was_split_gives_one_packet_and_the_same_frames(
        flow in any_flow(),
        payload in proptest::collection::vec(any::<u8>(), 2..9000),
        piece_size in 200u16..1500,
    ) {
        let frames = pieces(&flow, &payload, piece_size);
        let packets = merge(&frames);
        prop_assert_eq!(received(&packets), frames);
        if flow.udp || flow.flags & !PLAIN_FLAGS == 0 && flow.flags & Flags::ACK.low() != 0 {
            prop_assert_eq!(packets.len(), 1);
        }
    }

    /// Frames of several flows, changed anywhere, in any order: a receiver gets exactly them.
    #[test]
    fn whatever_is_merged_splits_into_the_frames_it_was_made_of(
        flows in proptest::collection::vec((any_flow(), 300usize..3000), 1..4),
        piece_size in 200u16..600,
        damage in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1u8..), 0..6),
        swaps in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..3),
    ) {
        let mut frames: Vec<Vec<u8>> = flows
            .iter()
            .flat_map(|(flow, size)| pieces(flow, &vec![0x5a; *size], piece_size))
            .collect();
        for (frame, byte, bits) in damage {
            let frame = frame.get_mut(&mut frames);
            let at = byte.index(frame.len());
            frame[at] ^= bits;
        }
        for (a, b) in swaps {
            let (a, b) = (a.index(frames.len()), b.index(frames.len()));
            frames.swap(a, b);
        }
        prop_assert_eq!(received(&merge(&frames)), frames);
    }

    /// Like the test before, with checksums that are right again after the damage: here the other
    /// conditions must see it.
    #[test]
    fn a_changed_header_with_a_right_checksum_is_kept(
        flow in any_flow(),
        piece_size in 200u16..600,
        victim in any::<prop::sample::Index>(),
        byte in any::<prop::sample::Index>(),
        bits in 1u8..,
    ) {
        let mut frames = pieces(&flow, &[0xa5; 3000], piece_size);
        let frame = victim.get_mut(&mut frames);
        let layout = Layout::of(frame).expect("an IP frame");
        frame[byte.index(layout.payload_at)] ^= bits;
        // Only if the damage left the frame one that has a place for a checksum.
        if let Ok(layout) = Layout::of(frame) {
            layout.write_ip_checksum(frame);
            let length = frame.len() - layout.transport_at;
            let pseudo_header = layout.pseudo_header_sum(frame, length);
            let (field, header) =
                (layout.transport.checksum(), &mut frame[layout.transport_at..]);
            field.set(header, 0);
            field.set(header, pseudo_header.then(header).checksum());
        }
        prop_assert_eq!(received(&merge(&frames)), frames);
    }

    /// A sum that splitting has left behind saves work and changes nothing, whatever became of the
    /// headers in between.
    #[test]
    fn known_sums_and_unknown_ones_merge_alike(
        flow in any_flow(),
        payload in proptest::collection::vec(any::<u8>(), 2..6000),
        piece_size in 200u16..600,
        damage in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1u8..), 0..4),
    ) {
        let mut sealed = Vec::new();
        let offload = Offload { checksum: None, gso: Some((kind(&flow), piece_size)) };
        let emit = |piece: &Piece<'_>| sealed.push((piece.to_vec(), piece.tail()));
        let mut packet = super_packet(&flow, &payload);
        split(&mut packet, offload, emit).expect("well-formed");
        for (frame, byte, bits) in damage {
            let (frame, tail) = frame.get_mut(&mut sealed);
            let covered = tail.map_or(0, |tail| tail.length_bytes as usize);
            let at = byte.index(frame.len() - covered);
            frame[at] ^= bits;
        }
        let frames: Vec<Vec<u8>> = sealed.iter().map(|(frame, _)| frame.clone()).collect();
        prop_assert!(sealed.iter().all(|(_, tail)| tail.is_some()));
        prop_assert_eq!(merge_sealed(&sealed), merge(&frames));
    }

    #[test]
    fn garbage_is_left_alone_and_never_panics(
        frames in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 0..6),
    ) {
        prop_assert_eq!(received(&merge(&frames)), frames);
    }
}

#[test]
fn sixty_four_kilobytes_are_the_most_that_fits() {
    // Two super-packets of 45 frames: 20 + 32 + 45 x 1448 = 65,212 bytes of IP, a 46th is too many.
    let mut frames = pieces(&plain_flow(), &vec![1; 45 * 1448 + 1448], 1448);
    assert_eq!(frames.len(), 46);
    let packets = merge(&frames);
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0].1.len(), 14 + 65_212);
    frames.truncate(45);
    assert_eq!(merge(&frames).len(), 1);
}

#[test]
fn a_wrong_checksum_travels_alone_wherever_it_stands() {
    for victim in 0..3 {
        let mut frames = pieces(&plain_flow(), &[7; 300], 100);
        let last = frames[victim].len() - 1;
        frames[victim][last] ^= 1;
        let packets = merge(&frames);
        // The two others are one packet if they are neighbours, and follow each other if not.
        assert_eq!(packets.len(), if victim == 1 { 3 } else { 2 }, "frame {victim} is damaged");
        assert_eq!(received(&packets), frames);
    }
}

#[test]
fn a_marked_packet_ends_the_row_so_that_its_mark_arrives() {
    let mut frames = pieces(&plain_flow(), &[7; 400], 100);
    // CE in the third, and the header checksum that belongs to it.
    frames[2][15] |= 3;
    let layout = Layout::of(&frames[2]).expect("an IP frame");
    layout.write_ip_checksum(&mut frames[2]);
    let sizes: Vec<usize> = merge(&frames).iter().map(|(_, bytes)| bytes.len() - 66).collect();
    assert_eq!(sizes, [200, 100, 100]);
}

#[test]
fn datagrams_of_the_same_size_are_one_packet_of_at_most_64() {
    let flow = Flow { udp: true, ..plain_flow() };
    let frames = pieces(&flow, &[3; 100 * 18], 18);
    let packets = merge(&frames);
    // 64 and the 36 that are left.
    let counts: Vec<usize> = packets.iter().map(|(_, bytes)| (bytes.len() - 42) / 18).collect();
    assert_eq!(counts, [64, 36]);
    assert_eq!(received(&packets), frames);
}

#[test]
fn padding_behind_the_packet_is_kept() {
    let mut frames = pieces(&plain_flow(), &[9; 200], 100);
    frames[1].extend([0; 4]);
    assert_eq!(merge(&frames).len(), 2);
}
