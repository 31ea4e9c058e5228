//! What became of every frame: the host's books.
//!
//! Two laws hold at every instant, and [`Books::balance`] checks them:
//!
//! ```text
//!   received = taken (ARP, ICMP, TCP, UDP) + dropped on arrival, by reason
//!   made     = sent + dropped before leaving, by reason + waiting in queues
//! ```

/// Why a frame or packet ended in a host. The first group concerns arrivals, the second departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// An acknowledgment of something never sent, or far too old.
    BadAck,
    /// A checksum of IPv4, ICMP, TCP or UDP that does not fit: something was corrupted on the way.
    BadChecksum,
    /// A packet in pieces; hosts here send none and put none together.
    Fragment,
    /// Shorter than its headers say, or headers that make no sense.
    Malformed,
    /// TCP for which there is no connection and nobody listens; answered with a RST.
    NoConnection,
    /// UDP for a port that nobody has; answered with "port unreachable".
    NoSocket,
    /// An old timestamp: a duplicate from before the sequence numbers wrapped (RFC 7323).
    OldTimestamp,
    /// For another card or another address: hosts forward nothing.
    OtherHost,
    /// TCP outside of the window: a second copy of what is here, as a rule.
    OutsideWindow,
    /// A segment that makes no sense in the connection's state.
    Unexpected,
    /// A protocol that the host does not speak.
    UnknownProtocol,

    /// The neighbour did not answer.
    NeighbourUnknown,
    /// No network of its own and no route fits.
    NoRoute,
    /// The sending queue is full.
    QueueFull,
    /// Longer than the card or the path takes, and not to be cut.
    TooLong,
}

/// The first reason that concerns departures.
const FIRST_OF_DEPARTURE: usize = DropReason::NeighbourUnknown as usize;
const REASON_COUNT: usize = DropReason::TooLong as usize + 1;

impl DropReason {
    /// Every reason, in the order of their declaration.
    pub const ALL: [DropReason; REASON_COUNT] = [
        DropReason::BadAck,
        DropReason::BadChecksum,
        DropReason::Fragment,
        DropReason::Malformed,
        DropReason::NoConnection,
        DropReason::NoSocket,
        DropReason::OldTimestamp,
        DropReason::OtherHost,
        DropReason::OutsideWindow,
        DropReason::Unexpected,
        DropReason::UnknownProtocol,
        DropReason::NeighbourUnknown,
        DropReason::NoRoute,
        DropReason::QueueFull,
        DropReason::TooLong,
    ];
}

/// A host's counters, over all its cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Frames that came in, and their bytes.
    pub received: u64,
    /// See above.
    pub received_bytes: u64,
    /// Of these, worked in.
    pub taken_arp: u64,
    /// See above; ICMPv6 and its neighbour discovery included.
    pub taken_icmp: u64,
    /// See above.
    pub taken_tcp: u64,
    /// See above.
    pub taken_udp: u64,
    /// Frames made by the host, handed to the cable, and their bytes.
    pub made: u64,
    /// See above.
    pub sent: u64,
    /// See above.
    pub sent_bytes: u64,
    /// Waiting in the sending queues, or for a neighbour's address.
    pub waiting: u64,
    /// Payload that was not what it has to be, though every checksum was right.
    pub wrong_payload: u64,
    dropped: [u64; REASON_COUNT],
}

impl Books {
    /// How many ended for this reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    pub(crate) fn note_drop(&mut self, reason: DropReason) {
        self.dropped[reason as usize] += 1;
    }

    /// Both laws of the top of the file.
    pub fn balance(&self) -> bool {
        let (arrivals, departures) = self.dropped.split_at(FIRST_OF_DEPARTURE);
        let taken = self.taken_arp + self.taken_icmp + self.taken_tcp + self.taken_udp;
        self.received == taken + arrivals.iter().sum::<u64>()
            && self.made == self.sent + departures.iter().sum::<u64>() + self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_reasons_is_complete_and_in_order() {
        for (index, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
    }
}
