//! The metadata in front of a packet when one of Tofino's parsers begins.
//!
//! The layouts are those of `ingress_intrinsic_metadata_t` and `egress_intrinsic_metadata_t` in
//! `tna.p4`. Every field that does not fill its bytes has its padding in front.

use units::{PortId, Time};

use crate::known::Queueing;

/// Bytes of a cell of the chip's packet buffer, the unit of queue depths.
const CELL_BYTES: u64 = 80;
/// Room for the longest front.
const FRONT_BYTES_MAX: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chip {
    Tofino,
    Tofino2,
}

/// Bytes to put in front of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Front {
    bytes: [u8; FRONT_BYTES_MAX],
    length: usize,
}

/// The packet's stay in its queue, for egress.
pub(super) struct Stay<'a> {
    pub port: PortId,
    pub rid: u16,
    pub queueing: &'a Queueing,
    /// Whether a full queue deflected it.
    pub is_deflected: bool,
    pub length_bytes: usize,
}

impl Chip {
    /// As the compiler and P4Info call it.
    pub fn architecture(self) -> &'static str {
        match self {
            Chip::Tofino => "tna",
            Chip::Tofino2 => "t2na",
        }
    }

    /// Ports 68 to 71 of each pipe; on Tofino 2 one port of each.
    pub fn recirculates_at(self, port: PortId) -> bool {
        match self {
            Chip::Tofino => port.0 < 512 && (68..72).contains(&(port.0 % 128)),
            Chip::Tofino2 => matches!(port.0, 6 | 128 | 256 | 384),
        }
    }

    /// Bytes of port metadata, which are zero, or of a resubmitted packet's header in their place.
    pub fn port_metadata_bytes(self) -> usize {
        match self {
            Chip::Tofino => 8,
            Chip::Tofino2 => 24,
        }
    }

    /// In front of that.
    pub fn ingress_front(self, port: PortId, is_resubmitted: bool, now: Time) -> Front {
        let flag = u64::from(is_resubmitted) << 63;
        let mut front = Front::default();
        front.push(8, flag | u64::from(port.0) << 48 | low(now.whole_ns(), 48));
        front
    }

    pub fn egress_front(self, stay: &Stay<'_>) -> Front {
        let queueing = stay.queueing;
        let cells = |bytes: u64| low(bytes.div_ceil(CELL_BYTES), 19);
        let time_bits = match self {
            Chip::Tofino => 18,
            Chip::Tofino2 => 32,
        };
        let waited = queueing.departed.since(queueing.enqueued).whole_ns();
        let mut front = Front::default();
        front.push(2, stay.port.0.into());
        front.push(3, cells(queueing.depth_bytes_at_enqueue));
        front.push(1, 0);
        front.push(4, low(queueing.enqueued.whole_ns(), time_bits));
        front.push(3, cells(queueing.depth_bytes_at_dequeue));
        front.push(2, 0);
        front.push(4, low(waited, time_bits));
        front.push(2, stay.rid.into());
        front.push(1, 0);
        front.push(1, queueing.class.0.into());
        front.push(1, 0);
        front.push(1, stay.is_deflected.into());
        front.push(2, stay.length_bytes as u64);
        if self == Chip::Tofino2 {
            front.push(1, 0);
        }
        front
    }
}

impl Front {
    fn push(&mut self, count: usize, value: u64) {
        let bytes = value.to_be_bytes();
        self.bytes[self.length..self.length + count].copy_from_slice(&bytes[8 - count..]);
        self.length += count;
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The lowest bits of a number.
pub(super) fn low(value: u64, bits: u32) -> u64 {
    value & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{ClassId, Span};

    #[test]
    fn ingress_sees_flag_port_and_nanoseconds() {
        let now = Time::ZERO + Span::from_us(3);
        let front = Chip::Tofino.ingress_front(PortId(0x105), true, now);
        // The flag, six bits of padding and version, nine of the port, 3000 = 0x0bb8 ns.
        assert_eq!(front.bytes(), [0x81, 0x05, 0, 0, 0, 0, 0x0b, 0xb8]);
    }

    #[test]
    fn egress_sees_depths_in_cells_and_times_in_nanoseconds() {
        let queueing = Queueing {
            class: ClassId(5),
            enqueued: Time::ZERO + Span::from_us(1),
            departed: Time::ZERO + Span::from_us(3),
            depth_bytes_at_enqueue: 81,
            depth_bytes_at_dequeue: 80,
            ..Queueing::default()
        };
        let stay = Stay {
            port: PortId(0x101),
            rid: 7,
            queueing: &queueing,
            is_deflected: false,
            length_bytes: 64,
        };
        let mut expected = vec![
            0x01, 0x01, // port
            0, 0, 2, // 81 bytes take two cells
            0, 0, 0, 0x03, 0xe8, // congestion; enqueued at 1000 ns
            0, 0, 1, // 80 bytes take one
            0, 0, 0, 0, 0x07, 0xd0, // congestion; waited 2000 ns
            0, 7, // rid
            0, 5, 0, 0, // first replica, queue, class of service, deflection
            0, 64,
        ];
        assert_eq!(Chip::Tofino.egress_front(&stay).bytes(), expected);
        expected.push(0);
        assert_eq!(Chip::Tofino2.egress_front(&stay).bytes(), expected);
    }

    #[test]
    fn packets_recirculate_at_four_ports_of_each_pipe() {
        let recirculates = |port| Chip::Tofino.recirculates_at(PortId(port));
        let ports: Vec<u16> = (0..=600).filter(|port| recirculates(*port)).collect();
        let pipes = [0, 128, 256, 384];
        let expected: Vec<u16> =
            pipes.iter().flat_map(|pipe| (68..72).map(move |port| pipe + port)).collect();
        assert_eq!(ports, expected);
    }
}
