//! Why a frame or packet ended in a host: every reason there is, one row each.
//!
//! The rows are those of `HostDrop.Reason` in `vitrine.v1` (`world.proto`), with its numbers; a test
//! beside the messages compares both.

/// Makes the reasons from their rows: what happened, in words; the reason, its number and its name;
/// and whether it ended on arrival or before leaving, which decides in which law it counts.
macro_rules! reasons {
    ($(#[doc = $sentence:literal] $reason:ident = $number:literal, $name:literal, $way:ident;)*) => {
        /// Why a frame or packet ended in a host.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DropReason {
            $(#[doc = $sentence] $reason = $number,)*
        }

        impl DropReason {
            /// Every reason, in the order of their numbers, which begin with 1.
            pub const ALL: &[DropReason] = &[$(DropReason::$reason),*];

            /// The reason as it is written in reports: `queue_full`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DropReason::$reason => $name,)*
                }
            }

            /// Whether it ended before leaving, not on arrival.
            pub(crate) const fn is_of_leaving(self) -> bool {
                match self {
                    $(DropReason::$reason => matches!(Way::$way, Way::Leaving),)*
                }
            }
        }
    };
}

enum Way {
    Arrival,
    Leaving,
}

reasons! {
    /// An acknowledgment of something never sent, or far too old.
    BadAck = 1, "bad_ack", Arrival;
    /// A checksum of IPv4, ICMP, TCP or UDP that does not fit: something was corrupted on the way.
    BadChecksum = 2, "bad_checksum", Arrival;
    /// A packet in pieces; hosts here send none and put none together.
    Fragment = 3, "fragment", Arrival;
    /// Shorter than its headers say, or headers that make no sense.
    Malformed = 4, "malformed", Arrival;
    /// TCP without a connection or listener; answered with a RST.
    NoConnection = 5, "no_connection", Arrival;
    /// UDP for an unused port; answered with "port unreachable".
    NoSocket = 6, "no_socket", Arrival;
    /// An old timestamp: a duplicate from before the sequence numbers wrapped (RFC 7323).
    OldTimestamp = 7, "old_timestamp", Arrival;
    /// For another card or another address: hosts forward nothing.
    OtherHost = 8, "other_host", Arrival;
    /// TCP outside of the window: usually a second copy of received data.
    OutsideWindow = 9, "outside_window", Arrival;
    /// A segment that makes no sense in the connection's state.
    Unexpected = 10, "unexpected", Arrival;
    /// A protocol that the host does not speak.
    UnknownProtocol = 11, "unknown_protocol", Arrival;
    /// The neighbour did not answer.
    NeighbourUnknown = 12, "neighbour_unknown", Leaving;
    /// No network of its own and no route fits.
    NoRoute = 13, "no_route", Leaving;
    /// The sending queue is full.
    QueueFull = 14, "queue_full", Leaving;
    /// Longer than the card or the path takes, and not to be cut.
    TooLong = 15, "too_long", Leaving;
}

impl DropReason {
    /// Its number in messages, where 0 says that there is none.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Its place in [`DropReason::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_found_at_its_place() {
        for reason in DropReason::ALL {
            assert_eq!(DropReason::ALL[reason.index()], *reason);
        }
    }
}
