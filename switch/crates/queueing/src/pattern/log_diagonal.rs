//! Halving from output to output: 2^(N-1-k) / (2^N - 1) to the k-th after the own.

/// Weights are cut off at 2^40; what lies beyond would not be seen in any run.
const EXPONENT_MAX: usize = 40;

pub(super) fn weight(port_count: usize, ahead: usize) -> u64 {
    let first = (port_count - 1).min(EXPONENT_MAX);
    if ahead > first { 0 } else { 1 << (first - ahead) }
}
