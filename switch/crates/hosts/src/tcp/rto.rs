//! The retransmission timeout (RFC 6298) with Linux's finer variance.
//!
//! RFC 6298's variance follows every sample; Linux takes the largest mean deviation of each round
//! trip, lets it fall only once a round trip, and keeps it above `rto_min`. So the timeout is
//! `srtt + max(200 ms, variance)`: never less than 200 ms above the round-trip time.

use units::Span;

/// Round-trip time, its variance and the timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    /// Smoothed, times 8; zero before the first sample.
    srtt_8ths_us: u32,
    /// Mean deviation, times 4, and its maximum in this round trip.
    deviation_4ths_us: u32,
    deviation_max_us: u32,
    variance_us: u32,
    /// The round trip ends when this number is acknowledged.
    round_end: u64,
    rto: Span,
    /// How often the timer fired without an answer: each doubles the timeout.
    backoff: u32,
    min: MinRtt,
}

/// The least round-trip time of the last five minutes (RFC 8985 section 6.2 requires a window).
#[derive(Clone, Copy, Debug)]
struct MinRtt {
    us: u32,
    at_s: u64,
}

const MIN_RTT_WINDOW_S: u64 = 300;

impl RttEstimator {
    pub fn new(rto_initial: Span) -> RttEstimator {
        RttEstimator {
            srtt_8ths_us: 0,
            deviation_4ths_us: 0,
            deviation_max_us: 0,
            variance_us: 0,
            round_end: 0,
            rto: rto_initial,
            backoff: 0,
            min: MinRtt { us: u32::MAX, at_s: 0 },
        }
    }

    /// Zero before the first sample.
    pub fn srtt_us(&self) -> u32 {
        self.srtt_8ths_us >> 3
    }

    pub fn variance_us(&self) -> u32 {
        self.variance_us
    }

    /// `u32::MAX` before the first sample.
    pub fn min_us(&self) -> u32 {
        self.min.us
    }

    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The timeout in force, doubled for each time it expired (RFC 6298 section 5.5).
    pub fn rto(&self, most: Span) -> Span {
        let doubled = u64::checked_shl(1, self.backoff).and_then(|f| self.rto.ps().checked_mul(f));
        doubled.map_or(most, Span::from_ps).min(most)
    }

    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// An acknowledgment came that is no answer to a retransmission (RFC 6298 section 5.7).
    pub fn forget_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Remembers the least; `now_s` is the time in seconds.
    pub fn note_min(&mut self, rtt_us: u32, now_s: u64) {
        if rtt_us <= self.min.us || now_s > self.min.at_s + MIN_RTT_WINDOW_S {
            self.min = MinRtt { us: rtt_us.max(1), at_s: now_s };
        }
    }

    /// Takes a sample in; `una` and `nxt` tell the round trips apart.
    pub fn sample(&mut self, rtt_us: u32, una: u64, nxt: u64, rto_min: Span) {
        let rto_min_us = rto_min.whole_us() as u32;
        let rtt_us = rtt_us.max(1);
        if self.srtt_8ths_us == 0 {
            self.srtt_8ths_us = rtt_us << 3;
            self.deviation_4ths_us = rtt_us << 1;
            self.variance_us = self.deviation_4ths_us.max(rto_min_us);
            self.deviation_max_us = self.variance_us;
            self.round_end = nxt;
        } else {
            self.smooth(rtt_us);
            if una > self.round_end {
                if self.deviation_max_us < self.variance_us {
                    self.variance_us -= (self.variance_us - self.deviation_max_us) >> 2;
                }
                self.round_end = nxt;
                self.deviation_max_us = rto_min_us;
            }
        }
        self.rto = Span::from_us(u64::from(self.srtt_us() + self.variance_us));
    }

    fn smooth(&mut self, rtt_us: u32) {
        let error = i64::from(rtt_us) - i64::from(self.srtt_us());
        self.srtt_8ths_us = (i64::from(self.srtt_8ths_us) + error).max(1) as u32;
        let mut change = error.abs() - i64::from(self.deviation_4ths_us >> 2);
        // A sample that is suddenly smaller says nothing bad about the path: let it count little.
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.deviation_4ths_us = (i64::from(self.deviation_4ths_us) + change).max(0) as u32;
        if self.deviation_4ths_us > self.deviation_max_us {
            self.deviation_max_us = self.deviation_4ths_us;
            self.variance_us = self.variance_us.max(self.deviation_max_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO_MIN: Span = Span::from_ms(200);

    fn estimator() -> RttEstimator {
        RttEstimator::new(Span::from_secs(1))
    }

    /// RFC 6298 section 2.2: SRTT = R, RTTVAR = R / 2, RTO = R + 4 RTTVAR = 3R, at least R + 200 ms.
    #[test]
    fn the_first_sample_sets_everything() {
        let mut slow = estimator();
        slow.sample(500_000, 1, 2, RTO_MIN);
        assert_eq!((slow.srtt_us(), slow.rto(Span::MAX)), (500_000, Span::from_ms(1500)));
        let mut fast = estimator();
        fast.sample(20_000, 1, 2, RTO_MIN);
        assert_eq!(fast.rto(Span::MAX), Span::from_ms(220));
    }

    /// RFC 6298 section 2.3: SRTT moves an eighth of the way to each sample.
    #[test]
    fn later_samples_move_an_eighth_of_the_way() {
        let mut rtt = estimator();
        rtt.sample(80_000, 1, 2, RTO_MIN);
        rtt.sample(160_000, 2, 3, RTO_MIN);
        assert_eq!(rtt.srtt_us(), 90_000);
    }

    /// RFC 6298 section 5.5: each expiry doubles the timeout, up to the maximum.
    #[test]
    fn each_expiry_doubles_the_timeout() {
        let mut rtt = estimator();
        let most = Span::from_secs(120);
        let timeouts: Vec<Span> = (0..9)
            .map(|_| {
                let rto = rtt.rto(most);
                rtt.back_off();
                rto
            })
            .collect();
        let seconds = [1, 2, 4, 8, 16, 32, 64, 120, 120];
        assert_eq!(timeouts, seconds.map(Span::from_secs));
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(most), most);
    }

    #[test]
    fn the_least_round_trip_time_is_forgotten_after_five_minutes() {
        let mut rtt = estimator();
        rtt.note_min(10, 0);
        rtt.note_min(20, 300);
        assert_eq!(rtt.min_us(), 10);
        rtt.note_min(20, 301);
        assert_eq!(rtt.min_us(), 20);
    }
}
