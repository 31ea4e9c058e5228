//! The one place where the live switch reads clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use units::{Span, Time};

/// The machine's monotonic clock, counted from the switch's start.
pub struct Clock {
    started_at: Instant,
}

impl Clock {
    /// A clock that says zero now.
    pub fn start() -> Clock {
        Clock { started_at: Instant::now() }
    }

    /// The time since the start.
    pub fn now(&self) -> Time {
        let elapsed = self.started_at.elapsed();
        // 2^64 ps are 213 days; a switch that has run longer stands still rather than wrap.
        let ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX / 1000);
        Time::ZERO + Span::from_ps(ns.saturating_mul(1000))
    }

    /// Nanoseconds since 1970 at this clock's zero, by the wall clock as it is set now.
    pub fn epoch_offset_ns(&self) -> i64 {
        let started = time_of_day().saturating_sub(self.started_at.elapsed());
        i64::try_from(started.as_nanos()).unwrap_or(i64::MAX)
    }
}

/// The time of day, counted from 1970: for logs and captures, never for the model.
pub fn time_of_day() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
