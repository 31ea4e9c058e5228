//! Explicit congestion notification (RFC 3168) in the bytes of a frame.
//!
//! A queue's management marks a packet instead of dropping it, if the packet says that its ends
//! understand a mark. The program need not know of any of this: the switch reads the two ECN bits
//! of the incoming frame, and sets them in the outgoing one. It finds IPv4 and IPv6 behind Ethernet
//! and up to two VLAN tags; in front of anything else nothing is marked, and the packet is dropped
//! where it would have been marked.

use wire::{Ecn, EtherType, ipv4, ipv6, vlan};

/// Where the IP header of a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    V4(usize),
    V6(usize),
}

impl Place {
    /// `None` if no complete IP header follows; of IPv6, the two bytes with the bits suffice.
    #[inline]
    fn of(frame: &[u8]) -> Option<Place> {
        match vlan::skip(frame).ok()? {
            (EtherType::IPV4, at) if frame.len() >= at + ipv4::HEADER_SIZE_BYTES => {
                Some(Place::V4(at))
            }
            (EtherType::IPV6, at) if frame.len() >= at + 2 => Some(Place::V6(at)),
            _ => None,
        }
    }
}

/// The packet's ECN codepoint; a frame without IP has none.
#[inline]
pub(crate) fn of(frame: &[u8]) -> Ecn {
    match Place::of(frame) {
        None => Ecn::NotEct,
        Some(Place::V4(at)) => Ecn::from_bits(ipv4::TRAFFIC_CLASS.get(&frame[at..])),
        Some(Place::V6(at)) => ipv6::ecn(&frame[at..]),
    }
}

/// Sets CE if the packet is ECN-capable; anything else stays as it is. A checksum that was wrong is as
/// wrong as before.
pub(crate) fn set_congestion_experienced(frame: &mut [u8]) {
    match Place::of(frame) {
        Some(_) if !of(frame).is_capable() => {}
        Some(Place::V4(at)) => ipv4::set_ecn(&mut frame[at..], Ecn::Ce),
        Some(Place::V6(at)) => ipv6::set_ecn(&mut frame[at..], Ecn::Ce),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use wire::Sum;

    use super::*;

    /// Ethernet with these tags, then IPv4 with these ECN bits and a right checksum.
    fn frame_with(tags: &[u16], bits: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        for tpid in tags {
            frame.extend(tpid.to_be_bytes());
            frame.extend([0, 7]);
        }
        frame.extend([8, 0]);
        let at = frame.len();
        frame.extend([0x45, bits, 0, 20, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        ipv4::fill_checksum(&mut frame[at..]);
        frame
    }

    #[test]
    fn ect_becomes_ce_behind_tags_and_the_checksum_stays_right() {
        for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100]] {
            for bits in [0b01, 0b10, 0b11] {
                let mut frame = frame_with(tags, bits);
                assert!(of(&frame).is_capable());
                set_congestion_experienced(&mut frame);
                assert_eq!(frame, frame_with(tags, 0b11), "{tags:x?}, {bits:b}");
            }
        }
    }

    #[test]
    fn what_is_not_capable_stays_as_it_is() {
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        let cut = frame_with(&[], 0b10)[..33].to_vec();
        let tags_to_the_end = [&[0; 12][..], &[0x81, 0, 0, 1, 0x81, 0, 0, 1]].concat();
        for frame in [frame_with(&[], 0), arp, cut, tags_to_the_end, vec![], vec![0; 13]] {
            let mut marked = frame.clone();
            set_congestion_experienced(&mut marked);
            assert!(!of(&frame).is_capable() && marked == frame, "{frame:x?}");
        }
    }

    #[test]
    fn ipv6_has_its_bits_across_the_traffic_class() {
        // Version 6, traffic class 0xfe (DSCP 63, ECT(0) = 0b10), flow label 0x12345.
        let mut frame = [&[0; 12][..], &[0x86, 0xdd, 0x6f, 0xe1, 0x23, 0x45], &[0; 36]].concat();
        assert!(of(&frame).is_capable());
        set_congestion_experienced(&mut frame);
        assert_eq!(frame[14..18], [0x6f, 0xf1, 0x23, 0x45]);
        frame[15] = 0xc1;
        assert_eq!(of(&frame), Ecn::NotEct);
    }

    #[test]
    fn a_wrong_checksum_stays_wrong() {
        let mut frame = frame_with(&[], 0b10);
        frame[24] ^= 0x40;
        set_congestion_experienced(&mut frame);
        assert!(!Sum::of(&frame[14..]).is_right());
        frame[24] ^= 0x40;
        assert!(Sum::of(&frame[14..]).is_right(), "the same error, and no other");
    }
}
