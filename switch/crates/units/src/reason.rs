//! Why a packet ended: every reason there is, one row each.
//!
//! The rows are those of `DropReason` in `vitrine.v1` (`router.proto`), with its numbers; a test
//! beside the messages compares both. A number is never used for anything else.

/// Makes the reasons from their rows: what happened, in words; the reason, its number and its name;
/// and whether it is a queue that drops, a limit or active queue management: then the packet has
/// been through the program, and the counters of queues and ports count it.
macro_rules! reasons {
    ($(#[doc = $sentence:literal] $reason:ident = $number:literal, $name:literal, $of_queues:literal;)*) => {
        /// Why a packet ended inside the switch.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum DropReason {
            $(#[doc = $sentence] $reason = $number,)*
        }

        impl DropReason {
            /// Every reason, in the order of their numbers.
            pub const ALL: &[DropReason] = &[$(DropReason::$reason),*];

            /// The reason as it is written in reports: `queue_limit`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DropReason::$reason => $name,)*
                }
            }

            /// The event, in words.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(DropReason::$reason => $sentence.trim_ascii(),)*
                }
            }

            /// Whether a queue, a limit or active queue management drops for this reason.
            pub const fn is_of_queues(self) -> bool {
                match self {
                    $(DropReason::$reason => $of_queues,)*
                }
            }
        }
    };
}

reasons! {
    /// Active queue management chose the packet.
    Aqm = 1, "aqm", true;
    /// The packet's class is not one of the port's classes.
    BadClass = 2, "bad_class", true;
    /// The input port's queue, or the sum of its virtual output queues, is at its limit.
    InputLimit = 3, "input_limit", true;
    /// The port's queues together are at the port's limit.
    PortLimit = 4, "port_limit", true;
    /// The queue is at its limit: tail drop.
    QueueLimit = 5, "queue_limit", true;
    /// The queue or its port was removed while the packet waited.
    QueueRemoved = 6, "queue_removed", true;
    /// The shared buffer grants the queue no more room.
    SharedBuffer = 7, "shared_buffer", true;
    /// The packet is for a port that is not configured.
    UnknownPort = 8, "unknown_port", true;
    /// The virtual output queue is at its limit.
    VoqLimit = 9, "voq_limit", true;
    /// An assert or assume of the program did not hold.
    Assertion = 10, "assertion", false;
    /// The program marked it to drop in egress.
    EgressProgram = 11, "egress_program", false;
    /// The program marked it to drop in ingress.
    IngressProgram = 12, "ingress_program", false;
    /// No program is loaded.
    NoProgram = 13, "no_program", false;
    /// Its multicast group has no members, or does not exist.
    NoReplica = 14, "no_replica", false;
    /// The port it came in by, or was to leave by, is down.
    PortDown = 15, "port_down", false;
    /// A copy that was one too many: the frame and all that comes of it had used up their steps.
    TooManyCopies = 16, "too_many_copies", false;
    /// The packet was resubmitted or recirculated when its steps were used up.
    TooManyPasses = 17, "too_many_passes", false;
    /// The frame is longer than the switch takes.
    TooLong = 18, "too_long", false;
    /// The packets in the switch take as much memory as they may.
    PacketMemory = 19, "packet_memory", false;
    /// The loops of a control had gone round as often as they may.
    LoopLimit = 20, "loop_limit", false;
    /// A full queue ordered by rank kept packets of lower ranks.
    Rank = 21, "rank", true;
}

impl DropReason {
    /// How many reasons queues have: the length of an array by [`Self::queue_index`].
    pub const QUEUE_COUNT: usize = DropReason::queue_reasons_below(u8::MAX);

    /// Its number in messages and in programs, where 0 says that there is none.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The reason of a number.
    pub fn of_number(number: u8) -> Option<DropReason> {
        DropReason::ALL.iter().copied().find(|reason| reason.number() == number)
    }

    /// Its place among the reasons of queues; none if it is not theirs.
    pub const fn queue_index(self) -> Option<usize> {
        match self.is_of_queues() {
            true => Some(DropReason::queue_reasons_below(self.number())),
            false => None,
        }
    }

    const fn queue_reasons_below(number: u8) -> usize {
        let (mut count, mut at) = (0, 0);
        while at < DropReason::ALL.len() {
            let reason = DropReason::ALL[at];
            if reason.is_of_queues() && reason.number() < number {
                count += 1;
            }
            at += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_lead_back() {
        assert!(DropReason::ALL.is_sorted());
        for reason in DropReason::ALL {
            assert_eq!(DropReason::of_number(reason.number()), Some(*reason));
        }
        assert_eq!(DropReason::of_number(0), None);
    }

    #[test]
    fn reasons_of_queues_have_places_of_their_own() {
        let places = DropReason::ALL.iter().filter_map(|reason| reason.queue_index());
        assert!(places.eq(0..DropReason::QUEUE_COUNT));
    }

    #[test]
    fn a_reason_says_what_happened() {
        let said = "The queue is at its limit: tail drop.";
        assert_eq!(DropReason::QueueLimit.sentence(), said);
    }
}
