//! Shared by IPv4 and IPv6: protocol numbers, and the congestion bits.

/// The protocol behind an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(pub u8);

impl Protocol {
    pub const HOP_BY_HOP: Protocol = Protocol(0);
    pub const ICMPV4: Protocol = Protocol(1);
    /// IPv4 in IP.
    pub const IPV4: Protocol = Protocol(4);
    pub const TCP: Protocol = Protocol(6);
    pub const UDP: Protocol = Protocol(17);
    /// IPv6 in IP.
    pub const IPV6: Protocol = Protocol(41);
    pub const ROUTING: Protocol = Protocol(43);
    pub const FRAGMENT: Protocol = Protocol(44);
    pub const GRE: Protocol = Protocol(47);
    pub const ICMPV6: Protocol = Protocol(58);
    pub const NO_NEXT: Protocol = Protocol(59);
    pub const DESTINATION_OPTIONS: Protocol = Protocol(60);
    pub const SCTP: Protocol = Protocol(132);
}

value_as!(Protocol, u8, Protocol, |protocol: Protocol| protocol.0);

/// Explicit congestion notification (RFC 3168): the low two bits of the former type of service.
/// Numbered as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The ends do not understand marks.
    #[default]
    NotEct = 0b00,
    /// The ends keep queues short themselves (L4S, RFC 9331).
    Ect1 = 0b01,
    /// The ends take a mark for a loss.
    Ect0 = 0b10,
    /// Marked: congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The field in the low two bits; the others are ignored.
    #[inline]
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    #[inline]
    pub const fn to_bits(self) -> u8 {
        self as u8
    }

    /// Whether a packet may be marked instead of dropped.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }

    /// Whether a packet belongs into an L4S queue: ECT(1), or CE, which may have been ECT(1).
    #[inline]
    pub const fn is_l4s(self) -> bool {
        matches!(self, Ecn::Ect1 | Ecn::Ce)
    }
}
