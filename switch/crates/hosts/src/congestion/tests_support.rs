//! A path to test algorithms with.

use units::{Span, Time};

use super::{Path, RecoveryState};

/// A 100 ms path on which everything is in order, `at_ms` after the start.
pub(super) fn path(at_ms: u64) -> Path {
    Path {
        now: Time::ZERO + Span::from_ms(at_ms),
        next_send: Time::ZERO + Span::from_ms(at_ms),
        mss: 1448,
        srtt_us: 100_000,
        min_rtt_us: 100_000,
        in_flight: 10,
        una: 0,
        nxt: 14_480,
        delivered: 0,
        delivered_ce: 0,
        lost: 0,
        paced: false,
        app_limited: false,
        cwnd_limited: true,
        recovery: RecoveryState::Open,
    }
}
