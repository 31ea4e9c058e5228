//! Every output alike: 1 / N.

pub(super) fn weight() -> u64 {
    1
}
