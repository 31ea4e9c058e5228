//! What a method of queue management has in mind, for who looks on.

use units::{Span, Time};

use super::pi::ONE;

/// The state of a method; one that remembers nothing has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AqmState {
    /// CoDel's.
    Codel {
        /// Drops since dropping began, or where it resumed.
        count: u64,
        /// When the next packet is dropped; none while none are.
        next: Option<Time>,
    },
    /// DualPI2's.
    Dualpi2 {
        /// p', whose square is the Classic probability, in thousand-millionths.
        base_ppb: u64,
        /// The delay at the last update.
        delay: Span,
    },
    /// PIE's.
    Pie {
        /// Of dropping an arrival, in thousand-millionths.
        probability_ppb: u64,
        /// The delay at the last update.
        delay: Span,
        /// What is left of the time in which bursts are let through.
        burst_left: Span,
    },
    /// RED's.
    Red {
        /// The moving average in thousandths of a packet, or of a byte.
        average_thousandths: u64,
    },
}

/// A probability in 2^-60 as thousand-millionths.
pub(super) fn ppb(probability: i128) -> u64 {
    u64::try_from(probability * 1_000_000_000 / ONE).unwrap_or(0)
}
