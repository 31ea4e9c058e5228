//! The host's counters: every frame's fate.
//!
//! Two laws hold at every instant, and [`Books::balance`] checks them:
//!
//! ```text
//!   received = taken (ARP, ICMP, TCP, UDP) + dropped on arrival, by reason
//!   made     = sent + dropped before leaving, by reason + waiting in queues
//! ```

use crate::reason::DropReason;

/// A host's counters, over all its cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Frames that came in, and their bytes.
    pub received: u64,
    pub received_bytes: u64,
    /// Of these, worked in.
    pub taken_arp: u64,
    /// ICMPv6 and its neighbour discovery included.
    pub taken_icmp: u64,
    pub taken_tcp: u64,
    pub taken_udp: u64,
    /// Frames made by the host, handed to the cable, and their bytes.
    pub made: u64,
    pub sent: u64,
    pub sent_bytes: u64,
    /// Waiting in the sending queues, or for a neighbour's address.
    pub waiting: u64,
    /// Payload that was not what it has to be, though every checksum was right.
    pub wrong_payload: u64,
    /// By reason, in the order of [`DropReason::ALL`].
    dropped: [u64; DropReason::ALL.len()],
}

impl Books {
    /// How many ended for this reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason.index()]
    }

    pub(crate) fn note_drop(&mut self, reason: DropReason) {
        self.dropped[reason.index()] += 1;
    }

    /// Both laws of the top of the file.
    pub fn balance(&self) -> bool {
        let dropped = |leaving: bool| -> u64 {
            let reasons = DropReason::ALL.iter().filter(|reason| reason.is_of_leaving() == leaving);
            reasons.map(|reason| self.dropped(*reason)).sum()
        };
        let taken = self.taken_arp + self.taken_icmp + self.taken_tcp + self.taken_udp;
        self.received == taken + dropped(false)
            && self.made == self.sent + dropped(true) + self.waiting
    }
}
