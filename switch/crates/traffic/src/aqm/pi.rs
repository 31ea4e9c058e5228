//! The arithmetic of proportional integral controllers, in 2^-60.

use units::{Ratio, Span};

/// Certainty.
pub(super) const ONE: i128 = 1 << 60;

const PS_PER_SECOND: i128 = 1_000_000_000_000;

/// `factor` per second times the distance from `from` to `delay`.
pub(super) fn gain(factor: Ratio, delay: Span, from: Span) -> i128 {
    let distance = i128::from(delay.ps()) - i128::from(from.ps());
    distance.saturating_mul(i128::from(factor.over())).saturating_mul(ONE / 1024)
        / (i128::from(factor.under()) * (PS_PER_SECOND / 1024))
}

/// A probability in 2^-60 as thousand-millionths.
pub(super) fn ppb(probability: i128) -> u64 {
    u64::try_from(probability * 1_000_000_000 / ONE).unwrap_or(0)
}
