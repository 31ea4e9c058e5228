//! How much more is acknowledged at once than the rate explains: BBR's aggregation estimate.
//!
//! Acknowledgments that come in clumps (Wi-Fi, offloads, a late machine) leave silences between them,
//! in which a window of two bandwidth-delay products may run out. So it grows by the largest clump of
//! the last rounds (draft-ietf-ccwg-bbr section 5.5.9, "BBR.extra_acked").

use units::Time;

use super::{Path, RATE_SHIFT, RateSample};

/// Of a clump, no more than this much time's worth counts.
const CLUMP_US_MAX: u64 = 100_000;
const CLUMP_PACKETS_MAX: u32 = 1 << 20;

/// The largest clump of the last one to two times this many rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clumps {
    since: Time,
    acked: u32,
    most: [u32; 2],
    rounds: u32,
    slot: usize,
}

impl Clumps {
    /// From here on something new is counted: the connection begins, or was idle.
    pub fn restart(&mut self, now: Time) {
        self.since = now;
        self.acked = 0;
    }

    /// Works an acknowledgment in that came at `rate`; what is older than `rounds` to twice as many
    /// rounds is forgotten.
    pub fn update(
        &mut self,
        path: &Path,
        sample: &RateSample,
        [rate, cwnd]: [u64; 2],
        round_starts: bool,
        rounds: u32,
    ) {
        if sample.acked == 0 || sample.delivered.is_none() {
            return;
        }
        if round_starts {
            self.rounds += 1;
            if self.rounds >= rounds {
                self.rounds = 0;
                self.slot ^= 1;
                self.most[self.slot] = 0;
            }
        }
        let since_us = path.now.since(self.since).whole_us();
        let expected = ((u128::from(rate) * u128::from(since_us)) >> RATE_SHIFT) as u64;
        let over = u64::from(self.acked) <= expected;
        if over || self.acked + sample.acked >= CLUMP_PACKETS_MAX {
            self.restart(path.now);
        }
        let expected = if self.acked == 0 { 0 } else { expected };
        self.acked += sample.acked;
        let extra = u64::from(self.acked).saturating_sub(expected).min(cwnd);
        self.most[self.slot] = self.most[self.slot].max(extra as u32);
    }

    /// The allowance for the window at `rate`.
    pub fn packets(&self, rate: u64) -> u32 {
        let most = (u128::from(rate) * u128::from(CLUMP_US_MAX)) >> RATE_SHIFT;
        self.most[0].max(self.most[1]).min(most.min(1 << 30) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests_support::path;

    /// At 1,000 packets a second ten are due in 10 ms: fifteen at once are a clump of fifteen, and
    /// five more 10 ms later belong to it, twenty less the ten that were due.
    #[test]
    fn a_clump_is_what_came_beyond_the_rate() {
        let rate = (1000 << RATE_SHIFT) / 1_000_000;
        let mut clumps = Clumps::default();
        let acks = |acked| RateSample { acked, delivered: Some(acked), ..RateSample::default() };
        clumps.update(&path(10), &acks(15), [rate, 100], false, 5);
        assert_eq!(clumps.packets(rate), 15);
        clumps.update(&path(20), &acks(5), [rate, 100], false, 5);
        assert_eq!(clumps.packets(rate), 15, "twenty less the nine or ten that were due");
        // Silence until the rate has caught up: a new one begins.
        clumps.update(&path(100), &acks(2), [rate, 100], false, 5);
        assert_eq!((clumps.acked, clumps.since), (2, path(100).now));
    }

    /// After twice as many rounds as are remembered nothing is left of it.
    #[test]
    fn an_old_clump_is_forgotten() {
        let rate = (1000 << RATE_SHIFT) / 1_000_000;
        let mut clumps = Clumps::default();
        let acks = |acked| RateSample { acked, delivered: Some(acked), ..RateSample::default() };
        clumps.update(&path(10), &acks(50), [rate, 100], false, 5);
        let mut told = Vec::new();
        for round in 1..=10u64 {
            clumps.update(&path(10 + 100 * round), &acks(1), [rate, 100], true, 5);
            told.push(clumps.packets(rate));
        }
        assert_eq!(told, [50, 50, 50, 50, 50, 50, 50, 50, 50, 1]);
    }
}
