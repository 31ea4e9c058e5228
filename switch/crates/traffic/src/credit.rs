//! The state of schedulers and token buckets for display: credit from the past that decides which
//! packet is sent next.

use units::Rate;

const BIT_PS: i128 = 8_000_000_000_000;

/// A discipline's state for one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareState {
    /// Deficit round robin.
    Drr {
        /// Bytes granted and not yet used.
        deficit: i64,
        /// Whether it is the class's turn.
        is_current: bool,
    },
    /// Weighted round robin.
    Wrr {
        /// How many packets it may still send in this turn; 0 while it is another's.
        left: u32,
        /// Whether it is the class's turn.
        is_current: bool,
    },
    /// Weighted fair queueing, of a class that has a packet: the smallest goes first.
    Wfq {
        /// How far the tag of its first packet is ahead of virtual time, in bytes for weight 1.
        lead: i64,
    },
}

/// The content of a token bucket; negative after a packet that was longer than the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Bytes that may go at once.
    Bytes(i64),
    /// Packets that may go at once, in thousandths.
    MilliPackets(i64),
}

/// The two buckets of a node of a hierarchy, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeTokens {
    /// Against its rate.
    pub rate: i64,
    /// Against its ceil.
    pub ceil: i64,
}

/// Everything that decides which class of a port is next, apart from the packets themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credits {
    /// The port's own bucket, if it has one.
    pub tokens: Option<Tokens>,
    /// Class 0 first.
    pub classes: Vec<ClassCredit>,
    /// The nodes of a hierarchy as they are configured, parents before children.
    pub nodes: Vec<NodeTokens>,
}

/// The same for one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCredit {
    /// The state of its group's discipline for this class; none under strict priority.
    pub share: Option<ShareState>,
    /// The queue's own bucket, if it has one.
    pub tokens: Option<Tokens>,
}

/// The credit that a rate earns in `ps` picoseconds, in whole bytes, rounded down.
pub(crate) fn bytes_in(rate: Rate, ps: i128) -> i64 {
    clamped((ps * i128::from(rate.bps())).div_euclid(BIT_PS))
}

pub(crate) fn clamped(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
