//! The virtio-net header: what the sending kernel left for "the hardware" to do.
//!
//! With `PACKET_VNET_HDR` every packet of an AF_PACKET socket is preceded by these ten bytes
//! (`struct virtio_net_hdr`, fields in host byte order):
//!
//! ```text
//!   flags(1) gso_type(1) hdr_len(2) gso_size(2) csum_start(2) csum_offset(2)
//! ```

use std::fmt;

/// Size of the header in bytes.
pub const HEADER_SIZE_BYTES: usize = 10;

const FLAG_NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_UDP_FRAGMENT: u8 = 3;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
/// Set in `gso_type` when the super-packet carries congestion-window-reduced.
const GSO_FLAG_ECN: u8 = 0x80;

/// The kind of a super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GsoKind {
    /// TCP over IPv4: split into segments of `gso_size` payload bytes.
    Tcp4,
    /// TCP over IPv6, likewise.
    Tcp6,
    /// UDP (`UDP_SEGMENT`): split into datagrams of `gso_size` payload bytes.
    Udp,
}

/// The work that is left to do to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// Where the unfinished checksum starts to be summed, and where it is stored from there.
    pub checksum: Option<ChecksumTask>,
    /// How to split a super-packet, and the payload size of a piece in bytes.
    pub gso: Option<(GsoKind, u16)>,
}

/// An unfinished transport checksum: its field holds the pseudo-header's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumTask {
    /// Offset from the frame's start of the first byte to sum.
    pub start: u16,
    /// Offset from `start` of the checksum field.
    pub offset: u16,
}

/// A virtio-net header that this crate cannot honour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownGso(
    /// The `gso_type` found.
    pub u8,
);

impl fmt::Display for UnknownGso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "super-packets of kind {} cannot be split", self.0)
    }
}

impl std::error::Error for UnknownGso {}

impl Offload {
    /// Reads the header. A super-packet of a kind that we cannot split is an error: its bytes are
    /// not what a wire would carry.
    pub fn read(header: &[u8; HEADER_SIZE_BYTES]) -> Result<Offload, UnknownGso> {
        let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        let gso_size = word(4);
        let gso = match header[1] & !GSO_FLAG_ECN {
            GSO_NONE => None,
            GSO_TCPV4 => Some((GsoKind::Tcp4, gso_size)),
            GSO_TCPV6 => Some((GsoKind::Tcp6, gso_size)),
            GSO_UDP_L4 => Some((GsoKind::Udp, gso_size)),
            // IP fragmentation of UDP (UFO) left the kernel in 4.14 but for tap devices.
            GSO_UDP_FRAGMENT => return Err(UnknownGso(GSO_UDP_FRAGMENT)),
            other => return Err(UnknownGso(other)),
        };
        let checksum = (header[0] & FLAG_NEEDS_CHECKSUM != 0)
            .then(|| ChecksumTask { start: word(6), offset: word(8) });
        Ok(Offload { checksum, gso })
    }

    /// Writes the header for a packet whose first `head_size` bytes are headers. `reduced` says
    /// that its TCP header carries CWR, which only the first piece may keep.
    pub fn write(&self, head_size: u16, reduced: bool) -> [u8; HEADER_SIZE_BYTES] {
        let mut header = [0; HEADER_SIZE_BYTES];
        let mut put = |at: usize, value: u16| {
            header[at..at + 2].copy_from_slice(&value.to_ne_bytes());
        };
        if let Some(task) = self.checksum {
            put(6, task.start);
            put(8, task.offset);
        }
        if let Some((kind, gso_size)) = self.gso {
            put(2, head_size);
            put(4, gso_size);
            header[1] = match kind {
                GsoKind::Tcp4 => GSO_TCPV4,
                GsoKind::Tcp6 => GSO_TCPV6,
                GsoKind::Udp => GSO_UDP_L4,
            } | if reduced { GSO_FLAG_ECN } else { 0 };
        }
        header[0] = if self.checksum.is_some() { FLAG_NEEDS_CHECKSUM } else { 0 };
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(flags: u8, gso_type: u8, words: [u16; 4]) -> [u8; HEADER_SIZE_BYTES] {
        let mut bytes = [0; HEADER_SIZE_BYTES];
        bytes[0] = flags;
        bytes[1] = gso_type;
        for (word, at) in words.iter().zip((2..).step_by(2)) {
            bytes[at..at + 2].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn a_plain_packet_leaves_nothing_to_do() {
        assert_eq!(Offload::read(&header(0, 0, [0; 4])), Ok(Offload::default()));
    }

    #[test]
    fn a_tcp_super_packet_says_its_piece_size_and_checksum_place() {
        let offload = Offload::read(&header(1, 1 | 0x80, [54, 1448, 34, 16])).expect("known kind");
        assert_eq!(offload.gso, Some((GsoKind::Tcp4, 1448)));
        assert_eq!(offload.checksum, Some(ChecksumTask { start: 34, offset: 16 }));
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let checksum = Some(ChecksumTask { start: 34, offset: 16 });
        for gso in [None, Some((GsoKind::Tcp4, 1448)), Some((GsoKind::Tcp6, 1428))] {
            let offload = Offload { checksum, gso };
            assert_eq!(Offload::read(&offload.write(66, true)), Ok(offload));
        }
        assert_eq!(Offload::default().write(14, false), [0; HEADER_SIZE_BYTES]);
    }

    #[test]
    fn an_unknown_kind_is_named_not_guessed() {
        assert_eq!(Offload::read(&header(1, 3, [0; 4])), Err(UnknownGso(3)));
        assert_eq!(Offload::read(&header(1, 77, [0; 4])), Err(UnknownGso(77)));
    }
}
