//! A record of one arbitration of the crossbar.

use units::{PortId, Time};

/// One arbitration: requests, grants and matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arbitration {
    /// When.
    pub at: Time,
    /// The free inputs that asked for free outputs.
    pub asks: Vec<Ask>,
    /// One for each iteration of iSLIP, PIM and round robin, for each diagonal of the wavefront and
    /// for each output that is drawn at random; one for all of a matching of maximum weight.
    pub rounds: Vec<Round>,
    /// Where the round-robin pointers of iSLIP and round robin stand now, by port.
    pub pointers: Vec<Pointers>,
}

/// An input requests an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The input.
    pub input: PortId,
    /// The output.
    pub output: PortId,
    /// The weight of the match for an arbiter that weighs: queued bytes, or the age of the first
    /// packet in picoseconds; 0 for other arbiters.
    pub weight: u64,
}

/// A match, or the offer of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The input.
    pub input: PortId,
    /// The output.
    pub output: PortId,
}

/// One round of an arbitration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Outputs choose inputs; none where outputs do not choose.
    pub grants: Vec<Match>,
    /// Inputs choose among the outputs that chose them, and these are matched.
    pub accepts: Vec<Match>,
}

/// The pointers of a port: where each side begins to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointers {
    /// The port.
    pub port: PortId,
    /// The input that its output looks at first.
    pub grant: PortId,
    /// The output that its input looks at first.
    pub accept: PortId,
}
