//! Explicit congestion notification (RFC 3168) in the bytes of a frame.
//!
//! A queue's management marks a packet instead of dropping it, if the packet says that its ends
//! understand a mark. The program need not know of any of this: the switch reads the two ECN bits
//! of what came in, and sets them in what goes out. It finds IPv4 and IPv6 behind Ethernet and any
//! number of VLAN tags; in front of anything else nothing is marked, and the packet is dropped
//! where it would have been marked.

const ETHERTYPE_AT: usize = 12;
const VLAN_TAG_LENGTH: usize = 4;
const TPIDS: [u16; 2] = [0x8100, 0x88a8];
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const IPV4_LENGTH_MIN: usize = 20;
const IPV4_CHECKSUM_AT: usize = 10;

/// Congestion experienced; also the mask of the field.
const CE: u8 = 0b11;

/// Where the ECN bits of a frame are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The IPv4 header begins here; the bits end its second byte.
    V4(usize),
    /// The IPv6 header begins here; the bits are the middle of its second byte.
    V6(usize),
}

impl Place {
    /// Skips Ethernet and VLAN tags; `None` if no complete IP header follows.
    #[inline]
    fn of(frame: &[u8]) -> Option<Place> {
        let mut at = ETHERTYPE_AT;
        loop {
            let ether_type = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
            match ether_type {
                ETHERTYPE_IPV4 if frame.len() >= at + 2 + IPV4_LENGTH_MIN => {
                    return Some(Place::V4(at + 2));
                }
                ETHERTYPE_IPV6 if frame.len() >= at + 4 => return Some(Place::V6(at + 2)),
                tpid if TPIDS.contains(&tpid) => at += VLAN_TAG_LENGTH,
                _ => return None,
            }
        }
    }

    fn bits(self, frame: &[u8]) -> u8 {
        match self {
            Place::V4(at) => frame[at + 1] & CE,
            Place::V6(at) => frame[at + 1] >> 4 & CE,
        }
    }
}

/// Whether the packet may be marked instead of dropped: ECT(0), ECT(1) or marked already.
#[inline]
pub(crate) fn is_capable(frame: &[u8]) -> bool {
    Place::of(frame).is_some_and(|place| place.bits(frame) != 0)
}

/// Sets CE if the packet is ECN-capable; anything else stays as it is.
pub(crate) fn set_congestion_experienced(frame: &mut [u8]) {
    let Some(place) = Place::of(frame).filter(|place| place.bits(frame) != 0) else { return };
    match place {
        Place::V6(at) => frame[at + 1] |= CE << 4,
        Place::V4(at) => {
            let before = u16::from_be_bytes([frame[at], frame[at + 1]]);
            frame[at + 1] |= CE;
            let after = before | u16::from(CE);
            let checksum = at + IPV4_CHECKSUM_AT;
            let old = u16::from_be_bytes([frame[checksum], frame[checksum + 1]]);
            let new = updated_checksum(old, before, after).to_be_bytes();
            frame[checksum..checksum + 2].copy_from_slice(&new);
        }
    }
}

/// RFC 1624: HC' = ~(~HC + ~m + m'). A checksum that was wrong is as wrong as before.
fn updated_checksum(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethernet with these tags, then IPv4 with these ECN bits and a right checksum.
    fn ipv4(tags: &[u16], bits: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        for tpid in tags {
            frame.extend(tpid.to_be_bytes());
            frame.extend([0, 7]);
        }
        frame.extend([8, 0]);
        let at = frame.len();
        frame.extend([0x45, bits, 0, 20, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let checksum = !ones_sum(&frame[at..]);
        frame[at + 10..at + 12].copy_from_slice(&checksum.to_be_bytes());
        frame
    }

    fn ones_sum(bytes: &[u8]) -> u16 {
        let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum: u32 = words.sum();
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn ect_becomes_ce_behind_any_tags_and_the_checksum_stays_right() {
        for tags in [&[][..], &[0x8100], &[0x88a8, 0x8100]] {
            for bits in [0b01, 0b10, 0b11] {
                let mut frame = ipv4(tags, bits);
                assert!(is_capable(&frame));
                set_congestion_experienced(&mut frame);
                assert_eq!(frame, ipv4(tags, CE), "{tags:x?}, {bits:b}");
            }
        }
    }

    #[test]
    fn what_is_not_capable_stays_as_it_is() {
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        let cut = ipv4(&[], 0b10)[..33].to_vec();
        let tags_to_the_end = [&[0; 12][..], &[0x81, 0, 0, 1, 0x81, 0, 0, 1]].concat();
        for frame in [ipv4(&[], 0), arp, cut, tags_to_the_end, vec![], vec![0; 13]] {
            let mut marked = frame.clone();
            set_congestion_experienced(&mut marked);
            assert!(!is_capable(&frame) && marked == frame, "{frame:x?}");
        }
    }

    #[test]
    fn ipv6_has_its_bits_across_the_traffic_class() {
        // Version 6, traffic class 0xfe (DSCP 63, ECT(0) = 0b10), flow label 0x12345.
        let mut frame = [&[0; 12][..], &[0x86, 0xdd, 0x6f, 0xe1, 0x23, 0x45], &[0; 36]].concat();
        assert!(is_capable(&frame));
        set_congestion_experienced(&mut frame);
        assert_eq!(frame[14..18], [0x6f, 0xf1, 0x23, 0x45]);
        frame[15] = 0xc1;
        assert!(!is_capable(&frame));
    }

    #[test]
    fn a_wrong_checksum_stays_wrong() {
        let mut frame = ipv4(&[], 0b10);
        frame[24] ^= 0x40;
        set_congestion_experienced(&mut frame);
        assert_ne!(ones_sum(&frame[14..]), 0xffff);
        frame[24] ^= 0x40;
        assert_eq!(ones_sum(&frame[14..]), 0xffff, "the same error, and no other");
    }
}
